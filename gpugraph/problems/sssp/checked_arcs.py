"""Tight arcs as the certificate of shortest paths sees them on the host: code of its own.

Results find their canonical predecessors by ``tight_arcs.py``.  Here predecessors that are given are checked, not found
again: which vertices a tight arc leads to, how many arcs between equal distances lead there, and whether a smaller
vertex would have done.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import Arcs, unreached


class Look(NamedTuple):
    """What the arcs show.

    Attributes:
        level: (n,) int64: 0 for the source and the heads of tight arcs from nearer vertices, k for vertices that k
            tight arcs between equal distances lead to from one of these, −1 where no tight arcs lead.
        relaxable: the position of an arc that can be relaxed, or −1.
        wraps: that of one whose sum does not fit its type and whose head is unreached, or −1.
    """

    level: NDArray[np.int64]
    relaxable: int
    wraps: int


def look(graph: CSRGraph, distance: NDArray[Any], source: int) -> Look:
    """Look at every arc of a graph without negative weights, given (n,) distances."""
    arcs, distance = Arcs.of(graph), np.ascontiguousarray(distance)
    linked, leads_on = np.zeros(arcs.vertices, np.uint8), np.zeros(arcs.vertices, np.uint8)
    linked[source] = 1
    of_vertices = distance, unreached(distance.dtype), linked, leads_on
    found = in_threads(partial(look_at_rows, arcs, of_vertices, 0), balanced_ranges(arcs.offsets))
    level = linked.astype(np.int64) - 1
    if len(roots := np.flatnonzero(linked & leads_on)):
        _follow(arcs, distance, roots, level)
    return Look(level, *(next((arc for arc in kind if arc >= 0), -1) for kind in zip(*found, strict=True)))


@njit
def look_at_rows(arcs: Arcs, of_vertices: tuple[Any, ...], first_vertex: int, row: int, after: int) -> tuple[int, int]:
    """Mark the heads of tight arcs from nearer vertices and the tails of tight arcs between equal distances.

    The rows are [row, after), of which row 0 is that of ``first_vertex``.  Returns the first arc that can be relaxed,
    and the first whose sum is no distance (it wrapped or is infinite) and whose head is unreached, or −1.
    """
    offsets, targets, weights = arcs
    distance, none, linked, leads_on = of_vertices
    relaxable, wraps = -1, -1
    for i in range(row, after):
        near = distance[first_vertex + i]
        if near == none:
            continue
        for arc in range(offsets[i], offsets[i + 1]):
            far, held = near + weights[arc], distance[targets[arc]]
            if far < near or far == none:
                if held == none and wraps < 0:
                    wraps = arc
            elif far < held:
                if relaxable < 0:
                    relaxable = arc
            elif far == held:
                if near < held:
                    linked[targets[arc]] = 1
                else:
                    leads_on[first_vertex + i] = 1
    return relaxable, wraps


@njit
def _follow(arcs: Arcs, distance: NDArray[Any], roots: NDArray[np.int64], level: NDArray[np.int64]) -> None:
    """Give vertices of no level theirs, by breadth-first search along tight arcs between equal distances."""
    offsets, targets, weights = arcs
    queue = np.empty(len(level) + 1, np.int64)
    queue[: len(roots)] = roots
    first, last = 0, len(roots)
    while first < last:
        u = queue[first]
        first += 1
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            if level[v] < 0 and distance[v] == distance[u] and distance[u] + weights[arc] == distance[u]:
                level[v] = level[u] + 1
                queue[last] = v
                last += 1


def wrong_predecessor(
    graph: CSRGraph, distance: NDArray[Any], source: int, before: NDArray[np.int64], level: NDArray[np.int64]
) -> tuple[int, int] | None:
    """Return the first vertex whose predecessor is not the canonical one, and that one; None where all are.

    ``level`` is that of ``look`` and not below 0 where a vertex is reached.
    """
    arcs, distance = Arcs.of(graph), np.ascontiguousarray(distance)
    named, beaten = np.zeros(arcs.vertices, np.uint8), np.zeros(arcs.vertices, np.uint8)
    has_one = distance != unreached(distance.dtype)
    has_one[source] = False
    of_vertices = distance, unreached(distance.dtype), level, np.ascontiguousarray(before), named, beaten
    in_threads(partial(_compare_tails, arcs, of_vertices), balanced_ranges(arcs.offsets))
    for v in np.flatnonzero(np.where(has_one, (named == 0) | (beaten != 0), before != -1))[:1].tolist():
        return v, _smallest_tail(arcs, distance, level, v) if has_one[v] else -1
    return None


@njit
def _compare_tails(arcs: Arcs, of_vertices: tuple[Any, ...], row: int, after: int) -> None:
    """Note of heads whose tails, in rows [row, after), could be predecessors: it is the one named, or smaller."""
    offsets, targets, weights = arcs
    distance, none, level, before, named, beaten = of_vertices
    for u in range(row, after):
        near = distance[u]
        if near == none:
            continue
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            far = near + weights[arc]
            if far != distance[v] or far < near or far == none:
                continue
            if (level[v] == 0 and near < far) or (level[v] > 0 and near == far and level[u] == level[v] - 1):
                if u == before[v]:
                    named[v] = 1
                elif u < before[v]:
                    beaten[v] = 1


def _smallest_tail(arcs: Arcs, distance: NDArray[Any], level: NDArray[np.int64], v: int) -> int:
    """Return the canonical predecessor of a vertex that has one."""
    into = np.flatnonzero(arcs.targets == v)
    tails = np.searchsorted(arcs.offsets, into, side="right") - 1
    with np.errstate(over="ignore"):
        tight = distance[tails] + arcs.weights[into] == distance[v]
    nearer = distance[tails] < distance[v]
    able = nearer if level[v] == 0 else (distance[tails] == distance[v]) & (level[tails] == level[v] - 1)
    return int(tails[tight & able].min())
