"""Shell completion of parameters' values, each looked up when a shell asks."""

import contextlib
from collections.abc import Callable, Iterable
from functools import partial

import click
from click.shell_completion import CompletionItem, shell_complete

from gpugraph.problems.contract import PROBLEMS

SHELLS = ("bash", "zsh", "fish")

_FILES = ("output", "save", "exports", "result", "results", "file", "files", "commands", "array")
"""Parameters that files complete, and nothing else does."""
_GRAPHS = ("graph", "graphs", "spec")
"""Parameters that files complete, or families of graphs and data sets."""

Names = Iterable[str]


def answer(cli: click.Command, variable: str, instruction: str) -> int:
    """Print what a shell asks for and return the exit code: nothing and 1 if something cannot be read, such as a list.

    An error would stand amid the line that is being typed; the command reports it once it is run.
    """
    with contextlib.suppress(Exception):
        return shell_complete(cli, {}, "gpugraph", variable, instruction)
    return 1


def attach(command: click.Command) -> None:
    """Let the parameters of a command be completed."""
    for one in command.params:
        one.shell_complete = partial(_complete, one)  # type: ignore[method-assign]


def _complete(parameter: click.Parameter, context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return what a shell may offer for a parameter."""
    found = complete(parameter, context, incomplete)
    return type(parameter).shell_complete(parameter, context, incomplete) if found is None else found


def complete(parameter: click.Parameter, context: click.Context, incomplete: str) -> list[CompletionItem] | None:
    """Return what may follow for a parameter, known by its name; None where click itself knows best.

    Files are offered where they are among what is looked up, or nothing else fits.
    """
    name = parameter.name or ""
    if name == "source" and context.info_name == "convert":
        name = "graph"  # of all others the source is a vertex
    if context.info_name == "explain":
        name = "explained"
    if name in _FILES:
        return [CompletionItem(incomplete, type="file")]
    if name not in _LOOKUPS:
        return None
    before, comma, last = (
        incomplete.rpartition(",") if name in ("algo", "algos", "peers", "gpus") else ("", "", incomplete)
    )
    found = [CompletionItem(before + comma + one) for one in _LOOKUPS[name](context, last) if one.startswith(last)]
    if name in _GRAPHS or (name in ("algo", "algos", "sweep") and not found):
        found.append(CompletionItem(incomplete, type="file"))
    return found


def _graphs(context: click.Context, incomplete: str) -> Names:
    from gpugraph.graph.families import FAMILIES

    return [*(f"{name}:" for name in FAMILIES), *_datasets(context, incomplete)] if incomplete else ()


def _datasets(context: click.Context, incomplete: str) -> Names:
    """Return collections, and behind a colon their data sets."""
    from gpugraph.graph.sources import data_sets

    return data_sets().names(incomplete)


def _algorithms(context: click.Context, incomplete: str) -> Names:
    """Return the algorithms of the command's problem."""
    from gpugraph.problems.registry import algorithms

    problem = context.info_name if context.info_name in PROBLEMS else None
    return sorted({"auto", *(algorithm.name for algorithm in algorithms(problem))})


def _explained(context: click.Context, incomplete: str) -> Names:
    """Return the algorithms by their names; ``auto`` is none."""
    return [name for name in _algorithms(context, incomplete) if name != "auto"]


def _settings(context: click.Context, incomplete: str) -> Names:
    """Return the parameters of the algorithms of the command's problem."""
    from gpugraph.problems.registry import algorithms

    problem = context.info_name if context.info_name in PROBLEMS else None
    return sorted({f"{option.name}=" for algorithm in algorithms(problem) for option in algorithm.options})


def _sweeps(context: click.Context, incomplete: str) -> Names:
    from gpugraph.bench.sweep_file import shipped

    return shipped()


def _peers(context: click.Context, incomplete: str) -> Names:
    from gpugraph.problems import foreign

    return foreign.peers().LIBRARIES


def _formats(context: click.Context, incomplete: str) -> Names:
    from gpugraph.ext.formats.known import FORMATS

    return sorted(form.name for form in FORMATS)


def _topics(context: click.Context, incomplete: str) -> Names:
    """Return pages and commands."""
    from gpugraph.base.files import resource_dir

    root = context.find_root()
    commands = root.command.list_commands(root) if isinstance(root.command, click.Group) else []
    return (*sorted(page.stem for page in resource_dir("docs").glob("*.md")), *commands)


def _values(context: click.Context, incomplete: str) -> Names:
    from gpugraph.records.fields import VALUES

    return VALUES


def _gpus(context: click.Context, incomplete: str) -> Names:
    from gpugraph.ext.machine.data_sheets import NAMES

    return NAMES


def _of(*names: str) -> Callable[[click.Context, str], Names]:
    return lambda context, incomplete: names


_LOOKUPS: dict[str, Callable[[click.Context, str], Names]] = {
    **dict.fromkeys(_GRAPHS, _graphs),
    **dict.fromkeys(("algo", "algos"), _algorithms),
    **dict.fromkeys(("input_format", "output_format"), _formats),
    "explained": _explained,
    "settings": _settings,
    "sweep": _sweeps,
    "gpus": _gpus,
    "y": _values,
    "peers": _peers,
    "problem": _of(*PROBLEMS),
    "topic": _topics,
    "shell": _of(*SHELLS),
    "what": _of("algorithm"),
    "kind": _of("python", "numba", "cuda"),
    "device": _of("auto", "cpu", "cuda", "emulated"),
    "weights": _of("file", "unit", "abs", "hash:", "uniform:"),
    "source": _of("max-degree", "random:", "name:", "index:", "published"),
    "names": _datasets,
}
"""Name of a parameter → what may stand there, given the command and what is written already."""
