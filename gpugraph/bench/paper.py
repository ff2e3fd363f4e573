"""What a paper published, for the records of the sweep that reproduces it.

A point of ``[[paper.point]]`` gives ``kernel_s``, ``mteps``, or ``speedup`` with ``over`` what it is one; and
``vertices`` or ``scale``; ``label`` and ``where`` name the paper's system and the place in its text, ``hardware`` that
of the point where it is not the paper's.  Every other key is a condition on the cell, as in a rule of ``[[skip]]``: the
point is kept in the records of the cells that meet it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpugraph.bench.expand import Planned, meets

VALUES = ("kernel_s", "mteps", "speedup")
"""What a point may state."""

SIZES = ("vertices", "scale")
WORDS = ("over", "label", "where", "hardware")


def paper_of(paper: Mapping[str, Any], planned: Planned) -> list[dict[str, Any]]:
    """Return the ``paper`` field of a cell's record: an object for each table or figure that concerns it.

    The first holds what the paper says besides.
    """
    cell = planned.cell
    known = {**cell.axes, "problem": cell.problem, "graph": str(cell.graph), "device": cell.device}
    points: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    kept = (*VALUES, *SIZES, "over", "label", "where")
    for point in paper.get("point", ()):
        conditions = {name: wanted for name, wanted in point.items() if name not in (*VALUES, *SIZES, *WORDS)}
        if meets(conditions, known):
            place = str(point.get("hardware", paper["hardware"])), str(point.get("where", ""))
            points.setdefault(place, []).append({k: point[k] for k in kept if k in point})
    said = {key: paper[key] for key in ("authors", "year", "note") if key in paper}
    said |= {"claims": list(paper["claim"])} if paper.get("claim") else {}
    if not points:
        return [{"name": paper["title"], "hardware": paper["hardware"], "points": [], **said}]
    objects = [
        {"name": paper["title"], "hardware": hardware, "where": where, "points": found}
        for (hardware, where), found in points.items()
    ]
    return [{**objects[0], **said}, *objects[1:]]
