"""Dijkstra's algorithm with a compound frontier on a GPU (F-GPU): relax, minimum, update.

The kernels and their invariants are in ``cuda_kernels/dijkstra.cu``.

Source: P. J. Martín, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, section 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel, covering_grid
from gpugraph.devices.resident import ResidentView
from gpugraph.problems.registry import Algorithm, register
from gpugraph.problems.sssp.problem import Distances
from gpugraph.problems.sssp.words import distances_from_words

FILE = "dijkstra.cu"
BLOCK = 256
ROUNDS_PER_READ = 4
"""Rounds launched between two reads of the minimum: a round after the last changes nothing and costs little."""

KERNELS = ("start", "relax", "minimum", "update")


class Words:
    """Distances in words of one width, and the kernels that work on them."""

    def __init__(self, view: ResidentView, device: Device, bits: int):
        word = np.uint32 if bits == 32 else np.uint64
        device.require((view.vertices + ROUNDS_PER_READ) * bits // 8)
        self.unreached = np.iinfo(word).max
        self.distance = device.empty(view.vertices, word)
        self.minima = device.empty(ROUNDS_PER_READ, word)
        self.kernels = load_kernels(view, device, bits)


class State:
    """The arrays of one run and the kernels that work on them (shapes and meaning: dijkstra.cu)."""

    def __init__(self, view: ResidentView, device: Device):
        self.view, self.device = view, device
        device.require(state_bytes(view))
        self.vertex_state = device.empty(view.vertices, np.uint8)
        self.overflow = device.empty(1, np.uint32)
        self.widths: dict[int, Words] = {}
        self.narrow = view.weights.dtype.itemsize * 8
        self.use_width(self.narrow)

    def use_width(self, bits: int) -> None:
        """Hold distances in words of 32 or 64 bits."""
        if bits not in self.widths:
            self.widths[bits] = Words(self.view, self.device, bits)
        words = self.widths[bits]
        self.bits, self.kernels = bits, words.kernels
        self.distance, self.minima, self.unreached = words.distance, words.minima, words.unreached

    def launch(self, name: str, *args: Any) -> None:
        """Launch a kernel over all vertices."""
        n = self.view.vertices
        self.kernels[name](covering_grid(self.device, n, BLOCK), BLOCK, (np.int32(n), *args))

    def start(self, source: int) -> None:
        """Make the source the frontier."""
        self.device.fill(self.overflow, 0)
        self.launch("start", np.int32(source), self.distance, self.vertex_state)

    def relax(self) -> None:
        """Lower the distances of the frontier's successors."""
        view = self.view
        graph = (view.offsets, view.targets, view.weights)
        self.launch("relax", *graph, self.vertex_state, self.distance, self.overflow)

    def minimum(self, turn: int) -> None:
        """Find the least distance of an unresolved vertex."""
        self.launch("minimum", self.distance, self.vertex_state, self.minima[turn : turn + 1])

    def update(self, turn: int) -> None:
        """Resolve the frontier; every unresolved vertex at the minimum is the next."""
        self.launch("update", self.distance, self.minima[turn : turn + 1], self.vertex_state)


def load_kernels(view: ResidentView, device: Device, bits: int | None = None) -> dict[str, Kernel]:
    """Return the kernels for distances of ``bits`` (the weights' own width if None), compiled if need be."""
    bits = bits or view.weights.dtype.itemsize * 8
    defines = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name, "DISTANCE_BITS": bits}
    return {name: device.kernel(FILE, f"dijkstra_{name}", defines) for name in KERNELS}


def state_bytes(view: ResidentView) -> int:
    """Return the bytes that ``prepare`` allocates; a restart in 64 bits takes 8 more for each vertex."""
    return view.vertices * (1 + int(view.weights.dtype.itemsize)) + 4096


def prepare(view: ResidentView, device: Device) -> State:
    """Allocate everything a run needs."""
    return State(view, device)


def run(state: State, clock: Clock, source: int) -> Array:
    """Find all distances from ``source``; returns the device array of distance words, ``state.distance``."""
    state.use_width(state.narrow)
    search(state, clock, source)
    if state.bits == 32 and state.device.read(state.overflow):
        clock.count("restarts")
        state.use_width(64)
        search(state, clock, source)
    return state.distance


def search(state: State, clock: Clock, source: int) -> None:
    """Resolve vertices in order of distance until no more can be reached."""
    state.start(source)
    while True:
        state.device.fill(state.minima, state.unreached)
        for turn in range(ROUNDS_PER_READ):
            with clock.phase("relax"):
                state.relax()
            with clock.phase("minimum"):
                state.minimum(turn)
            with clock.phase("update"):
                state.update(turn)
        reached = state.device.download(state.minima) != state.unreached  # the one read-back of these rounds
        clock.count("rounds", int(reached.sum()))
        if not reached.all():
            return


def fetch(state: State, distance: Array) -> np.ndarray[Any, Any]:
    """Copy the distance words to the host."""
    return state.device.download(distance)


def finish(state: State, words: np.ndarray[Any, Any], source: int) -> Distances:
    """Return the distances in the graph's own type."""
    return distances_from_words(state.view.host.graph, source, words, bool(state.device.read(state.overflow)))


register(
    Algorithm(
        problem="sssp",
        name="dijkstra",
        devices=("cuda", "emulated"),
        summary="compound frontier: relax with atomicMin, minimum, update",
        authors="Martín, Torres, Gavilanes",
        year=2009,
        section="4: F-GPU",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        compile=load_kernels,
    )
)
