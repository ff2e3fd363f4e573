"""The command line: ``gpugraph COMMAND``; a file per command, each imported only when it is asked for."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from gpugraph.cli.group import cli
    except KeyboardInterrupt:  # Ctrl-C at once: the error boundary is not there yet
        import sys

        print("gpugraph: interrupted", file=sys.stderr)
        sys.exit(130)
    cli.main(prog_name="gpugraph")
