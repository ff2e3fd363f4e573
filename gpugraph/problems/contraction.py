"""Borůvka's rounds over ranks: trees that are the same on all of them, edges of which each rank has a share.

    of its share of the edges each rank keeps those that its own share leaves
    while there are two trees:
        the least key at each tree: of the own edges, then of all ranks
        the first own edge of that key claims the tree; the lowest rank that claims it wins
        hook trees along the edges that won, cut cycles of two, jump to the roots, renumber them
        drop the own edges inside a tree

(key, rank, position there) compares as (weight, edge id) does, since ranks hold ascending ranges of ids: the order is
total, the forest unique, and neither ids nor weights travel, only 12 bytes a tree and round (16 where weights have 64
bits).  Trees at least halve from round to round.

The share of a rank is a stretch of all edges in canonical order, as long as every other's: the arcs to a greater vertex
are more in the first rows than in the last, so they are dealt out anew.

On GPUs and the emulated device the steps are the kernels of ``cuda_kernels/boruvka_distributed.cu``, on the CPU those
of ``contraction_cpu.py``.

Source: Borůvka 1926; Chung & Condon 1996, Parallel implementation of Borůvka's minimum spanning tree algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs, product
from gpugraph.errors import InputError
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.sort_arcs import sort_arcs
from gpugraph.graph.view import MAX_NARROW_ARCS, GraphView, ResidentView
from gpugraph.ranks.comm import Comm, comm_for
from gpugraph.ranks.part import MOST_ARCS, GraphPart, require_on_devices, up_arcs

FILE = KernelFile("boruvka_distributed.cu", product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "uint64")))


class Edges(Protocol):
    """The edges of one rank between the trees of all, and the steps of a round."""

    part: GraphPart
    comm: Comm
    trees: int
    best_key: Array
    claims: Array
    weighted: bool

    def start(self) -> None:
        """Make every vertex a tree, and list the edges that this rank's own share leaves."""
        ...

    def find_min(self) -> None:
        """Find the least key at every tree among the edges that are here."""
        ...

    def claim(self) -> None:
        """Claim for this rank the trees at which it has an edge of the least key of all."""
        ...

    def merge(self) -> None:
        """Hang every tree on the other end of the edge that won it, and note the edges that were won here."""
        ...

    def renumber(self) -> None:
        """Number the trees that are left; those that nobody claimed have ended."""
        ...

    def filter(self) -> None:
        """Drop the edges inside a tree."""
        ...


def contract(edges: Edges, clock: Clock) -> None:
    """Run rounds until no edge joins two trees."""
    comm = edges.comm
    with clock.phase("reduce"):
        edges.start()
    while edges.trees > 1:
        if edges.weighted:
            with clock.phase("find_min"):
                edges.find_min()
                comm.all_reduce(edges.best_key[: edges.trees], "min")
        with clock.phase("claim"):
            edges.claim()
            comm.all_reduce(edges.claims[: edges.trees], "min")
        with clock.phase("merge_trees"):
            edges.merge()
        with clock.phase("renumber"):
            edges.renumber()
        with clock.phase("filter"):
            edges.filter()
        clock.count("rounds")


def part_behind(subject: GraphPart | GraphView | ResidentView) -> GraphPart:
    """Return the part that a rank was given, or one device's whole graph as the part of its only rank.

    Raises:
        InputError: it has too many arcs or vertices for one rank.
    """
    if not isinstance(subject, GraphPart):
        host = subject.host if isinstance(subject, ResidentView) else subject
        subject = GraphPart.of(host.graph)
    if subject.own_arcs >= MOST_ARCS or subject.vertices >= 2**31:
        what = f"a rank can hold {MOST_ARCS} arcs of 2^31 vertices, not {subject.own_arcs} of {subject.vertices}"
        raise InputError(what, where=subject.name, remedy="use more ranks")
    return subject


def index_bits_of(subject: Any) -> int | None:
    """Return the width of arc indices asked for; None where what fits is to be taken."""
    bits: int | None = getattr(subject, "index_bits", None)
    return bits


