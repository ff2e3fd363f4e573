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
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs, product
from gpugraph.errors import InputError
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes, Option
from gpugraph.problems.mst.gpu_forest import KEY_TYPES, forest_algorithm, forest_bytes, key_dtype, key_types

FILE = KernelFile("prim.cu", [*KEY_TYPES, *product(PAIRS=(1,))])
BLOCK_SIZES = (256, 128, 64, 32, 16, 8, 4, 2, 1)

OPTIONS = (
    Option("threads", int, 128, "most threads of a block", BLOCK_SIZES),
    Option("blocks", int, 128, "most blocks of a launch"),
    Option("layout", str, "csr", "read V/E/W arrays, or pairs through the read-only cache", ("csr", "int2")),
)


def arrays(sizes: InputSizes, *, pairs: bool) -> ArrayTable:
    """Return the arrays of a run (meaning: prim.cu)."""
    n = sizes.vertices
    packed: ArrayTable = {"vertex_pairs": ((n, 2), np.int32), "arc_pairs": ((sizes.arcs, 2), np.int32)}
    return {
        **dict.fromkeys(("from_", "to"), (n, np.int32)),
        "weight": (n, key_dtype(sizes)),
        "current": (1, np.int32),
        "forest": (max(n - 1, 1), np.dtype(f"i{sizes.index_bits // 8}")),
        "forest_edges": (1, np.uint32),
        **(packed if pairs else {}),
    }


