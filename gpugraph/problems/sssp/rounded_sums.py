"""The error of distances whose sums were rounded to float32, found without a search of ours.

Distances in float32 are the least of sums that were rounded at every arc.  How far off they are depends on the graph: a
bound from the number of arcs alone is of no use.  So the paths are summed once more, in float64, and the distances
compared, vertex by vertex.
"""

import heapq
from dataclasses import replace
from decimal import ROUND_UP, Context

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.arcs import Arcs
from gpugraph.problems.sssp.distances import Distances


def with_rounding(graph: CSRGraph, result: Distances, verdict: Verdict) -> Verdict:
    """Return the verdict on right distances; where they were summed in float32 it tells the greatest error of that."""
    if result.raw.dtype != np.float32 or not verdict.passed:
        return verdict
    error, v, exact = rounding_error(graph, result.source, result.raw)
    if error == np.inf:
        known = f"vertex {graph.label(v)}, whose sum in float64 is {exact}, lies beyond the range of float32"
    else:
        known = f"no distance differs from its sum in float64 by more than {rounded_up(error)} of that"
        known += f" (vertex {graph.label(v)}: {result.raw[v]}, not {exact})" if error else ""
    return replace(verdict, detail=f"{verdict.detail}; summed in float32: {known}", sums_error=error)


def rounded_up(error: float) -> str:
    """Return three digits of an error that is not greater than what they say."""
    return f"{Context(prec=3, rounding=ROUND_UP).create_decimal_from_float(error):g}"


def rounding_error(graph: CSRGraph, source: int, rounded: NDArray[np.float32]) -> tuple[float, int, float]:
    """Return the greatest relative difference of float32 distances (n,) from float64 ones, its vertex, its distance.

    The difference is |d32 − d64| / d64, where d64 is the least, over all paths, of the sum in float64; infinity for a
    vertex that only d64 reaches.  As d64 itself differs from the least sum of real numbers by less than n · 2^−53 of
    it, this is the error of rounding to float32.  The vertices are taken in the order of ``rounded``, in which nearly
    all relaxations are the last; a heap takes the few others.
    """
    exact = np.full(len(rounded), np.inf)
    exact[source] = 0
    _sum_again(Arcs.of(graph), np.argsort(rounded, kind="stable"), exact)
    with np.errstate(invalid="ignore"):  # of infinities
        away = np.abs(rounded.astype(np.float64) - exact)
    away[rounded == exact] = 0  # infinite ones, too
    error = np.divide(away, exact, out=away, where=(away > 0) & np.isfinite(away) & (exact > 0))
    v = int(np.argmax(error))
    return float(error[v]), v, float(exact[v])


@njit
def _sum_again(arcs: Arcs, order: NDArray[np.int64], exact: NDArray[np.float64]) -> None:
    """Lower ``exact``, infinite but for the source, to the distances in its type; ``order`` is nearly theirs."""
    offsets, targets, weights = arcs
    passed = np.zeros(len(order), np.bool_)
    heap = [(exact[0], np.int64(0))]
    heap.pop()
    for u in order:
        passed[u], near = True, exact[u]
        for arc in range(offsets[u], offsets[u + 1]):
            v, far = np.int64(targets[arc]), near + weights[arc]
            if far < exact[v]:
                exact[v] = far
                if passed[v]:
                    heapq.heappush(heap, (far, v))
    while len(heap) > 0:
        near, u = heapq.heappop(heap)
        for arc in range(offsets[u], offsets[u + 1] if near == exact[u] else offsets[u]):
            v, far = np.int64(targets[arc]), near + weights[arc]
            if far < exact[v]:
                exact[v] = far
                heapq.heappush(heap, (far, v))
