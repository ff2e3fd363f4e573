"""The oracle: distances computed by code that no algorithm under test shares.

SciPy's Dijkstra where its float64 is exact; otherwise (float32 weights, distances from 2^53 on, 2^31 arcs)
Dijkstra with Python's ``heapq``, compiled, in the graph's own type.  SciPy is also the algorithm
``dijkstra-fibonacci``, which therefore is always checked with the heap.

SciPy computes in float64.  That is exact for float64 weights, and for integers as long as every finite distance it
returns is below 2^53: a sum that reaches 2^53 stays there when it is rounded, so none below has been rounded.
Weights of float32 are summed in float32 by gpugraph, which float64 does not reproduce.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.arcs import Arcs, unreached
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.tight_arcs import canonical_predecessors, refuse_wrapped
from gpugraph.problems.sssp.verify import differing_predecessor, malformed

SCIPY = "SciPy's Dijkstra"
_OF_SCIPY = "dijkstra-fibonacci"


def reference_distances(graph: CSRGraph, source: int, by: str = "") -> tuple[NDArray[Any], str]:
    """Return the distances (n,) in the graph's own type, and what computed them: never the algorithm ``by``.

    Raises:
        InputError: a distance needs more than 64 bits.
    """
    arcs = Arcs.of(graph)
    if by != _OF_SCIPY and fits_scipy(arcs):
        distance = scipy_distances(arcs, source)
        if is_exact(arcs, distance):
            return in_own_type(arcs, distance), SCIPY
    own = arcs.unreached()
    _heap_dijkstra(arcs.offsets, arcs.targets, arcs.weights, source, own)
    refuse_wrapped(graph, source, own)
    return own, f"a binary heap in {own.dtype}"


def check_against_reference(graph: CSRGraph, source: int, result: Distances, by: str = "") -> Verdict:
    """Return the verdict on ``result`` as distances from ``source``, which the algorithm ``by`` gave.

    A failed one names the first difference.

    Raises:
        InputError: a distance needs more than 64 bits.
    """
    fault = malformed(graph, source, result)
    if fault:
        return Verdict("failed", "reference", fault)
    right, oracle = reference_distances(graph, source, by)
    wrong = np.flatnonzero(result.distance != right)
    if len(wrong):
        v = int(wrong[0])
        held, due = (_in_words(d[v]) for d in (result.distance, right))
        return Verdict("failed", "reference", f"vertex {graph.label(v)} is {held}, by {oracle} {due}")
    if result.predecessor is not None:
        fault = differing_predecessor(graph, result.predecessor, canonical_predecessors(graph, right, source))
        if fault:
            return Verdict("failed", "reference", fault)
    return Verdict("passed", "reference", f"all {graph.vertices} distances equal those of {oracle}")


def _in_words(distance: Any) -> str:
    """Return a distance for a message."""
    return "unreached" if distance == unreached(distance.dtype) else f"at distance {distance}"


@njit
def _heap_dijkstra(
    offsets: NDArray[np.int64],
    targets: NDArray[Any],
    weights: NDArray[Any],
    source: int,
    distance: NDArray[Any],
) -> None:
    """Fill ``distance`` (all unreached on entry); entries that have been overtaken are skipped when they come up."""
    distance[source] = 0
    heap = [(distance[source], np.int64(source))]
    while len(heap) > 0:
        near, u = heapq.heappop(heap)
        if near > distance[u]:
            continue
        for arc in range(offsets[u], offsets[u + 1]):
            v = np.int64(targets[arc])
            far = near + weights[arc]
            if near <= far < distance[v]:
                distance[v] = far
                heapq.heappush(heap, (far, v))


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
