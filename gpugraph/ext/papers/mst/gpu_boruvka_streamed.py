"""Borůvka's algorithm on a GPU that need not hold the graph: the edges pass through it, nearly always once.

The device holds what belongs to the vertices, a list, and three buffers.  ``prepare`` copies the edges to pinned
memory, each once, the lightest first, in three parts; what still fits on the device goes there and stays.  A run lets
the light edges pass, makes Borůvka's rounds on them, lets the next part pass, of which fewer are left, makes rounds on
those, and so for the last part.  The kernels and why it is right are in ``cuda_kernels/boruvka_streamed.cu``.

Phases.  ``light_pass``, ``middle_pass`` and ``heavy_pass`` are the time in which chunks come and are read, the
``…_rounds`` those on the list; ``copies`` is what the bus was busy, beside all of them.

Source: see the kernels' docblock.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.base.quantities import exactly, parse_bytes
from gpugraph.devices.base import BLOCKS_PER_MULTIPROCESSOR, Array, Device, Kernel
from gpugraph.devices.kernel_file import MAX_NARROW_ARCS, Arrays, ArrayTable, KernelFile
from gpugraph.ext.papers.mst.gpu_boruvka import MAX_ROUNDS
from gpugraph.ext.papers.mst.streamed_edges import BUFFERS, NAMES, Chunk, Feed, Part, canonical_edges, split_edges
from gpugraph.ext.papers.mst.weight_words import KEY_TYPES, key_dtype, merge_launches
from gpugraph.graph.view import GraphView
from gpugraph.problems.algorithm import Option
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.gpu_forest import forest_algorithm

# ------------------------------------------------------------------ memory
# How much of the device may be taken, and what lies where.
# It is divided among what belongs to the vertices, to the list, the buffers, and edges that stay.

LIMIT = Option("memory-limit", str, "", "device memory to take: 8GB, 500MiB, or 25% of the graph's own bytes")
"""The option, the same for every algorithm that has it."""

_HEADROOM = 32
"""One part in so many of the free memory is left to the driver and to what is small."""


def limit_bytes(text: str, graph_bytes: int, device: Device) -> int:
    """Return the bytes of device memory that the option's text allows, or what is free; InputError for no size."""
    if not text:
        free, _ = device.memory()
        return free - free // _HEADROOM
    try:
        return parse_bytes(text, whole=graph_bytes)
    except InputError as error:
        raise InputError(f"option 'memory-limit' takes a size of memory, not '{text}'", remedy=error.remedy) from None


def check_limit(needed: int, limit: int, what: str) -> None:
    """Raise OutOfMemory, with both figures, if the least need of ``what``, in bytes, exceeds the limit."""
    if needed > limit:
        need = f"needs {exactly(needed)} on the device at least, for what belongs to the vertices"
        remedy = "raise memory-limit, or use a device with more memory"
        raise OutOfMemory(f"{need}, and may take {exactly(max(limit, 0))}", where=what, remedy=remedy)


LIGHT_EDGES = 1.5
"""Light edges for each vertex: enough for a giant tree that makes nearly every heavy edge needless."""
SPARSE_LIGHT_EDGES = 2.5
"""The same on graphs of fewer than ``DENSE_DEGREE`` arcs a vertex, which are local, and fall apart more easily."""
DENSE_DEGREE = 12
MIDDLE = 3.5
"""Light and middle edges for each light one: then few enough of the middle ones, and of the heavy ones, are left."""
LIST_EDGES = 2
"""Edges for each vertex that the list has room for, where there is memory."""
MOST_CHUNK_BYTES = 64 << 20
"""Of a buffer: a copy of a millisecond, beside which a launch is nothing."""
LEAST_CHUNK = 256
_SMALL = 16384  # bytes of the counters, and of what is rounded up


@dataclass(frozen=True)
class Plan:
    """What lies where.

    Attributes:
        index_bits: width of an edge's number: 64 only where there are so many edges, each counted once.
        wide: weight and number of an edge need more than one word.
        chunk: edges of a buffer; 0 where every edge is resident.
        capacity: edges of the list.
        most: light edges at most, light and middle ones together at most.
        resident: edges that stay on the device.
        bytes: what all of it takes on the device.
    """

    index_bits: int
    wide: bool
    chunk: int
    capacity: int
    most: tuple[int, int]
    resident: int
    bytes: int


