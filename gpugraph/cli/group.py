"""The group of commands: found by name, imported when needed, run inside the one error boundary."""

import errno
import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import click

from gpugraph import __version__
from gpugraph.base.errors import (
    EXIT_DEFECT,
    EXIT_INTERRUPTED,
    EXIT_OK,
    GpuGraphError,
    InputError,
    RankLost,
    installable_here,
    missing_package,
    nearest,
    printable,
    reason_of,
    unknown_name,
    used_up,
)
from gpugraph.base.host import check_system
from gpugraph.base.ranks import LOST, device_of_ranks, is_own_rank
from gpugraph.cli.options import VARIABLE, check_users_file, defaults, help_text, write_help
from gpugraph.cli.output import silence, warnings_as_notices
from gpugraph.cli.process import BEGAN, Command, Interruption
from gpugraph.problems.contract import PROBLEMS

_MODULES = {
    "cli.options": " ".join(PROBLEMS),
    "ext.graph500.cli": "graph500",
    "cli.bench": "bench",
    "ext.comparing.cli": "compare history",
    "ext.reports.cli": "report",
    "ext.reports.cite": "cite explain",
    "ext.charts.cli": "plot",
    "ext.check_record.cli": "check-record",
    "ext.matrix.cli": "matrix",
    "ext.graph_files.cli": "generate convert info verify",
    "ext.datasets.cli": "datasets",
    "ext.catalogue.cli": "algos devices help",
    "ext.emulator.cli": "demo races",
    "ext.plugins.cli": "new",
    "ext.settings.cli": "config completion",
}
COMMANDS = {name: f"gpugraph.{module}" for module, names in _MODULES.items() for name in names.split()}
"""Name → the module that has it."""

SECTIONS = {
    "Solve and measure": " ".join((*PROBLEMS, "matrix")),
    "Sweeps and records": "graph500 bench compare history report plot cite check-record",
    "Graphs": "datasets generate convert info verify",
    "Information": "algos explain devices demo help",
    "Your own algorithms": "new races",
    "Settings": "config completion",
}
"""Title → the commands under it in the help."""

ON_RECORDS = ("compare", "history", "report", "plot", "cite", "check-record")
"""Commands that need records alone, and run on systems where nothing can be measured."""

SHORT = 64
"""Letters that the list of commands has for each of them."""


class LazyGroup(click.Group):
    """Commands are imported one by one, so that help is instant: of a problem from its folder, others from here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in their order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command
        if cmd_name in PROBLEMS:
            from gpugraph.cli.measure import problem_command

            command = problem_command(cmd_name)
        else:
            command = getattr(importlib.import_module(COMMANDS[cmd_name]), cmd_name.replace("-", "_"))
        if ctx.resilient_parsing:  # a shell asks what may follow
            importlib.import_module("gpugraph.ext.settings.completion").attach(command)
        return command

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what gpugraph is, with an example first."""
        write_help(formatter, self.help or "")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections."""
        for title, names in SECTIONS.items():
            found = [(name, self.get_command(ctx, name)) for name in names.split()]
            with formatter.section(title):
                formatter.write_dl([(name, _in_short(one)) for name, one in found if one is not None])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that ``args`` begin with, or suggest the nearest."""
        if not (args[0].startswith("-") or args[0] in COMMANDS or ctx.resilient_parsing):
            raise unknown_name("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run and exit: every way out of the command line leads through the boundary."""
        words = list(sys.argv[1:] if args is None else args) or ["--help"]
        if instruction := os.environ.get(VARIABLE):
            sys.exit(importlib.import_module("gpugraph.ext.settings.completion").answer(self, VARIABLE, instruction))
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:  # closed by the shell (>&-); in this order no other file takes its number
                setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  open until the end
        if not 0 < len(os.environ.get("COLUMNS", "80").lstrip("0")) < 9:  # in 0 columns Rich prints nothing
            del os.environ["COLUMNS"]
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a locale without a letter of ours must not end in a traceback
                stream.reconfigure(errors="replace")

        def run() -> None:
            shown = {"-h", "--help", "--help-all", "-V", "--version", "--path"}
            if not (shown & set(words) or words[0] in ("help", "completion")):
                check_users_file()
                if words[0] in COMMANDS and words[0] not in ON_RECORDS:
                    check_system()
            if (named := device_of_ranks(words, (*PROBLEMS, "graph500"), defaults().device)) is not None:
                os.environ[BEGAN] = str(Command.began)
                code = importlib.import_module("gpugraph.ext.ranks.launch").run_command(named, words)
                if code is not None:
                    sys.exit(code)
            quiet = any(re.match("-v*q|--quiet$", word) for word in words)
            with warnings_as_notices(quiet=quiet), self.make_context(prog_name or "gpugraph", words) as context:
                self.invoke(context)

        sys.exit(guard(run, debug="--debug" in words))


def _in_short(command: click.Command) -> str:
    """Return what a command does in a line: its first sentence, or as many whole parts of it as fit."""
    sentence = command.get_short_help_str(limit=200).rstrip(".")
    for ending in ("[;:] ", ", "):
        while len(sentence) > SHORT and (parts := re.match(f"(.+){ending}", sentence)):
            sentence = parts[1]
    return sentence


def _everything() -> None:
    """Benchmark minimum spanning trees and shortest paths on GPUs, every result verified.

    A graph is a file in a common format, a spec of a generated graph such as rmat:20, or the name of a data set such
    as snap:roadNet-CA, which is fetched.
    `gpugraph COMMAND --help` shows an example of each command.

    Example:
      gpugraph mst rmat:16
    """


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from gpugraph.measure.environment import git_commit

        click.echo(f"gpugraph {__version__}" + (f" (commit {commit})" if (commit := git_commit()) else ""))
        context.exit()


_AT_ONCE: dict[str, Any] = {"is_flag": True, "expose_value": False, "is_eager": True, "help": "Show the version."}
cli = LazyGroup(
    name="gpugraph",
    callback=_everything,
    help=help_text(_everything.__doc__),
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 120,
        "token_normalize_func": lambda name: "reweight" if name == "weights" else name,  # its older spelling
    },
    params=[
        click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error."),
        click.Option(["-V", "--version"], callback=_print_version, **_AT_ONCE),
    ],
)

