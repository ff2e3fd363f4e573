"""One look at every arc: which can still be relaxed, which are tight, and the canonical predecessors.

An arc u→v is *tight* if d(u) + w = d(v), in the graph's own arithmetic.  Every shortest path consists of tight
arcs, and distances are right exactly if d(source) = 0, no arc can be relaxed, and every reached vertex hangs
on the source by tight arcs.  A tight arc from a nearer vertex (d(u) < d(v)) cannot be part of a cycle; tight
arcs between equal distances (zero weights, or sums absorbed by rounding) can, so those are followed by
breadth-first search from the vertices that already hang on nearer ones.

Canonical predecessor of v: the smallest u with a tight arc and d(u) < d(v); where only equal distances are
tight, the smallest u one level nearer by that search.

Works on the arcs as they are, without a transposed graph: arcs are classified in parallel, a byte each and a
block of rows at a time; then one sequential pass over the bytes hangs each head on its first nearer tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.errors import InputError
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import Arcs, unreached

_BLOCK = 1 << 24
"""Arcs classified at a time; bounds the memory to a byte each."""

_SLACK, _NEARER, _LEVEL, _RELAXABLE, _WRAPS = 0, 1, 2, 3, 4
"""Kinds of arc: not tight; tight from a nearer vertex; tight at equal distance; relaxable; the sum is no
distance of this type (it wrapped or is infinite), and its head is unreached."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What one look at every arc has shown.

    Attributes:
        predecessor: (n,) int64 canonical predecessors; −1 for the source, for unreached vertices and for
            vertices that hang on nothing.
        relaxable: the first arc (tail, head, position) that can be relaxed, or None.
        wraps: the first arc (tail, head, position) whose sum does not fit its type and whose head is
            unreached, or None.
    """

    predecessor: NDArray[np.int64]
    relaxable: tuple[int, int, int] | None
    wraps: tuple[int, int, int] | None


def canonical_predecessors(graph: CSRGraph, distance: NDArray[Any], source: int) -> NDArray[np.int64]:
    """Return the canonical predecessors (n,) int64 of right distances; −1 for the source and unreached vertices."""
    return survey(graph, distance, source).predecessor


def survey(graph: CSRGraph, distance: NDArray[Any], source: int) -> Survey:
    """Look at every arc once.

    Args:
        graph: a graph without negative weights.
        distance: (n,) in the graph's distance type.
        source: its vertex; hangs on nothing.
    """
    arcs = Arcs.of(graph)
    distance = np.ascontiguousarray(distance)
    n = arcs.vertices
    predecessor = np.full(n, -1, np.int64)
    predecessor[source] = source  # never adopted; taken back below
    has_level = np.zeros(n, np.bool_)
    first = np.full(2, -1, np.int64)  # the first relaxable arc, the first that wraps
    row = 0
    while row < n:
        after = int(np.searchsorted(arcs.offsets, arcs.offsets[row] + _BLOCK, side="right")) - 1
        after = min(max(after, row + 1), n)
        kinds = _classify(arcs, distance, row, after)
        _adopt(arcs.offsets, arcs.targets, kinds, row, after, predecessor, has_level, first)
        row = after
    roots = np.flatnonzero(has_level & (predecessor >= 0))
    if len(roots):
        _spread(arcs.offsets, arcs.targets, arcs.weights, distance, roots, predecessor)
    predecessor[source] = -1
    relaxable, wraps = (ends_of(arcs, int(arc)) for arc in first)
    return Survey(predecessor, relaxable, wraps)


def refuse_wrapped(graph: CSRGraph, source: int, distance: NDArray[Any]) -> None:
    """Raise if a vertex is unreached only because its distance does not fit in 64 bits.

    Args:
        graph: a graph without negative weights.
        source: its vertex.
        distance: (n,) uint64 right distances of all vertices that have one below 2^64−1 (floats pass: their
            sums become infinite, which means not reached).

    Raises:
        InputError: naming the vertex.
    """
    if distance.dtype != np.uint64 or not graph.arcs:
        return
    none = unreached(distance.dtype)
    if graph.vertices * int(np.iinfo(graph.weight_dtype).max) < none:
        return
    farthest = int(np.max(distance, where=distance != none, initial=0))
    if farthest + int(np.iinfo(graph.weight_dtype).max) < none or farthest + int(graph.weights.max()) < none:
        return
    wraps = survey(graph, distance, source).wraps
    if wraps is not None:
        raise InputError(
            f"the distance from vertex {graph.label(source)} to vertex {graph.label(wraps[1])} does not fit in 64 bits",
            where=graph.name,
            remedy="use smaller weights, or float64 ones",
        )


def ends_of(arcs: Arcs | CSRGraph, arc: int) -> tuple[int, int, int] | None:
    """Return (tail, head, position) of an arc, or None for −1."""
    if arc < 0:
        return None
    return int(np.searchsorted(arcs.offsets, arc, side="right")) - 1, int(arcs.targets[arc]), arc


def _classify(arcs: Arcs, distance: NDArray[Any], row: int, after: int) -> NDArray[np.uint8]:
    """Return the kinds of the arcs of rows [row, after), classified by all threads."""
    start, stop = arcs.offsets[row], arcs.offsets[after]
    kinds = np.empty(stop - start, np.uint8)
    none = unreached(distance.dtype)
    fill = partial(_classify_rows, arcs.offsets, arcs.targets, arcs.weights, distance, none, start, kinds)
    ranges = balanced_ranges(arcs.offsets[row : after + 1])
    in_threads(lambda low, high: fill(row + low, row + high), ranges)
    return kinds


@njit
def _classify_rows(
    offsets: NDArray[np.int64],
    targets: NDArray[Any],
    weights: NDArray[Any],
    distance: NDArray[Any],
    none: Any,
    start: int,
    kinds: NDArray[np.uint8],
    row: int,
    after: int,
) -> None:
    """Write the kind of each arc of rows [row, after) to ``kinds``, whose first element is arc ``start``."""
    for u in range(row, after):
        near = distance[u]
        if near == none:
            kinds[offsets[u] - start : offsets[u + 1] - start] = _SLACK
            continue
        for arc in range(offsets[u], offsets[u + 1]):
            far = near + weights[arc]
            held = distance[targets[arc]]
            kind = _SLACK
            if far < near or far == none:
                if held == none:
                    kind = _WRAPS
            elif far < held:
                kind = _RELAXABLE
            elif far == held:
                kind = _NEARER if near < held else _LEVEL
            kinds[arc - start] = kind


@njit
def _adopt(
    offsets: NDArray[np.int64],
    targets: NDArray[Any],
    kinds: NDArray[np.uint8],
    row: int,
    after: int,
    predecessor: NDArray[np.int64],
    has_level: NDArray[np.bool_],
    first: NDArray[np.int64],
) -> None:
    """Hang the heads of nearer arcs on their first tail; note tails of level arcs and the first bad arcs."""
    start = offsets[row]
    for u in range(row, after):
        for arc in range(offsets[u], offsets[u + 1]):
            kind = kinds[arc - start]
            if kind == _SLACK:
                continue
            if kind == _NEARER:
                # Tails come in ascending order: the first is the smallest.
                if predecessor[targets[arc]] < 0:
                    predecessor[targets[arc]] = u
            elif kind == _LEVEL:
                has_level[u] = True
            elif first[kind - _RELAXABLE] < 0:
                first[kind - _RELAXABLE] = arc


@njit
def _spread(
    offsets: NDArray[np.int64],
    targets: NDArray[Any],
    weights: NDArray[Any],
    distance: NDArray[Any],
    roots: NDArray[np.int64],
    predecessor: NDArray[np.int64],
) -> None:
    """Hang vertices on level arcs, by breadth-first search from ``roots``; the smallest tail of a level wins."""
    queue = np.empty(len(predecessor), np.int64)
    queue[: len(roots)] = roots
    level = np.zeros(len(predecessor), np.int64)  # 0: not found by this search
    begin, end, depth = 0, len(roots), 0
    while begin < end:
        depth += 1
        found = end
        for i in range(begin, end):
            u = queue[i]
            near = distance[u]
            for arc in range(offsets[u], offsets[u + 1]):
                v = targets[arc]
                if distance[v] != near or near + weights[arc] != near:
                    continue
                if predecessor[v] < 0:
                    predecessor[v] = u
                    level[v] = depth
                    queue[found] = v
                    found += 1
                elif level[v] == depth and u < predecessor[v]:
                    predecessor[v] = u
        begin, end = end, found
