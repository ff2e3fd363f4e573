"""Borůvka's algorithm on a GPU by segmented scan: find-min-edge, remove-cycle, merge-vertices, add edges.

Arcs stand in a list, grouped by tree, and the least arc of each group is what a segmented min-scan leaves at its end.
The kernels are in ``cuda_kernels/boruvka_scan.cu``, ``segmented_scan.cu``, ``prefix_scan.cu``, and ``boruvka.cu`` for
what does not depend on where the arcs stand.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 4, algorithm 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel, covering_grid
from gpugraph.graph.digest import set_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.mst.gpu_boruvka import JUMPS, MAX_ROUNDS
from gpugraph.problems.mst.gpu_boruvka import lanes_for as boruvka_lanes
from gpugraph.problems.mst.gpu_forest import fetch_forest, finish_forest, merge_launches
from gpugraph.problems.registry import register
from gpugraph.problems.scan.gpu_segmented import SegmentedScan
from gpugraph.problems.scan.gpu_segmented import load_kernels as load_segmented
from gpugraph.problems.scan.tiles import OffsetScan, offset_defines
from gpugraph.problems.scan.tiles import load_kernels as load_tiles

FILE = "boruvka_scan.cu"
BLOCK = 256
ARCS_PER_WARP = 256  # LISTED of boruvka_scan.cu
KERNELS = ("list_arcs", "link_trees", "rename_trees", "count_arcs", "mark_heads", "place_arcs")
SHARED_KERNELS = ("reset_trees", "remove_cycles", "merge_trees", "number_roots")
"""Kernels of boruvka.cu."""
SEGMENTED = {"FLAGS": 0, "IDS": 1, "ENDS": 1, "VECTORS": 2}


@dataclass(frozen=True)
class ArcList:
    """Arcs grouped by tree: the tree each leaves, the one it leads to, its weight, the id of its edge."""

    tail: Array
    other: Array
    key: Array
    id: Array


class State:
    """The arrays of one run and the kernels that work on them (shapes and meaning: boruvka_scan.cu)."""

    def __init__(self, view: ResidentView, device: Device):
        self.view, self.device = view, device
        n, arcs, index = view.vertices, view.arcs, view.index_dtype
        key, count = key_dtype(view), count_dtype(view)
        device.require(state_bytes(view))
        self.lists = [
            ArcList(*(device.empty(arcs, dtype) for dtype in (np.int32, np.int32, key, index))) for _ in range(2)
        ]
        self.head = device.empty(arcs, np.uint8)
        self.best, self.edge = device.empty(n, index), device.empty(n, index)
        self.link, self.number, self.renamed = (device.empty(n, np.int32) for _ in range(3))
        self.best_key = device.empty(n, np.uint64)
        self.best_id = device.empty(n if is_wide(view) else 1, np.uint64)
        self.counts, self.ends = device.empty(n, count), device.empty(n, count)
        self.forest = device.empty(max(n - 1, 1), index)
        self.forest_edges = device.empty(1, np.uint32)
        self.trees = device.empty(MAX_ROUNDS + 1, np.uint32)
        self.left = device.empty(2, np.uint64)
        self.changed = device.empty((MAX_ROUNDS, merge_launches(n, JUMPS)), np.uint32)
        self.kernels = load_kernels(view, device)
        self.segments = SegmentedScan(device, key, view.index_bits, arcs, **SEGMENTED)
        self.offsets = OffsetScan(device, count, n)

    def launch(self, name: str, threads: int, *args: Any) -> None:
        """Launch a kernel over about ``threads`` threads' worth of work."""
        self.kernels[name](covering_grid(self.device, threads, BLOCK), BLOCK, args)

    def start(self) -> None:
        """Make every vertex a tree and its row a segment of the list."""
        view, device, first = self.view, self.device, self.lists[0]
        for counters in (self.trees, self.changed, self.forest_edges, self.head):
            device.fill(counters, 0)
        self.trees_left, self.arcs_left, self.round = view.vertices, view.arcs, np.int32(0)
        edge_ids = view.edge_ids if view.edge_ids is not None else view.offsets
        self.launch(
            *("list_arcs", max(view.vertices, view.arcs * 32 // ARCS_PER_WARP)),
            *(np.int32(view.vertices), view.index_dtype.type(view.arcs)),
            *(view.offsets, view.targets, view.weights, edge_ids),
            *(first.tail, first.other, first.key, first.id, self.head, self.ends, self.trees),
        )

    @property
    def arcs(self) -> ArcList:
        """The list of this round."""
        return self.lists[int(self.round) % 2]

    def find_min_edge(self) -> None:
        """Find the lightest arc of every tree: a segmented min-scan, of which the end of each segment is kept."""
        arcs, m = self.arcs, self.arcs_left
        self.device.fill(self.best[: self.trees_left], -1)
        self.segments.reduce(m, arcs.key, self.head, arcs.id)
        self.segments.spine(m, arcs.id)
        self.segments.scan(m, arcs.key, self.head, arcs.id, arcs.tail, self.best)
        best = (self.best_key, self.best_id)
        self.launch("reset_trees", self.trees_left, self.round, self.trees, self.link, *best)
        found = (self.best, arcs.other, arcs.key, arcs.id)
        self.launch("link_trees", self.trees_left, self.round, self.trees, *found, self.link, self.edge, *best)

    def remove_cycle(self) -> None:
        """Break the pairs of trees that chose the same edge; the others add theirs to the forest."""
        args = (self.round, self.trees, self.edge, self.link, self.forest, self.forest_edges)
        self.launch("remove_cycles", self.trees_left, *args)

    def merge_vertices(self) -> None:
        """Let every tree link to its root, and number the roots."""
        trees, round_ = self.trees_left, self.round
        for step in range(merge_launches(trees, JUMPS)):
            row = self.changed[int(round_)]
            self.launch("merge_trees", trees, round_, np.int32(step), self.trees, self.link, row)
        self.launch(
            *("number_roots", trees, round_, self.trees, self.link, self.best_key, self.best_id, self.number),
        )
        self.launch("rename_trees", trees, round_, self.trees, self.link, self.number, self.renamed)

    def add_edges(self) -> None:
        """Put every arc that still joins two trees into its new tree's segment of the other list."""
        arcs, there, m = self.arcs, self.lists[1 - int(self.round) % 2], self.view.index_dtype.type(self.arcs_left)
        most = self.trees_left // 2 + 1  # trees of the next round: those that grow at least halve
        self.device.fill(self.counts[:most], 0)
        self.device.fill(self.head[: self.arcs_left], 0)
        self.launch("count_arcs", self.arcs_left, m, self.renamed, arcs.tail, arcs.other, self.counts)
        self.offsets(self.counts, self.ends, most)
        self.launch("mark_heads", most, self.round, self.trees, self.counts, self.ends, self.head, self.left)
        here = (arcs.tail, arcs.other, arcs.key, arcs.id)
        self.launch(
            *("place_arcs", self.arcs_left, m, *here, there.tail, there.other, there.key, there.id, self.ends),
        )
        trees, left = self.device.download(self.left)  # the round's one read-back
        self.trees_left, self.arcs_left = int(trees), int(left)
        self.round = np.int32(self.round + 1)

    def boruvka_round(self, clock: Clock) -> None:
        """Make one round; only where arcs are left."""
        with clock.phase("find_min_edge"):
            self.find_min_edge()
        with clock.phase("remove_cycle"):
            self.remove_cycle()
        with clock.phase("merge_vertices"):
            self.merge_vertices()
        with clock.phase("add_edges"):
            self.add_edges()
        clock.count("rounds")


def key_dtype(view: ResidentView) -> np.dtype[Any]:
    """Return the dtype of an order-preserving key."""
    return np.dtype(f"u{view.weights.dtype.itemsize}")


def count_dtype(view: ResidentView) -> np.dtype[Any]:
    """Return the dtype in which arcs are counted."""
    return np.dtype(f"u{view.index_bits // 8}")


def is_wide(sizes: InputSizes) -> bool:
    """True where weight and id do not fit one word of 64 bits."""
    return sizes.index_bits == 64 or sizes.weight_bytes == 8


def load_kernels(view: ResidentView, device: Device) -> dict[str, Kernel]:
    """Return the kernels that fit the view, compiled if need be."""
    types: dict[str, str | int] = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name}
    own = types | {"HAS_IDS": int(view.edge_ids is not None)}
    kernels = {name: device.kernel(FILE, f"boruvka_scan_{name}", own) for name in KERNELS}
    shared = types | {"LANES": boruvka_lanes(view), "SORTED": 0, "HAS_IDS": 0}
    return kernels | {name: device.kernel("boruvka.cu", f"boruvka_{name}", shared) for name in SHARED_KERNELS}


def compile_(view: ResidentView, device: Device) -> None:
    """Compile what ``prepare`` will need."""
    load_kernels(view, device)
    load_segmented(device, key_dtype(view), view.index_bits, **SEGMENTED)
    load_tiles(offset_defines(count_dtype(view)), device)


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes that ``prepare`` allocates."""
    n, index, key = sizes.vertices, sizes.index_bits // 8, sizes.weight_bytes
    arcs = sizes.arcs * (2 * (8 + key + index) + 1)
    vertices = n * (3 * index + 3 * 4 + 8 + (8 if is_wide(sizes) else 0) + 2 * index)
    return arcs + vertices + 16384


def prepare(view: ResidentView, device: Device) -> State:
    """Return the lists of arcs and what belongs to the trees, on the device."""
    return State(view, device)


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids, ``state.forest``."""
    with clock.phase("list_arcs"):
        state.start()
    while state.arcs_left:
        state.boruvka_round(clock)
    return state.forest


register(
    Algorithm(
        problem="mst",
        name="boruvka-scan",
        devices=("cuda", "emulated"),
        summary="find-min-edge by segmented min-scan over the list of arcs, all four steps on the GPU",
        authors="Sun, Skadron",
        year=2013,
        section="4: minimum spanning tree, algorithm 4",
        state_bytes=state_bytes,
        prepare=prepare,
        run=run,
        fetch=fetch_forest,
        finish=finish_forest,
        digest=set_digest,
        compile=compile_,
        preparations=("sort-adjacency", "renumber", "rank-weights"),
    )
)
