"""Generating the graph of a spec: the same one, bit for bit, with any number of threads, on the host or a device.

Weights that a family does not draw itself are a hash of the edge alone, so that both arcs and every repeat of an edge
weigh the same.  With h = hash64(hash64(seed + 99) ^ (((u << 32) | (u >> 32)) ^ v)), u < v the endpoints of an
undirected edge and u → v a directed arc, the weight is

    LO + high_product(h, HI − LO + 1)                whole numbers, then converted to the dtype
    HI where h >> 63 is 1, else LO                   one of the two
    LO + (HI − LO) * ((h >> 11) * 2^-53)             reals, each operation rounded to float64, then to the dtype
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import OutOfMemory
from gpugraph.base.host import require_memory
from gpugraph.devices.base import Array, Device
from gpugraph.ext.device_graphs.device_build import (
    MOST_ITEMS,
    Rows,
    bin_shift,
    negative_loop,
    renumbered_on_device,
    rows_on_device,
)
from gpugraph.ext.device_graphs.device_rows import DeviceRows
from gpugraph.graph.build import ArcList, build, notes_of
from gpugraph.graph.chunks import Progress, Runner
from gpugraph.graph.counter_random import hash64, hash64_of, high_product
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph, target_dtype
from gpugraph.graph.families import FAMILIES, ORDERS
from gpugraph.graph.generators.family import FILE, Launches
from gpugraph.graph.spec import Spec, WeightRange, parse_spec

_BUILD_STARTS = 0.6
"""The fraction of the whole at which the arcs are drawn and the rows begin to be built."""


def generate(spec: Spec | str, progress: Progress | None = None, device: Device | None = None) -> CSRGraph:
    """Return the graph of a spec, made on a device, where it stays, if one is given and can, else by the host.

    ``progress`` is called with the fraction done, in 0..1, and what is being done, a few times a second at most.

    Raises:
        InputError: not a spec, or a graph that does not fit in memory (before anything is allocated).
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if device is not None and can_generate(parsed):
        with suppress(OutOfMemory):
            return generate_on_device(parsed, device, lambda: generate(parsed))
    require_memory(parsed.estimate_bytes(), parsed.text)
    arcs = draw_arcs(parsed, progress)
    run = Runner(target_dtype(parsed.vertices), progress, (_BUILD_STARTS, 1.0))
    graph = build(
        arcs, name=parsed.text, source=parsed.text, report=lambda fraction: run.report(fraction, "building rows")
    )
    if progress is not None:
        progress(1.0, "built")
    return graph


def draw_arcs(spec: Spec, progress: Progress | None = None, part: tuple[int, int] = (0, 1)) -> ArcList:
    """Return the arcs of a spec, loops and repeats among them: all, or with (i, k) the i-th of k parts of them."""
    directed = _is_directed(spec)
    index = target_dtype(spec.vertices)
    run = Runner(index, progress, (0.0, 0.45), part)
    tails, heads, weights = FAMILIES[spec.family].arcs(dict(spec.values), spec.seed, run)
    if weights is None:
        run = Runner(index, progress, (0.45, _BUILD_STARTS))
        weights = hashed_weights(tails, heads, spec.weights, directed, spec.seed, run)
    weights = weights.astype(spec.weights.dtype, copy=False)
    if spec.order != ORDERS[0]:
        number = _numbers(spec, tails, heads, part).astype(index)
        tails, heads = number[tails], number[heads]
    return ArcList(tails, heads, weights, spec.vertices, directed=directed, one_sided=not directed)


def _numbers(spec: Spec, tails: NDArray[Any], heads: NDArray[Any], part: tuple[int, int]) -> NDArray[np.int64]:
    """Return the (n,) number that every vertex takes in the order of a spec; repeats count as degrees, loops do not."""
    n = spec.vertices
    if spec.order == "shuffled":
        keys = hash64_of(np.arange(n, dtype=np.uint64) + np.uint64(_shuffle_base(spec)))
    else:
        if part != (0, 1):
            whole = draw_arcs(replace(spec, order=ORDERS[0]))
            tails, heads = whole.tails, whole.heads
        joins = tails != heads
        keys = -(np.bincount(tails[joins], minlength=n) + np.bincount(heads[joins], minlength=n))
    number = np.empty(n, np.int64)
    number[np.argsort(keys, kind="stable")] = np.arange(n)
    return number


def _shuffle_base(spec: Spec) -> int:
    """Return the number of which the hash puts vertex 0 in its place where vertices are shuffled."""
    return int(hash64_of(spec.seed + 77))


_BLOCK = 1 << 16


@njit
def _hashes(tails: Any, heads: Any, start: int, stop: int, directed: bool, seed: Any, out: Any) -> None:
    """Write h of the edges of [start, stop) to ``out``."""
    base = hash64(seed + np.uint64(99))
    half = np.uint64(32)
    for i in range(start, stop):
        u, v = np.uint64(tails[i]), np.uint64(heads[i])
        if not directed and u > v:
            u, v = v, u
        out[i - start] = hash64(base ^ (((u << half) | (u >> half)) ^ v))


