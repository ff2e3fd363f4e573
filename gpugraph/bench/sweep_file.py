"""From the file of a sweep and ``--set`` to the sweep, every key checked; docs/bench.md describes the file.

Nothing here opens a graph or a device.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpugraph.bench.axes import AXES, LIMITS, TEMPLATES, apply_settings, expand, meets, sampling_settings, variables_in
from gpugraph.bench.findings import Expectation, read_expectations, read_tables
from gpugraph.bench.formula import check_conditions
from gpugraph.bench.local_workers import Limits
from gpugraph.bench.sweep import Block, Rule, Sweep, Variant
from gpugraph.bench.toml_file import Document
from gpugraph.devices.discovery import parse_device
from gpugraph.errors import InputError, placed, unknown_name
from gpugraph.files import resource_dir
from gpugraph.graph.view import PREPARATIONS
from gpugraph.measure.cell import Cell
from gpugraph.problems.contract import PROBLEMS, TRANSFERS
from gpugraph.quantities import parse_bytes, parse_seconds

# ------------------------------------------------------------------ [paper]
# What a paper states, and which of it goes into the record of a cell.

PAPER = ("title", "authors", "year", "hardware", "note", "small", "point", "claim")

VALUES = ("kernel_s", "mteps", "speedup")
"""What a point of a paper may state."""

SIZES = ("vertices", "scale")
"""What may say how large its graph was."""


def read_paper(document: Document, expectations: Sequence[Expectation]) -> Mapping[str, Any]:
    """Return the table ``[paper]``, checked; expectations that have a place in it are claims too.

    Raises:
        InputError: anything in it that makes no sense; the message names file, line and key.
    """
    paper = document.table(document.tables, "paper")
    document.check_keys(paper, PAPER, "paper")
    points = document.list_of_tables(paper, "paper", "point")
    for turn, point in enumerate(points):
        if not any(key in point for key in VALUES):
            remedy = f"give {', '.join(VALUES[:-1])} or {VALUES[-1]}"
            where = document.where("paper", "point")
            raise InputError(f"number {turn + 1} states no value", where=where, remedy=remedy)
        for key in (*VALUES, *SIZES):
            value = point.get(key, 1)
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                where = document.where("paper", "point", key, turn=turn)
                raise InputError(f"{value!r} is no number above 0", where=where)
    claims = paper.get("claim", [])
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise InputError("is no list of texts", where=document.where("paper", "claim"), remedy='write claim = ["…"]')
    for key in ("title", "hardware"):
        if not isinstance(paper.get(key), str):
            raise InputError(f"lacks '{key}'", where=document.where("paper"), remedy="name paper and hardware")
    judged = [f"{one.text} ({one.where})" for one in expectations if one.where]
    return {**paper, "claim": [*claims, *judged]}


def paper_of(paper: Mapping[str, Any], cell: Cell) -> list[dict[str, Any]]:
    """Return the ``paper`` field of a cell's record: an object for each table or figure that concerns it.

    A point of ``[[paper.point]]`` gives ``kernel_s``, ``mteps``, or ``speedup`` with ``over`` what it is one; and
    ``vertices`` or ``scale``; ``label`` and ``where`` name the paper's system and the place in its text, ``hardware``
    that of the point where it is not the paper's.  Every other key is a condition on the cell, as in a rule of
    ``[[skip]]``: the point is kept in the records of the cells that meet it.  The first object holds what the paper
    says besides.
    """
    known = {**cell.axes, "problem": cell.problem, "graph": str(cell.graph), "device": cell.device}
    points: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    kept = (*VALUES, *SIZES, "over", "label", "where")
    for point in paper.get("point", ()):
        conditions = {name: wanted for name, wanted in point.items() if name not in (*kept, "hardware")}
        if meets(conditions, known):
            place = str(point.get("hardware", paper["hardware"])), str(point.get("where", ""))
            points.setdefault(place, []).append({k: point[k] for k in kept if k in point})
    said = {key: paper[key] for key in ("authors", "year", "note") if key in paper}
    said |= {"claims": list(paper["claim"])} if paper.get("claim") else {}
    if not points:
        return [{"name": paper["title"], "hardware": paper["hardware"], "points": [], **said}]
    objects = [
        {"name": paper["title"], "hardware": hardware, "where": where, "points": found}
        for (hardware, where), found in points.items()
    ]
    return [{**objects[0], **said}, *objects[1:]]


BLOCK = ("name", "axes", "options", "cases", "skip", "limits")
TOP = ("title", "about", "budget", "sampling", "block", "paper", "peer", "table", "expect", *BLOCK[1:])
VARIANT = ("name", "device", "options", "prepare")


def shipped() -> list[str]:
    """Return the names of the sweeps that come with gpugraph, ``papers/…`` last."""
    home = resource_dir("configs")
    names = [p.relative_to(home).with_suffix("").as_posix() for p in sorted(home.rglob("*.toml"))]
    return sorted((name for name in names if name != "default"), key=lambda name: ("/" in name, name))


def find_sweep(name: str) -> Path:
    """Return the file of a sweep: a path that exists or ends in .toml, or the name of one that is shipped.

    Raises:
        InputError: there is none; the nearest is suggested.
    """
    if name.endswith(".toml") or os.path.isfile(name):
        return Path(name)
    if name not in shipped():
        if os.path.isfile(f"{name}.toml"):
            raise InputError(f"unknown sweep '{name}'", remedy=f"write --sweep {name}.toml for the file here")
        raise unknown_name("sweep", name, shipped())
    return resource_dir("configs") / f"{name}.toml"


def read_sweep(
    name: str,
    settings: Mapping[str, list[Any]] | None = None,
    budget: float | None = None,
    default_budget: float = math.inf,
) -> Sweep:
    """Return the sweep called ``name``.

    Args:
        name: of a shipped sweep, or a path.
        settings: ``--set``: values by axis, ``limits.KEY``, ``sampling.KEY`` or ``ALGORITHM.OPTION``.
        budget: seconds for all cells by the clock, instead of the file's for each device.
        default_budget: likewise, where the file says nothing.

    Raises:
        InputError: anything in it that makes no sense; the message names file, line and key.
    """
    path = find_sweep(name)
    document = Document(path if name.endswith(".toml") else _shown(path))
    document.check_keys(document.tables, TOP)
    apply_settings(document, settings or {})
    return sweep_of(document, name, budget, default_budget)


def sweep_of_words(
    tables: Mapping[str, Any],
    words: Mapping[str, str],
    settings: Mapping[str, list[Any]] | None = None,
    budget: float | None = None,
    default_budget: float = math.inf,
) -> Sweep:
    """Return the sweep that a command line without a file describes.

    Args:
        tables: what a file of it would hold.
        words: axis → the word of the command line that gave it, for messages.
        settings: as for ``read_sweep``.
        budget: likewise.
        default_budget: likewise.

    Raises:
        InputError: as for ``read_sweep``; the message names the word.
    """
    document = Document("command line", dict(tables))
    document.words = dict(words)
    apply_settings(document, settings or {})
    return sweep_of(document, "bench", budget, default_budget)


def sweep_of(document: Document, name: str, budget: float | None = None, default_budget: float = math.inf) -> Sweep:
    """Return the sweep that a document describes; see ``read_sweep``."""
    tables = document.tables
    for key in ("title", "about"):
        if not isinstance(tables.get(key, ""), str):
            raise InputError("is no text", where=document.where(key))
    with document.at("budget"):
        seconds = budget or (parse_seconds(tables["budget"]) if "budget" in tables else default_budget)
    peers = document.table(tables, "peer")
    with document.at("sampling"):
        sampling = sampling_settings(document.table(tables, "sampling"))
    expectations = read_expectations(document)
    sweep = Sweep(
        name=name,
        title=tables.get("title", name),
        path=document.path,
        blocks=_blocks(document),
        budget_s=seconds,
        sampling=sampling,
        peers={name: document.table(peers, "peer", name) for name in peers},
        paper=read_paper(document, expectations) if "paper" in tables else None,
        document=document,
        tables=read_tables(document),
        expectations=expectations,
        budget_by_clock=budget is not None,
    )
    _check_variables(sweep)
    _check_conditions(sweep)
    return sweep


def _check_conditions(sweep: Sweep) -> None:
    """Refuse conditions of tables and expectations on what neither the sweep nor a record has."""
    known = {name for block in sweep.blocks for names in (block.axes, *block.cases) for name in names}
    known |= {name for block in sweep.blocks for options in block.options.values() for name in options}
    known |= {name for block in sweep.blocks for variant in block.variants() for name in variant.options}
    for kind, questions in (("table", sweep.tables), ("expect", sweep.expectations)):
        for turn, question in enumerate(questions):
            for key, conditions in (("each", question.each), *(("with", one) for one in question.others.values())):
                with sweep.document.at(kind, key, turn=turn):
                    check_conditions(conditions, known)


def _check_variables(sweep: Sweep) -> None:
    """Refuse a variable that is no axis, and an axis that no template uses: slips of the pen.

    Where ``--set`` gave other templates, axes may be left over.
    """
    used = [{name: axis for axis, value in block.templates() for name in variables_in(value)} for block in sweep.blocks]
    anywhere = {name for names in used for name in names}
    for block, names in zip(sweep.blocks, used, strict=True):
        axes = {*block.axes, *(name for case in block.cases for name in case)} - AXES.keys()
        unknown = [(name, axis, "variable in a template", axes) for name, axis in names.items() if name not in axes]
        if not sweep.document.overridden & set(TEMPLATES):
            unknown += [(name, name, "axis", {*AXES, *anywhere}) for name in axes - anywhere]
        for name, axis, kind, known in sorted(unknown, key=lambda one: one[0]):
            error = unknown_name(kind, name, known or ["axes of your own, such as scale"])
            raise placed(error, sweep.where(block, "axes", axis))


def _shown(path: Path) -> Path:
    """Return a path as short as it can be shown."""
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path


# ------------------------------------------------------------------ blocks


def _blocks(document: Document) -> list[Block]:
    """Return the blocks of a file; one that has no ``[[block]]`` is a block itself."""
    if "block" not in document.tables:
        return [_block(document, {}, None)]
    blocks = document.list_of_tables(document.tables, "block")
    for turn, block in enumerate(blocks):
        document.check_keys(block, BLOCK, "block", turn=turn)
    return [_block(document, block, turn) for turn, block in enumerate(blocks)]


def _block(document: Document, own: Mapping[str, Any], turn: int | None) -> Block:
    """Return a block: what the file says for all blocks, overridden by what this one says."""
    axes, algorithms = dict(AXES), {"": [Variant("auto")]}
    del axes["algorithm"]
    options: dict[str, dict[str, list[Any]]] = {}
    cases: list[dict[str, Any]] = []
    limits: dict[str, Any] = {}
    both: list[tuple[Mapping[str, Any], tuple[str, ...], int]] = [
        (document.tables, (), 0),
        (own, ("block",), turn or 0),
    ]
    for table, keys, at in both:
        for name, value in document.table(table, *keys, "axes", turn=at).items():
            with document.at(*keys, "axes", name, turn=at):
                if name == "algorithm":
                    algorithms = _algorithms(value)
                else:
                    axes[name] = _axis(name, value)
        options |= _options(document, table, keys)
        remedy = "write cases = [{ n = 1024, deg = 3 }, …]"
        cases += document.list_of_tables(table, *keys, "cases", turn=at, remedy=remedy)
        limits |= document.table(table, *keys, "limits", turn=at)
    if not axes["graph"]:
        raise InputError("names no graph", where=document.where("axes"), remedy='write e.g. graph = "rmat:{scale}"')
    named = {variant.name for group in algorithms.values() for variant in group}
    for algorithm, (option, *_) in options.items():
        if algorithm not in named and not algorithm.startswith("peer:"):  # --peer may name that
            keys = ("block",) if algorithm in own.get("options", ()) else ()
            with document.at(*keys, "options", algorithm, option, turn=(turn or 0) if keys else 0):
                raise unknown_name("algorithm of this sweep", algorithm, named)
    known = {*AXES, *axes, *(key for case in cases for key in case), "reason", "vertices", "arcs"}
    return Block(
        name=str(own.get("name", "")),
        axes=axes,
        algorithms=algorithms,
        options=options,
        cases=cases or [{}],
        skip=[rule for table, keys, at in both for rule in _rules(document, table, known, keys, at)],
        limits=_limits(document, limits),
        turn=turn,
    )


def _axis(name: str, value: Any) -> list[Any]:
    values = expand(value)
    for one in values:
        if not isinstance(one, int | float | str):
            raise InputError(f"{one!r} is no value of an axis", remedy="take numbers, texts, or a range such as 16..24")
    known = {
        "symmetrize": (bool,),
        "keep_ids": (bool,),
        "vertices": (int,),
        "directed": (bool,),
        "seed": (int,),
        "index_bits": (int,),
        "phases": (bool,),
        "predecessors": (bool,),
        "source": (str, int),
    }.get(name)
    if name in AXES and (wrong := [one for one in values if not isinstance(one, known or (str,))]):
        raise InputError(f"{wrong[0]!r} is no value of '{name}'", remedy="see docs/bench.md")
    check: Callable[[str], Any] = {
        "problem": _check_problem,
        "device": parse_device,
        "prepare": _check_preparation,
        "transfers": _check_transfers,
    }.get(name, str)
    for one in values:
        check(one)
    return values


def _algorithms(value: Any) -> dict[str, list[Variant]]:
    """Return the variants by problem; ``""`` where they are given for all."""
    is_variant = isinstance(value, dict) and "name" in value
    if not isinstance(value, dict) or is_variant:
        return {"": [_variant(one) for one in (value if isinstance(value, list) else [value])]}
    for problem in value:
        _check_problem(problem)
    return {p: [_variant(one) for one in (v if isinstance(v, list) else [v])] for p, v in value.items()}


def _check_problem(name: str) -> None:
    if name not in PROBLEMS:
        raise unknown_name("problem", name, PROBLEMS)


def _check_transfers(text: str) -> None:
    if text not in TRANSFERS:
        raise unknown_name("way to time transfers", text, TRANSFERS)


def _check_preparation(text: str) -> None:
    """Refuse steps of ``a+b`` that are no preparations; a variable may become one."""
    for step in text.split("+"):
        if step not in ("", "none", *PREPARATIONS) and "{" not in step:
            raise unknown_name("preparation", step, ["none", *PREPARATIONS])


def _variant(value: Any) -> Variant:
    value = {"name": value} if isinstance(value, str) else value
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise InputError(f"{value!r} is no algorithm", remedy='write "boruvka", or { name = "prim", options = {…} }')
    for key in value:
        if key not in VARIANT:
            raise unknown_name("key of an algorithm", key, VARIANT)
    name, _, device = value["name"].partition("@")
    variant = Variant(name, value.get("device", device or None), dict(value.get("options", {})), value.get("prepare"))
    parse_device(variant.device or "auto")
    _check_preparation(variant.prepare or "none")
    return variant


def _options(document: Document, table: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, dict[str, list[Any]]]:
    found: dict[str, dict[str, list[Any]]] = {}
    options = document.table(table, *keys, "options")
    for algorithm in options:
        for name, value in document.table(options, *keys, "options", algorithm).items():
            with document.at(*keys, "options", algorithm, name):
                found.setdefault(algorithm, {})[name] = expand(value)
    return found


def _rules(
    document: Document, table: Mapping[str, Any], known: set[str], keys: tuple[str, ...], turn: int
) -> list[Rule]:
    found = []
    for number, rule in enumerate(document.list_of_tables(table, *keys, "skip", turn=turn)):
        document.check_keys(rule, known, *keys, "skip", turn=turn if keys else number)
        conditions = {key: value for key, value in rule.items() if key != "reason"}
        if not conditions:
            raise InputError("has no condition and would leave out every cell", where=document.where(*keys, "skip"))
        reason = f"rule {', '.join(f'{k} = {v}' for k, v in conditions.items())}"
        found.append(Rule(conditions, str(rule.get("reason", reason))))
    return found


def _limits(document: Document, table: Mapping[str, Any]) -> Limits:
    document.check_keys(table, LIMITS, "limits")
    limits: dict[str, Any] = {}
    for key, name, parse in (
        ("time", "time_s", parse_seconds),
        ("load", "load_s", parse_seconds),
        ("memory", "memory_bytes", parse_bytes),
    ):
        if key in table:
            with document.at("limits", key):
                limits[name] = parse(table[key])
    return Limits(**limits)
