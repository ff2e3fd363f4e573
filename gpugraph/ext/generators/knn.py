"""Random points in the unit square, each joined to its k nearest; the weights are distances.

Point i lies at x = (hash64(hash64(seed) + 2i) >> 11) * 2^-53 and y likewise from 2i + 1, rounded to float32.  The
square is cut into C x C cells, C = ⌊sqrt(n / 2)⌋; vertices are the points in order of (cell, i), the cell of a point
being row min(C − 1, ⌊y * C⌋), column min(C − 1, ⌊x * C⌋) in float32.  Candidates of a point are those of the cells
within r = 2, 4, 8, … rows and columns of its own, until there are k of them or r > C; the k least by (squared
distance, vertex) are its neighbours, the squared distance being fma(dx, dx, dy * dy) in float32.  An edge weighs
1 + ⌊min(2 * 10^9, sqrt(dx² + dy²) * sqrt(n) * 10^6)⌋, in float64.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gpugraph.base.compiled import njit
from gpugraph.devices.base import Array
from gpugraph.devices.kernel_file import INDICES, KernelFile, index_types
from gpugraph.graph.chunks import Runner
from gpugraph.graph.counter_random import hash64
from gpugraph.graph.generators.family import Drawn, Family, Parameter, Values, edges
from gpugraph.graph.sort_arcs import row_starts

if TYPE_CHECKING:
    from gpugraph.ext.device_graphs.device_build import Rows
    from gpugraph.ext.device_graphs.launches import Launches

FILE = KernelFile("generate_knn.cu", INDICES)
_CHUNK = 1 << 14


@njit
def _cell_of(coordinate: Any, cells: int) -> Any:
    """Return the row or column of a float32 coordinate."""
    place = np.int64(coordinate * np.float32(cells))
    return place if place < cells else cells - 1


@njit
def _points(start: int, stop: int, cells: int, seed: Any, x: Any, y: Any, cell: Any) -> None:
    """Place the points of [start, stop) and find their cells."""
    base = hash64(seed)
    for i in range(start, stop):
        x[i] = np.float32((hash64(base + np.uint64(2 * i)) >> np.uint64(11)) * (1.0 / 9007199254740992.0))
        y[i] = np.float32((hash64(base + np.uint64(2 * i + 1)) >> np.uint64(11)) * (1.0 / 9007199254740992.0))
        cell[i] = _cell_of(y[i], cells) * cells + _cell_of(x[i], cells)


@njit
def _nearest(start: int, stop: int, begin: int, k: int, cells: int, starts: Any, x: Any, y: Any, heads: Any) -> None:
    """Write the k nearest of each of the vertices [start, stop); the array begins with those of ``begin``."""
    best, vertex = np.empty(k, np.float32), np.empty(k, np.int64)
    for i in range(start, stop):
        column, row = _cell_of(x[i], cells), _cell_of(y[i], cells)
        radius = 2
        while True:
            found = candidates = 0
            for line in range(max(0, row - radius), min(cells - 1, row + radius) + 1):
                first = starts[line * cells + max(0, column - radius)]
                last = starts[line * cells + min(cells - 1, column + radius) + 1]
                for j in range(first, last):
                    if j == i:
                        continue
                    candidates += 1
                    dx, dy = x[i] - x[j], y[i] - y[j]
                    # In float64 the product is exact: one rounding, as a fused multiply-add has.
                    distance = np.float32(np.float64(dx) * np.float64(dx) + np.float64(dy * dy))
                    if found == k and not (distance < best[k - 1] or (distance == best[k - 1] and j < vertex[k - 1])):
                        continue
                    at = found if found < k else k - 1
                    while at > 0 and (distance < best[at - 1] or (distance == best[at - 1] and j < vertex[at - 1])):
                        best[at], vertex[at] = best[at - 1], vertex[at - 1]
                        at -= 1
                    best[at], vertex[at] = distance, j
                    found = min(k, found + 1)
            if candidates >= k or radius > cells:
                break
            radius *= 2
        for j in range(k):
            heads[(i - begin) * k + j] = vertex[j]


@njit
def _distances(start: int, stop: int, begin: int, k: int, n: int, x: Any, y: Any, heads: Any, weights: Any) -> None:
    """Write the weights of the edges of [start, stop); the tail of edge e is begin + e // k."""
    scale = np.sqrt(np.float64(n))
    for e in range(start, stop):
        u, v = begin + e // k, heads[e]
        dx, dy = np.float64(x[u] - x[v]), np.float64(y[u] - y[v])
        weights[e] = 1 + np.int64(min(2.0e9, np.sqrt(dx * dx + dy * dy) * scale * 1e6))


