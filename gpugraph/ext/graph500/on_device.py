"""Graph500 on a device: kernel 1, kernel 3 and the validation (``cuda_kernels/graph500.cu``).

Kernel 1 counts the arcs of each vertex, adds the counts up and lets every arc take its place, with no sort: 16 bytes of
a tuple are read twice, and 8 bytes of an arc are written.  The counters of all vertices would not stay in the cache
together, where an atomic is several times as fast, so both passes go over the tuples once for each range of vertices.
In the rows vertices with many arcs have the first numbers, and those without any have none: most gathers of a search
then meet the cache.

Kernel 3 is delta-stepping with sums in float32, the specification's type, and one pass for the parents, which reads 4
bytes of each arc and gathers few distances.  To carry parents in the search would make every distance word 8 bytes
wide, and gathering those is what a search takes most of its time for.  In the end distances and parents are brought
back to the labels of the input.
"""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import GpuGraphError
from gpugraph.devices.base import Array, Device, Kernel, covering_grid
from gpugraph.devices.kernel_file import index_dtype, index_types
from gpugraph.ext.graph500.checked import RULES, Found, bad_tuple, fault_in_words, refused
from gpugraph.ext.graph500.generator import BLOCK, FILE, Tuples
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.registry import find_algorithm

NOTHING = 2**64 - 1  # no vertex or tuple
WINDOW = 8 << 20
"""Counters that a pass over the tuples works on: they stay in a GPU's second-level cache."""
FIRST_RANKS, GROWTH = 1 << 18, 2
"""Ranks whose arcs are placed by the first pass, and how many times as many by the next: they have ever fewer arcs."""
RENAMED = 1 << 29
"""Tuples that are renamed at a time."""


