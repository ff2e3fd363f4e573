"""``gpugraph config``, ``completion`` and ``new``: what suits the program to its user; and what shells complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from gpugraph.cli.options import command, defaults, table_or_json, users_file
from gpugraph.errors import InputError, unknown_name
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
    before, comma, last = incomplete.rpartition(",")
    found = [CompletionItem(before + comma + name) for name in names if name.startswith(last)]
    return found or _files(context, incomplete)


def _sweeps(context: click.Context, incomplete: str) -> list[CompletionItem]:
    from gpugraph.bench.sweep_file import shipped

    return _items(shipped(), incomplete) or _files(context, incomplete)


def _peers(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Offer peers behind the last comma."""
    from gpugraph.peers import LIBRARIES

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(before + comma + name) for name in LIBRARIES if name.startswith(last)]


def _formats(context: click.Context, incomplete: str) -> list[CompletionItem]:
    from gpugraph.graph.formats import FORMATS

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


@command
@click.option("--path", is_flag=True, help="Print where your own defaults stand, and end.")
@table_or_json
def config(path: bool, style: str, quiet: bool) -> None:
    """Show the defaults, and which file each comes from.

    Your own stand in a TOML file, by default ~/.config/gpugraph/config.toml, of which only what differs is needed:
    a table [measure] with repeat = 20, for instance. $GPUGRAPH_CONFIG names another file.

    Example:
      gpugraph config
    """
    import json

    from gpugraph.cli.output import show, tell

    own, found = users_file(), defaults()
    if path:
        show("none" if own is None else str(own))
        return
    values = {name: getattr(found, name.split(".")[1]) for name in found.origins}
    if style == "json":
        told = {name: {"value": value, "origin": found.origins[name]} for name, value in values.items()}
        show(json.dumps(told, ensure_ascii=False))
        return
    show("\n".join(f"{name:<16} {json.dumps(value):<12} {found.origins[name]}" for name, value in values.items()))
    if own is not None and not own.exists():
        tell([f"your own defaults may stand in {own}"], quiet=quiet)


@command
@click.argument("shell", metavar="|".join(SHELLS))
def completion(shell: str, quiet: bool) -> None:
    """Print what makes a shell complete commands, options, algorithms, sweeps and files.

    For bash, add to ~/.bashrc: source <(gpugraph completion bash)

    Example:
      gpugraph completion bash
    """
    from click.shell_completion import get_completion_class

    from gpugraph.cli.output import show

    if shell not in SHELLS:
        raise unknown_name("shell", shell, SHELLS)
    made = get_completion_class(shell)
    assert made is not None
    writer = made(click.get_current_context().find_root().command, {}, "gpugraph", VARIABLE)
    show(writer.source_template % writer.source_vars())  # source() would ask the bash at hand for its version


# ------------------------------------------------------------------ new

KINDS = ("python", "numba", "cuda")


@command
@click.argument("what", metavar="algorithm")
@click.argument("file", metavar="FILE.py")
@click.option("--problem", default=PROBLEMS[0], show_default=True, metavar="|".join(PROBLEMS), help="What it solves.")
@click.option("--kind", default=KINDS[0], show_default=True, metavar="|".join(KINDS), help="How it computes.")
def new(what: str, file: str, problem: str, kind: str, quiet: bool) -> None:
    """Write an algorithm of your own to begin with: one that works, to be changed.

    A kernel comes in a file beside it, FILE.cu. `gpugraph help your_algorithm` says what an algorithm gets and returns.

    Example:
      gpugraph new algorithm mine.py --problem sssp
    """
    from gpugraph.cli.output import show, tell
    from gpugraph.files import atomic_write, resource_dir

    if what != "algorithm":
        raise unknown_name("thing to make", what, ("algorithm",))
    for noun, name, names in (("problem", problem, PROBLEMS), ("kind of algorithm", kind, KINDS)):
        if name not in names:
            raise unknown_name(noun, name, names)
    examples = resource_dir("docs") / "examples"
    stem = f"{problem}_{kind}"
    parts = sorted(examples.glob(f"{stem}.*"), key=lambda part: part.suffix != ".py")
    if not parts:
        there = " or ".join(one for one in KINDS if (examples / f"{problem}_{one}.py").exists())
        raise InputError(f"there is no {kind} to begin with for {problem}", remedy=f"take --kind {there}")
    if not file.endswith(".py"):
        raise InputError("an algorithm stands in a Python file", where=file, remedy="end its name in .py")
    targets = [Path(file).with_suffix(part.suffix) for part in parts]
    for target in targets:
        if os.path.lexists(target):
            raise InputError("is there already, and is not overwritten", where=target, remedy="choose another name")
    for part, target in zip(parts, targets, strict=True):
        with atomic_write(target, "w") as stream:
            stream.write(part.read_text("utf-8").replace(f"{stem}.py", file))
    usage = parts[0].read_text("utf-8").split("gpugraph ", 1)[1].split('."""', 1)[0]
    show("\n".join(map(str, targets)))
    tell([f"try it: gpugraph {usage.replace(f'{stem}.py', file)}"], quiet=quiet)
