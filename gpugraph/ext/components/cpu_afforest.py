"""Afforest on the CPU: two arcs of every row show the giant component, and only the rows outside of it are read.

1. start: every vertex points to its smallest neighbour, if that is smaller than itself, or where that one points.
2. sample: the tree of every vertex is joined with that of its second neighbour.
3. flatten: every vertex points to its root, and the giant is the root that most ends of arcs have, if more than half.
4. rest: every arc of the rows outside of the giant joins two trees; an arc that leaves the giant is found from there.
   Without a giant, as where cliques are connected by few arcs, the arcs to smaller vertices are enough.
5. flatten once more: the root of a tree is its smallest vertex.

All steps run on a thread pool, each with a share of the vertices of its own, whose parents stay in its caches; who
is through with it helps the others.  Trees are joined by compare-and-swap on the larger root; a vertex's ancestors only
ever change to other ancestors, so that a stale read is one too.

Source: Sutton, Ben-Nun and Barak 2018, Optimizing parallel graph connectivity computation via subgraph sampling.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import NullClock
from gpugraph.base.compiled import inner_njit, plain_njit
from gpugraph.ext.components.labels import Components, label_bytes
from gpugraph.ext.tuned.thread_pool import (
    COUNTERS,
    STRIDE,
    add_phases,
    compare_and_swap,
    cycles,
    enter,
    fetch_add,
    join,
    leave,
    load_now,
    meet,
    prefetch,
    release,
    run_on_threads,
    share_of,
    thread_count,
)
from gpugraph.graph.digest import array_digest
from gpugraph.graph.view import GraphView
from gpugraph.problems.registry import add_algorithm

_SAMPLES = 1024
_ROWS = 512
"""Rows that a thread takes at a time."""
_AHEAD = 16
"""So many rows before it is read, the beginning of a row is asked for."""
_GIANT = COUNTERS
_PHASES = ("start", "sample", "flatten", "rest")


@dataclass(frozen=True, eq=False)
class State:
    """What a run needs: the graph, the (n,) parents of its vertices, and the cycles of each phase."""

    view: GraphView
    parent: NDArray[Any]
    spent: NDArray[np.int64]
    size: int


def prepare(view: GraphView, device: object, *, size: int | None = None) -> State:
    """Return the state of runs on a graph."""
    parent = np.empty(view.vertices, view.targets.dtype)
    return State(view, parent, np.zeros(len(_PHASES), np.int64), size or thread_count(view.vertices + view.arcs))


def run(state: State, clock: NullClock) -> NDArray[Any]:
    """Return (n,) the smallest vertex of each vertex's component; the next run overwrites it."""
    graph = state.view.graph
    start = time.perf_counter()
    taken = np.zeros(2 * state.size * STRIDE, np.int64)
    shared = graph.offsets, graph.targets, state.parent, taken, state.spent
    run_on_threads(_afforest, shared, size=state.size)
    add_phases(clock, _PHASES, state.spent, time.perf_counter() - start)
    return state.parent


ALGORITHM = add_algorithm(
    "components",
    "afforest",
    devices=("cpu",),
    summary="Afforest: join two arcs of every row, then the rows outside of the giant component",
    authors="M. Sutton, T. Ben-Nun, A. Barak",
    year=2018,
    section="Optimizing parallel graph connectivity computation via subgraph sampling",
    prepare=prepare,
    run=run,
    fetch=lambda state, handle: handle.copy(),
    finish=lambda state, raw: Components.of(state.view.graph, raw),
    digest=array_digest,
    compile=lambda view, device: run(prepare(view.tiny(), device), NullClock()),
    minimum_bytes=label_bytes,
    version=3,
)


