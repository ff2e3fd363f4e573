"""Minimum spanning forests of many small graphs at once: molecules, clusterings, bootstraps.

On a CPU every thread takes its share of graphs, each by Borůvka's algorithm on the list of its edges; on a GPU a block
takes a graph (``cuda_kernels/mst_many.cu``).

Source: Borůvka 1926, O jistém problému minimálním.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError, expect, shown
from gpugraph.devices.base import Device, Kernel
from gpugraph.devices.discovery import select_device
from gpugraph.devices.kernel_file import KernelFile, product
from gpugraph.ext.changes.preparations import rank_weights
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.certified import check_way
from gpugraph.ext.python.graph_batch import GraphBatch, in_shares
from gpugraph.ext.python.resident_graph import verified
from gpugraph.ext.python.terms import in_python_terms
from gpugraph.graph.build import narrow_weights
from gpugraph.graph.canonical import order_keys
from gpugraph.graph.convertible import Shown
from gpugraph.problems.mst.forest import Forest

FILE = KernelFile("mst_many.cu", product(INDEX_BITS=(64,)))
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