class State(Arrays):
    """The arrays of one run and the kernels that work on them."""

    def __init__(self, view: ResidentView, device: Device, threads: int, blocks: int, layout: str):
        if blocks < 1:
            raise InputError(f"option 'blocks' is {blocks}", remedy="give 1 or more; the paper's best is 128")
        self.pairs = layout == "int2"
        super().__init__(device, {**arrays(view, pairs=self.pairs), **self.reduction_arrays(key_dtype(view), blocks)})
        self.view, self.threads, self.blocks = view, threads, blocks
        self.candidates = (self.from_, self.to, self.weight)  # R1, R2, R3
        self.kernels = self.load_kernels(layout)
        weights = (view.weights, FILE.weight_kind(view.weights))
        self.graph: tuple[Any, ...] = (view.offsets, view.targets, *weights)
        if self.pairs:
            self.graph = self._pack_pairs()

    def reduction_arrays(self, key: np.dtype[Any], blocks: int) -> ArrayTable:
        """Return T1 and T2: of each block the lightest weight and which candidate has it."""
        return {"block_weight": (blocks, key), "block_index": (blocks, np.int32)}

    @property
    def reduced(self) -> tuple[Array, ...]:
        """T1 and T2, in the kernels' order."""
        return self.block_weight, self.block_index

    def load_kernels(self, layout: str) -> dict[str, Kernel]:
        """Return the kernels of a run by their names without ``prim_``."""
        return load_kernels(self.view, self.device, layout=layout)

    def _pack_pairs(self) -> tuple[Array, Array]:
        n, arcs = self.view.vertices, self.view.arcs
        args = (np.int32(n), np.int32(arcs), *self.graph, self.vertex_pairs, self.arc_pairs)
        self.launch("pack_pairs", max(n, arcs), *args)
        return self.vertex_pairs, self.arc_pairs

    def launch_step(self, name: str, grid: int, block: int, *args: Any) -> None:
        """Launch a kernel of a step."""
        self.kernels[name](grid, block, args)

    def start(self) -> None:
        """Make vertex 0 the tree."""
        n = self.view.vertices
        self.device.fill(self.forest_edges, 0)
        self.launch("start", n, np.int32(n), *self.candidates, self.current)

    def compare_update(self, step: np.int32) -> None:
        """Let every candidate look for itself in the row of the vertex that joined last."""
        n, grid = self.view.vertices, self.division(int(step))
        self.launch_step("compare_update", *grid, np.int32(n), step, *self.graph, self.current, *self.candidates)

    def min_reduction(self, step: np.int32) -> None:
        """Find the lightest candidate, in at most two launches, and let it join the tree."""
        grid, block = self.division(int(step))
        n, blocks = np.int32(self.view.vertices), self.reduced
        self.launch_step("reduce_candidates", grid, block, n, step, *self.candidates, *blocks, self.current)
        if grid > 1:
            block = smallest_block(grid, self.threads)
            self.launch_step("reduce_blocks", 1, block, np.int32(grid), step, *self.candidates, *blocks, self.current)

    def division(self, step: int) -> tuple[int, int]:
        """Return grid and block for the candidates that are left: chosen anew before every launch."""
        left = self.view.vertices - 1 - step
        block = smallest_block(left, self.threads)
        return min(-(-left // block), self.blocks), block

    def edge_ids(self) -> None:
        """Turn the tree's (from, to) pairs into canonical edge ids."""
        n = self.view.vertices
        args = (self.view.offsets, self.view.targets, *self.candidates[:2], self.forest, self.forest_edges)
        self.launch("edge_ids", n, np.int32(n), *args)


def load_kernels(view: ResidentView, device: Device, *, layout: str, **_: Any) -> dict[str, Kernel]:
    """Return the kernels that fit the view and the layout, compiled if need be."""
    pairs = layout == "int2"
    if pairs and (view.index_bits, view.weights.dtype.itemsize) != (32, 4):
        raise InputError(
            f"layout int2 holds 32-bit weights and indices, not {view.weights.dtype} and {view.index_bits} bits",
            remedy="use --set layout=csr",
        )
    defines = {**key_types(view), "PAIRS": int(pairs)}
    return FILE.kernels(device, defines, without=() if pairs else ("pack_pairs",))


def smallest_block(work: int, most: int) -> int:
    """Return the smallest of the paper's block sizes that covers ``work``, at most ``most``."""
    return min((size for size in BLOCK_SIZES if size >= work), default=most) if work < most else most


def state_bytes(sizes: InputSizes, *, pairs: bool = False) -> int:
    """Return the bytes that ``State`` allocates, but for those of T1 and T2."""
    return needs(arrays(sizes, pairs=pairs))


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


forest_algorithm(
    "prim",
    summary="one vertex a step by a min-reduction over the candidate list",
    authors="Wang, Huang, Guo",
    year=2011,
    section="IV: GPU-based Prim's algorithm",
    prepare=State,
    run=run,
    compile=load_kernels,
    minimum_bytes=forest_bytes,
    state_bytes=state_bytes,
    options=OPTIONS,
)


# ------------------------------------------------------------------ without the min-reduction
# What the paper compares its own version with (section VI-A): only the search for the lightest candidate differs.  The
# kernels are in ``cuda_kernels/prim_naive.cu``.

NAIVE_FILE = KernelFile("prim_naive.cu", product(WEIGHT=("uint32", "uint64")))


class NaiveState(State):
    """The arrays of one run (shapes and meaning: prim_naive.cu)."""

    def reduction_arrays(self, key: np.dtype[Any], blocks: int) -> ArrayTable:
        """Return the words that the passes lower and write: least weight, least endpoints, chosen candidate."""
        return {"least_weight": (1, key), "least_ends": (1, np.uint64), "chosen": (1, np.int32)}

    @property
    def reduced(self) -> tuple[Array, ...]:
        """These words, in the kernels' order."""
        return self.least_weight, self.least_ends, self.chosen

    def load_kernels(self, layout: str) -> dict[str, Kernel]:
        """Return the kernels of a run by their names without ``prim_``."""
        return load_naive_kernels(self.view, self.device, layout=layout)

    def start(self) -> None:
        """Make vertex 0 the tree, and the words ready for the first step."""
        super().start()
        for word in self.reduced[:2]:
            self.device.fill(word, np.iinfo(word.dtype).max)

    def min_reduction(self, step: np.int32) -> None:
        """Find the lightest candidate by atomics, in three passes, and let it join the tree."""
        grid, n = self.division(int(step)), np.int32(self.view.vertices)
        least_weight, least_ends, chosen = self.reduced
        self.launch_step("naive_least_weight", *grid, n, step, self.weight, least_weight)
        self.launch_step("naive_least_ends", *grid, n, step, *self.candidates, least_weight, least_ends)
        self.launch_step("naive_find", *grid, n, step, *self.candidates, least_weight, least_ends, chosen)
        self.launch_step("naive_join", 1, 1, step, *self.candidates, chosen, self.current, least_weight, least_ends)


def load_naive_kernels(view: ResidentView, device: Device, *, layout: str, **_: Any) -> dict[str, Kernel]:
    """Return the kernels that fit the view and the layout, compiled if need be."""
    own = NAIVE_FILE.kernels(device, {"WEIGHT": key_dtype(view).name})
    return load_kernels(view, device, layout=layout) | {f"naive_{name}": own[name] for name in own}


forest_algorithm(
    "prim-naive",
    summary="Prim with the lightest candidate by atomics instead of a min-reduction, for comparison",
    authors="Wang, Huang, Guo",
    year=2011,
    section="VI-A: the non-primitive CUDA version",
    prepare=NaiveState,
    run=run,
    compile=load_naive_kernels,
    minimum_bytes=forest_bytes,
    options=OPTIONS,
)
