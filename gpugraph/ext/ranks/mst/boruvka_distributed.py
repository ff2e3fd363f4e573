"""Borůvka's algorithm over ranks.

Processors take the rounds of ``ext/ranks/contraction.py``.  On GPUs, and on the emulated device, it is filter-Borůvka
on the rows of every rank's device, with the arrays and kernels of ``forest_on_ranks.cu``:

    pick the lightest arc of every own vertex, and tell the others
    hook along these, label the own vertices, and tell the others
    until everything is listed:
        list own edges that join two components: at first the lightest, then what the giant component leaves
        tell the others, and make the rounds on the edges of all

The arcs, nearly all that there is to read, are divided among the ranks; the lists are so short that making the rounds
on them everywhere takes less than agreeing on every round would.  What the ranks tell each other is two words a vertex
and 24 bytes for each edge listed, on power-law graphs a fifth as many as there are vertices.
"""

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.errors import OutOfMemory
from gpugraph.devices.base import Device, Kernel
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs
from gpugraph.ext.ranks.comm import check_agreed
from gpugraph.ext.ranks.contraction import HostEdges, Subject, part_behind
from gpugraph.ext.ranks.mst.on_ranks import forest_of, gathered_forest
from gpugraph.ext.ranks.part import GraphPart, require_on_devices
from gpugraph.ext.ranks.transports import comm_for
from gpugraph.graph.device_rows import narrow_offsets
from gpugraph.graph.digest import set_digest
from gpugraph.problems.mst import gpu_filter_boruvka as alone
from gpugraph.problems.mst.forest import Forest, edge_ids, forest_bytes
from gpugraph.problems.registry import add_algorithm

FILE = KernelFile(
    "forest_on_ranks.cu",
    [{"INDEX_BITS": 32 if weight == "float32" else 64, "WEIGHT": weight} for weight in alone.WEIGHTS],
)

FILTER_DEGREE = 6
"""Below this many arcs per vertex nothing is gained by holding heavy edges back."""
LEAST_ROOM = 1 << 16
"""Edges that a list has room for at least."""
NARROW_ARCS = 1 << 31
"""A rank with fewer arcs than this has positions of 32 bits."""
_MOST_TRIES = 64
_MOST_LISTED = 2**32 - 2
"""Edges of a list: a slot and the greatest key of 32 bits are no NO_BID."""
_EDGE_WORDS = 3


def grow(forest: "ForestOnDevices", clock: Clock) -> None:
    """Find the forest; afterwards every rank has its share of the names of the edges."""
    with clock.phase("row_minima"):
        forest.pick_row_minima()
    with clock.phase("hook"):
        forest.hook_vertices()
    more = forest.trees > 1
    while more:
        with clock.phase("list_edges"):
            more = forest.list_edges()
        with clock.phase("gather"):
            forest.gather()
        with clock.phase("rounds"):
            forest.make_rounds(again=more)
        if more:
            with clock.phase("spread"):
                forest.relabel()
    if clock.timing:
        clock.count("rounds", int(forest.device.read(forest.control, FILE["ROUNDS_MADE"])))


