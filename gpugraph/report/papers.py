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
from dataclasses import dataclass

from gpugraph.measure.record import Record
from gpugraph.measure.record_shape import PaperShape, PointShape

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
