"""The certificate and the oracle of shortest paths.

The certificate checks distances and predecessors by themselves, exactly and in near-linear time.  Distances are right
if the source has distance 0, no arc can be relaxed (so none is too high, and no arc of finite sum leaves the reached
set), and tight arcs lead from the source to every reached vertex (so none is too low; they lead to no cycle of zero
weights cut off from the source).  All sums are taken in the type of the distances.  One look at every arc, in parallel,
shows all of it.

Source: the optimality conditions of Ford, Network flow theory (1956), with tight arcs for the lower side.

The oracle is code that no algorithm under test shares: SciPy's Dijkstra where its float64 is right; otherwise
(sums in float32, distances from 2^53 on, 2^31 arcs) Dijkstra with Python's ``heapq``, compiled, in the type of the
distances.  SciPy is also the algorithm ``dijkstra-fibonacci``, which therefore is always checked with the heap.  SciPy
sums real weights in float64, as gpugraph does.  Integers are exact there as long as every finite distance it returns
is below 2^53: a sum that reaches 2^53 stays there when it is rounded, so none below has been rounded.
"""

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.arcs import FLOAT64, Arcs, distance_dtype, sums_of, unreached
from gpugraph.problems.sssp.checked_arcs import look, wrong_predecessor
from gpugraph.problems.sssp.distances import Distances


def check_certificate(graph: CSRGraph, source: int, result: Distances) -> Verdict:
    """Return the verdict on ``result`` as distances from ``source``; a failed one names a counter-example."""
    fault = malformed(graph, source, result) or _first_fault(graph, source, result)
    return verdict_on(result, fault)


def verdict_on(result: Distances, fault: str | None, by: str = "") -> Verdict:
    """Return the certificate's verdict, given what is wrong with a result, or None; ``by`` ends the detail else."""
    if fault is not None:
        return Verdict("failed", "certificate", fault)
    reached = int(np.count_nonzero(result.reached))
    tree = "" if result.predecessor is None else ", predecessors are canonical"
    all_reached = "the reached vertex" if reached == 1 else f"all {reached} reached vertices"
    detail = f"no arc can be relaxed, tight arcs lead from the source to {all_reached}{tree}"
    return Verdict("passed", "certificate", detail + by)


def malformed(graph: CSRGraph, source: int, result: Distances) -> str | None:
    """Return what makes ``result`` no answer to the question at all, or None."""
    if result.source != source:
        return f"the result is for source {result.source}, not {source}"
    for name, array, dtype in (
        ("distances", result.raw, distance_dtype(graph.weight_dtype, sums_of(result.raw.dtype))),
        ("predecessors", result.predecessor, np.dtype(np.int64)),
    ):
        if array is None:
            continue
        if array.shape != (graph.vertices,):
            return f"the {name} have the shape {array.shape}, not ({graph.vertices},)"
        if array.dtype != dtype:
            return f"the {name} are {array.dtype}, not {dtype}"
    return None


def describe_predecessor(graph: CSRGraph, v: int, found: int, right: int) -> str:
    """Return a sentence on a vertex whose predecessor is not the canonical one."""
    return f"vertex {graph.label(v)} has predecessor {found}, the canonical one is {right}"


def source_fault(graph: CSRGraph, source: int, distance: NDArray[Any]) -> str | None:
    """Return what is wrong with the source's own distance, in words, or None."""
    if distance[source] == 0:
        return None
    return f"the source {graph.label(source)} has distance {distance[source]}, not 0"


def arc_fault(graph: CSRGraph, distance: NDArray[Any], relaxable: int, wraps: int) -> str | None:
    """Return what the first bad arcs of a ``Survey`` refute, in words, or None."""
    if relaxable >= 0:
        return _describe(graph, distance, relaxable, "can be relaxed")
    if wraps >= 0 and distance.dtype == np.uint64:
        return _describe(graph, distance, wraps, "leads to a distance that does not fit in 64 bits")
    return None


def describe_loose(graph: CSRGraph, distance: NDArray[Any], v: int) -> str:
    """Return a sentence on a reached vertex that no tight arcs lead to."""
    return f"vertex {graph.label(v)} has distance {distance[v]}, but is not reached from the source by tight arcs"


def _first_fault(graph: CSRGraph, source: int, result: Distances) -> str | None:
    """Return the first condition that does not hold, with its counter-example, or None."""
    distance = result.raw
    fault = source_fault(graph, source, distance)
    if fault:
        return fault
    seen = look(graph, distance, source)
    fault = arc_fault(graph, distance, seen.relaxable, seen.wraps)
    if fault:
        return fault
    loose = np.flatnonzero(result.reached & (seen.level < 0))
    if len(loose):
        return describe_loose(graph, distance, int(loose[0]))
    return predecessor_fault(graph, result, seen.level)


def predecessor_fault(graph: CSRGraph, result: Distances, level: NDArray[np.int64]) -> str | None:
    """Return the first vertex whose predecessor, if there are any, is not the canonical one, in words, or None."""
    before = result.predecessor
    wrong = None if before is None else wrong_predecessor(graph, result.raw, result.source, before, level)
    if before is None or wrong is None:
        return None
    v, right = wrong
    return describe_predecessor(graph, v, int(before[v]), right)


def _describe(graph: CSRGraph, distance: NDArray[Any], arc: int, fault: str) -> str:
    """Return a sentence on an arc, given its position."""
    tail, head = int(np.searchsorted(graph.offsets, arc, side="right")) - 1, int(graph.targets[arc])
    names = graph.label(tail), graph.label(head)
    ends = f"vertex {names[0]} is {_in_words(distance[tail])}, vertex {names[1]} is {_in_words(distance[head])}"
    return f"the arc {names[0]} → {names[1]} of weight {graph.weights[arc]} {fault}: {ends}"


