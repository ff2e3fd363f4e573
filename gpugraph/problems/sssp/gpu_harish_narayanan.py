"""The flawed algorithm of Harish and Narayanan on a GPU: it loses updates, and is kept to show how.

The kernels, and what is wrong with them, are in ``cuda_kernels/harish_narayanan.cu``; ``gpugraph demo race`` runs it on
the counter-example.

Source: P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", HiPC 2007;
refuted in P. J. Martín, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, section 4.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.registry import register
from gpugraph.problems.sssp.distances import Distances, distance_bytes, distances_from_words

FILE = "harish_narayanan.cu"
BLOCK = 32
"""Threads of a block, as in the refutation."""


class State:
    """The arrays of one run and the kernels that work on them (shapes and meaning: harish_narayanan.cu)."""

    def __init__(self, view: ResidentView, device: Device):
        self.view, self.device = view, device
        device.require(state_bytes(view))
        self.mask = device.empty(view.vertices, np.uint8)
        self.changed = device.empty(1, np.uint32)
        self.overflow = device.empty(1, np.uint32)
        self._widths: dict[int, tuple[Array, Array, dict[str, Kernel]]] = {}
        self.narrow = view.weights.dtype.itemsize * 8
        self.use_width(self.narrow)

    def use_width(self, bits: int) -> None:
        """Hold costs in words of 32 or 64 bits."""
        if bits not in self._widths:
            n, word = self.view.vertices, np.dtype(f"u{bits // 8}")
            self.device.require(2 * n * word.itemsize)
            kernels = load_kernels(self.view, self.device, bits)
            self._widths[bits] = self.device.empty(n, word), self.device.empty(n, word), kernels
        self.bits = bits
        self.cost, self.updating_cost, self.kernels = self._widths[bits]

    def launch(self, name: str, *args: Any) -> None:
        """Launch a kernel with a thread for each vertex."""
        n = self.view.vertices
        self.kernels[name](-(-n // BLOCK), BLOCK, (np.int32(n), *args))


def load_kernels(view: ResidentView, device: Device, bits: int) -> dict[str, Kernel]:
    """Return the kernels for costs of ``bits``, compiled if need be."""
    defines = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name, "DISTANCE_BITS": bits}
    return {name: device.kernel(FILE, f"harish_narayanan_{name}", defines) for name in ("start", "relax", "update")}


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes that ``prepare`` allocates; a restart in 64 bits takes 16 more for each vertex."""
    return sizes.vertices * (1 + 2 * sizes.weight_bytes) + 4096


def run(state: State, clock: Clock, source: int) -> Array:
    """Lower costs until none falls any more; returns the device array of distance words."""
    state.use_width(state.narrow)
    search(state, clock, source)
    if state.bits == 32 and state.device.read(state.overflow):
        clock.count("restarts")
        state.use_width(64)
        search(state, clock, source)
    return state.cost


def search(state: State, clock: Clock, source: int) -> None:
    """Do rounds until one changes nothing."""
    device, view = state.device, state.view
    device.fill(state.overflow, 0)
    state.launch("start", np.int32(source), state.mask, state.cost, state.updating_cost)
    while True:
        device.fill(state.changed, 0)
        with clock.phase("relax"):
            graph = (view.offsets, view.targets, view.weights)
            state.launch("relax", *graph, state.mask, state.cost, state.updating_cost, state.overflow)
        with clock.phase("update"):
            state.launch("update", state.mask, state.cost, state.updating_cost, state.changed)
        clock.count("rounds")
        if not device.read(state.changed):  # the one read-back of a round
            return


def finish(state: State, words: np.ndarray[Any, Any], source: int) -> Distances:
    """Return the costs as distances in the graph's own type."""
    return distances_from_words(state.view.host.graph, source, words, bool(state.device.read(state.overflow)))


register(
    Algorithm(
        problem="sssp",
        name="harish-narayanan",
        devices=("cuda", "emulated"),
        summary="wrong on purpose: relaxes into a second array without atomics, and loses updates",
        authors="Harish, Narayanan",
        year=2007,
        section="shortest paths; refuted by Martín, Torres, Gavilanes 2009, 4.3",
        prepare=State,
        run=run,
        fetch=lambda state, cost: state.device.download(cost),
        finish=finish,
        compile=lambda view, device: load_kernels(view, device, view.weights.dtype.itemsize * 8),
        trusted=False,
        minimum_bytes=distance_bytes,
        state_bytes=state_bytes,
    )
)
