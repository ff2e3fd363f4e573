"""Many graphs in three arrays, one after another; offsets of offsets tell where each begins."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit, threads
from gpugraph.base.errors import InputError, shown
from gpugraph.ext.python.arrays import on_host
from gpugraph.ext.python.inputs import opened
from gpugraph.graph.canonical import order_keys
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.symmetrize import symmetrize

MOST_ARCS = 2**31 - 1
"""Of one graph: kernels hold an arc's place in it in 32 bits."""
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
    _types: ClassVar[Sequence[np.dtype[Any]]] = ()
    """The type of the weights of each graph, if ``of`` joined several types into one that holds all exactly."""

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
        batch = cls._unchecked(starts=starts, offsets=offsets, targets=targets, weights=weights)
        batch.__dict__["_types"] = [weights.dtype for _, _, weights in parts]
        return batch

    def __len__(self) -> int:
        return len(self.starts) - 1

    def graph(self, i: int) -> CSRGraph:
        """Return one of the graphs."""
        first, last = self.starts[i], self.starts[i + 1]
        offsets = self.offsets[first : last + 1]
        arcs = slice(offsets[0], offsets[-1])
        weights = self.weights[arcs].astype(self._types[i], copy=False) if len(self._types) else self.weights[arcs]
        return CSRGraph(offsets - offsets[0], self.targets[arcs], weights, False, f"graph {i}")


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
