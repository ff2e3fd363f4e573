"""Borůvka's algorithm on a GPU: find-min, remove cycles, merge trees, renumber.

The kernels and their invariants are in ``cuda_kernels/boruvka.cu``; this file is the paper's pseudo-code.

Source: A. Kolganov, "The implementation of a hybrid minimum spanning tree algorithm on CPU and GPU", 2015.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel, covering_grid
from gpugraph.graph.digest import set_digest
from gpugraph.graph.view import GraphView, ResidentView
from gpugraph.problems.algorithm import Algorithm, Option
from gpugraph.problems.mst.gpu_forest import fetch_forest, finish_forest, forest_bytes, merge_launches
from gpugraph.problems.registry import register

FILE = "boruvka.cu"
BLOCK = 256  # as in boruvka.cu
SEGMENT_ARCS = 1024  # as in boruvka.cu
JUMPS = 8  # as in boruvka.cu
MAX_ROUNDS = 33  # trees at least halve: 2^32 vertices end after 32 rounds


class State:
    """The arrays of one run and the kernels that work on them (shapes and meaning: boruvka.cu).

    Args:
        view: the graph on the device.
        device: the device.
        rows: how many rows its arrays hold, where the rest of the graph is elsewhere; all of them if not given.
        exchange: how the lanes that read a segment agree: ``"shuffles"`` or ``"shared-memory"``.

    Attributes:
        rows: how many rows are cut into segments when a run starts.
    """

    def __init__(self, view: ResidentView, device: Device, rows: int | None = None, exchange: str = "shuffles"):
        self.view, self.device = view, device
        n, index = view.vertices, view.index_dtype
        self.rows = n if rows is None else rows
        segments = most_segments(view.host, self.rows)
        key = np.uint32 if view.weights.dtype.itemsize == 4 else np.uint64
        wide = view.index_bits == 64 or key is np.uint64
        self.segments_capacity = segments
        device.require(state_bytes(view, self.rows))
        self.tree = device.empty(n, np.int32)
        self.segment_lists = [
            (device.empty(segments, index), device.empty(segments, index), device.empty(segments, np.int32))
            for _ in range(2)
        ]
        self.segment_key = device.empty(segments, key)
        self.segment_id = device.empty(segments, index)
        self.segment_other = device.empty(segments, np.int32)
        self.found = (self.segment_key, self.segment_id, self.segment_other)
        self.best_key = device.empty(n, np.uint64)
        self.best_id = device.empty(n if wide else 1, np.uint64)
        self.link = device.empty(n, np.int32)
        self.edge = device.empty(n, index)
        self.number = device.empty(n, np.int32)
        self.forest = device.empty(max(n - 1, 1), index)
        self.forest_edges = device.empty(1, np.uint32)
        self.trees = device.empty(MAX_ROUNDS + 1, np.uint32)
        self.segments = device.empty(MAX_ROUNDS + 1, np.uint32)
        self.changed = device.empty((MAX_ROUNDS, merge_launches(n, JUMPS)), np.uint32)
        self.wide = wide
        self.lanes = lanes_for(view)
        self.kernels = load_kernels(view, device, exchange=exchange)

    def launch(self, name: str, threads: int, *args: Any) -> None:
        """Launch a kernel over about ``threads`` threads' worth of work."""
        self.kernels[name](covering_grid(self.device, threads, BLOCK), BLOCK, args)

    def start(self) -> None:
        """Make every vertex a tree and cut the rows into segments."""
        for counters in (self.trees, self.segments, self.changed, self.forest_edges):
            self.device.fill(counters, 0)
        self.trees_left = self.view.vertices
        self.segments_left = self.segments_capacity
        n = self.view.vertices
        rows = (np.int32(n), np.int32(self.rows), self.view.offsets)
        self.launch("start", n, *rows, self.tree, *self.segment_lists[0], self.trees, self.segments)

    def reset_trees(self, round_: np.int32) -> None:
        """Forget the trees' choices."""
        self.launch("reset_trees", self.trees_left, round_, self.trees, self.link, self.best_key, self.best_id)

    def find_min_segments(self, round_: np.int32) -> None:
        """Find the lightest outgoing arc of every segment."""
        view, (lower, upper, vertex) = self.view, self.segment_lists[round_ % 2]
        edge_ids = view.edge_ids if view.edge_ids is not None else view.offsets
        base, byte, bits, _, shift = view.compressed or (view.targets, *(view.offsets,) * 4)
        self.launch(
            "find_min_segments",
            self.segments_left * self.lanes,
            *(round_, self.segments, view.offsets, view.targets, base, byte, bits, shift, view.weights, edge_ids),
            *(self.tree, lower, upper, vertex, *self.found),
        )

    def find_min_trees(self, lists: list[tuple[Any, ...]]) -> None:
        """Find the lightest outgoing edge of every tree among what was found for each segment.

        Args:
            lists: for each list of segments how many it may have, and round, counter by round, vertex, key, id and
                other tree of each segment.
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

    def remove_cycles(self, round_: np.int32) -> None:
        """Break the pairs of trees that chose the same edge; the others add theirs to the forest."""
        args = (round_, self.trees, self.edge, self.link, self.forest, self.forest_edges)
        self.launch("remove_cycles", self.trees_left, *args)

    def merge_trees(self, round_: np.int32) -> None:
        """Let every tree link to its root."""
        for step in range(merge_launches(self.trees_left, JUMPS)):
            row = self.changed[int(round_)]
            self.launch("merge_trees", self.trees_left, round_, np.int32(step), self.trees, self.link, row)

    def renumber(self, round_: np.int32) -> int:
        """Number the trees that may still grow from 0, shrink the arrays, and return how many they are."""
        n = self.view.vertices
        here, there = self.segment_lists[round_ % 2], self.segment_lists[1 - round_ % 2]
        best = (self.best_key, self.best_id)
        self.launch("number_roots", self.trees_left, round_, self.trees, self.link, *best, self.number)
        self.launch("relabel_vertices", n, np.int32(n), self.link, self.number, self.tree)
        self.launch("keep_segments", self.segments_left, round_, self.segments, *here, self.segment_other, *there)
        trees = int(self.device.read(self.trees, int(round_) + 1))  # the round's one read-back
        self.trees_left = trees
        return trees


KERNELS = (
    "start",
    "add_rows",
    "reset_trees",
    "find_min_segments",
    "find_min_trees",
    "break_ties",
    "link_trees",
    "remove_cycles",
    "merge_trees",
    "number_roots",
    "relabel_vertices",
    "keep_segments",
)


def load_kernels(view: ResidentView | GraphView, device: Device, *, exchange: str = "shuffles") -> dict[str, Kernel]:
    """Return the kernels that fit the view, compiled if need be."""
    host = view.host if isinstance(view, ResidentView) else view
    defines: dict[str, str | int] = {
        "INDEX_BITS": view.index_bits,
        "WEIGHT": view.weights.dtype.name,
        "LANES": lanes_for(view),
        "SORTED": int("sort-adjacency" in host.preparations),
        "HAS_IDS": int(view.edge_ids is not None),
        "COMPRESSED": int(view.compressed is not None),
        "SHUFFLES": int(exchange == "shuffles"),
    }
    return {name: device.kernel(FILE, f"boruvka_{name}", defines) for name in KERNELS}


def lanes_for(view: ResidentView | GraphView) -> int:
    """Return how many lanes read one segment together: about its average length, so that few are idle."""
    average = view.arcs / max(view.vertices, 1)
    return next((lanes for lanes in (4, 8, 16) if average <= lanes), 32)


def most_segments(view: GraphView, rows: int) -> int:
    """Return how many segments the first ``rows`` rows can have at most."""
    return rows + int(view.offsets[rows]) // SEGMENT_ARCS


def state_bytes(view: ResidentView | GraphView, rows: int | None = None) -> int:
    """Return the bytes that a state allocates for the first ``rows`` rows, all of them if not given."""
    view = view.host if isinstance(view, ResidentView) else view
    n, index = view.vertices, view.index_bits // 8
    key = int(view.weights.dtype.itemsize)
    segments = most_segments(view, n if rows is None else rows)
    wide = 8 if view.index_bits == 64 or key == 8 else 0
    return segments * (5 * index + key + 12) + n * (4 + 8 + wide + 4 + 4 + 2 * index) + 4096


def count_compression(view: GraphView, clock: Clock) -> None:
    """Tell what the preparation ``compress`` has reached: 290 where targets take 2.9 times fewer bytes."""
    if view.compressed is not None:
        clock.count("compression_percent", round(100 * view.compressed.factor))


def prepare(view: ResidentView, device: Device, *, exchange: str = "shuffles") -> State:
    """Return the segments of the rows and what belongs to the trees, on the device."""
    return State(view, device, exchange=exchange)


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids, ``state.forest``."""
    state.start()
    round_ = np.int32(0)
    trees = state.trees_left
    count_compression(state.view.host, clock)
    while trees > 1:
        with clock.phase("find_min"):
            state.find_min(round_)
        with clock.phase("remove_cycles"):
            state.remove_cycles(round_)
        with clock.phase("merge_trees"):
            state.merge_trees(round_)
        with clock.phase("renumber"):
            trees = state.renumber(round_)
        clock.count("rounds")
        round_ = np.int32(round_ + 1)
    return state.forest


register(
    Algorithm(
        problem="mst",
        name="boruvka",
        devices=("cuda", "emulated"),
        summary="find-min by warp shuffles in two steps, remove cycles, merge by pointer jumping, renumber",
        authors="Kolganov",
        year=2015,
        section="The algorithm for constructing the MST on the GPU",
        prepare=prepare,
        run=run,
        fetch=fetch_forest,
        finish=finish_forest,
        digest=set_digest,
        compile=load_kernels,
        minimum_bytes=forest_bytes,
        preparations=("sort-adjacency", "renumber", "rank-weights", "compress"),
        options=(
            Option(
                "exchange",
                str,
                "shuffles",
                "how lanes agree; shared-memory is what shuffles are compared with",
                ("shuffles", "shared-memory"),
            ),
        ),
    )
)
