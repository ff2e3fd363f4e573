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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


def stated(paper: Any) -> tuple[Stated, ...]:
    """Return the values that a record's ``paper`` field states.

    Raises:
        ValueError: it is not of the form above; the message says what is wrong.
    """
    papers = paper if isinstance(paper, list) else [] if paper is None else [paper]
    values: list[Stated] = []
    for one in papers:
        if not isinstance(one, Mapping):
            raise ValueError("'paper' is no object")
        points = one.get("points", [one])
        if not isinstance(points, list) or not all(isinstance(point, Mapping) for point in points):
            raise ValueError("'paper.points' is no list of objects")
        values += [_value(one, point) for point in points]
    return tuple(values)


def _value(paper: Mapping[str, Any], point: Mapping[str, Any]) -> Stated:
    numbers: dict[str, float | None] = {}
    for name in ("scale", "vertices", "mteps", "kernel_s", "speedup"):
        number = point.get(name)
        real = isinstance(number, int | float) and not isinstance(number, bool)
        if number is not None and not (real and 0 < number < math.inf):
            raise ValueError(f"'paper.{name}' is no number above 0")
        numbers[name] = None if number is None else float(number)
    scale, vertices = numbers["scale"], numbers["vertices"]
    return Stated(
        name=str(paper.get("name") or "the paper"),
        hardware=str(paper.get("hardware") or "hardware not named"),
        where=str(paper.get("where") or ""),
        label=str(point.get("label") or paper.get("label") or ""),
        scale=math.log2(vertices) if scale is None and vertices else scale,
        mteps=numbers["mteps"],
        kernel_s=numbers["kernel_s"],
        speedup=numbers["speedup"],
        over=str(point.get("over") or ""),
    )
