"""The steps of ``delta_stepping_distributed.py`` on the CPU, compiled; a rank is one process with one thread.

Distances are held in their own type: of integers as uint64, of reals as they are, infinity being unreached; a message
carries the bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.delta_stepping_distributed import (
    BY_OWNER,
    FAR_COUNT,
    NEXT_COUNT,
    OVERFLOWED,
    beyond,
)
from gpugraph.ranks.comm import Comm
from gpugraph.ranks.part import GraphPart

_NEAR, _FAR, _OUT = 1, 2, 4


class HostSearch:
    """The vertices of a rank on its processor; arrays and meaning as in ``delta_stepping_distributed.cu``."""

    def __init__(self, part: GraphPart, delta: float):
        self.part, self.delta = part, delta
        self.comm: Comm = part.comm
        n, rows = part.vertices, part.rows
        self.weights = part.weights
        if self.weights.dtype.kind == "i":
            self.weights = self.weights.view(f"u{self.weights.itemsize}")
        self.dtype = distance_dtype(self.weights.dtype)
        self.unreached = unreached(self.dtype)
        self.distance, self.marks = np.empty(n, self.dtype), np.empty(n, np.uint8)
        self.near, self.next, self.far = (np.empty(rows, part.targets.dtype) for _ in range(3))
        self.out, self.counts = np.empty(n, part.targets.dtype), np.zeros(BY_OWNER + part.comm.size, np.int64)
        self.bits = 64

    def start(self, source: int, bits: int) -> None:
        """Forget all distances but the source's; 64 bits hold what 32 do."""
        self.distance[:], self.marks[:], self.counts[:] = self.unreached, 0, 0
        self.limit = self.dtype.type(0)
        if 0 <= source - self.part.first < self.part.rows:
            self.distance[source] = 0
            self.far[0], self.counts[FAR_COUNT], self.marks[source] = source, 1, _FAR

    def relax(self) -> None:
        """Relax the arcs of the near vertices."""
        part, size = self.part, int(self.counts[NEXT_COUNT])
        self.near, self.next = self.next, self.near
        self.counts[NEXT_COUNT:] = 0
        _relax(
            self.near, size, part.first, part.offsets, part.targets, self.weights, self.limit, self.unreached,
            self.distance, self.marks, self.next, self.far, self.out, self.counts, part.cuts,
        )  # fmt: skip

    def all_counts(self) -> NDArray[np.int64]:
        """Return (P, …) the ``counts`` of every rank; a collective."""
        table = np.zeros((self.comm.size, len(self.counts)), np.int64)
        table[self.comm.rank] = self.counts
        self.comm.all_reduce(table.reshape(-1), "sum")
        return table

    def send(self, sent: list[int], received: list[int]) -> None:
        """Exchange offers, so many with each rank, and take what arrives."""
        size = sum(sent)
        vertex, word = np.empty(size, np.int32), np.empty(size, self.dtype)
        _pack(self.out, np.array(sent), self.distance, self.marks, self.part.cuts, vertex, word)
        vertex = self.comm.all_to_all_v(vertex, sent, received)
        word = self.comm.all_to_all_v(word, sent, received)
        _receive(vertex, word, self.part.first, self.limit, self.distance, self.marks, self.next, self.far, self.counts)

    def least(self) -> NDArray[Any]:
        """Return (1,): the bits of the least distance of a far vertex that is not settled, or the largest word."""
        least = _least(self.far, int(self.counts[FAR_COUNT]), self.distance, self.limit, self.unreached)
        word = np.full(1, np.iinfo(f"u{self.dtype.itemsize}").max, f"u{self.dtype.itemsize}")
        if least != self.unreached:
            word[0] = np.array([least], self.dtype).view(word.dtype)[0]
        return word

    def next_bucket(self, least: Any) -> None:
        """Let the vertices up to a bucket's width beyond ``least`` be near."""
        word = beyond(least, self.delta, self.weights.dtype)
        base, self.limit = self.limit, np.array([word]).view(self.dtype)[0]
        if np.isnan(self.limit):
            self.limit = self.unreached
        _split(self.far, self.distance, base, self.limit, self.marks, self.next, self.counts)

    def own_words(self) -> NDArray[Any]:
        """Return the (rows,) words of the vertices that are here."""
        first = self.part.first
        own = self.distance[first : first + self.part.rows]
        words = own.view(f"u{self.dtype.itemsize}").copy()
        words[own == self.unreached] = np.iinfo(words.dtype).max
        return words


