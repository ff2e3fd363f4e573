"""Prim's algorithm with a min-reduction on the GPU: compare and update, reduce, join; one vertex a step.

The kernels and their invariants are in ``cuda_kernels/prim.cu``.  As in the papers the host launches every step
and the grid is chosen anew before each; unlike there, it never reads a result back.

Source: W. Wang, Y. Huang, S. Guo, "Design and implementation of GPU-based Prim's algorithm", 2011, section IV;
S. Guo, W. Wang, L. Wang, 2011, section 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel, covering_grid
from gpugraph.errors import InputError
from gpugraph.graph.digest import set_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes, Option
from gpugraph.problems.mst.gpu_forest import fetch_forest, finish_forest, forest_bytes
from gpugraph.problems.registry import register

FILE = "prim.cu"
BLOCK_SIZES = (256, 128, 64, 32, 16, 8, 4, 2, 1)

OPTIONS = (
    Option("threads", int, 128, "most threads of a block", BLOCK_SIZES),
    Option("blocks", int, 128, "most blocks of a launch"),
    Option("layout", str, "csr", "read V/E/W arrays, or pairs through the read-only cache", ("csr", "int2")),
)


class State:
    """The arrays of one run and the kernels that work on them (shapes and meaning: prim.cu)."""

    def __init__(self, view: ResidentView, device: Device, threads: int, blocks: int, layout: str):
        if blocks < 1:
            raise InputError(f"option 'blocks' is {blocks}", remedy="give 1 or more; the paper's best is 128")
        self.view, self.device, self.threads, self.blocks = view, device, threads, blocks
        self.pairs = layout == "int2"
        n, index = view.vertices, view.index_dtype
        key = np.uint32 if view.weights.dtype.itemsize == 4 else np.uint64
        device.require(state_bytes(view, pairs=self.pairs))
        self.candidates = (device.empty(n, np.int32), device.empty(n, np.int32), device.empty(n, key))  # R1, R2, R3
        self.reduced = self.reduction_arrays()
        self.current = device.empty(1, np.int32)  # C
        self.forest = device.empty(max(n - 1, 1), index)
        self.forest_edges = device.empty(1, np.uint32)
        self.kernels = self.load_kernels(layout)
        self.graph: tuple[Array, ...] = (view.offsets, view.targets, view.weights)
        if self.pairs:
            self.graph = self._pack_pairs()

    def reduction_arrays(self) -> tuple[Array, ...]:
        """Return T1 and T2: of each block the lightest weight and which candidate has it."""
        key = self.candidates[2].dtype
        return self.device.empty(self.blocks, key), self.device.empty(self.blocks, np.int32)

    def load_kernels(self, layout: str) -> dict[str, Kernel]:
        """Return the kernels of a run by their names without ``prim_``."""
        return load_kernels(self.view, self.device, layout=layout)

    def _pack_pairs(self) -> tuple[Array, Array]:
        view, n = self.view, self.view.vertices
        vertex_pairs = self.device.empty((n, 2), np.int32)
        arc_pairs = self.device.empty((view.arcs, 2), np.int32)
        args = (np.int32(n), np.int32(view.arcs), *self.graph, vertex_pairs, arc_pairs)
        self.launch("pack_pairs", covering_grid(self.device, max(n, view.arcs), 256), 256, *args)
        return vertex_pairs, arc_pairs

    def launch(self, name: str, grid: int, block: int, *args: Any) -> None:
        """Launch the kernel ``prim_<name>``."""
        self.kernels[name](grid, block, args)

    def start(self) -> None:
        """Make vertex 0 the tree."""
        n = self.view.vertices
        self.device.fill(self.forest_edges, 0)
        self.launch("start", covering_grid(self.device, n, 256), 256, np.int32(n), *self.candidates, self.current)

    def compare_update(self, step: np.int32) -> None:
        """Let every candidate look for itself in the row of the vertex that joined last."""
        n, grid = self.view.vertices, self.division(int(step))
        self.launch("compare_update", *grid, np.int32(n), step, *self.graph, self.current, *self.candidates)

    def min_reduction(self, step: np.int32) -> None:
        """Find the lightest candidate, in at most two launches, and let it join the tree."""
        grid, block = self.division(int(step))
        n, blocks = np.int32(self.view.vertices), self.reduced
        self.launch("reduce_candidates", grid, block, n, step, *self.candidates, *blocks, self.current)
        if grid > 1:
            block = smallest_block(grid, self.threads)
            self.launch("reduce_blocks", 1, block, np.int32(grid), step, *self.candidates, *blocks, self.current)

    def division(self, step: int) -> tuple[int, int]:
        """Return grid and block for the candidates that are left: chosen anew before every launch."""
        left = self.view.vertices - 1 - step
        block = smallest_block(left, self.threads)
        return min(-(-left // block), self.blocks), block

    def edge_ids(self) -> None:
        """Turn the tree's (from, to) pairs into canonical edge ids."""
        n, grid = self.view.vertices, covering_grid(self.device, self.view.vertices, 256)
        args = (self.view.offsets, self.view.targets, *self.candidates[:2], self.forest, self.forest_edges)
        self.launch("edge_ids", grid, 256, np.int32(n), *args)


