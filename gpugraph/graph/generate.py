"""From a spec to a graph: the same one, bit for bit, whatever the number of threads, on the host or on a device.

Weights that a family does not draw itself are a hash of the edge alone, so that both arcs and every repeat of an edge
weigh the same.  With h = hash64(hash64(seed + 99) ^ (((u << 32) | (u >> 32)) ^ v)), u < v the endpoints of an
undirected edge and u → v a directed arc, the weight is

    LO + high_product(h, HI − LO + 1)                whole numbers, then converted to the dtype
    HI where h >> 63 is 1, else LO                   one of the two
    LO + (HI − LO) * ((h >> 11) * 2^-53)             reals, each operation rounded to float64, then to the dtype
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.devices.base import Array, Device, covering_grid
from gpugraph.devices.kernel_file import KernelFile
from gpugraph.errors import OutOfMemory
from gpugraph.graph.build import ArcList, build, notes_of
from gpugraph.graph.chunks import Progress, Runner
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph, target_dtype
from gpugraph.graph.device_build import MOST_ITEMS, Rows, bin_shift, negative_loop, rows_on_device
from gpugraph.graph.device_rows import ARCS_PER_THREAD, BLOCK, INDICES, DeviceRows
from gpugraph.graph.families import (
    FAMILIES,
    ORDERS,
    degree_of_regular,
    edges_of_dense,
    largest_clique,
    samples_of_random,
)
from gpugraph.graph.generators import hash64, high_product
from gpugraph.graph.spec import Spec, WeightRange, parse_spec
from gpugraph.host import require_memory

_BUILD_STARTS = 0.6
"""The fraction of the whole at which the arcs are drawn and the rows begin to be built."""


def generate(spec: Spec | str, progress: Progress | None = None, device: Device | None = None) -> CSRGraph:
    """Return the graph of a spec.

    Args:
        spec: the spec, parsed or as text.
        progress: called with the fraction done, in 0..1, and what is being done, a few times a second at most.
        device: makes the graph, and keeps it, if it can; the host does where it cannot.

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
    """Return the arcs of a spec, loops and repeats among them.

    Args:
        spec: the spec.
        progress: as for ``generate``.
        part: (i, k): draw the i-th of k parts, which together are the arcs that one process draws.
    """
    family, values = FAMILIES[spec.family], dict(spec.values)
    directed = family.directed and values.get("directed", True)
    index = target_dtype(spec.vertices)
    module = importlib.import_module(f"gpugraph.graph.generators.{family.module}")
    run = Runner(index, progress, (0.0, 0.45), part)
    tails, heads, weights = getattr(module, f"arcs_of_{family.name}")(values, spec.seed, run)
    if weights is None:
        run = Runner(index, progress, (0.45, _BUILD_STARTS))
        weights = hashed_weights(tails, heads, spec.weights, directed, spec.seed, run)
    weights = weights.astype(spec.weights.dtype, copy=False)
    if spec.order != ORDERS[0]:
        number = _numbers(spec, tails, heads, part).astype(index)
        tails, heads = number[tails], number[heads]
    return ArcList(tails, heads, weights, spec.vertices, directed=directed, one_sided=not directed)


def _numbers(spec: Spec, tails: NDArray[Any], heads: NDArray[Any], part: tuple[int, int]) -> NDArray[np.int64]:
    """Return the (n,) number that every vertex takes in the order of a spec; repeats count as degrees."""
    n = spec.vertices
    if spec.order == "shuffled":
        keys = _hash64(np.arange(n, dtype=np.uint64) + np.uint64(_hash64((spec.seed + 77) & _MASK)))
    else:
        if part != (0, 1):
            whole = draw_arcs(replace(spec, order=ORDERS[0]))
            tails, heads = whole.tails, whole.heads
        keys = -(np.bincount(tails, minlength=n) + np.bincount(heads, minlength=n))
    number = np.empty(n, np.int64)
    number[np.argsort(keys, kind="stable")] = np.arange(n)
    return number


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
    """Turn hashes into whole numbers in place, as 64-bit two's complement; a span of 0 stands for 2^64."""
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
# The kernels are in ``cuda_kernels/generate.cu`` and ``generate_knn.cu``, the formulas in ``generators/``. No memory of
# the host's is taken, but for a few bytes a clique of ``ssca2``.

FILE, KNN = KernelFile("generate.cu", INDICES), KernelFile("generate_knn.cu", INDICES)
_MASK = 2**64 - 1

