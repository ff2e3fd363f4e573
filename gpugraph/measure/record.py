"""Cell and Record: what is asked of one measurement, and what comes out of it.

A record is one JSON object.  The names of its fields are part of the tool's contract: more may be added,
none may change.  Integers are exact, infinities are the string ``"inf"``; times are seconds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpugraph.problems.contract import Input

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
        source: of shortest paths: ``"17"``, ``"name:17"``, ``"index:17"``, ``"max-degree"`` or ``"random:K"``, or a
            node of a NetworkX graph.
        preparations: GraphView preparations, e.g. ``("sort-adjacency",)``.
        options: parameters of the algorithm, still as text or already typed.
        repeat: samples to take (per source).
        warmup: runs before the first sample.
        verify: ``"auto"``, ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        index_bits: 32 or 64 forces the width of arc indices; None chooses.
        input_format: overrides the recognition of a file's format.
        weights: replaces the weights: ``"unit"``, ``"abs"``, ``"hash:LO..HI"`` or ``"uniform:LO..HI"``; ``"file"``
            keeps them.
        keep_ids: an edge list has the vertices 0 to the largest id.
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
    source: Any = None
    preparations: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 5
    warmup: int = 1
    verify: str = "auto"
    index_bits: int | None = None
    input_format: str | None = None
    weights: str = "file"
    symmetrize: bool = False
    keep_ids: bool = False
    predecessors: bool = False
    phases: bool = True
    profile: bool = False
    seed: int = 1
    axes: Mapping[str, Any] = field(default_factory=dict)
    sweep: str | None = None
    series: str | None = None

    @property
    def input(self) -> Input:
        """What it is measured on."""
        seed = self.seed if self.weights.startswith("uniform") else None
        return Input(self.problem, self.graph, self.input_format, self.weights, self.symmetrize, self.keep_ids, seed)


@dataclass(frozen=True)
class Record:
    """What one cell gave: ``data`` is the JSON object, ``results`` (one for each query) and ``graph`` are behind it."""

    data: dict[str, Any]
    graph: Any = None
    results: tuple[Any, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def result(self) -> Any:
        """The result of the first query, or None."""
        return self.results[0] if self.results else None

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
        return json_text(self.data, indent=indent)


def json_text(data: Any, *, indent: int | None = None) -> str:
    """Return data as JSON text, as ``jsonable`` makes it, every text ``encodable``."""
    return json.dumps(jsonable(data, encodable), indent=indent, ensure_ascii=False, allow_nan=False)


_UNENCODABLE = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff\\ud800-\\udfff]")


def encodable(text: str) -> str:
    """Return a text that UTF-8, XML and a terminal can hold: a character that is none stands as an escape in letters.

    Such are the bytes of a file's name that are no UTF-8, and control characters.
    """
    return _UNENCODABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def jsonable(value: Any, text: Callable[[str], str] = str) -> Any:
    """Return ``value`` in JSON's own types: exact integers, infinities and NaN as text, texts as ``text`` makes them.

    ``text`` is given every text and every name; without it they stay as they are.
    """
    if isinstance(value, Mapping):
        return {text(str(k)): jsonable(v, text) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v, text) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return text(value) if isinstance(value, str) else value
