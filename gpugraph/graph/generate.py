"""Generating the graph of a spec: the same one, bit for bit, with any number of threads, on the host or a device.

Weights that a family does not draw itself are a hash of the edge alone, so that both arcs and every repeat of an edge
weigh the same.  With h = hash64(hash64(seed + 99) ^ (((u << 32) | (u >> 32)) ^ v)), u < v the endpoints of an
undirected edge and u → v a directed arc, the weight is

    LO + high_product(h, HI − LO + 1)                whole numbers, then converted to the dtype
    HI where h >> 63 is 1, else LO                   one of the two
    LO + (HI − LO) * ((h >> 11) * 2^-53)             reals, each operation rounded to float64, then to the dtype
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import OutOfMemory
from gpugraph.base.host import require_memory
from gpugraph.devices.base import Device
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.chunks import Progress, Runner
from gpugraph.graph.counter_random import hash64, hash64_of, high_product
from gpugraph.graph.csr import CSRGraph, target_dtype
from gpugraph.graph.families import ORDERS, find_family
from gpugraph.graph.sources import device_graphs
from gpugraph.graph.spec import Spec, WeightRange, parse_spec

MOST_ITEMS = 2**33
"""An item's number and a vertex share one word on a device, where a loop may have a negative weight."""

_BUILD_STARTS = 0.6
"""The fraction of the whole at which the arcs are drawn and the rows begin to be built."""


def generate(spec: Spec | str, progress: Progress | None = None, device: Device | None = None) -> CSRGraph:
    """Return the graph of a spec, made on a device, where it stays, if one is given and can, else by the host.

    ``progress`` is called with the fraction done, in 0..1, and what is being done, a few times a second at most.
    Raises InputError for what is no spec, OutOfMemory for a graph that does not fit, before anything is allocated.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if device is not None and can_generate(parsed):
        with suppress(OutOfMemory):
            return device_graphs().generate_on_device(parsed, device, lambda: generate(parsed))
    require_memory(parsed.estimate_bytes(), parsed.text)
    arcs = draw_arcs(parsed, progress)
    run = Runner(target_dtype(parsed.vertices), progress, (_BUILD_STARTS, 1.0))
    graph = build(arcs, name=parsed.text, report=lambda fraction: run.report(fraction, "building rows"))
    if progress is not None:
        progress(1.0, "built")
    return graph.renamed(notes=())  # nobody gave the loops and repeats that were drawn


def draw_arcs(spec: Spec, progress: Progress | None = None, part: tuple[int, int] = (0, 1)) -> ArcList:
    """Return the arcs of a spec, loops and repeats among them: all, or with (i, k) the i-th of k parts of them."""
    directed = is_directed(spec)
    index = target_dtype(spec.vertices)
    run = Runner(index, progress, (0.0, 0.45), part)
    tails, heads, weights = find_family(spec.family).arcs(dict(spec.values), spec.seed, run)
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
        keys = hash64_of(np.arange(n, dtype=np.uint64) + np.uint64(shuffle_base(spec)))
    else:
        if part != (0, 1):
            whole = draw_arcs(replace(spec, order=ORDERS[0]))
            tails, heads = whole.tails, whole.heads
        joins = tails != heads
        keys = -(np.bincount(tails[joins], minlength=n) + np.bincount(heads[joins], minlength=n))
    number = np.empty(n, np.int64)
    number[np.argsort(keys, kind="stable")] = np.arange(n)
    return number


def shuffle_base(spec: Spec) -> int:
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


def is_directed(spec: Spec) -> bool:
    """Tell whether the graph of a spec is directed."""
    return bool(find_family(spec.family).directed and dict(spec.values).get("directed", True))


def can_generate(spec: Spec) -> bool:
    """Tell whether a device can make the graph of a spec, if it has the memory."""
    if find_family(spec.family).launch is None:
        return False
    numbered = spec.size.samples <= MOST_ITEMS or spec.weights.low >= 0  # only loops of negative weight ask for it
    return 0 < spec.vertices < 2**31 and numbered
