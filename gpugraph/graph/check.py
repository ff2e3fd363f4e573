"""Checking the structure of a graph from a ``.csr`` file before compiled code trusts it, on host or device.

Whether every arc has its reverse with equal weight is answered by a signed sum of arc hashes, in one pass without
random access: arcs u→v with u < v count positive, the others negative, each hashed as the undirected edge it belongs
to.  A sum other than zero proves asymmetry; zero, in two independent 64-bit lanes, proves symmetry up to a chance of
2^-128.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import GraphFormatError, InputError, shown
from gpugraph.graph.canonical import find_arc, weight_words
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.digest import arc_lanes


@njit
def _signed_sums(offsets: Any, targets: Any, words: Any, first: int, last: int) -> Any:
    """Return both lanes of the signed sum over the rows [first, last)."""
    sum0, sum1 = np.uint64(0), np.uint64(0)
    for u in range(first, last):
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            upper = u < v
            lane0, lane1 = arc_lanes(u if upper else v, v if upper else u, words[i])
            if upper:
                sum0 += lane0
                sum1 += lane1
            else:
                sum0 -= lane0
                sum1 -= lane1
    return sum0, sum1


def is_symmetric(graph: CSRGraph) -> bool:
    """Tell whether every arc has its reverse with equal weight; O(n + arcs)."""
    offsets, targets, words = graph.offsets, graph.targets, weight_words(graph.weights)[0]
    parts = in_threads(lambda lo, hi: _signed_sums(offsets, targets, words, lo, hi), balanced_ranges(offsets))
    return all(sum(int(part[lane]) for part in parts) % 2**64 == 0 for lane in (0, 1))


@njit
def first_asymmetry(offsets: Any, targets: Any, words: Any) -> Any:
    """Return (arc, its tail, its reverse or −1) of the first arc without an equal reverse, or (−1, −1, −1)."""
    for u in range(len(offsets) - 1):
        for i in range(offsets[u], offsets[u + 1]):
            back = find_arc(offsets, targets, targets[i], u)
            if back < 0 or words[back] != words[i]:
                return i, u, back
    return -1, -1, -1


_REMEDY = "the file is damaged: fetch or convert it again"


@njit
def _first_bad_arc(offsets: Any, targets: Any, weights: Any, first: int, last: int) -> int:
    """Return the first arc of the rows [first, last) that no graph holds, or −1.

    ``words`` are the weights' bit patterns and ``infinity`` that of +infinity, beyond which, sign aside, lies
    NaN (for integers the greatest word); ``sign`` is the sign bit of a real weight, which alone is −0.0 (for
    integers 0).
    """
    words, infinity, sign = weights
    vertices = len(offsets) - 1
    for u in range(first, last):
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if v < 0 or v >= vertices or v == u or (i > offsets[u] and v <= targets[i - 1]):
                return i
            if words[i] & ~sign > infinity or (sign != 0 and words[i] == sign):
                return i
    return -1


def check_structure(graph: CSRGraph, remedy: str = _REMEDY) -> None:
    """Check everything that compiled code relies on, in parallel and in O(n + arcs).

    The offsets ascend from 0 to the number of arcs; the targets of a row ascend, are vertices, and none is the
    row's own; no weight is NaN or −0.0; an undirected graph has both arcs of each edge, equally heavy; and the
    digest is the stored one, where there is one.  A GraphFormatError names the first of these that does not hold.
    """

    def refuse(what: str) -> GraphFormatError:
        return GraphFormatError(f"damaged: {what}", path=graph.source or graph.name, remedy=remedy)

    offsets, targets = graph.offsets, graph.targets
    if fault := offsets_fault(offsets, graph.arcs):
        raise refuse(fault)
    words, sign, real = weight_words(graph.weights)
    sign = words.dtype.type(sign if real else 0)
    infinity = np.array(np.inf, graph.weights.dtype).view(words.dtype)[()] if real else ~words.dtype.type(0)
    rows, carried = balanced_ranges(offsets), (words, infinity, sign)
    i = _least(in_threads(lambda lo, hi: _first_bad_arc(offsets, targets, carried, lo, hi), rows))
    if i >= 0:
        raise refuse(_bad_arc(graph, i))
    if not graph.directed and not is_symmetric(graph):
        raise refuse(f"undirected, {asymmetry(graph)}")
    if graph.stored_digest is not None and graph.digest != graph.stored_digest:
        raise refuse(f"its digest is {graph.digest}, the header says {graph.stored_digest}")


def offsets_fault(offsets: NDArray[Any], arcs: int) -> str:
    """Say why (n+1,) offsets are none of rows that hold so many arcs; empty if they may be."""

    def first_fall(low: int, high: int) -> int:
        falls = offsets[low + 1 : high + 1] < offsets[low:high]  # compared, not subtracted: a difference may wrap round
        return low + int(falls.argmax()) if falls.any() else -1

    v = _least(in_threads(first_fall, even_ranges(len(offsets) - 1)))
    if v >= 0:
        return f"the row offsets fall from {offsets[v]} to {offsets[v + 1]} at vertex {v}"
    if int(offsets[0]) != 0 or int(offsets[-1]) != arcs:
        return f"the row offsets run from {offsets[0]} to {offsets[-1]}, but there are {arcs} arcs"
    return ""


def _least(found: list[int]) -> int:
    return min((int(x) for x in found if x >= 0), default=-1)


def _bad_arc(graph: CSRGraph, i: int) -> str:
    """Say what is wrong with arc ``i``."""
    u = int(np.searchsorted(graph.offsets, i, "right")) - 1
    v, weight = int(graph.targets[i]), graph.weights[i]
    if not 0 <= v < graph.vertices:
        return f"an arc of vertex {u} leads to vertex {v}, but there are {graph.vertices} vertices"
    if v == u:
        return f"vertex {u} has an arc to itself"
    if i > graph.offsets[u] and graph.targets[i - 1] >= v:
        return f"the targets of vertex {u} do not ascend: {graph.targets[i - 1]}, {v}"
    return f"the arc {u} → {v} has the weight {weight}"


def asymmetry(graph: CSRGraph) -> str:
    """Say which edge of a graph that should be undirected has arcs that differ: the first."""
    arc, tail, back = first_asymmetry(graph.offsets, graph.targets, weight_words(graph.weights)[0])
    u, v = graph.name_of(tail), graph.name_of(int(graph.targets[arc]))
    if back < 0:
        return f"but the edge {u} - {v} has the arc {u} → {v} only"
    return f"but the edge {u} - {v} weighs {graph.weights[arc]} one way and {graph.weights[back]} the other"


def ensure_checked(graph: CSRGraph) -> None:
    """Check a graph that came from a ``.csr`` file, unless that has been done; see ``check_structure``."""
    # Checking is the only thing that leaves the computed digest beside a stored one that equals it.
    if graph.stored_digest is not None and graph.__dict__.get("digest") != graph.stored_digest:
        check_structure(graph)


def ensure_rows(graph: CSRGraph) -> None:
    """Check the arrays of a graph that ``load`` or ``generate`` need not have made, once for each graph.

    Raises InputError if they are no arrays of a graph or not as long as they should be; see ``check_structure``.
    """
    if graph.on_device is not None or graph.__dict__.get(_ROWS):
        return
    types = {"offsets": ("int64",), "targets": ("int32", "int64"), "weights": WEIGHT_DTYPES}
    for name, dtypes in types.items():
        array = getattr(graph, name)
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype not in dtypes:
            what = f"{name} is {shown(array)}, not an array (entries,) of {' or '.join(dtypes)}"
            raise InputError(what, where=graph.name, remedy=_BY_LOAD)
    if len(graph.weights) != len(graph.targets) or not len(graph.offsets):
        what = f"there are {len(graph.offsets)} offsets, {len(graph.targets)} targets and {len(graph.weights)} weights"
        raise InputError(what, where=graph.name, remedy=_BY_LOAD)
    check_structure(graph, _BY_LOAD)
    note_rows(graph)


def note_rows(graph: CSRGraph) -> CSRGraph:
    """Return a graph, with a note for ``ensure_rows`` that its arrays need not be looked at again."""
    graph.__dict__[_ROWS] = True
    return graph


_ROWS = "_are_rows"
_BY_LOAD = "give (offsets, targets, weights) to gpugraph.load, which checks and sorts them"