def arrays(part: GraphPart) -> ArrayTable:
    """Return the arrays of a rank (meaning: forest_on_ranks.cu)."""
    n, rows, half, ranks = part.vertices, part.rows, max(part.vertices // 2, 1), part.comm.size
    index, words = np.dtype(f"i{index_bits(part) // 8}"), -(-n // FILE["WARP"])
    _, of_all = room_for(part)
    return {
        "pick": (rows, index),
        "hubs": (rows, np.int32),
        "first_row": (FILE["MOST_SPANS"], np.int32),
        **dict.fromkeys(("link", "label"), (n, np.int32)),
        "roots": (words + 1, np.uint32),
        "ranked": (words, np.uint64),
        "counts": (FILE["MOST_BLOCKS"], np.uint32),
        "forest": (rows + half, np.int64),
        **dict.fromkeys(("best_key", "best_id"), (half, np.uint64)),
        "now": (half, np.int32),
        "up": (half + 1, np.int32),
        "control": (FILE["RANK_CONTROL_WORDS"], np.uint32),
        "counters": (FILE["CONTROL_WORDS"], np.uint32),
        "listed": (ranks, np.uint32),
        "left": (2 * ranks, np.uint32),
        "sample": (2 * FILE["SAMPLED"] * ranks, np.uint64),
        "threshold": (2, np.uint64),
        "giant": (1, np.uint64),
        "own_list": (pages_for(part) * FILE["PAGE"] * _EDGE_WORDS, np.uint64),
        "page_of": (part.own_arcs // FILE["PAGE"] + 1, np.uint32),
        "held": (FILE["MOST_SPANS"], np.uint32),
        "list": (min(of_all, part.edges) * _EDGE_WORDS, np.uint64),
    }


def index_bits(part: GraphPart) -> int:
    """Return the width of an arc's position among the own ones."""
    return 32 if part.own_arcs < NARROW_ARCS else 64


def room_for(part: GraphPart) -> tuple[int, int]:
    """Return how many edges a rank can list at a time, and how many all can: the light ones and some more."""
    wanted = max(FILTER_DEGREE * part.vertices // 2, part.edges // 32) if not filters(part) else part.vertices
    wanted = max(wanted, part.edges // 64)
    share = max(3 * wanted // (2 * part.comm.size), LEAST_ROOM)
    return min(share, _MOST_LISTED), min(max(11 * wanted // 10, LEAST_ROOM), _MOST_LISTED)


def pages_for(part: GraphPart) -> int:
    """Return how many pages the list of a rank's own edges has; the last page of each span is not full."""
    spans = min(part.own_arcs // FILE["TILE"] + 1, FILE["MOST_SPANS"])
    return min(room_for(part)[0], part.own_arcs) // FILE["PAGE"] + 1 + spans


def filters(part: GraphPart) -> bool:
    """Tell whether the light edges are listed first, as one device does."""
    return part.arcs >= FILTER_DEGREE * part.vertices and part.arcs >= alone.FILTER_ARCS


class ForestOnDevices(Arrays):
    """What one rank knows of the forest.

    Attributes:
        trees: components after the first hook, on all ranks alike; without the isolated vertices.
        cuts: (P + 1,) where in the list the edges of each rank begin.
        ordered: whether that list is in the order of the edges.
        forest: (rows + n / 2,) int64, ``control[NAMES]`` of them: the edges of the forest that are kept here, in any
            order.
    """

    def __init__(self, part: GraphPart, device: Device):
        table = arrays(part)
        narrowed = (part.rows + 1) * index_bits(part) // 8
        require_on_devices(part.comm, device, part.bytes_to_place(device) + narrowed + needs(table), part.name)
        self.offsets, self.targets, self.weights = part.own_rows_on(device)
        super().__init__(device, table)
        self.part, self.comm = part, comm_for(part.comm, device)
        self.kernels = load_kernels(part, device)
        self.block = FILE["PACKED_BLOCK" if part.weight_dtype.itemsize == 4 else "WIDE_BLOCK"]
        first, last = part.first, part.first + part.rows
        self.bounds = np.int32(first), np.int32(last)
        self.index = np.dtype(f"i{index_bits(part) // 8}").type
        if self.offsets.dtype != self.index:
            self.offsets = narrow_offsets(device, self.offsets, part.own_arcs)
        self.graph = self.offsets, self.targets, self.weights
        self.with_arcs = sum(count > 0 for count in part.arcs_of_ranks)
        self.room, self.room_of_all = room_for(part)
        self.pages = pages_for(part)
        self.chain = self.link  # nobody asks for links once every vertex has its label
        # A warp goes through as many arcs as all others when light edges are listed.
        warps, page = self.block // FILE["WARP"], FILE["PAGE"]
        spans = min(self.kernels["list_light"].resident_blocks(self.block) * warps, FILE["MOST_SPANS"])
        self.span = max(-(-part.own_arcs // (spans * page)) * page, FILE["TILE"])
        self.spans = -(-part.own_arcs // self.span)
        self.span_blocks = max(-(-self.spans // warps), 1)

    def pick_row_minima(self) -> None:
        """Find the lightest arc of every own vertex, and tell all ranks where it leads."""
        part, rows = self.part, np.int32(self.part.rows)
        self.device.fill(self.control, 0)
        self.done = 0.0
        own, arcs = self.link[part.first : part.first + part.rows], self.index(part.own_arcs)
        span = np.uint64(self.span)
        into = self.pick, own, self.first_row, self.hubs, self.control
        self.launch("row_minima", part.rows, rows, arcs, span, *self.graph, *into)
        self.launch("hub_minima", part.rows, rows, arcs, *self.graph, self.pick, own, self.hubs, self.control)
        self.comm.all_gather_v_in_place(self.link, part.cuts.tolist())

    def hook_vertices(self) -> None:
        """Make components of what the vertices have picked, and tell all ranks those of the own ones."""
        n, bounds = np.int32(self.part.vertices), self.bounds
        self.device.fill(self.roots, 0)
        self.launch("hook", self.part.rows // 4, n, *bounds, self.link, self.roots, self.forest, self.control)
        self.comm.all_reduce(self.roots, "sum")
        numbered = self.ranked, self.counts, self.link, self.label
        self.launch_together("label", self.part.vertices, n, *bounds, self.roots, *numbered, self.control)
        self.comm.all_gather_v_in_place(self.label, self.part.cuts.tolist())
        self.trees, active = self._agreed("TREES_LEFT", "ACTIVE")
        self.share = 1.0
        if filters(self.part):
            merged = self.trees * FILE["MERGED"] < active
            light = alone.light_arcs(self.part.vertices, self.part.arcs) * (FILE["LESS_MERGED"] / 100 if merged else 1)
            self.share = min(light * active / self.part.arcs, 1.0)

    def _agreed(self, *names: str) -> list[int]:
        """Return words of the control that all ranks must have alike, for the next collectives depend on them."""
        rank, size, count = self.comm.rank, self.comm.size, len(names)
        for place, name in enumerate(names, rank * count):
            self.device.copy(self.left[place : place + 1], self.control[FILE[name] : FILE[name] + 1])
        self.comm.all_gather_v_in_place(self.left, [count * other for other in range(size + 1)])
        found = self.device.download(self.left).reshape(size, count).tolist()
        check_agreed(found, "trees and active vertices")
        words: list[int] = found[rank]
        return words

    def list_edges(self) -> bool:
        """List own edges between components; return whether heavier ones are left; raise OutOfMemory without room."""
        rank, size = self.comm.rank, self.comm.size
        for _ in range(_MOST_TRIES):
            self.device.fill(self.control[: FILE["TREES_LEFT"]], 0)
            self.ordered = self.done == 0 or self.share < 1
            if self.ordered:
                self._list_light()
            else:
                self._list_rest()
            self.device.copy(self.listed[rank : rank + 1], self.control[FILE["EDGES"] : FILE["EDGES"] + 1])
            self.comm.all_gather_v_in_place(self.listed, list(range(size + 1)))
            listed = [int(count) for count in self.device.download(self.listed)]
            if max(listed) <= self.room and sum(listed) <= self.room_of_all:  # the pages of TOO_MANY were not enough
                self.cuts = list(accumulate(listed, initial=0))
                self.done, self.share = self.share, 1.0
                return self.done < 1
            self.share = (self.done + self.share) / 2
        what = f"{max(listed)} edges do not fit a list of {self.room}"
        raise OutOfMemory(what, where=self.part.name, remedy="use more devices")

    def _list_light(self) -> None:
        """List the edges up to the quantile ``share`` of a sample that all ranks draw together, or all."""
        part, size, samples = self.part, self.comm.size, 2 * FILE["SAMPLED"]
        rows, first, arcs = np.int32(part.rows), self.bounds[0], self.index(part.own_arcs)
        if self.share < 1:
            own = self.sample[self.comm.rank * samples : (self.comm.rank + 1) * samples]
            self.launch("sample", FILE["SAMPLED"], rows, first, arcs, *self.graph, own)
            self.comm.all_gather_v_in_place(self.sample, [samples * rank for rank in range(size + 1)])
            chosen = np.int32(self.share * FILE["SAMPLED"] * self.with_arcs)
            self.launch("quantile", size * FILE["SAMPLED"], np.int32(size), chosen, self.sample, self.threshold)
        how = rows, first, arcs, np.uint64(self.span), np.int32(self.share >= 1)
        light = self.first_row, self.label, self.threshold
        pages = self.own_list, np.uint32(self.pages), self.page_of, self.held, self.control
        self.kernels["list_light"](self.span_blocks, self.block, (*how, *self.graph, *light, *pages))
        counted = np.uint32(self.spans), np.uint32(self.pages), self.held, self.control
        self.kernels["tally"](1, self.block, counted)

    def _list_rest(self) -> None:
        """List what the rows outside the giant component leave."""
        part = self.part
        rows, first, arcs = np.int32(part.rows), self.bounds[0], self.index(part.own_arcs)
        self.kernels["find_giant"](1, FILE["WARP"], (arcs, self.targets, self.label, self.giant))
        self.comm.all_reduce(self.giant, "max")
        graph = rows, first, arcs, *self.graph, self.label, self.giant, self.hubs
        room = self.own_list.size // _EDGE_WORDS
        where = self.own_list, np.uint32(room), self.control
        self.launch("list_rows", part.rows, *graph, *where)
        self.launch("list_hubs", part.rows, *graph, *where)

    def gather(self) -> None:
        """Give all ranks the edges that each has listed."""
        low, high = (_EDGE_WORDS * cut for cut in self.cuts[self.comm.rank : self.comm.rank + 2])
        own = self.list[low:high]
        if self.ordered:
            spans = np.uint32(self.spans), np.uint64(self.span)
            self.kernels["pack"](self.span_blocks, self.block, (*spans, self.own_list, self.page_of, self.held, own))
        else:
            self.device.copy(own, self.own_list[: high - low])
        cuts = [_EDGE_WORDS * cut for cut in self.cuts]
        self.comm.all_gather_v_in_place(self.list[: cuts[-1]], cuts)

    def make_rounds(self, *, again: bool) -> None:
        """Make rounds on the listed edges; if there is to be another pass, tell what the components have become."""
        entries = self.cuts[-1]
        work = max(self.trees, entries // FILE["PER_THREAD"])
        keeps = self.comm.rank == 0
        flags = np.int32(self.ordered), np.int32(again), np.int32(keeps)
        numbers = np.uint32(self.trees), np.uint64(entries), *flags
        bids = self.giant, self.best_key, self.best_id, self.up, self.chain, self.now
        self.launch_together("rounds", work, *numbers, self.list, *bids, self.forest, self.control)

    def relabel(self) -> None:
        """Let every vertex know its component before the next pass."""
        n = self.part.vertices
        self.launch("relabel", n // FILE["LABELS"], np.int32(n), self.now, self.label)

    def launch_together(self, name: str, threads: int, *args: object) -> None:
        """Launch a kernel whose blocks wait for each other, with counters for that as its last argument."""
        self.device.fill(self.counters, 0)
        most = min(self.kernels[name].resident_blocks(self.block), FILE["MOST_BLOCKS"])
        self.kernels[name](max(1, min(-(-threads // self.block), most)), self.block, (*args, self.counters))

    def located(self, own: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[Any]]:
        """Return all ranks' names in ascending order, and the edges' ids and weights; a collective."""
        part, device = self.part, self.device
        cuts = list(accumulate(part.comm.all_gather_object(len(own)), initial=0))
        total = cuts[-1]
        names = device.empty(total, np.uint64)
        ids, words = (device.full(total, 0, f"u{width}") for width in (8, part.weight_dtype.itemsize))
        device.copy(names[cuts[part.comm.rank] : cuts[part.comm.rank + 1]], device.upload(own))
        self.comm.all_gather_v_in_place(names, cuts)
        device.sort(names)
        rows = (self.offsets, self.targets, self.weights.view(words.dtype))
        self.launch("locate", total, np.uint32(total), *self.bounds, np.int64(part.first_arc), *rows, names, ids, words)
        for found in (ids, words):
            self.comm.all_reduce(found, "sum")
        weights = device.download(words).view(part.weight_dtype)
        return device.download(names), device.download(ids).view(np.int64), weights


def load_kernels(part: GraphPart, device: Device) -> dict[str, Kernel]:
    """Return the kernels for a part by their names, compiled if need be."""
    defines: dict[str, str | int] = {"INDEX_BITS": index_bits(part), "WEIGHT": part.weight_dtype.name}
    return FILE.kernels(device, defines, cooperative=("label", "rounds"))


def compile_(subject: Subject, device: Device) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        load_kernels(part_behind(subject), device)


def prepare(subject: Subject, device: Device) -> HostEdges | ForestOnDevices:
    """Return what this rank knows of the forest."""
    part = part_behind(subject)
    return ForestOnDevices(part, device) if device.kind != "cpu" else HostEdges(part, weighted=True, labelled=False)


def run(state: HostEdges | ForestOnDevices, clock: Clock) -> None:
    """Grow the forest."""
    if isinstance(state, HostEdges):
        state.contract(clock)
    else:
        grow(state, clock)


def fetch(state: HostEdges | ForestOnDevices, handle: None) -> NDArray[Any]:
    """Copy what names the forest's edges that are kept on this rank to the host."""
    if isinstance(state, HostEdges):
        return np.sort(state.chosen[: int(state.chosen_count[0])].astype(np.int64))
    count = int(state.device.read(state.control, FILE["NAMES"]))
    return state.device.download(state.forest[:count]).view(np.uint64)


def finish(state: HostEdges | ForestOnDevices, chosen: NDArray[Any]) -> Forest:
    """Return the forest; a collective."""
    part = state.part
    if isinstance(state, HostEdges):
        u, v, weight = state.tails[chosen], state.heads[chosen], state.weights[chosen]
        if part.graph is not None:
            return Forest.of(part.graph, edge_ids(part.graph, u, v))
        return gathered_forest(part, u, v, weight)
    names, ids, weights = state.located(chosen)
    if part.graph is not None:
        return Forest.of(part.graph, ids)
    return forest_of(part, ids, (names >> np.uint64(32)).astype(np.int64), names.astype(np.uint32), weights)


add_algorithm(
    "mst",
    "boruvka-distributed",
    summary="ranks agree on each tree's least edge; GPUs filter their rows, exchange lists, make rounds alike",
    authors="Borůvka; Chung, Condon",
    year=1996,
    section="Parallel implementation of Borůvka's minimum spanning tree algorithm, section 4",
    prepare=prepare,
    run=run,
    fetch=fetch,
    finish=finish,
    digest=set_digest,
    compile=compile_,
    minimum_bytes=forest_bytes,
    ranks=True,
)
