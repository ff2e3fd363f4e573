"""What commands share: option bundles, their defaults, and what makes a command of a function or of a problem."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import click

from gpugraph.errors import InputError, unknown_name
from gpugraph.files import resource_dir
from gpugraph.problems.contract import METHODS_OF_A_RUN
from gpugraph.problems.registry import command_of

_KEYS: dict[str, dict[str, type]] = {
    "default": {"graph": str},
    "measure": {"repeat": int, "warmup": int, "verify": str},
    "bench": {"budget": str},
}


@dataclass(frozen=True)
class Defaults:
    """What a command does when it is not told.

    Attributes:
        graph: a path or a spec.
        repeat: samples.
        warmup: runs before the first sample.
        verify: the method of verification.
        budget: of a sweep's cells on each device, as ``--budget`` takes it.
        origin: the file that says so.
    """

    graph: str
    repeat: int
    warmup: int
    verify: str
    budget: str
    origin: str


@cache
def defaults() -> Defaults:
    """Return the defaults of the installation."""
    return read_defaults(resource_dir("configs") / "default.toml")


def read_defaults(path: Path) -> Defaults:
    """Return the defaults that a file gives.

    Raises:
        InputError: it cannot be read, or a key is unknown, missing or of the wrong type.
    """
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=path) from None
    values: dict[str, Any] = {}
    for table, content in tables.items():
        if table not in _KEYS or not isinstance(content, dict):
            raise unknown_name(f"table in {path}", table, _KEYS)
        for key, value in content.items():
            if key not in _KEYS[table]:
                raise unknown_name(f"key in [{table}] of {path}", key, _KEYS[table])
            if type(value) is not _KEYS[table][key]:
                raise InputError(f"{table}.{key} is {value!r}, not of type {_KEYS[table][key].__name__}", where=path)
            values[key] = value
    missing = [f"{table}.{key}" for table, keys in _KEYS.items() for key in keys if key not in values]
    if missing:
        raise InputError(f"lacks {', '.join(missing)}", where=path)
    return Defaults(**values, origin=f"configs/{path.name}")


Decorated = TypeVar("Decorated", bound=Callable[..., Any])

STYLES = ("table", "json", "csv", "markdown")


def named(
    *declarations: str, kind: str, names: tuple[str, ...], default: str, help: str
) -> Callable[[Decorated], Decorated]:
    """Return an option that takes one of several names; a wrong one meets the nearest right one."""

    def check(context: click.Context, parameter: click.Parameter, value: str) -> str:
        if value not in names:
            raise unknown_name(kind, value, names)
        return value

    return click.option(
        *declarations, metavar="|".join(names), default=default, show_default=True, callback=check, help=help
    )


def bundle(*options: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    """Return one decorator that applies several, the first of them topmost in the help."""

    def apply(function: Decorated) -> Decorated:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


def help_text(docstring: str | None) -> str:
    """Return a docstring as click's help, the example left as it stands."""
    return inspect.cleandoc(docstring or "").replace("\nExample:", "\n\b\nExample:")


def command(function: Callable[..., None]) -> click.Command:
    """Make a command of a function, with the options that every command has."""
    made = click.command(help=help_text(function.__doc__))(function)
    made.params.append(click.Option(["-q", "--quiet"], is_flag=True, help="No progress and no notices."))
    made.params.append(
        click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the whole trace of an error.")
    )
    return made


