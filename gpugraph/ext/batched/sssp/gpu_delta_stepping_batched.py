"""Delta-stepping from many sources on a GPU: all searches sweep over the graph side by side, in one cooperative launch.

How it works, its arrays and invariants are in ``cuda_kernels/delta_stepping_batched.cu``; the host only allocates,
starts it, and starts it once more with wider distances if one did not fit: integers of 32 bits begin with distances
of 16.  On a graph that a single search keeps busy, only lines of 16 bits are worth it.  Searches that gain nothing from
each other are made apart (``side_by_side.py``).

Source: see the kernel's docblock.
"""

from functools import cached_property
from typing import Any

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.base.errors import OutOfMemory
from gpugraph.devices.base import Array, Device, Kernel, covering_grid
from gpugraph.devices.kernel_file import ArrayTable, KernelFile, needs
from gpugraph.ext.batched.sssp import side_by_side
from gpugraph.ext.batched.sssp.side_by_side import Apart, check_groups
from gpugraph.ext.device_graphs.device_build import transposed_on_device
from gpugraph.graph.digest import array_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes, Option
from gpugraph.problems.registry import add_algorithm
from gpugraph.problems.sssp import BATCHED
from gpugraph.problems.sssp import gpu_delta_stepping as single
from gpugraph.problems.sssp.arcs import FLOAT64, SUMS, word_bits
from gpugraph.problems.sssp.distances import DistanceMatrix, distance_bytes, matrix_from_words, require_room
from gpugraph.problems.sssp.gpu_words import DISTANCE_SETS, distance_types, first_bits

FILE = KernelFile(
    "delta_stepping_batched.cu",
    [*DISTANCE_SETS, *({"INDEX_BITS": index, "WEIGHT": "uint32", "DISTANCE_BITS": 16} for index in (32, 64))],
)
COUNTERS = ("sweeps", "lists", "lowered")
"""Words of ``control`` that records tell."""
SATURATING = 2**18
"""Vertices from which on one search keeps the device busy, so that sweeps have to gain by sharing, or are left.

On one H200, 64 searches made apart took 17 to 35 ns a vertex on graphs of 2.5 to 31 arcs a vertex.  Lines of 16 bits
serve all 64, and took 8 on rmat:22,w=1..255.  Those of 32 bits serve half: 15 to 39 ns where they finished.
"""
FALLS, LEAST_FALLS = 160, 2.5
"""A line may fall ``FALLS`` / (4 + arcs a vertex) + ``LEAST_FALLS`` times, and at most as often as it has distances.

On the same H200 a line that fell took 0.7 ns on a road, a grid and a random graph of 8 arcs a vertex, and 3 to 3.6 on
R-MAT graphs of 30: about 0.4, and 0.09 an arc.  So the sweeps are left when they have taken about as long as the
searches apart.  On a uniform graph of 32 arcs a vertex, whose lines fell more than 10 times, leaving them at 10 took
57 ms, of which 22 were searches apart.
"""
MOST_SWEEPS = 64
"""Sweeps before they are left.  R-MAT and random graphs took 15 to 32; a road was left after 287, a grid after 312."""


def narrowest(weights: np.dtype[Any], sums: str) -> int:
    """Return the width of distances to begin with."""
    return 16 if weights.itemsize == 4 and weights.kind != "f" else word_bits(weights, sums)


