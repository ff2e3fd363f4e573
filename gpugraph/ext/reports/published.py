"""Published results beside ours: what the papers that records carry state, and the best of our cells.

A record of a paper's sweep may carry ``"paper"``, an object or a list of them::

    {"name": "Wang, Huang, Guo 2011", "hardware": "GeForce GTX 480", "where": "figure 5",
     "points": [{"scale": 14, "kernel_s": 1.9}, {"vertices": 8192, "mteps": 31.0}, {"speedup": 2, "over": "Boost"}],
     "authors": "W. Wang, Y. Huang, S. Guo", "year": 2011, "note": "…", "claims": ["…"]}

Without ``points`` the object itself states one value, for the record's own cell; without ``scale`` or ``vertices`` a
point does.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.base.quantities import duration, rate
from gpugraph.ext.comparing.cells import Speedup, label, speedups
from gpugraph.records.columns import Labelled
from gpugraph.records.record import Record
from gpugraph.records.record_shape import PointShape
from gpugraph.report.markdown_csv import escaped, grid

SAME_SCALE = 0.01
"""Scales that differ by less are the same."""


@dataclass(frozen=True)
class Stated:
    """One value that a paper states.

    Attributes:
        name, hardware, where: the paper, as it is cited; what it measured on; the table or figure.
        label: the paper's own name of the system, or nothing.
        scale: log2 of the number of vertices; None where the value is of the record's own cell.
        point: the value itself: ``mteps``, ``kernel_s``, or ``speedup`` with ``over``.
    """

    name: str
    hardware: str
    where: str
    label: str
    scale: float | None
    point: PointShape

    def is_of(self, scale: float | None) -> bool:
        """Tell whether the value is of a cell of that scale."""
        return self.scale is None or (scale is not None and abs(self.scale - scale) < SAME_SCALE)


def stated(record: Record) -> tuple[Stated, ...]:
    """Return the values that a record's ``paper`` field states."""
    paper = record.shape.paper
    papers = paper if isinstance(paper, list) else [] if paper is None else [paper]
    return tuple(
        Stated(
            name=paper.name or "the paper",
            hardware=paper.hardware or "hardware not named",
            where=point.where or paper.where or "",
            label=point.label or paper.label or "",
            scale=math.log2(point.vertices) if point.scale is None and point.vertices else point.scale,
            point=PointShape(**{name: getattr(point, name) for name in PointShape.__struct_fields__}),
        )
        for paper in papers
        for point in (paper.points if paper.points is not None else [paper])
    )


COLUMNS = ("system", "size", "where", "hardware", "stated", "ours")
"""What each of ``Published.figures`` holds."""


@dataclass(frozen=True)
class Published:
    """A paper: as it is cited, a sentence about it, the figures that it states by ``COLUMNS``, and its claims."""

    title: str
    about: str
    figures: tuple[tuple[str, ...], ...]
    claims: tuple[str, ...]


def published(cells: Sequence[Labelled]) -> list[Published]:
    """Return the papers that records carry, in the order of the records."""
    ratios = speedups([cell.record for cell in cells])
    said: dict[str, dict[str, Any]] = {}
    figures: dict[str, dict[tuple[Stated, str], list[Labelled]]] = {}
    for cell in cells:
        field = cell.record.field("paper")
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
            tuple(map(str, claims)) if isinstance(claims := words.get("claims"), list) else (),
        )
        for title, words in said.items()
    ]


def markdown(rows: Sequence[Record]) -> list[str]:
    """Return lines of Markdown: of each paper what it states, beside ours, and what it claims."""
    lines: list[str] = []
    for paper in published(label(rows)):
        lines += ["", f"**{escaped(paper.title)}.** {escaped(paper.about)}"]
        lines += ["", *grid(COLUMNS, paper.figures)] if paper.figures else []
        lines += ["", *(f"- {escaped(claim)}" for claim in paper.claims)] if paper.claims else []
    return lines


def _about(words: Mapping[str, object]) -> str:
    who = ", ".join(str(words[key]) for key in ("authors", "year") if words.get(key))
    measured = "; ".join(filter(None, (who, str(words.get("hardware") or ""))))
    return ". ".join(filter(None, (measured, str(words.get("note") or ""))))


def _figure(value: Stated, system: str, members: Sequence[Labelled], ratios: Mapping[int, Speedup]) -> tuple[str, ...]:
    """Return a line: what is stated, and the best of our cells that did the same work."""
    best, ours = 0.0, "not measured"
    for cell in members:
        row = cell.record
        figure, text = row.mteps or 0.0, ""
        if value.point.speedup is not None:
            one = ratios.get(id(row))
            figure = 0.0 if one is None else one.kernel
            text = "" if one is None else f"{one.kernel:.3g} times as fast as {one.base.marked} on {one.base.device}"
        elif value.point.kernel_s is not None:
            text = "" if row.kernel_s is None else duration(row.kernel_s)
        else:
            text = f"{rate(figure)} MTEPS"
        if figure > best:
            best, ours = figure, f"{text}, {cell.variant} on {row.device}"
    size = members[0].record.graph_name if members else "" if value.scale is None else f"2^{value.scale:.4g} vertices"
    return system, size, value.where or "-", value.hardware, _shown(value), ours


def _shown(value: Stated) -> str:
    if value.point.speedup is not None:
        return f"{value.point.speedup:g} times as fast" + (f" as {value.point.over}" if value.point.over else "")
    if value.point.kernel_s is not None:
        return duration(value.point.kernel_s)
    return "" if value.point.mteps is None else f"{rate(value.point.mteps)} MTEPS"
