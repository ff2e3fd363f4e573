"""Filter-Borůvka on a GPU: the whole forest in one cooperative launch.

How it works, its arrays and invariants are in ``cuda_kernels/filter_boruvka.cu``; the host only chooses how many
edges count as light and starts it.

Source: see the kernel's docblock.
"""

import math
from functools import cached_property
from typing import Any

import numpy as np

from gpugraph.base.clock import Clock, add_stamps
from gpugraph.devices.base import Array, Device, InTurns, Kernel, Launch
from gpugraph.devices.kernel_file import UNSIGNED, Arrays, ArrayTable, KernelFile, index_types, needs, product
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.mst.forest import Forest, forest_bytes
from gpugraph.problems.mst.gpu_forest import forest_algorithm, is_wide

WEIGHTS = ("uint32", "int32", "uint64", "int64", "float32", "float64")
FILE = KernelFile("filter_boruvka.cu", [*product(INDEX_BITS=(32, 64), WEIGHT=WEIGHTS), UNSIGNED])

ARCS_PER_VERTEX = 8
"""So many arcs are about as much work as a vertex.  A grid with more threads than work makes the barriers slower."""
FEW_PER_THREAD = 11
"""Where the threads of one block on every multiprocessor have at most so much work each, a second block there costs
more at the barriers than it brings."""
FILTER_ARCS = 1 << 18
"""Below this many arcs one list is quicker than two; docs/performance/mst.md, "One list for small graphs"."""
ALL_LISTED = 1 << 22
"""Below this many edges the list, of up to 128 MiB, has a place for each arc, and needs no pages."""
LIGHT_ARCS = 1.5
"""Arcs below the threshold per vertex that has any, but for what its degree adds; see ``light_arcs``."""
ROOM_PER_VERTEX = 2.25
"""Edges for which there is room in the list, per vertex: somewhat more than where all are listed at once."""

COUNTED = ("ROUNDS", "PAGES", "ENTRIES", "FINALS", "HUBS_FIRST", "HUBS_HEAVY")
"""Words of ``control`` that are counters of a run: pages of light edges, heavy edges, retired components, hubs."""


