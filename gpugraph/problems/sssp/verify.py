"""The certificate: distances and predecessors checked by themselves, exactly and in near-linear time.

Distances are right if the source has distance 0, no arc can be relaxed (so none is too high, and no arc of
finite sum leaves the reached set), and every reached vertex hangs on the source by tight arcs (so none is too
low; a cycle of zero weights cut off from the source hangs on nothing).  All sums are taken in the graph's own
type.  One look at every arc, in parallel, shows all of it.

Source: the optimality conditions of Ford, Network flow theory (1956), with tight arcs for the lower side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.arcs import distance_dtype
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.tight_arcs import survey


def check_certificate(graph: CSRGraph, source: int, result: Distances) -> Verdict:
    """Return the verdict on ``result`` as distances from ``source``; a failed one names a counter-example."""
    fault = malformed(graph, source, result) or _first_fault(graph, source, result)
    if fault:
        return Verdict("failed", "certificate", fault)
    return Verdict("passed", "certificate", describe_right(result))


def describe_right(result: Distances) -> str:
    """Return what the certificate has shown of a right result, in words."""
    reached = int(np.count_nonzero(result.reached))
    tree = "" if result.predecessor is None else ", predecessors are canonical"
    return f"no arc can be relaxed, all {reached} reached vertices hang on the source by tight arcs{tree}"


def malformed(graph: CSRGraph, source: int, result: Distances) -> str | None:
    """Return what makes ``result`` no answer to the question at all, or None."""
    if result.source != source:
        return f"the result is for source {result.source}, not {source}"
    for name, array, dtype in (
        ("distances", result.distance, distance_dtype(graph.weights.dtype)),
        ("predecessors", result.predecessor, np.dtype(np.int64)),
    ):
        if array is None:
            continue
        if array.shape != (graph.vertices,):
            return f"the {name} have the shape {array.shape}, not ({graph.vertices},)"
        if array.dtype != dtype:
            return f"the {name} are {array.dtype}, not {dtype}"
    return None


def differing_predecessor(graph: CSRGraph, found: NDArray[np.int64], right: NDArray[np.int64]) -> str | None:
    """Return the first vertex whose predecessor is not the canonical one, in words, or None."""
    wrong = np.flatnonzero(found != right)
    if not len(wrong):
        return None
    v = int(wrong[0])
    return f"vertex {graph.label(v)} has predecessor {found[v]}, the canonical one is {right[v]}"


def source_fault(graph: CSRGraph, source: int, distance: NDArray[Any]) -> str | None:
    """Return what is wrong with the source's own distance, in words, or None."""
    if distance[source] == 0:
        return None
    return f"the source {graph.label(source)} has distance {distance[source]}, not 0"


def arc_fault(
    graph: CSRGraph, distance: NDArray[Any], relaxable: tuple[int, int, int] | None, wraps: tuple[int, int, int] | None
) -> str | None:
    """Return what the first bad arcs (tail, head, position) of a ``Survey`` refute, in words, or None."""
    if relaxable is not None:
        return _describe(graph, distance, relaxable, "can be relaxed")
    if wraps is not None and distance.dtype == np.uint64:
        return _describe(graph, distance, wraps, "leads to a distance that does not fit in 64 bits")
    return None


def describe_loose(graph: CSRGraph, distance: NDArray[Any], v: int) -> str:
    """Return a sentence on a reached vertex that no tight arcs lead to."""
    return f"vertex {graph.label(v)} has distance {distance[v]}, but hangs on the source by no tight arcs"


def _first_fault(graph: CSRGraph, source: int, result: Distances) -> str | None:
    """Return the first condition that does not hold, with its counter-example, or None."""
    distance = result.distance
    fault = source_fault(graph, source, distance)
    if fault:
        return fault
    seen = survey(graph, distance, source)
    fault = arc_fault(graph, distance, seen.relaxable, seen.wraps)
    if fault:
        return fault
    hanging = seen.predecessor >= 0
    hanging[source] = True
    loose = np.flatnonzero(result.reached & ~hanging)
    if len(loose):
        return describe_loose(graph, distance, int(loose[0]))
    if result.predecessor is not None:
        return differing_predecessor(graph, result.predecessor, seen.predecessor)
    return None


def _describe(graph: CSRGraph, distance: NDArray[Any], arc: tuple[int, int, int], fault: str) -> str:
    """Return a sentence on an arc (tail, head, position)."""
    tail, head, at = arc
    ends = f"{graph.label(tail)} → {graph.label(head)}"
    held = f"distances {distance[tail]} and {distance[head]}"
    return f"the arc {ends} of weight {graph.weights[at]} {fault}: its ends have {held}"
