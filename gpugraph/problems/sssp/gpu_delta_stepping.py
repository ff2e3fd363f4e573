"""Delta-stepping on a GPU: the whole search in one cooperative launch.

How it works, its arrays and invariants are in ``cuda_kernels/delta_stepping.cu``; the host only allocates, starts it,
and starts it once more with distances of 64 bits if one of 32 overflowed.

Source: see the kernel's docblock.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.registry import register
from gpugraph.problems.sssp.distances import Distances, distance_bytes, distances_from_words

FILE = "delta_stepping.cu"
BLOCK = 512
LOCAL_ROW = 64
BINS_PER_BIT = 8
CONTROL_WORDS = 20
WIDE_CONTROL_WORDS = 6
STOP, OVERFLOW = 2, 3  # words of `control`
COUNTERS = {"rounds": 9, "buckets": 10, "scans": 11, "rescans": 12, "settled": 6, "pushes": 7, "repeats": 8}
PHASES = ("start", "local", "wide", "hubs", "buckets", "pull")

FAR_SHARE = 16
"""The far list holds this part of the vertices; where more wait, reading all distances costs no more."""
LOCAL_SHARE = 64
"""Entries a block takes on in local steps, if they have up to LOCAL_DEGREE arcs."""
LOCAL_DEGREE = 10
ARCS_PER_THREAD = 8
"""A grid much larger than its work only makes the barriers slower."""


class State:
    """The arrays of one run, carved out of one piece of memory (shapes and meaning: delta_stepping.cu)."""

    distance: Array
    control: Array
    zeros: Array

    def __init__(self, view: ResidentView, device: Device):
        self.view, self.device = view, device
        device.require(state_bytes(view))
        self.narrow = view.weights.dtype.itemsize * 8
        self.timeline = device.empty(len(PHASES), np.uint64)
        self.bits = 0
        self.arrays: list[Array] = []  # in the order in which the kernel takes them
        self.arena = device.empty(arena_words(view, self.narrow), np.uint64)
        self.use_width(self.narrow)

    def use_width(self, bits: int) -> None:
        """Hold distances in words of 32 or 64 bits."""
        if bits == self.bits:
            return
        view, words = self.view, arena_words(self.view, bits)
        if words > len(self.arena):
            self.arrays = []
            del self.distance, self.control, self.zeros, self.arena  # their memory is needed for the wider words
            self.device.require(8 * words)
            self.arena = self.device.empty(words, np.uint64)
        self.bits, self.used = bits, 0
        word = np.uint32 if bits == 32 else np.uint64
        room, far_room, hubs = rooms(view)
        self.distance, *entries = (
            self.take(count, dtype)
            for count, dtype in (
                *((view.vertices, word), (2 * room, np.int32), (2 * room, word)),
                *((2 * far_room, np.int32), (2 * far_room, word)),
                *((hubs, np.int32), (hubs, word), (hubs, np.uint64)),
            )
        )
        first = self.used
        histogram = self.take(2 * BINS_PER_BIT * bits, np.uint32)
        self.control = self.take(CONTROL_WORDS, np.uint32)
        wide_control = self.take(WIDE_CONTROL_WORDS, np.uint64)
        self.zeros = self.arena[first : self.used]  # what has to be 0 before a launch
        self.arrays = [self.distance, *entries, histogram, self.control, wide_control]
        self.kernel = load_kernel(view, self.device, bits)
        work = max(view.vertices, view.arcs // ARCS_PER_THREAD)
        self.grid = max(1, min(-(-work // BLOCK), self.kernel.resident_blocks(BLOCK)))

    def take(self, count: int, dtype: DTypeLike) -> Array:
        """Return the next ``count`` elements of the arena."""
        first = self.used
        self.used += -(-count * np.dtype(dtype).itemsize // 8)
        return self.arena[first : self.used].view(dtype)[:count]


def rooms(sizes: InputSizes) -> tuple[int, int, int]:
    """Return the entries that the near queue, the far list and the list of hubs hold."""
    return sizes.vertices, sizes.vertices // FAR_SHARE + 1024, sizes.arcs // LOCAL_ROW + 1


def arena_words(sizes: InputSizes, bits: int) -> int:
    """Return the size of the arena, in words of 8 bytes, for distances of ``bits``."""
    entry = 4 + bits // 8
    room, far_room, hubs = rooms(sizes)
    size = sizes.vertices * bits // 8 + 2 * (room + far_room) * entry + hubs * (entry + 8) + 8 * BINS_PER_BIT * bits
    return size // 8 + CONTROL_WORDS + WIDE_CONTROL_WORDS + 10  # every array begins on a word


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes that ``prepare`` allocates; a restart in 64 bits takes 13 more for each vertex."""
    return 8 * arena_words(sizes, sizes.weight_bytes * 8) + 4096


