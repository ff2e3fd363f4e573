"""What the frontier's steps work on: arrays that CPU and GPU use in turns, the adjacency matrix, and predecessors.

The matrix has an element for every pair of vertices, for dense graphs.  An element holds the weight of the arc, non-
negative integers as unsigned ones, or ``NO_ARC``: the greatest unsigned integer, or infinity, over which no path
leads anyway.  Where 32-bit weights use that integer themselves, the elements are 64 bits wide; where 64-bit weights
do, the arc is longer than any distance and only has to be told of.

Source: Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009), section 5.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.clock import Clock
from gpugraph.compiled import njit
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import Arcs

CPU, GPU = "cpu", "gpu"
"""The two sides."""

_ALONE = {side: frozenset((side,)) for side in (CPU, GPU)}


class TwoSided:
    """An array with a copy on each side that works on it; a copy is made only where the other side has written.

    Args:
        device: the device of the side ``GPU``; unused where only the CPU works on the array.
        sides: the sides that work on it.

    Attributes:
        host: (size,) the NumPy array of the side ``CPU``, pinned if both work on it; as of the last ``bring`` to it.
        there: (size,) the array of the side ``GPU``; likewise.
    """

    def __init__(self, device: Any, size: int, dtype: DTypeLike, sides: Set[str]):
        both = CPU in sides and GPU in sides
        self._device = device
        self._copies: Any = device.copy_stream() if both else None
        self._current = frozenset(sides)
        self.host: Any = None
        if CPU in sides:
            self.host = device.pinned(size, dtype) if both else np.empty(size, dtype)
        self.there: Any = device.empty(size, dtype) if GPU in sides else None

    def bring(self, side: str, clock: Clock) -> None:
        """Make the copy of ``side`` current; a transfer is the phase ``to_cpu`` or ``to_gpu``, its bytes a counter."""
        if side in self._current:
            return
        with clock.phase(f"to_{side}"):
            if side == CPU:
                self._copies.wait_for(self._device.mark())
                self._copies.download(self.host, self.there)
            else:
                self._copies.upload(self.there, self.host)
            self._copies.mark().wait()
        clock.count(f"bytes_to_{side}", self.host.nbytes)
        self._current |= {side}

    def wrote(self, side: str) -> None:
        """Note that ``side`` has changed its copy, so that the other is no longer current."""
        self._current = _ALONE[side]

    def fetch(self) -> Any:
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
    def of(cls, graph: CSRGraph) -> Cells:
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
    _write(arcs.offsets, arcs.targets, arcs.weights, matrix)
    matrix.flags.writeable = False
    return matrix


@njit
def _write(offsets: NDArray[np.int64], targets: NDArray[Any], weights: NDArray[Any], matrix: NDArray[Any]) -> None:
    for u in range(len(offsets) - 1):
        for arc in range(offsets[u], offsets[u + 1]):
            matrix[u, targets[arc]] = weights[arc]


def predecessors(graph: CSRGraph) -> Arcs:
    """Return the arcs of ``graph`` by their heads: ``targets`` holds tails, ascending in each row.

    An undirected graph is its own transpose; nothing is copied then.
    """
    arcs = Arcs.of(graph)
    if not graph.directed:
        return arcs
    offsets = np.zeros(graph.vertices + 1, np.int64)
    np.cumsum(np.bincount(graph.targets, minlength=graph.vertices), out=offsets[1:])
    tails = np.empty_like(arcs.targets)
    weights = np.empty_like(arcs.weights)
    _deal(arcs.offsets, arcs.targets, arcs.weights, offsets[:-1].copy(), tails, weights)
    for array in (offsets, tails, weights):
        array.flags.writeable = False
    return Arcs(offsets, tails, weights)


@njit
def _deal(
    offsets: NDArray[np.int64],
    targets: NDArray[Any],
    weights: NDArray[Any],
    following: NDArray[np.int64],
    tails: NDArray[Any],
    dealt: NDArray[Any],
) -> None:
    """Write each arc to the next place of its head's row, which ``following`` (n,) counts."""
    for u in range(len(offsets) - 1):
        for arc in range(offsets[u], offsets[u + 1]):
            at = following[targets[arc]]
            following[targets[arc]] = at + 1
            tails[at] = u
            dealt[at] = weights[arc]
