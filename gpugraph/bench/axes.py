"""The axes of a sweep: their values, ranges, templates with variables, conditions on them, ``--axis`` and ``--set``.

==================  ============================================================
``16..24``          every whole number, both ends included
``16..24 step 2``   every second one; reals too: ``0.1..0.5 step 0.1``
``1..64 x2``        1, 2, 4, …, 64; any factor above 1
``2^10..2^20 x4``   ends may be written as powers of two
==================  ============================================================

A text by itself may be a range; inside a list every text is what it is, so that ``["1..255"]`` can be a range
of weights.
"""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

import msgspec

from gpugraph.base.errors import InputError, check_name, errors_at, unknown_name
from gpugraph.base.files import parse_toml
from gpugraph.bench.toml_file import Document
from gpugraph.graph.read_options import ReadOptions
from gpugraph.measure.cell import Cell
from gpugraph.measure.environment import git_commit
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.foreign import PEER, is_file, name_and_device
from gpugraph.problems.registry import algorithms_called
from gpugraph.records.record import Record

_OF_CELLS = {field.name: field.default for field in (*fields(ReadOptions), *fields(Cell))}
AXES: dict[str, list[Any]] = {
    "problem": [next(iter(PROBLEMS))],
    "graph": [],
    **{name: [_OF_CELLS[name]] for name in ("weights", "input_format", "symmetrize", "keep_ids", "vertices")},
    **{name: [_OF_CELLS[name]] for name in ("directed", "columns", "weight", "seed", "source", "device", "algorithm")},
    "prepare": ["none"],
    **{name: [_OF_CELLS[name]] for name in ("index_bits", "verify", "transfers", "phases", "predecessors", "sums")},
}
"""The axes that every sweep has, with their values where a sweep names none; any other is a variable of templates."""

TEMPLATES = ("graph", "weights", "source", "prepare")
"""Axes whose values may hold variables; those of options may too."""

MOST_VALUES = 4096
"""More values on one axis than this are taken for a slip of the pen."""

NUMBER = r"(?:[+-]?\d+(?:\.\d+)?|2\^\d{1,2})"
_RANGE = re.compile(rf"({NUMBER})\s*\.\.\s*({NUMBER})(?:\s+step\s+({NUMBER})|\s*x\s*({NUMBER}))?")

_DRAWS = re.compile(r"commit:(\d{1,4})")


def expand(value: object) -> list[object]:
    """Return the values of an axis: of a range, of a list, or the one value; InputError for none, or too many."""
    if isinstance(value, list):
        if not value:
            raise InputError("is an empty list", remedy="leave the axis out, or give it a value")
        return list(value)
    if isinstance(value, str) and (match := _DRAWS.fullmatch(value.strip())):
        return list(draws_of(git_commit(), int(match[1])))
    if isinstance(value, str) and (match := _RANGE.fullmatch(value.strip())):
        return _members(value, match)
    if isinstance(value, str) and re.fullmatch(rf"{NUMBER}\s*\.\..*|[^:=]*\.\.\s*{NUMBER}", value.strip()):
        raise InputError(f"'{value}' is no range", remedy="write 16..24, 16..24 step 2 or 1..64 x2")
    return [value]


def draws_of(commit: str | None, count: int) -> list[int]:
    """Return ``count`` numbers hashed from a commit, which nobody knows before it is made; InputError without one."""
    if commit is None or count > MOST_VALUES:
        what = "no commit is known" if commit is None else f"{count} draws are more than {MOST_VALUES}"
        raise InputError(what, where=f"commit:{count}", remedy="install from a checkout, or give numbers")
    hashed = (hashlib.sha256(f"{commit.rstrip('+')[:12]} {i}".encode()).hexdigest() for i in range(1, count + 1))
    return [int(one[:8], 16) for one in hashed]


def expand_words(text: str) -> list[object]:
    """Return the values that a text of the command line gives: numbers, names and ranges between commas."""
    return [value for word in text.split(",") for value in expand(_plain(word.strip()))]


