"""Options that commands share, their defaults, the decorators that make commands, and the layout of their help."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import click

from gpugraph.base.errors import InputError, check_name, errors_at
from gpugraph.base.files import is_same_file, parse_toml, read_text, resource_dir
from gpugraph.base.quantities import parse_seconds
from gpugraph.graph.read_options import MIRROR, OFFLINE, OWN
from gpugraph.problems.contract import METHODS_OF_A_RUN, PROBLEMS, TRANSFERS
from gpugraph.report.exporters import EXPORTERS, contents

# How help looks: an example first, then what is to be known, then options in groups.

GROUPS = {
    "Graph": "input_format columns weight directed vertices keep_ids symmetrize weights seed offline"
    " size dtype exclusive segments",
    "Algorithm": "algos device commands peer peers source predecessors sums settings prepare index_bits reference",
    "Measurement": "repeat warmup target max_seconds timeout cold energy counters price verify phases transfers"
    " profile processes budget",
    "Output": "style output output_format save exports draw verbose quiet debug help",
}
"""Title → the parameters under it; others come first, under Options."""

RARE = (
    "input_format vertices keep_ids symmetrize seed offline commands reference settings prepare index_bits switch_after"
    " cpu_share memory_limit cold energy counters price phases transfers profile draw verbose debug"
)
"""Parameters of a command with many that ``--help`` only names; ``--help-all`` describes them."""

_READ = ["graph", "graphs", "array", "sources", "goals", "results", "files", "sweep", "template", "commands", "reuse"]
_WRITTEN = {"output": "result", "exports": "table", "keep": "edge list", "draw": "drawing", "save": "record"}
"""Parameters that may name files that a command reads, and those that it writes; ``convert`` may replace its own."""

_MAY_BE_EMPTY = ("title", "columns", "reference")

VARIABLE = "_GPUGRAPH_COMPLETE"
"""The variable of the environment by which a shell asks for completions."""


class GroupedCommand(click.Command):
    """A command whose help is laid out so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse empty words, as an unset variable of a shell leaves them, and a file that is read and written.

        Also an option in the place of another one's value, which click would take for it.
        """
        named = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        options = {name: one for one in named for name in (*one.opts, *one.secondary_opts)}
        for word, following in pairwise(args[: args.index("--")] if "--" in args else args):
            if word in options and not options[word].is_flag and following in options and not ctx.resilient_parsing:
                remedy = f"give one; see '{ctx.command_path} --help'"
                raise InputError(f"{word} has no value: {following} is an option", remedy=remedy)
        with click.core.augment_usage_errors(ctx):
            rest = super().parse_args(ctx, args)
        if ctx.resilient_parsing:  # a shell asks what may follow
            return rest
        if ctx.params.get("output") == "/dev/stdout":  # whose name has no ending, and where nothing else may be
            ctx.params["output"] = "-"
        taken: list[tuple[str, str]] = []
        for one in self.params:
            name = max(one.opts, key=len)
            for word in _words(ctx, one.name):
                if not word and one.name not in _MAY_BE_EMPTY:
                    raise InputError(f"{name} is empty", remedy="give it a value, or leave it out")
                if one.name in _READ and os.path.isfile(word):
                    noun = f"the file of {name}" if isinstance(one, click.Option) else f"the {name} itself"
                    noun = f"one of the {name}" if one.nargs < 0 else noun
                    taken.append((f"{noun} and would be overwritten", word))
        for parameter, noun in _WRITTEN.items():
            for path in _words(ctx, parameter):
                for use, file in taken:
                    if is_same_file(file, path):
                        raise InputError(f"is {use.format(noun)}", where=path, remedy="name another file")
                taken.append((f"given for the {noun} and for the {{}}", path))
        return rest

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence, the example, and the rest."""
        write_help(formatter, self.help or "")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, by groups where there are many, and of these the rare ones by name unless all are due."""
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], **{title: [] for title in GROUPS}}
        names: dict[str, click.Parameter] = {}
        more = ""
        own = {name: title for title, names in GROUPS.items() for name in names.split()}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and isinstance(parameter, click.Option):
                rest = "Algorithm" if self.name in PROBLEMS else "Options"  # a problem's own are of its algorithms
                title = "Output" if "--help" in parameter.opts else own.get(parameter.name or "", rest)
                rows[title].append(row)
                names[row[0]] = parameter
        if sum(map(len, rows.values())) > 25 and not ctx.meta.get(ALL):
            rare = [row for part in rows.values() for row in part if str(names[row[0]].name) in RARE.split()]
            rows = {title: [row for row in part if row not in rare] for title, part in rows.items()}
            more = f"--help-all describes {', '.join(row[0].split()[0].strip(',') for row in rare)} too."
        if sum(map(len, rows.values())) <= 12:
            rows = {"Options": [row for part in rows.values() for row in part]}
        for title, part in rows.items():
            if part:
                with formatter.section(title):
                    formatter.write_dl(part)
        if more:
            formatter.write_paragraph()
            formatter.write_text(more)


def _words(ctx: click.Context, name: str | None) -> Sequence[Any]:
    """Return the texts that a parameter was given."""
    value = ctx.params.get(name or "")
    return [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, str)]


def write_help(formatter: click.HelpFormatter, help: str) -> None:
    """Write the first paragraph of a help, under it the lines of its example, and what else there is."""
    text, _, example = help.partition("\n\b\nExample:")
    first, _, rest = text.partition("\n\n")
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(first)
    if example.strip():
        with formatter.section("Example"):
            for line in example.strip().splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{line.strip()}\n")
    if rest.strip():
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(rest.strip())


_KEYS: dict[str, dict[str, type]] = {
    "default": {"graph": str, "device": str},
    "measure": {"repeat": int, "warmup": int, "verify": str, "price": float},
    "bench": {"budget": str},
    "data": {"offline": bool, "mirror": str, "registry": str},
}


@dataclass(frozen=True)
class Defaults:
    """What a command does by default, named as the keys of the file (docs/config.md).

    ``repeat`` is 0 for about a second of samples; ``origins`` has by ``"table.key"`` the file that says so.
    """

    graph: str
    device: str
    repeat: int
    warmup: int
    verify: str
    price: float
    budget: str
    offline: bool
    mirror: str
    registry: str
    origins: Mapping[str, str]


def defaults() -> Defaults:
    """Return the defaults: of the installation, and in their place those of the user's own file, if it can be read."""
    return _defaults_and_mistake()[0]