# Here alone an exception becomes a line on standard error and an exit code, those of ``gpugraph.base.errors``.

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""A disk that is full is no defect of ours, wherever it is met."""
_CLOSED = (errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.EROFS, errno.ELOOP, errno.EIO)
"""Nor is a path that the system does not let anybody use."""


def guard(run: Callable[[], None], *, debug: bool = False) -> int:
    """Call ``run`` and return the exit code, having said in one line what went wrong; ``debug`` adds the trace."""
    try:
        run()
        sys.stdout.flush()
    except click.exceptions.Exit as ending:
        return int(ending.exit_code)
    except BrokenPipeError:
        silence(sys.stdout)  # the reader, `head` for instance, has seen enough
        return EXIT_OK
    except (Exception, KeyboardInterrupt) as thrown:
        error = Interruption.latest or thrown  # a library may have made another error of the interruption
        if debug:
            print(printable(traceback.format_exc()), end="", file=sys.stderr)
        code, line = explain(error)
        if isinstance(error, RankLost):
            code = LOST
        try:
            # A rank that another one or its starter has ended says nothing: that one speaks for all.
            if not (isinstance(error, RankLost) or (isinstance(error, KeyboardInterrupt) and is_own_rank())):
                lines = [f"gpugraph: {line}", *getattr(error, "excerpt", ())]
                print(printable("\n".join(lines)), file=sys.stderr, flush=True)
        except (OSError, ValueError):
            silence(sys.stderr)
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            silence(sys.stdout)
        return code
    return EXIT_OK


def explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an exception and the line that tells it."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return EXIT_INTERRUPTED, " ".join(["interrupted", *map(str, error.args)])
    error = _usage_error(error) if isinstance(error, click.UsageError) else missing_package(error) or error
    error = error if isinstance(error, GpuGraphError) else used_up(error) or error
    if isinstance(error, OSError) and error.errno in _FULL:
        what = f"cannot write: {reason_of(error)}"
        error = InputError(what, where=error.filename, remedy="free some space, or write elsewhere")
    if isinstance(error, OSError) and error.errno in _CLOSED and error.filename is not None:
        what = f"cannot be used: {reason_of(error)}"
        error = InputError(what, where=error.filename, remedy="check its name and its permissions")
    if isinstance(error, GpuGraphError):
        return error.exit_code, f"error: {installable_here(str(error))}"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return EXIT_DEFECT, f"error: a defect of gpugraph ({what}) — please report it with what --debug shows"


_MEANT_OPTIONS = {
    **{f"--{name}": f"--format {name}" for name in ("json", "csv", "markdown")},
    **dict.fromkeys(("--gpu", "--cuda"), "--device cuda"),
    "--cpu": "--device cpu",
    **dict.fromkeys(("--output", "--out"), "-o FILE"),
    "-o": "--export FILE",
    "--format": "--output-format FORMAT",
    "--output-format": "--format NAME",
    **dict.fromkeys(("--algorithm", "--algorithms"), "--algo NAME"),
    **dict.fromkeys(("--runs", "--samples", "--iterations"), "--repeat N"),
    **dict.fromkeys(("--root", "--from"), "--source VERTEX"),
    "--parameter-scan": "--set NAME=MIN..MAX",
    "--parameter-list": "--set NAME=A,B",
    "--command-name": "--peer-command 'NAME = {command = …}'",
    "--prepare": "--peer-command 'NAME = {before = …}'",
}
"""What people write for an option and its value, where the command has that option."""


def _usage_error(error: click.UsageError) -> InputError:
    """Return click's complaint in the form of all the others, with the nearest name or the way to the help."""
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "gpugraph"
    if isinstance(error, click.NoSuchOption):
        option, message = error.option_name, f"unknown option '{error.option_name}'"
        parameters = error.ctx.command.get_params(error.ctx) if error.ctx is not None else []
        known = [name for one in parameters for name in (*one.opts, *one.secondary_opts) if name[0] == "-"]
        if (meant := _MEANT_OPTIONS.get(option, "")).partition(" ")[0] in known:
            return InputError(message, remedy=f"write {meant}")
        if command == "gpugraph" and (len(option) == 2 or not nearest(option, known)):
            return InputError(message, remedy=f"options follow the command: gpugraph COMMAND … {option}")
        if nearest(option, known):
            return unknown_name("option", option, known)
    elif command.removeprefix("gpugraph ") in PROBLEMS and message.startswith("Got unexpected extra argument"):
        message, command = f"takes one graph: {message[:1].lower()}{message[1:]}", "gpugraph bench GRAPH GRAPH …"
        return InputError(message, remedy=f"several are compared by: {command}")
    return InputError(message[:1].lower() + message[1:], remedy=f"see '{command} --help'")