def _members(text: str, match: re.Match[str]) -> list[object]:
    first, last = number(match[1]), number(match[2])
    step, factor = number(match[3] or "1"), number(match[4] or "0")
    if first > last:
        raise InputError(f"'{text}' ends before it begins", remedy=f"write {match[2]}..{match[1]}")
    if match[4]:
        if factor <= 1 or first <= 0:
            raise InputError(f"'{text}' never ends", remedy="a factor above 1 and a first value above 0, e.g. 1..64 x2")
    elif step <= 0:
        raise InputError(f"'{text}' never ends", remedy="a step above 0, e.g. 16..24 step 2")
    values: list[Any] = []
    value = first
    while value <= last:
        if len(values) == MOST_VALUES:
            raise InputError(f"'{text}' has more than {MOST_VALUES} values", remedy="take a wider step")
        values.append(int(value) if value.denominator == 1 else float(value))
        value = value * factor if match[4] else value + step
    return values


def number(text: str) -> Fraction:
    """Return the number that a range names, ``24`` or ``2^10``."""
    return Fraction(2 ** int(text[2:])) if text.startswith("2^") else Fraction(text)


def _plain(word: str) -> object:
    """Return a word as the number it is, else as it is."""
    if re.fullmatch(r"[+-]?\d+", word):
        return int(word)
    if re.fullmatch(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?", word):
        return float(word)
    return word


_VARIABLE = re.compile(r"\{(\w+)\}")


def variables_in(template: object) -> list[str]:
    """Return the names of the variables in a template; the name of a file that is there is none."""
    return _VARIABLE.findall(template) if isinstance(template, str) and not os.path.isfile(template) else []


def filled(template: object, bound: Mapping[str, object]) -> object:
    """Return a template with the values of its variables."""
    return _VARIABLE.sub(lambda match: str(bound[match[1]]), str(template)) if variables_in(template) else template


def described(algorithm: str, options: Mapping[str, object], preparations: Sequence[str]) -> str:
    """Return an algorithm with its options and preparations: ``boruvka(delta=8)+rank-weights``."""
    settings = ",".join(f"{name}={value}" for name, value in sorted(options.items()))
    return f"{algorithm}{f'({settings})' if settings else ''}{''.join(f'+{step}' for step in preparations)}"


def described_record(record: Record) -> str:
    """Return the algorithm of a record likewise, with those of its options that its sweep varies."""
    varied = {name: text for name, text in record.parameters.items() if name in record.axes and name != "preparations"}
    return described(record.algorithm, varied, record.parameters.get("preparations") or ())


_OPEN = re.compile(rf"({NUMBER})?\s*\.\.\s*({NUMBER})?")


def meets(conditions: Mapping[str, object], bound: Mapping[str, object]) -> bool:
    """Tell whether values meet the conditions of a rule; a name without a value does not."""
    return all(name in bound and matches(wanted, bound[name]) for name, wanted in conditions.items())


def matches(wanted: object, value: object) -> bool:
    """Tell whether a value meets a rule: one of a list, in a range that may be open (``22..``), or a pattern."""
    if isinstance(wanted, list):
        return any(matches(one, value) for one in wanted)
    if isinstance(wanted, str):
        ends = _OPEN.fullmatch(wanted.strip())
        if ends and (ends[1] or ends[2]) and isinstance(value, int | float) and not isinstance(value, bool):
            exact = Fraction(value)
            return (not ends[1] or exact >= number(ends[1])) and (not ends[2] or exact <= number(ends[2]))
        return fnmatchcase(str(value), wanted)
    return bool(wanted == value)


def check_condition(wanted: object) -> None:
    """Raise InputError for a condition that no value meets: an empty list, a table, a range that is none."""
    for one in wanted if isinstance(wanted, list) and wanted else [wanted]:
        text = one.strip() if isinstance(one, str) else ""
        ends = _OPEN.fullmatch(text)
        first, last = ends.groups() if ends else ("", "")
        empty = ends and (number(first) > number(last) if first and last else first is last)
        if empty or not isinstance(one, int | float | str) or (not ends and _RANGE.fullmatch(text)):
            raise InputError(f"no value meets the condition {one!r}", remedy="write a value, a list, 16..24 or 22..")


BOOLEANS = ("symmetrize", "keep_ids", "directed", "phases", "predecessors")
"""Axes whose values are ``true`` and ``false``."""

WHOLE = ("graph", "source", "weights", "verify", "input_format", "columns", "weight")
"""Axes whose values hold commas or dots of their own: ``--axis`` takes the text as one value, and may be repeated."""

LIMITS = ("time", "memory", "load")


def parse_settings(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return ``NAME=VALUES`` by name; values in brackets or quotes are TOML, others go by commas."""
    settings: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            remedy = "for example --axis scale=16..20, or --set delta-stepping.delta=8"
            raise InputError(f"'{text}' is not NAME=VALUES", remedy=remedy)
        with errors_at(text):
            settings.setdefault(name, []).extend(_values(name, value))
    return settings


def _values(name: str, text: str) -> list[object]:
    if text[0] in "[\"'{":
        try:
            value = parse_toml(f"value = {text}")["value"]
        except ValueError as error:
            raise InputError(f"is no TOML: {error}", remedy='for example graph=["rmat:10", "path:500"]') from None
        return value if isinstance(value, list) else [value]
    if name in BOOLEANS and (words := text.split(",")) and {*words} <= {"true", "false"}:
        return [word == "true" for word in words]
    if name in WHOLE or name.startswith(("limits.", "sampling.")):
        return [text]
    return expand_words(text)


def apply_settings(document: Document, settings: Mapping[str, list[object]]) -> None:
    """Put settings in the place of a sweep's own, in every block; InputError suggests the nearest known axis."""
    tables, path = document.tables, document.path
    document.overridden = frozenset(settings)
    own = tables.get("block", [])
    every = (tables, *own)
    declared = {key for table in every for part in (table.get("axes", {}), *table.get("cases", [])) for key in part}
    for name, values in sorted(settings.items(), key=lambda setting: setting[0] not in AXES):  # which algorithms, first
        head, dot, tail = name.rpartition(".")
        if head in ("limits", "sampling"):
            known = LIMITS if head == "limits" else [f.name for f in fields(Sampling)]
            check_name(f"setting of '{head}'", tail, known)
            tables.setdefault(head, {})[tail] = values[-1]
            for block in own:
                block.get(head, {}).pop(tail, None)
        elif dot and head not in declared:
            for table in every:
                table.get("options", {}).get(head, {}).pop(tail, None)
            tables.setdefault("options", {}).setdefault(head, {})[tail] = values
        elif name in AXES or name in declared:
            for table in every:
                table.get("axes", {}).pop(name, None)
                left = [{k: v for k, v in case.items() if k != name} for case in table.get("cases", [])]
                table["cases"] = [case for i, case in enumerate(left) if case not in left[:i]]
            tables.setdefault("axes", {})[name] = values
        elif owners := [one for table in every for one, of in table.get("options", {}).items() if name in of]:
            remedy = f"write --set {owners[0]}.{name}=…"
            raise InputError(f"'{name}' is no axis of {path} but an option of {owners[0]}", remedy=remedy)
        elif able := _able(every, name):
            options = tables.setdefault("options", {})
            options |= {one: {**options.get(one, {}), name: values} for one in able}
        else:
            raise unknown_name(f"axis of {path}", name, {*AXES, *declared})


def _able(tables: Sequence[Mapping[str, Any]], option: str) -> list[str]:
    """Return the algorithms of a sweep that have an option."""
    found = [value for table in tables for value in _flat(table.get("axes", {}).get("algorithm", []))]
    names = dict.fromkeys(name_and_device(str(value))[0] for value in found)
    ours = [name for name in names if not name.startswith(PEER) and not is_file(name)]
    return [name for name in ours if any(option in {o.name for o in one.options} for one in algorithms_called(name))]


def _flat(given: Any) -> list[Any]:
    """Return the algorithms of an axis, which may be given by problem, or as tables with a name."""
    if isinstance(given, dict):
        return [given["name"]] if "name" in given else [one for values in given.values() for one in _flat(values)]
    return [one for values in given for one in _flat(values)] if isinstance(given, list) else [given]


def sampling_settings(table: Mapping[str, object]) -> dict[str, object]:
    """Return the settings of the sampling, checked (InputError) by making one."""
    for key in table:
        check_name("setting of 'sampling'", key, (f.name for f in fields(Sampling)))
    try:
        given = {key: {"yes": True, "no": False}.get(str(value), value) for key, value in table.items()}
        made = msgspec.convert(given, Sampling, strict=False)  # the command line gives texts
    except msgspec.ValidationError as error:
        what, _, setting = str(error).replace("`", "").partition(" - at $.")
        wrong = InputError(f"{setting}: {what.lower()}".removeprefix(": "), remedy="see docs/bench.md")
        raise error.__cause__ if isinstance(error.__cause__, InputError) else wrong from None
    return {key: getattr(made, key) for key in table}
