"""The steps of ``delta_stepping_distributed.py`` on the CPU, compiled; a rank is one process with one thread.

Distances are held in their own type: of integers as uint64, of reals as they are, infinity being unreached; an entry
carries the bits.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.distributed_bins import (
    BY_BIN,
    LEAST_PENDING,
    OVERFLOWED,
    Widths,
    bins_between,
)
from gpugraph.problems.sssp.in_arcs import InArcs, in_arcs_of
from gpugraph.ranks.comm import Comm
from gpugraph.ranks.part import GraphPart

_BINS = 512
_MOST = 2.0**62
"""What lies farther beyond the base is in one bin."""


class HostSearch:
    """The vertices of a rank on its processor; arrays and meaning as in ``delta_stepping_distributed.cu``."""

    def __init__(self, part: GraphPart, widths: Widths):
        self.part, self.widths, self.bits = part, widths, 64
        self.comm: Comm = part.comm
        self.turned = in_arcs_of(part, widths.horizon)
        self.dtype = distance_dtype(part.weight_dtype)
        self.units = widths.units if self.dtype.kind == "f" else 1.0
        self.unreached = unreached(self.dtype)
        self.distance, self.pending = np.empty(part.rows, self.dtype), np.empty(part.rows, np.bool_)
        self.control = np.zeros(1, np.int64)
        self.vertex, self.length = np.empty(0, np.int32), np.empty(0, self.dtype)

    def start(self, source: int, bits: int) -> None:
        """Forget all distances but the source's; 64 bits hold what 32 do."""
        self.distance[:], self.pending[:], self.control[:] = self.unreached, False, 0
        self.within = self.widths.horizon < math.inf
        self.horizon = self.dtype.type(self.widths.horizon) if self.within else self.unreached
        self.base = self.dtype.type(0)
        if 0 <= source - self.part.first < self.part.rows:
            self.distance[source - self.part.first] = 0
            self.pending[source - self.part.first] = True

    def survey(self) -> NDArray[np.uint64]:
        """Return (P, BY_BIN + bins) what every rank tells; a collective."""
        table = np.zeros((self.comm.size, BY_BIN + _BINS), np.uint64)
        own = table[self.comm.rank]
        least = _survey(self.distance, self.pending, (self.base, self.units), self.unreached, own[BY_BIN:])
        own[OVERFLOWED] = self.control[0]
        if least != self.unreached:
            own[LEAST_PENDING] = ~np.uint64(self._bits(least))
        self.comm.all_reduce(table.reshape(-1), "sum")
        self.surveyed, nearest = self.base, ~table[:, LEAST_PENDING].max()
        if nearest != np.iinfo(np.uint64).max:
            self.base = np.array([nearest], np.uint64).astype(f"u{self.dtype.itemsize}").view(self.dtype)[0]
        return table

    def _bits(self, distance: object) -> int:
        return int(np.array([distance], self.dtype).view(f"u{self.dtype.itemsize}")[0])

    def bins_to(self, distance: float) -> int:
        """Return how many bins begin before a distance."""
        return bins_between(float(self.surveyed), distance, self.widths, self.part.weight_dtype, self.bits)

    def gather(self, bins: int, counts: list[int]) -> None:
        """Put the pending vertices of the first bins into one list of all ranks, so many from each; a collective."""
        own, cuts = counts[self.comm.rank], [0, *accumulate(counts)]
        self.vertex, self.length = np.empty(cuts[-1], np.int32), np.empty(cuts[-1], self.dtype)
        mine = slice(cuts[self.comm.rank], cuts[self.comm.rank] + own)
        into = self.part.first, self.vertex[mine], self.length[mine]
        _collect(self.distance, self.pending, (self.surveyed, self.units), bins, into)
        self.comm.all_gather_v_in_place(self.vertex, cuts)
        self.comm.all_gather_v_in_place(self.length, cuts)

    def relax(self) -> None:
        """Relax the arcs from all vertices of the list to own ones."""
        reach = not self.within, self.horizon, self.unreached
        _relax(self.turned, (self.vertex, self.length), reach, (self.distance, self.pending), self.control)

    def cross(self) -> None:
        """Let no sum be left alone any more; a collective."""
        self.within, self.horizon = False, self.unreached
        if self.part.directed:
            self.pending[:], self.base = self.distance != self.unreached, self.dtype.type(0)
            return
        beyond = np.flatnonzero((self.distance == self.unreached) & (self.part.degrees > 0))
        counts = [int(count) for count in self.comm.host.all_gather_object(len(beyond))]
        cuts = [0, *accumulate(counts)]
        mine = slice(cuts[self.comm.rank], cuts[self.comm.rank + 1])
        vertex, best = np.empty(cuts[-1], np.int32), np.full(cuts[-1], self.unreached)
        vertex[mine] = beyond + self.part.first
        self.comm.all_gather_v_in_place(vertex, cuts)
        _pull(self.turned, vertex, self.distance, (best, self.unreached), self.control)
        self.comm.all_reduce(best, "min")
        self.distance[beyond] = best[mine]
        self.pending[beyond] = best[mine] != self.unreached

    def own_words(self) -> NDArray[Any]:
        """Return the (rows,) words of the vertices that are here."""
        words = self.distance.view(f"u{self.dtype.itemsize}").copy()
        words[self.distance == self.unreached] = np.iinfo(words.dtype).max
        return words


