"""What a paper states of its own system, to stand beside our curves.

A record of a paper's sweep may carry ``"paper"``, an object or a list of them::

    {"name": "Wang, Huang, Guo 2011", "hardware": "GeForce GTX 480", "where": "figure 5",
     "points": [{"scale": 14, "kernel_s": 1.9}, {"vertices": 8192, "mteps": 31.0}]}

Without ``points`` the object itself states one value, for the record's own cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stated:
    """One value that a paper states.

    Attributes:
        name: the paper, as it is cited.
        hardware: what it measured on.
        where: the table or figure.
        label: the paper's own name of the system, or nothing.
        scale: log2 of the number of vertices; None where the value stands for the record's own cell.
        mteps, kernel_s: whichever it gives.
    """

    name: str
    hardware: str
    where: str
    label: str
    scale: float | None
    mteps: float | None
    kernel_s: float | None


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
    for name in ("scale", "vertices", "mteps", "kernel_s"):
        number = point.get(name)
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float) or number <= 0):
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
    )
