"""Plain data as JSON text: exact, finite, and of letters that every reader takes."""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def json_text(data: object, *, indent: int | None = None, compact: bool = False) -> str:
    """Return data as JSON text, as ``jsonable`` makes it, every text ``encodable``; ``compact`` without blanks."""
    separators = (",", ":") if compact else None
    plain = jsonable(data, encodable)
    return json.dumps(plain, indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)


_UNENCODABLE = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufffe\\uffff\\ud800-\\udfff]"
)


def encodable(text: str) -> str:
    """Return a text that UTF-8, XML and a terminal can hold: any other character becomes an escape sequence.

    Such are the bytes of a file's name that are no UTF-8, control characters, what turns the direction of writing, and
    what ends a line of a script.
    """
    return _UNENCODABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def jsonable(value: object, text: Callable[[str], str] = str) -> Any:
    """Return ``value`` in JSON's own types: exact integers, infinities and NaN as text, texts as ``text`` makes them.

    ``text`` is given every text and every name; without it they stay as they are.
    """
    if isinstance(value, Mapping):
        return {text(str(k)): jsonable(v, text) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v, text) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return text(value) if isinstance(value, str) else value