# ------------------------------------------------------------------ oracle

SCIPY = "SciPy's Dijkstra"
_OF_SCIPY = "dijkstra-fibonacci"


def reference_distances(graph: CSRGraph, source: int, by: str = "", sums: str = FLOAT64) -> tuple[NDArray[Any], str]:
    """Return the distances (n,), reals in the type of ``sums``, and what computed them: never the algorithm ``by``.

    Raises InputError if a distance needs more than 64 bits.
    """
    arcs = Arcs.of(graph)
    own = arcs.unreached(sums)
    if by != _OF_SCIPY and fits_scipy(arcs) and own.dtype != np.float32:
        distance = scipy_distances(arcs, source)
        if is_exact(arcs, distance):
            return in_own_type(arcs, distance), SCIPY
    _heap_dijkstra(arcs, source, own)
    if own.dtype == np.uint64 and (arc := _first_lost(arcs, own, unreached(own.dtype))) >= 0:
        ends = f"from vertex {graph.label(source)} to vertex {graph.label(int(arcs.targets[arc]))}"
        remedy = "use smaller weights, or float64 ones"
        raise InputError(f"the distance {ends} does not fit in 64 bits", where=graph.name, remedy=remedy)
    return own, f"a binary heap in {own.dtype}"


def check_against_reference(graph: CSRGraph, source: int, result: Distances, by: str = "") -> Verdict:
    """Return the verdict on ``result`` as distances from ``source``, which the algorithm ``by`` gave.

    A failed one names the first difference.  Raises InputError if a distance needs more than 64 bits.
    """
    fault = malformed(graph, source, result)
    if fault:
        return Verdict("failed", "reference", fault)
    right, oracle = reference_distances(graph, source, by, sums_of(result.raw.dtype))
    wrong = np.flatnonzero(result.raw != right)
    if len(wrong):
        v = int(wrong[0])
        held, due = (_in_words(d[v]) for d in (result.raw, right))
        return Verdict("failed", "reference", f"vertex {graph.label(v)} is {held}, by {oracle} {due}")
    if result.predecessor is not None:
        before = reference_predecessors(graph, source, right)
        for v in np.flatnonzero(result.predecessor != before)[:1].tolist():
            fault = describe_predecessor(graph, v, int(result.predecessor[v]), int(before[v]))
            return Verdict("failed", "reference", fault)
    return Verdict("passed", "reference", f"all {graph.vertices} distances equal those of {oracle}")


def _in_words(distance: Any) -> str:
    """Return a distance for a message."""
    return "unreached" if distance == unreached(distance.dtype) else f"at distance {distance}"


@njit
def _heap_dijkstra(arcs: Arcs, source: int, distance: NDArray[Any]) -> None:
    """Fill ``distance`` (all unreached on entry); entries that have been overtaken are skipped when they come up."""
    offsets, targets, weights = arcs
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


@njit
def _first_lost(arcs: Arcs, distance: NDArray[Any], none: Any) -> int:
    """Return the first arc whose sum does not fit 64 bits and whose head is left unreached, or −1."""
    offsets, targets, weights = arcs
    for u in range(len(offsets) - 1):
        if distance[u] != none:
            for arc in range(offsets[u], offsets[u + 1]):
                far = distance[u] + weights[arc]
                if (far < distance[u] or far == none) and distance[targets[arc]] == none:
                    return arc
    return -1


def reference_predecessors(graph: CSRGraph, source: int, distance: NDArray[Any]) -> NDArray[np.int64]:
    """Return canonical predecessors (n,) int64 of right distances, by the words of their definition, on one thread."""
    before = np.full(graph.vertices, -1, np.int64)
    _name_nearer(Arcs.of(graph), source, distance, unreached(distance.dtype), before)
    _name_equal(Arcs.of(graph), source, distance, before)
    return before


@njit
def _name_nearer(arcs: Arcs, source: int, distance: NDArray[Any], none: Any, before: NDArray[np.int64]) -> None:
    """Give vertices the smallest nearer tail of a tight arc: tails ascend, and so the first is the smallest."""
    offsets, targets, weights = arcs
    for u in range(len(before)):
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            nearer = distance[u] < distance[v] and distance[v] != none
            if nearer and before[v] < 0 and v != source and distance[u] + weights[arc] == distance[v]:
                before[v] = u


@njit
def _name_equal(arcs: Arcs, source: int, distance: NDArray[Any], before: NDArray[np.int64]) -> None:
    """Give the others the smallest tail of a tight arc between equal distances, round by round of those who have one.

    The vertices of a round are taken in ascending order, and so the first that leads to another is the smallest.
    """
    offsets, targets, weights = arcs
    front = np.array([v for v in range(len(before)) if before[v] >= 0 or v == source], np.int64)
    while len(front) > 0:
        following = [np.int64(0) for _ in range(0)]
        for u in front:
            for arc in range(offsets[u], offsets[u + 1]):
                v = np.int64(targets[arc])
                equal = distance[v] == distance[u] and distance[u] + weights[arc] == distance[u]
                if equal and before[v] < 0 and v != source:
                    before[v] = u
                    following.append(v)
        front = np.sort(np.array(following, np.int64))


EXACT = 2.0**53


def fits_scipy(arcs: Arcs) -> bool:
    """True if SciPy can hold the graph: its indices have 32 bits."""
    return len(arcs.targets) < 2**31 and arcs.targets.dtype == np.int32


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
    """Return SciPy's distances as float64 or uint64, unreached vertices marked our way."""
    own = arcs.unreached()
    np.copyto(own, distance, where=np.isfinite(distance), casting="unsafe")
    return own
