"""Figures for people: the only place where seconds become milliseconds and bytes gibibytes."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Return a time with its unit, to three or four digits: ``"34.1 µs"``, ``"1.204 s"``, ``"3 min 20 s"``."""
    if seconds >= 120:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s"
    if seconds >= 1:
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
    plural = noun[:-2] + "ices" if noun.endswith("tex") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def size(number: int) -> str:
    """Return a number of bytes in binary units: ``"512 B"``, ``"1.5 GiB"``."""
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} TiB"


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