def plan(view: GraphView, limit: int, options: dict[str, Any]) -> Plan:
    """Return what is to lie where within ``limit`` bytes; raise OutOfMemory if the vertices' arrays do not fit."""
    n, edges = view.vertices, view.arcs // 2
    narrow = view.index_bits == 32 or view.arcs >= MAX_NARROW_ARCS > edges
    index, weight = 4 if narrow else 8, view.weights.itemsize
    wide = not narrow or weight == 8
    edge, entry = 4 + weight, 24 if wide else 16
    vertices = n * (16 + index + (8 if wide else 0)) + 8 * (n // 2 + 1) + len(NAMES) * (n + 1) * index + _SMALL
    if options["chunk"] < 0:
        what = f"option 'chunk' takes a number of edges, not {options['chunk']}"
        raise InputError(what, remedy="give 0 or more; 0 leaves it to the memory there is")
    least = min(options["chunk"] or LEAST_CHUNK, max(edges, 1))
    check_limit(vertices + BUFFERS * edge * least + entry, limit, "boruvka-streamed")
    free = limit - vertices
    per_vertex = options["light"]
    if per_vertex < 0:
        per_vertex = LIGHT_EDGES if view.arcs >= DENSE_DEGREE * n else SPARSE_LIGHT_EDGES
    wanted = min(edges, int(max(per_vertex, LIST_EDGES) * n))
    chunk, capacity, resident = 0, max(wanted, 1), edges
    if options["stream"] == "all" or wanted * entry + edges * edge > free:
        chunk = options["chunk"] or max(least, min(edges, MOST_CHUNK_BYTES // edge, free // 4 // (BUFFERS * edge)))
        free -= BUFFERS * chunk * edge
        capacity = max(1, min(wanted, free // entry))
        resident = 0 if options["stream"] == "all" else max(0, min(edges, (free - capacity * entry) // edge))
    light = min(capacity, wanted, int(per_vertex * n))  # all light ones must fit the list
    taken = vertices + BUFFERS * chunk * edge + capacity * entry + resident * edge
    return Plan(index * 8, wide, chunk, capacity, (light, int(MIDDLE * light)), resident, taken)


FILE = KernelFile("boruvka_streamed.cu", KEY_TYPES)


def arrays(view: GraphView, planned: Plan) -> ArrayTable:
    """Return the arrays of a run besides the buffers and what stays of the edges (meaning: boruvka_streamed.cu)."""
    n, capacity, wide = view.vertices, planned.capacity, planned.wide
    return {
        **dict.fromkeys(("label", "link"), (n, np.int32)),
        "best_key": (n, np.uint64),
        "best_id": (n if wide else 1, np.uint64),
        "roots": ((2, n // 2 + 1), np.int32),
        "forest": (max(n - 1, 1), np.dtype(f"int{planned.index_bits}")),
        **dict.fromkeys(("list_ends", "list_key"), (capacity, np.uint64)),
        "list_id": (capacity if wide else 1, np.uint64),
        "trees": (MAX_ROUNDS + 1, np.uint32),
        "changed": ((MAX_ROUNDS, merge_launches(n, FILE["JUMPS"])), np.uint32),
        "control": (FILE["CONTROL_WORDS"], np.uint32),
    }


class State(Arrays):
    """The arrays of one run and the kernels that work on them."""

    def __init__(self, view: GraphView, device: Device, planned: Plan):
        device.require(planned.bytes)
        super().__init__(device, arrays(view, planned))
        self.view, self.plan, self.block = view, planned, FILE["BLOCK"]
        self.index = self.forest.dtype
        self.best, self.forest_edges = (self.best_key, self.best_id), self.word("FOREST_EDGES")
        self.list = (self.list_ends, self.list_key, self.list_id)
        self.most_blocks = device.multiprocessors * BLOCKS_PER_MULTIPROCESSOR
        self.kept = device.empty(self.most_blocks, np.uint32)
        self.feed = Feed(device, planned.chunk, view.weights.dtype)
        self.parts = split_edges(view, device, planned.most, self.index)
        left = planned.resident
        for part in self.parts:  # the light ones first
            part.resident = min(left, part.edges)
            left -= part.resident
            kept = (part.rows, part.heads[: part.resident], part.weights[: part.resident])
            part.there = tuple(device.upload(array) for array in kept)
        self.kernels = load_kernels(view, device, planned)

    def word(self, name: str) -> Array:
        """Return a word of ``control`` (1,)."""
        return self.control[FILE[name] : FILE[name] + 1]

    def start(self) -> None:
        """Make every vertex a tree; the first chunks set out."""
        self.device.fill(self.control, 0)
        self.feed.start()
        self.feed.expect(chunk for part in self.parts for chunk in self.feed.chunks(part))
        self.launch("start", self.view.vertices, np.int32(self.view.vertices), self.label, self.trees)

    def let_pass(self, part: Part) -> int:
        """Let edges pass, among which trees choose; return how many join two trees, or more than the list holds."""
        self.device.fill(self.trees[1:], 0)
        self.device.fill(self.changed, 0)
        self.device.fill(self.word("LISTED"), 0)
        self.launch("reset_trees", self.view.vertices, np.int32(0), self.trees, self.link, *self.best)
        if part.resident:
            self._pass_chunk(Chunk(part, 0, part.resident), *part.there[1:])
        for arrived in self.feed.take(part):
            self._pass_chunk(*arrived)
        return int(self.device.read(self.word("LISTED")))

    def _pass_chunk(self, chunk: Chunk, heads: Array, weights: Array) -> None:
        part, number, n = chunk.part, self.index.type, np.int32(self.view.vertices)
        span = (number(chunk.first), number(chunk.count), number(part.numbers))
        edges = (n, part.there[0], heads, weights, FILE.weight_kind(weights), self.label)
        capacity = np.uint32(self.plan.capacity)
        work = (chunk.count + 3) // 4  # a warp takes 128 edges
        self.launch("pass_chunk", work, *span, *edges, capacity, *self.list, *self.best, self.control)
        if self.plan.wide:
            self.launch("settle_chunk", work, *span, *edges, *self.best)
        self.launch("link_chunk", work, *span, *edges, *self.best, self.link)

    def merge(self, round_: int, most: int) -> None:
        """Remove cycles, merge and number the trees, of which there are ``most`` at most."""
        r = np.int32(round_)
        self.launch("remove_cycles", most, r, self.trees, *self.best, self.link, self.forest, self.control)
        for step in range(merge_launches(most, FILE["JUMPS"])):
            self.launch("merge_trees", most, r, np.int32(step), self.trees, self.link, self.changed[round_])
        roots = (self.roots[round_ % 2], self.roots[1 - round_ % 2])
        self.launch("number_trees", most, r, self.trees, self.link, *self.best, *roots, self.label)

    def flatten(self) -> None:
        """Let every vertex's label be its tree's root."""
        self.launch("flatten", self.view.vertices, np.int32(self.view.vertices), self.label)

    def contract(self, listed: int) -> int:
        """Make rounds on so many listed edges until none is left, the first chosen already; return how many rounds."""
        blocks = max(1, min(self.most_blocks, -(-listed // (4 * self.block))))
        share = np.uint32(-(-listed // blocks))
        self.kernels["deal_list"](1, self.block, (np.int32(blocks), share, self.control, self.kept))

        def on_list(name: str, *args: object) -> None:
            self.kernels[name](blocks, self.block, (share, self.kept, *args))

        round_, most, left = 0, self.view.vertices, listed
        while left:
            if round_ > 0:
                self.launch("reset_trees", most, np.int32(round_), self.trees, self.link, *self.best)
                on_list("offer_list", *self.list[:2], *self.best)
                if self.plan.wide:
                    on_list("settle_list", *self.list, *self.best)
                on_list("link_list", *self.list, *self.best, self.link)
            self.merge(round_, most)
            self.device.fill(self.word("LEFT"), 0)
            on_list("rename_list", *self.list, self.link, self.best[0], self.control)
            left = int(self.device.read(self.word("LEFT")))  # the round's one read-back
            round_, most = round_ + 1, min(most // 2 + 1, 2 * left)
        self.flatten()
        return round_


def load_kernels(view: GraphView, device: Device, planned: Plan) -> dict[str, Kernel]:
    """Return the kernels that fit the plan, compiled if need be."""
    return FILE.kernels(device, {"INDEX_BITS": planned.index_bits, "WEIGHT": key_dtype(view).name})


def make_plan(view: GraphView, device: Device, options: dict[str, Any]) -> Plan:
    """Return the plan that the options ask for."""
    return plan(view, limit_bytes(options["memory-limit"], view.nbytes, device), options)


def compile_(view: GraphView, device: Device, **options: object) -> None:
    """Compile the kernels; refuse what cannot fit before the edges are copied."""
    load_kernels(view, device, make_plan(view, device, options))


def prepare(view: GraphView, device: Device, **options: object) -> State:
    """Copy the edges to pinned memory, and to the device what is to stay there, and allocate all a run needs."""
    return State(view, device, make_plan(view, device, options))


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of the numbers of its edges."""
    watch = state.device.stopwatch()
    watch.start()
    state.start()
    for part in state.parts:
        while True:
            with clock.phase(f"{part.name}_pass"):
                listed = state.let_pass(part)
            clock.count("passes")
            with clock.phase(f"{part.name}_rounds"):
                if listed <= state.plan.capacity:
                    clock.count("rounds", state.contract(listed))
                    break
                state.merge(0, state.view.vertices)  # the passing was a round
                state.flatten()
                clock.count("rounds")
            state.feed.again(part)
    watch.stop()
    clock.count("streamed_bytes", state.feed.bytes)
    if state.device.kind == "cuda":  # elsewhere a rate would say nothing
        clock.count("streamed_mb_per_s", round(state.feed.bytes / max(watch.seconds, 1e-9) / 1e6))
    if clock.timing:
        state.feed.tell_phases(clock)
    return state.forest


def finish(state: State, numbers: np.ndarray[Any, Any]) -> Forest:
    """Return the forest in canonical edge ids."""
    return Forest.of(state.view.graph, canonical_edges(state.view, state.parts, numbers))


forest_algorithm(
    "boruvka-streamed",
    summary="for graphs larger than the device: edges stream through it once, light ones first, copies overlapped",
    authors="gpugraph; after Kolganov; Osipov, Sanders, Singler",
    year=2015,
    section="larger than GPU memory; ours in place of unified memory and the CPU's share",
    prepare=prepare,
    run=run,
    finish=finish,
    compile=compile_,
    preparations=("rank-weights",),
    options=(
        LIMIT,
        Option("stream", str, "rest", "what passes by: the rest that does not fit, or all edges", ("rest", "all")),
        Option("chunk", int, 0, "edges of a chunk; 0 chooses it from the memory there is"),
        Option("light", float, -1.0, "light edges for each vertex; below 0 chooses it from the mean degree"),
    ),
    resident=False,
)
