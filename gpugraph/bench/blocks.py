"""The blocks of a sweep's file: axes, algorithms, options, cases, rules and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpugraph.bench.axes import expand, listed
from gpugraph.bench.document import Document
from gpugraph.bench.sweep import AXES, Block, Limits, Rule, Variant
from gpugraph.errors import InputError, unknown_name
from gpugraph.problems.contract import PROBLEMS
from gpugraph.quantities import parse_bytes, parse_seconds

BLOCK = ("name", "axes", "options", "cases", "skip", "limits")
OF_A_RULE = ("reason", "vertices", "arcs")
VARIANT = ("name", "device", "options", "prepare")


def read_blocks(document: Document) -> list[Block]:
    """Return the blocks of a file; one that has no ``[[block]]`` is a block itself.

    Raises:
        InputError: anything in them that makes no sense; the message names file, line and key.
    """
    tables = document.tables
    blocks = tables.get("block")
    if blocks is None:
        return [_block(document, {}, None)]
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise InputError("is no list of tables", where=document.where("block"), remedy="write [[block]]")
    for turn, block in enumerate(blocks):
        document.check_keys(block, BLOCK, "block", turn=turn)
    return [_block(document, block, turn) for turn, block in enumerate(blocks)]


def _block(document: Document, own: Mapping[str, Any], turn: int | None) -> Block:
    """Return a block: what the file says for all blocks, overridden by what this one says."""
    tables, axes, algorithms = document.tables, dict(AXES), {"": [Variant("auto")]}
    del axes["algorithm"]
    for table, keys in ((tables, ("axes",)), (own, ("block", "axes"))):
        at = (turn or 0) if keys[0] == "block" else 0
        for name, value in table_of(document, table, "axes").items():
            with document.at(*keys, name, turn=at):
                if name == "algorithm":
                    algorithms = _algorithms(value)
                else:
                    axes[name] = _axis(name, value)
    if not axes["graph"]:
        raise InputError("names no graph", where=document.where("axes"), remedy='write e.g. graph = "rmat:{scale}"')
    both = [(tables, 0, ()), (own, turn or 0, ("block",))]
    cases = [case for table, at, keys in both for case in _cases(document, table, keys, at)]
    block = Block(
        name=str(own.get("name", "")),
        axes=axes,
        algorithms=algorithms,
        options={k: v for table, _, keys in both for k, v in _options(document, table, keys).items()},
        cases=cases or [{}],
        skip=[],
        limits=_limits(document, {**table_of(document, tables, "limits"), **table_of(document, own, "limits")}),
        turn=turn,
    )
    known = {*block.axis_names(), *OF_A_RULE}
    rules = [rule for table, at, keys in both for rule in _rules(document, table, known, keys, at)]
    return replace(block, skip=rules)


def table_of(document: Document, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a table of a table, empty where there is none."""
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise InputError("is no table", where=document.where(key), remedy=f"write [{key}]")
    return value


def _axis(name: str, value: Any) -> list[Any]:
    values = expand(value)
    for one in values:
        if not isinstance(one, int | float | str):
            raise InputError(f"{one!r} is no value of an axis", remedy="take numbers, texts, or a range such as 16..24")
    known = {
        "symmetrize": (bool,),
        "keep_ids": (bool,),
        "seed": (int,),
        "index_bits": (int,),
        "source": (str, int),
    }.get(name)
    if name in AXES and (wrong := [one for one in values if not isinstance(one, known or (str,))]):
        raise InputError(f"{wrong[0]!r} is no value of '{name}'", remedy="see docs/bench.md")
    return values


def _algorithms(value: Any) -> dict[str, list[Variant]]:
    """Return the variants by problem; ``""`` where they are given for all."""
    is_variant = isinstance(value, dict) and "name" in value
    if not isinstance(value, dict) or is_variant:
        return {"": [_variant(one) for one in (value if isinstance(value, list) else [value])]}
    for problem in value:
        if problem not in PROBLEMS:
            raise unknown_name("problem", problem, PROBLEMS)
    return {p: [_variant(one) for one in (v if isinstance(v, list) else [v])] for p, v in value.items()}


def _variant(value: Any) -> Variant:
    if isinstance(value, str):
        name, _, device = value.partition("@")
        return Variant(name, device or None)
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise InputError(f"{value!r} is no algorithm", remedy='write "boruvka", or { name = "prim", options = {…} }')
    for key in value:
        if key not in VARIANT:
            raise unknown_name("key of an algorithm", key, VARIANT)
    name, _, device = value["name"].partition("@")
    return Variant(name, value.get("device", device or None), dict(value.get("options", {})), value.get("prepare"))


def _options(document: Document, table: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, dict[str, list[Any]]]:
    found: dict[str, dict[str, list[Any]]] = {}
    for algorithm, options in table_of(document, table, "options").items():
        if not isinstance(options, dict):
            raise InputError(
                "is no table", where=document.where(*keys, "options", algorithm), remedy=f"write [options.{algorithm}]"
            )
        for name, value in options.items():
            with document.at(*keys, "options", algorithm, name):
                found.setdefault(algorithm, {})[name] = expand(value)
    return found


def _cases(document: Document, table: Mapping[str, Any], keys: tuple[str, ...], turn: int) -> list[dict[str, Any]]:
    cases = table.get("cases", [])
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        where = document.where(*keys, "cases", turn=turn)
        raise InputError("is no list of tables", where=where, remedy="write cases = [{ n = 1024, deg = 3 }, …]")
    return cases


def _rules(
    document: Document, table: Mapping[str, Any], known: set[str], keys: tuple[str, ...], turn: int
) -> list[Rule]:
    rules = table.get("skip", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise InputError(
            "is no list of tables", where=document.where(*keys, "skip", turn=turn), remedy="write [[skip]]"
        )
    found = []
    for number, rule in enumerate(rules):
        document.check_keys(rule, known, *keys, "skip", turn=turn if keys else number)
        conditions = {key: value for key, value in rule.items() if key != "reason"}
        if not conditions:
            raise InputError("has no condition and would leave out every cell", where=document.where(*keys, "skip"))
        told = f"rule {listed(f'{k} = {v}' for k, v in conditions.items())}"
        found.append(Rule(conditions, str(rule.get("reason", told))))
    return found


def _limits(document: Document, table: Mapping[str, Any]) -> Limits:
    document.check_keys(table, ("time", "memory", "load"), "limits")
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
