"""The steps of the compound frontier on the CPU: sequential compiled code over distance words.

Words are read as unsigned integers where they are compared, and as the distances they encode where an arc is added: the
word of "not reached" is then no number (NaN) among floats, so sums are compared by ``not held <= sum``.

Source: Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009), figures 2 to 4; the matrix section 5.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.compiled import njit
from gpugraph.base.host import require_memory
from gpugraph.ext.papers.copies import copy_stream, launched
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.sssp.arcs import Arcs

# ------------------------------------------------------------------ arrays
# What the steps work on, on either side: arrays that CPU and GPU use in turns, the adjacency matrix, and predecessors.
# The matrix has an element for every pair of vertices, for dense graphs.  An element holds the weight of the arc, non-
# negative integers as unsigned ones, or ``NO_ARC``: the greatest unsigned integer, or infinity, over which no path
# leads anyway.  Where 32-bit weights use that integer themselves, the elements are 64 bits wide; where 64-bit weights
# do, the arc is longer than any distance and only has to be reported.
#
# Source: Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009), section 5.

CPU, GPU = "cpu", "gpu"
"""The two sides."""


@dataclass(frozen=True)
class Strategy:
    """How a variant does its steps.

    Attributes:
        relax: ``push``: the frontier lowers its successors (F); ``pull``: unresolved vertices look at their
            predecessors (U); ``pull-plus``: the same with the chip's resources (U-GPU-PLUS).
        relax_on, update_on: ``cpu`` or ``gpu``.
        minimum: ``cpu``; on the GPU ``one-pass`` or ``two-pass`` of blocks, the rest on the CPU, or ``atomic``: all of
            it on the GPU, so that the host need not wait in every round.
        matrix: relax over the adjacency matrix instead of adjacency lists.
        atomic: False lowers distances without atomics: wrong on purpose.
    """

    relax: str
    relax_on: str
    minimum: str
    update_on: str
    matrix: bool = False
    atomic: bool = True

    @property
    def minimum_on(self) -> str:
        """The side that finds the minimum."""
        return CPU if self.minimum == "cpu" else GPU

    @property
    def sides(self) -> frozenset[str]:
        """The sides at work: both for a hybrid."""
        return frozenset((self.relax_on, self.minimum_on, self.update_on))

    @property
    def pulls(self) -> bool:
        """True for the U variants."""
        return self.relax != "push"

    def pulls_on(self, side: str) -> bool:
        """Tell whether a side relaxes along lists of predecessors."""
        return self.pulls and self.relax_on == side and not self.matrix


class TwoSided:
    """An array with a copy on each of the sides that work on it; one is made only where the other side has written.

    Attributes:
        host: (size,) the NumPy array of the side ``CPU``, pinned if both work on it; as of the last ``bring`` to it.
        there: (size,) the array of the side ``GPU``; likewise.
    """

    def __init__(self, device: Any, size: int, dtype: DTypeLike, sides: Set[str]):
        both = CPU in sides and GPU in sides
        self._device = device
        self._copies: Any = copy_stream(device) if both else None
        self._current = set(sides)
        self.host: Any = None
        if CPU in sides:
            self.host = device.pinned(size, dtype) if both else np.empty(size, dtype)
        self.there: Any = device.empty(size, dtype) if GPU in sides else None

    def bring(self, side: str, clock: Clock) -> None:
        """Make the copy of ``side`` current; a transfer is the phase ``to_cpu`` or ``to_gpu``, its bytes a counter."""
        if side in self._current:
            return
        with clock.phase(f"to_{side}"):
            self._copies.wait_for(launched(self._device))  # kernels may use the array still
            if side == CPU:
                self._copies.download(self.host, self.there)
            else:
                self._copies.upload(self.there, self.host)
            self._copies.mark().wait()
        clock.count(f"bytes_to_{side}", self.host.nbytes)
        self._current.add(side)

    def wrote(self, side: str) -> None:
        """Note that ``side`` has changed its copy, so that the other is no longer current."""
        self._current = {side}

    def fetch(self) -> object:
        """Return the current contents as a NumPy array."""
        return self.host if CPU in self._current else self._device.download(self.there)


@dataclass(frozen=True)
class Cells:
    """How the elements of a graph's matrix are stored.

    Attributes:
        vertices: n; the matrix is n × n.
        dtype: uint32, uint64, float32 or float64.
        no_arc: the element of a pair without an arc, a scalar of ``dtype``.
        beyond: some weight equals ``no_arc`` and is longer than any distance of 64 bits.
    """

    vertices: int
    dtype: np.dtype[Any]
    no_arc: Any
    beyond: bool

    @classmethod
    def of(cls, graph: CSRGraph) -> "Cells":
        """Return the elements that the weights of ``graph`` need."""
        kind, width = graph.weight_dtype.kind, graph.weight_dtype.itemsize
        if kind == "f":
            return cls(graph.vertices, graph.weight_dtype, graph.weight_dtype.type(np.inf), False)
        dtype = np.dtype(f"u{width}")
        taken = kind == "u" and bool(graph.arcs) and graph.weights.max() == np.iinfo(dtype).max
        if taken and width == 4:
            dtype, taken = np.dtype(np.uint64), False
        return cls(graph.vertices, dtype, dtype.type(np.iinfo(dtype).max), taken)

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix."""
        return self.vertices**2 * self.dtype.itemsize


