"""Borůvka's algorithm on GPU and CPU together: the CPU's threads take a share of find-min.

The graph is split at one row: the GPU searches the rows before it, the CPU those from it on, at the same time; each
round the trees of all vertices go to the host and the CPU's minima to the device, beside the kernels.  The other
procedures run on the GPU alone.  Where the graph does not fit, the device holds the rows that fit, and the CPU searches
the others whatever it takes.  The paper places those in unified memory, in which its GPU may read them, "minimally";
here the GPU reads nothing of them.

The split moves.  After each of the first rounds both sides' rates are known, and rows go from the CPU to the GPU if the
CPU was late; the next run starts with the share that the rates ask for, or with less if over all rounds the CPU took
longer than the GPU: a round costs it something however few its rows are.

Phases.  ``cpu_find_min`` runs beside ``gpu_find_min``, and both copies beside either; ``wait_for_cpu`` is what the
GPU then waits.  They overlap, so that their sum exceeds the run.

Source: A. Kolganov, "Hybrid implementation of the MST algorithm using CPU and GPU", 2015, section on
the hybrid implementation.
"""

from bisect import bisect_right
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock, working_seconds
from gpugraph.base.compiled import njit, parallel_njit, prange, threads
from gpugraph.base.errors import InputError
from gpugraph.base.quantities import parse_share
from gpugraph.devices.base import Array, Device
from gpugraph.ext.papers.copies import Mark, add_beside, copy_stream, hold_launches, launched
from gpugraph.ext.papers.mst import gpu_boruvka
from gpugraph.ext.papers.mst.gpu_boruvka_streamed import LIMIT, check_limit, limit_bytes
from gpugraph.graph.canonical import lower_bound, weight_key, weight_words
from gpugraph.graph.chunks import balanced_ranges
from gpugraph.graph.view import GraphView, ResidentView
from gpugraph.problems.algorithm import Option
from gpugraph.problems.mst.gpu_forest import forest_algorithm

PIECES = 4
"""Parts of the CPU's rows, at most: one is on the bus while the next is worked on."""
PIECE_ARCS = 1 << 20
"""Arcs of a part, at least."""
RANGES_PER_THREAD = 4
"""Parts of a piece that threads take in turns."""
_NO_TREE = -1  # as in boruvka.cu; compiled code needs a number