def possible_positions(tuples: int) -> set[np.dtype[Any]]:
    """Return the dtypes that positions may need in the rows of so many tuples, of which few are loops."""
    return {index_dtype(2 * count, unsigned=True) for count in (tuples, tuples - tuples // 1024)}


class DeviceMachine:
    """The benchmark on a device that holds the tuples; ``index``: the dtype of positions; see ``CpuMachine``."""

    def __init__(self, tuples: Tuples, device: Device, index: np.dtype[Any] | None = None):
        self.tuples, self.device, self.index = tuples, device, index
        self.kernels: dict[str, Kernel] = {}
        self.algorithm = find_algorithm("sssp", "delta-stepping", device.kind)
        self.vertices = self.arcs = 0

    def _launch(self, name: str, threads: int, *args: object) -> None:
        self.kernels[name](covering_grid(self.device, threads, BLOCK), BLOCK, args)

    def construct(self) -> None:
        """Make the rows and the state of searches; see ``CpuMachine``."""
        device = self.device
        starts = self._rank(self._survey())
        arcs = self._add_up(starts)
        device.require(8 * arcs)
        targets, weights = device.empty(arcs, np.int32), device.empty(arcs, np.float32)
        self._place(starts, targets, weights)
        self.use_rows(DeviceRows(device, starts[:-1], targets, weights, _not_on_host))
        self._make_room()
        device.synchronize()

    def _make_room(self) -> None:
        """Allocate the result of a search."""
        self.distance = self.device.empty(self.vertices, np.float32)
        self.parent = self.device.empty(self.vertices, np.int32)

    def _survey(self) -> np.dtype[Any]:
        """Check the labels and load the kernels; return the dtype of an arc's position."""
        device, count = self.device, np.int64(len(self.tuples))
        lists = count, self.tuples.edges, self.tuples.weights
        found = device.upload(np.array([0, NOTHING, 0], np.uint64))
        survey = FILE.kernel(device, {"WEIGHT": "float32"}, "survey")
        survey(covering_grid(device, len(self.tuples), BLOCK), BLOCK, (*lists, found))
        largest, first_bad, loops = device.download(found).tolist()
        if first_bad != NOTHING:
            raise refused(bad_tuple(first_bad, self.tuples.line(first_bad, device)))
        index = self.index or index_dtype(2 * (len(self.tuples) - loops), unsigned=True)
        types = {**index_types(index), "WEIGHT": "float32"}
        self.kernels = FILE.kernels(device, types, without=("generate", "survey"))
        self.vertices = largest + 1
        return index

    def _rank(self, dtype: np.dtype[Any]) -> Array:
        """Number the vertices that have arcs; return for each, two words further on, how many it has."""
        device, labels = self.device, self.vertices
        device.require(4 * labels * 3)
        degree = device.full(labels, 0, np.uint32)
        for first in range(0, labels, WINDOW):
            part = np.uint32(first), np.uint32(min(first + WINDOW, labels))
            self._launch("count", len(self.tuples), np.int64(len(self.tuples)), self.tuples.edges, *part, degree)
        sizes = device.full(FILE["CLASSES"], 0, np.uint32)
        self._launch("count_classes", labels, np.int32(labels), degree, sizes)
        ends = np.cumsum(device.download(sizes))
        taken = device.upload(np.concatenate([[0], ends[:-1]]).astype(np.uint32))
        n = max(int(ends[-1]), 1)
        device.require(n * (dtype.itemsize + 4))
        self.rank, self.label = device.empty(labels, np.int32), device.empty(n, np.int32)
        starts = device.full(n + 2, 0, dtype)
        where = np.int32(labels), degree, taken, self.rank, self.label, starts
        self.kernels["rank"](-(-labels // FILE["TILE"]), FILE["BLOCK"], where)
        return starts

    def _place(self, starts: Array, targets: Array, weights: Array) -> None:
        """Let every arc take its place in the rows, so many tuples at a time, and of these range by range."""
        tuples, n = self.tuples, int(starts.size) - 2
        self.device.require(8 * min(len(tuples), RENAMED))
        renamed = self.device.empty(2 * min(len(tuples), RENAMED), np.int32)
        for begin in range(0, len(tuples), RENAMED):
            end = min(begin + RENAMED, len(tuples))
            count = np.int64(end - begin)
            self._launch("rename", end - begin, count, tuples.edges[3 * begin : 3 * end], self.rank, renamed)
            first, last = 0, FIRST_RANKS
            while first < n:
                part = np.uint32(first), np.uint32(min(last, n))
                where = tuples.weights[begin:end], *part, starts, targets, weights
                self._launch("place", end - begin, count, renamed, *where)
                first, last = last, last + GROWTH * (last - first)

    def use_rows(self, rows: DeviceRows) -> None:
        """Make what searches in these rows need."""
        device, n, arcs = self.device, rows.vertices, rows.arcs
        self.rows, self.arcs = rows, arcs
        graph = CSRGraph.lying_on(rows, directed=False, name="graph500", source="graph500")
        host = GraphView.of(graph)
        object.__setattr__(host, "_index", rows.index_dtype)  # of few arcs too, where it is to be compiled
        view, _, _ = make_resident(host, device)
        self.state = self.algorithm.prepare(view, device, sums="float32")
        self.above, self.waiting = device.empty(n, np.int32), device.empty(n, np.int32)
        room, count = arcs // FILE["HUB"] + arcs // FILE["PIECE"] + 1, device.full(1, 0, np.uint32)
        self.piece_vertex, self.piece_begin = device.empty(room, np.int32), device.empty(room, rows.index_dtype)
        self._launch("list_pieces", n, np.int32(n), rows.offsets, self.piece_vertex, self.piece_begin, count)
        self.pieces = np.int64(device.read(count))

    def _add_up(self, starts: Array) -> int:
        """Replace words by their running sums; return the last."""
        device, size = self.device, int(starts.size)
        tiles = -(-size // FILE["TILE"])
        sums = device.empty(tiles, np.int64)
        self.kernels["tile_sums"](tiles, FILE["BLOCK"], (np.int64(size), starts, sums))
        ends = np.cumsum(device.download(sums))
        before = device.upload(np.concatenate([[0], ends[:-1]]).astype(np.int64))
        self.kernels["running_sums"](tiles, FILE["BLOCK"], (np.int64(size), before, starts))
        return int(ends[-1])

    def degree(self, vertex: int) -> int:
        """Return the arcs of a vertex; see ``CpuMachine``."""
        if vertex >= self.vertices:
            return 0
        rank = int(self.device.read(self.rank, vertex))
        if rank == FILE["NONE"]:
            return 0
        first, last = self.device.download(self.rows.offsets[rank : rank + 2]).tolist()
        return int(last - first)

    def search(self, root: int) -> None:
        """Find distances and parents; see ``CpuMachine``."""
        device, n, first = self.device, self.rows.vertices, int(self.device.read(self.rank, root))
        if first == FILE["NONE"]:  # it reaches itself alone
            device.fill(self.distance, -1)
            device.fill(self.distance[root : root + 1], 0)
            device.fill(self.parent, FILE["NONE"])
            device.fill(self.parent[root : root + 1], root)
            return
        distance, above = self.algorithm.run(self.state, NullClock(), first).view(np.float32), self.above
        device.fill(above, FILE["NONE"])
        device.fill(above[first : first + 1], first)
        nearest = device.full(1, np.array(np.inf, np.float32).view(np.uint32)[()], np.uint32)
        rows = self.rows.offsets, self.rows.targets, self.rows.weights
        pieces = self.pieces, self.piece_vertex
        self._launch("first_hub", int(self.pieces), *pieces, distance, nearest)
        self._launch("push", n, np.int32(n), *rows, distance, nearest, above)
        sizes = np.int32(n), self.rows.index_dtype.type(self.arcs)
        self._launch("tight", n, *sizes, *pieces, self.piece_begin, *rows, distance, nearest, above)
        left = device.full(1, 0, np.uint32)
        self._launch("list_open", n, np.int32(n), distance, above, self.waiting, left)
        waiting = missing = int(device.read(left))  # waits for all that was launched
        while missing:
            device.fill(left, 0)
            where = (np.int64(waiting), self.waiting, *rows, distance, above, left)
            self._launch("attach", FILE["WARP"] * waiting, *where)
            before, missing = missing, int(device.read(left))
            if missing == before:
                break  # the validation will say so
        back = self.rank, self.label, distance, above, self.distance, self.parent
        self._launch("unrank", self.vertices, np.int32(self.vertices), np.int32(root), *back)
        device.synchronize()

    def validate(self, root: int) -> Found:
        """Check the last search; see ``CpuMachine``."""
        device, n = self.device, self.vertices
        device.require(13 * n)
        found = device.upload(np.array([*(NOTHING for _ in RULES), 0], np.uint64))
        pairs, jump = device.empty(n, np.uint64), device.empty(n, np.int32)
        confirmed = device.empty(n, np.uint8)
        size = np.int32(n), np.int32(root)
        self._launch("check_vertices", n, *size, self.distance, self.parent, pairs, jump, confirmed, found)
        firsts = self._firsts(found)
        if firsts["RANGE"] is None:
            firsts["CYCLE"] = self._off_the_root(size, jump)
        if not any(first is not None for first in firsts.values()):
            lists = np.int64(len(self.tuples)), self.tuples.edges, self.tuples.weights
            self._launch("check_tuples", len(self.tuples), *lists, pairs, confirmed, found)
            self._launch("check_confirmed", n, np.int32(n), confirmed, found)
            firsts = self._firsts(found)
        fault = fault_in_words(firsts, root, self._vertex, self.tuples, device)
        return Found(int(device.read(found, FILE["TUPLES"])), fault)

    def _firsts(self, found: Array) -> dict[str, int | None]:
        words = self.device.download(found).tolist()
        return {rule: None if words[FILE[rule]] == NOTHING else words[FILE[rule]] for rule in RULES}

    def _off_the_root(self, size: tuple[Any, ...], jump: Array) -> int | None:
        """Return the first vertex whose parents do not lead to the root, or None."""
        for _ in range(self.vertices.bit_length() + 1):
            lowest = self.device.full(1, NOTHING, np.uint64)
            self._launch("climb", self.vertices, *size, jump, lowest)
            left = int(self.device.read(lowest))
            if left == NOTHING:
                return None
        return left

    def _vertex(self, v: int) -> tuple[int, float]:
        return int(self.device.read(self.parent, v)), float(self.device.read(self.distance, v))

    def result(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return parents and distances; see ``CpuMachine``."""
        return self.device.download(self.parent), self.device.download(self.distance)

    def peak_bytes(self) -> int | None:
        """Return the peak of the device's memory; see ``CpuMachine``."""
        return self.device.peak_bytes()


def _not_on_host() -> NoReturn:
    raise GpuGraphError("the rows of Graph500 exist on the device alone", remedy="please report it")
