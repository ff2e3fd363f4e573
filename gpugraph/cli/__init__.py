"""The command line: ``gpugraph COMMAND``; a file per command, each imported only when it is asked for."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    import os
    import sys

    from gpugraph.cli.supervised import guest_in, supervise

    guest = guest_in(sys.argv[1:])
    if guest is not None and hasattr(os, "fork"):
        supervise(_main, guest)
    _main()


def _main() -> None:
    try:
        from gpugraph.cli.group import cli
    except KeyboardInterrupt:  # Ctrl-C at once: the error boundary is not there yet
        import sys

        print("gpugraph: interrupted", file=sys.stderr)
        sys.exit(130)
    cli.main(prog_name="gpugraph")