@njit
def _bin(distance: Any, base: Any, units: float) -> int:
    """Return the bin of a distance: eight to a doubling of what lies beyond the base, as in delta_stepping/base.cuh."""
    beyond = int(min((float(distance) - float(base)) * units, _MOST))
    if beyond < 8:
        return beyond
    exponent = 3
    while beyond >> (exponent + 1) > 0:
        exponent += 1
    return (exponent - 2) * 8 + (beyond >> (exponent - 3) & 7)


@njit
def _survey(distance: Any, pending: Any, window: tuple[Any, float], none: Any, bins: Any) -> Any:
    """Count the pending vertices by bin; return the least distance of one, or ``none``."""
    base, units = window
    least = none
    for v in range(len(distance)):
        if pending[v]:
            least = min(least, distance[v])
            bins[_bin(distance[v], base, units)] += np.uint64(1)
    return least


@njit
def _collect(distance: Any, pending: Any, window: tuple[Any, float], bins: int, into: tuple[Any, ...]) -> None:
    (base, units), (first, vertex, length) = window, into
    at = 0
    for v in range(len(distance)):
        if pending[v] and _bin(distance[v], base, units) < bins:
            pending[v] = False
            vertex[at], length[at] = first + v, distance[v]
            at += 1


@njit
def _relax(
    rows: InArcs, entries: tuple[Any, ...], reach: tuple[Any, ...], lowered: tuple[Any, ...], control: Any
) -> None:
    (vertex, length), (whole, horizon, none), (distance, pending) = entries, reach, lowered
    offsets, light, heads, weights = rows
    for i in range(len(vertex)):
        u, near = vertex[i], length[i]
        end = offsets[u + 1] if whole else offsets[u] + light[u]
        for arc in range(offsets[u], end):
            v, total = heads[arc], near + weights[arc]
            if total < near or total == none:  # it wrapped, or is infinite
                if whole and distance[v] == none:
                    control[0] = 1
            elif total < horizon and total < distance[v]:
                distance[v] = total
                pending[v] = True


@njit
def _pull(rows: InArcs, vertex: Any, distance: Any, offers: tuple[Any, ...], control: Any) -> None:
    (offsets, _, heads, weights), (best, none) = rows, offers
    for i in range(len(vertex)):
        u = vertex[i]
        for arc in range(offsets[u], offsets[u + 1]):
            near = distance[heads[arc]]
            if near == none:
                continue
            total = near + weights[arc]
            if total < near or total == none:
                control[0] = 1
            elif total < best[i]:
                best[i] = total
