"""``[paper]`` of a sweep's file: what a paper states, and which of it goes into the record of a cell."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gpugraph.base.errors import InputError
from gpugraph.bench.axes import meets
from gpugraph.bench.sweep import Expectation
from gpugraph.bench.toml_file import Document
from gpugraph.measure.cell import Cell

VALUES = ("kernel_s", "mteps", "speedup")
"""What a point of a paper may state."""

SIZES = ("vertices", "scale")
"""What may say how large its graph was."""


class PaperTable(msgspec.Struct, forbid_unknown_fields=True):
    """``[paper]``; a point is a table of values and conditions."""

    title: str
    hardware: str
    authors: Any = None
    year: Any = None
    note: Any = None
    small: Any = None
    point: list[dict[str, Any]] = []
    claim: list[str] = []


class _OfFile(msgspec.Struct):
    """What of a sweep's file is read here."""

    paper: PaperTable


def read_paper(document: Document, expectations: Sequence[Expectation]) -> Mapping[str, object]:
    """Return ``[paper]`` with its points checked (InputError); expectations that are its claims are added to them."""
    document.read_as(_OfFile)
    paper: Mapping[str, Any] = document.tables["paper"]
    for turn, point in enumerate(paper.get("point", ())):
        if not any(key in point for key in VALUES):
            remedy = f"give {', '.join(VALUES[:-1])} or {VALUES[-1]}"
            where = document.where("paper", "point")
            raise InputError(f"number {turn + 1} states no value", where=where, remedy=remedy)
        for key in (*VALUES, *SIZES):
            value = point.get(key, 1)
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                where = document.where("paper", "point", key, turn=turn)
                raise InputError(f"{value!r} is no number above 0", where=where)
    judged = [f"{one.text} ({one.where})" for one in expectations if one.where and one.kind == "paper"]
    return {**paper, "claim": [*paper.get("claim", ()), *judged]}


def paper_of(paper: Mapping[str, Any], cell: Cell) -> list[dict[str, object]]:
    """Return the ``paper`` field of a cell's record: an object for each table or figure that concerns it.

    A point of ``[[paper.point]]`` gives ``kernel_s``, ``mteps``, or ``speedup`` with ``over`` what it is one; and
    ``vertices`` or ``scale``; ``label`` and ``where`` name the paper's system and the place in its text, ``hardware``
    that of the point where it is not the paper's.  Every other key is a condition on the cell, as in a rule of
    ``[[skip]]``: the point is kept in the records of the cells that meet it.  The first object holds what the paper
    says besides.
    """
    known = {**cell.axes, "problem": cell.problem, "graph": str(cell.graph), "device": cell.device}
    points: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    kept = (*VALUES, *SIZES, "over", "label", "where")
    for point in paper.get("point", ()):
        conditions = {name: wanted for name, wanted in point.items() if name not in (*kept, "hardware")}
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