@plain_njit
def _afforest(control: Any, rank: int, size: int, shared: tuple[Any, ...]) -> None:
    """Write the roots of all vertices into ``parent``."""
    offsets, targets, parent, taken, spent = shared
    enter(control)
    n = len(parent)
    first, last = share_of(n, rank, size)
    marks = cycles()
    for v in range(first, last):
        prefetch(targets, offsets[min(v + _AHEAD, n)])
        above = parent.dtype.type(v)
        if offsets[v] < offsets[v + 1] and targets[offsets[v]] < v:
            above = targets[offsets[v]]
            if above >= first:
                above = parent[above]
        parent[v] = above
    meet(control, size)
    if rank == 0:
        spent[0], marks = cycles() - marks, cycles()
    for turn in range(size):
        owner = (rank + turn) % size
        low, high = share_of(n, owner, size)
        while True:
            start = low + fetch_add(taken, owner * STRIDE, _ROWS)
            if start >= high:
                break
            for v in range(start, min(start + _ROWS, high)):
                prefetch(targets, offsets[min(v + _AHEAD, n)])
                if offsets[v] + 1 < offsets[v + 1]:
                    _join(parent, parent.dtype.type(v), targets[offsets[v] + 1])
    meet(control, size)
    if rank == 0:
        spent[1], marks = cycles() - marks, cycles()
    _flatten(parent, first, last)
    if join(control, size):
        control[_GIANT] = _giant(targets, parent)
        release(control)
    giant = control[_GIANT]
    if rank == 0:
        spent[2], marks = cycles() - marks, cycles()
    for turn in range(size):
        owner = (rank + turn) % size
        low, high = share_of(n, owner, size)
        while True:
            start = low + fetch_add(taken, (size + owner) * STRIDE, _ROWS)
            if start >= high:
                break
            for v in range(start, min(start + _ROWS, high)):
                above = load_now(parent, v)
                if above != giant:
                    for arc in range(offsets[v], offsets[v + 1]):
                        if giant < 0 and targets[arc] > v:  # read from its other end, which is no giant's either
                            break
                        if load_now(parent, targets[arc]) != above:  # mostly the two point to one vertex already
                            _link(parent, parent.dtype.type(v), targets[arc])
                            above = load_now(parent, v)
    meet(control, size)
    if rank == 0:
        spent[3], marks = cycles() - marks, cycles()
    _flatten(parent, first, last)
    meet(control, size)
    if rank == 0:
        spent[2] += cycles() - marks
    leave(control, size)


@inner_njit
def _giant(targets: Any, parent: Any) -> int:
    """Return the root that more than half of the heads of some arcs have that lie evenly spread, -1 if none has.

    Source: Boyer and Moore 1991, MJRTY, a fast majority vote algorithm.
    """
    giant, votes = -1, 0
    step = max(1, len(targets) // _SAMPLES)
    for arc in range(0, len(targets), step):
        if votes == 0:
            giant = parent[targets[arc]]
        votes += 1 if parent[targets[arc]] == giant else -1
    votes = 0
    for arc in range(0, len(targets), step):
        votes += 1 if parent[targets[arc]] == giant else -1
    return giant if votes > 0 else -1


@plain_njit
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


@plain_njit
def _join(parent: Any, u: Any, v: Any) -> None:
    """Join the trees of two vertices, the larger root below the smaller, and bring ``u`` nearer to its root."""
    a, b = load_now(parent, u), load_now(parent, v)
    if a == b:
        above = load_now(parent, a)
        if above != a:
            parent[u] = above
        return
    while a != b:
        high, low = max(a, b), min(a, b)
        above = load_now(parent, high)
        if above == low:
            if a == high:
                parent[u] = low
            return
        if above == high and load_now(parent, low) == low and compare_and_swap(parent, high, high, low) == high:
            return
        a, b = _root(parent, u), _root(parent, v)


@inner_njit
def _link(parent: Any, u: Any, v: Any) -> None:
    """Join the trees of two vertices that are nearly flat, without a write but that one: others would have to read it.

    Source: Sutton, Ben-Nun and Barak 2018, section IV.
    """
    a, b = load_now(parent, u), load_now(parent, v)
    while a != b:
        high, low = max(a, b), min(a, b)
        above = load_now(parent, high)
        if above == low or (above == high and compare_and_swap(parent, high, high, low) == high):
            return
        a, b = load_now(parent, above), load_now(parent, low)


@plain_njit
def _flatten(parent: Any, start: int, stop: int) -> None:
    """Let vertices point to their roots, and change no other: halving others' paths may undo what they have found."""
    for v in range(start, stop):
        above = load_now(parent, v)
        higher = load_now(parent, above)
        while higher != above:
            parent[v] = higher
            above, higher = higher, load_now(parent, higher)
