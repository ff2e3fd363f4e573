"""Cell and Record: what is asked of one measurement, and what comes out of it.

A record is one JSON object.  The names of its fields are part of the tool's contract: more may be added,
none may change.  Integers are exact, infinities are the string ``"inf"``; times are seconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SCHEMA = 1

PHASES = ("load", "build", "stage", "h2d", "prepare", "kernel", "d2h", "verify")


@dataclass(frozen=True)
class Cell:
    """One measurement asked for.

    Attributes:
        problem: ``"mst"``, ``"sssp"`` or ``"scan"``.
        graph: a path, a graph spec, or a CSRGraph.
        algorithm: a registered name, ``"auto"``, or ``"./file.py:driver"``.
        device: ``"auto"``, ``"cuda[:i]"``, ``"cpu"`` or ``"emulated[:seed]"``.
        source: of shortest paths: ``"17"``, ``"name:17"``, ``"max-degree"`` or ``"random:K"``.
        preparations: GraphView preparations, e.g. ``("sort-adjacency",)``.
        options: parameters of the algorithm, still as text or already typed.
        repeat: samples to take (per source).
        warmup: runs before the first sample.
        verify: ``"auto"``, ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        index_bits: 32 or 64 forces the width of arc indices; None chooses.
        input_format: overrides the recognition of a file's format.
        weights: replaces the weights: ``"unit"``, ``"abs"``, ``"hash:LO..HI"`` or ``"uniform:LO..HI"``; ``"file"``
            keeps them.
        symmetrize: make a directed graph undirected before anything else.
        predecessors: also return the canonical predecessors of shortest paths.
        phases: also time the algorithm's inner phases, in runs of their own.
        profile: wrap phases in NVTX ranges and run once.
        seed: of ``random:K`` sources and of ``uniform`` weights.
        axes: where the cell lies in its sweep, axis → value; noted in the record and nowhere used.
        sweep: the sweep's name.
        series: the cells of one series differ in scale alone.
    """

    problem: str
    graph: Any
    algorithm: str = "auto"
    device: str = "auto"
    source: str | int | None = None
    preparations: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 5
    warmup: int = 1
    verify: str = "auto"
    index_bits: int | None = None
    input_format: str | None = None
    weights: str = "file"
    symmetrize: bool = False
    predecessors: bool = False
    phases: bool = True
    profile: bool = False
    seed: int = 1
    axes: Mapping[str, Any] = field(default_factory=dict)
    sweep: str | None = None
    series: str | None = None


@dataclass(frozen=True)
class Record:
    """What one cell gave: ``data`` is the JSON object, ``result`` and ``graph`` the live objects behind it."""

    data: dict[str, Any]
    graph: Any = None
    result: Any = None
    notices: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """``"passed"``, ``"failed"`` or ``"skipped"``."""
        return str(self.data["verification"]["status"])

    @property
    def outcome(self) -> str:
        """``"ok"``, or why there are no numbers (see ``outcome.py``)."""
        return str(self.data["outcome"])

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the record as JSON text, one line unless ``indent`` is given."""
        return json.dumps(jsonable(self.data), indent=indent, ensure_ascii=False, allow_nan=False)


def jsonable(value: Any) -> Any:
    """Return ``value`` in JSON's own types: exact integers, infinities and NaN as text."""
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
