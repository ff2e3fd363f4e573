"""Borůvka's algorithm over ranks.

Processors take the rounds of ``problems/contraction.py``.  On GPUs, and on the emulated device, it is filter-Borůvka on
the rows of every rank's device, with the arrays and kernels of ``forest_on_ranks.cu``:

    pick the lightest arc of every vertex, whose row one rank has as a whole; hook along it
    until everything is listed:
        list own edges that join two components: at first the lightest, then all outside the giant component
        until no rank has an edge left:
            find the least key at every component, then the least name among the edges of that key
            hook, jump to the roots, renumber; drop the edges inside a component

What the ranks tell each other is a word a vertex, once, and in every round the keys and the names of the components
that are left, about an eighteenth of the vertices on power-law graphs.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.devices.base import Device, Kernel, covering_grid
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs
from gpugraph.errors import OutOfMemory
from gpugraph.graph.digest import set_digest
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contraction import HostEdges, contract, part_behind
from gpugraph.problems.mst import gpu_filter_boruvka as alone
from gpugraph.problems.mst.forest import Forest, edge_ids
from gpugraph.problems.mst.gpu_forest import forest_bytes, merge_launches
from gpugraph.problems.mst.on_ranks import forest_of, gathered_forest
from gpugraph.problems.registry import register
from gpugraph.ranks.comm import comm_for
from gpugraph.ranks.part import GraphPart, require_on_devices

FILE = KernelFile(
    "forest_on_ranks.cu",
    [{"INDEX_BITS": 32 if weight == "float32" else 64, "WEIGHT": weight} for weight in alone.WEIGHTS],
)

LEAST_ROOM = 1 << 16
"""Edges that a list has room for at least."""
_MOST_TRIES = 64


def grow(forest: ForestOnDevices, clock: Clock) -> None:
    """Find the forest; afterwards every rank has its share of the names of the edges."""
    with clock.phase("row_minima"):
        forest.pick_row_minima()
    with clock.phase("hook"):
        forest.hook_vertices()
    more = forest.trees > 1
    while more:
        with clock.phase("list_edges"):
            more = forest.list_edges()
        while forest.edges_of_some:
            with clock.phase("find_min"):
                forest.find_min()
            with clock.phase("merge_trees"):
                forest.hook_components()
            with clock.phase("filter"):
                forest.filter()
            clock.count("rounds")
        if more:
            with clock.phase("spread"):
                forest.relabel()


def arrays(part: GraphPart) -> ArrayTable:
    """Return the arrays of a rank (meaning: cu); of the listed edges two sets in turns."""
    n, rows, half = part.vertices, part.rows, max(part.vertices // 2, 1)
    index, key = np.dtype(f"i{part.index_bits // 8}"), key_dtype(part)
    room, samples = room_for(part), FILE["SAMPLED"] * part.comm.size
    return {
        "pick": (rows, index),
        "hubs": (rows, np.int32),
        "tile_row": (part.own_arcs // FILE["TILE"] + 1, np.int32),
        **dict.fromkeys(("link", "up", "number", "label"), (n, np.int32)),
        "names": (max(n, 1), np.uint64),
        **dict.fromkeys(("now", "renamed"), (half, np.int32)),
        "best_key": (half, key),
        "best_name": (half, np.uint64),
        "counts": (-(-n // FILE["TREES"]) or 1, np.uint32),
        "changed": (merge_launches(n, FILE["JUMPS"]), np.uint32),
        "control": (FILE["RANK_CONTROL_WORDS"], np.uint32),
        **dict.fromkeys(("sample_key", "sample_name"), (samples, np.uint64)),
        "threshold": (2, np.uint64),
        "giant": (1, np.uint64),
        **dict.fromkeys(("tail", "head"), ((2, room), np.int32)),
        "key": ((2, room), key),
        "name": ((2, room), np.uint64),
    }


def key_dtype(part: GraphPart) -> np.dtype[Any]:
    """Return the dtype of a weight's order-preserving key: unsigned, as wide as the weight."""
    return np.dtype(f"u{part.weight_dtype.itemsize}")


