"""Prim's algorithm on the CPU with a heap, sequential: what GPU versions of Prim are compared with.

A tree grows from its smallest vertex: the vertex next to it by the least edge joins (``grow``), and the
vertices around that one get nearer.  The heap holds each vertex outside the tree once, by its least edge to
the tree, and a nearer vertex moves up in place.

Source: Prim 1957, Shortest connection networks and some generalizations; the heap with decrease-key as in Cormen,
Leiserson, Rivest and Stein 2009, Introduction to Algorithms, third edition, section 23.2.
"""

from typing import Any

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.base.compiled import njit
from gpugraph.graph.canonical import order_keys
from gpugraph.graph.view import GraphView
from gpugraph.problems.heap import sift_down, sift_up
from gpugraph.problems.mst.forest import Forest, edge_ids
from gpugraph.problems.registry import cpu_algorithm


@cpu_algorithm(
    "mst",
    "prim",
    summary="sequential Prim with a four-way heap",
    authors="R. C. Prim",
    year=1957,
    section="Shortest connection networks and some generalizations",
    version=2,
)
def prim(view: GraphView, clock: Clock) -> Forest:
    """Return the minimum spanning forest of the graph behind ``view``."""
    graph = view.graph
    keys = order_keys(graph.weights)
    nearest = np.full(graph.vertices, -1, graph.targets.dtype)
    with clock.phase("grow"):
        _grow(graph.offsets, graph.targets, keys, nearest)
    with clock.phase("edge_ids"):
        joined = np.flatnonzero(nearest >= 0)
        edges = edge_ids(graph, nearest[joined], joined)
    return Forest.of(graph, edges)


@njit
def _grow(offsets: Any, targets: Any, keys: Any, nearest: Any) -> None:
    """Write for each vertex the tree vertex that it joined by; roots keep −1."""
    n = len(nearest)
    key = np.empty(n, keys.dtype)
    heap = np.empty(n, nearest.dtype)
    outside, inside = -1, -2  # places in the heap are not negative
    place = np.full(n, outside, np.int64)
    for root in range(n):
        if place[root] == inside:
            continue
        size = 0
        u = nearest.dtype.type(root)
        while True:
            place[u] = inside
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                if place[v] == outside:
                    place[v] = size
                    size += 1
                # Of two equal edges that end in v, the one with the smaller other end comes first, be v the
                # smaller or the larger end of either.
                elif place[v] == inside or keys[i] > key[v] or (keys[i] == key[v] and u > nearest[v]):
                    continue
                key[v] = keys[i]
                nearest[v] = u
                sift_up(heap, place, (key, nearest), v, place[v])
            if size == 0:
                break
            u = heap[0]
            size -= 1
            if size > 0:
                sift_down(heap, place, (key, nearest), heap[size], size)