@njit
def _scale_whole(values: Any, low: Any, span: Any) -> None:
    """Turn hashes into whole numbers in place, as 64-bit two's complement; a span of 0 means 2^64."""
    for i in range(len(values)):
        values[i] = low + (high_product(values[i], span) if span else values[i])


def hashed_weights(
    tails: NDArray[Any], heads: NDArray[Any], weights: WeightRange, directed: bool, seed: int, run: Runner
) -> NDArray[Any]:
    """Return the (k,) hashed weights of edges."""
    out = np.empty(len(tails), weights.dtype)
    if weights.whole and weights.low == weights.high:
        out.fill(int(weights.low))
        return out
    low, high = weights.low, weights.high

    def fill(start: int, stop: int) -> None:
        buffer = np.empty(_BLOCK, np.uint64)
        for at in range(start, stop, _BLOCK):
            end = min(at + _BLOCK, stop)
            values = buffer[: end - at]
            _hashes(tails, heads, at, end, directed, np.uint64(seed), values)
            if weights.ends:
                two = np.array([int(low), int(high)] if weights.whole else [float(low), float(high)], weights.dtype)
                out[at:end] = two[(values >> np.uint64(63)).astype(np.int64)]
            elif weights.whole:
                _scale_whole(values, np.uint64(int(low) % 2**64), np.uint64((int(high - low) + 1) % 2**64))
                # Read as signed where there are negative ones, so that reals are converted right.
                out[at:end] = values.view(np.int64) if low < 0 else values
            else:
                values >>= np.uint64(11)
                out[at:end] = float(low) + (float(high) - float(low)) * (values * 2.0**-53)

    run(fill, len(tails), "weighing edges", whole=True)
    return out


# ------------------------------------------------------------------ on a device
# The same graph, made where it will be searched.
# The kernels are in ``cuda_kernels/generate.cu`` and ``generate_knn.cu``, the formulas and the launches in
# ``generators/``. No memory of the host's is taken, but for a few bytes a clique of ``ssca2``.


def _launches(spec: Spec, device: Device) -> Launches:
    """Return what draws the edges of a spec on a device."""
    launches = Launches(device, dict(spec.values), spec.seed, weight_rule(spec), spec.weights.dtype)
    launch = FAMILIES[spec.family].launch
    assert launch is not None
    launch(launches)
    return launches


def _is_directed(spec: Spec) -> bool:
    return bool(FAMILIES[spec.family].directed and dict(spec.values).get("directed", True))


def weight_rule(spec: Spec) -> NDArray[np.uint64]:
    """Return the (11,) words of a spec's ``WeightRule``."""
    weights = spec.weights
    low, high = weights.low, weights.high
    whole = weights.whole
    kind = WEIGHT_DTYPES.index(weights.dtype), _is_directed(spec), whole, weights.ends, low < 0
    span = (int(low) % 2**64, (int(high - low) + 1) % 2**64) if whole else (0, 0)
    reals = np.array([float(low), float(high), float(high) - float(low)]).view(np.uint64)
    return np.concatenate([np.array([spec.seed, *map(int, kind), *span], np.uint64), reals])


def can_generate(spec: Spec) -> bool:
    """Tell whether a device can make the graph of a spec, if it has the memory."""
    if FAMILIES[spec.family].launch is None:
        return False
    numbered = spec.size.samples <= MOST_ITEMS or spec.weights.low >= 0  # only loops of negative weight ask for it
    return 0 < spec.vertices < 2**31 and numbered


def generate_on_device(spec: Spec, device: Device, remake: Callable[[], CSRGraph]) -> CSRGraph:
    """Return the graph of a spec that ``can_generate``, made on a device, where it stays; OutOfMemory without room."""
    launches = _launches(spec, device)
    directed = _is_directed(spec)
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
        notes=tuple(notes_of(rows.loops, rows.negative, rows.merged, not directed)),
        negative_loop=negative_loop(rows.first_negative),
    )


def _numbers_on_device(spec: Spec, device: Device, launches: Launches) -> Array:
    """Return what ``_numbers`` does, (n,) int32 on a device, or raise OutOfMemory."""
    n, by_degree = spec.vertices, spec.order == "degree"
    bits, base = max(1, (n - 1).bit_length()), np.uint64(_shuffle_base(spec))
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
    directed, n = _is_directed(spec), spec.vertices
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
    rows = rows_on_device(device, n, None, not directed, launches.emit, word, own=own, index_bits=64)
    return Piece(cuts, rows, (launches.weigh or launches.hashes)(rows), directed)


def balanced_cuts(counts: NDArray[Any], width: int, vertices: int, pieces: int) -> NDArray[np.int64]:
    """Return (pieces + 1,) cuts into about as many arcs and rows, at ends of buckets; arcs of each are given."""
    before = np.concatenate([[0.0], np.cumsum(counts + float(width))])
    marks = before[-1] * np.arange(1, pieces) / pieces
    cuts = np.minimum(np.searchsorted(before, marks) * width, vertices)
    return np.array([0, *cuts, vertices], np.int64)
