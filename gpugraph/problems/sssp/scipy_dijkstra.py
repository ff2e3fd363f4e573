"""SciPy's Dijkstra, and the question whether its float64 is exact.

SciPy computes in float64.  That is exact for float64 weights, and for integers as long as every finite
distance it returns is below 2^53: a sum that reaches 2^53 stays there when it is rounded, so none below has
been rounded.  Weights of float32 are summed in float32 by gpugraph, which float64 does not reproduce.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpugraph.problems.sssp.arcs import Arcs

EXACT = 2.0**53


def fits_scipy(arcs: Arcs) -> bool:
    """True if SciPy can hold the graph (32-bit indices) and its float64 suits the weights' type."""
    return len(arcs.targets) < 2**31 and arcs.targets.dtype == np.int32 and arcs.weights.dtype != np.float32


def scipy_distances(arcs: Arcs, source: int) -> NDArray[np.float64]:
    """Return SciPy's distances (n,), infinity where there is no path; a graph that ``fits_scipy``."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    shape = (arcs.vertices, arcs.vertices)
    matrix = csr_array((arcs.weights, arcs.targets, arcs.offsets.astype(np.int32)), shape=shape)
    distance: NDArray[np.float64] = dijkstra(matrix, directed=True, indices=[source])[0]
    return distance


def is_exact(arcs: Arcs, distance: NDArray[np.float64]) -> bool:
    """True if SciPy's distances are the exact ones."""
    if arcs.weights.dtype.kind == "f":
        return True
    return bool(np.max(distance, where=np.isfinite(distance), initial=0.0) < EXACT)


def in_own_type(arcs: Arcs, distance: NDArray[np.float64]) -> NDArray[np.generic]:
    """Return exact float64 distances in the graph's own type, unreached vertices marked its way."""
    own = arcs.unreached()
    np.copyto(own, distance, where=np.isfinite(distance), casting="unsafe")
    return own
