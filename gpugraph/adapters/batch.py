"""Many graphs one after another in three arrays, with offsets of offsets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.adapters.inputs import on_host, opened
from gpugraph.compiled import njit, threads
from gpugraph.errors import InputError
from gpugraph.graph.build import symmetrize
from gpugraph.graph.canonical import order_keys
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph

_RANGES_PER_THREAD = 8


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Undirected graphs one after another, each as rows of its own; see ``CSRGraph``.

    Attributes:
        starts: (graphs+1,) int64, the first vertex of each graph.
        offsets: (vertices+1,) int64, the first arc of each vertex.
        targets: (arcs,) int32, vertices counted within their graph.
        weights: (arcs,) of one of ``WEIGHT_DTYPES``.
    """

    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    weights: NDArray[Any]

    @classmethod
    def of(cls, graphs: Iterable[Any]) -> GraphBatch:
        """Return graphs as one batch; a directed one is made undirected, the lighter arc of a pair counts.

        Args:
            graphs: each anything that ``gpugraph.load`` takes.  Tuples of arrays (offsets, targets, weights) with
                32-bit targets are the quickest: they are checked all together.

        Raises:
            InputError: one is no graph; the message says which.
        """
        parts = [_rows(graph, i) for i, graph in enumerate(graphs)]
        batch = cls._joined(parts)
        good = np.ones(len(parts), np.bool_)
        words = order_keys(batch.weights)
        in_shares(batch, lambda lo, hi: _check(batch.starts, batch.offsets, batch.targets, words, lo, hi, good))
        if batch.weights.dtype.kind == "f":
            bad = np.flatnonzero(np.isnan(batch.weights) | ((batch.weights == 0) & np.signbit(batch.weights)))
            good[batch.graph_of_arc(bad)] = False
        if not good.all():
            for i in np.flatnonzero(~good).tolist():
                parts[i] = _mended(parts[i], i)
            batch = cls._joined(parts)
        return batch

    @classmethod
    def _joined(cls, parts: Sequence[tuple[Any, Any, Any]]) -> GraphBatch:
        if not parts:
            none = np.zeros(1, np.int64)
            return cls(none, none, np.zeros(0, np.int32), np.zeros(0, np.uint32))
        vertices = np.fromiter((len(offsets) - 1 for offsets, _, _ in parts), np.int64, len(parts))
        arcs = np.fromiter((len(targets) for _, targets, _ in parts), np.int64, len(parts))
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(vertices)))
        first = np.repeat(np.cumsum(arcs) - arcs, vertices)
        offsets = np.empty(int(starts[-1]) + 1, np.int64)
        offsets[:-1] = np.concatenate([offsets[:-1] for offsets, _, _ in parts]) + first
        offsets[-1] = arcs.sum()
        weights = _of_one_type([weights for _, _, weights in parts])
        return cls(starts, offsets, np.concatenate([targets for _, targets, _ in parts]), weights)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def graph_of_arc(self, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the graph that each arc is of."""
        vertices = np.searchsorted(self.offsets, arcs, side="right") - 1
        return np.searchsorted(self.starts, vertices, side="right") - 1

    def graph(self, i: int) -> CSRGraph:
        """Return one of the graphs."""
        first, last = self.starts[i], self.starts[i + 1]
        offsets = self.offsets[first : last + 1]
        arcs = slice(offsets[0], offsets[-1])
        return CSRGraph(offsets - offsets[0], self.targets[arcs], self.weights[arcs], False, f"graph {i}")


def _rows(source: Any, i: int) -> tuple[Any, Any, Any]:
    """Return offsets, targets and weights of a graph; those of a tuple of arrays are looked at later."""
    if isinstance(source, tuple) and len(source) == 3 and source[2] is not None:
        offsets, targets, weights = map(on_host, source)
        arrays = all(isinstance(array, np.ndarray) and array.ndim == 1 for array in (offsets, targets, weights))
        if arrays and targets.dtype == np.int32 and len(offsets) and offsets.dtype.kind == "i":
            whole = offsets[0] == 0 and offsets[-1] == len(targets) == len(weights)
            if whole and weights.dtype.name in WEIGHT_DTYPES and weights.dtype.isnative:
                return offsets, targets, weights
    return _mended(source, i)


def _mended(source: Any, i: int) -> tuple[Any, Any, Any]:
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


def in_shares(batch: GraphBatch, run: Any) -> list[Any]:
    """Return ``run(first, last)`` of ranges of graphs that hold about the same number of arcs, on all threads."""
    if not len(batch):
        return []
    return in_threads(run, balanced_ranges(batch.offsets[batch.starts], _RANGES_PER_THREAD * threads()))
