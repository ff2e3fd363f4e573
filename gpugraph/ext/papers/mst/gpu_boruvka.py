"""Borůvka's algorithm on a GPU: find-min, remove cycles, merge trees, renumber.

The kernels and their invariants are in ``cuda_kernels/boruvka.cu``; this file is the paper's pseudo-code.

Source: A. Kolganov, "Hybrid implementation of the MST algorithm using CPU and GPU", 2015.
"""

from typing import Any

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.devices.base import Array, Defines, Device, Kernel
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs, product
from gpugraph.ext.papers.mst.weight_words import KEY_TYPES, key_dtype, key_types, merge_launches
from gpugraph.graph.view import GraphView, ResidentView
from gpugraph.problems.algorithm import InputSizes, Option
from gpugraph.problems.mst.forest import forest_bytes
from gpugraph.problems.mst.gpu_forest import forest_algorithm, is_wide

_WAYS = ("shuffles", "shared-memory")
EXCHANGE = Option("exchange", str, _WAYS[0], "how lanes agree; shared-memory is what shuffles are compared with", _WAYS)
MAX_ROUNDS = 33  # trees at least halve: 2^32 vertices end after 32 rounds


_IDS, _SORTED = {"HAS_IDS": (1,)}, {"HAS_IDS": (1,), "SORTED": (1,)}  # sorted rows have ids
FILE = KernelFile(
    "boruvka.cu",
    [
        *KEY_TYPES,
        *(sets for rows in ({}, _IDS, _SORTED) for sets in product(LANES=(4, 8, 16, 32), **rows)),
        *(sets for rows in ({}, _SORTED) for sets in product(COMPRESSED=(1,), **rows)),
        *(sets for rows in (_IDS, _SORTED) for sets in product(SHUFFLES=(0,), **rows)),
        *product(INDEX_BITS=(64,), WEIGHT=("uint64",), LANES=(4,), **_SORTED),
        *product(INDEX_BITS=(64,), WEIGHT=("uint64",), LANES=(4,), COMPRESSED=(1,), **_IDS),
    ],
)


def tree_arrays(sizes: InputSizes) -> ArrayTable:
    """Return the arrays of ``Trees`` (meaning: boruvka.cu)."""
    n, index = sizes.vertices, np.dtype(f"i{sizes.index_bits // 8}")
    return {
        **dict.fromkeys(("link", "number"), (n, np.int32)),
        "edge": (n, index),
        "best_key": (n, np.uint64),
        "best_id": (n if is_wide(sizes) else 1, np.uint64),
        "forest": (max(n - 1, 1), index),
        "forest_edges": (1, np.uint32),
        "trees": (MAX_ROUNDS + 1, np.uint32),
        "changed": ((MAX_ROUNDS, merge_launches(n, FILE["JUMPS"])), np.uint32),
    }


def arrays(view: GraphView, rows: int) -> ArrayTable:
    """Return the arrays of a run that searches the first ``rows`` rows (meaning: boruvka.cu)."""
    index, segments = view.offsets.dtype, most_segments(view, rows)
    return {
        **tree_arrays(view),
        "tree": (view.vertices, np.int32),
        "lower": ((2, segments), index),
        "upper": ((2, segments), index),
        "vertex": ((2, segments), np.int32),
        "segment_key": (segments, key_dtype(view)),
        "segment_id": (segments, index),
        "segment_other": (segments, np.int32),
        "segments": (MAX_ROUNDS + 1, np.uint32),
    }


class Trees(Arrays):
    """The steps of a round that look at trees alone, of which there are ``trees_left``."""

    trees_left: int

    def reset_trees(self, round_: np.int32) -> None:
        """Forget the trees' choices."""
        self.launch("reset_trees", self.trees_left, round_, self.trees, self.link, self.best_key, self.best_id)

    def remove_cycles(self, round_: np.int32) -> None:
        """Break the pairs of trees that chose the same edge; the others add theirs to the forest."""
        args = (round_, self.trees, self.edge, self.link, self.forest, self.forest_edges)
        self.launch("remove_cycles", self.trees_left, *args)

    def merge_trees(self, round_: np.int32) -> None:
        """Let every tree link to its root."""
        for step in range(merge_launches(self.trees_left, FILE["JUMPS"])):
            row = self.changed[int(round_)]
            self.launch("merge_trees", self.trees_left, round_, np.int32(step), self.trees, self.link, row)

    def number_roots(self, round_: np.int32) -> None:
        """Number the trees that may still grow from 0."""
        best = (self.best_key, self.best_id)
        self.launch("number_roots", self.trees_left, round_, self.trees, self.link, *best, self.number)


