"""The adjacency matrix of a graph: an element for every pair of vertices, for dense graphs.

An element holds the weight of the arc, non-negative integers as unsigned ones, or ``NO_ARC``: the greatest unsigned
integer, or infinity, over which no path leads anyway.  Where 32-bit weights use that integer themselves, the elements
are 64 bits wide; where 64-bit weights do, the arc is longer than any distance and only has to be told of.

Source: Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import Arcs


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
        kind, width = graph.weights.dtype.kind, graph.weights.dtype.itemsize
        if kind == "f":
            return cls(graph.vertices, graph.weights.dtype, graph.weights.dtype.type(np.inf), False)
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
