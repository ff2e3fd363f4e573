"""Filter-Kruskal on the CPU: most heavy edges are dropped before anything sorts them.

1. partition: the edges are split at a pivot; the light part is solved first, by the same rule.
2. sort, unite: a small part is sorted, and its edges join the forest where they join two trees.
3. filter: of the heavy part, the edges inside a tree are dropped; what is left is solved by the same rule.

The first partition and the first filter read the rows on all threads, so that the heavy part is never copied.

Source: Osipov, Sanders and Singler 2009, The filter-Kruskal minimum spanning tree algorithm, after Kruskal 1956,
On the shortest spanning subtree of a graph and the traveling salesman problem.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.compiled import njit, plain_njit, threads
from gpugraph.graph.canonical import Keys, canonical_order, order_keys
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.registry import cpu_algorithm

_SORTED_OUTRIGHT = 1 << 16
"""So few edges are sorted without another partition: they fit a core's cache."""

_SAMPLES = 1024
_RANGES_PER_THREAD = 8


@cpu_algorithm(
    "mst",
    "kruskal",
    summary="filter-Kruskal: partition by a pivot, sort the light edges, filter the heavy ones",
    authors="V. Osipov, P. Sanders, J. Singler",
    year=2009,
    section="The filter-Kruskal minimum spanning tree algorithm",
)
def kruskal(view: GraphView, clock: Clock) -> Forest:
    """Return the minimum spanning forest of the graph behind ``view``."""
    graph = view.graph
    keys = order_keys(graph.weights)
    trees = _Trees(graph, keys, clock, np.arange(graph.vertices, dtype=graph.targets.dtype), [])
    lightest, heaviest = keys.dtype.type(0), keys.dtype.type(np.iinfo(keys.dtype).max)
    pivot = heaviest
    if graph.edges > 2 * graph.vertices:
        # About n light edges: enough for most of the forest, few enough to be sorted.
        sample = np.sort(keys[np.random.default_rng(1).integers(0, graph.arcs, _SAMPLES)])
        pivot = sample[graph.vertices * _SAMPLES // graph.edges]
    with clock.phase("partition"):
        light = trees.edges_between(lightest, pivot)
    trees.solve(*light)
    if pivot < heaviest:
        with clock.phase("filter"):
            while not np.array_equal(above := trees.parent[trees.parent], trees.parent):
                trees.parent[:] = above  # in the end every vertex is linked to its root
            heavy = trees.edges_between(pivot + keys.dtype.type(1), heaviest)
        trees.solve(*heavy)
    return Forest.of(graph, np.concatenate([*trees.chosen, np.zeros(0, np.int64)]))


@dataclass(frozen=True, eq=False)
class _Trees:
    """The forest so far: disjoint sets of vertices, and the edges chosen.

    Attributes:
        parent: (n,) the disjoint-set forest; a root is its own parent.
        chosen: arrays of the canonical edge ids that joined two trees.
    """

    graph: CSRGraph
    keys: Keys
    clock: Clock
    parent: NDArray[Any]
    chosen: list[NDArray[np.int64]]

    def solve(self, tails: NDArray[Any], edges: NDArray[np.int64]) -> None:
        """Take into the forest what belongs to it of a list of edges no lighter than any taken before.

        The edges are (k,) smaller endpoints and (k,) canonical ids, ascending.
        """
        while len(edges) > _SORTED_OUTRIGHT:
            with self.clock.phase("partition"):
                keys = self.keys[edges]  # the light ones are those up to about the median
                sample = np.sort(keys[np.random.default_rng(1).integers(0, len(keys), _SAMPLES)])
                light = keys <= sample[_SAMPLES // 2]
                light = keys < sample[_SAMPLES // 2] if light.all() else light
            if not light.any():  # all keys are equal: nothing is left to sort
                break
            self.solve(tails[light], edges[light])
            with self.clock.phase("filter"):
                np.logical_not(light, out=light)
                tails, edges = tails[light], edges[light]
                apart = _between_trees(self.graph.targets, self.parent, tails, edges)
                tails, edges = tails[apart], edges[apart]
        self._unite(tails, edges)

    def _unite(self, tails: NDArray[Any], edges: NDArray[np.int64]) -> None:
        """Sort a list of edges and unite the trees that they join."""
        with self.clock.phase("sort"):
            order = canonical_order(self.keys[edges])
        with self.clock.phase("unite"):
            taken = np.empty(len(edges), np.int64)
            count = _unite(self.graph.targets, self.parent, (tails, edges), order, taken)
            self.chosen.append(taken[:count])

    def edges_between(self, lowest: object, highest: object) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return edges with keys in [lowest, highest] between trees, as ``solve`` takes them; the sets must be flat."""
        rows = balanced_ranges(self.graph.offsets, _RANGES_PER_THREAD * threads())
        # Room for every arc: pages that are never written cost nothing.
        tails = np.empty(self.graph.arcs, self.graph.targets.dtype)
        edges = np.empty(self.graph.arcs, np.int64)
        graph = self.graph.offsets, self.graph.targets, self.keys, self.parent
        ends = in_threads(partial(_edges_between, graph, (lowest, highest), (tails, edges)), rows)
        pieces = [slice(int(self.graph.offsets[rows[i][0]]), end) for i, end in enumerate(ends)]
        return np.concatenate([tails[p] for p in pieces]), np.concatenate([edges[p] for p in pieces])


@njit
def _edges_between(graph: tuple[Any, ...], bounds: tuple[Any, ...], out: tuple[Any, ...], start: int, stop: int) -> int:
    """Write the edges of rows [start, stop) with keys in [lowest, highest] between two trees; return their end."""
    (offsets, targets, keys, parent), (lowest, highest), (tails, edges) = graph, bounds, out
    end: int = offsets[start]
    for u in range(start, stop):
        first = offsets[u + 1]
        while first > offsets[u] and targets[first - 1] > u:
            first -= 1
        for i in range(first, offsets[u + 1]):
            if lowest <= keys[i] <= highest and parent[u] != parent[targets[i]]:
                tails[end] = u
                edges[end] = i
                end += 1
    return end


@njit
def _unite(targets: Any, parent: Any, listed: tuple[Any, ...], order: Any, taken: Any) -> int:
    """Unite along the edges in ``order``; write the ids of those that joined two trees and return how many."""
    tails, edges = listed
    count = 0
    for i in order:
        u, v = find_root(parent, tails[i]), find_root(parent, targets[edges[i]])
        if u != v:
            parent[max(u, v)] = min(u, v)
            taken[count] = edges[i]
            count += 1
    return count


@njit
def _between_trees(targets: Any, parent: Any, tails: Any, edges: Any) -> Any:
    """Return (k,) bool: whether each edge joins two trees."""
    apart = np.empty(len(edges), np.bool_)
    for i in range(len(edges)):
        apart[i] = find_root(parent, tails[i]) != find_root(parent, targets[edges[i]])
    return apart


@plain_njit
def find_root(parent: Any, v: Any) -> Any:
    """Return the root of ``v``, halving the path to it.

    Source: Tarjan & van Leeuwen 1984, Worst-case analysis of set union algorithms.
    """
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v
