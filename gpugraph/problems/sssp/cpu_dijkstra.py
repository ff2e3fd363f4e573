"""Dijkstra's algorithm with a four-way heap: the sequential standard.

Each vertex is in the heap at most once; a lower distance moves it up (decrease-key), so that memory stays O(n).

Source: Dijkstra, A note on two problems in connexion with graphs (1959), problem 2.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.compiled import njit
from gpugraph.graph.view import GraphView
from gpugraph.problems.heap import sift_down, sift_up
from gpugraph.problems.registry import cpu_algorithm
from gpugraph.problems.sssp.arcs import FLOAT64, SUMS, Arcs
from gpugraph.problems.sssp.distances import Distances, refuse_wrapped

_NEW = -1  # places in the heap are not negative
_SETTLED = -2


@cpu_algorithm(
    "sssp",
    "dijkstra",
    summary="Dijkstra with a four-way heap and decrease-key, sequential",
    authors="Dijkstra",
    year=1959,
    section="problem 2",
    options=(SUMS,),
    version=2,
)
def dijkstra(view: GraphView, clock: Clock, source: int, *, sums: str = FLOAT64) -> Distances:
    """Return the distances from ``source``.  Raises InputError if a distance needs more than 64 bits."""
    arcs = Arcs.of(view)
    distance = arcs.unreached(sums)
    with clock.phase("search"):
        relaxations = _search(arcs, source, distance)
    clock.count("relaxations", int(relaxations))
    refuse_wrapped(view.graph, source, distance)
    return Distances(view.graph, source, distance)


@njit
def _search(arcs: Arcs, source: int, distance: NDArray[Any]) -> int:
    """Fill ``distance`` (all unreached on entry) and return how many arcs were relaxed."""
    offsets, targets, weights = arcs
    n = len(offsets) - 1
    heap = np.empty(n, np.int64)
    place = np.full(n, _NEW, np.int64)  # position in the heap
    order = distance, None
    distance[source] = 0
    heap[0] = source
    place[source] = 0
    size = 1
    relaxations = 0
    while size > 0:
        u = heap[0]
        place[u] = _SETTLED
        size -= 1
        if size > 0:
            sift_down(heap, place, order, heap[size], size)
        near = distance[u]
        relaxations += offsets[u + 1] - offsets[u]
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            far = near + weights[arc]
            # A sum that wrapped is below its first term.
            if far < distance[v] and far >= near:
                distance[v] = far
                at = place[v]
                if at == _NEW:
                    at = size
                    size += 1
                sift_up(heap, place, order, v, at)
    return relaxations
