"""A graph's edges for streaming: each once, the lightest first, in pinned memory, and their way to the device.

An edge lies at its smaller end, so that half of the arcs stay behind.  Inside a part edges keep the canonical order;
parts are cut by (weight, smaller end), so that equal weights are split too.

Chunks go to the device through some buffers in turns, always as many copies ahead as there are buffers, on a stream of
their own.  A buffer is written only when the kernels that read it have ended, and read only when its copy has: both are
enforced by the streams, and the host goes on.

Source: V. Osipov, P. Sanders, J. Singler, "The filter-Kruskal minimum spanning tree algorithm", ALENEX 2009.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.compiled import njit
from gpugraph.devices.base import Array, Device
from gpugraph.ext.papers.copies import Mark, add_beside, copy_stream, hold_launches, launched
from gpugraph.graph.canonical import weight_key, weight_keys, weight_words
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst.forest import edge_ids

_SAMPLES = 1 << 16
_MOST = 2**64 - 1  # the greatest key of 64 bits, too: an edge equal to the limit is told by its row
_NEARER = 0.99


@dataclass(eq=False)
class Part:
    """Some of the edges, in rows.

    Attributes:
        name: ``"light"``, ``"middle"`` or ``"heavy"``.
        rows: (n+1,) first edge of each vertex.
        heads: (edges,) int32, the larger end; pinned.
        weights: (edges,) pinned.
        numbers: the number of the first edge among the edges of all parts.
        resident: how many edges, the first ones, stay on the device.
        there: on the device: rows, and heads and weights of the resident edges.
    """

    name: str
    rows: NDArray[Any]
    heads: NDArray[np.int32]
    weights: NDArray[Any]
    numbers: int
    resident: int = 0
    there: tuple[Array, ...] = field(default=())

    @property
    def edges(self) -> int:
        """Number of edges."""
        return len(self.heads)


NAMES = ("light", "middle", "heavy")


def split_edges(view: GraphView, device: Device, most: tuple[int, int], index: np.dtype[Any]) -> list[Part]:
    """Return the parts of a graph's edges, the lightest first, in pinned memory; a part without edges is left out.

    ``most`` is how many edges the light part has at most, and the light and middle ones together: about so many are.
    Rows are sorted by target; ``index`` is the dtype of an edge's number.
    """
    n, arcs = view.vertices, (view.offsets, view.targets, *weight_words(view.weights))
    ranges = balanced_ranges(view.offsets)
    rows = np.zeros((len(NAMES), n + 1), index)
    limits, takes = np.full(len(NAMES), _MOST, np.uint64), np.full(len(NAMES), n, np.int64)
    before: NDArray[Any] = np.zeros(n, index)
    for i in range(len(NAMES)):
        up_to = view.arcs // 2 if i == len(NAMES) - 1 else most[i]
        limits[i], takes[i], counts = _cut(view, arcs, ranges, up_to, index)
        np.cumsum(counts - before, out=rows[i, 1:])
        before = counts
    starts = np.concatenate(([0], np.cumsum(rows[:, -1], dtype=np.int64)))
    heads = device.pinned(int(starts[-1]), view.targets.dtype)
    weights = device.pinned(int(starts[-1]), view.weights.dtype)
    in_threads(partial(_write, arcs, (limits, takes, rows, starts), (view.weights, heads, weights)), ranges)
    spans = zip(NAMES, rows, pairwise(starts.tolist()), strict=True)
    return [Part(name, row, heads[lo:hi], weights[lo:hi], lo) for name, row, (lo, hi) in spans if lo < hi]


def _cut(
    view: GraphView, arcs: tuple[Any, ...], ranges: list[tuple[int, int]], most: int, index: np.dtype[Any]
) -> tuple[np.uint64, int, NDArray[Any]]:
    """Return limit and takes so that at most ``most`` edges, and about so many, lie before; and (n,) how many of a row.

    An edge lies before the cut if its key is below the limit, or equal and its row before ``takes``.
    """
    n, edges = view.vertices, view.arcs // 2
    share = most / max(edges, 1)
    less, equal = np.zeros(n, index), np.zeros(n, index)
    while True:
        limit = _limit(view, share)
        in_threads(partial(_count, arcs, limit, (less, equal)), ranges)
        below = int(less.sum())
        if below <= most:
            break
        share *= min(most / below, _NEARER)  # a sample is not exact
    ends = below + np.cumsum(equal, dtype=np.int64)
    takes = int(np.searchsorted(ends, most, side="right"))
    less[:takes] += equal[:takes]
    return limit, takes, less


def canonical_edges(view: GraphView, parts: list[Part], numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return the canonical ids of edges given by their number among the edges of all parts."""
    tails, heads = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
    for part in parts:
        mine = (numbers >= part.numbers) & (numbers < part.numbers + part.edges)
        at = numbers[mine] - part.numbers
        tails[mine] = np.searchsorted(part.rows, at, side="right") - 1
        heads[mine] = part.heads[at]
    return edge_ids(view.graph, tails, heads)