_KEYS = {
    "rmat": "scale ef a b c",
    "ssca2": "scale deg clique inter",
    "random": "n m deg ef among hub",
    "regular": "n in out",
    "grid": "width height",
    "road": "width height",
    "knn": "n k",
    "complete": "n",
    "dense": "n density",
    "path": "n shuffled",
    "star": "n hub",
    "caterpillar": "n",
}
"""The families that devices make, and all of their parameters: a graph with another one is left to the host."""
_WEIGHTS = {"low", "high", "whole", "dtype", "ends"}
"""What tells where weights lie, all of it."""


class _Family:
    """One family's launches.

    Attributes:
        items: numbers to be drawn, of all launches.
        exact: nearly every item gives an edge.
        keep: arrays that the launches read.
    """

    def __init__(self, spec: Spec, device: Device):
        self.spec, self.device = spec, device
        self.values, self.seed = dict(spec.values), np.uint64(spec.seed)
        self.launches: list[tuple[KernelFile, str, int, tuple[Any, ...]]] = []
        self.exact = True
        getattr(self, f"_{spec.family}")()

    @property
    def items(self) -> int:
        return sum(items for _, _, items, _ in self.launches)

    def _add(self, name: str, items: int, *args: Any, file: KernelFile = FILE) -> None:
        if items:
            self.launches.append((file, name, items, args))

    def emit(self, sink: tuple[Any, ...], first: int = 0, last: int | None = None) -> None:
        """Draw the edges of the items [first, last), counted through all launches; of all if no range is given."""
        before = 0
        for file, name, items, args in self.launches:
            low, high = max(first - before, 0), items if last is None else min(last - before, items)
            if low < high:
                kernel = file.kernel(self.device, None, name)
                grid = covering_grid(self.device, high - low, BLOCK)
                kernel(grid, BLOCK, (np.int64(high), np.int64(low), *sink, *args))
            before += items

    def weigh(self, rows: Rows) -> Array:
        """Return the (arcs,) weights of the rows: hashes of the edges."""
        weights = self.device.empty(rows.targets.size, self.spec.weights.dtype)
        _launch_over_arcs(self.device, FILE, "weights", rows, self.rule, weights)
        return weights

    @property
    def rule(self) -> Array:
        """Where the weights lie, as WeightRule in generate.cu has it."""
        if "_rule" not in self.__dict__:
            self._rule = self.device.upload(weight_rule(self.spec))
        return self._rule

    def _rmat(self) -> None:
        v = self.values
        sums = (v["a"], v["a"] + v["b"], v["a"] + v["b"] + v["c"])
        limits = (np.uint32(int(p * 2**16 + Fraction(1, 2))) for p in sums)
        self._add("rmat", v["ef"] << v["scale"], self.rule, np.int32(v["scale"]), self.seed, *limits)

    def _random(self) -> None:
        n = self.values["n"]
        among = np.int64(self.values["among"] or n)
        self._add("random", samples_of_random(self.values), self.rule, among, self.seed)
        if self.values["hub"]:
            self._tree("STAR")

    def _tree(self, shape: str, hub: int = 0) -> None:
        n = self.values["n"]
        self._add("tree", n - 1, np.int32(FILE[shape]), np.int64(n), np.int64(hub), self.seed)

    def _regular(self) -> None:
        (degree, into), n = degree_of_regular(self.values), self.values["n"]
        self._add("regular", n * degree, np.int64(n), np.int64(degree), np.int32(into), self.seed)

    def _lattice(self, road: bool) -> None:
        width, height = self.values["width"], self.values["height"]
        sizes = np.int64(width), np.int64(height)
        self._add("lattice", 2 * width * height, *sizes, np.int32(road), self.seed)

    def _grid(self) -> None:
        self._lattice(road=False)

    def _road(self) -> None:
        self._lattice(road=True)

    def _complete(self) -> None:
        n = self.values["n"]
        self._add("complete", n * (n - 1) // 2)

    def _dense(self) -> None:
        self._add("dense", edges_of_dense(self.values), np.int64(self.values["n"]), self.seed)

    def _path(self) -> None:
        self._tree("SHUFFLED_PATH" if self.values["shuffled"] else "PATH")

    def _star(self) -> None:
        self._tree("STAR", self.values["hub"])

    def _caterpillar(self) -> None:
        self._tree("CATERPILLAR")

    def _ssca2(self) -> None:
        scale = self.values["scale"]
        starts = clique_starts(1 << scale, largest_clique(self.values), self.spec.seed)
        sizes = np.diff(starts)
        inside = np.zeros(len(starts), np.int64)
        np.cumsum(sizes * (sizes - 1) // 2, out=inside[1:])
        cliques, begins = np.int64(len(sizes)), self.device.upload(starts)
        common = (np.int32(scale), self.seed, cliques, begins)
        self._add("cliques", int(inside[-1]), *common, self.device.upload(inside))
        limit = np.uint64(int(self.values["inter"] * 2**32))
        self._add("bridges", (1 << scale) * max(scale - 1, 0) if limit else 0, *common, limit)
        self.exact = False

    def _knn(self) -> None:
        device, n = self.device, self.values["n"]
        k = min(self.values["k"], n - 1)
        cells = max(1, int(np.sqrt(n / 2.0)))
        x, y, order = device.empty(n, np.float32), device.empty(n, np.float32), device.empty(n, np.uint64)
        starts = device.empty(cells * cells + 1, np.int32)
        device.require(8 * n * k)
        heads, best = device.empty(n * k, np.int32), device.empty(n * k, np.float32)
        size, lines = np.int64(n), np.int64(cells)

        def launch(name: str, threads: int, *args: Any) -> None:
            kernel = KNN.kernel(device, None, name)
            kernel(covering_grid(device, threads, BLOCK), BLOCK, (size, *args))

        launch("points", n, lines, self.seed, order)
        device.sort(order)
        launch("cells", cells * cells + 1, lines, order, starts)
        launch("place", n, self.seed, order, x, y)
        launch("nearest", n, np.int32(k), lines, starts, x, y, heads, best)
        self._add("edges", n * k, np.int32(k), heads, file=KNN)

        def weigh(rows: Rows) -> Array:
            weights = device.empty(rows.targets.size, self.spec.weights.dtype)
            kernel = KNN.kernel(device, {"INDEX_BITS": 8 * rows.offsets.dtype.itemsize}, "weights")
            word, real = np.int32(weights.dtype.itemsize), np.int32(weights.dtype.kind == "f")
            args = (size, rows.offsets, rows.targets, x, y, word, real, weights)
            kernel(covering_grid(device, 32 * n, BLOCK), BLOCK, args)
            return weights

        self.weigh = weigh  # type: ignore[method-assign]


def _launch_over_arcs(device: Device, file: KernelFile, name: str, rows: Rows, *args: Any) -> None:
    if rows.targets.size:
        kernel = file.kernel(device, {"INDEX_BITS": 8 * rows.offsets.dtype.itemsize}, name)
        sizes = np.int32(rows.offsets.size - 1), np.int64(rows.targets.size)
        grid = covering_grid(device, -(-rows.targets.size // ARCS_PER_THREAD), BLOCK)
        kernel(grid, BLOCK, (*sizes, rows.offsets, rows.targets, *args))


def _is_directed(spec: Spec) -> bool:
    return bool(FAMILIES[spec.family].directed and dict(spec.values).get("directed", True))


def weight_rule(spec: Spec) -> NDArray[np.uint64]:
    """Return the (11,) words of a spec's ``WeightRule``."""
    weights = spec.weights
    low, high = weights.low, weights.high
    whole = weights.whole
    words = [
        spec.seed,
        WEIGHT_DTYPES.index(weights.dtype),
        int(_is_directed(spec)),
        int(whole),
        int(weights.ends),
        int(low < 0),
        int(low) % 2**64 if whole else 0,
        (int(high - low) + 1) % 2**64 if whole else 0,
    ]
    reals = np.array([float(low), float(high), float(high) - float(low)]).view(np.uint64)
    return np.concatenate([np.array(words, np.uint64), reals])


def clique_starts(vertices: int, largest: int, seed: int) -> NDArray[np.int64]:
    """Return the (cliques+1,) first vertex of every clique of ``ssca2``, and n; see ``generators/ssca2.py``."""
    base = np.uint64(_hash64((seed + 11) & _MASK))
    pieces, total, count = [np.zeros(1, np.int64)], 0, 0
    while total < vertices:
        step = max(1024, 5 * (vertices - total) // (2 * (largest + 1)))
        numbers = np.arange(count, count + step, dtype=np.uint64)
        # An upper half of a product of 64 bits by at most 20: both parts of it fit in 64 bits.
        h = _hash64(base + numbers)
        k = np.uint64(largest)
        low = ((h & np.uint64(0xFFFFFFFF)) * k) >> np.uint64(32)
        sizes = (((h >> np.uint64(32)) * k + low) >> np.uint64(32)).astype(np.int64) + 1
        ends = total + np.cumsum(sizes)
        pieces.append(ends)
        total, count = int(ends[-1]), count + step
    starts = np.concatenate(pieces)
    last = int(np.searchsorted(starts, vertices))
    starts[last] = vertices
    return starts[: last + 1]


def _hash64(z: Any) -> Any:
    """Return ``hashing.hash64`` of a whole number, or of an array of uint64."""
    if isinstance(z, int):
        return int(_hash64(np.array([z], np.uint64))[0])
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def can_generate(spec: Spec) -> bool:
    """Tell whether a device can make the graph of a spec, if it has the memory."""
    known = _KEYS.get(spec.family, "").split()
    if not {key for key, _ in spec.values} <= set(known) or not set(vars(spec.weights)) <= _WEIGHTS:
        return False
    if spec.order != ORDERS[0]:  # the host numbers vertices
        return False
    if spec.family == "ssca2" and largest_clique(dict(spec.values)) >= 2**31:
        return False
    numbered = spec.size.samples <= MOST_ITEMS or spec.weights.low >= 0  # only loops of negative weight ask for it
    return bool(known) and 0 < spec.vertices < 2**31 and numbered


def generate_on_device(spec: Spec, device: Device, remake: Callable[[], CSRGraph]) -> CSRGraph:
    """Return the graph of a spec, made on a device, where it stays.

    Args:
        spec: one that ``can_generate`` takes.
        device: the device.
        remake: makes the same graph on the host.

    Raises:
        OutOfMemory: the device has no room for it.
    """
    family = _Family(spec, device)
    directed = _is_directed(spec)
    most = family.items * (1 if directed else 2) if family.exact else None
    word = np.dtype(spec.weights.dtype).itemsize
    rows = rows_on_device(device, spec.vertices, most, not directed, family.emit, word)
    weights = family.weigh(rows)
    return CSRGraph.lying_on(
        DeviceRows(device, rows.offsets, rows.targets, weights, remake),
        directed=directed,
        name=spec.text,
        source=spec.text,
        notes=tuple(notes_of(rows.loops, rows.negative, rows.merged, not directed)),
        negative_loop=negative_loop(rows.first_negative),
    )


_WINDOWS, _WINDOW = 256, 1 << 16
"""Items from which the arcs of every range of vertices are estimated; all of them where there are no more."""


@dataclass(frozen=True, eq=False)
class Piece:
    """The rows of some vertices of a spec's graph, on a device.

    Attributes:
        cuts: (pieces + 1,) int64 the first vertex of every piece, and n.
        rows: the rows of the vertices of this one; positions have 64 bits.
        weights: (arcs,).
        directed: whether the graph is.
    """

    cuts: NDArray[np.int64]
    rows: Rows
    weights: Array
    directed: bool


def generate_piece(spec: Spec, device: Device, piece: int, pieces: int) -> Piece:
    """Make one of so many pieces of a spec's graph, each of about as many arcs and rows.

    Every device draws all edges and keeps those whose tails are its own: drawing costs far less than sorting, or than
    sending what others have drawn.  The pieces are cut alike on all devices, for all look at the same sample.

    Raises:
        OutOfMemory: the device has no room for it.
    """
    family = _Family(spec, device)
    directed, n = _is_directed(spec), spec.vertices
    shift = bin_shift(n)
    bins, ignored = device.full(((n - 1) >> shift) + 1, 0, np.uint64), device.full(4, 0, np.uint64)
    head_bits = max(1, (n - 1).bit_length())
    sink = (bins, np.int32(shift), np.int32(not directed), np.int32(head_bits), np.int64(0), np.int64(n), ignored)
    items, sampled = family.items, min(family.items, _WINDOWS * _WINDOW)
    windows = [items * window // _WINDOWS for window in range(_WINDOWS)] if sampled < items else [0]
    for start in windows:
        family.emit(sink, start, start + sampled // len(windows))
    counts = device.download(bins).astype(np.float64) * (items / max(sampled, 1))
    cuts = balanced_cuts(counts, 1 << shift, n, pieces)
    own = int(cuts[piece]), int(cuts[piece + 1])
    word = np.dtype(spec.weights.dtype).itemsize
    rows = rows_on_device(device, n, None, not directed, family.emit, word, own=own, index_bits=64)
    return Piece(cuts, rows, family.weigh(rows), directed)


def balanced_cuts(counts: NDArray[Any], width: int, vertices: int, pieces: int) -> NDArray[np.int64]:
    """Return the (pieces + 1,) cuts that leave about as many arcs and rows to every piece, at the ends of buckets.

    Args:
        counts: arcs by bucket of ``width`` vertices.
        width: see there; the last bucket may be narrower.
        vertices: n.
        pieces: how many there are to be.
    """
    before = np.concatenate([[0.0], np.cumsum(counts + float(width))])
    marks = before[-1] * np.arange(1, pieces) / pieces
    cuts = np.minimum(np.searchsorted(before, marks) * width, vertices)
    return np.array([0, *cuts, vertices], np.int64)