def matrix_of(arcs: Arcs, cells: Cells) -> NDArray[Any]:
    """Return the (n, n) matrix whose row u holds the arcs of row u of ``arcs``; it is read-only."""
    matrix = np.full((cells.vertices, cells.vertices), cells.no_arc, cells.dtype)
    _write(arcs, matrix)
    matrix.flags.writeable = False
    return matrix


@njit
def _write(arcs: Arcs, matrix: NDArray[Any]) -> None:
    offsets, targets, weights = arcs
    for u in range(len(offsets) - 1):
        for arc in range(offsets[u], offsets[u + 1]):
            matrix[u, targets[arc]] = weights[arc]


def predecessors(graph: CSRGraph) -> Arcs:
    """Return the arcs by their heads: ``targets`` holds tails, ascending; of an undirected graph its own, no copies."""
    arcs = Arcs.of(graph)
    if not graph.directed:
        return arcs
    from scipy.sparse import csr_array

    turned = csr_array((arcs.weights, arcs.targets, arcs.offsets), (graph.vertices, graph.vertices)).tocsc()
    tails = turned.indices.astype(arcs.targets.dtype, copy=False)
    for array in (turned.data, tails, offsets := turned.indptr.astype(np.int64)):
        array.flags.writeable = False
    return Arcs(offsets, tails, turned.data)


UNRESOLVED, FRONTIER, RESOLVED = 0, 1, 2
"""The states of a vertex, as in ``cuda_kernels/dijkstra_base.cuh``."""

Array = NDArray[Any]


class HostSide:
    """Runs the steps on the CPU that are not the GPU's, over lists of arcs or the matrix of ``cells``."""

    name = CPU

    def __init__(self, view: GraphView, strategy: Strategy, cells: Cells | None):
        self._rows: tuple[Any, ...] = ()
        self._relax: Callable[..., None] = pull_arcs if strategy.pulls else push_arcs
        self._overflow = np.zeros(1, np.uint32)
        if strategy.relax_on != CPU:
            return
        if cells is not None:
            require_memory(cells.nbytes, CPU)
        self._rows = (predecessors(view.graph) if strategy.pulls else Arcs.of(view),)
        if cells is not None:
            self._rows = matrix_of(self._rows[0], cells), cells.no_arc
            self._relax = pull_matrix if strategy.pulls else push_matrix

    def use(self, distance: TwoSided, states: TwoSided, bits: int, float_dtype: np.dtype[Any] | None) -> None:
        """Work on these arrays from now on; words are integers of ``bits``, or the bits of ``float_dtype``."""
        self._distance, self._states, self._float = distance, states, float_dtype
        self._unreached = np.uint64(np.iinfo(f"u{bits // 8}").max)
        self._limit = self._unreached if float_dtype is None else float_dtype.type(np.inf)

    def start(self, source: int) -> None:
        """Make the source the frontier."""
        self._overflow[0] = 0
        self._distance.host.fill(int(self._unreached))
        self._states.host.fill(UNRESOLVED)
        self._distance.host[source], self._states.host[source] = 0, FRONTIER

    def relax(self) -> None:
        """Lower the distances of the frontier's successors."""
        values = self._distance.host if self._float is None else self._distance.host.view(self._float)
        self._relax(*self._rows, self._states.host, values, (self._limit, self._overflow))

    def minimum(self, turn: int) -> object:
        """Return the least distance word of an unresolved vertex."""
        return least_unresolved(self._states.host, self._distance.host, self._unreached)

    def update(self, turn: int, least: Any) -> None:
        """Resolve the frontier; every unresolved vertex at ``least`` is the next."""
        promote(self._states.host, self._distance.host, np.uint64(least), self._unreached)

    def overflowed(self) -> bool:
        """True if a sum of integers did not fit a word since ``start``."""
        return bool(self._overflow[0])