def arrays(sizes: InputSizes) -> ArrayTable:
    """Return the arrays of a run (meaning: filter_boruvka.cu)."""
    n, index, wide = sizes.vertices, np.dtype(f"u{sizes.index_bits // 8}"), is_wide(sizes)
    page = FILE["PAGE"]
    return {
        **dict.fromkeys(("label", "link", "up"), (n, np.int32)),
        "pick": (n, index),
        "best_key": (n // 2 + 1, np.uint64),
        "best_id": (n // 2 + 1 if wide else 1, np.uint64),
        "chain": (n + 1, np.int32),
        "list": (room(sizes) * page * (3 if wide else 2), np.uint64),
        "page_of": (sizes.arcs // page + 1, np.uint32),
        "first_row": (most_spans(sizes), np.int32),
        "forest": (max(n - 1, 1), index),
        **dict.fromkeys(("control_0", "control_1"), (FILE["CONTROL_WORDS"], np.uint32)),
        # A matrix of words: rows that are read some at once, and five bids for each.
        "cells": (dense(sizes) * (dense(sizes) + 2 * FILE["WARP"] * FILE["IN_ROW"] + 5), np.uint64),
        "timeline": (len(FILE.phases), np.uint64),
    }


def most_spans(sizes: InputSizes) -> int:
    """Return into how many spans the arcs are cut at most, of each of which a warp lists the edges."""
    return min(sizes.arcs // FILE["TILE"] + 1, FILE["MOST_SPANS"])


def room(sizes: InputSizes) -> int:
    """Return how many pages the list has.

    That is a place for each arc of a small graph, enough for all edges of a sparse one, and for half of the others,
    whose heavy edges are held back: few are light, and the rows outside the giant component, which have to fit, are
    few where it is one.  The kernel lists in more steps what does not fit.  The last page of each span is not full.
    """
    edges = sizes.arcs // 2
    if edges < ALL_LISTED:
        return sizes.arcs // FILE["PAGE"] + 1
    edges = min(edges, max(edges // 2, int(ROOM_PER_VERTEX * sizes.vertices)))
    return edges // FILE["PAGE"] + 1 + most_spans(sizes)


def dense(sizes: InputSizes) -> int:
    """Return how many components are few enough for a matrix of the lightest edges between each two.

    As many as the root of the vertices, so that it takes about a word for each of these; none where a word does not
    hold a weight and a slot.
    """
    return 1 if sizes.weight_bytes == 8 else max(1, min(FILE["MOST_DENSE"], math.isqrt(sizes.vertices)))


def light_arcs(vertices: int, arcs: int) -> float:
    """Return how many arcs below the threshold a vertex should have, if every vertex has arcs.

    Enough for a giant component, few enough to be quick.  Row minima leave components of about four vertices; c light
    arcs a vertex do not reach e^(-4c) of them, whose d arcs a vertex are all read again.  The sum of both costs is
    least at c = ln(d) / 4 and a constant.  The kernel takes more where the graph is clustered.
    """
    return LIGHT_ARCS + math.log(max(1, arcs / max(1, vertices))) / 4


class State(Arrays):
    """The arrays of one run."""

    def __init__(self, view: ResidentView, device: Device):
        super().__init__(device, arrays(view))
        self.view = view
        n, arcs = view.vertices, view.arcs
        self.hubs = self.chain  # hubs are noted while rows are read, numbers while rounds are made
        self.kernel = load_kernel(view, device)
        self.block = FILE["PACKED_BLOCK" if view.index_bits == 32 and view.weight_bytes == 4 else "WIDE_BLOCK"]
        work, most = n + arcs // ARCS_PER_VERTEX, self.kernel.resident_blocks(self.block)
        if work <= FEW_PER_THREAD * self.block * device.multiprocessors:
            most = min(most, device.multiprocessors)
        self.grid = max(1, min(-(-work // self.block), most))
        # The threshold is that of as many samples as a block has threads.
        self.wanted = int(light_arcs(n, arcs) * n) if arcs >= max(FILTER_ARCS, self.block) else 0
        self.room = room(view)
        self.dense = dense(view)

    @cached_property
    def start(self) -> InTurns:
        """The launch."""
        return InTurns(self.device, (self.control_0, self.control_1), self.prepared)

    @property
    def control(self) -> Array:
        """The control words of the last run."""
        return self.start.own

    @property
    def forest_edges(self) -> Array:
        """(1,) uint32: how many edges it found."""
        return self.control[FILE["FOREST"] : FILE["FOREST"] + 1]

    def prepared(self, control: Array, next_control: Array) -> Launch:
        """Return the launch on one set of control words, which clears the next."""
        view = self.view
        arguments = (
            *(np.int32(view.vertices), view.index_dtype.type(view.arcs), np.uint64(self.wanted)),
            *(view.offsets, view.targets, view.weights),
            *(self.label, self.pick, self.link, self.up, self.best_key, self.best_id, self.chain),
            *(self.list, np.uint32(self.room), self.page_of, self.first_row, self.hubs),
            *(self.forest, control, next_control, self.timeline),
            *(self.cells, np.uint32(self.dense)),
        )
        return self.kernel.prepared(self.grid, self.block, arguments)


def load_kernel(view: ResidentView, device: Device) -> Kernel:
    """Return the kernel that fits the view, compiled if need be."""
    defines = {**index_types(view.index_dtype), "WEIGHT": view.weights.dtype.name}
    return FILE.kernel(device, defines, cooperative=True)


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes that ``State`` allocates."""
    return needs(arrays(sizes))


def run(state: State, clock: Clock) -> Array:
    """Find the forest; returns the device array of an arc of each of its edges, ``state.forest``."""
    if clock.timing:
        state.device.fill(state.timeline, 0)
    state.start()
    if clock.timing:
        add_stamps(clock, FILE.phases, state.device.download(state.timeline))
        words = state.device.download(state.control)
        for name in COUNTED:
            clock.count(name.lower(), int(words[FILE[name]]))
    return state.forest


def finish(state: State, arcs: np.ndarray[Any, Any]) -> Forest:
    """Return the forest in canonical edge ids."""
    return Forest.of(state.view.host.graph, state.view.host.canonical_edges(arcs))


forest_algorithm(
    "filter-boruvka",
    summary="one cooperative launch: row minima, rounds on light edges, then edges that leave the giant component",
    authors="gpugraph; after Borůvka; Osipov, Sanders, Singler; Fallin, Gonzalez, Seo, Burtscher",
    year=2023,
    section="SC'23, section 3; ours beyond it",
    prepare=State,
    run=run,
    finish=finish,
    compile=load_kernel,
    minimum_bytes=forest_bytes,
    state_bytes=state_bytes,
    unsigned=True,
)
