"""From the file of a sweep and ``--axis`` to the sweep, every key checked; docs/bench.md describes the file.

Nothing here opens a graph or a device.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from gpugraph.base.errors import InputError, check_name, placed, unknown_name
from gpugraph.base.files import resource_dir
from gpugraph.base.quantities import parse_bytes, parse_seconds, parse_target
from gpugraph.bench.axes import AXES, BOOLEANS, TEMPLATES, apply_settings, expand, sampling_settings, variables_in
from gpugraph.bench.local_workers import Limits
from gpugraph.bench.sweep import FINDINGS, PAPER, Block, Rule, Sweep, Variant
from gpugraph.bench.toml_file import Document
from gpugraph.devices.discovery import parse_device
from gpugraph.graph.read_options import PREPARATIONS
from gpugraph.problems.contract import METHODS_OF_A_RUN, PROBLEMS, TRANSFERS, TYPES_OF_SUMS
from gpugraph.problems.foreign import PEER, name_and_device


class LimitsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[limits]``, as it is written."""

    time: Any = None
    load: Any = None
    memory: Any = None


class ForAllBlocks(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a file says for all blocks, and a block for itself."""

    axes: dict[str, Any] = {}
    options: dict[str, dict[str, Any]] = {}
    cases: list[dict[str, Any]] = []
    skip: list[dict[str, Any]] = []
    limits: LimitsTable = LimitsTable()


class BlockTable(ForAllBlocks, kw_only=True, forbid_unknown_fields=True):
    """``[[block]]``."""

    name: str = ""


class LaptopTable(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """``[laptop]``: what takes the place of the file's own for a small machine without a GPU."""

    budget: Any
    block: list[BlockTable]
    axes: dict[str, Any] = {}
    sampling: dict[str, Any] = {}


class SweepTable(ForAllBlocks, kw_only=True, forbid_unknown_fields=True):
    """The file of a sweep."""

    title: str | None = None
    about: str = ""
    budget: Any = None
    sampling: dict[str, Any] = {}
    block: list[BlockTable] | None = None
    peer: dict[str, dict[str, Any]] = {}
    paper: dict[str, Any] | None = None
    laptop: LaptopTable | None = None
    table: list[dict[str, Any]] = []
    expect: list[dict[str, Any]] = []


VARIANT = ("name", "device", "options", "prepare")


def shipped() -> list[str]:
    """Return the names of the sweeps that come with gpugraph, ``papers/…`` last."""
    home = resource_dir("configs")
    names = [p.relative_to(home).with_suffix("").as_posix() for p in sorted(home.rglob("*.toml"))]
    return sorted((name for name in names if name not in ("default", "peers")), key=lambda name: ("/" in name, name))


def find_sweep(name: str) -> Path:
    """Return the file of a sweep, a path or the name of one that is shipped, as short as it can be shown.

    An InputError suggests the nearest name.
    """
    if name.endswith(".toml") or os.path.isfile(name):
        return Path(name)
    if name not in shipped():
        if os.path.isfile(f"{name}.toml"):
            raise InputError(f"unknown sweep '{name}'", remedy=f"write --sweep {name}.toml for the file here")
        raise unknown_name("sweep", name, shipped())
    path = (resource_dir("configs") / f"{name}.toml").resolve()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def read_sweep(
    source: str | Document,
    settings: Mapping[str, list[object]] | None = None,
    budget: float | None = None,
    default_budget: float = math.inf,
    *,
    laptop: bool = False,
) -> Sweep:
    """Return a sweep.

    Args:
        source: the name of a shipped sweep, a path, or what the command line says instead of a file.
        settings: ``--axis``, ``--set``: values by axis, ``limits.KEY``, ``sampling.KEY`` or ``ALGORITHM.OPTION``.
        budget: seconds for all cells by the clock, instead of the file's for each device.
        default_budget: likewise, where the file says nothing.
        laptop: the blocks, axes, sampling and budget of ``[laptop]`` take the place of the others.

    Raises:
        InputError: anything in it that makes no sense; the message names file, line and key.
    """
    name, document = ("bench", source) if isinstance(source, Document) else (source, Document(find_sweep(source)))
    document.read_as(SweepTable)
    if laptop:
        _use_laptop(document)
    apply_settings(document, settings or {})
    table = document.read_as(SweepTable)
    with document.at("budget"):
        seconds = budget or (parse_seconds(table.budget) if table.budget is not None else default_budget)
    with document.at("sampling"):
        given = dict(table.sampling)
        if "target" in given:  # as of --target: 5 and "5%" are 0.05
            given["target"] = parse_target("target", str(given["target"]))
        if "time_limit_s" in given:
            given["time_limit_s"] = parse_seconds(given["time_limit_s"])
        sampling = sampling_settings(given)
    findings = import_module(FINDINGS) if table.table or table.expect else None
    tables, expectations = findings.read_questions(document) if findings else ([], [])
    blocks = enumerate(table.block) if table.block else [(None, BlockTable())]
    sweep = Sweep(
        name=name,
        title=table.title or name,
        path=document.path,
        blocks=[_block(document, table, own, turn) for turn, own in blocks],
        budget_s=seconds,
        sampling=sampling,
        peers=table.peer,
        paper=import_module(PAPER).read_paper(document, expectations) if table.paper is not None else None,
        document=document,
        tables=tables,
        expectations=expectations,
        budget_by_clock=budget is not None,
        laptop=laptop,
    )
    _check_variables(sweep)
    if findings and not laptop:  # whose blocks need not have all that expectations name
        findings.check_sweep(sweep)
    return sweep


def _use_laptop(document: Document) -> None:
    """Put ``[laptop]`` in the place of what a file says for larger machines; InputError if there is none."""
    tables = document.tables
    if "laptop" not in tables:
        raise InputError("has nothing for a laptop", where=document.path, remedy="leave out --laptop")
    own = tables["laptop"]
    tables |= {"budget": own["budget"], "block": own["block"]}
    tables |= {key: {**tables.get(key, {}), **own.get(key, {})} for key in ("axes", "sampling")}


def _check_variables(sweep: Sweep) -> None:
    """Refuse variables that are no axes, and axes that no template uses, unless ``--axis`` gave other templates."""
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
        for name in sorted(names.keys() - block.axes.keys()):
            if lacking := [case for case in block.cases if name not in case]:
                what = f"the case {lacking[0]} has no value of '{name}', which '{names[name]}' asks for"
                raise InputError(what, where=sweep.where(block, "cases"), remedy="give it one, or take the case out")


def sweep_of_axes(
    title: str,
    axes: Mapping[str, list[Any]],
    options: Mapping[str, Mapping[str, list[Any]]],
    sampling: Mapping[str, object],
    limits: LimitsTable,
    words: Mapping[str, str],
) -> Sweep:
    """Return the sweep of one block that a command line describes instead of a file.

    ``axes`` are the values by axis, ``algorithm`` among them, and ``words`` the arguments that gave them, for messages.
    Raises InputError for values that an axis does not take.
    """
    document = Document("command line", {}, words)
    values, algorithms = dict(AXES), dict[str, list[Variant]]()
    del values["algorithm"]
    for name, given in axes.items():
        with document.at("axes", name):
            if name == "algorithm":
                algorithms = _algorithms(given)
            else:
                values[name] = _axis(name, given)
    with document.at("sampling"):
        settings = sampling_settings(sampling)
    block = Block("", values, algorithms, options, [{}], [], _limits(document, (limits,)))
    sweep = Sweep("bench", title, document.path, [block], math.inf, settings, {}, None, document)
    _check_variables(sweep)
    return sweep


def _block(document: Document, top: ForAllBlocks, own: BlockTable, turn: int | None) -> Block:
    """Return a block: what the file says for all blocks, overridden by what this one says."""
    axes, algorithms = dict(AXES), {"": [Variant("auto")]}
    del axes["algorithm"]
    options: dict[str, dict[str, list[Any]]] = {}
    both: list[tuple[ForAllBlocks, tuple[str, ...], int]] = [(top, (), 0), (own, ("block",), turn or 0)]
    for table, keys, at in both:
        for name, value in table.axes.items():
            with document.at(*keys, "axes", name, turn=at):
                if name == "algorithm":
                    algorithms = _algorithms(value)
                else:
                    axes[name] = _axis(name, value)
        for algorithm, values in table.options.items():
            if values:
                options[algorithm] = {}
            for name, value in values.items():
                with document.at(*keys, "options", algorithm, name):
                    options[algorithm][name] = expand(value)
    if not axes["graph"]:
        raise InputError("names no graph", where=document.where("axes"), remedy='write e.g. graph = "rmat:{scale}"')
    named = {variant.name for group in algorithms.values() for variant in group}
    for algorithm, (option, *_) in options.items():
        if not algorithm.startswith(PEER):  # --peer may name that
            keys = ("block",) if algorithm in own.options else ()
            with document.at(*keys, "options", algorithm, option, turn=(turn or 0) if keys else 0):
                check_name("algorithm of this sweep", algorithm, named)
    cases = [*top.cases, *own.cases]
    if axis := next((name for case in cases for name in case if name in AXES), None):
        what = f"a case sets variables, and '{axis}' is an axis"
        raise InputError(what, where=document.where("cases"), remedy="put it into [axes], or a [[block]]")
    known = {*AXES, *axes, *(key for case in cases for key in case), "reason", "vertices", "arcs"}
    return Block(
        name=own.name,
        axes=axes,
        algorithms=algorithms,
        options=options,
        cases=cases or [{}],
        skip=[rule for table, keys, at in both for rule in _rules(document, table, known, keys, at)],
        limits=_limits(document, (own.limits, top.limits)),
        turn=turn,
    )


def _axis(name: str, value: object) -> list[object]:
    values = expand(value)
    kinds: tuple[type, ...] = (int, float, str)
    if name in AXES:
        kinds = (bool,) if name in BOOLEANS else _KINDS.get(name, (str,))
    for one in values:
        if not isinstance(one, int | float | str):
            raise InputError(f"{one!r} is no value of an axis", remedy="take numbers, texts, or a range such as 16..24")
        if not isinstance(one, kinds) or (name == "vertices" and not 0 <= int(one) < 2**63):
            raise InputError(f"{one!r} is no value of '{name}'", remedy="see docs/bench.md")
        _CHECKS.get(name, str)(one)
    return values


def _check_preparation(text: str) -> None:
    """Refuse steps of ``a+b`` that are no preparations; a variable may become one."""
    for step in filter(None, text.split("+")):
        if "{" not in step:
            check_name("preparation", step, ["none", *PREPARATIONS])


_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("vertices", "seed", "index_bits"), (int,)),
    "source": (str, int),
}
"""The types of axes whose values are neither texts nor true and false."""

