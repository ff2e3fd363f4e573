"""Minimum spanning forests of many small graphs at once: molecules, clusterings, bootstraps.

The graphs of a ``Batch`` lie one after another in three arrays, and offsets of offsets tell where each begins.  On a
CPU every thread takes its share of graphs, each by Borůvka's algorithm on the list of its edges; on a GPU a block takes
a graph (``cuda_kernels/mst_many.cu``).

Source: Borůvka 1926, O jistém problému minimálním.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit, threads
from gpugraph.base.errors import InputError, expect, shown
from gpugraph.base.shown import Shown
from gpugraph.devices.base import Device, Kernel
from gpugraph.devices.discovery import select_device
from gpugraph.devices.kernel_file import KernelFile, product
from gpugraph.ext.changes.preparations import rank_weights
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.certified import check_way
from gpugraph.ext.python.from_python import on_host
from gpugraph.ext.python.inputs import opened
from gpugraph.ext.python.resident_graph import verified
from gpugraph.ext.python.terms import in_python_terms
from gpugraph.graph.build import narrow_weights
from gpugraph.graph.canonical import order_keys
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.symmetrize import symmetrize
from gpugraph.problems.mst.forest import Forest

_RANGES_PER_THREAD = 8
_BY_OF = "give the graphs to GraphBatch.of, which joins their arrays"


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Undirected graphs one after another, each as rows of its own; see ``CSRGraph``.

    Attributes:
        starts: (graphs+1,) int64, the first vertex of each graph.
        offsets: (vertices+1,) int64, the first arc of each vertex.
        targets: (arcs,) int32, vertices counted within their graph.
        weights: (arcs,) of one of ``WEIGHT_DTYPES``.

    Raises:
        InputError: arrays that ``of`` has not joined are not these rows; the message says which graph's.
    """

    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    weights: NDArray[Any]

    def __post_init__(self) -> None:
        types = {"starts": ("int64",), "offsets": ("int64",), "targets": ("int32",), "weights": WEIGHT_DTYPES}
        for name, dtypes in types.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype not in dtypes or array.ndim != 1:
                what = f"{name} is {shown(array)}, not an array (entries,) of {' or '.join(dtypes)}"
                raise InputError(what, remedy=_BY_OF)
            object.__setattr__(self, name, np.ascontiguousarray(array))
        for name, held, things in (("offsets", self.targets, "targets"), ("starts", self.offsets[1:], "rows")):
            bounds = getattr(self, name)
            whole = len(bounds) and bounds[0] == 0 and bounds[-1] == len(held)
            if not whole or not (bounds[:-1] <= bounds[1:]).all():
                raise InputError(f"{name} do not ascend from 0 to the number of {things}, {len(held)}", remedy=_BY_OF)
        if len(self.weights) != len(self.targets):
            raise InputError(f"there are {len(self.targets)} targets and {len(self.weights)} weights", remedy=_BY_OF)
        _refuse_long(np.diff(self.offsets[self.starts]))
        for i in np.flatnonzero(~self._sound())[:1].tolist():
            what = "it has no ascending rows of both arcs of every edge, without loops, NaN and −0.0"
            raise InputError(what, where=f"graph {i}", remedy=_BY_OF)

    @classmethod
    def _unchecked(cls, **arrays: NDArray[Any]) -> "GraphBatch":
        batch = object.__new__(cls)
        batch.__dict__.update(arrays)
        return batch

    @classmethod
    def of(cls, graphs: Iterable[object]) -> "GraphBatch":
        """Return graphs as one batch; a directed one is made undirected, the lighter arc of a pair counts.

        Args:
            graphs: each anything that ``gpugraph.load`` takes.  Tuples of arrays (offsets, targets, weights) with
                32-bit targets are the quickest: they are checked all together.

        Raises:
            InputError: one is no graph; the message says which.
        """
        parts = [_rows(graph, i) for i, graph in enumerate(graphs)]
        batch = cls._joined(parts)
        good = batch._sound()
        if not good.all():
            for i in np.flatnonzero(~good).tolist():
                parts[i] = _mended(parts[i], i)
            batch = cls._joined(parts)
        return batch

    def _sound(self) -> NDArray[np.bool_]:
        """Return of each graph, whose arcs are all there, whether its rows are those of an undirected graph."""
        good = np.ones(len(self), np.bool_)
        words = order_keys(self.weights)
        in_shares(self, lambda lo, hi: _check(self.starts, self.offsets, self.targets, words, lo, hi, good))
        if self.weights.dtype.kind == "f":
            bad = np.flatnonzero(np.isnan(self.weights) | ((self.weights == 0) & np.signbit(self.weights)))
            good[np.searchsorted(self.offsets[self.starts], bad, side="right") - 1] = False
        return good

    @classmethod
    def _joined(cls, parts: Sequence[tuple[Any, Any, Any]]) -> "GraphBatch":
        if not parts:
            none = np.zeros(1, np.int64)
            return cls(none, none, np.zeros(0, np.int32), np.zeros(0, np.uint32))
        vertices = np.fromiter((len(offsets) - 1 for offsets, _, _ in parts), np.int64, len(parts))
        arcs = np.fromiter((len(targets) for _, targets, _ in parts), np.int64, len(parts))
        _refuse_long(arcs)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(vertices)))
        first = np.repeat(np.cumsum(arcs) - arcs, vertices)
        offsets = np.empty(int(starts[-1]) + 1, np.int64)
        offsets[:-1] = np.concatenate([offsets[:-1] for offsets, _, _ in parts]) + first
        offsets[-1] = arcs.sum()
        weights = _of_one_type([weights for _, _, weights in parts])
        targets = np.concatenate([targets for _, targets, _ in parts])
        return cls._unchecked(starts=starts, offsets=offsets, targets=targets, weights=weights)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def graph(self, i: int) -> CSRGraph:
        """Return one of the graphs."""
        first, last = self.starts[i], self.starts[i + 1]
        offsets = self.offsets[first : last + 1]
        arcs = slice(offsets[0], offsets[-1])
        return CSRGraph(offsets - offsets[0], self.targets[arcs], self.weights[arcs], False, f"graph {i}")


