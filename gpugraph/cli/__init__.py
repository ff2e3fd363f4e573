"""The command line: ``gpugraph COMMAND``; a file per command, each imported only when it is asked for."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    from gpugraph.cli.group import cli

    cli.main(prog_name="gpugraph")