def check_users_file() -> None:
    """Raise InputError for a mistake in the user's own defaults.

    Options have defaults when they are imported, before an error can be reported; so ``defaults`` raises none.
    """
    own, mistake = _defaults_and_mistake()
    if mistake is not None:
        raise mistake
    if not own.device.strip().lower().startswith(("auto", "cuda", "cpu", "emulated")):
        where, remedy = own.origins["default.device"], "give auto, cuda, cpu or emulated"
        raise InputError(f"the default device is '{own.device}'", where=where, remedy=remedy)


@cache
def _defaults_and_mistake() -> tuple[Defaults, InputError | None]:
    installed = resource_dir("configs") / "default.toml"
    try:
        return read_defaults(installed, users_file()), None
    except InputError as mistake:
        return read_defaults(installed), mistake


def users_file() -> Path | None:
    """Return where the user's own defaults stand, if they do; None where there are to be none.

    ``$GPUGRAPH_CONFIG`` names the file, or none if it is empty; else it is ``gpugraph/config.toml`` in
    ``$XDG_CONFIG_HOME`` or ``~/.config``.
    """
    chosen, shared = os.environ.get("GPUGRAPH_CONFIG"), os.environ.get("XDG_CONFIG_HOME", "")
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        folder = Path(shared) if os.path.isabs(shared) else Path.home() / ".config"
    except RuntimeError:  # a user without a home
        return None
    return folder / "gpugraph" / "config.toml"


def read_defaults(path: Path, users: Path | None = None) -> Defaults:
    """Return the defaults of a file, a user's own in their place if there are any; InputError for a wrong key."""
    values, origins = _read_keys(path), {}
    missing = [f"{table}.{key}" for table, keys in _KEYS.items() for key in keys if f"{table}.{key}" not in values]
    if missing:
        raise InputError(f"lacks {', '.join(missing)}", where=path, remedy="reinstall gpugraph")
    origins.update(dict.fromkeys(values, f"configs/{path.name}"))
    if users is not None and os.path.lexists(str(users).replace("\0", "")):
        own = _read_keys(users)
        values.update(own)
        origins.update(dict.fromkeys(own, str(users)))
    if device := os.environ.get("GPUGRAPH_DEVICE"):
        values["default.device"], origins["default.device"] = device, "$GPUGRAPH_DEVICE"
    with errors_at(origins["measure.verify"]):
        check_name("verification method", values["measure.verify"], METHODS_OF_A_RUN)
    return Defaults(**{name.split(".")[1]: value for name, value in values.items()}, origins=origins)