def _refuse_long(arcs: NDArray[np.int64]) -> None:
    """Raise InputError for the first graph with more arcs than a kernel counts."""
    for i in np.flatnonzero(arcs > MOST_ARCS)[:1].tolist():
        what = f"it has {arcs[i]} arcs, more than {MOST_ARCS}"
        raise InputError(what, where=f"graph {i}", remedy="solve it by itself")


def _rows(source: object, i: int) -> tuple[Any, Any, Any]:
    """Return offsets, targets and weights of a graph; those of a tuple of arrays are looked at later."""
    if isinstance(source, tuple) and len(source) == 3 and source[2] is not None:
        offsets, targets, weights = map(on_host, source)
        arrays = all(isinstance(array, np.ndarray) and array.ndim == 1 for array in (offsets, targets, weights))
        if arrays and targets.dtype == np.int32 and len(offsets) and offsets.dtype.kind == "i":
            whole = offsets[0] == 0 and offsets[-1] == len(targets) == len(weights)
            if whole and weights.dtype.name in WEIGHT_DTYPES and weights.dtype.isnative:
                return offsets, targets, weights
    return _mended(source, i)


def _mended(source: object, i: int) -> tuple[Any, Any, Any]:
    """Return the rows of the undirected graph of whatever ``gpugraph.load`` takes."""
    try:
        graph = symmetrize(opened(source)[0])
    except InputError as error:
        raise InputError(str(error), where=f"graph {i}") from error
    if graph.targets.dtype != np.int32:
        raise InputError("it has 2^31 vertices or more", where=f"graph {i}", remedy="solve it by itself")
    return graph.offsets, graph.targets, graph.weights


