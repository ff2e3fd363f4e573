"""Borůvka's algorithm for the first rounds, Prim's for the trees they leave: the paper's open question.

log log V rounds leave V / log V trees or fewer, which makes the whole O(E log log V) on one processor.  The rounds
are those of ``gpu_boruvka_scan.py``, whose last list of arcs is the contracted graph; Prim's steps are one cooperative
launch of ``cuda_kernels/boruvka_prim.cu``.  The kernels of ``prim.cu`` do not serve here: they search rows for a
vertex, while a row of the contracted graph is in no order and may hold several arcs to one tree.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 6.
"""

from __future__ import annotations

import math

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import ArrayTable, KernelFile, needs
from gpugraph.errors import InputError
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes, Option
from gpugraph.problems.mst import gpu_boruvka_scan
from gpugraph.problems.mst.gpu_forest import KEY_TYPES, forest_algorithm, key_types

FILE = KernelFile("boruvka_prim.cu", KEY_TYPES)
MOST_BLOCKS = 4096
"""More than are resident on any GPU, for telling beforehand what a run needs."""
TREES_PER_THREAD = 4
"""A grid much larger than the trees only makes the barriers slower."""
LOG_LOG = -1
"""``switch-after``: log2 log2 of the vertices, rounded up."""


def default_rounds(vertices: int) -> int:
    """Return log2 log2 of the vertices, rounded up; 0 for fewer than three."""
    return max(0, math.ceil(math.log2(math.log2(vertices)))) if vertices > 2 else 0


class State(gpu_boruvka_scan.State):
    """The arrays of Borůvka's rounds, and those of Prim's steps (meaning: boruvka_prim.cu)."""

    def __init__(self, view: ResidentView, device: Device, switch_after: int):
        if switch_after < LOG_LOG:
            raise InputError(
                f"option 'switch-after' is {switch_after} rounds", remedy="give 0 or more, or -1 for log log V"
            )
        self.prim_kernel, self.block = load_prim(view, device), FILE["BLOCK"]
        self.most_blocks = self.prim_kernel.resident_blocks(self.block)
        super().__init__(view, device, arrays(view, self.most_blocks))
        self.switch_after = default_rounds(view.vertices) if switch_after == LOG_LOG else switch_after

    def prim(self) -> None:
        """Grow one tree after another until all that are left have joined."""
        arcs, trees = self.arcs, self.trees_left
        self.device.fill(self.best[:trees], -1)
        self.device.fill(self.joined, 0)
        self.device.fill(self.barrier, 0)
        grid = max(1, min(-(-trees // (self.block * TREES_PER_THREAD)), self.most_blocks))
        self.prim_kernel(
            grid,
            self.block,
            (
                *(np.int32(trees), self.ends, arcs.other, arcs.key, arcs.id, self.best, self.joined),
                *(self.block_arc, self.block_tree, self.forest, self.forest_edges, self.barrier),
            ),
            stop=self.barrier[2:],
        )


def load_prim(view: ResidentView, device: Device) -> Kernel:
    """Return the kernel of Prim's steps, compiled if need be."""
    return FILE.kernel(device, key_types(view), cooperative=True)


def compile_(view: ResidentView, device: Device, **options: int) -> None:
    """Compile what ``prepare`` will need."""
    gpu_boruvka_scan.compile_(view, device)
    load_prim(view, device)


def arrays(sizes: InputSizes, blocks: int) -> ArrayTable:
    """Return the arrays of a run whose last launch has so many blocks at most."""
    return {
        **gpu_boruvka_scan.arrays(sizes),
        "joined": (sizes.vertices, np.uint8),
        "block_arc": (blocks, np.dtype(f"i{sizes.index_bits // 8}")),
        "block_tree": (blocks, np.int32),
        "barrier": (3, np.uint32),
    }


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes that ``State`` allocates on a device of not too many blocks."""
    return needs(arrays(sizes, MOST_BLOCKS)) + (16 << 10)


def prepare(view: ResidentView, device: Device, **options: int) -> State:
    """Return the arrays of the scan's rounds and of Prim's steps after them, on the device."""
    return State(view, device, options["switch-after"])


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids, ``state.forest``."""
    with clock.phase("list_arcs"):
        state.start()
    while state.arcs_left and int(state.round) < state.switch_after:
        state.boruvka_round(clock)
    if state.arcs_left:
        with clock.phase("prim"):
            state.prim()
        clock.count("prim_steps", state.trees_left - 1)
    return state.forest


forest_algorithm(
    "boruvka-prim",
    summary="Borůvka's rounds by segmented scan, then Prim's steps on the trees they leave in one launch",
    authors="Sun, Skadron",
    year=2013,
    section="6: conclusions and future work",
    state_bytes=state_bytes,
    prepare=prepare,
    run=run,
    compile=compile_,
    preparations=("sort-adjacency", "renumber", "rank-weights"),
    options=(Option("switch-after", int, LOG_LOG, "rounds of Borůvka's before Prim's begins; -1: log2 log2 V"),),
)