def expected_index_bits(subject: Any, part: GraphPart) -> int:
    """Return the width of arc indices that ``local_view`` will most likely take, for compiling ahead."""
    return index_bits_of(subject) or (32 if 2 * part.edges // part.comm.size < MAX_NARROW_ARCS else 64)


def dealt_edges(part: GraphPart) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return tails, heads and weights of this rank's share of all edges, in canonical order; a collective."""
    comm = part.comm
    here = up_arcs(part.offsets, part.targets, part.first)
    columns = part.tails(here).astype(part.targets.dtype), part.targets[here], part.weights[here]
    counts = np.array(comm.share(len(here)), np.int64)
    before = int(counts[: comm.rank].sum())
    cuts = [int(counts.sum()) * r // comm.size for r in range(comm.size + 1)]
    bounds = np.clip(np.array(cuts) - before, 0, len(here))
    tails, heads, weights = (
        np.concatenate(comm.all_to_all([column[low:high] for low, high in pairwise(bounds)])) for column in columns
    )
    return tails, heads, weights


def local_view(part: GraphPart, index_bits: int | None = None) -> GraphView:
    """Return this rank's share of the edges as a graph of its own, both arcs of each; a collective."""
    if part.graph is not None:
        return GraphView.of(part.graph, index_bits=index_bits)
    tails, heads, weights = dealt_edges(part)
    rows = sort_arcs(tails, heads, weights, part.vertices, mirrored=True)
    return GraphView.of(CSRGraph(rows.offsets, rows.targets, rows.weights, False, part.name), index_bits=index_bits)


def arrays(part: GraphPart, *, weighted: bool, labelled: bool) -> ArrayTable:
    """Return the arrays of the rounds of a rank (meaning: boruvka_distributed.cu); of the edges' two sets in turns."""
    n, room, key = part.vertices, max(part.vertices - 1, 1), key_dtype(part, weighted=weighted)
    labels = n if labelled else 0
    return {
        **dict.fromkeys(("tail", "head"), ((2, room), np.int32)),
        "key": ((2, room), key),
        "at": ((2, room), np.uint32),
        "best_key": (n, key),
        "best_at": (n, np.uint32),
        "claims": (n, np.uint64),
        **dict.fromkeys(("parent", "link", "renamed"), (n, np.int32)),
        "chosen": (max(n, 1), np.uint32),
        **dict.fromkeys(("chosen_count", "edge_count"), (1, np.uint32)),
        "counts": (-(-n // FILE["TREES"]) or 1, np.uint32),
        "least_vertex": ((2, labels), np.int32),
        "label": (labels, np.int32),
    }


def key_dtype(part: GraphPart, *, weighted: bool) -> np.dtype[Any]:
    """Return the dtype of an edge's key: unsigned, as wide as the weight; 32 bits where weights do not matter."""
    return np.dtype(f"u{part.weight_dtype.itemsize if weighted else 4}")


class DeviceEdges(Arrays):
    """The edges of a rank on its device (arrays and kernels: boruvka_distributed.cu).

    Attributes:
        chosen: (n,) uint32: of the forest's edges that were won here, in any order, what ``at`` holds of them.
        chosen_count: (1,) uint32.
        label: (n,) int32: of each vertex, after ``contract`` and ``settle``, the smallest vertex of its tree.
    """

    def __init__(
        self,
        part: GraphPart,
        view: ResidentView,
        device: Device,
        reduce: Callable[[DeviceEdges], int],
        *,
        weighted: bool,
        labelled: bool,
    ):
        self.part, self.view, self.weighted, self.labelled = part, view, weighted, labelled
        self.comm, self._reduce = comm_for(part.comm, device), reduce
        table = arrays(part, weighted=weighted, labelled=labelled)
        require_on_devices(part.comm, device, needs(table), part.name)
        super().__init__(device, table)
        self.block = FILE["BLOCK"]
        self.kernels = load_kernels(part, device, view.index_bits, weighted=weighted)
        self.lists = [(self.tail[turn], self.head[turn], self.key[turn], self.at[turn]) for turn in (0, 1)]
        self.least = [self.least_vertex[0], self.least_vertex[1]]
        self.trees = self.edges = 0

    def start(self) -> None:
        """Make every vertex a tree, and list the edges that this rank's own share leaves."""
        device = self.device
        self.trees = self.part.vertices
        device.fill(self.chosen_count, 0)
        device.fill(self.edge_count, 0)
        device.fill(self.best_key, 0)  # of trees without weights; else the rounds fill it
        self.edges = self._reduce(self)
        if self.labelled:
            names = np.arange(self.trees, dtype=np.int32)
            device.copy(self.label, device.upload(names))
            device.copy(self.least[0], device.upload(names))

    def find_min(self) -> None:
        """Find the least key at every tree among the edges that are here."""
        tail, head, key, _ = self.lists[0]
        best = self.best_key[: self.trees]
        self.device.fill(best, np.iinfo(best.dtype).max)
        self.launch("find_min", self.edges, np.uint32(self.edges), tail, head, key, best)

    def claim(self) -> None:
        """Claim for this rank the trees at which it has an edge of the least key of all."""
        tail, head, key, at = self.lists[0]
        edges, best_at = np.uint32(self.edges), self.best_at[: self.trees]
        self.device.fill(best_at, FILE["NO_EDGE"])
        self.device.fill(self.claims[: self.trees], FILE["NO_CLAIM"])
        self.launch("find_first", self.edges, edges, tail, head, key, at, self.best_key, best_at)
        rank = np.uint32(self.comm.rank)
        self.launch("claim", self.edges, edges, rank, tail, head, at, best_at, self.claims)

    def merge(self) -> None:
        """Hang every tree on the other end of the edge that won it, and note the edges that were won here."""
        trees, rank = np.uint32(self.trees), np.uint32(self.comm.rank)
        self.launch("hook", self.trees, trees, self.claims, self.parent)
        chosen = (self.chosen, self.chosen_count)
        self.launch("cut", self.trees, trees, rank, self.claims, self.best_at, self.parent, self.link, *chosen)
        for _ in range(math.ceil(math.log(max(self.trees, 2), FILE["JUMPS"])) + 1):
            self.launch("jump", self.trees, trees, self.link)

    def renumber(self) -> None:
        """Number the trees that are left, on all ranks alike; those that nobody claimed have ended."""
        device, trees, number = self.device, np.uint32(self.trees), self.parent
        blocks = -(-self.trees // FILE["TREES"])
        counts = self.counts[:blocks]
        self.kernels["count"](blocks, self.block, (trees, self.claims, self.link, counts))
        live = device.download(counts).astype(np.int64)
        bases = device.upload((np.cumsum(live) - live).astype(np.uint32))
        self.kernels["number"](blocks, self.block, (trees, self.claims, self.link, bases, number))
        self.launch("rename", self.trees, trees, self.link, number, self.renamed)
        left = int(live.sum())
        if self.labelled:
            least, new = self.least
            device.fill(new[:left], 2**31 - 1)
            self.launch("least", self.trees, trees, self.renamed, least, new)
            n = np.int32(self.part.vertices)
            self.launch("label", int(n), n, self.renamed, least, self.label)
            self.least.reverse()
        self.trees = left

    def filter(self) -> None:
        """Drop the edges inside a tree."""
        self.device.fill(self.edge_count, 0)
        here, there = self.lists
        edges = np.uint32(self.edges)
        self.launch("filter", self.edges, edges, *here, self.renamed, *there, self.edge_count)
        self.lists.reverse()
        self.edges = int(self.device.read(self.edge_count))

    def settle(self) -> None:
        """Bring every vertex's label from its tree to the tree's smallest vertex."""
        n = np.int32(self.part.vertices)
        self.launch("settle", int(n), n, self.least[0], self.label)


def load_kernels(part: GraphPart, device: Device, index_bits: int, *, weighted: bool) -> dict[str, Kernel]:
    """Return the kernels for a part by their names, compiled if need be."""
    return FILE.kernels(device, {"WEIGHT": key_dtype(part, weighted=weighted).name, "INDEX_BITS": index_bits})