def room_for(part: GraphPart) -> int:
    """Return how many edges a rank can list at a time: its share of the light ones and half as many again."""
    wanted = max(alone.FILTER_DEGREE * part.vertices // 2, part.edges // 32) if not filters(part) else part.vertices
    share = max(3 * wanted // (2 * part.comm.size), part.edges // (64 * part.comm.size))
    return max(1, min(max(share, LEAST_ROOM), part.own_arcs))


def filters(part: GraphPart) -> bool:
    """Tell whether the light edges are listed first, as one device does."""
    return part.arcs >= alone.FILTER_DEGREE * part.vertices and part.arcs >= alone.FILTER_ARCS


class ForestOnDevices(Arrays):
    """What one rank knows of the forest.

    Attributes:
        trees: components of the round, on all ranks alike; without the isolated vertices.
        edges: listed here and not yet inside a component.
        edges_of_some: the most that any rank has of these.
        names: (count,) uint64, ``control[NAMES]`` of them: the edges of the forest that are kept here, in any order.
    """

    def __init__(self, part: GraphPart, device: Device):
        table = arrays(part)
        require_on_devices(part.comm, device, part.bytes_to_place(device) + needs(table), part.name)
        rows = part.rows_on(device)
        super().__init__(device, table)
        self.part, self.comm = part, comm_for(part.comm, device)
        self.block = alone.block(part.index_bits, part.weight_dtype)
        self.kernels = load_kernels(part, device)
        first, last = part.first, part.first + part.rows
        self.bounds = np.int32(first), np.int32(last)
        self.offsets = rows.offsets[first : last + 1]
        self.targets, self.weights, self.index = rows.targets, rows.weights, rows.index_dtype.type
        self.with_arcs = sum(count > 0 for count in part.arcs_of_ranks)
        self.light = 1.0
        if filters(part):
            self.light = alone.LIGHT_ARCS * part.vertices / part.arcs
        self.room = self.name[0].size
        self.lists = [(self.tail[turn], self.head[turn], self.key[turn], self.name[turn]) for turn in (0, 1)]

    def pick_row_minima(self) -> None:
        """Find the lightest arc of every own vertex, and tell all ranks where it leads."""
        part, rows = self.part, np.int32(self.part.rows)
        self.device.fill(self.control, 0)
        self.done, self.share = 0.0, min(self.light, 1.0)
        own = self.link[part.first : part.first + part.rows]
        graph = (rows, self.index(part.own_arcs), self.offsets, self.targets, self.weights)
        self.launch("row_minima", part.rows, *graph, self.pick, own, self.tile_row, self.hubs, self.control)
        self.launch("hub_minima", part.rows, *graph, self.pick, own, self.hubs, self.control)
        self.comm.spread(self.link, part.cuts.tolist())

    def hook_vertices(self) -> None:
        """Make components of what the vertices have picked."""
        n = self.part.vertices
        self.launch("hook", n, np.int32(n), *self.bounds, self.link, self.up, self.names, self.control)
        self._number(n, self.label)
        self._read_control()
        self._begin()

    def _number(self, count: int, out: Any) -> None:
        """Let every node find its root, and number the roots, on all ranks alike."""
        number, up = np.int32(count), self.up[:count]
        self.device.fill(self.changed, 0)
        for step in range(merge_launches(count, FILE["JUMPS"])):
            self.launch("follow", count, np.int32(step), number, up, self.changed)
        blocks, threads = -(-count // FILE["TREES"]), FILE["NUMBERERS"]
        counts = self.counts[:blocks]
        self.kernels["count"](max(blocks, 1), threads, (number, up, counts))
        self.kernels["scan"](1, threads, (np.uint32(blocks), counts, self.control))
        self.kernels["number"](max(blocks, 1), threads, (number, up, counts, self.number))
        self.launch("learn", count, number, up, self.number, out)

    def _read_control(self) -> None:
        """Learn how many trees and edges are left; the one look of the host's in a round."""
        most = self.control[FILE["MOST_EDGES"] : FILE["MOST_EDGES"] + 1]
        self.device.copy(most, self.control[FILE["EDGES"] : FILE["EDGES"] + 1])
        self.comm.all_reduce(most, "max")
        told = self.device.download(self.control)
        self.trees, self.edges, self.edges_of_some = (
            int(told[FILE[word]]) for word in ("TREES_LEFT", "EDGES", "MOST_EDGES")
        )

    def _begin(self) -> None:
        """Begin a pass with the components that there are."""
        self.components = self.trees
        self.launch("count_up", self.trees, np.int32(self.trees), self.now)

    def list_edges(self) -> bool:
        """List own edges that join two components; return whether there may be heavier ones than those.

        Raises:
            OutOfMemory: however few are asked for, the list has no room for them.
        """
        for _ in range(_MOST_TRIES):
            self.device.fill(self.control[FILE["EDGES"] : FILE["EDGES"] + 1], 0)
            self.device.fill(self.control[FILE["HUB_ROWS"] : FILE["HUB_ROWS"] + 1], 0)
            if self.share < 1:
                self._list_light()
            else:
                self._list_rest()
            self._read_control()
            if self.edges_of_some <= self.room:
                self.done, self.share = self.share, 1.0
                return self.done < 1
            self.share = (self.done + self.share) / 2
        what = f"{self.edges_of_some} edges do not fit a list of {self.room}"
        raise OutOfMemory(what, where=self.part.name, remedy="use more devices")

    def _list_light(self) -> None:
        """List the edges up to the quantile ``share`` of a sample that all ranks draw together."""
        part, rank, size = self.part, self.part.comm.rank, FILE["SAMPLED"]
        rows, first, arcs = np.int32(part.rows), self.bounds[0], self.index(part.own_arcs)
        graph = (self.offsets, self.targets, self.weights)
        samples = self.sample_key, self.sample_name
        own = tuple(sample[rank * size : (rank + 1) * size] for sample in samples)
        self.launch("sample", size, rows, first, arcs, *graph, *own)
        cuts = [size * r for r in range(part.comm.size + 1)]
        for sample in samples:
            self.comm.spread(sample, cuts)
        chosen = np.int32(self.share * size * self.with_arcs)
        self.launch("quantile", samples[0].size, np.int32(samples[0].size), chosen, *samples, self.threshold)
        where = (*self.lists[0], self.control)
        self.launch(
            "list_light", part.own_arcs // 4, rows, first, arcs, *graph, self.tile_row, self.label, self.threshold,
            np.uint32(self.room), *where,
        )  # fmt: skip

    def _list_rest(self) -> None:
        """List all edges between two components; if there is a giant one, those of the rows outside."""
        part, first = self.part, self.bounds[0]
        graph = (self.offsets, self.targets, self.weights)
        self.device.fill(self.giant, FILE["NO_NAME"])
        if self.done:
            arcs = self.index(part.own_arcs)
            self.kernels["find_giant"](1, FILE["WARP"], (arcs, self.targets, self.label, self.giant))
            self.comm.all_reduce(self.giant, "max")
        where = (np.uint32(self.room), *self.lists[0], self.control)
        outside = (self.label, self.giant, self.hubs)
        self.launch("list_rows", part.rows, np.int32(part.rows), first, *graph, *outside, *where)
        self.launch("list_hubs", part.rows, first, *graph, *outside, *where)

    def find_min(self) -> None:
        """Find the least edge of every component, of all ranks."""
        tail, head, key, name = self.lists[0]
        best_key, best_name = self.best_key[: self.trees], self.best_name[: self.trees]
        edges = np.uint32(self.edges)
        self.device.fill(best_key, np.iinfo(best_key.dtype).max)
        self.launch("find_key", self.edges, edges, tail, head, key, best_key)
        self.comm.all_reduce(best_key, "min")
        self.device.fill(best_name, FILE["NO_NAME"])
        self.launch("find_name", self.edges, edges, tail, head, key, name, best_key, best_name)
        self.comm.all_reduce(best_name, "min")

    def hook_components(self) -> None:
        """Hang every component on the one at the other end of its least edge, and number those that are left."""
        trees, comm, renamed = self.trees, self.part.comm, self.renamed[: self.trees]
        ranks = np.uint32(comm.rank), np.uint32(comm.size)
        arrays = (self.best_name, self.label, self.now, self.up, self.names, self.control)
        self.launch("hook_components", trees, np.uint32(trees), *ranks, *arrays)
        self._number(trees, renamed)
        self.launch("compose", self.components, np.int32(self.components), self.now, renamed)

    def filter(self) -> None:
        """Drop the edges inside a component."""
        self.device.fill(self.control[FILE["EDGES"] : FILE["EDGES"] + 1], 0)
        here, there = self.lists
        edges = np.uint32(self.edges)
        self.launch("filter", self.edges, edges, *here, self.renamed, *there, self.control)
        self.lists.reverse()
        self._read_control()

    def relabel(self) -> None:
        """Let every vertex know its component before the next pass."""
        n = self.part.vertices
        self.launch("compose", n, np.int32(n), self.label, self.now)
        self._begin()

    def own_names(self) -> NDArray[np.uint64]:
        """Return the names of the forest's edges that are kept here, in any order."""
        count = int(self.device.read(self.control, FILE["NAMES"]))
        return self.device.download(self.names[:count])

    def located(self, own: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[Any]]:
        """Return all ranks' names in ascending order, and the edges' ids and weights; a collective."""
        part, device = self.part, self.device
        cuts = list(accumulate(part.comm.share(len(own)), initial=0))
        total = cuts[-1]
        names = device.empty(total, np.uint64)
        ids, words = device.full(total, 0, np.uint64), device.full(total, 0, key_dtype(part))
        device.copy(names[cuts[part.comm.rank] : cuts[part.comm.rank + 1]], device.upload(own))
        self.comm.spread(names, cuts)
        device.sort(names)
        rows = (self.offsets, self.targets, self.weights.view(words.dtype))
        self.launch("locate", total, np.uint32(total), *self.bounds, np.int64(part.first_arc), *rows, names, ids, words)
        for found in (ids, words):
            self.comm.all_reduce(found, "sum")
        weights = device.download(words).view(part.weight_dtype)
        return device.download(names), device.download(ids).view(np.int64), weights

    def launch(self, name: str, threads: int, *args: Any) -> None:
        """Launch a kernel over about ``threads`` threads' worth of work."""
        self.kernels[name](covering_grid(self.device, threads, self.block), self.block, args)


def load_kernels(part: GraphPart, device: Device) -> dict[str, Kernel]:
    """Return the kernels for a part by their names, compiled if need be."""
    return FILE.kernels(device, {"INDEX_BITS": part.index_bits, "WEIGHT": part.weight_dtype.name})


def compile_(subject: Any, device: Any) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        load_kernels(part_behind(subject), device)


def prepare(subject: Any, device: Any) -> HostEdges | ForestOnDevices:
    """Return what this rank knows of the forest."""
    part = part_behind(subject)
    if device.kind == "cpu":
        return HostEdges(part, weighted=True, labelled=False)
    return ForestOnDevices(part, device)


def run(state: HostEdges | ForestOnDevices, clock: Clock) -> None:
    """Grow the forest."""
    if isinstance(state, HostEdges):
        contract(state, clock)
    else:
        grow(state, clock)


def fetch(state: Any, handle: None) -> NDArray[Any]:
    """Copy what names the forest's edges that are kept on this rank to the host."""
    if isinstance(state, HostEdges):
        return np.sort(state.chosen[: int(state.chosen_count[0])].astype(np.int64))
    return state.own_names()  # type: ignore[no-any-return]


def finish(state: Any, chosen: NDArray[Any]) -> Forest:
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


register(
    Algorithm(
        problem="mst",
        name="boruvka-distributed",
        devices=("cpu", "cuda", "emulated"),
        summary="each rank picks its vertices' lightest arcs, filters, and agrees with all on each tree's least edge",
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
        resident=False,
        ranks=True,
    )
)
