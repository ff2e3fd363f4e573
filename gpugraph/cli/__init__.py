"""The command line: ``gpugraph COMMAND``; a file per command, each imported only when it is asked for."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code; one with a user's own algorithm in a child."""
    import os
    import sys

    try:
        from gpugraph.cli.supervised import guest_in, supervise

        guest = guest_in(sys.argv[1:]) if hasattr(os, "fork") else None
        if guest is not None:
            supervise(_main, guest)
        _main()
    except KeyboardInterrupt:  # Ctrl-C at once: the error boundary is not there yet
        print("gpugraph: interrupted", file=sys.stderr)
        sys.exit(130)


def _main() -> None:
    from gpugraph.cli.group import cli

    cli.main(prog_name="gpugraph")
