"""Sizes, times, shares and counts: how people write them, and how they are shown to people, both in one place.

Here alone seconds become milliseconds and bytes gibibytes.

A size is ``4096``, ``8GB`` or ``500MiB``: KB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB powers of 1024.
"""

import math
import re
from fractions import Fraction
from typing import Any

from gpugraph.base.errors import InputError

_NUMBER = r"([0-9]{1,30}(?:\.[0-9]{1,30})?)"
_SIZE = re.compile(_NUMBER + r"\s*(?:([KMGT]I?)?B?|(%))", re.IGNORECASE)
_REAL = r"((?:[0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})(?:e[+-]?[0-9]{1,2})?)"
_TIME = re.compile(_REAL + r"\s*(ms|s|m|min|h)?", re.IGNORECASE)
_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "min": Fraction(60), "h": Fraction(3600)}
_SHARE = "give e.g. 0.02 or 2%"


def parse_bytes(value: Any, *, whole: int | None = None) -> int:
    """Return the bytes of ``"8GB"``, ``"500MiB"`` or a bare number, with ``whole`` also of a share of that, ``"25%"``.

    Raises InputError on anything else, and on what is not above 0.
    """
    match = None if isinstance(value, bool) else _SIZE.fullmatch(str(value).strip())
    size = 0
    if match and match[3] and whole is not None:
        size = int(Fraction(match[1]) * whole / 100)
    elif match and not match[3]:
        unit = (match[2] or "").upper()
        base = 1024 if unit.endswith("I") else 1000
        size = int(Fraction(match[1]) * base ** ("KMGT".index(unit[0]) + 1 if unit else 0))
    if size <= 0:
        remedy = "write e.g. 8GB or 500MiB" if whole is None else "write e.g. 8GB, 500MiB or 25%"
        raise InputError(f"'{value}' is no size of memory", remedy=remedy)
    return size


def parse_seconds(value: Any) -> float:
    """Return the seconds of ``"90s"``, ``"1.5h"``, ``"500ms"`` or a bare ``1e3``, above 0, or raise InputError."""
    match = None if isinstance(value, bool) else _TIME.fullmatch(str(value).strip())
    seconds = Fraction(match[1]) * _SECONDS[(match[2] or "s").lower()] if match else Fraction(0)
    if seconds <= 0:
        raise InputError(f"'{value}' is no length of time", remedy="write e.g. 90s, 10m or 1h")
    return float(seconds)


def parse_share(name: str, text: str, *, remedy: str = _SHARE) -> float:
    """Return the finite number that ``0.02`` or ``2%`` means, given for ``name``; the caller checks the range."""
    bare = text.strip()
    try:
        share = float(bare.removesuffix("%")) / (100 if bare.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not math.isfinite(share):
        raise InputError(f"{name} '{text}' is no share", remedy=remedy)
    return share


def parse_target(name: str, text: str, *, remedy: str = _SHARE) -> float:
    """Return the share of ``0.02`` or ``2%``; a bare number from 1 on is one of per cent: ``5`` is 0.05."""
    share = parse_share(name, text, remedy=remedy)
    return share / 100 if share >= 1 and "%" not in text else share


def in_units(number: int) -> str:
    """Return a number of bytes in binary units: ``"512 B"``, ``"1.5 GiB"``."""
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} TiB"


def exactly(number: int) -> str:
    """Return a number of bytes in full, and in binary units: ``"1,234,567 bytes (1.18 MiB)"``."""
    return f"{number:,} bytes" + (f" ({in_units(number)})" if number >= 1 << 20 else "")


def in_seconds(seconds: float) -> str:
    """Return a length of time that is an estimate or a limit: ``1.00 ms``, ``0.4 s``, ``3.5 min``, ``2.1 h``."""
    if 0 < seconds < 0.05:
        return duration(seconds)
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def duration(seconds: float) -> str:
    """Return a measured time, to three or four digits: ``"34.1 µs"``, ``"1.204 s"``, ``"3 min 20 s"``."""
    if seconds >= 120:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s"
    if seconds >= 0.9995:
        return f"{seconds:.3f} s"
    for factor, unit in ((1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 0.9995:
            return f"{_digits(seconds * factor)} {unit}"
    return f"{seconds * 1e9:.0f} ns" if seconds > 0 else "0"


def rate(value: float) -> str:
    """Return a rate to at least four digits, with separators: ``"10,234.5"``, ``"26.71"``, ``"0.003142"``."""
    if value >= 1000:
        return f"{value:,.1f}"
    return f"{value:.2f}" if value >= 10 else f"{value:.4g}"


def percent(share: float) -> str:
    """Return a share in per cent, to three digits: ``"5 %"``, ``"0.25 %"``, ``"87.3 %"``, ``"1,570 %"``."""
    return f"{share * 100:.3g} %" if abs(share) < 9.995 else f"{share * 100:,.0f} %"


def count(number: int) -> str:
    """Return a count with thousands separators."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """Return a count with its noun in the right number: ``"1 edge"``, ``"2,000 edges"``."""
    endings = {"ex": "ices", "ry": "ries"}
    plural = noun[:-2] + endings.get(noun[-2:], f"{noun[-2:]}s")
    return f"{number:,} {noun if number == 1 else plural}"


def value(content: object) -> str:
    """Return any value of a record as a table shows it: whole numbers with separators, reals in full."""
    if isinstance(content, bool) or content is None:
        return {True: "yes", False: "no", None: "-"}[content]
    if isinstance(content, int):
        return f"{content:,}"
    if isinstance(content, list | tuple):
        return ", ".join(value(item) for item in content) or "-"
    return str(content)


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
