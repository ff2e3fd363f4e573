"""The command line: ``gpugraph COMMAND``; a file per command, each imported only when it is asked for."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code; a signal that asks to end unwinds all that is under way."""
    try:
        _take_signals()
        from gpugraph.cli.boundary import ignore_signals
        from gpugraph.cli.group import cli

        try:
            cli.main(prog_name="gpugraph")
        finally:
            ignore_signals()
    except KeyboardInterrupt as interrupt:  # at once: the error boundary is not there yet
        print(" ".join(["gpugraph: interrupted", *interrupt.args]), file=sys.stderr)
        sys.exit(130)


def _take_signals() -> None:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, unless the starter had them ignored, as nohup does."""
    import signal
    import time

    last = float("-inf")

    def interrupt(number: int, frame: object) -> None:
        # A closed terminal sends several signals; the second must not tear what the first is tidying up.
        nonlocal last
        if time.monotonic() - last < 1:
            return
        last = time.monotonic()
        raise KeyboardInterrupt(*(() if number == signal.SIGINT else (f"by {signal.Signals(number).name}",)))

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
