"""One look at every arc: which are tight, and the canonical predecessors; for results, not for their certificate.

An arc u→v is *tight* if d(u) + w = d(v), in the graph's own arithmetic.  Every shortest path consists of tight
arcs, and distances are right exactly if d(source) = 0, no arc can be relaxed, and tight arcs lead from the source to
every reached vertex.  A tight arc from a nearer vertex (d(u) < d(v)) cannot be part of a cycle; tight arcs between
equal distances (zero weights, or sums absorbed by rounding) can, so those are followed by breadth-first search
from the vertices that have a nearer predecessor.

Canonical predecessor of v: the smallest u with a tight arc and d(u) < d(v); where only equal distances are
tight, the smallest u one level nearer by that search.

Works on the arcs as they are, without a transposed graph: all threads look at rows of their own, and a head that they
share is lowered to its least tail atomically.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import fetch_min, njit
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import Arcs, unreached


@dataclass(frozen=True, eq=False)
class Survey:
    """What one look at every arc has shown.

    Attributes:
        predecessor: (n,) int64 canonical predecessors; −1 for the source, for unreached vertices and for
            vertices without a predecessor.
        wraps: the position of the first arc whose sum does not fit its type and whose head is unreached, or −1.
    """

    predecessor: NDArray[np.int64]
    wraps: int


def canonical_predecessors(graph: CSRGraph, distance: NDArray[Any], source: int) -> NDArray[np.int64]:
    """Return the canonical predecessors (n,) int64 of right distances; −1 for the source and unreached vertices."""
    return survey(graph, distance, source).predecessor


def survey(graph: CSRGraph, distance: NDArray[Any], source: int) -> Survey:
    """Look at every arc of a graph without negative weights once; the source has no predecessor."""
    arcs = Arcs.of(graph)
    distance = np.ascontiguousarray(distance)
    predecessor = np.full(arcs.vertices, -1, np.int64)
    predecessor[source] = 0  # nothing is below that; taken back below
    has_level = np.zeros(arcs.vertices, np.bool_)
    least_tail = predecessor.view(np.uint64)  # where −1, no tail yet, is above all others
    of_vertices = distance, unreached(distance.dtype), least_tail, has_level
    found = in_threads(partial(look_at_rows, arcs, of_vertices, 0), balanced_ranges(arcs.offsets))
    predecessor[source] = source
    roots = np.flatnonzero(has_level & (predecessor >= 0))
    if len(roots):
        _spread(arcs, distance, roots, predecessor)
    predecessor[source] = -1
    return Survey(predecessor, next((arc for arc in found if arc >= 0), -1))


@njit
def look_at_rows(arcs: Arcs, of_vertices: tuple[Any, ...], first_vertex: int, row: int, after: int) -> int:
    """Give the heads of tight arcs of rows [row, after) from nearer vertices their least tail; note level tails.

    The first row is that of ``first_vertex``.  Return the position of the first arc whose sum is no distance of this
    type (it wrapped or is infinite) and whose head is unreached; −1 where there is none.
    """
    offsets, targets, weights = arcs
    distance, none, least_tail, has_level = of_vertices
    wraps = -1
    for i in range(row, after):
        u = first_vertex + i
        near = distance[u]
        if near == none:
            continue
        for arc in range(offsets[i], offsets[i + 1]):
            v = targets[arc]
            far, held = near + weights[arc], distance[v]
            if far < near or far == none:
                if held == none and wraps < 0:
                    wraps = arc
            elif far == held and near == held:
                has_level[u] = True
            elif far == held and np.uint64(u) < least_tail[v]:
                fetch_min(least_tail, v, np.uint64(u))
    return wraps


@njit
def _spread(arcs: Arcs, distance: NDArray[Any], roots: NDArray[np.int64], predecessor: NDArray[np.int64]) -> None:
    """Reach vertices by level arcs, in a breadth-first search from ``roots``; the smallest tail of a level wins."""
    offsets, targets, weights = arcs
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