def _of_one_type(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return weights one after another, in a type that holds all exactly."""
    kinds = {part.dtype for part in parts if len(part)}
    if len(kinds) < 2:
        return np.concatenate([part.astype(next(iter(kinds), np.dtype(np.uint32)), copy=False) for part in parts])
    common = np.result_type(*kinds)
    joined = np.concatenate([part.astype(common) for part in parts])
    if common.kind == "f":
        for part in parts:
            if part.dtype.kind != "f" and len(part) and int(np.abs(part.astype(np.float64)).max()) >= 2**53:
                raise InputError("weights of several graphs have no type in common", remedy="give them one type")
    return joined


@njit
def _check(starts: Any, offsets: Any, targets: Any, words: Any, low: int, high: int, good: Any) -> None:
    """Say of each graph of [low, high) whether its rows ascend without loops and every arc has its equal reverse."""
    most = 0
    for g in range(low, high):
        most = max(most, starts[g + 1] - starts[g])
    cursors = np.empty(most, np.int64)
    for g in range(low, high):
        first, n = starts[g], starts[g + 1] - starts[g]
        end = offsets[starts[g + 1]]
        fine = True
        for v in range(n):
            cursors[v] = offsets[first + v]
            fine = fine and offsets[first + v] <= offsets[first + v + 1] <= end
        for v in range(n if fine else 0):
            for i in range(offsets[first + v], offsets[first + v + 1]):
                t = targets[i]
                if t < 0 or t >= n or t == v or (i > offsets[first + v] and targets[i - 1] >= t):
                    fine = False
                    break
                # Smaller ends come in ascending order, as in the rows of the greater ones: a cursor in each is enough.
                back = cursors[t]
                if t > v:
                    if back >= offsets[first + t + 1] or targets[back] != v or words[back] != words[i]:
                        fine = False
                        break
                    cursors[t] = back + 1
            if not fine or (cursors[v] < offsets[first + v + 1] and targets[cursors[v]] < v):
                fine = False
                break
        good[g] = fine


def in_shares(batch: GraphBatch, run: Callable[[int, int], None]) -> list[None]:
    """Return ``run(first, last)`` of ranges of graphs that hold about the same number of arcs, on all threads."""
    if not len(batch):
        return []
    return in_threads(run, balanced_ranges(batch.offsets[batch.starts], _RANGES_PER_THREAD * threads()))


FILE = KernelFile("mst_many.cu", product(INDEX_BITS=(64,)))
MOST_ARCS = 2**31 - 1
"""Of one graph: kernels hold an arc's place in it in 32 bits."""
BLOCK = 128


@dataclass(frozen=True, eq=False, repr=False)
class Forests(Shown, Sequence[Forest]):
    """The minimum spanning forests of a batch, equal to those of ``gpugraph.mst``.

    Attributes:
        batch: the graphs.
        starts: (graphs+1,) int64, the first edge of each forest.
        edges: (edges,) int64 canonical edge ids, counted within their graph, ascending in each forest.
    """

    batch: GraphBatch
    starts: NDArray[np.int64]
    edges: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.batch)

    @overload
    def __getitem__(self, i: int) -> Forest: ...

    @overload
    def __getitem__(self, i: slice) -> list[Forest]: ...

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        k = i + len(self) if i < 0 else i
        if not 0 <= k < len(self):
            raise IndexError(f"forest {i} of {len(self)}")
        return Forest.of(self.batch.graph(k), self.edges[self.starts[k] : self.starts[k + 1]])

    def _facts(self) -> list[tuple[str, Any]]:
        return [("graphs", len(self)), ("tree edges", len(self.edges))]

    @property
    def components(self) -> NDArray[np.int64]:
        """(graphs,) int64: the number of trees of each forest, isolated vertices included."""
        return np.asarray(np.diff(self.batch.starts) - np.diff(self.starts))

    @property
    def weights(self) -> NDArray[Any]:
        """(edges,) the weight of each edge."""
        first_arcs = self.batch.offsets[self.batch.starts[:-1]]
        return np.asarray(self.batch.weights[self.edges + np.repeat(first_arcs, np.diff(self.starts))])


@in_python_terms
def mst_many(graphs: Iterable[object] | GraphBatch, *, device: str = "auto", verify: str = "first") -> Forests:
    """Return the minimum spanning forests of many graphs.

    >>> import gpugraph
    >>> graphs = [gpugraph.generate(f"random:n=20,m=50,seed={seed}") for seed in range(3)]
    >>> forests = gpugraph.mst_many(graphs, device="cpu")
    >>> len(forests), forests[1].components
    (3, 1)

    Args:
        graphs: a ``GraphBatch``, or an argument of ``GraphBatch.of``.
        device: as for ``gpugraph.mst``.
        verify: ``"first"``: the first forest that has an edge is certified; ``"all"``: each; ``"none"``; or a method of
            ``gpugraph.mst`` for each.

    Raises:
        InputError, DeviceUnavailable, OutOfMemory: the forests could not be computed.
        VerificationFailed: a forest is wrong; the message names it.
    """
    expect(str, device=device)
    check_way(verify)
    if not isinstance(graphs, Iterable | GraphBatch):
        raise InputError(f"graphs is {shown(graphs)}", remedy="give a list of graphs, or a GraphBatch")
    with _opened(device) as found, call_profile.call("mst_many", found.kind):
        with call_profile.phase("convert"):
            batch = graphs if isinstance(graphs, GraphBatch) else GraphBatch.of(graphs)
        forests = _on_cpu(batch) if found.kind == "cpu" else on_gpu(batch, found)
    due: Iterable[int] = range(len(forests)) if verify != "none" else ()
    if verify == "first":
        due = np.flatnonzero(np.diff(forests.starts))[:1].tolist() or range(min(len(forests), 1))
    for i in due:
        verified(forests[i], "certificate" if verify in ("first", "all") else verify, f"mst_many: graph {i}")
    return forests


