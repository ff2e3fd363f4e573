"""The values of a sweep's axes: ranges, and what a rule matches.

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

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from gpugraph.errors import InputError

Value = int | float | str | bool

MOST_VALUES = 4096
"""More values on one axis than this are taken for a slip of the pen."""

_NUMBER = r"(?:[+-]?\d+(?:\.\d+)?|2\^\d{1,2})"
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})(?:\s+step\s+({_NUMBER})|\s*x\s*({_NUMBER}))?")
_OPEN = re.compile(rf"({_NUMBER})?\s*\.\.\s*({_NUMBER})?")


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
    if isinstance(value, str) and re.fullmatch(rf"{_NUMBER}\s*\.\..*|.*\.\.\s*{_NUMBER}", value.strip()):
        raise InputError(f"'{value}' is no range", remedy="write 16..24, 16..24 step 2 or 1..64 x2")
    return [value]


def expand_words(text: str) -> list[Any]:
    """Return the values that a text of the command line gives: numbers, names and ranges between commas."""
    return [value for word in text.split(",") for value in expand(_plain(word.strip()))]


def _members(text: str, match: re.Match[str]) -> list[Any]:
    first, last = _number(match[1]), _number(match[2])
    step, factor = _number(match[3] or "1"), _number(match[4] or "0")
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


def _number(text: str) -> Fraction:
    return Fraction(2 ** int(text[2:])) if text.startswith("2^") else Fraction(text)


def _plain(word: str) -> Any:
    """Return a word as the number it is, else as it is."""
    if re.fullmatch(r"[+-]?\d+", word):
        return int(word)
    if re.fullmatch(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?", word):
        return float(word)
    return word


def matches(wanted: Any, value: Any) -> bool:
    """Tell whether a value meets a rule: one of a list, in a range that may be open (``22..``), or a pattern."""
    if isinstance(wanted, list):
        return any(matches(one, value) for one in wanted)
    if isinstance(wanted, str):
        ends = _OPEN.fullmatch(wanted.strip())
        if ends and (ends[1] or ends[2]) and _is_number(value):
            exact = Fraction(value)
            return (not ends[1] or exact >= _number(ends[1])) and (not ends[2] or exact <= _number(ends[2]))
        return fnmatchcase(str(value), wanted)
    return bool(wanted == value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def listed(values: Iterable[Any]) -> str:
    """Return values for a reader, ``a, b, c``."""
    return ", ".join(str(value) for value in values)