def load_kernel(view: ResidentView, device: Device, bits: int | None = None) -> Kernel:
    """Return the kernel for distances of ``bits`` (the weights' own width if None), compiled if need be."""
    bits = bits or view.weights.dtype.itemsize * 8
    defines = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name, "DISTANCE_BITS": bits}
    return device.kernel(FILE, "delta_stepping", defines, cooperative=True)


def prepare(view: ResidentView, device: Device) -> State:
    """Return the one array that holds distances, queues and lists, and what is launched on it."""
    return State(view, device)


def run(state: State, clock: Clock, source: int) -> Array:
    """Find all distances from ``source``; returns the device array of distance words, ``state.distance``."""
    state.use_width(state.narrow)
    search(state, clock, source)
    can_overflow = state.bits == 32 and state.view.weights.dtype.kind != "f"
    if can_overflow and state.device.read(state.control, OVERFLOW):  # the one read-back
        clock.count("restarts")
        state.use_width(64)
        search(state, clock, source)
    return state.distance


def search(state: State, clock: Clock, source: int) -> None:
    """Launch the search with distances of the present width."""
    view, device = state.view, state.device
    room, far_room, _ = rooms(view)
    device.fill(state.zeros, 0)
    state.kernel(
        state.grid,
        BLOCK,
        (
            *(np.int32(view.vertices), view.index_dtype.type(view.arcs), np.int32(source)),
            *(np.int32(not view.host.graph.directed), np.int32(group_shift(view)), np.uint32(local_limit(state))),
            *(np.uint32(room), np.uint32(far_room)),
            *(view.offsets, view.targets, view.weights),
            *state.arrays,
            state.timeline,
        ),
        stop=state.control[STOP : STOP + 1],
    )
    if clock.timing:
        tell_phases(state, clock)


def group_shift(view: ResidentView) -> int:
    """Return the binary logarithm of the lanes that share a row in local steps: about as many as it has arcs."""
    return min(4, max(2, math.ceil(math.log2(1.5 * max(mean_degree(view), 1)))))


def local_limit(state: State) -> int:
    """Return how many entries are relaxed in local steps: fewer, where each brings more arcs."""
    return int(state.grid * LOCAL_SHARE * min(1.0, LOCAL_DEGREE / max(mean_degree(state.view), 1)))


def mean_degree(view: ResidentView) -> float:
    """Return the arcs per vertex."""
    return view.arcs / max(view.vertices, 1)


def tell_phases(state: State, clock: Clock) -> None:
    """Read what the kernel noted of its phases and rounds."""
    for phase, spent in zip(PHASES, state.device.download(state.timeline), strict=True):
        clock.add_seconds(phase, int(spent) * 1e-9)
    control = state.device.download(state.control)
    for name, word in COUNTERS.items():
        clock.count(name, int(control[word]))


def fetch(state: State, distance: Array) -> np.ndarray[Any, Any]:
    """Copy the distance words to the host."""
    return state.device.download(distance)


def finish(state: State, words: np.ndarray[Any, Any], source: int) -> Distances:
    """Return the distances in the graph's own type."""
    overflowed = state.view.weights.dtype.kind != "f" and bool(state.device.read(state.control, OVERFLOW))
    return distances_from_words(state.view.host.graph, source, words, overflowed)


def digest(words: np.ndarray[Any, Any]) -> str:
    """Return a fingerprint of the distance words."""
    return f"{words.dtype} {hashlib.blake2b(np.ascontiguousarray(words).data).hexdigest()}"


register(
    Algorithm(
        problem="sssp",
        name="delta-stepping",
        devices=("cuda", "emulated"),
        summary="near and far in one cooperative launch; adapts its width, steps locally, pulls across a horizon",
        authors="gpugraph; after Meyer, Sanders; Davidson et al.; Chakaravarthy et al.; Wang, Fussell, Lin",
        year=2021,
        section="PPoPP'21, section 4; ours beyond it",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        digest=digest,
        compile=load_kernel,
        minimum_bytes=distance_bytes,
        state_bytes=state_bytes,
    )
)
