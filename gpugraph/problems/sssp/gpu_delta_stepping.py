"""Delta-stepping on a GPU: the whole search in one cooperative launch.

How it works, its arrays and invariants are in ``cuda_kernels/delta_stepping.cu``; the host only allocates, starts it,
and starts it once more with distances of 64 bits if one of 32 overflowed.

Source: see the kernel's docblock.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gpugraph.base.clock import Clock
from gpugraph.devices.base import Array, Device, InTurns, Kernel, Launch
from gpugraph.devices.kernel_file import UNSIGNED, KernelFile, needs
from gpugraph.graph.digest import array_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.registry import add_algorithm
from gpugraph.problems.sssp.arcs import FLOAT64, SUMS, word_bits
from gpugraph.problems.sssp.distances import Distances, distance_bytes, distances_from_words
from gpugraph.problems.sssp.gpu_words import DISTANCE_SETS, distance_types, first_bits

FILE = KernelFile("delta_stepping.cu", [*DISTANCE_SETS, UNSIGNED])
COUNTERS = ("rounds", "buckets", "scans", "early", "rescans", "settled", "pushes", "repeats")
"""Words of ``control`` that records tell."""

FAR_SHARE = 16
"""The far list holds this part of the vertices; where more wait, reading all distances costs no more."""
LOCAL_SHARE = 128
"""Entries a block of MOST_BLOCK threads takes on in local steps, if they have up to LOCAL_DEGREE arcs."""
LOCAL_DEGREE = 40
PACKED_DEGREE = 6
"""Arcs a vertex in the mean up to which there are packed rows, 32 bytes a vertex; such a row holds four arcs."""
LINE = 128
"""Bytes of a cache line, in which a packed row should lie whole."""
ARCS_PER_THREAD = 8
"""A grid much larger than its work only makes the barriers slower."""


ArrayTable = dict[str, tuple[int, DTypeLike]]


def arrays(sizes: InputSizes, bits: int) -> ArrayTable:
    """Return the arrays of a run with distances of ``bits``, in the kernel's order (meaning: delta_stepping.cu)."""
    word = np.dtype(f"u{bits // 8}")
    room, far_room, hubs = rooms(sizes)
    return {
        "packed_rows": (FILE["PACKED"] * sizes.vertices if packs(sizes, bits) else 0, np.uint64),
        "distance": (sizes.vertices, word),
        "near_vertex": (2 * room, np.int32),
        "near_length": (2 * room, word),
        "far_vertex": (2 * far_room, np.int32),
        "far_length": (2 * far_room, word),
        "hub_vertex": (hubs, np.int32),
        "hub_length": (hubs, word),
        "hub_first_piece": (hubs, np.uint64),
    }


def counters(bits: int) -> ArrayTable:
    """Return the arrays that follow, which have to be 0 before a launch: there are two sets of them for each width.

    A set is left 0 for the next search, so searches of another width have their own.
    """
    return {
        "histogram": (2 * FILE.constant("MOST_BINS", {"DISTANCE_BITS": bits}), np.uint32),
        "control": (FILE["CONTROL_WORDS"], np.uint32),
        "wide_control": (FILE["WIDE_CONTROL_WORDS"], np.uint64),
    }