def _read_keys(path: Path) -> dict[str, Any]:
    """Return ``"table.key"`` → value of a file of defaults."""
    try:
        if not path.is_file():
            raise OSError("it is not a regular file")
        tables = parse_toml(read_text(path))
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=path, remedy="mend it; see docs/config.md") from None
    values: dict[str, Any] = {}
    with errors_at(path):
        for table, content in tables.items():
            check_name("table", table, _KEYS)
            if not isinstance(content, dict):
                raise InputError(f"'{table}' is a value, not a table", remedy=f"write [{table}] and keys below")
            for key, value in content.items():
                check_name(f"key in [{table}]", key, _KEYS[table])
                kind = _KEYS[table][key]
                if type(value) is not kind or (isinstance(value, int | float) and not 0 <= value < 2**63):
                    nouns = {str: "a text in quotation marks", int: "a whole number, 0 or more", float: "one as 2.5"}
                    raise InputError(f"{table}.{key} is {value!r}", remedy=f"give {nouns.get(kind, 'true or false')}")
                values[f"{table}.{key}"] = value
    return values


Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class LateHelp(click.Option):
    """An option whose help text is made when it is shown: ``help`` is a function that returns it."""

    def __init__(self, *declarations: Any, help: Callable[[], str], **more: Any):
        self._text = help
        super().__init__(*declarations, **more)

    @property
    def help(self) -> str | None:
        """The text."""
        return self._text()

    @help.setter
    def help(self, text: str | None) -> None:
        """Leave it, whatever click sets."""


