"""Borůvka's algorithm on the CPU, on all threads and without atomics.

Every tree picks its least outgoing edge and the picks are contracted, until no tree has an outgoing edge:

1. find_min: the least edge of each tree.  In the first round that is the least arc of a row; later every
   thread keeps minima of its own over its share of the live edges, and the shares are reduced.
2. remove_cycles: two trees that picked the same edge are the only cycles there are; the smaller is the root.
3. merge_trees: pointer jumping until no link changes.
4. renumber_trees: the roots become 0..trees−1.
5. filter: edges inside a tree are dropped, the others renamed.

On graphs of many edges the heavy ones wait: the rounds first run on the lightest few edges per vertex, after
which nearly every heavy edge lies inside a tree and is dropped on sight.

Source: Borůvka 1926, O jistém problému minimálním; the phases as in Kolganov 2015, Hybrid implementation of the
MST algorithm using CPU and GPU; the filter after Osipov, Sanders and Singler 2009, The filter-Kruskal minimum
spanning tree algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.compiled import njit, threads
from gpugraph.graph.canonical import Keys, order_keys
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst.forest import Forest, edge_ids
from gpugraph.problems.registry import cpu_algorithm

Labels = NDArray[np.signedinteger[Any]]

LIGHT_PER_VERTEX = 1.0
"""Edges per vertex that the rounds run on before the heavy ones are looked at."""

_SAMPLES = 4096
_SEGMENTS_PER_THREAD = 8
_LEAST_SHARE = 1 << 15
"""Fewer live edges are not worth another thread's minima."""


@cpu_algorithm(
    "mst",
    "boruvka",
    summary="parallel Borůvka: row minima, then contraction of the light edges, then of what is left",
    authors="O. Borůvka",
    year=1926,
    section="O jistém problému minimálním; phases as in Kolganov 2015, filter as in Osipov et al. 2009",
)
def boruvka(view: GraphView, clock: Clock) -> Forest:
    """Return the minimum spanning forest of the graph behind ``view``."""
    graph = view.graph
    keys = order_keys(graph.weights)
    picked, label, trees = _contract_rows(graph, keys, clock)
    forest = [picked]
    for limit in _key_limits(graph, keys):
        with clock.phase("filter"):
            live = _LiveEdges.of(graph, keys, label, limit)
        renaming: Labels = np.arange(trees, dtype=label.dtype)
        while live.count:
            picked, renamed, trees = _contract(live, trees, clock)
            forest.append(picked)
            with clock.phase("filter"):
                live.filter(renamed)
                renaming = renamed[renaming]
        label = renaming[label]
    return Forest.of(graph, np.concatenate(forest))