KERNELS = ("start", "compare_update", "reduce_candidates", "reduce_blocks", "edge_ids")


def load_kernels(view: ResidentView, device: Device, *, layout: str, **_: Any) -> dict[str, Kernel]:
    """Return the kernels that fit the view and the layout, compiled if need be."""
    pairs = layout == "int2"
    if pairs and (view.index_bits, view.weights.dtype.itemsize) != (32, 4):
        raise InputError(
            f"layout int2 holds 32-bit weights and indices, not {view.weights.dtype} and {view.index_bits} bits",
            remedy="use --set layout=csr",
        )
    defines = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name, "PAIRS": int(pairs)}
    names = (*KERNELS, "pack_pairs") if pairs else KERNELS
    return {name: device.kernel(FILE, f"prim_{name}", defines) for name in names}


def smallest_block(work: int, most: int) -> int:
    """Return the smallest of the paper's block sizes that covers ``work``, at most ``most``."""
    return min((size for size in BLOCK_SIZES if size >= work), default=most) if work < most else most


def state_bytes(sizes: InputSizes, *, pairs: bool) -> int:
    """Return the bytes that ``prepare`` allocates."""
    n, index, key = sizes.vertices, sizes.index_bits // 8, sizes.weight_bytes
    return n * (8 + key + index) + (8 * (n + sizes.arcs) if pairs else 0) + 4096


def prepare(view: ResidentView, device: Device, threads: int, blocks: int, layout: str) -> State:
    """Return the candidates and the forest on the device; pack the graph where the layout asks for it."""
    return State(view, device, threads, blocks, layout)


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids, ``state.forest``."""
    state.start()
    for step in range(state.view.vertices - 1):
        with clock.phase("compare_update"):
            state.compare_update(np.int32(step))
        with clock.phase("min_reduction"):
            state.min_reduction(np.int32(step))
    clock.count("rounds", max(state.view.vertices - 1, 0))
    state.edge_ids()
    return state.forest


register(
    Algorithm(
        problem="mst",
        name="prim",
        devices=("cuda", "emulated"),
        summary="one vertex a step by a min-reduction over the candidate list",
        authors="Wang, Huang, Guo",
        year=2011,
        section="IV: GPU-based Prim's algorithm",
        prepare=prepare,
        run=run,
        fetch=fetch_forest,
        finish=finish_forest,
        digest=set_digest,
        compile=load_kernels,
        minimum_bytes=forest_bytes,
        state_bytes=lambda sizes: state_bytes(sizes, pairs=False),
        options=OPTIONS,
    )
)
