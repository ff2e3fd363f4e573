"""Sequential Borůvka on lists of arcs: the four steps of the paper's algorithm 4, on one thread.

Each tree has a list of the arcs that leave it.  A round finds the lightest arc of every list, removes the cycles, which
are of two trees, merges trees, and adds every arc that still leaves a tree to the list of its new tree.  ``HostLists``
also has the three steps that the paper leaves to the CPU (``boruvka-scan --set others=cpu``).

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 4, algorithm 4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.base.clock import Clock, NullClock
from gpugraph.base.compiled import njit
from gpugraph.graph.canonical import canonical_ids, order_keys
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst.forest import Forest, forest_bytes
from gpugraph.problems.registry import add_algorithm

Allocate = Callable[[int, DTypeLike], NDArray[Any]]


class Lists(NamedTuple):
    """The arcs of all trees, list after list.

    Attributes:
        ends: (trees,) where each tree's list ends; it begins where the one before ends.
        other: (arcs,) the tree that an arc leads to.
        key, id: (arcs,) its order-preserving weight, and the id of its edge.
    """

    ends: NDArray[np.int64]
    other: NDArray[np.int32]
    key: NDArray[Any]
    id: NDArray[Any]

    @classmethod
    def like(cls, first: "Lists", allocate: Allocate = np.empty) -> "Lists":
        """Return room for lists as large as ``first``."""
        return cls(*(allocate(len(array), array.dtype) for array in first))


@njit
def find_min_edge(trees: int, lists: Any, best: Any) -> None:
    """Write the position of every tree's lightest arc, −1 where it has none."""
    ends, _, key, id_ = lists
    start = 0
    for t in range(trees):
        stop = ends[t]
        found = -1
        for arc in range(start, stop):
            if found < 0 or key[arc] < key[found] or (key[arc] == key[found] and id_[arc] < id_[found]):
                found = arc
        best[t] = found
        start = stop


@njit
def longest_cycle(trees: int, lists: Any, best: Any, seen: Any) -> int:
    """Return how many trees choose each other in a circle, at most; ``seen`` is room for a number of each tree."""
    _, other, _, _ = lists
    seen[:trees] = 0
    step = longest = 0
    for t in range(trees):
        first, at = step, t
        while best[at] >= 0 and seen[at] == 0:
            step += 1
            seen[at] = step
            at = other[best[at]]
        if seen[at] > first:
            longest = max(longest, step - seen[at] + 1)
    return longest


@njit
def remove_cycle(trees: int, lists: Any, best: Any, link: Any, forest: Any, size: int) -> int:
    """Link every tree to the one that its arc leads to, of two that chose each other only the larger.

    Adds the edges of those that are linked to the forest, and returns its new size.
    """
    _, other, _, id_ = lists
    for t in range(trees):
        link[t] = other[best[t]] if best[t] >= 0 else t
    for t in range(trees):
        if link[t] != t and link[link[t]] == t and t < link[t]:
            link[t] = t
        elif link[t] != t:
            forest[size] = id_[best[t]]
            size += 1
    return size


@njit
def merge_vertices(trees: int, best: Any, link: Any, renamed: Any) -> int:
    """Give every tree the number of its root, −1 to those that no arc leaves; return how many roots there are."""
    roots = 0
    for t in range(trees):
        if link[t] == t:
            renamed[t] = roots if best[t] >= 0 else -1
            roots += best[t] >= 0
    for t in range(trees):
        root = link[t]
        while link[root] != root:
            root = link[root]
        link[t] = root
        renamed[t] = renamed[root]
    return roots