def _shape(values: Values) -> tuple[int, int, int]:
    """Return the points, the neighbours of each, and the cells on a side."""
    n = values["n"]
    return n, min(values["k"], n - 1), max(1, int(np.sqrt(n / 2.0)))


def _arcs(values: Values, seed: int, run: Runner) -> Drawn:
    """Return the edges, those that two points have in common twice."""
    n, k, cells = _shape(values)
    x, y, cell = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.int64)
    run(lambda lo, hi: _points(lo, hi, cells, np.uint64(seed), x, y, cell), n, "placing points", whole=True)
    order = np.argsort(cell, kind="stable")
    starts = row_starts(cell, cells * cells)
    x, y = x[order], y[order]
    begin, end = run.range_of(n)
    tails = np.repeat(np.arange(begin, end, dtype=run.index), k)
    heads, weights = np.empty(len(tails), run.index), np.empty(len(tails), np.uint32)
    run(lambda lo, hi: _nearest(lo, hi, begin, k, cells, starts, x, y, heads), n, "finding neighbours", chunk=_CHUNK)
    run(lambda lo, hi: _distances(lo, hi, begin, k, n, x, y, heads, weights), len(tails), "measuring edges", whole=True)
    return tails, heads, weights


def _launch(on: Launches) -> None:
    device, (n, k, cells) = on.device, _shape(on.values)
    x, y, order = device.empty(n, np.float32), device.empty(n, np.float32), device.empty(n, np.uint64)
    starts = device.empty(cells * cells + 1, np.int32)
    device.require(8 * n * k)
    heads, best = device.empty(n * k, np.int32), device.empty(n * k, np.float32)
    size, lines = np.int64(n), np.int64(cells)

    FILE.launch(device, "points", n, size, lines, on.seed, order)
    device.sort(order)
    FILE.launch(device, "cells", cells * cells + 1, size, lines, order, starts)
    FILE.launch(device, "place", n, size, on.seed, order, x, y)
    FILE.launch(device, "nearest", n, size, np.int32(k), lines, starts, x, y, heads, best)
    on.add("edges", n * k, np.int32(k), heads, file=FILE)

    dtype = on.dtype  # not `on` itself, which holds this function: memory of the device would wait for a collector

    def weigh(rows: Rows) -> Array:
        weights = device.empty(rows.targets.size, dtype)
        kind = np.int32(weights.dtype.itemsize), np.int32(weights.dtype.kind == "f")
        args = size, rows.offsets, rows.targets, x, y, *kind, weights
        FILE.launch(device, "weights", 32 * n, *args, defines=index_types(rows.offsets.dtype))
        return weights

    on.weigh = weigh


FAMILIES = (
    Family(
        "knn",
        "random points in the unit square, each with its k nearest; weights are distances",
        "knn:n=65536,k=8",
        (Parameter("n", "points", required=True, low=2, high=2**31 - 1), Parameter("k", "neighbours", default=8)),
        lambda values: edges(values["n"], math.prod(_shape(values)[:2]), scratch_bytes=40 * values["n"]),
        _arcs,
        _launch,
        weighted=False,
    ),
)
