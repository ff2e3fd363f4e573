"""Sweeps: what a TOML file asks for, and the values of axes.

A sweep is one or more blocks; each is the product of its axes.  ``sweep_file.py`` makes a sweep of a file, ``plan.py``
makes cells of a sweep.

==================  ============================================================
``16..24``          every whole number, both ends included
``16..24 step 2``   every second one; reals too: ``0.1..0.5 step 0.1``
``1..64 x2``        1, 2, 4, …, 64; any factor above 1
``2^10..2^20 x4``   ends may be written as powers of two
==================  ============================================================

A text that stands alone may be a range; inside a list every text is what it is, so that ``["1..255"]`` can be a range
of weights.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from gpugraph.bench.toml_file import Document
from gpugraph.errors import InputError
from gpugraph.problems.contract import PROBLEMS

AXES: dict[str, list[Any]] = {
    "problem": [PROBLEMS[0]],
    "graph": [],
    "weights": ["file"],
    "input_format": [None],
    "symmetrize": [False],
    "keep_ids": [False],
    "seed": [1],
    "source": [None],
    "device": ["auto"],
    "algorithm": ["auto"],
    "prepare": ["none"],
    "index_bits": [None],
    "verify": ["auto"],
    "transfers": ["together"],
}
"""The axes that every sweep has, with their values where a sweep names none; any other is a variable of templates."""

TEMPLATES = ("graph", "weights", "source", "prepare")
"""Axes whose values may hold variables; those of options may too."""


@dataclass(frozen=True)
class Limits:
    """What one cell may take.

    Attributes:
        time_s: seconds of its own, graph and verification included; beyond, its worker is killed.
        memory_bytes: of the worker on the host, and of the device as far as it is known before; None: what there is.
        load_s: seconds that opening the graph may take.
    """

    time_s: float = 120.0
    memory_bytes: int | None = None
    load_s: float = 900.0


@dataclass(frozen=True)
class Variant:
    """One value of the algorithm axis.

    Attributes:
        name: a registered name, ``auto``, ``FILE.py:OBJECT`` or ``peer:NAME``.
        device: runs there alone, whatever the axis ``device`` says.
        options: parameters fixed for this value.
        prepare: preparations fixed for this value, whatever the axis says.
    """

    name: str
    device: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    prepare: str | None = None


@dataclass(frozen=True)
class Rule:
    """Cells that are left out: those that meet every condition.

    Attributes:
        conditions: by axis, or by ``vertices`` and ``arcs``: a value, a list, a range that may be open, a pattern.
        reason: why.
    """

    conditions: Mapping[str, Any]
    reason: str


@dataclass(frozen=True)
class Block:
    """A product of axes.

    Attributes:
        axes: the values by axis, all but the algorithms.
        algorithms: the variants by problem; ``""`` holds those given for every problem.
        options: by algorithm, by option: the values.
        cases: tables that each bind several variables at once; none: one that binds nothing.
        skip: rules.
        turn: which ``[[block]]`` of the file it is, or None.
    """

    name: str
    axes: Mapping[str, list[Any]]
    algorithms: Mapping[str, list[Variant]]
    options: Mapping[str, Mapping[str, list[Any]]]
    cases: Sequence[Mapping[str, Any]]
    skip: Sequence[Rule]
    limits: Limits
    turn: int | None = None

    def variants(self) -> list[Variant]:
        """Return the variants of all problems."""
        return [variant for group in self.algorithms.values() for variant in group]

    def templates(self) -> list[tuple[str, Any]]:
        """Return what may hold variables: the name of the axis, and a value of it."""
        found = [(axis, value) for axis in TEMPLATES for value in self.axes[axis]]
        found += [("algorithm", value) for variant in self.variants() for value in variant.options.values()]
        return found + [("algorithm", v) for options in self.options.values() for vs in options.values() for v in vs]

    def points(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the template of a graph, and a value for each axis but algorithm, device and preparations.

        A variable that neither the graph, its weights and source, nor preparations and options use has no values.
        """
        fixed = ("graph", "weights", "source")
        later = [value for axis, value in self.templates() if axis in ("prepare", "algorithm")]
        for templates in itertools.product(*(self.axes[name] for name in fixed)):
            used = {name for template in (*templates, *later) for name in variables_in(template)}
            free = [name for name in self.axes if name not in (*fixed, "prepare", "device")]
            names = [name for name in free if name in AXES or name in used]
            cases = [{name: value for name, value in case.items() if name in used} for case in self.cases]
            for values in itertools.product(*(self.axes[name] for name in names)):
                for case in [case for i, case in enumerate(cases) if case not in cases[:i]]:
                    bound = {**dict(zip(names, values, strict=True)), **case}
                    given = {name: filled(value, bound) for name, value in zip(fixed, templates, strict=True)}
                    yield str(templates[0]), {**bound, **given}