_idle: dict[str, Device] = {}
"""GPUs that an earlier call opened, by the name that it was given: to open one takes as long as the call."""


@contextlib.contextmanager
def _opened(name: str) -> Iterator[Device]:
    """Open a device, or take the one that the last call left open; what a call failed on is closed."""
    device = _idle.pop(name, None) or select_device(name)[0]
    try:
        yield device
    except BaseException:
        device.close()
        raise
    if device.kind != "cuda" or _idle.setdefault(name, device) is not device:
        device.close()


# ------------------------------------------------------------------ the CPU


def _keys(weights: NDArray[Any]) -> NDArray[np.uint32]:
    """Return 32-bit keys that compare as the weights of the whole batch do."""
    if weights.dtype.kind != "f" and weights.itemsize == 8:
        with contextlib.suppress(InputError):
            weights = narrow_weights(weights)
    return order_keys(weights) if weights.itemsize == 4 else rank_weights(weights)


def _on_cpu(batch: GraphBatch) -> Forests:
    with call_profile.phase("kernel"):
        keys = _keys(batch.weights)
        chosen = np.empty(int(batch.starts[-1]), np.int64)
        counts = np.zeros(len(batch), np.int64)
        in_shares(
            batch, lambda lo, hi: _solve(batch.starts, batch.offsets, batch.targets, keys, lo, hi, chosen, counts)
        )
    with call_profile.phase("back"):
        return _packed(batch, chosen, counts)


def _packed(batch: GraphBatch, chosen: NDArray[np.int64], counts: NDArray[np.int64]) -> Forests:
    """Return the forests whose edges lie, ascending, at the beginning of their graphs' vertices."""
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    places = np.arange(int(starts[-1])) + np.repeat(batch.starts[:-1] - starts[:-1], counts)
    return Forests(batch, starts, chosen[places])


