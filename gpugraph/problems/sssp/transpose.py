"""The transposed graph: row v holds the arcs into v, by their tails."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import Arcs


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
