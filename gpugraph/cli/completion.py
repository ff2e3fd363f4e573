"""Shell completion of parameters' values, each looked up when a shell asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from gpugraph.problems.contract import PROBLEMS

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_GPUGRAPH_COMPLETE"


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete(parameter: click.Parameter, context: click.Context, incomplete: str) -> list[CompletionItem] | None:
    """Return what may follow for a parameter, known by its name; None where click itself knows best."""
    lookup = _LOOKUPS.get(parameter.name or "")
    return None if lookup is None else lookup(context, incomplete)


def _files(context: click.Context, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def _graphs(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Offer families of graphs, data sets, and files."""
    from gpugraph.graph.families import FAMILIES

    specs = _items((f"{name}:" for name in FAMILIES), incomplete) if incomplete else []
    return [*specs, *(_datasets(context, incomplete) if incomplete else []), CompletionItem(incomplete, type="file")]


def _datasets(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Offer collections, and behind a colon their data sets."""
    from gpugraph.graph.datasets.registry import listed, registry

    if ":" in incomplete:
        return _items(map(str, listed()), incomplete)
    return _items((f"{one.prefix}:" for one in registry().values() if not one.gone), incomplete)


def _algorithms(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Offer the algorithms of the command's problem behind the last comma, and Python files."""
    from gpugraph.problems.registry import algorithms

    problem = context.info_name if context.info_name in PROBLEMS else None
    names = sorted({"auto", *(algorithm.name for algorithm in algorithms(problem))})
    return _after_comma(names, incomplete) or _files(context, incomplete)


def _sweeps(context: click.Context, incomplete: str) -> list[CompletionItem]:
    from gpugraph.bench.sweep_file import shipped

    return _items(shipped(), incomplete) or _files(context, incomplete)


def _peers(context: click.Context, incomplete: str) -> list[CompletionItem]:
    from gpugraph.peers import LIBRARIES

    return _after_comma(LIBRARIES, incomplete)


def _after_comma(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Offer names behind the last comma."""
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(before + comma + name) for name in names if name.startswith(last)]


def _formats(context: click.Context, incomplete: str) -> list[CompletionItem]:
    from gpugraph.graph.formats.known import FORMATS

    return _items(sorted(form.name for form in FORMATS), incomplete)


def _topics(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Offer pages and commands."""
    from gpugraph.files import resource_dir

    root = context.find_root()
    commands = root.command.list_commands(root) if isinstance(root.command, click.Group) else []
    return _items((*sorted(page.stem for page in resource_dir("docs").glob("*.md")), *commands), incomplete)


def _sources(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Offer where shortest paths may start; of ``convert`` the source is a graph."""
    if context.info_name == "convert":
        return _graphs(context, incomplete)
    return _items(("max-degree", "random:", "name:", "index:", "published"), incomplete)


def _of(*names: str) -> Callable[[Any, str], list[CompletionItem]]:
    return lambda context, incomplete: _items(names, incomplete)


_LOOKUPS: dict[str, Callable[[Any, str], list[CompletionItem]]] = {
    **dict.fromkeys(("graph", "graphs", "spec"), _graphs),
    **dict.fromkeys(("output", "save", "exports", "result", "results", "file", "files", "commands", "array"), _files),
    **dict.fromkeys(("algo", "algos"), _algorithms),
    "sweep": _sweeps,
    "peers": _peers,
    "problem": _of(*PROBLEMS),
    "topic": _topics,
    "shell": _of(*SHELLS),
    "what": _of("algorithm"),
    "kind": _of("python", "numba", "cuda"),
    "device": _of("auto", "cpu", "cuda", "emulated"),
    "weights": _of("file", "unit", "abs", "hash:", "uniform:"),
    "source": _sources,
    "names": _datasets,
    "input_format": _formats,
    "output_format": _formats,
}
"""Name of a parameter → what may stand there."""