@njit
def _solve(starts: Any, offsets: Any, targets: Any, keys: Any, low: int, high: int, chosen: Any, counts: Any) -> None:
    """Write the forests of graphs [low, high) to the beginning of their vertices' part of ``chosen``.

    Comparisons are minima of words, and lists are closed up by writing every entry: which edge is lighter, and which
    stays, no processor foresees.
    """
    vertices, arcs = 0, 0
    left: Any
    t: Any
    for g in range(low, high):
        vertices = max(vertices, starts[g + 1] - starts[g])
        arcs = max(arcs, offsets[starts[g + 1]] - offsets[starts[g]])
    room = arcs // 2 + 1
    tail, head, every = np.empty(room, np.uint32), np.empty(room, np.uint32), np.arange(room).astype(np.uint32)
    a, b, edge = np.empty(room, np.uint32), np.empty(room, np.uint32), np.empty(room, np.uint32)
    weight, key = np.empty(room, np.uint64), np.empty(room, np.uint64)
    ids, taken = np.empty(room, np.int64), np.empty(room, np.uint8)
    best, following = np.empty(vertices, np.uint64), np.empty(vertices, np.uint64)
    up, number = np.empty(vertices, np.uint32), np.empty(vertices, np.uint32)
    label = np.empty(vertices, np.uint32)
    nothing, half, mask = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(32), np.uint64(0xFFFFFFFF)
    for g in range(low, high):
        first, n = starts[g], starts[g + 1] - starts[g]
        base = offsets[first]
        edges = 0
        for v in range(n):
            best[v] = nothing
            label[v] = v
        for v in range(n):
            i = offsets[first + v + 1]
            while i > offsets[first + v] and targets[i - 1] > v:
                i -= 1
            for arc in range(i, offsets[first + v + 1]):
                t = np.uint32(targets[arc])
                tail[edges] = v
                head[edges] = t
                weight[edges] = np.uint64(keys[arc]) << half
                ids[edges] = arc - base
                taken[edges] = 0
                # Edges come by ascending id: the first of equal keys is the least.
                word = weight[edges] | np.uint64(edges)
                best[v] = min(best[v], word)
                best[t] = min(best[t], word)
                edges += 1
        # The rounds: at first on all edges, then on the light ones, and at last on what heavy ones are left.
        trees, live, limit, waiting = n, edges, nothing, False
        of_a, of_b, of_key, of_edge = tail, head, weight, every
        while live > 0:
            heaviest = np.uint64(0)
            for t in range(trees):
                up[t] = t
                if best[t] != nothing:
                    heaviest = max(heaviest, best[t])
                    at = best[t] & mask
                    other = np.uint32(of_a[at] + of_b[at] - np.uint32(t))
                    taken[of_edge[at]] = 1
                    if best[other] != best[t] or other < t:
                        up[t] = other
            left = np.uint32(0)
            for t in range(trees):
                if up[t] == t:
                    number[t] = left
                    following[left] = nothing
                    left = np.uint32(left + 1)
            if left == 1:
                break
            for t in range(trees):
                root = up[t]
                while up[root] != root:
                    root = up[root]
                up[t] = root  # as the others' ancestor no worse than what it was
                number[t] = number[root]
            for v in range(n):
                label[v] = number[label[v]]
            if trees == n and edges > 2 * n:
                limit, waiting = heaviest | mask, True
            kept = 0
            for i in range(live):
                one, two, word = number[of_a[i]], number[of_b[i]], of_key[i]
                stays = (one != two) & (word <= limit)
                a[kept], b[kept], key[kept], edge[kept] = one, two, word, of_edge[i]
                word = word | np.uint64(kept) if stays else nothing
                following[one] = min(following[one], word)
                following[two] = min(following[two], word)
                kept += stays
            if kept == 0 and waiting:
                limit, waiting = nothing, False
                for i in range(edges):
                    one, two, word = label[tail[i]], label[head[i]], weight[i]
                    stays = one != two
                    a[kept], b[kept], key[kept], edge[kept] = one, two, word, i
                    word = word | np.uint64(kept) if stays else nothing
                    following[one] = min(following[one], word)
                    following[two] = min(following[two], word)
                    kept += stays
            live, trees = kept, np.int64(left)
            best, following = following, best
            of_a, of_b, of_key, of_edge = a, b, key, edge
        count = 0
        for i in range(edges):
            if taken[i]:
                chosen[first + count] = ids[i]
                count += 1
        counts[g] = count


# ------------------------------------------------------------------ a GPU


def on_gpu(batch: GraphBatch, device: Device) -> Forests:
    """Find the forests on a device: a block takes a graph after another."""
    if not len(batch) or not len(batch.targets):
        return _packed(batch, np.zeros(0, np.int64), np.zeros(len(batch), np.int64))
    with call_profile.phase("convert"):
        keys = _keys(batch.weights)
    vertices = int(batch.starts[-1])
    kernel = load_kernel(device)
    with call_profile.phase("copy"):
        device.require(len(batch.targets) * 8 + vertices * 44 + len(batch) * 12)
        arrays = [device.upload(array) for array in (batch.starts, batch.offsets, batch.targets, keys)]
        label, link = (device.empty(vertices, np.int32) for _ in range(2))
        pick, best = device.empty(vertices, np.int32), device.empty(vertices, np.uint64)
        forest, counts = device.empty(vertices, np.int32), device.empty(len(batch), np.int32)
    with call_profile.phase("kernel"):
        grid = min(len(batch), 4 * kernel.resident_blocks(BLOCK))
        kernel(grid, BLOCK, (np.uint32(len(batch)), *arrays, label, link, pick, best, forest, counts))
        device.synchronize()
    with call_profile.phase("back"):
        chosen, sizes = (device.download(array).astype(np.int64) for array in (forest, counts))
        in_shares(batch, lambda lo, hi: _sort(batch.starts, sizes, chosen, lo, hi))
        return _packed(batch, chosen, sizes)


@njit
def _sort(starts: Any, counts: Any, chosen: Any, low: int, high: int) -> None:
    """Put the edges of the forests of graphs [low, high) in ascending order."""
    for g in range(low, high):
        chosen[starts[g] : starts[g] + counts[g]].sort()  # in place, which takes Numba a second to compile, not five


def load_kernel(device: Device) -> Kernel:
    """Return the kernel, compiled if need be."""
    return FILE.kernel(device, {"INDEX_BITS": 64})
