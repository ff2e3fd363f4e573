"""The group of commands: found by name, imported when needed, run inside the one error boundary."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from gpugraph import __version__
from gpugraph.cli.boundary import guard
from gpugraph.cli.measure import problem_command
from gpugraph.cli.options import help_text
from gpugraph.cli.output import warnings_as_notices
from gpugraph.errors import unknown_name
from gpugraph.problems.contract import PROBLEMS

COMMANDS = (
    *PROBLEMS,
    "bench",
    "compare",
    "report",
    "plot",
    "generate",
    "convert",
    "info",
    "algos",
    "devices",
    "verify",
    "demo",
)


class LazyGroup(click.Group):
    """Commands are imported one by one, so that help is instant: of a problem from its folder, others from here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of a first session."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in PROBLEMS:
            return problem_command(cmd_name)
        command: click.Command = getattr(importlib.import_module(f"gpugraph.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that ``args`` begin with, or suggest the nearest."""
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            raise unknown_name("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run and exit: every way out of the command line leads through the boundary."""
        words = list(sys.argv[1:] if args is None else args) or ["--help"]
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:  # closed by the shell (>&-); in this order no other file takes its number
                setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  open until the end
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a locale without a letter of ours must not end in a traceback
                stream.reconfigure(errors="replace")

        def run() -> None:
            quiet = "-q" in words or "--quiet" in words
            with warnings_as_notices(quiet=quiet), self.make_context(prog_name or "gpugraph", words) as context:
                self.invoke(context)

        sys.exit(guard(run, debug="--debug" in words))


def _everything() -> None:
    """Benchmark minimum spanning trees and shortest paths on GPUs, every result verified.

    A graph is a file in one of the usual formats, or a spec such as rmat:20 from which it is generated;
    `gpugraph COMMAND --help` shows an example of each command.

    Example:
      gpugraph mst rmat:16
    """


cli = LazyGroup(
    name="gpugraph",
    callback=_everything,
    help=help_text(_everything.__doc__),
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the whole trace of an error.")],
)
click.version_option(__version__, prog_name="gpugraph", message="%(prog)s %(version)s")(cli)
