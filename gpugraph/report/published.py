"""What a paper published beside what we measured: a line for each figure that it states, and what it claims besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.measure.columns import Labelled
from gpugraph.quantities import duration, rate
from gpugraph.report.papers import Stated, stated
from gpugraph.report.speedup import Speedup

COLUMNS = ("system", "size", "where", "hardware", "stated", "ours")
"""What each of ``Published.figures`` holds."""


@dataclass(frozen=True)
class Published:
    """A paper.

    Attributes:
        title: as it is cited.
        about: authors, year, hardware and a note, in one sentence or two.
        figures: of each figure that it states what ``COLUMNS`` names, as text.
        claims: what it says besides, a sentence each.
    """

    title: str
    about: str
    figures: tuple[tuple[str, ...], ...]
    claims: tuple[str, ...]


def published(cells: Sequence[Labelled], over: Sequence[Speedup]) -> list[Published]:
    """Return the papers that records carry, in the order of the records.

    Args:
        cells: the records.
        over: their speed-ups over the CPU.
    """
    ratios = {id(one.record): one for one in over}
    said: dict[str, dict[str, Any]] = {}
    figures: dict[str, dict[tuple[Stated, str], list[Labelled]]] = {}
    for cell in cells:
        field = cell.record.data.get("paper")
        for one in field if isinstance(field, list) else [field]:
            if isinstance(one, Mapping):
                kept = said.setdefault(str(one.get("name") or "the paper"), {})
                kept |= {k: v for k, v in one.items() if v and k not in kept}
        for value in stated(cell.record):
            members = figures.setdefault(value.name, {}).setdefault((value, value.label or cell.record.algorithm), [])
            if value.is_of(cell.record.scale):
                members.append(cell)
    return [
        Published(
            title,
            _about(words),
            tuple(
                _figure(value, system, members, ratios)
                for (value, system), members in figures.get(title, {}).items()
                if _value(value)
            ),
            _claims(words.get("claims")),
        )
        for title, words in said.items()
    ]


def _about(words: Mapping[str, Any]) -> str:
    who = ", ".join(str(words[key]) for key in ("authors", "year") if words.get(key))
    parts = [part for part in (who, str(words.get("hardware") or "")) if part]
    return ". ".join([*(["; ".join(parts)] if parts else []), *([str(words["note"])] if words.get("note") else [])])


def _claims(claims: Any) -> tuple[str, ...]:
    return tuple(str(claim) for claim in claims) if isinstance(claims, list) else ()


def _figure(value: Stated, system: str, members: Sequence[Labelled], ratios: Mapping[int, Speedup]) -> tuple[str, ...]:
    """Return a line: what is stated, and the best of our cells that did the same work."""
    best, ours = 0.0, "not measured"
    for cell in members:
        row = cell.record
        figure, text = row.mteps or 0.0, ""
        if value.speedup is not None:
            one = ratios.get(id(row))
            figure = 0.0 if one is None else one.kernel
            text = "" if one is None else f"{one.kernel:.3g} times as fast as {one.base.algorithm} on {one.base.device}"
        elif value.kernel_s is not None:
            text = "" if row.kernel_s is None else duration(row.kernel_s)
        else:
            text = f"{rate(figure)} MTEPS"
        if figure > best:
            best, ours = figure, f"{text}, {cell.variant} on {row.device}"
    size = members[0].record.graph_name if members else "" if value.scale is None else f"2^{value.scale:.4g} vertices"
    return system, size, value.where or "-", value.hardware, _value(value), ours


def _value(value: Stated) -> str:
    if value.speedup is not None:
        return f"{value.speedup:g} times as fast" + (f" as {value.over}" if value.over else "")
    if value.kernel_s is not None:
        return duration(value.kernel_s)
    return "" if value.mteps is None else f"{rate(value.mteps)} MTEPS"
