"""Prim's algorithm with a min-reduction on the GPU: compare and update, reduce, join; one vertex a step.

The kernels and their invariants are in ``cuda_kernels/prim.cu``.  As in the papers the host launches every step
and the grid is chosen anew before each; unlike there, it never reads a result back.  ``--set launches=graph`` records
the launches once and repeats them as one, so that the time is that of the kernels and not of the host's loop.

Source: W. Wang, Y. Huang, S. Guo, "Design and implementation of GPU-based Prim's algorithm", 2011, section IV;
S. Guo, W. Wang, L. Wang, 2011, section 2.
"""

from typing import Any

import numpy as np

from gpugraph.base.clock import Clock, NullClock
from gpugraph.base.errors import InputError
from gpugraph.devices.base import Array, Device, Kernel, Launch
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs, product
from gpugraph.ext.papers.mst.weight_words import KEY_TYPES, key_dtype, key_types
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes, Option
from gpugraph.problems.mst.forest import forest_bytes
from gpugraph.problems.mst.gpu_forest import forest_algorithm

FILE = KernelFile("prim.cu", [*KEY_TYPES, *product(PAIRS=(1,))])
BLOCK_SIZES = (256, 128, 64, 32, 16, 8, 4, 2, 1)

OPTIONS = (
    Option("threads", int, 128, "most threads of a block", BLOCK_SIZES),
    Option("blocks", int, 128, "most blocks of a launch"),
    Option("layout", str, "csr", "read V/E/W arrays, or pairs through the read-only cache", ("csr", "int2")),
    Option("look", str, "c-to-n", "look for a candidate in C's row, or for C in the candidate's", ("c-to-n", "n-to-c")),
    Option("launches", str, "host", "each by the host, as in the paper, or all in a CUDA graph", ("host", "graph")),
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


def load_kernels(view: ResidentView, device: Device, *, layout: str, **_: object) -> dict[str, Kernel]:
    """Return the kernels that fit the view and the layout, compiled if need be."""
    pairs = layout == "int2"
    if pairs and (view.index_bits, view.weights.dtype.itemsize) != (32, 4):
        what = f"layout int2 holds 32-bit weights and indices, not {view.weights.dtype} and {view.index_bits} bits"
        raise InputError(what, remedy="use --set layout=csr")
    defines = {**key_types(view), "PAIRS": int(pairs)}
    return FILE.kernels(device, defines, without=() if pairs else ("pack_pairs",))


def smallest_block(work: int, most: int) -> int:
    """Return the smallest of the paper's block sizes that covers ``work``, at most ``most``."""
    return min((size for size in BLOCK_SIZES if size >= work), default=most) if work < most else most


class State(Arrays):
    """The arrays of one run and the kernels that work on them."""

    load_kernels = staticmethod(load_kernels)

    def __init__(
        self,
        view: ResidentView,
        device: Device,
        threads: int,
        blocks: int,
        layout: str,
        look: str = "c-to-n",
        launches: str = "host",
    ):
        if blocks < 1:
            raise InputError(f"option 'blocks' is {blocks}", remedy="give 1 or more; the paper's best is 128")
        self.pairs = layout == "int2"
        reduction = self.reduction_arrays(key_dtype(view), blocks)
        super().__init__(device, {**arrays(view, pairs=self.pairs), **reduction})
        self.reduced = [getattr(self, name) for name in reduction]  # in the kernels' order
        self.view, self.threads, self.blocks = view, threads, blocks
        self.candidates = (self.from_, self.to, self.weight)  # R1, R2, R3
        self.kernels = self.load_kernels(view, device, layout=layout)
        weights = (view.weights, FILE.weight_kind(view.weights))
        self.graph: tuple[Any, ...] = (view.offsets, view.targets, *weights)
        if self.pairs:
            n, arcs, packed = view.vertices, view.arcs, (self.vertex_pairs, self.arc_pairs)
            self.launch("pack_pairs", max(n, arcs), np.int32(n), np.int32(arcs), *self.graph, *packed)
            self.graph = packed
        self.update = self.kernels["compare_update" if look == "c-to-n" else "compare_update_from_n"]
        self.recorded: Launch | None = None
        self.most_reductions = 0
        if launches == "graph":
            self.start()
            self.grow(NullClock())  # so that all kernels are loaded
            self.recorded = device.recorded(lambda: self.grow(NullClock()))

    def reduction_arrays(self, key: np.dtype[Any], blocks: int) -> ArrayTable:
        """Return T1 and T2: of each block the lightest weight and which candidate has it."""
        return {"block_weight": (blocks, key), "block_index": (blocks, np.int32)}

    def start(self) -> None:
        """Make vertex 0 the tree."""
        n = self.view.vertices
        self.device.fill(self.forest_edges, 0)
        self.launch("start", n, np.int32(n), *self.candidates, self.current)

    def compare_update(self, step: np.int32) -> None:
        """Let every candidate look for itself in the row of the vertex that joined last."""
        args = (np.int32(self.view.vertices), step, *self.graph, self.current, *self.candidates)
        self.update(*self.division(int(step)), args)

    def min_reduction(self, step: np.int32) -> None:
        """Find the lightest candidate, in one launch or two, and let it join the tree."""
        grid, block = self.division(int(step))
        args = (step, *self.candidates, *self.reduced, self.current)
        self.kernels["reduce_candidates"](grid, block, (np.int32(self.view.vertices), *args))
        self.most_reductions = max(self.most_reductions, 1 + (grid > 1))
        if grid > 1:
            self.kernels["reduce_blocks"](1, smallest_block(grid, self.threads), (np.int32(grid), *args))

    def grow(self, clock: Clock) -> None:
        """Make the papers' |V| - 2 steps, after which one candidate is left: it joins by the edge that it has."""
        last = self.view.vertices - 2
        for step in range(last + 1):
            with clock.phase("compare_update"):
                self.compare_update(np.int32(step))
            if step < last:
                with clock.phase("min_reduction"):
                    self.min_reduction(np.int32(step))

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


def state_bytes(sizes: InputSizes, *, pairs: bool = False) -> int:
    """Return the bytes that ``State`` allocates, but for those of T1 and T2."""
    return needs(arrays(sizes, pairs=pairs))


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids, ``state.forest``."""
    state.start()
    if state.recorded is None:
        state.grow(clock)
    else:
        state.recorded()
    clock.count("rounds", max(state.view.vertices - 2, 0))
    if state.most_reductions:
        clock.count("most_reductions", state.most_reductions)
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
    version=2,
)


# ------------------------------------------------------------------ without the min-reduction
# What the paper compares its own version with (section VI-A): only the search for the lightest candidate differs.  The
# kernels are in ``cuda_kernels/prim_naive.cu``.

NAIVE_FILE = KernelFile("prim_naive.cu", product(WEIGHT=("uint32", "uint64")))


def load_naive_kernels(view: ResidentView, device: Device, *, layout: str, **_: object) -> dict[str, Kernel]:
    """Return the kernels that fit the view and the layout, compiled if need be."""
    own = NAIVE_FILE.kernels(device, {"WEIGHT": key_dtype(view).name})
    return load_kernels(view, device, layout=layout) | {f"naive_{name}": own[name] for name in own}


class NaiveState(State):
    """The arrays of one run (shapes and meaning: prim_naive.cu)."""

    load_kernels = staticmethod(load_naive_kernels)

    def reduction_arrays(self, key: np.dtype[Any], blocks: int) -> ArrayTable:
        """Return the words that the passes lower and write: least weight, least endpoints, chosen candidate."""
        return {"least_weight": (1, key), "least_ends": (1, np.uint64), "chosen": (1, np.int32)}

    def start(self) -> None:
        """Make vertex 0 the tree, and the words ready for the first step."""
        super().start()
        for word in self.reduced[:2]:
            self.device.fill(word, np.iinfo(word.dtype).max)

    def min_reduction(self, step: np.int32) -> None:
        """Find the lightest candidate by atomics, in three passes, and let it join the tree."""
        grid, now = self.division(int(step)), (np.int32(self.view.vertices), step)
        kernels, least, chosen = self.kernels, self.reduced[:2], self.chosen
        kernels["naive_least_weight"](*grid, (*now, self.weight, self.least_weight))
        kernels["naive_least_ends"](*grid, (*now, *self.candidates, *least))
        kernels["naive_find"](*grid, (*now, *self.candidates, *least, chosen))
        kernels["naive_join"](1, 1, (step, *self.candidates, chosen, self.current, *least))


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
    version=2,
)