class CpuRows:
    """The rows of the CPU, ``capacity`` at most, the buffers of what it finds, and their copies on the device.

    Attributes:
        first: the first of its rows; it has all from there on.
        count: (1,) uint32 on the device: how many rows there are.
        seconds, all_seconds: what the last find-min took, and all of this run.
        moved_bytes: what went over the bus in this run.
    """

    def __init__(self, view: GraphView, device: Device, capacity: int):
        self.view, self.device = view, device
        n, index = view.vertices, view.offsets.dtype
        key = np.uint32 if view.weights.dtype.itemsize == 4 else np.uint64
        self._words, self._sign, self._real = weight_words(view.weights)
        self._ordered = "sort-adjacency" in view.preparations
        self._identity = np.arange(n, dtype=np.int32)
        self._lower = np.array(view.offsets[:-1])
        self._tree = device.pinned(n, np.int32)
        self._host = [device.pinned(capacity, kind) for kind in (key, index, np.int32)]
        self._there = [device.empty(capacity, kind) for kind in (key, index, np.int32)]
        self._base = n - capacity
        self._vertex = device.upload(self._identity[self._base :])
        self.count = device.empty(1, np.uint32)
        self._copies = copy_stream(device)
        self._timeline: list[tuple[str, Mark, Mark]] = []
        self.first = n
        self.seconds, self.all_seconds, self.moved_bytes = 0.0, 0.0, 0

    def start(self, first: int) -> None:
        """Take the rows from ``first`` on; a run begins."""
        self.first = first
        if self._ordered:
            self._lower[first:] = self.view.offsets[first:-1]
        self.moved_bytes, self.all_seconds = 0, 0.0
        self._timeline.clear()

    @property
    def rows(self) -> int:
        """How many rows it has now."""
        return self.view.vertices - self.first

    def segments(self) -> tuple[Array, ...]:
        """Return vertex, key, id and other of its rows on the device: each row a segment of boruvka.cu."""
        return tuple(array[self.first - self._base :] for array in (self._vertex, *self._there))

    def fetch_trees(self, tree: Array) -> None:
        """Begin to copy the (n,) tree of every vertex to the host, behind what was launched so far."""
        self._copies.wait_for(launched(self.device))
        begun = self._copies.mark()
        self._copies.download(self._tree, tree)
        self._trees_here = self._copies.mark()
        self.moved_bytes += self._tree.nbytes
        self._timeline.append(("copy_trees_to_cpu", begun, self._trees_here))

    def find_min(self, round_: int) -> Mark:
        """Find the lightest outgoing edge of every row, send them to the device, and mark the last copy's end."""
        start = working_seconds()
        tree = self._identity
        if round_ > 0:
            self._trees_here.wait()
            tree = self._tree
        begun = self._copies.mark()
        begins, ends = (int(self.view.offsets[row]) for row in (self.first, self.view.vertices))
        pieces = max(1, min(PIECES, (ends - begins) // PIECE_ARCS))
        goals = [begins + (ends - begins) * i // pieces for i in range(1, pieces)]
        cuts = [max(self.first, row) for row in np.searchsorted(self.view.offsets, goals).tolist()]
        for first, last in pairwise([self.first, *cuts, self.view.vertices]):
            if first < last:
                self.search(tree, first, last, again=round_ > 0)
                span = slice(first - self._base, last - self._base)
                for there, here in zip(self._there, self._host, strict=True):
                    self._copies.upload(there[span], here[span])
                    self.moved_bytes += here[span].nbytes
        self.seconds = working_seconds() - start
        end = self._copies.mark()
        self.all_seconds += self.seconds
        self._timeline.append(("copy_minima_to_gpu", begun, end))
        return end

    def tell_phases(self, clock: Clock) -> None:
        """Add what this side did in the run to the clock's phases; waits for the copies."""
        add_beside(clock, "cpu_find_min", self.all_seconds)
        for name, begun, ended in self._timeline:
            add_beside(clock, name, ended.seconds_since(begun))

    def search(self, tree: NDArray[np.int32], first: int, last: int, *, again: bool) -> None:
        """Search the rows [first, last) by all threads."""
        view = self.view
        arcs = view.offsets, view.targets, self._words, self._sign, self._real
        has_ids = view.edge_ids is not None
        how = view.edge_ids if has_ids else view.offsets, has_ids, self._ordered, again
        found = self._base, tree, self._lower, *self._host
        ranges = balanced_ranges(view.offsets[first : last + 1], RANGES_PER_THREAD * threads())
        _find_min_everywhere(np.array([first, *(first + stop for _, stop in ranges)]), arcs, how, found)


@njit
def _find_min(start: int, stop: int, arcs: tuple[Any, ...], how: tuple[Any, ...], found: tuple[Any, ...]) -> None:
    """Write key, id and tree at the other end of the lightest outgoing arc of the rows [start, stop).

    Row u is written at u - base; ``other`` is -1 where there is none, which, ``again``, stays so.  Where rows are
    ``ordered`` by (weight, id) the first outgoing arc is the one, and ``lower`` keeps where it was: nothing before it
    will be outgoing again.
    """
    (offsets, targets, words, sign, real), (ids, has_ids, ordered, again) = arcs, how
    base, tree, lower, key, edge, other = found
    for u in range(start, stop):
        at = u - base
        if again and other[at] == _NO_TREE:
            continue
        own = tree[u]
        best = -1
        best_key = np.uint64(0)
        for arc in range(lower[u], offsets[u + 1]):
            if tree[targets[arc]] == own:
                continue
            if ordered:
                best = arc
                lower[u] = arc
                best_key = weight_key(words[arc], sign, real)
                break
            arc_key = weight_key(words[arc], sign, real)
            if best < 0 or arc_key < best_key or (arc_key == best_key and has_ids and ids[arc] < ids[best]):
                best = arc
                best_key = arc_key
        if best < 0:
            other[at] = _NO_TREE
            continue
        v = targets[best]
        other[at] = tree[v]
        key[at] = best_key
        if has_ids:
            edge[at] = ids[best]
        else:
            edge[at] = best if u < v else lower_bound(targets, offsets[v], offsets[v + 1], u)


@parallel_njit
def _find_min_everywhere(cuts: Any, arcs: tuple[Any, ...], how: tuple[Any, ...], found: tuple[Any, ...]) -> None:
    """Call ``_find_min`` for the rows between each two neighbours of (ranges+1,) ``cuts``, on all threads.

    A loop inside of compiled code: handing out ranges from Python would take longer than a round.
    """
    for part in prange(len(cuts) - 1):
        _find_min(cuts[part], cuts[part + 1], arcs, how, found)


FIRST_SHARE = 0.2
"""Share of the arcs that the CPU starts with: the least the paper found useful."""
MOST_SHARE = 0.5
"""The CPU's share never grows beyond this by itself."""
LEAST_SHARE = 0.002
"""Less than this is not worth the copies."""
TUNED_ROUNDS = 3
"""Rounds after which the split may move: almost all the time is spent in the first ones."""


class State:
    """The two sides of one run, with the CPU's share of the arcs (None: tuned); OutOfMemory if the limit is too low."""

    def __init__(self, view: GraphView, device: Device, share: float | None, limit: int):
        self.device, self.host = device, view
        self.tuned = share is None
        self.share = FIRST_SHARE if share is None else share
        least = 0 if share is not None else row_at(view, 1 - MOST_SHARE)
        check_limit(device_bytes(view, 0, least), limit, "boruvka-hybrid")
        rows = range(view.vertices + 1)
        self.most_rows = bisect_right(rows, limit, lo=1, key=lambda count: device_bytes(view, count, least)) - 1
        device.require(device_bytes(view, self.most_rows, least))
        self.cpu = CpuRows(view, device, view.vertices - min(least, self.most_rows))
        self.gpu = gpu_boruvka.State(upload_rows(view, device, self.most_rows), device, self.most_rows)
        self.view, self.forest_edges = self.gpu.view, self.gpu.forest_edges

    def start(self) -> None:
        """Make every vertex a tree and split the rows."""
        self.split = min(row_at(self.host, 1 - self.share), self.most_rows)
        self.gpu.rows = self.split
        self.gpu.start()
        self.cpu.start(self.split)
        self.searches: list[tuple[Mark, Mark]] = []

    def find_min(self, round_: np.int32, clock: Clock) -> None:
        """Find the lightest outgoing edge of every tree: each side of its own segments, then the GPU of the trees."""
        gpu, cpu, device = self.gpu, self.cpu, self.device
        gpu.reset_trees(round_)
        if cpu.rows and round_ > 0:
            cpu.fetch_trees(gpu.tree)
        begun = launched(device)
        with clock.phase("gpu_find_min"):
            gpu.find_min_segments(round_)
        self.searches.append((begun, launched(device)))
        lists = [gpu.own_segments(round_)]
        if cpu.rows:
            sent = cpu.find_min(int(round_))  # beside the launch above
            device.fill(cpu.count, cpu.rows)
            with clock.phase("wait_for_cpu"):
                hold_launches(device, sent)
            lists.append((cpu.rows, np.int32(0), cpu.count, *cpu.segments()))
        with clock.phase("find_min_trees"):
            gpu.find_min_trees(lists)

    def move_split(self, round_: np.int32) -> None:
        """After the first rounds, give rows to the GPU if the CPU was late."""
        share = self.cpu_share()
        if not self.tuned or round_ >= TUNED_ROUNDS or not 0 < share < 1:
            return
        begun, ended = self.searches[-1]
        per_share = self.cpu.seconds / share, ended.seconds_since(begun) / (1 - share)
        self.share = self.worthwhile(per_share[1] / max(sum(per_share), 1e-9))
        split = min(row_at(self.host, 1 - self.share), self.most_rows)
        if split > self.split:
            gpu, following = self.gpu, np.int32(round_ + 1)
            rows = (np.int32(self.split), np.int32(split), gpu.view.offsets)
            into = (*gpu.segment_lists[following % 2], gpu.segments)
            gpu.launch("add_rows", split - self.split, following, *rows, *into)
            self.cpu.first = self.split = split

    def settle_share(self) -> None:
        """After a run, let the CPU have less in the next one if it took longer than the GPU over all rounds."""
        if not self.tuned or self.share == 0:
            return
        if (on_cpu := self.cpu.all_seconds) > (on_gpu := self.gpu_seconds()):
            self.share = self.worthwhile(self.share * on_gpu / on_cpu)

    def gpu_seconds(self) -> float:
        """Return what the GPU's searches of this run took."""
        return sum(ended.seconds_since(begun) for begun, ended in self.searches)

    @staticmethod
    def worthwhile(share: float) -> float:
        """Return the share, or 0 if it is not worth the copies."""
        return 0.0 if share < LEAST_SHARE else min(share, MOST_SHARE)

    def cpu_share(self) -> float:
        """Return the share of the arcs in the CPU's rows."""
        return 1 - int(self.host.offsets[self.split]) / max(self.host.arcs, 1)


def row_at(view: GraphView, share: float) -> int:
    """Return the row before which about this share of the arcs lies."""
    if share >= 1:
        return view.vertices
    return int(np.searchsorted(view.offsets, int(share * view.arcs)))


def device_bytes(view: GraphView, rows: int, least: int) -> int:
    """Return the bytes on the device with the first ``rows`` rows; the GPU never searches fewer than ``least``."""
    arcs = int(view.offsets[rows])
    ids = 0 if view.edge_ids is None else view.edge_ids.itemsize
    targets = arcs * view.targets.itemsize
    if view.compressed is not None:
        targets = view.compressed.first_rows(view.offsets, rows).nbytes
    part = (rows + 1) * view.offsets.itemsize + targets + arcs * (view.weights.itemsize + ids)
    of_cpu_rows = (view.vertices - min(least, rows)) * (8 + view.weights.itemsize + view.offsets.itemsize) + 4
    return part + gpu_boruvka.state_bytes(view, rows) + of_cpu_rows


def upload_rows(view: GraphView, device: Device, rows: int) -> ResidentView:
    """Return the view with the first ``rows`` rows on the device; the rest is on the host alone."""
    arcs = int(view.offsets[rows])

    def there(array: np.ndarray[Any, Any]) -> Array:
        return device.upload(device.stage(array))

    offsets, weights = there(view.offsets[: rows + 1]), there(view.weights[:arcs])
    edge_ids = None if view.edge_ids is None else there(view.edge_ids[:arcs])
    if view.compressed is None:
        return ResidentView(view, offsets, there(view.targets[:arcs]), weights, edge_ids)
    compressed = tuple(map(there, view.compressed.first_rows(view.offsets, rows).arrays))
    return ResidentView(view, offsets, compressed[3], weights, edge_ids, compressed)


def compile_(view: GraphView, device: Device, **options: object) -> None:
    """Compile the kernels and the CPU's code."""
    gpu_boruvka.load_kernels(view, device)
    rows = CpuRows(view, device, 0)
    rows.search(np.zeros(view.vertices, np.int32), 0, 0, again=False)


def prepare(view: GraphView, device: Device, **options: Any) -> State:
    """Split the graph, copy the GPU's part, and allocate everything a run needs."""
    text = str(options["cpu-share"])
    remedy = "write 0.2, 20% or auto"
    share = None
    if text != "auto":
        share = parse_share("option 'cpu-share'", text, remedy=remedy)
        if not 0 <= share <= 1:
            raise InputError(f"option 'cpu-share' takes a share from 0 to 1, not '{text}'", remedy=remedy)
    return State(view, device, share, limit_bytes(options["memory-limit"], view.nbytes, device))


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids."""
    state.start()
    round_ = np.int32(0)
    while state.gpu.trees_left > 1:
        state.find_min(round_, clock)
        state.gpu.contract(round_, clock)
        state.move_split(round_)
        round_ = np.int32(round_ + 1)
    state.settle_share()
    if clock.timing:
        state.cpu.tell_phases(clock)
    gpu_boruvka.count_compression(state.host, clock)
    clock.count("cpu_percent", round(100 * state.cpu_share()))
    clock.count("cpu_rows_percent", round(100 * state.cpu.rows / max(state.host.vertices, 1)))
    clock.count("copied_bytes", state.cpu.moved_bytes)
    return state.gpu.forest


forest_algorithm(
    "boruvka-hybrid",
    summary="Borůvka whose find-min is shared between GPU and CPU threads, with copies beside the kernels",
    authors="Kolganov",
    year=2015,
    section="Hybrid implementation of the minimal edge search procedure",
    prepare=prepare,
    run=run,
    compile=compile_,
    preparations=("sort-adjacency", "renumber", "rank-weights", "compress"),
    options=(Option("cpu-share", str, "auto", "the CPU's share of the arcs: 0.2, 20%, or auto to tune it"), LIMIT),
    resident=False,
)
