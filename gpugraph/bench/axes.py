"""The values of axes: ranges, templates with variables, and the conditions of rules.

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
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from gpugraph.errors import InputError

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


def described(algorithm: str, options: Mapping[str, Any], preparations: Sequence[str]) -> str:
    """Return an algorithm with its options and preparations: ``boruvka(delta=8)+rank-weights``."""
    told = ",".join(f"{name}={value}" for name, value in sorted(options.items()))
    return f"{algorithm}{f'({told})' if told else ''}{''.join(f'+{step}' for step in preparations)}"


# ------------------------------------------------------------------ conditions

_OPEN = re.compile(rf"({NUMBER})?\s*\.\.\s*({NUMBER})?")


def meets(conditions: Mapping[str, Any], bound: Mapping[str, Any]) -> bool:
    """Tell whether values meet the conditions of a rule; a name without a value does not."""
    return all(name in bound and matches(wanted, bound[name]) for name, wanted in conditions.items())


def matches(wanted: Any, value: Any) -> bool:
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