class Width:
    """Searches with distances of so many bits: their kernel, arrays and launches, which are prepared once."""

    def __init__(self, view: ResidentView, device: Device, bits: int, arena: Array, timeline: Array):
        self.view, self.device, self.bits, self.timeline = view, device, bits, timeline
        self.kernel = load_kernel(view, device, bits)
        self.block = min(self.kernel.most_threads, FILE["MOST_BLOCK"])  # fewer on older GPUs
        work = max(view.vertices, view.arcs // ARCS_PER_THREAD)
        self.grid = max(1, min(-(-work // self.block), self.kernel.resident_blocks(self.block)))
        self.endless = first_beyond(None, view.weights.dtype, bits)
        own, size = arena[counter_words(below=bits) :], words_of(counters(bits))
        self.arrays = carve(arena[counter_words() :], arrays(view, bits))
        self.start = InTurns(device, (own[:size], own[size : 2 * size]), self.prepared)

    def prepared(self, own: Array, next_: Array) -> Launch:
        """Return the launch on one set of counters, which clears the next."""
        view, counted = self.view, carve(own, counters(self.bits))
        stop, (room, far_room, _) = counted["control"][FILE["STOP"] : FILE["STOP"] + 1], rooms(view)
        arguments = (
            *(*numbers(view, self.bits, self.grid, self.block), np.uint32(room), np.uint32(far_room)),
            *(view.offsets, view.targets, view.weights, *self.arrays.values()),
            *(*counted.values(), next_, np.uint32(len(next_)), self.timeline, self.device.reply.word),
        )
        return self.kernel.prepared(self.grid, self.block, arguments, stop=stop)

    @property
    def control(self) -> Array:
        """The control words of the last search."""
        return carve(self.start.own, counters(self.bits))["control"]


class State:
    """The memory of one run: one piece, which searches of either width use in turn."""

    arena: Array = None
    width: Any = None  # a Width

    def __init__(self, view: ResidentView, device: Device, sums: str = FLOAT64):
        self.view, self.device, self.sums = view, device, sums
        self.narrow = word_bits(view.weights.dtype, sums)
        device.require(state_bytes(view, self.narrow))
        self.timeline = device.empty(len(FILE.phases), np.uint64)
        self.overflow = False  # of the last search: a sum of integers did not fit
        self._widths: dict[int, Width] = {}
        self.use_width(self.narrow)

    def use_width(self, bits: int) -> None:
        """Hold distances in words of 32 or 64 bits."""
        if bits not in self._widths:
            view, device, words = self.view, self.device, arena_words(self.view, bits)
            if self.arena is None or words > len(self.arena):
                self._widths.clear()
                self.width = self.arena = None  # its memory is needed for the wider words
                device.require(8 * words)
                self.arena = device.empty(words, np.uint64)
            self._widths[bits] = Width(view, device, bits, self.arena, self.timeline)
        self.width = self._widths[bits]

    def overflowed(self) -> bool:
        """Wait until the kernel tells whether a sum of integers did not fit a word."""
        return self.view.weights.dtype.kind != "f" and bool(self.device.reply.wait())


def numbers(view: ResidentView, bits: int, grid: int, block: int) -> tuple[np.generic, ...]:
    """Return the kernel's arguments from ``vertices`` to ``local_limit`` for a search by so many blocks."""
    degree = max(mean_degree(view), 1)
    group_shift = min(5, max(2, math.ceil(math.log2(1.5 * degree))))  # about as many lanes to a row as it has arcs
    # Fewer entries are relaxed in local steps where each brings more arcs, and never more than a block holds.
    share = min(LOCAL_SHARE * block / FILE["MOST_BLOCK"], FILE.constant("MOST_LOCAL", {"BLOCK": block}))
    limit = int(grid * share * min(1.0, LOCAL_DEGREE / degree))
    graph = np.int32(view.vertices), view.index_dtype.type(view.arcs), np.int32(not view.host.graph.directed)
    return *graph, np.int32(group_shift), np.int32(packs(view, bits)), np.uint32(limit)


def rooms(sizes: InputSizes) -> tuple[int, int, int]:
    """Return the entries that the near queue, the far list and the list of hubs hold."""
    return sizes.vertices, sizes.vertices // FAR_SHARE + 1024, sizes.arcs // FILE["LOCAL_ROW"] + 1


def words_of(table: ArrayTable) -> int:
    """Return the words of 8 bytes that arrays take; every one begins on a cache line."""
    return sum(-(-count * np.dtype(dtype).itemsize // LINE) * (LINE // 8) for count, dtype in table.values())


def carve(arena: Array, table: ArrayTable) -> dict[str, Array]:
    """Return the arrays of a table, carved out of words of 8 bytes."""
    made = {}
    for name, (count, dtype) in table.items():
        words = words_of({name: (count, dtype)})
        made[name], arena = arena[:words].view(dtype)[:count], arena[words:]
    return made


def arena_words(sizes: InputSizes, bits: int) -> int:
    """Return the size of the arena, in words of 8 bytes, for distances of ``bits``."""
    return counter_words() + words_of(arrays(sizes, bits))


def counter_words(below: int = 128) -> int:
    """Return the words of 8 bytes of all counters, or of those for distances of fewer bits; they come first."""
    return sum(2 * words_of(counters(bits)) for bits in (32, 64) if bits < below)


def state_bytes(sizes: InputSizes, bits: int | None = None) -> int:
    """Return the bytes that ``State`` allocates for distances of ``bits``, None for the first ones.

    In 64 bits, which a restart needs and float32 weights do, it takes up to 13 more for each vertex.
    """
    arena = (arena_words(sizes, bits or first_bits(sizes)), np.uint64)
    return needs({"arena": arena, "timeline": (len(FILE.phases), np.uint64)})


def load_kernel(view: ResidentView, device: Device, bits: int) -> Kernel:
    """Return the kernel for distances of ``bits``, compiled if need be."""
    return FILE.kernel(device, distance_types(view, bits), cooperative=True)


def run(state: State, clock: Clock, source: int, goal: int | None = None, cutoff: float | None = None) -> Array:
    """Find the distances from ``source``, a vertex; returns the device array of distance words, ``distance``.

    What lies beyond the vertex ``goal``, or is farther than ``cutoff``, may be left too far, or not reached.
    """
    state.use_width(state.narrow)
    search(state, clock, source, goal, cutoff)
    if not clock.issued():
        return state.width.arrays["distance"]
    state.overflow = state.overflowed()  # all that the host waits for
    if state.width.bits == 32 and state.overflow:
        clock.count("restarts")
        state.use_width(64)
        search(state, clock, source, goal, cutoff)
        clock.issued()
        state.overflow = state.overflowed()
    return state.width.arrays["distance"]


def search(state: State, clock: Clock, source: int, goal: int | None = None, cutoff: float | None = None) -> None:
    """Launch the search with distances of the present width."""
    width, device = state.width, state.device
    end = width.endless if cutoff is None else first_beyond(cutoff, state.view.weights.dtype, width.bits)
    number = device.reply.expect()
    width.start(np.int32(source), np.int32(-1 if goal is None else goal), end, number)
    if clock.timing:
        for phase, spent in zip(FILE.phases, device.download(state.timeline), strict=True):
            clock.add_seconds(phase, int(spent) * 1e-9)
        control = device.download(width.control)
        for name in COUNTERS:
            clock.count(name, int(control[FILE["BUCKETS_DONE" if name == "buckets" else name.upper()]]))


def first_beyond(cutoff: float | None, weights: np.dtype[Any], bits: int) -> Any:
    """Return the least distance word of ``bits`` that is farther than a cutoff; the largest where there is none."""
    word = np.dtype(f"u{bits // 8}").type
    most = int(np.iinfo(word).max)
    if cutoff is None or cutoff == math.inf:
        return word(most)
    if cutoff < 0:
        return word(0)
    if weights.kind != "f":
        return word(min(math.floor(cutoff) + 1, most))
    real = np.dtype(f"f{bits // 8}")
    near = abs(real.type(min(cutoff, float(np.finfo(real).max))))
    return word(int(near.view(word)) + (float(near) <= cutoff))


def packs(sizes: InputSizes, bits: int) -> bool:
    """Tell whether there is room for packed rows: in sparse graphs, where a weight and a distance take 4 bytes."""
    narrow = sizes.weight_bytes == 4 and sizes.index_bits == 32 and bits == 32
    return narrow and mean_degree(sizes) <= PACKED_DEGREE


def mean_degree(view: InputSizes) -> float:
    """Return the arcs per vertex."""
    return view.arcs / max(view.vertices, 1)


def finish(state: State, words: np.ndarray[Any, Any], source: int) -> Distances:
    """Return the distances, of integers or in the type of sums."""
    return distances_from_words(state.view.host.graph, source, words, state.overflow)


def compile_(view: ResidentView, device: Device, *, sums: str = FLOAT64) -> None:
    """Compile the kernel that a search begins with."""
    load_kernel(view, device, word_bits(view.weights.dtype, sums))


add_algorithm(
    "sssp",
    "delta-stepping",
    summary="near and far in one cooperative launch; adapts its width, steps locally, pulls across a horizon",
    authors="gpugraph; after Meyer, Sanders; Davidson et al.; Chakaravarthy et al.; Wang, Fussell, Lin",
    year=2021,
    section="PPoPP'21, section 4; ours beyond it",
    prepare=State,
    run=run,
    finish=finish,
    digest=array_digest,
    compile=compile_,
    minimum_bytes=distance_bytes,
    state_bytes=state_bytes,
    options=(SUMS,),
    version=3,
    unsigned=True,
    ends_early=True,
)
