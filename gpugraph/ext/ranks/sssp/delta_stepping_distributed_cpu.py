"""The host's part of delta-stepping over ranks: widths and bins of distances, in-arcs, and the steps on the CPU.

The steps of ``delta_stepping_distributed.py`` are compiled here; a rank is one process with one thread.  Distances are
held in their own type: of integers as uint64, of reals as they are, infinity being unreached.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.devices.base import Device
from gpugraph.ext.ranks.comm import Comm
from gpugraph.ext.ranks.part import GraphPart, sent_to_owners
from gpugraph.problems.sssp.arcs import FLOAT64, distance_dtype, unreached

LEAST_PENDING, OVERFLOWED, BY_BIN = range(3)
"""Places in what a rank reports; ``Report`` in the .cu file has them too, which the CPU does not read."""
NEAR_SHARE = 8
"""Of a device's vertices at least this part is near, if so many wait: a round costs as much as many relaxations."""
HORIZON_DEGREE, HORIZON_ARCS, FIRST_WIDTHS = 16, 2, 8
"""Arcs a vertex from which on a horizon pays, arcs a vertex that are shorter than its window, and the window in widths
of a bucket."""
MASS_SHARE = 4096
"""Once this part of all vertices is pending the horizon is set.  Before, vertices are few, and where the source has no
short arc nothing lies close to it."""
UNITS = 4096
"""Of a mean weight, in which distances of floats are counted."""
_SAMPLE = 1 << 15


