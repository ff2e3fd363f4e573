"""Connected components on a GPU in one cooperative launch: hook, flatten, and read only what the giant leaves open.

How it works, its arrays and invariants are in ``cuda_kernels/components.cu``.

Source: see the kernel's docblock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.clock import Clock, add_stamps
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.components.labels import Components
from gpugraph.problems.registry import register

FILE = "components.cu"
BLOCK = 512
CONTROL_WORDS = 3
PHASES = ("start", "sample", "flatten", "giant", "rest", "hubs", "label", "end")


class State:
    """The arrays of one run (shapes and meaning: components.cu)."""

    def __init__(self, view: ResidentView, device: Device):
        self.view, self.device = view, device
        n = view.vertices
        device.require(state_bytes(view))
        self.parent = device.empty(n, np.int32)
        self.least = device.empty(n, np.int32)
        self.hubs = device.empty(n, np.int32)
        self.control = device.empty(CONTROL_WORDS, np.uint32)
        self.timeline = device.empty(len(PHASES), np.uint64)
        self.kernel = load_kernel(view, device)
        self.grid = max(1, min(-(-n // BLOCK), self.kernel.resident_blocks(BLOCK)))


def load_kernel(view: ResidentView, device: Device) -> Kernel:
    """Return the kernel that fits the view, compiled if need be."""
    return device.kernel(FILE, "components_hook", {"INDEX_BITS": view.index_bits}, cooperative=True)


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes that ``prepare`` allocates."""
    return 12 * sizes.vertices + 4096


def prepare(view: ResidentView, device: Device) -> State:
    """Return the arrays of a run."""
    return State(view, device)


def run(state: State, clock: Clock) -> Array:
    """Find the components; returns the device array of labels, ``state.parent``."""
    view, device = state.view, state.device
    if view.vertices == 0:
        return state.parent
    device.fill(state.control, 0)
    if clock.timing:
        device.fill(state.timeline, 0)
    state.kernel(
        state.grid,
        BLOCK,
        (
            *(np.int32(view.vertices), view.offsets, view.targets),
            *(state.parent, state.least, state.hubs, state.control, state.timeline),
        ),
    )
    if clock.timing:
        add_stamps(clock, PHASES, device.download(state.timeline))
    return state.parent


def fetch(state: State, labels: Array) -> np.ndarray[Any, Any]:
    """Copy the labels to the host."""
    return state.device.download(labels)


def finish(state: State, labels: np.ndarray[Any, Any]) -> Components:
    """Return the components of the labels."""
    return Components.of(state.view.host.graph, labels)


def minimum_bytes(sizes: InputSizes) -> int:
    """Return the bytes that no algorithm can do without: the rows' bounds, one arc of every vertex, one label each."""
    return sizes.index_bits // 8 * (sizes.vertices + 1) + 4 * min(sizes.vertices, sizes.arcs) + 4 * sizes.vertices


register(
    Algorithm(
        problem="components",
        name="hook",
        devices=("cuda", "emulated"),
        summary="one cooperative launch: hook trees by two arcs of every row, then the rows outside of the giant",
        authors="gpugraph; after Sutton, Ben-Nun, Barak; Jaiganesh, Burtscher",
        year=2018,
        section="IPDPS'18, section IV; HPDC'18, section 3",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        compile=load_kernel,
        minimum_bytes=minimum_bytes,
        state_bytes=state_bytes,
    )
)
