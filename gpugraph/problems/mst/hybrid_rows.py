"""The CPU's half of a hybrid find-min: the lightest outgoing arc of each of its rows, by all threads.

Its rows are the last ones of the graph.  What it needs to know, the tree of every vertex, comes from the device by
one copy each round; what it finds goes back in pieces, each while the next is worked on.

Source: A. Kolganov, "The implementation of a hybrid minimum spanning tree algorithm on CPU and GPU", 2015, section on
the hybrid implementation.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock, working_seconds
from gpugraph.compiled import njit, parallel_njit, prange, threads
from gpugraph.devices.base import Array, Device, Mark
from gpugraph.graph.canonical import lower_bound, weight_key, weight_words
from gpugraph.graph.chunks import balanced_ranges
from gpugraph.graph.view import GraphView

PIECES = 4
"""Parts of the CPU's rows, at most: one is on the bus while the next is worked on."""
PIECE_ARCS = 1 << 20
"""Arcs of a part, at least."""
RANGES_PER_THREAD = 4
"""Parts of a piece that threads take in turns."""
_NO_TREE = -1  # as in boruvka.cu; compiled code needs a number


class CpuRows:
    """The rows of the CPU, the buffers of what it finds, and their copies on the device.

    Args:
        view: the graph; its arrays on the host.
        device: where the results go.
        capacity: most rows the CPU can have.

    Attributes:
        first: the first of its rows; it has all from there on.
        count: (1,) uint32 on the device: how many rows there are.
        seconds: what the last find-min took, from the first look at the trees to the last row.
        all_seconds: what all of this run took.
        moved_bytes: what went over the bus in this run.
    """

    def __init__(self, view: GraphView, device: Device, capacity: int):
        self.view, self.device = view, device
        n, index = view.vertices, view.offsets.dtype
        key = np.uint32 if view.weights.dtype.itemsize == 4 else np.uint64
        self._words, self._sign, self._real = weight_words(view.weights)
        self._ordered = "sort-adjacency" in view.preparations
        self._identity = np.arange(n, dtype=np.int32)
        self._lower = np.array(view.offsets[:-1])
        self._tree = device.pinned(n, np.int32)
        self._host = [device.pinned(capacity, kind) for kind in (key, index, np.int32)]
        self._there = [device.empty(capacity, kind) for kind in (key, index, np.int32)]
        self._base = n - capacity
        self._vertex = device.upload(self._identity[self._base :])
        self.count = device.empty(1, np.uint32)
        self._copies = device.copy_stream()
        self._timeline: list[tuple[str, Mark, Mark]] = []
        self.first = n
        self.seconds, self.all_seconds, self.moved_bytes = 0.0, 0.0, 0

    def start(self, first: int) -> None:
        """Take the rows from ``first`` on; a run begins."""
        self.first = first
        if self._ordered:
            self._lower[first:] = self.view.offsets[first:-1]
        self.moved_bytes, self.all_seconds = 0, 0.0
        self._timeline.clear()

    @property
    def rows(self) -> int:
        """How many rows it has now."""
        return self.view.vertices - self.first

    def segments(self) -> tuple[Array, ...]:
        """Return vertex, key, id and other of its rows on the device: each row a segment of boruvka.cu."""
        return tuple(array[self.first - self._base :] for array in (self._vertex, *self._there))

    def fetch_trees(self, tree: Array) -> None:
        """Begin to copy the (n,) tree of every vertex to the host, behind what was launched so far."""
        self._copies.wait_for(self.device.mark())
        begun = self._copies.mark()
        self._copies.download(self._tree, tree)
        self._trees_here = self._copies.mark()
        self.moved_bytes += self._tree.nbytes
        self._timeline.append(("copy_trees_to_cpu", begun, self._trees_here))

    def find_min(self, round_: int) -> Mark:
        """Find the lightest outgoing edge of every row and send them to the device.

        Returns:
            The mark behind the last copy.
        """
        start = working_seconds()
        tree = self._identity
        if round_ > 0:
            self._trees_here.wait()
            tree = self._tree
        begun = self._copies.mark()
        begins, ends = (int(self.view.offsets[row]) for row in (self.first, self.view.vertices))
        pieces = max(1, min(PIECES, (ends - begins) // PIECE_ARCS))
        goals = [begins + (ends - begins) * i // pieces for i in range(1, pieces)]
        cuts = [max(self.first, row) for row in np.searchsorted(self.view.offsets, goals).tolist()]
        for first, last in pairwise([self.first, *cuts, self.view.vertices]):
            if first < last:
                self._search(tree, first, last, again=round_ > 0)
                self._send(first, last)
        self.seconds = working_seconds() - start
        end = self._copies.mark()
        self.all_seconds += self.seconds
        self._timeline.append(("copy_minima_to_gpu", begun, end))
        return end

    def tell_phases(self, clock: Clock) -> None:
        """Add what this side did in the run to the clock's phases; waits for the copies."""
        clock.add_seconds("cpu_find_min", self.all_seconds)
        for name, begun, ended in self._timeline:
            clock.add_seconds(name, ended.seconds_since(begun))

    def _search(self, tree: NDArray[np.int32], first: int, last: int, *, again: bool) -> None:
        """Search the rows [first, last) by all threads."""
        view = self.view
        arrays = (view.offsets, view.targets, self._words, self._sign, self._real)
        ids, has_ids = (view.offsets, False) if view.edge_ids is None else (view.edge_ids, True)
        how = (ids, has_ids, self._ordered, tree, self._base, again)
        same: tuple[Any, ...] = (*arrays, *how, self._lower, *self._host)
        ranges = balanced_ranges(view.offsets[first : last + 1], RANGES_PER_THREAD * threads())
        _find_min_everywhere(np.array([first, *(first + stop for _, stop in ranges)]), *same)

    def _send(self, first: int, last: int) -> None:
        """Begin to copy what was found for the rows [first, last)."""
        span = slice(first - self._base, last - self._base)
        for there, here in zip(self._there, self._host, strict=True):
            self._copies.upload(there[span], here[span])
            self.moved_bytes += here[span].nbytes

    def compile(self) -> None:
        """Bring the compiled code into being."""
        self._search(self._identity, 0, 0, again=False)


def bytes_on_device(view: GraphView, capacity: int) -> int:
    """Return what a ``CpuRows`` of that capacity allocates on the device."""
    return capacity * (8 + view.weights.dtype.itemsize + view.offsets.dtype.itemsize) + 4


@njit
def _find_min(
    start: int,
    stop: int,
    offsets: Any,
    targets: Any,
    words: Any,
    sign: Any,
    real: bool,
    ids: Any,
    has_ids: bool,
    ordered: bool,
    tree: Any,
    base: int,
    again: bool,
    lower: Any,
    key: Any,
    edge: Any,
    other: Any,
) -> None:
    """Write key, id and tree at the other end of the lightest outgoing arc of the rows [start, stop).

    Row u is written at u - base; ``other`` is -1 where there is none, which, ``again``, stays so.  Where rows are
    ``ordered`` by (weight, id) the first outgoing arc is the one, and ``lower`` keeps where it was: nothing before it
    will be outgoing again.
    """
    for u in range(start, stop):
        at = u - base
        if again and other[at] == _NO_TREE:
            continue
        own = tree[u]
        best = -1
        best_key = np.uint64(0)
        for arc in range(lower[u], offsets[u + 1]):
            if tree[targets[arc]] == own:
                continue
            if ordered:
                best = arc
                lower[u] = arc
                best_key = weight_key(words[arc], sign, real)
                break
            found = weight_key(words[arc], sign, real)
            if best < 0 or found < best_key or (found == best_key and has_ids and ids[arc] < ids[best]):
                best = arc
                best_key = found
        if best < 0:
            other[at] = _NO_TREE
            continue
        v = targets[best]
        other[at] = tree[v]
        key[at] = best_key
        if has_ids:
            edge[at] = ids[best]
        else:
            edge[at] = best if u < v else lower_bound(targets, offsets[v], offsets[v + 1], u)


@parallel_njit
def _find_min_everywhere(cuts: Any, *same: Any) -> None:
    """Call ``_find_min`` for the rows between each two neighbours of (ranges+1,) ``cuts``, on all threads.

    A loop inside of compiled code: handing out ranges from Python would take longer than a round.
    """
    for part in prange(len(cuts) - 1):
        _find_min(cuts[part], cuts[part + 1], *same)