input_options = bundle(
    click.option("--input-format", metavar="FORMAT", help="Format of the file, where content and name do not tell."),
    click.option("--keep-ids", is_flag=True, help="An edge list has the vertices 0 to the largest id, all of them."),
    click.option("--symmetrize", is_flag=True, help="Make a directed graph undirected; the lighter arc wins."),
    click.option(
        "--weights",
        metavar="KIND",
        default="file",
        show_default=True,
        help="file, unit, abs, hash:LO..HI, uniform:LO..HI.",
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Of what is random: weights, sources."),
)

graph_options = bundle(
    click.argument("graph", required=False, metavar="[GRAPH]"),
    input_options,
)


peer_command = click.option(
    "--peer-command", "commands", multiple=True, metavar="TABLE", help="An external peer; see docs/peers.md."
)


def run_options(function: Decorated) -> Decorated:
    """Add what says how to run: algorithm, device, samples, verification."""
    return bundle(
        click.option("--algo", default="auto", show_default=True, metavar="NAME", help="See `gpugraph algos`."),
        click.option(
            "--device",
            default="auto",
            show_default=True,
            metavar="DEVICE",
            help="auto, cuda[:i], cpu or emulated; several: cuda:0,1, cuda:all, cpu*4.",
        ),
        peer_command,
        click.option("--repeat", type=int, default=defaults().repeat, show_default=True, help="Samples to take."),
        click.option("--warmup", type=int, default=defaults().warmup, show_default=True, help="Runs before them."),
        click.option(
            "--target",
            metavar="SHARE",
            help="Sample on from --repeat until the median is known so well: half its 95% interval, e.g. 0.02 or 2%.",
        ),
        click.option(
            "--max-seconds", type=float, metavar="S", help="Stop sampling after S seconds [with --target: 15]."
        ),
        click.option("--cold", is_flag=True, help="Flush the GPU's second-level cache before every sample."),
        click.option("--energy", is_flag=True, help="Measure the GPU's energy a run, over runs of their own."),
        named(
            "--verify",
            kind="verification method",
            names=METHODS_OF_A_RUN,
            default=defaults().verify,
            help="auto: reference up to 2^22 edges, certificate above.",
        ),
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter of the algorithm; repeatable."
        ),
        click.option(
            "--prepare", multiple=True, metavar="NAME", help="Preparation of the graph; repeatable, in order."
        ),
        click.option("--index-bits", type=click.Choice(["32", "64"]), help="Of arc indices [default: what fits]."),
        click.option("--phases/--no-phases", default=True, show_default=True, help="Time the kernel's inner phases."),
        click.option("--profile", is_flag=True, help="Run once, phases as NVTX ranges for a profiler."),
    )(function)


output_options = bundle(
    named(
        "--format",
        "style",
        kind="output format",
        names=STYLES,
        default="table",
        help="How to print the record.",
    ),
    click.option("-o", "--output", metavar="RESULT", help="Write the result: .npz, .csv, or .mtx for a forest."),
    click.option("--save", metavar="FILE.jsonl", help="Append the record to a file."),
)

table_or_json = named(
    "--format",
    "style",
    kind="output format",
    names=("table", "json"),
    default="table",
    help="How to print it.",
)


def problem_command(problem: str) -> click.Command:
    """Return the command that solves a problem: its own parameters amid those that all of them have."""
    own = command_of(problem)

    def solve(**options: Any) -> None:
        from gpugraph.cli.measure import measure

        for name in own.settings:
            value = options.pop(name.replace("-", "_"))
            if value is not None:
                options["settings"] += (f"{name}={value}",)
        measure(problem, **own.arrange(options))

    solve.__name__, solve.__doc__ = problem, own.help
    settings = (click.option(f"--{name}", metavar=metavar, help=text) for name, (metavar, text) in own.settings.items())
    above = (graph_options,) if own.on_graph else ()
    return command(bundle(*above, *own.options, run_options, *settings, output_options)(solve))


def parse_settings(settings: tuple[str, ...]) -> dict[str, str]:
    """Return the parameters that ``--set NAME=VALUE`` gave.

    Raises:
        InputError: no equals sign, or a name given twice.
    """
    values: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise InputError(f"--set '{setting}' is not NAME=VALUE", remedy="for example --set delta=8")
        if name in values:
            raise InputError(f"--set gives '{name}' twice")
        values[name] = value
    return values