def _key_limits(graph: CSRGraph, keys: Keys) -> list[Any]:
    """Return the greatest key that each stage looks at: of the light edges, where that pays, and of all."""
    heaviest = keys.dtype.type(np.iinfo(keys.dtype).max)
    light = int(LIGHT_PER_VERTEX * graph.vertices)
    if graph.edges <= 2 * light:
        return [heaviest]
    sample = np.sort(keys[np.random.default_rng(1).integers(0, graph.arcs, _SAMPLES)])
    return [sample[light * _SAMPLES // graph.edges], heaviest]


def _contract_rows(graph: CSRGraph, keys: Keys, clock: Clock) -> tuple[NDArray[np.int64], Labels, int]:
    """Run the first round on the rows; return the edges picked, each vertex's tree, and the number of trees."""
    clock.count("rounds")
    with clock.phase("find_min"):
        best = np.empty(graph.vertices, np.int64)
        parent = np.empty(graph.vertices, graph.targets.dtype)
        in_threads(
            lambda start, stop: _row_minima(graph.offsets, graph.targets, keys, start, stop, best, parent),
            balanced_ranges(graph.offsets),
        )
    children, label, trees = _merge(parent, clock)
    with clock.phase("renumber_trees"):
        picked = best[children]
        heads = graph.targets[picked]
        backward = heads < children
        picked[backward] = edge_ids(graph, heads[backward], children[backward])
    return picked, label, trees


def _contract(live: _LiveEdges, trees: int, clock: Clock) -> tuple[NDArray[np.int64], Labels, int]:
    """Run one round on the live edges; return the edges picked, each tree's new name, and how many are left."""
    clock.count("rounds")
    with clock.phase("find_min"):
        shares = max(1, min(threads(), live.count // _LEAST_SHARE))
        best_key = np.empty((shares, trees), live.key.dtype)
        best_at = np.empty((shares, trees), np.int64)
        in_threads(
            lambda i, _: _find_min(
                live.starts, live.ends, i, shares, live.a, live.b, live.key, best_key[i], best_at[i]
            ),
            [(i, i + 1) for i in range(shares)],
        )
        parent = np.empty(trees, live.a.dtype)
        in_threads(
            lambda start, stop: _reduce_minima(best_key, best_at, live.a, live.b, start, stop, parent),
            even_ranges(trees),
        )
    children, renamed, left = _merge(parent, clock)
    with clock.phase("renumber_trees"):
        picked = live.edge[best_at[0][children]]
    return picked, renamed, left


def _merge(parent: Labels, clock: Clock) -> tuple[NDArray[np.int64], Labels, int]:
    """Turn the trees' picks into larger trees.

    Args:
        parent: (trees,) the tree at the other end of each tree's pick, itself where it has none; overwritten.
        clock: where the phases are marked.

    Returns:
        children: the trees whose pick joins the forest, ascending.
        renamed: (trees,) the number of the larger tree that each is part of.
        left: how many trees are left.
    """
    ranges = even_ranges(len(parent))
    itself = np.arange(len(parent), dtype=parent.dtype)
    with clock.phase("remove_cycles"):
        in_threads(lambda start, stop: _remove_cycles(parent, start, stop), ranges)
        is_root = parent == itself
        children = np.flatnonzero(~is_root)
    with clock.phase("merge_trees"):
        while any(in_threads(lambda start, stop: _shortcut(parent, start, stop), ranges)):
            pass
    with clock.phase("renumber_trees"):
        number = np.cumsum(is_root, dtype=parent.dtype)
        number -= 1
        renamed = number[parent]
    return children, renamed, len(parent) - len(children)


@dataclass(eq=False)
class _LiveEdges:
    """Edges between two trees, by ascending id, in segments that threads work on apart.

    Attributes:
        a, b: the trees at both ends; key, edge: the edge's key and id.
        starts, ends: (segments,) int64; what lies between two segments is not in use.
    """

    a: Labels
    b: Labels
    key: Keys
    edge: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, graph: CSRGraph, keys: Keys, label: Labels, limit: Any) -> _LiveEdges:
        """Return the edges with a key up to ``limit`` that join two trees, by the vertices' labels."""
        rows = balanced_ranges(graph.offsets, _SEGMENTS_PER_THREAD * threads())
        # Room for every arc: pages that are never written cost nothing.
        a, b = np.empty(graph.arcs, label.dtype), np.empty(graph.arcs, label.dtype)
        key, edge = np.empty(graph.arcs, keys.dtype), np.empty(graph.arcs, np.int64)
        ends = in_threads(
            lambda start, stop: _select(graph.offsets, graph.targets, keys, label, limit, start, stop, a, b, key, edge),
            rows,
        )
        starts = graph.offsets[[start for start, _ in rows]]
        return cls(a, b, key, edge, starts, np.array(ends, np.int64))

    @property
    def count(self) -> int:
        """Number of live edges."""
        return int((self.ends - self.starts).sum())

    def filter(self, renamed: Labels) -> None:
        """Rename both ends of every edge, and drop the edges whose ends are now one tree."""
        self.ends[:] = in_threads(
            lambda i, _: _rename(self.a, self.b, self.key, self.edge, renamed, self.starts[i], self.ends[i]),
            [(i, i + 1) for i in range(len(self.starts))],
        )


@njit
def _row_minima(offsets: Any, targets: Any, keys: Any, start: int, stop: int, best: Any, parent: Any) -> None:
    """Write for each row of [start, stop) its least arc, the first of equals, and that arc's head."""
    for u in range(start, stop):
        first, end = offsets[u], offsets[u + 1]
        if first == end:
            best[u] = -1
            parent[u] = u
            continue
        least = keys[first]
        for i in range(first + 1, end):  # no position in this loop, so that it is vectorised
            least = min(least, keys[i])
        while keys[first] != least:
            first += 1
        best[u] = first
        parent[u] = targets[first]


@njit
def _find_min(
    starts: Any, ends: Any, share: int, shares: int, a: Any, b: Any, key: Any, best_key: Any, best_at: Any
) -> None:
    """Write for each tree its least edge among every ``shares``-th segment, and −1 where there is none."""
    best_at[:] = -1
    for segment in range(share, len(starts), shares):
        for i in range(starts[segment], ends[segment]):
            for tree in (a[i], b[i]):
                # Edges come by ascending id: the first of equal keys is the least.
                if best_at[tree] < 0 or key[i] < best_key[tree]:
                    best_key[tree] = key[i]
                    best_at[tree] = i


@njit
def _reduce_minima(best_key: Any, best_at: Any, a: Any, b: Any, start: int, stop: int, parent: Any) -> None:
    """Reduce the shares' minima into share 0, and write the tree at the other end of each tree's pick."""
    for tree in range(start, stop):
        at, least = best_at[0, tree], best_key[0, tree]
        for share in range(1, len(best_at)):
            other, key = best_at[share, tree], best_key[share, tree]
            if other >= 0 and (at < 0 or key < least or (key == least and other < at)):
                at, least = other, key
        best_at[0, tree] = at
        parent[tree] = tree if at < 0 else (b[at] if a[at] == tree else a[at])


@njit
def _remove_cycles(parent: Any, start: int, stop: int) -> None:
    """Make the smaller of two trees that picked each other a root."""
    for tree in range(start, stop):
        # Another thread may change parent[parent[tree]] meanwhile, but only where it is the smaller of its
        # pair; then this tree is the larger one and stays as it is.
        if tree < parent[tree] and parent[parent[tree]] == tree:
            parent[tree] = tree


@njit
def _shortcut(parent: Any, start: int, stop: int) -> bool:
    """Link each tree to its parent's parent; return whether any link changed."""
    changed = False
    for tree in range(start, stop):
        up = parent[tree]
        top = parent[up]
        if top != up:
            parent[tree] = top
            changed = True
    return changed


@njit
def _select(
    offsets: Any,
    targets: Any,
    keys: Any,
    label: Any,
    limit: Any,
    start: int,
    stop: int,
    a: Any,
    b: Any,
    key: Any,
    edge: Any,
) -> int:
    """Write the edges of rows [start, stop) up to ``limit`` between two trees; return where they end."""
    out: int = offsets[start]
    for u in range(start, stop):
        end = offsets[u + 1]
        i = end
        while i > offsets[u] and targets[i - 1] > u:
            i -= 1
        for at in range(i, end):
            if keys[at] <= limit and label[u] != label[targets[at]]:
                a[out] = label[u]
                b[out] = label[targets[at]]
                key[out] = keys[at]
                edge[out] = at
                out += 1
    return out


@njit
def _rename(a: Any, b: Any, key: Any, edge: Any, renamed: Any, start: int, end: int) -> int:
    """Rename the ends of the edges at [start, end) and close up those between two trees; return their end."""
    out = start
    for i in range(start, end):
        one, other = renamed[a[i]], renamed[b[i]]
        if one != other:
            a[out] = one
            b[out] = other
            key[out] = key[i]
            edge[out] = edge[i]
            out += 1
    return out