@dataclass(frozen=True)
class Widths:
    """What the ranks have sampled of the weights.

    Attributes:
        delta: what lies so close to the nearest vertex is near in any case.
        window: the weight that about HORIZON_ARCS arcs of a vertex do not exceed, or infinity where no horizon pays.
        units: of distances of floats, a distance of 1 makes.
        share: the part of the vertices that is near at least; 0 where the width alone says what is.
    """

    delta: float
    window: float
    units: float
    share: int

    @classmethod
    def of(cls, part: GraphPart, delta: float, share: int) -> Widths:
        """Sample the weights, with the width of a bucket given, or 0, and a share for sparse graphs; a collective."""
        evenly = np.arange(0, part.own_arcs, max(1, part.arcs // _SAMPLE))
        own = part.arcs_at(evenly)[2].astype(np.float64)
        weights = np.sort(np.concatenate(part.comm.all_gather_object(own[np.isfinite(own)])))
        top = float(weights[-1]) if len(weights) else 0.0
        mean = top * float(np.mean(weights / top)) if top > 0 else 1.0  # the sum of large weights would overflow
        degree, window = part.arcs / max(part.vertices, 1), math.inf
        if degree >= HORIZON_DEGREE and top > 0:
            window = float(weights[int(HORIZON_ARCS / degree * (len(weights) - 1))])
            window = math.floor(window) + 1.0 if part.weight_dtype.kind != "f" else window
        if not 0 < window < top:
            window = math.inf
        chosen = window / FIRST_WIDTHS if window < math.inf else mean / 2
        if window < math.inf:
            share = NEAR_SHARE  # light arcs are few, and relaxing one again costs little on a CPU too
        return cls(min(max(delta or chosen, 1e-300), 1e300), window, min(UNITS / mean, 1e300), 0 if delta else share)


def value_of(word: Any, distance: np.dtype[Any]) -> float:
    """Return the distance, of a dtype, that the 64 bits of a word encode."""
    if distance.kind != "f":
        return float(word)
    return float(np.array([word], np.uint64).astype(f"u{distance.itemsize}").view(distance)[0])


def word_of(value: float, distance: np.dtype[Any], bits: int) -> int:
    """Return the word of so many bits for a distance of a dtype, the largest where that does not fit."""
    most: int = 2**bits - 1
    if distance.kind != "f":
        return int(min(value, most)) if value < most else most
    if value > float(np.finfo(distance).max):
        return most
    return int(np.array([value], distance).view(f"u{distance.itemsize}")[0])


def word_beyond(word: int, window: float, distance: np.dtype[Any], bits: int) -> int:
    """Return the word of a distance that lies a window beyond another; the largest where that does not fit."""
    most: int = 2**bits - 1
    if distance.kind != "f":
        return min(word + int(window), most)
    return word_of(float(distance.type(value_of(word, distance)) + distance.type(window)), distance, bits)


def mass_of(part: GraphPart) -> int:
    """Return how many vertices are pending when the horizon is set."""
    return max(1, part.vertices // MASS_SHARE)


def bin_of(beyond: int) -> int:
    """Return the bin of what lies so far beyond the base: eight to a doubling, as in delta_stepping/base.cuh."""
    if beyond < 8:
        return max(beyond, 0)
    exponent = beyond.bit_length() - 1
    return (exponent - 2) * 8 + (beyond >> (exponent - 3) & 7)


def bins_between(base: float, distance: float, widths: Widths, words: np.dtype[Any], bits: int) -> int:
    """Return how many bins from the base on begin before a distance, of those for words of a dtype and so many bits."""
    beyond = max(distance - base, 0.0) * (widths.units if words.kind == "f" else 1.0)
    most = 2**32 - 1 if words.kind == "f" else 2**bits - 1
    return min(bin_of(most if beyond >= most else int(beyond)), 8 * bits)


# ------------------------------------------------------------------ in-arcs
# In-arcs of a rank's vertices (1-D partition by destination), stored as CSR by source, light arcs first in each row.
#
# A part of a graph has the arcs that start at its own vertices.  In an undirected graph these are, reversed, the arcs
# to its vertices, and nothing is sent; in a directed graph every arc goes to the rank that owns its head.  On a device
# kernels do the first (``cuda_kernels/delta_stepping_distributed.cu``).


class InArcs(NamedTuple):
    """In-arcs by tail, on the host or a device.

    Attributes:
        offsets: (n + 1,) int64, by tails of the whole graph.
        light: (n,) uint32, how many arcs in front of each row are light: all that are shorter than the window.
        heads: (arcs,) int32, as the owner counts its vertices, from 0.
        weights: (arcs,), unsigned where they are integers.
    """

    offsets: Any
    light: Any
    heads: Any
    weights: Any

    def on(self, device: Device) -> InArcs:
        """Return the same on a device."""
        return InArcs(*(device.upload(array) for array in (self.offsets, self.light, self.heads, self.weights)))


def in_arcs_of(part: GraphPart, window: float) -> InArcs:
    """Return the in-arcs of a part's vertices, those shorter than the window being light; a collective."""
    weights = part.weights.view(f"u{part.weights.itemsize}") if part.weights.dtype.kind == "i" else part.weights
    own = np.repeat(np.arange(part.rows, dtype=np.int32), part.degrees)
    if part.directed:
        columns = own + np.int64(part.first), part.targets, weights
        tails, heads, weights = sent_to_owners(part.comm, part.cuts, part.targets, *columns)
        heads = (heads - part.first).astype(np.int32)
    else:
        tails, heads = part.targets, own
    offsets = np.zeros(part.vertices + 1, np.int64)
    np.cumsum(np.bincount(tails, minlength=part.vertices), out=offsets[1:])
    light = np.zeros(part.vertices, np.uint32)
    into = InArcs(offsets, light, np.empty(len(heads), np.int32), np.empty(len(heads), weights.dtype))
    _place((tails, heads, weights), float(window), into)
    return into


@njit
def _place(arcs: tuple[Any, ...], window: float, into: InArcs) -> None:
    """Put every arc into the row of its tail: light ones from its front on, others from its end."""
    (tails, heads, weights), (offsets, light, out, out_weights) = arcs, into
    left = offsets[1:].copy()
    for i in range(len(tails)):
        u = tails[i]
        if weights[i] <= window:  # an integer may have been rounded up to it
            at = offsets[u] + light[u]
            light[u] += np.uint32(1)
        else:
            left[u] -= 1
            at = left[u]
        out[at] = heads[i]
        out_weights[at] = weights[i]


# ------------------------------------------------------------------ steps

_BINS = 512
_MOST = 2.0**62
"""What lies farther beyond the base is in one bin."""


class HostSearch:
    """The vertices of a rank on its processor; arrays and meaning as in ``delta_stepping_distributed.cu``."""

    def __init__(self, part: GraphPart, widths: Widths, sums: str = FLOAT64):
        self.part, self.widths, self.bits = part, widths, 64
        self.comm: Comm = part.comm
        self.turned = in_arcs_of(part, widths.window)
        self.dtype = distance_dtype(part.weight_dtype, sums)
        self.units = widths.units if self.dtype.kind == "f" else 1.0
        self.unreached = unreached(self.dtype)
        self.distance, self.pending = np.empty(part.rows, self.dtype), np.empty(part.rows, np.bool_)
        self.control = np.zeros(1, np.int64)
        self.vertex, self.length = np.empty(0, np.int32), np.empty(0, self.dtype)

    def start(self, source: int, bits: int) -> None:
        """Forget all distances but the source's; 64 bits hold what 32 do."""
        self.distance[:], self.pending[:], self.control[:] = self.unreached, False, 0
        self.waits, self.light_from, self.horizon = self.widths.window < math.inf, None, self.unreached
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
            self.base = self._distance(nearest)
        return table

    @property
    def horizon_word(self) -> int:
        """The horizon as a word; the largest where there is none."""
        return self._bits(self.horizon)

    def set_horizon(self, nearest: int) -> None:
        """Leave sums alone from a window beyond the nearest vertex on."""
        word = word_beyond(nearest, self.widths.window, self.dtype, 8 * self.dtype.itemsize)
        self.waits = False
        if word != word_of(math.inf, self.dtype, 8 * self.dtype.itemsize):
            self.light_from, self.horizon = self._distance(nearest), self._distance(word)

    def _distance(self, word: Any) -> Any:
        return np.array([word], np.uint64).astype(f"u{self.dtype.itemsize}").view(self.dtype)[0]

    def _bits(self, distance: object) -> int:
        return int(np.array([distance], self.dtype).view(f"u{self.dtype.itemsize}")[0])

    def bins_to(self, distance: float) -> int:
        """Return how many bins begin before a distance."""
        return bins_between(float(self.surveyed), distance, self.widths, self.dtype, self.bits)

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
        light_from = self.unreached if self.light_from is None else self.light_from
        reach = light_from, self.horizon, self.unreached
        _relax(self.turned, (self.vertex, self.length), reach, (self.distance, self.pending), self.control)

    def cross(self) -> None:
        """Let no sum be left alone any more; a collective."""
        self.light_from, self.base, self.horizon = None, self.horizon, self.unreached
        if self.part.directed:
            self.pending[:], self.base = self.distance != self.unreached, self.dtype.type(0)
            return
        beyond = np.flatnonzero((self.distance >= self.base) & (self.part.degrees > 0))
        counts = [int(count) for count in self.comm.host.all_gather_object(len(beyond))]
        cuts = [0, *accumulate(counts)]
        mine = slice(cuts[self.comm.rank], cuts[self.comm.rank + 1])
        vertex, best = np.empty(cuts[-1], np.int32), np.full(cuts[-1], self.unreached)
        vertex[mine] = beyond + self.part.first
        self.comm.all_gather_v_in_place(vertex, cuts)
        _pull(self.turned, vertex, self.distance, (best, self.base, self.unreached), self.control)
        self.comm.all_reduce(best, "min")
        self.distance[beyond] = np.minimum(self.distance[beyond], best[mine])
        self.pending[beyond] = self.distance[beyond] != self.unreached

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
    (vertex, length), (light_from, horizon, none), (distance, pending) = entries, reach, lowered
    offsets, light, heads, weights = rows
    for i in range(len(vertex)):
        u, near = vertex[i], length[i]
        end = offsets[u + 1] if near < light_from or light_from == none else offsets[u] + light[u]
        for arc in range(offsets[u], end):
            v, total = heads[arc], near + weights[arc]
            if total < near or total == none:  # it wrapped, or is infinite
                if horizon == none and distance[v] == none:
                    control[0] = 1
            elif total < horizon and total < distance[v]:
                distance[v] = total
                pending[v] = True


@njit
def _pull(rows: InArcs, vertex: Any, distance: Any, offers: tuple[Any, ...], control: Any) -> None:
    (offsets, _, heads, weights), (best, horizon, none) = rows, offers
    for i in range(len(vertex)):
        u = vertex[i]
        for arc in range(offsets[u], offsets[u + 1]):
            near = distance[heads[arc]]
            if near >= horizon:
                continue
            total = near + weights[arc]
            if total < near or total == none:
                control[0] = 1
            elif total < best[i]:
                best[i] = total
