"""Graphs of specs made on the device that will search them, the same to the bit as ``graph/generate.py``'s.

The kernels are in ``cuda_kernels/generate.cu`` and ``generate_knn.cu``, the formulas and the launches in the
file of each family (``gpugraph/graph/families.py``).  No memory of the host's is taken, but for a few bytes a clique of
``ssca2``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device
from gpugraph.ext.device_graphs.device_build import Rows, bin_shift, negative_loop, renumbered_on_device, rows_on_device
from gpugraph.ext.device_graphs.launches import FILE, Launches
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.families import ORDERS, find_family
from gpugraph.graph.generate import is_directed, shuffle_base
from gpugraph.graph.spec import Spec


def _launches(spec: Spec, device: Device) -> Launches:
    """Return what draws the edges of a spec on a device."""
    launches = Launches(device, dict(spec.values), spec.seed, weight_rule(spec), spec.weights.dtype)
    launch = find_family(spec.family).launch
    assert launch is not None
    launch(launches)
    return launches


def weight_rule(spec: Spec) -> NDArray[np.uint64]:
    """Return the (11,) words of a spec's ``WeightRule``."""
    weights = spec.weights
    low, high = weights.low, weights.high
    whole = weights.whole
    kind = WEIGHT_DTYPES.index(weights.dtype), is_directed(spec), whole, weights.ends, low < 0
    span = (int(low) % 2**64, (int(high - low) + 1) % 2**64) if whole else (0, 0)
    reals = np.array([float(low), float(high), float(high) - float(low)]).view(np.uint64)
    return np.concatenate([np.array([spec.seed, *map(int, kind), *span], np.uint64), reals])


def generate_on_device(spec: Spec, device: Device, remake: Callable[[], CSRGraph]) -> CSRGraph:
    """Return the graph of a spec that ``can_generate``, made on a device, where it stays; OutOfMemory without room."""
    launches = _launches(spec, device)
    directed = is_directed(spec)
    most = launches.items * (1 if directed else 2) if launches.exact else None
    word = np.dtype(spec.weights.dtype).itemsize
    rows = rows_on_device(device, spec.vertices, most, not directed, launches.emit, word)
    weights = (launches.weigh or launches.hashes)(rows)
    if spec.order != ORDERS[0]:
        rows, weights = renumbered_on_device(device, rows, weights, _numbers_on_device(spec, device, launches))
    return CSRGraph.lying_on(
        DeviceRows(device, rows.offsets, rows.targets, weights, remake),
        directed=directed,
        name=spec.text,
        source=spec.text,
        negative_loop=negative_loop(rows.first_negative),
    )


def _numbers_on_device(spec: Spec, device: Device, launches: Launches) -> Array:
    """Return what ``_numbers`` does, (n,) int32 on a device, or raise OutOfMemory."""
    n, by_degree = spec.vertices, spec.order == "degree"
    bits, base = max(1, (n - 1).bit_length()), np.uint64(shuffle_base(spec))
    device.require(12 * n)
    keys, numbers = device.empty(n, np.uint64), device.empty(n, np.int32)
    if by_degree:
        device.fill(keys, 0)
        ends = np.int32(0), np.int32(True), np.int32(bits), np.int64(0), np.int64(n)  # both ends of every arc count
        launches.emit((keys, *ends, device.full(4, 0, np.uint64)))
    order = np.int64(n), np.int32(by_degree), base, np.int32(bits), keys
    FILE.launch(device, "order_keys", n, *order)
    device.sort(keys)
    FILE.launch(device, "numbers", n, *order, numbers)
    return numbers


_WINDOWS, _WINDOW = 256, 1 << 16
"""Items from which the arcs of every range of vertices are estimated; all of them where there are no more."""


@dataclass(frozen=True, eq=False)
class Piece:
    """The rows of some vertices of a spec's graph, on a device, with positions of 64 bits.

    ``cuts``, (pieces + 1,) int64, are the first vertex of every piece, and n.
    """

    cuts: NDArray[np.int64]
    rows: Rows
    weights: Array
    directed: bool


def generate_piece(spec: Spec, device: Device, piece: int, pieces: int) -> Piece:
    """Make one of so many pieces of a spec's graph, of about as many arcs and rows each; vertices as they are made.

    Every device draws all edges and keeps those whose tails are its own: drawing costs far less than sorting, or than
    sending what others have drawn.  The pieces are cut alike on all devices, for all look at the same sample.
    """
    launches = _launches(spec, device)
    directed, n = is_directed(spec), spec.vertices
    shift = bin_shift(n)
    bins, ignored = device.full(((n - 1) >> shift) + 1, 0, np.uint64), device.full(4, 0, np.uint64)
    head_bits = max(1, (n - 1).bit_length())
    sink = (bins, np.int32(shift), np.int32(not directed), np.int32(head_bits), np.int64(0), np.int64(n), ignored)
    items, sampled = launches.items, min(launches.items, _WINDOWS * _WINDOW)
    windows = [items * window // _WINDOWS for window in range(_WINDOWS)] if sampled < items else [0]
    for start in windows:
        launches.emit(sink, start, start + sampled // len(windows))
    counts = device.download(bins).astype(np.float64) * (items / max(sampled, 1))
    cuts = balanced_cuts(counts, 1 << shift, n, pieces)
    own = int(cuts[piece]), int(cuts[piece + 1])
    word = np.dtype(spec.weights.dtype).itemsize
    rows = rows_on_device(device, n, None, not directed, launches.emit, word, own=own, index=np.dtype(np.int64))
    return Piece(cuts, rows, (launches.weigh or launches.hashes)(rows), directed)


def balanced_cuts(counts: NDArray[Any], width: int, vertices: int, pieces: int) -> NDArray[np.int64]:
    """Return (pieces + 1,) cuts into about as many arcs and rows, at ends of buckets; arcs of each are given."""
    before = np.concatenate([[0.0], np.cumsum(counts + float(width))])
    marks = before[-1] * np.arange(1, pieces) / pieces
    cuts = np.minimum(np.searchsorted(before, marks) * width, vertices)
    return np.array([0, *cuts, vertices], np.int64)
