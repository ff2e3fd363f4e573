"""Borůvka's algorithm on a GPU by segmented scan: find-min-edge, remove-cycle, merge-vertices, add edges.

Arcs are in a list, grouped by tree, and the least arc of each group is what a segmented min-scan leaves at its end.
In the paper the GPU finds the lightest arcs and the CPU does the other three steps: ``--set others=cpu``.  By default
all four run on the GPU, which is what the paper's section 6 asks for.

The kernels are in ``cuda_kernels/boruvka_scan.cu``, ``segmented_scan.cu``, ``prefix_scan.cu``, and ``boruvka.cu`` for
what does not depend on where the arcs are.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 4, algorithm 4.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.base.clock import Clock, NullClock
from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import ArrayTable, KernelFile, needs
from gpugraph.ext.papers.copies import copy_stream, hold_launches
from gpugraph.ext.papers.mst.cpu_boruvka_lists import HostLists, Lists
from gpugraph.ext.papers.mst.cpu_boruvka_lists import State as ListsOfGraph
from gpugraph.ext.papers.mst.gpu_boruvka import FILE as BORUVKA
from gpugraph.ext.papers.mst.gpu_boruvka import Trees, tree_arrays
from gpugraph.ext.papers.mst.weight_words import KEY_TYPES, key_dtype, key_types
from gpugraph.ext.scan.gpu_segmented_min import FILE as SEGMENTED_SCAN
from gpugraph.ext.scan.gpu_segmented_min import SegmentedScan
from gpugraph.ext.scan.gpu_segmented_min import load_kernels as load_segmented
from gpugraph.ext.scan.tiles import OffsetScan, offset_defines
from gpugraph.ext.scan.tiles import load_kernels as load_tiles
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes, Option
from gpugraph.problems.mst.gpu_forest import fetch_forest, forest_algorithm

FILE = KernelFile("boruvka_scan.cu", KEY_TYPES)
SHARED_KERNELS = ("reset_trees", "remove_cycles", "merge_trees", "number_roots")
"""Kernels of boruvka.cu."""
SIDES = ("gpu", "cpu")
SCAN_BYTES = 16 << 10
"""What a few blocks of the scans report to each other takes at most."""
SEGMENTED = {"FLAGS": 0, "IDS": 1, "ENDS": 1, "VECTORS": 2}
SEGMENTED_SCAN.declare({**types, **SEGMENTED} for types in KEY_TYPES)


class ArcList(NamedTuple):
    """Arcs grouped by tree: the tree each leaves, the one it leads to, its weight, the id of its edge."""

    tail: Array
    other: Array
    key: Array
    id: Array


def arrays(sizes: InputSizes) -> ArrayTable:
    """Return the arrays of a run (meaning: boruvka_scan.cu); two lists of arcs take turns."""
    n, arcs, index, count = sizes.vertices, sizes.arcs, np.dtype(f"i{sizes.index_bits // 8}"), count_dtype(sizes)
    kinds: dict[str, DTypeLike] = {"tail": np.int32, "other": np.int32, "key": key_dtype(sizes), "id": index}
    return {
        **{f"{name}_{turn}": (arcs, kinds[name]) for turn in (0, 1) for name in kinds},
        "head": (arcs, np.uint8),
        "best": (n, index),
        "renamed": (n, np.int32),
        **dict.fromkeys(("counts", "ends"), (n, count)),
        "left": (2, np.uint64),
        **tree_arrays(sizes),
    }


class State(Trees):
    """The arrays of one run, a table of the scan's own or of more, and the kernels that work on them."""

    switch_after: float = math.inf
    """Rounds before Prim's steps begin, where there are any."""

    def __init__(self, view: ResidentView, device: Device, table: ArrayTable | None = None):
        super().__init__(device, table or arrays(view))
        self.view = view
        self.lists = [ArcList(*(getattr(self, f"{name}_{turn}") for name in ArcList._fields)) for turn in (0, 1)]
        self.kernels = load_kernels(view, device)
        self.segments = SegmentedScan(device, key_dtype(view), view.index_bits, view.arcs, **SEGMENTED)
        self.offsets = OffsetScan(device, count_dtype(view), view.vertices)

    def start(self) -> None:
        """Make every vertex a tree and its row a segment of the list."""
        view, device, first = self.view, self.device, self.lists[0]
        for counters in (self.trees, self.changed, self.forest_edges, self.head):
            device.fill(counters, 0)
        self.trees_left, self.arcs_left, self.round = view.vertices, view.arcs, np.int32(0)
        has_ids = view.edge_ids is not None
        self.launch(
            *("list_arcs", max(view.vertices, view.arcs * FILE["WARP"] // FILE["LISTED"])),
            *(np.int32(view.vertices), view.index_dtype.type(view.arcs), view.offsets, view.targets),
            *(view.weights, FILE.weight_kind(view.weights)),
            *(np.int32(has_ids), view.edge_ids if has_ids else view.offsets),
            *(*first, self.head, self.ends, self.trees),
        )

    @property
    def arcs(self) -> ArcList:
        """The list of this round."""
        return self.lists[int(self.round) % 2]

    def find_min_edge(self) -> None:
        """Find the lightest arc of every tree, and the tree that it leads to."""
        arcs = self.arcs
        self.scan_minima()
        self.reset_trees(self.round)
        found, best = (self.best, arcs.other, arcs.key, arcs.id), (self.best_key, self.best_id)
        self.launch("link_trees", self.trees_left, self.round, self.trees, *found, self.link, self.edge, *best)

    def scan_minima(self) -> None:
        """Write where the lightest arc of every tree is: a segmented min-scan, of which each segment's end is kept."""
        arcs, m = self.arcs, self.arcs_left
        self.device.fill(self.best[: self.trees_left], -1)
        self.segments.reduce(m, arcs.key, self.head, arcs.id)
        self.segments.spine(m, arcs.id)
        self.segments.scan(m, arcs.key, self.head, arcs.id, arcs.tail, self.best)

    def add_edges(self) -> None:
        """Put every arc that still joins two trees into its new tree's segment of the other list."""
        arcs, there, m = self.arcs, self.lists[1 - int(self.round) % 2], self.view.index_dtype.type(self.arcs_left)
        most = self.trees_left // 2 + 1  # trees of the next round: those that grow at least halve
        self.device.fill(self.counts[:most], 0)
        self.device.fill(self.head[: self.arcs_left], 0)
        self.launch("count_arcs", self.arcs_left, m, self.renamed, arcs.tail, arcs.other, self.counts)
        self.offsets(self.counts, self.ends, most)
        self.launch("mark_heads", most, self.round, self.trees, self.counts, self.ends, self.head, self.left)
        self.launch("place_arcs", self.arcs_left, m, *arcs, *there, self.ends)
        trees, left = self.device.download(self.left)  # the round's one read-back
        self.trees_left, self.arcs_left = int(trees), int(left)
        self.round = np.int32(self.round + 1)

    def boruvka_round(self, clock: Clock) -> None:
        """Make one round; only where arcs are left."""
        with clock.phase("find_min_edge"):
            self.find_min_edge()
        with clock.phase("remove_cycle"):
            self.remove_cycles(self.round)
        with clock.phase("merge_vertices"):
            self.merge_trees(self.round)
            self.number_roots(self.round)
            trees = (self.trees, self.link, self.number, self.renamed)
            self.launch("rename_trees", self.trees_left, self.round, *trees)
        with clock.phase("add_edges"):
            self.add_edges()
        clock.count("rounds")

    def fetch(self, forest: Array) -> NDArray[Any]:
        """Return the ids of the forest's edges."""
        return fetch_forest(self, forest)


class StateWithCpu(State):
    """The same with the lists on the host too: the GPU finds the lightest arcs, the CPU does the other three steps."""

    def __init__(self, view: ResidentView, device: Device):
        super().__init__(view, device)
        super().start()
        ends, *arcs = (device.download(array) for array in (self.ends, *self.lists[0][1:]))
        self.host = HostLists(Lists(ends.astype(np.int64), *arcs), device.pinned)
        self.host_tail, self.host_head = device.pinned(view.arcs, np.int32), device.pinned(view.arcs, np.uint8)
        self.copies = copy_stream(device)

    def start(self) -> None:
        """Make every vertex a tree, on both sides."""
        super().start()
        self.host.start()

    def boruvka_round(self, clock: Clock) -> None:
        """Make one round; only where arcs are left."""
        host = self.host
        with clock.phase("find_min_edge"):
            self.scan_minima()
            host.best[: host.trees] = self.device.download(self.best[: host.trees])
        host.merge(clock)
        with clock.phase("copy_lists"):
            self.copy_lists(self.lists[1 - int(self.round) % 2], host.arcs)
        self.trees_left, self.arcs_left, self.round = host.trees, host.arcs, np.int32(host.round)

    def copy_lists(self, there: ArcList, m: int) -> None:
        """Copy the lists of the new trees to the device, as far as a search for minima reads them."""
        host = self.host
        name_lists(host.trees, host.now.ends, self.host_tail, self.host_head)
        for target, source in (
            *((there.tail, self.host_tail), (self.head, self.host_head)),
            *((there.key, host.now.key), (there.id, host.now.id)),
        ):
            self.copies.upload(target[:m], source[:m])
        hold_launches(self.device, self.copies.mark())

    def fetch(self, forest: Array) -> NDArray[Any]:
        """Return the ids of the forest's edges, which are on the host."""
        return self.host.forest[: self.host.forest_edges].astype(self.view.index_dtype)


@njit
def name_lists(trees: int, ends: Any, tail: Any, head: Any) -> None:
    """Write for each arc the tree whose list it is in, and 1 where a list begins."""
    start = 0
    for t in range(trees):
        for arc in range(start, ends[t]):
            tail[arc], head[arc] = t, arc == start
        start = ends[t]


def count_dtype(sizes: InputSizes) -> np.dtype[Any]:
    """Return the dtype in which arcs are counted."""
    return np.dtype(f"u{sizes.index_bits // 8}")


def load_kernels(view: ResidentView, device: Device) -> dict[str, Kernel]:
    """Return the kernels that fit the view, compiled if need be."""
    types = key_types(view)
    return FILE.kernels(device, types) | BORUVKA.kernels(device, types, only=SHARED_KERNELS)


def compile_(view: ResidentView, device: Device, others: str = "gpu") -> None:
    """Compile what ``prepare`` will need."""
    if others == "cpu":
        lists = ListsOfGraph(view.host.tiny(), device)
        lists.find_min_edge()
        lists.merge(NullClock())
        name_lists(0, lists.now.ends, np.empty(0, np.int32), np.empty(0, np.uint8))
    load_kernels(view, device)
    load_segmented(device, key_dtype(view), view.index_bits, **SEGMENTED)
    load_tiles(offset_defines(count_dtype(view)), device)


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids, ``state.forest``."""
    with clock.phase("list_arcs"):
        state.start()
    while state.arcs_left and int(state.round) < state.switch_after:
        state.boruvka_round(clock)
    return state.forest


forest_algorithm(
    "boruvka-scan",
    summary="find-min-edge by segmented min-scan over the list of arcs; the other steps on the GPU, or on the CPU",
    authors="Sun, Skadron",
    year=2013,
    section="4: minimum spanning tree, algorithm 4",
    state_bytes=lambda sizes: needs(arrays(sizes)) + SCAN_BYTES,
    prepare=lambda view, device, others="gpu": (StateWithCpu if others == "cpu" else State)(view, device),
    run=run,
    fetch=lambda state, forest: state.fetch(forest),
    compile=compile_,
    preparations=("sort-adjacency", "renumber", "rank-weights"),
    options=(Option("others", str, "gpu", "where the other three steps run: gpu, or cpu as in the paper", SIDES),),
)


# ------------------------------------------------------------------ then Prim's steps
# The paper's open question: log log V rounds leave V / log V trees or fewer, which makes the whole O(E log log V) on
# one processor.  The last list of arcs is the contracted graph; Prim's steps are one cooperative launch of
# ``cuda_kernels/boruvka_prim.cu``.  The kernels of ``prim.cu`` do not serve here: they search rows for a vertex, while
# a row of the contracted graph is in no order and may hold several arcs to one tree.
#
# Source: the same, section 6.

PRIM_FILE = KernelFile("boruvka_prim.cu", KEY_TYPES)
MOST_BLOCKS = 4096
"""More than are resident on any GPU, for telling beforehand what a run needs."""
PER_THREAD = 4
"""A grid much larger than a step's trees, or than the arcs of one tree, only makes the barriers slower."""
LOG_LOG = -1
"""``switch-after``: log2 log2 of the vertices, rounded up."""


def default_rounds(vertices: int) -> int:
    """Return log2 log2 of the vertices, rounded up; 0 for fewer than three."""
    return max(0, math.ceil(math.log2(math.log2(vertices)))) if vertices > 2 else 0


class PrimState(State):
    """The arrays of Borůvka's rounds, and those of Prim's steps (meaning: boruvka_prim.cu)."""

    def __init__(self, view: ResidentView, device: Device, switch_after: int):
        if switch_after < LOG_LOG:
            what = f"option 'switch-after' is {switch_after} rounds"
            raise InputError(what, remedy="give 0 or more, or -1 for log log V")
        self.prim_kernel, self.block = load_prim(view, device), PRIM_FILE["BLOCK"]
        self.most_blocks = self.prim_kernel.resident_blocks(self.block)
        super().__init__(view, device, arrays_with_prim(view, self.most_blocks))
        self.switch_after = default_rounds(view.vertices) if switch_after == LOG_LOG else switch_after

    def prim(self) -> None:
        """Grow one tree after another until all that are left have joined."""
        arcs, trees = self.arcs, self.trees_left
        self.device.fill(self.best[:trees], -1)
        self.device.fill(self.joined, 0)
        self.device.fill(self.barrier, 0)
        work = max(trees, self.arcs_left // trees)  # a step reads all candidates, and the arcs of one tree
        grid = max(1, min(-(-work // (self.block * PER_THREAD)), self.most_blocks))
        args = (np.int32(trees), self.ends, arcs.other, arcs.key, arcs.id, self.best, self.joined)
        made = (self.block_arc, self.block_tree, self.forest, self.forest_edges, self.barrier)
        self.prim_kernel(grid, self.block, (*args, *made), stop=self.barrier[2:])


def run_with_prim(state: PrimState, clock: Clock) -> Array:
    """Grow the forest; returns what ``run`` does."""
    run(state, clock)
    if state.arcs_left:
        with clock.phase("prim"):
            state.prim()
        clock.count("prim_steps", state.trees_left - 1)
    return state.forest


def load_prim(view: ResidentView, device: Device) -> Kernel:
    """Return the kernel of Prim's steps, compiled if need be."""
    return PRIM_FILE.kernel(device, key_types(view), cooperative=True)


def compile_with_prim(view: ResidentView, device: Device, **options: int) -> None:
    """Compile what ``prepare`` will need."""
    compile_(view, device)
    load_prim(view, device)


def arrays_with_prim(sizes: InputSizes, blocks: int) -> ArrayTable:
    """Return the arrays of a run whose last launch has so many blocks at most."""
    return {
        **arrays(sizes),
        "joined": (sizes.vertices, np.uint8),
        "block_arc": (blocks, np.dtype(f"i{sizes.index_bits // 8}")),
        "block_tree": (blocks, np.int32),
        "barrier": (3, np.uint32),
    }


forest_algorithm(
    "boruvka-prim",
    summary="Borůvka's rounds by segmented scan, then Prim's steps on the trees they leave in one launch",
    authors="Sun, Skadron",
    year=2013,
    section="6: conclusions and future work",
    state_bytes=lambda sizes: needs(arrays_with_prim(sizes, MOST_BLOCKS)) + SCAN_BYTES,
    prepare=lambda view, device, **options: PrimState(view, device, options["switch-after"]),
    run=run_with_prim,
    compile=compile_with_prim,
    preparations=("sort-adjacency", "renumber", "rank-weights"),
    options=(Option("switch-after", int, LOG_LOG, "rounds of Borůvka's before Prim's begins; -1: log2 log2 V"),),
)