def named(
    *declarations: str, kind: str, names: tuple[str, ...], default: str, help: str
) -> Callable[[Decorated], Decorated]:
    """Return an option that takes one of several names; a wrong one meets the nearest right one."""

    def check(context: click.Context, parameter: click.Parameter, value: str) -> str:
        check_name(kind, value, names)
        return value

    def offer(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return click.option(
        *declarations,
        metavar="|".join(names),
        default=default,
        show_default=True,
        callback=check,
        shell_complete=offer,
        help=help,
    )


def bundle(*options: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    """Return one decorator that applies several, the first of them topmost in the help."""

    def apply(function: Decorated) -> Decorated:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


def split(texts: Sequence[str]) -> list[str]:
    """Return the names between commas of all texts, each once."""
    return list(dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip()))


def help_text(docstring: str | None) -> str:
    """Return a docstring as click's help, the example unchanged."""
    return inspect.cleandoc(docstring or "").replace("\nExample:", "\n\b\nExample:")


ALL = "gpugraph.all_options"
"""Key of what a context holds if its help is to describe every option."""


def _show_all_help(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[ALL] = True
        click.echo(context.get_help())
        context.exit()


def command(function: Callable[..., None]) -> click.Command:
    """Make a command of a function, with the options that every command has."""
    made = click.command(cls=GroupedCommand, help=help_text(function.__doc__))(function)
    hidden: dict[str, Any] = {"hidden": True, "is_eager": True, "callback": _show_all_help}
    made.params += [
        click.Option(["-q", "--quiet"], is_flag=True, help="Hide progress and notices."),
        click.Option(["--help-all"], is_flag=True, expose_value=False, help="Describe every option.", **hidden),
        click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error."),
    ]
    return made


def _say_where_data_is(context: click.Context, parameter: click.Parameter, offline: bool) -> None:
    """Set the variables that data sets go by, for this process and those that it starts, until the command ends."""
    own = defaults()
    variables = {OFFLINE: "1" if offline or own.offline else "", MIRROR: own.mirror, OWN: own.registry}
    for name, value in variables.items():
        if value and (name not in os.environ or (name == OFFLINE and offline)):
            context.call_on_close(partial(_restore, name, os.environ.get(name)))
            os.environ[name] = value


def _restore(name: str, before: str | None) -> None:
    if before is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = before


offline_option = click.option(
    "--offline",
    is_flag=True,
    expose_value=False,
    callback=_say_where_data_is,
    help="Use only data sets that are in the cache.",
)

_ALGO = "See `gpugraph algos`; several are compared: a,b@cpu [default: auto]."
_REWEIGHT = "Replace the weights: file (keep), unit, abs, hash:LO..HI, uniform:LO..HI."

input_options = bundle(
    click.option("--input-format", metavar="FORMAT", help="Format of the file, if it is not recognised."),
    click.option(
        "--columns", metavar="A,B[,C]", default="", help="Columns of a table: ends and weight, e.g. src,dst,weight."
    ),
    click.option("--weight", metavar="NAME", help="Attribute of the edges that holds their weight [default: weight]."),
    click.option("--directed/--undirected", default=None, help="Take lines as arcs or as edges if unstated."),
    click.option(
        "--vertices", type=click.IntRange(0), metavar="N", help="Number of vertices, if the file does not state it."
    ),
    click.option("--keep-ids", is_flag=True, help="Take all vertices from 0 to the largest id in an edge list."),
    click.option("--symmetrize", is_flag=True, help="Make a directed graph undirected; the lighter arc wins."),
    click.option("--reweight", "weights", metavar="KIND", default="file", show_default=True, help=_REWEIGHT),
    click.option("--seed", type=int, default=1, show_default=True, help="Seed for random weights and sources."),
    offline_option,
)

graph_options = bundle(click.argument("graph", required=False, metavar="[GRAPH]"), input_options)


def device_option(help: str, default: str | None = None) -> Callable[[Decorated], Decorated]:
    """Return ``--device``, by default the user's."""
    return click.option(
        "--device", default=default or defaults().device, show_default=True, metavar="DEVICE", help=help
    )


class Time(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.4 on
    """A length of time, in seconds: ``90``, ``1m``, ``500ms``."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds.  Raises InputError if it is none, or not above 0."""
        with errors_at(param.opts[0] if param is not None else "time"):
            return parse_seconds(value)


timeout_option = click.option(
    "--timeout", type=Time(), metavar="TIME", help="Kill a run that takes longer: 90, 1m, 500ms."
)

price_option = click.option(
    "--price", type=float, metavar="RATE", default=lambda: defaults().price, help="Costs at RATE per device hour."
)

observed_options = bundle(
    click.option("--energy", is_flag=True, help="Measure the energy of a run, in additional runs."),
    click.option("--counters", is_flag=True, help="Count memory accesses and atomics on the emulated device."),
    price_option,
)

peer_command = click.option(
    "--peer-command", "commands", multiple=True, metavar="TABLE", help="An external peer; see docs/peers.md."
)

reference_option = click.option(
    "--reference", default="", metavar="ROW", help="Compare each with this row, not with the fastest."
)

run_options = bundle(
    click.option("--algo", "algos", multiple=True, metavar="NAMES", help=_ALGO),
    click.option("--peer", "peers", multiple=True, metavar="NAMES", help="Peers to compare with, e.g. scipy,igraph."),
    device_option("auto, cuda[:i], cpu, emulated; several: cuda:0,1, cuda:all, cpu*4; parts: cuda/33 (SMs), cpu/1."),
    peer_command,
    reference_option,
    click.option(
        "-n",
        "--repeat",
        type=int,
        default=defaults().repeat,
        callback=lambda ctx, parameter, value: value or None,
        show_default="0: about a second's; compared: at least 20",
        help="Number of samples.",
    ),
    click.option(
        "--warmup", type=int, default=defaults().warmup, show_default=True, help="Untimed runs before the samples."
    ),
    click.option("--target", metavar="SHARE", help="Sample until the median is known to ± this share: 0.02, 2% or 2."),
    click.option("--max-seconds", type=Time(), metavar="TIME", help="Time for sampling: 5, 1m [with --target: 15]."),
    timeout_option,
    click.option("--cold", is_flag=True, help="Flush the GPU's second-level cache before every sample."),
    observed_options,
    named(
        "--verify",
        kind="verification method",
        names=METHODS_OF_A_RUN,
        default=defaults().verify,
        help="auto: the reference or the certificate, whichever is quicker.",
    ),
    click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter of the algorithm; repeatable."
    ),
    click.option(
        "--prepare",
        multiple=True,
        metavar="NAME",
        callback=lambda _, __, given: tuple(name for text in given for name in text.split("+")),
        help="Preparations of the graph in order: NAME, NAME+NAME; repeatable.",
    ),
    click.option("--index-bits", type=click.Choice(["32", "64"]), help="Width of arc indices [default: as needed]."),
    click.option("--phases/--no-phases", default=True, show_default=True, help="Time the kernel's inner phases."),
    named(
        "--transfers",
        kind="way to time transfers",
        names=TRANSFERS,
        default=TRANSFERS[0],
        help="separate: time staging and the bus separately.",
    ),
    click.option("--profile", is_flag=True, help="Run once, with phases as NVTX ranges for a profiler."),
)


draw_option = click.option("--draw", metavar="FILE.svg", help="Draw the counter-example, if the result is wrong.")
export_option = click.option(
    "--export", "exports", multiple=True, metavar="FILE", cls=LateHelp, help=lambda: f"Write {contents()}; repeatable."
)

output_options = bundle(
    named(
        "--format", "style", kind="output format", names=("table", *EXPORTERS), default="table", help="Output format."
    ),
    click.option("-o", "--output", metavar="RESULT", help="Write the result: .npz, .csv, .mtx (forest), .npy (scan)."),
    click.option("--save", metavar="FILE.jsonl", help="Append the record to a file."),
    draw_option,
    export_option,
    click.option("-v", "--verbose", is_flag=True, help="Show every phase; log each step and the reason for it."),
)

table_or_json = named(
    "--format", "style", kind="output format", names=("table", "json"), default="table", help="Output format."
)
