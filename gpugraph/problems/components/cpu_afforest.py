"""Afforest on the CPU: two arcs of every row show the giant component, and only the rows outside of it are read.

1. start: every vertex hangs on its smallest neighbour, if that is smaller than itself.
2. sample: the tree of every vertex is joined with that of its second neighbour.
3. flatten: every vertex hangs on its root, and the most frequent root of a sample is the giant.
4. rest: every arc of the rows outside of the giant joins two trees; an arc that leaves the giant is found from there.
5. flatten once more: the root of a tree is its smallest vertex.

All steps run on all threads.  Trees are joined by compare-and-swap on the larger root; a vertex's ancestors only ever
change to other ancestors, so that a stale read is one too.

Source: Sutton, Ben-Nun and Barak 2018, Optimizing parallel graph connectivity computation via subgraph sampling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.compiled import compare_and_swap, load_now, njit, threads
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.view import GraphView
from gpugraph.problems.components.labels import Components
from gpugraph.problems.registry import cpu_algorithm

_SAMPLES = 1024
_RANGES_PER_THREAD = 8


@cpu_algorithm(
    "components",
    "afforest",
    summary="Afforest: join two arcs of every row, then the rows outside of the giant component",
    authors="M. Sutton, T. Ben-Nun, A. Barak",
    year=2018,
    section="Optimizing parallel graph connectivity computation via subgraph sampling",
)
def afforest(view: GraphView, clock: Clock) -> Components:
    """Return the components of the graph behind ``view``."""
    offsets, targets = view.offsets, view.targets
    parent = np.empty(view.vertices, targets.dtype)
    vertices = even_ranges(view.vertices, _RANGES_PER_THREAD * threads())
    with clock.phase("start"):
        in_threads(lambda start, stop: _start(offsets, targets, parent, start, stop), vertices)
    with clock.phase("sample"):
        in_threads(lambda start, stop: _join_second(offsets, targets, parent, start, stop), vertices)
    with clock.phase("flatten"):
        in_threads(lambda start, stop: _flatten(parent, start, stop), vertices)
        giant = _giant(parent)
    with clock.phase("rest"):
        rows = balanced_ranges(offsets, _RANGES_PER_THREAD * threads())
        in_threads(lambda start, stop: _join_rows(offsets, targets, parent, giant, start, stop), rows)
    with clock.phase("flatten"):
        in_threads(lambda start, stop: _flatten(parent, start, stop), vertices)
    return Components.of(view.graph, parent)


def _giant(parent: NDArray[Any]) -> int:
    """Return the most frequent root among vertices that lie evenly spread, or −1 where there are no vertices."""
    if len(parent) == 0:
        return -1
    roots, votes = np.unique(parent[np.linspace(0, len(parent) - 1, _SAMPLES).astype(np.int64)], return_counts=True)
    return int(roots[np.argmax(votes)])


@njit
def _start(offsets: Any, targets: Any, parent: Any, start: int, stop: int) -> None:
    for v in range(start, stop):
        parent[v] = v
        if offsets[v] < offsets[v + 1] and targets[offsets[v]] < v:
            parent[v] = targets[offsets[v]]


@njit
def _root(parent: Any, v: Any) -> Any:
    """Return the root of ``v``'s tree as it is now, halving the path to it."""
    above = load_now(parent, v)
    while above != v:
        higher = load_now(parent, above)
        if higher == above:
            return above
        parent[v] = higher
        v, above = above, higher
    return v


@njit
def _join(parent: Any, u: Any, v: Any) -> None:
    """Join the trees of two vertices: the larger root is hung on the smaller."""
    a, b = _root(parent, u), _root(parent, v)
    while a != b:
        high, low = max(a, b), min(a, b)
        if compare_and_swap(parent, high, high, low) == high:
            return
        a, b = _root(parent, high), _root(parent, low)


@njit
def _join_second(offsets: Any, targets: Any, parent: Any, start: int, stop: int) -> None:
    for v in range(start, stop):
        if offsets[v] + 1 < offsets[v + 1]:
            _join(parent, parent.dtype.type(v), targets[offsets[v] + 1])


@njit
def _join_rows(offsets: Any, targets: Any, parent: Any, giant: int, start: int, stop: int) -> None:
    for v in range(start, stop):
        if load_now(parent, v) != giant:
            for arc in range(offsets[v], offsets[v + 1]):
                _join(parent, parent.dtype.type(v), targets[arc])


@njit
def _flatten(parent: Any, start: int, stop: int) -> None:
    """Hang vertices on their roots, and nobody else: who halves the paths of others may undo what they have found."""
    for v in range(start, stop):
        above = load_now(parent, v)
        higher = load_now(parent, above)
        while higher != above:
            parent[v] = higher
            above, higher = higher, load_now(parent, higher)