@njit
def _offer(values: Array, v: int, near: Any, weight: Any, bound: tuple[Any, Any]) -> None:
    """Lower the value of ``v`` to near + weight; a sum that wraps or reaches the limit leads nowhere, and is noted."""
    far, (limit, overflow) = near + weight, bound
    if far < near or far >= limit:
        overflow[0] = 1
    elif not values[v] <= far:
        values[v] = far


@njit
def push_arcs(arcs: Arcs, states: Array, values: Array, bound: tuple[Any, Any]) -> None:
    """Relax over lists of successors, from the frontier (relax_F)."""
    offsets, targets, weights = arcs
    for u in range(len(offsets) - 1):
        if states[u] == FRONTIER:
            for arc in range(offsets[u], offsets[u + 1]):
                if states[targets[arc]] == UNRESOLVED:
                    _offer(values, targets[arc], values[u], weights[arc], bound)


@njit
def pull_arcs(arcs: Arcs, states: Array, values: Array, bound: tuple[Any, Any]) -> None:
    """Relax over lists of predecessors, from the unresolved vertices (relax_U)."""
    offsets, sources, weights = arcs
    for v in range(len(offsets) - 1):
        if states[v] == UNRESOLVED:
            for arc in range(offsets[v], offsets[v + 1]):
                if states[sources[arc]] == FRONTIER:
                    _offer(values, v, values[sources[arc]], weights[arc], bound)


@njit
def push_matrix(matrix: Array, no_arc: Any, states: Array, values: Array, bound: tuple[Any, Any]) -> None:
    """Relax over rows of successors."""
    for u in range(len(matrix)):
        if states[u] == FRONTIER:
            for v in range(len(matrix)):
                if states[v] == UNRESOLVED and matrix[u, v] != no_arc:
                    _offer(values, v, values[u], matrix[u, v], bound)


@njit
def pull_matrix(matrix: Array, no_arc: Any, states: Array, values: Array, bound: tuple[Any, Any]) -> None:
    """Relax over rows of predecessors."""
    for v in range(len(matrix)):
        if states[v] == UNRESOLVED:
            for u in range(len(matrix)):
                if states[u] == FRONTIER and matrix[v, u] != no_arc:
                    _offer(values, v, values[u], matrix[v, u], bound)


@njit
def least_unresolved(states: Array, words: Array, unreached: Any) -> Any:
    """Return the least word of an unresolved vertex, ``unreached`` if there is none."""
    least = unreached
    for v in range(len(words)):
        if states[v] == UNRESOLVED and words[v] < least:
            least = np.uint64(words[v])
    return least


@njit
def promote(states: Array, words: Array, least: Any, unreached: Any) -> None:
    """Resolve the frontier and make a frontier of the unresolved vertices at ``least``."""
    for v in range(len(words)):
        if states[v] == FRONTIER:
            states[v] = RESOLVED
        elif states[v] == UNRESOLVED and least != unreached and words[v] == least:
            states[v] = FRONTIER