class State(Trees):
    """The arrays of one run and the kernels that work on them.

    Attributes:
        rows: how many rows are cut into segments when a run starts; all, unless the rest of the graph is elsewhere.
    """

    def __init__(self, view: ResidentView, device: Device, rows: int | None = None, exchange: str = "shuffles"):
        self.view, self.rows = view, view.vertices if rows is None else rows
        super().__init__(device, arrays(view.host, self.rows))
        self.segments_capacity = most_segments(view.host, self.rows)
        self.segment_lists = [(self.lower[turn], self.upper[turn], self.vertex[turn]) for turn in (0, 1)]
        self.found = (self.segment_key, self.segment_id, self.segment_other)
        self.wide, self.lanes = is_wide(view), lanes_for(view)
        self.block = FILE["BLOCK"]
        self.kernels = load_kernels(view, device, exchange=exchange)

    def start(self) -> None:
        """Make every vertex a tree and cut the rows into segments."""
        for counters in (self.trees, self.segments, self.changed, self.forest_edges):
            self.device.fill(counters, 0)
        self.trees_left = self.view.vertices
        self.segments_left = self.segments_capacity
        n = self.view.vertices
        rows = (np.int32(n), np.int32(self.rows), self.view.offsets)
        self.launch("start", n, *rows, self.tree, *self.segment_lists[0], self.trees, self.segments)

    def find_min_segments(self, round_: np.int32) -> None:
        """Find the lightest outgoing arc of every segment."""
        view, (lower, upper, vertex) = self.view, self.segment_lists[round_ % 2]
        edge_ids = view.edge_ids if view.edge_ids is not None else view.offsets
        base, byte, bits, _, shift = view.compressed or (view.targets, *(view.offsets,) * 4)
        self.launch(
            "find_min_segments",
            self.segments_left * self.lanes,
            *(round_, self.segments, view.offsets, view.targets, base, byte, bits, shift),
            *(view.weights, FILE.weight_kind(view.weights), edge_ids),
            *(self.tree, lower, upper, vertex, *self.found),
        )

    def find_min_trees(self, lists: list[tuple[Any, ...]]) -> None:
        """Find the lightest outgoing edge of every tree among what was found for each segment.

        Of each list of segments: how many it may have; round, counter by round; vertex, key, id and other tree of each.
        """
        best = (self.best_key, self.best_id)
        for most, round_, count, vertex, *found in lists:
            self.launch("find_min_trees", most, round_, count, self.tree, vertex, *found, self.best_key)
        if self.wide:
            for most, round_, count, vertex, *found in lists:
                self.launch("break_ties", most, round_, count, self.tree, vertex, *found, *best)
        for most, round_, count, vertex, *found in lists:
            self.launch("link_trees", most, round_, count, self.tree, vertex, *found, *best, self.link, self.edge)

    def own_segments(self, round_: np.int32) -> tuple[Any, ...]:
        """Return the GPU's segments as ``find_min_trees`` takes them."""
        return (self.segments_left, round_, self.segments, self.segment_lists[round_ % 2][2], *self.found)

    def find_min(self, round_: np.int32) -> None:
        """Find the lightest outgoing edge of every tree: of its segments first, then of the tree."""
        self.reset_trees(round_)
        self.find_min_segments(round_)
        self.find_min_trees([self.own_segments(round_)])

    def renumber(self, round_: np.int32) -> None:
        """Number the trees that may still grow from 0, and shrink the arrays."""
        n = self.view.vertices
        here, there = self.segment_lists[round_ % 2], self.segment_lists[1 - round_ % 2]
        self.number_roots(round_)
        self.launch("relabel_vertices", n, np.int32(n), self.link, self.number, self.tree)
        self.launch("keep_segments", self.segments_left, round_, self.segments, *here, self.segment_other, *there)
        self.trees_left = int(self.device.read(self.trees, int(round_) + 1))  # the round's one read-back

    def contract(self, round_: np.int32, clock: Clock) -> None:
        """End a round whose lightest edges are found: the trees along them become one."""
        with clock.phase("remove_cycles"):
            self.remove_cycles(round_)
        with clock.phase("merge_trees"):
            self.merge_trees(round_)
        with clock.phase("renumber"):
            self.renumber(round_)
        clock.count("rounds")


def load_kernels(view: ResidentView | GraphView, device: Device, *, exchange: str = "shuffles") -> dict[str, Kernel]:
    """Return the kernels that fit the view, compiled if need be."""
    defines: Defines = {
        **key_types(view),
        "LANES": lanes_for(view),
        "SORTED": int("sort-adjacency" in view.host.preparations),
        "HAS_IDS": int(view.edge_ids is not None),
        "COMPRESSED": int(view.compressed is not None),
        "SHUFFLES": int(exchange == "shuffles"),
    }
    return FILE.kernels(device, defines)


def lanes_for(view: ResidentView | GraphView) -> int:
    """Return how many lanes read one segment together: about its average length, so that few are idle."""
    average = view.arcs / max(view.vertices, 1)
    return next((lanes for lanes in (4, 8, 16) if average <= lanes), 32)


def most_segments(view: GraphView, rows: int) -> int:
    """Return how many segments the first ``rows`` rows can have at most."""
    return rows + int(view.offsets[rows]) // FILE["SEGMENT_ARCS"]


def state_bytes(view: ResidentView | GraphView, rows: int | None = None) -> int:
    """Return the bytes that a state allocates for the first ``rows`` rows, all of them if not given."""
    return needs(arrays(view.host, view.vertices if rows is None else rows))


def count_compression(view: GraphView, clock: Clock) -> None:
    """Tell what the preparation ``compress`` has reached: 290 where targets take 2.9 times fewer bytes."""
    if view.compressed is not None:
        clock.count("compression_percent", round(100 * view.compressed.factor))


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids, ``state.forest``."""
    state.start()
    round_ = np.int32(0)
    count_compression(state.view.host, clock)
    while state.trees_left > 1:
        with clock.phase("find_min"):
            state.find_min(round_)
        state.contract(round_, clock)
        round_ = np.int32(round_ + 1)
    return state.forest


forest_algorithm(
    "boruvka",
    summary="find-min by warp shuffles in two steps, remove cycles, merge by pointer jumping, renumber",
    authors="Kolganov",
    year=2015,
    section="Algorithm Stages, 1 to 4",
    prepare=State,
    run=run,
    compile=load_kernels,
    minimum_bytes=forest_bytes,
    preparations=("sort-adjacency", "renumber", "rank-weights", "compress"),
    options=(EXCHANGE,),
)
