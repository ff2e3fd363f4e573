"""``--set``: what the command line puts in the place of what the file of a sweep says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from gpugraph.bench.axes import expand_words
from gpugraph.bench.sweep import AXES
from gpugraph.bench.toml_file import Document
from gpugraph.errors import InputError, unknown_name
from gpugraph.measure.sampling import Sampling

WHOLE = ("graph", "source", "weights", "verify", "input_format")
"""Axes whose values hold commas or dots of their own: ``--set`` takes the text as one value, and may be repeated."""

LIMITS = ("time", "memory", "load")


def parse_settings(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return what ``--set NAME=VALUE`` gave, by name; a name given again adds values.

    A value that begins with ``[`` or a quotation mark is TOML; else commas separate values, numbers and ranges are
    read as such, and the text of a graph, a source or weights is one value.

    Raises:
        InputError: no equals sign, or no value.
    """
    settings: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise InputError(f"--set '{text}' is not AXIS=VALUES", remedy="for example --set scale=16..20")
        try:
            settings.setdefault(name, []).extend(_values(name, value))
        except InputError as error:
            raise InputError(error.what, where=f"--set {text}", remedy=error.remedy) from None
    return settings


def _values(name: str, text: str) -> list[Any]:
    if text[0] in "[\"'{":
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"is no TOML: {error}", remedy='for example --set graph=["rmat:10", "path:500"]') from None
        return value if isinstance(value, list) else [value]
    if name in WHOLE or name.startswith(("limits.", "sampling.")):
        return [text]
    return expand_words(text)


def apply_settings(document: Document, settings: Mapping[str, list[Any]]) -> None:
    """Put settings in the place of what the file of a sweep says, in every block.

    Raises:
        InputError: the sweep has no such axis; the nearest is suggested.
    """
    tables, path = document.tables, document.path
    document.overridden = frozenset(settings)
    own = [block for block in tables.get("block", []) if isinstance(block, dict)]
    declared = {key for table in (tables, *own) for part in _parts(table) for key in part}
    for name, values in settings.items():
        head, dot, tail = name.rpartition(".")
        if head in ("limits", "sampling"):
            known = LIMITS if head == "limits" else [f.name for f in fields(Sampling)]
            if tail not in known:
                raise unknown_name(f"setting of '{head}'", tail, known)
            tables.setdefault(head, {})[tail] = values[-1]
            for block in own:
                block.get(head, {}).pop(tail, None)
        elif dot and head not in declared:
            for table in (tables, *own):
                table.get("options", {}).get(head, {}).pop(tail, None)
            tables.setdefault("options", {}).setdefault(head, {})[tail] = values
        elif name in AXES or name in declared:
            tables.setdefault("axes", {})[name] = values
            for table in own:
                table.get("axes", {}).pop(name, None)
            for table in (tables, *own):
                table["cases"] = _without(table.get("cases", []), name)
        elif owners := [head for table in (tables, *own) for head in _owners(table, name)]:
            remedy = f"write --set {owners[0]}.{name}=…"
            raise InputError(f"'{name}' is no axis of {path} but an option of {owners[0]}", remedy=remedy)
        else:
            raise unknown_name(f"axis of {path}", name, {*AXES, *declared})


def _parts(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the tables whose keys are axes or variables."""
    axes, cases = table.get("axes", {}), table.get("cases", [])
    return [part for part in (axes, *(cases if isinstance(cases, list) else [])) if isinstance(part, dict)]


def _owners(table: Mapping[str, Any], option: str) -> list[str]:
    """Return the algorithms for which a table has an axis of that option."""
    options = table.get("options", {})
    return [name for name, own in options.items() if isinstance(own, dict) and option in own]


def _without(cases: Any, name: str) -> Any:
    if not isinstance(cases, list):
        return cases
    left = [{k: v for k, v in case.items() if k != name} for case in cases if isinstance(case, dict)]
    return [case for i, case in enumerate(left) if case not in left[:i]]