def _limit(view: GraphView, share: float) -> np.uint64:
    """Return the key that about this share of the edges is below, by a sample."""
    if share >= 1 or not view.arcs:
        return np.uint64(_MOST)
    sample = view.weights[np.random.default_rng(1).integers(0, view.arcs, min(view.arcs, _SAMPLES))]
    words, sign, real = weight_words(sample)
    keys = np.sort(weight_keys(words, sign, real))
    at = int(share * len(keys))
    return np.uint64(keys[at] if at else 0)  # the least of a sample need not be the least there is


@njit
def _count(arcs: tuple[Any, ...], limit: Any, counts: tuple[Any, ...], start: int, stop: int) -> None:
    """Count the edges of the rows [start, stop) below the limit, and those equal to it."""
    (offsets, targets, words, sign, real), (less, equal) = arcs, counts
    for u in range(start, stop):
        below = same = 0
        arc = offsets[u + 1]
        while arc > offsets[u] and targets[arc - 1] > u:
            arc -= 1
            key = weight_key(words[arc], sign, real)
            below += key < limit
            same += key == limit
        less[u] = below
        equal[u] = same


@njit
def _write(arcs: tuple[Any, ...], parts: tuple[Any, ...], out: tuple[Any, ...], start: int, stop: int) -> None:
    """Write the edges of the rows [start, stop) to their parts."""
    (offsets, targets, words, sign, real), (limits, takes, rows, starts) = arcs, parts
    weights, heads, weights_out = out
    at = np.empty(len(limits), np.int64)
    for u in range(start, stop):
        for part in range(len(limits)):
            at[part] = starts[part] + rows[part, u]
        first = offsets[u + 1]
        while first > offsets[u] and targets[first - 1] > u:
            first -= 1
        for arc in range(first, offsets[u + 1]):
            key = weight_key(words[arc], sign, real)
            part = 0
            while key > limits[part] or (key == limits[part] and u >= takes[part]):
                part += 1
            heads[at[part]] = targets[arc]
            weights_out[at[part]] = weights[arc]
            at[part] += 1


BUFFERS = 3
"""One is read by the kernels, one is being copied, and one is ready, so that neither side waits for a late other."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive edges of a part."""

    part: Part
    first: int
    count: int


class Feed:
    """Brings chunks to the device in the order in which they are expected, ``bytes`` of them since ``start``."""

    def __init__(self, device: Device, chunk: int, weight: np.dtype[Any]):
        self._device, self.chunk = device, chunk
        buffers = [(device.empty(chunk, np.int32), device.empty(chunk, weight)) for _ in range(BUFFERS if chunk else 0)]
        self._idle: deque[tuple[tuple[Array, Array], Mark | None]] = deque((buffer, None) for buffer in buffers)
        self._expected: deque[Chunk] = deque()
        self._coming: deque[tuple[Chunk, tuple[Array, Array], Mark]] = deque()
        self._copies = copy_stream(device)
        self._timeline: list[tuple[Mark, Mark]] = []
        self.bytes = 0

    def start(self) -> None:
        """Count from here on; what waits for the device comes after what it was given so far."""
        self.bytes = 0
        self._timeline.clear()
        self._copies.wait_for(launched(self._device))

    def chunks(self, part: Part) -> list[Chunk]:
        """Return the chunks of what is not resident of a part."""
        firsts = range(part.resident, part.edges, self.chunk) if self.chunk else ()
        return [Chunk(part, first, min(self.chunk, part.edges - first)) for first in firsts]

    def expect(self, chunks: Iterable[Chunk]) -> None:
        """Bring these after those expected already."""
        self._expected.extend(chunks)
        self._copy_ahead()

    def again(self, part: Part) -> None:
        """Bring a part once more, before what is expected; what is already coming is brought again after it."""
        dropped = [chunk for chunk, _, _ in self._coming]
        self._idle.extend((buffer, None) for _, buffer, _ in self._coming)  # the next copy comes after the last one
        self._coming.clear()
        self._expected = deque([*self.chunks(part), *dropped, *self._expected])
        self._copy_ahead()

    def take(self, part: Part) -> Iterator[tuple[Chunk, Array, Array]]:
        """Yield the chunks of ``part`` that come next, with heads and weights on the device.

        What is launched before the next one is asked for may read them.
        """
        while self._coming and self._coming[0][0].part is part:
            chunk, buffer, ready = self._coming.popleft()
            hold_launches(self._device, ready)
            yield chunk, *buffer
            self._idle.append((buffer, launched(self._device)))
            self._copy_ahead()

    def _copy_ahead(self) -> None:
        """Begin as many copies as there are buffers."""
        while self._idle and self._expected:
            buffer, read = self._idle.popleft()
            chunk = self._expected.popleft()
            if read is not None:
                self._copies.wait_for(read)
            begun = self._copies.mark()
            span = slice(chunk.first, chunk.first + chunk.count)
            for target, source in zip(buffer, (chunk.part.heads[span], chunk.part.weights[span]), strict=True):
                self._copies.upload(target[: chunk.count], source)
                self.bytes += source.nbytes
            ready = self._copies.mark()
            self._coming.append((chunk, buffer, ready))
            self._timeline.append((begun, ready))

    def tell_phases(self, clock: Clock) -> None:
        """Add the time of the copies to the clock's phases; they ran beside all others."""
        add_beside(clock, "copies", sum(ready.seconds_since(begun) for begun, ready in self._timeline))