@njit
def add_edges(trees: int, roots: int, lists: Any, renamed: Any, made: Any) -> int:
    """Write the lists of the new trees to ``made``, without arcs inside of one; return how many arcs are left."""
    ends, other, key, id_ = lists
    new_ends, new_other, new_key, new_id = made
    new_ends[:roots] = 0
    start = 0
    for t in range(trees):
        for arc in range(start, ends[t]):
            if renamed[other[arc]] != renamed[t]:
                new_ends[renamed[t]] += 1
        start = ends[t]
    left = 0
    for t in range(roots):  # where each list begins; placing its arcs moves that to where it ends
        count = new_ends[t]
        new_ends[t] = left
        left += count
    start = 0
    for t in range(trees):
        for arc in range(start, ends[t]):
            to = renamed[other[arc]]
            if to == renamed[t]:
                continue
            place = new_ends[renamed[t]]
            new_ends[renamed[t]] += 1
            new_other[place], new_key[place], new_id[place] = to, key[arc], id_[arc]
        start = ends[t]
    return left


class HostLists:
    """The lists of a run on the host, and the steps that look at them.

    Attributes:
        first: the lists of the graph's vertices, which stay as they are; two others take turns.
        best: (n,) position of each tree's lightest arc.
        forest: (n,) ids of the edges found, of which the first ``forest_edges`` are.
    """

    def __init__(self, first: Lists, allocate: Allocate = np.empty):
        self.first = first
        self._turns = [Lists.like(first, allocate) for _ in range(2)]
        n = len(first.ends)
        self.best, self.forest = np.empty(n, np.int64), np.empty(n, np.int64)
        self._link, self._renamed = np.empty(n, np.int32), np.empty(n, np.int32)
        self.start()

    def start(self) -> None:
        """Make every vertex a tree."""
        self.now, self.trees, self.arcs = self.first, len(self.first.ends), len(self.first.id)
        self.round, self.forest_edges = 0, 0

    def find_min_edge(self) -> None:
        """Find every tree's lightest arc."""
        find_min_edge(self.trees, self.now, self.best)

    def longest_cycle(self) -> int:
        """Return how many trees choose each other in a circle, at most."""
        return int(longest_cycle(self.trees, self.now, self.best, self._renamed))

    def merge(self, clock: Clock) -> None:
        """Do the other three steps of a round."""
        with clock.phase("remove_cycle"):
            forest = self.best, self._link, self.forest, self.forest_edges
            self.forest_edges = int(remove_cycle(self.trees, self.now, *forest))
        with clock.phase("merge_vertices"):
            roots = int(merge_vertices(self.trees, self.best, self._link, self._renamed))
        with clock.phase("add_edges"):
            made = self._turns[self.round % 2]
            self.arcs = int(add_edges(self.trees, roots, self.now, self._renamed, made))
            self.now, self.trees = made, roots
        self.round += 1
        clock.count("rounds")
        if self.round == 1:
            clock.count("trees_after_first_round", roots)


class State(HostLists):
    """The lists of a graph."""

    def __init__(self, view: GraphView, device: object):
        self.graph = graph = view.graph
        ids = canonical_ids(graph).astype(view.index_dtype, copy=False)
        arcs = graph.targets.astype(np.int32, copy=False), order_keys(graph.weights), ids
        super().__init__(Lists(np.array(graph.offsets[1:]), *arcs))


def run(state: State, clock: Clock) -> NDArray[np.int64]:
    """Return the (tree_edges,) ids of the forest's edges."""
    state.start()
    longest = 0
    while state.arcs:
        with clock.phase("find_min_edge"):
            state.find_min_edge()
        if clock.timing:
            longest = max(longest, state.longest_cycle())
        state.merge(clock)
    if clock.timing:
        clock.count("longest_cycle", longest)
    return state.forest[: state.forest_edges]


def compile_(view: GraphView, device: object) -> None:
    """Compile what runs, and what counts in a run whose phases are timed."""
    state = State(view.tiny(), device)
    run(state, NullClock())
    state.start()
    state.find_min_edge()
    state.longest_cycle()


add_algorithm(
    "mst",
    "boruvka-lists",
    devices=("cpu",),
    summary="sequential Borůvka of four steps, which builds the lists of arcs anew in each round",
    authors="Sun, Skadron",
    year=2013,
    section="4: minimum spanning tree, algorithm 4",
    prepare=State,
    run=run,
    finish=lambda state, edges: Forest.of(state.graph, edges.copy()),  # the next run writes to the same place
    compile=compile_,
    minimum_bytes=forest_bytes,
)
