"""Filter-Borůvka on a GPU: the whole forest in one cooperative launch.

How it works, its arrays and invariants are in ``cuda_kernels/filter_boruvka.cu``; the host only chooses how many
edges count as light and starts it.

Source: see the kernel's docblock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.clock import Clock, add_stamps
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.graph.digest import set_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.gpu_forest import fetch_forest, forest_bytes
from gpugraph.problems.registry import register

FILE = "filter_boruvka.cu"
BLOCK = 448
TILE = 512
CONTROL_WORDS = 12 + 2 * 34
FOREST, ROUNDS = 1, 2  # words of `control`: edges in the forest, rounds so far
PHASES = ("row_minima", "hook", "light_edges", "light_rounds", "spread", "heavy_edges", "heavy_rounds", "end")

ARCS_PER_THREAD = 8
"""A grid much larger than its work only makes the barriers slower."""
FILTER_DEGREE = 6
"""Below this many arcs per vertex nothing is gained by holding heavy edges back."""
FILTER_ARCS = 1 << 16
"""Below this many arcs one list is quicker than two."""
LIGHT_ARCS = 2
"""Arcs per vertex below the threshold: enough for a giant component, few enough to be quick."""
DENSE_DEGREE = 12
"""Below this many arcs per vertex twice as many are light: sparse graphs are local, and fall apart more easily."""


class State:
    """The arrays of one run (shapes and meaning: filter_boruvka.cu)."""

    def __init__(self, view: ResidentView, device: Device):
        self.view, self.device = view, device
        n, arcs, index = view.vertices, view.arcs, view.index_dtype
        wide = view.index_bits == 64 or view.weights.dtype.itemsize == 8
        half = n // 2 + 1
        device.require(state_bytes(view))
        self.label = device.empty(n, np.int32)
        self.pick = device.empty(n, index)
        self.link = device.empty(n, np.int32)
        self.up = device.empty(n, np.int32)
        self.best_key = device.empty(half, np.uint64)
        self.best_id = device.empty(half if wide else 1, np.uint64)
        self.chain = device.empty(n + 1, np.int32)
        self.list = device.empty((arcs // 2 + 1) * (3 if wide else 2), np.uint64)
        # Listing streams the arcs only where few of them should be light; if those came to the end of the list all the
        # same, it would begin again, without streaming.
        self.tile_row = self.list[len(self.list) - (arcs // TILE // 2 + 1) :].view(np.int32)
        self.hubs = self.chain  # hubs are noted while rows are read, numbers while rounds are made
        self.forest = device.empty(max(n - 1, 1), index)
        self.control = device.empty(CONTROL_WORDS, np.uint32)
        self.forest_edges = self.control[FOREST : FOREST + 1]
        self.timeline = device.empty(len(PHASES), np.uint64)
        self.kernel = load_kernel(view, device)
        work = max(n, arcs // ARCS_PER_THREAD)
        self.grid = max(1, min(-(-work // BLOCK), self.kernel.resident_blocks(BLOCK)))
        wanted = LIGHT_ARCS * n * (1 if arcs >= DENSE_DEGREE * n else 2)
        self.wanted = wanted if arcs >= FILTER_DEGREE * n and arcs >= FILTER_ARCS else 0


def load_kernel(view: ResidentView, device: Device) -> Kernel:
    """Return the kernel that fits the view, compiled if need be."""
    defines = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name}
    return device.kernel(FILE, "filter_boruvka", defines, cooperative=True)


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes that ``prepare`` allocates."""
    n, arcs, index = sizes.vertices, sizes.arcs, sizes.index_bits // 8
    wide = sizes.index_bits == 64 or sizes.weight_bytes == 8
    vertices = n * (16 + 2 * index + (8 if wide else 4))
    edges = arcs // 2 * (24 if wide else 16)
    return vertices + edges + 4096


def prepare(view: ResidentView, device: Device) -> State:
    """Return the arrays of the launch, and how many edges it is to take for light."""
    return State(view, device)


def run(state: State, clock: Clock) -> Array:
    """Find the forest; returns the device array of an arc of each of its edges, ``state.forest``."""
    view, device = state.view, state.device
    device.fill(state.control, 0)
    if clock.timing:
        device.fill(state.timeline, 0)
    state.kernel(
        state.grid,
        BLOCK,
        (
            *(np.int32(view.vertices), view.index_dtype.type(view.arcs), np.uint64(state.wanted)),
            *(view.offsets, view.targets, view.weights),
            *(state.label, state.pick, state.link, state.up, state.best_key, state.best_id, state.chain),
            *(state.list, state.tile_row, state.hubs, state.forest, state.control, state.timeline),
        ),
    )
    if clock.timing:
        tell_phases(state, clock)
    return state.forest


def tell_phases(state: State, clock: Clock) -> None:
    """Read what the kernel noted of its phases."""
    add_stamps(clock, PHASES, state.device.download(state.timeline))
    clock.count("rounds", int(state.device.read(state.control, ROUNDS)))


def finish(state: State, arcs: np.ndarray[Any, Any]) -> Forest:
    """Return the forest in canonical edge ids."""
    return Forest.of(state.view.host.graph, state.view.host.canonical_edges(arcs))


register(
    Algorithm(
        problem="mst",
        name="filter-boruvka",
        devices=("cuda", "emulated"),
        summary="one cooperative launch: row minima, rounds on light edges, then what the giant leaves out",
        authors="gpugraph; after Borůvka; Osipov, Sanders, Singler; Fallin, Gonzalez, Seo, Burtscher",
        year=2023,
        section="SC'23, section 3; ours beyond it",
        prepare=prepare,
        run=run,
        fetch=fetch_forest,
        finish=finish,
        digest=set_digest,
        compile=load_kernel,
        minimum_bytes=forest_bytes,
        state_bytes=state_bytes,
    )
)
