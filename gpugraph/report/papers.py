"""What a paper states of its own system, to stand beside our curves.

A record of a paper's sweep may carry ``"paper"``, an object or a list of them::

    {"name": "Wang, Huang, Guo 2011", "hardware": "GeForce GTX 480", "where": "figure 5",
     "points": [{"scale": 14, "kernel_s": 1.9}, {"vertices": 8192, "mteps": 31.0}, {"speedup": 2, "over": "Boost"}],
     "authors": "W. Wang, Y. Huang, S. Guo", "year": 2011, "note": "…", "claims": ["…"]}

Without ``points`` the object itself states one value, for the record's own cell; without ``scale`` or ``vertices`` a
point does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.measure.columns import Labelled
from gpugraph.measure.record import Record
from gpugraph.measure.record_shape import PaperShape, PointShape
from gpugraph.quantities import duration, rate
from gpugraph.report.cells import Speedup

SAME_SCALE = 0.01
"""Scales that differ by less are the same."""


@dataclass(frozen=True)
class Stated:
    """One value that a paper states.

    Attributes:
        name: the paper, as it is cited.
        hardware: what it measured on.
        where: the table or figure.
        label: the paper's own name of the system, or nothing.
        scale: log2 of the number of vertices; None where the value stands for the record's own cell.
        mteps, kernel_s, speedup: whichever it gives.
        over: what the speed-up is one over.
    """

    name: str
    hardware: str
    where: str
    label: str
    scale: float | None
    mteps: float | None
    kernel_s: float | None
    speedup: float | None = None
    over: str = ""

    def is_of(self, scale: float | None) -> bool:
        """Tell whether the value stands for a cell of that scale which carries it."""
        return self.scale is None or (scale is not None and abs(self.scale - scale) < SAME_SCALE)


def stated(record: Record) -> tuple[Stated, ...]:
    """Return the values that a record's ``paper`` field states."""
    paper = record.shape.paper
    papers = paper if isinstance(paper, list) else [] if paper is None else [paper]
    return tuple(_value(one, point) for one in papers for point in (one.points if one.points is not None else [one]))


def _value(paper: PaperShape, point: PointShape) -> Stated:
    scale = point.scale
    return Stated(
        name=paper.name or "the paper",
        hardware=paper.hardware or "hardware not named",
        where=point.where or paper.where or "",
        label=point.label or paper.label or "",
        scale=math.log2(point.vertices) if scale is None and point.vertices else scale,
        mteps=point.mteps,
        kernel_s=point.kernel_s,
        speedup=point.speedup,
        over=point.over or "",
    )


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
                if _shown(value)
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
    return system, size, value.where or "-", value.hardware, _shown(value), ours


def _shown(value: Stated) -> str:
    if value.speedup is not None:
        return f"{value.speedup:g} times as fast" + (f" as {value.over}" if value.over else "")
    if value.kernel_s is not None:
        return duration(value.kernel_s)
    return "" if value.mteps is None else f"{rate(value.mteps)} MTEPS"
