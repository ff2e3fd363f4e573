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
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.registry import register
from gpugraph.problems.sssp.distances import (
    DISTANCE_SETS,
    Distances,
    distance_bytes,
    distance_types,
    distances_from_words,
)

FILE = KernelFile("harish_narayanan.cu", [defines for defines in DISTANCE_SETS if defines["INDEX_BITS"] == 32])
BLOCK = 32
"""Threads of a block, as in the refutation."""


def arrays(sizes: InputSizes) -> ArrayTable:
    """Return the arrays of a run beside the costs (meaning: harish_narayanan.cu)."""
    return {"mask": (sizes.vertices, np.uint8), "changed": (1, np.uint32), "overflow": (1, np.uint32)}


def costs(sizes: InputSizes, bits: int) -> ArrayTable:
    """Return the arrays of costs in words of ``bits``."""
    return dict.fromkeys(("cost", "updating_cost"), (sizes.vertices, np.dtype(f"u{bits // 8}")))


class State(Arrays):
    """The arrays of one run and the kernels that work on them."""

    def __init__(self, view: ResidentView, device: Device):
        device.require(state_bytes(view))
        super().__init__(device, arrays(view))
        self.view, self.narrow = view, 8 * view.weight_bytes
        self._widths: dict[int, tuple[Arrays, dict[str, Kernel]]] = {}
        self.use_width(self.narrow)

    def use_width(self, bits: int) -> None:
        """Hold costs in words of 32 or 64 bits."""
        if bits not in self._widths:
            kernels = load_kernels(self.view, self.device, bits)
            self._widths[bits] = Arrays(self.device, costs(self.view, bits)), kernels
        self.bits = bits
        words, self.kernels = self._widths[bits]
        self.cost, self.updating_cost = words.cost, words.updating_cost

    def launch(self, name: str, *args: Any) -> None:
        """Launch a kernel with a thread for each vertex."""
        n = self.view.vertices
        self.kernels[name](-(-n // BLOCK), BLOCK, (np.int32(n), *args))


def load_kernels(view: ResidentView, device: Device, bits: int | None = None) -> dict[str, Kernel]:
    """Return the kernels for costs of ``bits``, compiled if need be."""
    return FILE.kernels(device, distance_types(view, bits))


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes that ``State`` allocates; a restart in 64 bits takes 16 more for each vertex."""
    return needs(arrays(sizes)) + needs(costs(sizes, 8 * sizes.weight_bytes))


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
        compile=load_kernels,
        trusted=False,
        minimum_bytes=distance_bytes,
        state_bytes=state_bytes,
    )
)