@njit
def _owner(v: Any, cuts: Any) -> int:
    low, high = 0, len(cuts) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if cuts[middle] <= v:
            low = middle
        else:
            high = middle
    return low


@njit
def _enter(v: Any, length: Any, limit: Any, marks: Any, next_: Any, far: Any, counts: Any) -> None:
    """Put an own vertex whose distance has just become ``length`` on the list that it belongs to."""
    if length < limit:
        if marks[v] & _NEAR == 0:
            marks[v] |= _NEAR
            next_[counts[NEXT_COUNT]] = v
            counts[NEXT_COUNT] += 1
    elif marks[v] & _FAR == 0:
        marks[v] |= _FAR
        far[counts[FAR_COUNT]] = v
        counts[FAR_COUNT] += 1


@njit
def _relax(
    near: Any,
    size: int,
    first: int,
    offsets: Any,
    targets: Any,
    weights: Any,
    limit: Any,
    none: Any,
    distance: Any,
    marks: Any,
    next_: Any,
    far: Any,
    out: Any,
    counts: Any,
    cuts: Any,
) -> None:
    last = first + len(offsets) - 1
    for i in range(size):
        v = near[i]
        marks[v] &= ~_NEAR
        length = distance[v]
        for arc in range(offsets[v - first], offsets[v - first + 1]):
            total = length + weights[arc]
            if total < length or total == none:  # it wrapped, or is infinite
                counts[OVERFLOWED] = 1
                continue
            t = targets[arc]
            if total >= distance[t]:
                continue
            distance[t] = total
            if first <= t < last:
                _enter(t, total, limit, marks, next_, far, counts)
            elif marks[t] & _OUT == 0:
                marks[t] |= _OUT
                owner = _owner(t, cuts)
                out[cuts[owner] + counts[BY_OWNER + owner]] = t
                counts[BY_OWNER + owner] += 1


@njit
def _pack(out: Any, sent: Any, distance: Any, marks: Any, cuts: Any, vertex: Any, word: Any) -> None:
    at = 0
    for owner in range(len(sent)):
        for i in range(sent[owner]):
            v = out[cuts[owner] + i]
            vertex[at] = v - cuts[owner]
            word[at] = distance[v]
            marks[v] = 0
            at += 1


@njit
def _receive(
    vertex: Any, word: Any, first: int, limit: Any, distance: Any, marks: Any, next_: Any, far: Any, counts: Any
) -> None:
    for i in range(len(vertex)):
        v = first + vertex[i]
        if word[i] < distance[v]:
            distance[v] = word[i]
            _enter(v, word[i], limit, marks, next_, far, counts)


@njit
def _least(far: Any, size: int, distance: Any, base: Any, none: Any) -> Any:
    least = none
    for i in range(size):
        if base <= distance[far[i]] < least:
            least = distance[far[i]]
    return least


@njit
def _split(far: Any, distance: Any, base: Any, limit: Any, marks: Any, next_: Any, counts: Any) -> None:
    size, kept = counts[FAR_COUNT], 0
    counts[NEXT_COUNT] = 0
    for i in range(size):
        v = far[i]
        length = distance[v]
        marks[v] = 0
        if length >= limit:
            marks[v] = _FAR
            far[kept] = v
            kept += 1
        elif length >= base:
            marks[v] = _NEAR
            next_[counts[NEXT_COUNT]] = v
            counts[NEXT_COUNT] += 1
    counts[FAR_COUNT] = kept
