"""The steps of the compound frontier on the CPU: sequential compiled code over distance words.

Words are read as unsigned integers where they are compared, and as what they stand for where an arc is added: the
word of "not reached" is then no number (NaN) among floats, so sums are compared by ``not held <= sum``.

Source: Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009), figures 2 to 4; the matrix section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.problems.sssp.arcs import Arcs
from gpugraph.problems.sssp.frontier_dijkstra_arrays import CPU, Cells, TwoSided

UNRESOLVED, FRONTIER, RESOLVED = 0, 1, 2
"""The states of a vertex, as in ``cuda_kernels/dijkstra_base.cuh``."""

Array = NDArray[Any]


class HostSide:
    """Runs steps on the CPU.

    Args:
        pulls: unresolved vertices look at predecessors; otherwise the frontier looks at successors.
        arcs: rows of predecessors or of successors accordingly; None where relaxing is not this side's.
        matrix: (n, n) the same as a matrix, in place of ``arcs``.
        cells: how its elements are stored.
    """

    name = CPU

    def __init__(self, pulls: bool, arcs: Arcs | None, matrix: Array | None, cells: Cells | None):
        self._rows: tuple[Any, ...] = ()
        self._relax: Callable[..., None] = pull_arcs if pulls else push_arcs
        if matrix is not None and cells is not None:
            self._rows, self._relax = (matrix, cells.no_arc), pull_matrix if pulls else push_matrix
        elif arcs is not None:
            self._rows = arcs.offsets, arcs.targets, arcs.weights
        self._overflow = np.zeros(1, np.uint32)

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
        self._relax(*self._rows, self._states.host, values, self._limit, self._overflow)

    def minimum(self, turn: int) -> Any:
        """Return the least distance word of an unresolved vertex."""
        return least_unresolved(self._states.host, self._distance.host, self._unreached)

    def update(self, turn: int, least: Any) -> None:
        """Resolve the frontier; every unresolved vertex at ``least`` is the next."""
        promote(self._states.host, self._distance.host, np.uint64(least), self._unreached)

    def overflowed(self) -> bool:
        """True if a sum of integers did not fit a word since ``start``."""
        return bool(self._overflow[0])


@njit
def _offer(values: Array, v: int, near: Any, weight: Any, limit: Any, overflow: Array) -> None:
    """Lower the value of ``v`` to near + weight; a sum that wraps or reaches ``limit`` leads nowhere."""
    far = near + weight
    if far < near or far >= limit:
        overflow[0] = 1
    elif not values[v] <= far:
        values[v] = far


@njit
def push_arcs(
    offsets: Array, targets: Array, weights: Array, states: Array, values: Array, limit: Any, overflow: Array
) -> None:
    """Relax over lists of successors, from the frontier (relax_F)."""
    for u in range(len(offsets) - 1):
        if states[u] == FRONTIER:
            for arc in range(offsets[u], offsets[u + 1]):
                if states[targets[arc]] == UNRESOLVED:
                    _offer(values, targets[arc], values[u], weights[arc], limit, overflow)


@njit
def pull_arcs(
    offsets: Array, sources: Array, weights: Array, states: Array, values: Array, limit: Any, overflow: Array
) -> None:
    """Relax over lists of predecessors, from the unresolved vertices (relax_U)."""
    for v in range(len(offsets) - 1):
        if states[v] == UNRESOLVED:
            for arc in range(offsets[v], offsets[v + 1]):
                if states[sources[arc]] == FRONTIER:
                    _offer(values, v, values[sources[arc]], weights[arc], limit, overflow)


@njit
def push_matrix(matrix: Array, no_arc: Any, states: Array, values: Array, limit: Any, overflow: Array) -> None:
    """Relax over rows of successors."""
    for u in range(len(matrix)):
        if states[u] == FRONTIER:
            for v in range(len(matrix)):
                if states[v] == UNRESOLVED and matrix[u, v] != no_arc:
                    _offer(values, v, values[u], matrix[u, v], limit, overflow)


@njit
def pull_matrix(matrix: Array, no_arc: Any, states: Array, values: Array, limit: Any, overflow: Array) -> None:
    """Relax over rows of predecessors."""
    for v in range(len(matrix)):
        if states[v] == UNRESOLVED:
            for u in range(len(matrix)):
                if states[u] == FRONTIER and matrix[v, u] != no_arc:
                    _offer(values, v, values[u], matrix[v, u], limit, overflow)


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