_CHECKS: dict[str, Callable[[Any], Any]] = {
    "problem": lambda name: check_name("problem", name, PROBLEMS),
    "device": parse_device,
    "prepare": _check_preparation,
    "transfers": lambda name: check_name("way to time transfers", name, TRANSFERS),
    "verify": lambda name: check_name("verification method", name, METHODS_OF_A_RUN),
    "sums": lambda name: check_name("type of sums", name, TYPES_OF_SUMS),
}


def _algorithms(value: object) -> dict[str, list[Variant]]:
    """Return the variants by problem; ``""`` where they are given for all."""
    by_problem = value if isinstance(value, dict) and "name" not in value else {"": value}
    for problem in by_problem.keys() - {""}:
        _CHECKS["problem"](problem)
    return {p: [_variant(one) for one in (v if isinstance(v, list) else [v])] for p, v in by_problem.items()}


def _variant(value: object) -> Variant:
    value = {"name": value} if isinstance(value, str) else value
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise InputError(f"{value!r} is no algorithm", remedy='write "boruvka", or { name = "prim", options = {…} }')
    for key in value:
        check_name("key of an algorithm", key, VARIANT)
    for key, kind, noun in (("options", dict, "table"), ("device", str, "text"), ("prepare", str, "text")):
        if key in value and not isinstance(value[key], kind):
            raise InputError(f"its {key} {value[key]!r} is no {noun}", remedy="see docs/bench.md")
    name, device = name_and_device(value["name"])
    variant = Variant(name, value.get("device", device or None), dict(value.get("options", {})), value.get("prepare"))
    parse_device(variant.device or "auto")
    _check_preparation(variant.prepare or "none")
    return variant


def _rules(
    document: Document, table: ForAllBlocks, known: set[str], keys: tuple[str, ...], turn: int
) -> Iterator[Rule]:
    for number, rule in enumerate(table.skip):
        for key in rule:
            with document.at(*keys, "skip", key, turn=turn if keys else number):
                check_name("key", key, known)
        conditions = {key: value for key, value in rule.items() if key != "reason"}
        if not conditions:
            raise InputError("has no condition and would leave out every cell", where=document.where(*keys, "skip"))
        reason = f"rule {', '.join(f'{k} = {v}' for k, v in conditions.items())}"
        with document.at(*keys, "skip", next(iter(conditions)), turn=turn if keys else number):
            yield Rule(conditions, str(rule.get("reason", reason)))


def _limits(document: Document, tables: Sequence[LimitsTable]) -> Limits:
    """Return the limits, the first table's before those of the second."""
    found: dict[str, Any] = {}
    for key, name in (("time", "time_s"), ("load", "load_s"), ("memory", "memory_bytes")):
        value = next((one for table in tables if (one := getattr(table, key)) is not None), None)
        if value is not None:
            with document.at("limits", key):
                found[name] = parse_bytes(value) if key == "memory" else parse_seconds(value)
    return Limits(**found)