@dataclass(frozen=True)
class Sweep:
    """A whole sweep.

    Attributes:
        name: what the user called it.
        path: its file.
        budget_s: seconds for the cells of each device.
        sampling: settings of the sampling, by name.
        peers: the tables ``[peer.NAME]``, as they stand.
        paper: the table ``[paper]``, as it stands, or None.
        document: the file, with what ``--set`` put in the place of what it says.
    """

    name: str
    title: str
    path: str
    blocks: Sequence[Block]
    budget_s: float
    sampling: Mapping[str, Any]
    peers: Mapping[str, Mapping[str, Any]]
    paper: Mapping[str, Any] | None
    document: Document

    def where(self, block: Block, *keys: str) -> str:
        """Return the place of a key for a message: ``--set``, the block's own line, or the line for all blocks."""
        own = block.turn is not None and self.document.holds("block", *keys, turn=block.turn)
        return self.document.where("block", *keys, turn=block.turn or 0) if own else self.document.where(*keys)


# ------------------------------------------------------------------ values

MOST_VALUES = 4096
"""More values on one axis than this are taken for a slip of the pen."""

NUMBER = r"(?:[+-]?\d+(?:\.\d+)?|2\^\d{1,2})"
_RANGE = re.compile(rf"({NUMBER})\s*\.\.\s*({NUMBER})(?:\s+step\s+({NUMBER})|\s*x\s*({NUMBER}))?")


def expand(value: Any) -> list[Any]:
    """Return the values that an axis takes: of a range, of a list, or the one value.

    Raises:
        InputError: a range without end, without members or with more than ``MOST_VALUES``; an empty list.
    """
    if isinstance(value, list):
        if not value:
            raise InputError("is an empty list", remedy="leave the axis out, or give it a value")
        return list(value)
    if isinstance(value, str) and (match := _RANGE.fullmatch(value.strip())):
        return _members(value, match)
    if isinstance(value, str) and re.fullmatch(rf"{NUMBER}\s*\.\..*|.*\.\.\s*{NUMBER}", value.strip()):
        raise InputError(f"'{value}' is no range", remedy="write 16..24, 16..24 step 2 or 1..64 x2")
    return [value]


def expand_words(text: str) -> list[Any]:
    """Return the values that a text of the command line gives: numbers, names and ranges between commas."""
    return [value for word in text.split(",") for value in expand(_plain(word.strip()))]


def _members(text: str, match: re.Match[str]) -> list[Any]:
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


def _plain(word: str) -> Any:
    """Return a word as the number it is, else as it is."""
    if re.fullmatch(r"[+-]?\d+", word):
        return int(word)
    if re.fullmatch(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?", word):
        return float(word)
    return word


_VARIABLE = re.compile(r"\{(\w+)\}")


def variables_in(template: Any) -> list[str]:
    """Return the names of the variables in a template."""
    return _VARIABLE.findall(template) if isinstance(template, str) else []


def filled(template: Any, bound: Mapping[str, Any]) -> Any:
    """Return a template with the values of its variables."""
    return _VARIABLE.sub(lambda match: str(bound[match[1]]), template) if isinstance(template, str) else template
