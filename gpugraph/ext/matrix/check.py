"""The certificate of a search that ended once its goals were settled.

Distances up to that of the farthest goal are right if the source has 0, no arc leads to a vertex on a shorter way that
is within them, and tight arcs lead from the source to every vertex within: so a path of each length exists, and none is
shorter.  Nothing is claimed of the vertices beyond.

Source: the optimality conditions of Ford, Network flow theory (1956), up to a bound.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import VerificationFailed
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import Arcs
from gpugraph.problems.sssp.verify import arc_fault, describe_loose


def certify_within(graph: CSRGraph, arcs: Arcs, distance: NDArray[Any], source: int, end: Any) -> None:
    """Check (n,) distances from a source as far as ``end``; raise VerificationFailed with a counter-example."""
    arc, vertex = _first_fault(*arcs, distance, source, distance.dtype.type(end))
    fault = describe_loose(graph, distance, vertex) if vertex >= 0 else arc_fault(graph, distance, arc, -1)
    if fault is not None:
        raise VerificationFailed(f"from source {graph.label(source)}: {fault}", where=graph.name)


@njit
def _first_fault(offsets: Any, targets: Any, weights: Any, distance: Any, source: int, end: Any) -> Any:
    """Return an arc that can be relaxed, or −1, and a vertex to which no tight arcs lead, or −1."""
    n = len(distance)
    linked = np.zeros(n, np.bool_)
    linked[source] = distance[source] == 0
    has_level = False
    for u in range(n):
        near = distance[u]
        if near > end:
            continue
        for arc in range(offsets[u], offsets[u + 1]):
            v, far = targets[arc], near + weights[arc]
            if far < near or far > end:  # a sum of 64 bits that wrapped is below its first term
                continue
            if far < distance[v]:
                return arc, np.int64(-1)
            if far == distance[v]:
                has_level |= far == near
                linked[v] |= near < far
    if has_level:  # along arcs that add nothing, which might lead round in a circle
        waiting, first = np.empty(n, np.int64), np.flatnonzero(linked)
        count = len(first)
        waiting[:count] = first
        while count > 0:
            count -= 1
            u = waiting[count]
            for arc in range(offsets[u], offsets[u + 1]):
                v = targets[arc]
                if not linked[v] and distance[v] == distance[u] and distance[u] + weights[arc] == distance[u]:
                    linked[v] = True
                    waiting[count] = v
                    count += 1
    for v in range(n):
        if not distance[v] > end and not linked[v]:  # NaN among them
            return np.int64(-1), np.int64(v)
    return np.int64(-1), np.int64(-1)