def shape(bits: int, count: int) -> tuple[int, int]:
    """Return the threads of a line, no more than a tile has, and how many groups of ``count`` searches there are."""
    lanes = 8 * FILE["SHARE"] // bits
    threads = 1
    while threads < FILE["TILE"] and threads * lanes < count:
        threads *= 2
    return threads, -(-count // (threads * lanes))


def arrays(sizes: InputSizes, bits: int, count: int) -> ArrayTable:
    """Return the arrays of ``count`` searches with distances of ``bits``, in the kernel's order (its docblock).

    "wide" and "control" have to be 0 before the first launch.  Last come the rows of the result: words of 32 bits or
    more.
    """
    threads, groups = shape(bits, count)
    items = groups * sizes.vertices
    pieces = 2 * (sizes.arcs // FILE["PIECE"]) + 1
    return {
        "lines": (items * threads * 2, np.uint64),
        "changed": (3 * (items // 32 + 1), np.uint32),
        "listed": (2 * items, np.uint32),
        "stamp": (items, np.uint32),
        "order": (sizes.vertices, np.int32),
        "piece_vertex": (pieces, np.int32),
        "piece_begin": (pieces, np.dtype(f"i{sizes.index_bits // 8}")),
        "wide": (3, np.uint64),
        "control": (FILE["CONTROL_WORDS"], np.uint32),
        "rows": ((count, sizes.vertices), np.dtype(f"u{max(bits, 32) // 8}")),
    }


class State:
    """What searches need; the arrays are made when the first batch tells how many there are."""

    def __init__(self, view: ResidentView, device: Device, sums: str = FLOAT64, groups: int = 0):
        self.sums, self.at_once = sums, check_groups(groups)
        self.view, self.device, self.block = view, device, FILE["BLOCK"]
        self.timeline = device.empty(len(FILE.phases), np.uint64)
        self.held: tuple[int, int] = (0, 0)  # for how many sources, with distances of how many bits
        self.arrays: dict[str, Array] = {}
        self.rows: Array = None
        self._kernels: dict[int, dict[str, Kernel]] = {}  # by width: a run that restarts needs two or three
        self.overflow = False  # a sum of integers may not have fitted 64 bits
        self.must_gain = view.vertices >= SATURATING
        rows = view.offsets, view.targets, view.weights
        self.in_arcs = transposed_on_device(device, *rows) if view.host.graph.directed else rows

    def make_ready(self, count: int, bits: int) -> None:
        """Hold arrays for ``count`` sources and distances of so many bits."""
        if self.held == (count, bits):
            return
        view, device = self.view, self.device
        self.held, self.arrays, self.rows = (0, 0), {}, None  # their memory is needed for the others
        if bits not in self._kernels:
            self._kernels[bits] = load_kernels(view, device, bits)
        self.kernels = self._kernels[bits]
        table = arrays(view, bits, count)
        try:
            device.require(needs(table))
        except OutOfMemory:
            self.__dict__.pop("apart", None)
            device.require(needs(table))
        self.arrays = {name: device.empty(size, dtype) for name, (size, dtype) in table.items()}
        self.rows = self.arrays.pop("rows")
        self.threads, self.groups = shape(bits, count)
        work = -(-self.groups * view.vertices * self.threads // self.block)
        self.grid = max(1, min(work, self.kernels["search"].resident_blocks(self.block)))
        self.held = count, bits

    @cached_property
    def apart(self) -> Apart:
        """What searches need that do not sweep together."""
        return Apart(self.view, self.device, self.sums, self.at_once)

    def limits(self) -> tuple[np.uint64, np.uint32]:
        """Return how many lines may fall, and in how many sweeps, before the searches are made apart."""
        if not self.must_gain:
            return np.uint64(2**64 - 1), np.uint32(2**32 - 1)
        distances = self.threads * FILE["SHARE"] // 2  # of 16 bits
        falls = min(FALLS / (4 + single.mean_degree(self.view)) + LEAST_FALLS, distances)
        return np.uint64(int(self.groups * self.view.vertices * falls)), np.uint32(MOST_SWEEPS)


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes of the searches from 64 sources; in-arcs of a directed graph take as much as the graph again.

    Searches made apart keep their memory while others sweep, unless it is short.  A restart in 64 bits takes more.
    """
    bits = first_bits(sizes)
    if sizes.vertices < SATURATING:
        return needs(arrays(sizes, bits, 64))
    together = arrays(sizes, 16, 64) if bits == 32 else {"rows": ((64, sizes.vertices), np.uint64)}
    return needs(together) + single.state_bytes(sizes) + needs(side_by_side.arrays(sizes, bits, side_by_side.GROUPS))


def load_kernels(view: ResidentView, device: Device, bits: int) -> dict[str, Kernel]:
    """Return the kernels for distances of ``bits``, compiled if need be."""
    return FILE.kernels(device, distance_types(view, bits), cooperative=("search",))


def run(state: State, clock: Clock, sources: tuple[int, ...]) -> Array:
    """Find all distances from all ``sources``.

    Returns:
        (sources, n) distance words on the device.

    Raises OutOfMemory if the device or the host has no room for all.
    """
    require_room(state.view.host.graph, len(sources), state.sums)
    bits = narrowest(state.view.weights.dtype, state.sums)
    if state.at_once or (state.must_gain and bits > 16):
        return apart(state, clock, sources)
    while True:
        overflow, left = search(state, clock, sources, bits)
        if left or (overflow and state.must_gain):
            return apart(state, clock, sources)
        if not overflow or bits == 64:
            break
        clock.count("restarts")
        bits *= 2
    state.overflow = overflow
    view, held = state.view, state.arrays
    with clock.phase("rows"):
        grid = covering_grid(state.device, len(sources) * view.vertices, state.block)
        sizes = np.int32(view.vertices), np.int32(len(sources)), np.int32(state.threads)
        state.kernels["rows"](grid, state.block, (*sizes, held["lines"], state.rows))
    return state.rows


def search(state: State, clock: Clock, sources: tuple[int, ...], bits: int) -> tuple[bool, bool]:
    """Launch the searches with distances of ``bits``; return whether one may not fit, and whether they were left."""
    state.make_ready(len(sources), bits)
    view, device, block = state.view, state.device, state.block
    offsets, tails, weights = state.in_arcs
    held, begun = state.arrays, device.upload(np.array(sources, np.int32))
    n, arcs, threads = np.int32(view.vertices), view.index_dtype.type(view.arcs), np.int32(state.threads)
    device.fill(held["wide"], 0)
    device.fill(held["control"], 0)
    if clock.timing:  # a search that does not begin, for weights too wide, notes nothing
        device.fill(state.timeline, 0)
    with clock.phase("begin"):
        grid = covering_grid(device, view.vertices * state.threads, block)
        made = [held[name] for name in ("lines", "changed", "stamp", "piece_vertex", "piece_begin", "control")]
        sizes = n, arcs, np.uint32(state.groups * view.vertices), threads
        state.kernels["begin"](grid, block, (*sizes, offsets, weights, *made))
        made = [held[name] for name in ("lines", "changed", "order", "wide", "control")]
        state.kernels["order"](grid, block, (n, np.int32(len(sources)), threads, offsets, view.offsets, begun, *made))
    graph = offsets, tails, weights, view.offsets, view.targets
    limits = np.uint32(state.groups), threads, *state.limits()
    stop = held["control"][FILE["STOP"] : FILE["STOP"] + 1]
    state.kernels["search"](state.grid, block, (n, arcs, *limits, *graph, *held.values(), state.timeline), stop=stop)
    control = device.download(held["control"])  # the one read-back
    if clock.timing:
        for phase, spent in zip(FILE.phases, device.download(state.timeline), strict=True):
            clock.add_seconds(phase, int(spent) * 1e-9)
        for name in COUNTERS:
            clock.count(name, int(control[FILE[name.upper()]]))
    first = FILE["OVERFLOW"]
    overflow = view.weights.dtype.kind != "f" and bool(control[first : first + 3].any())
    return overflow, bool(control[FILE["LEFT"]])


def apart(state: State, clock: Clock, sources: tuple[int, ...]) -> Array:
    """Find the distances by searches that do not sweep together; returns what ``run`` does."""
    state.held, state.arrays, state.rows = (0, 0), {}, None  # their memory is needed
    state.rows, state.overflow = state.apart.run(clock, sources)
    return state.rows


def finish(state: State, words: np.ndarray[Any, Any], sources: tuple[int, ...]) -> DistanceMatrix:
    """Return the distances, of integers or in the type of sums."""
    return matrix_from_words(state.view.host.graph, sources, words, state.overflow)


def compile_(view: ResidentView, device: Device, *, sums: str = FLOAT64, groups: int = 0) -> None:
    """Compile the kernels that the searches begin with, and those of searches that may be made apart."""
    bits, must_gain = narrowest(view.weights.dtype, sums), view.vertices >= SATURATING
    if not groups and (bits == 16 or not must_gain):
        load_kernels(view, device, bits)
    if groups or must_gain:
        single.compile_(view, device, sums=sums)
        side_by_side.load_kernels(view, device, word_bits(view.weights.dtype, sums))


GROUPS = Option("groups", int, 0, "searches at once, without sweeps; 0 sweeps, and chooses where that does not pay")

add_algorithm(
    "sssp",
    BATCHED,
    summary="many sources in one launch: one gather of a line of memory serves up to 64 searches",
    authors="gpugraph; after Meyer, Sanders; Then et al.",
    year=2014,
    section="PVLDB 8(4), §3; ours beyond it",
    prepare=State,
    run=run,
    finish=finish,
    digest=array_digest,
    compile=compile_,
    minimum_bytes=distance_bytes,
    state_bytes=state_bytes,
    options=(SUMS, GROUPS),
    version=4,
    batched=True,
)
