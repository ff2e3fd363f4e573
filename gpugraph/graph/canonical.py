"""Canonical edge ids of a graph's arcs: ``canonical_ids(graph)`` of all, ``canonical_ids_at`` of some.

The id of an undirected edge is the position of its arc u→v with u < v; a reverse arc finds it by binary search
in the sorted row of its head.  In a directed graph each arc is an edge of its own, and its position the id.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit, threads
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.search import lower_bound

_MOST_RANGES = 8


@njit
def find_arc(offsets: Any, targets: Any, tail: int, head: int) -> int:
    """Return the position of the arc tail→head, or −1; binary search in the sorted row."""
    at = lower_bound(targets, offsets[tail], offsets[tail + 1], head)
    return at if at < offsets[tail + 1] and targets[at] == head else -1


@njit
def _fill_ids(offsets: Any, targets: Any, first: int, last: int, ids: Any) -> None:
    """Write the canonical ids of the edges whose smaller endpoint lies in [first, last), to both their arcs.

    Smaller endpoints come in ascending order, as in the rows of the greater ones: a cursor in each row is enough.
    """
    n = len(offsets) - 1
    cursors = np.empty(n - first, np.int64)
    for v in range(first, n):
        cursors[v - first] = lower_bound(targets, offsets[v], offsets[v + 1], first)
    for u in range(first, last):
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if v > u:
                back = cursors[v - first]
                cursors[v - first] = back + 1
                ids[i] = i
                ids[back] = i


@njit
def _ids_at(offsets: Any, targets: Any, tails: Any, positions: Any) -> Any:
    """Return the canonical ids of the arcs at ``positions``, whose tails are known."""
    ids = np.empty(len(positions), np.int64)
    for k in range(len(positions)):
        i = positions[k]
        u, v = tails[k], targets[i]
        ids[k] = i if v > u else find_arc(offsets, targets, v, u)
    return ids


def canonical_ids(graph: CSRGraph) -> NDArray[np.int64]:
    """Return the (arcs,) int64 canonical edge id of every arc; O(n + arcs), on all threads."""
    if graph.directed:
        return np.arange(graph.arcs, dtype=np.int64)
    ids = np.empty(graph.arcs, np.int64)
    # Every range holds a cursor per vertex, which bounds how many are worth it.
    in_threads(
        lambda lo, hi: _fill_ids(graph.offsets, graph.targets, lo, hi, ids),
        balanced_ranges(graph.offsets, min(threads(), _MOST_RANGES)),
    )
    return ids


def canonical_ids_at(graph: CSRGraph, positions: NDArray[Any]) -> NDArray[np.int64]:
    """Return the (k,) int64 canonical edge ids of the arcs at ``positions``.

    Args:
        graph: the graph.
        positions: (k,) positions in ``graph.targets``, in any order.
    """
    wide = np.ascontiguousarray(positions, np.int64)
    if graph.directed:
        return wide.copy()
    tails = np.searchsorted(graph.offsets, wide, side="right") - 1
    return np.asarray(_ids_at(graph.offsets, graph.targets, tails, wide))
