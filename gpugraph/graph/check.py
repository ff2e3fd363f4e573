"""Check the structure of a graph from a ``.csr`` file before compiled code trusts it, on the host or where it lies.

Whether every arc has its reverse with equal weight is answered by a signed sum of arc hashes, in one pass without
random access: arcs u→v with u < v count positive, the others negative, each hashed as the undirected edge it belongs
to.  A sum other than zero proves asymmetry; zero, in two independent 64-bit lanes, proves symmetry up to a chance of
2^-128.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.errors import GraphFormatError
from gpugraph.graph.canonical import find_arc, weight_words
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.csr import ARCS_PER_THREAD, CHECK, CSRGraph, DeviceRows
from gpugraph.graph.digest import arc_lanes, finish


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
    words = weight_words(graph.weights)[0]
    parts = in_threads(
        lambda lo, hi: _signed_sums(graph.offsets, graph.targets, words, lo, hi), balanced_ranges(graph.offsets)
    )
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
def _first_fall(offsets: Any, first: int, last: int) -> int:
    """Return the first vertex of [first, last) whose row ends before it begins, or −1."""
    for v in range(first, last):
        if offsets[v + 1] < offsets[v]:
            return v
    return -1


@njit
def _first_bad_arc(offsets: Any, targets: Any, words: Any, infinity: Any, sign: Any, first: int, last: int) -> int:
    """Return the first arc of the rows [first, last) that no graph holds, or −1.

    ``words`` are the weights' bit patterns and ``infinity`` that of +infinity, beyond which, sign aside, lies
    NaN (for integers the greatest word); ``sign`` is the sign bit of a real weight, which alone is −0.0 (for
    integers 0).
    """
    vertices = len(offsets) - 1
    for u in range(first, last):
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if v < 0 or v >= vertices or v == u or (i > offsets[u] and v <= targets[i - 1]):
                return i
            if words[i] & ~sign > infinity or (sign != 0 and words[i] == sign):
                return i
    return -1


def check_structure(graph: CSRGraph) -> None:
    """Check everything that compiled code relies on, in parallel and in O(n + arcs).

    The offsets ascend from 0 to the number of arcs; the targets of a row ascend, are vertices, and none is the
    row's own; no weight is NaN or −0.0; an undirected graph has both arcs of each edge, equally heavy; and the
    digest is the stored one, where there is one.

    Raises:
        GraphFormatError: the first of these that does not hold, and where.
    """

    def refuse(what: str) -> GraphFormatError:
        return GraphFormatError(f"damaged: {what}", path=graph.source or graph.name, remedy=_REMEDY)

    offsets, targets = graph.offsets, graph.targets
    if int(offsets[0]) != 0 or int(offsets[-1]) != graph.arcs:
        raise refuse(f"the row offsets run from {offsets[0]} to {offsets[-1]}, but there are {graph.arcs} arcs")
    v = _least(in_threads(lambda lo, hi: _first_fall(offsets, lo, hi), even_ranges(graph.vertices)))
    if v >= 0:
        raise refuse(f"the row offsets fall from {offsets[v]} to {offsets[v + 1]} at vertex {v}")
    bits = 8 * graph.weights.itemsize
    words = np.ascontiguousarray(graph.weights).view(f"u{bits // 8}")
    real = graph.weights.dtype.kind == "f"
    sign = words.dtype.type(1 << (bits - 1) if real else 0)
    infinity = np.array(np.inf, graph.weights.dtype).view(words.dtype)[()] if real else ~words.dtype.type(0)
    rows = balanced_ranges(offsets)
    i = _least(in_threads(lambda lo, hi: _first_bad_arc(offsets, targets, words, infinity, sign, lo, hi), rows))
    if i >= 0:
        raise refuse(_bad_arc(graph, i))
    if not graph.directed and not is_symmetric(graph):
        raise refuse(_unpaired_arc(graph, words))
    if graph.stored_digest is not None and graph.digest != graph.stored_digest:
        raise refuse(f"its digest is {graph.digest}, the header says {graph.stored_digest}")


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


def _unpaired_arc(graph: CSRGraph, words: Any) -> str:
    """Say which edge of an undirected graph has arcs that differ."""
    arc, u, back = (int(x) for x in first_asymmetry(graph.offsets, graph.targets, words))
    v = int(graph.targets[arc])
    if back < 0:
        return f"undirected, but the arc {u} → {v} has no reverse"
    return f"undirected, but {u} → {v} weighs {graph.weights[arc]} and {v} → {u} weighs {graph.weights[back]}"


def ensure_checked(graph: CSRGraph) -> None:
    """Check a graph that came from a ``.csr`` file, unless that has been done.

    Raises:
        GraphFormatError: see ``check_structure``.
    """
    # Checking is the only thing that leaves the computed digest beside a stored one that equals it.
    if graph.stored_digest is not None and graph.__dict__.get("digest") != graph.stored_digest:
        check_structure(graph)


# ------------------------------------------------------------------ on a device
# For a graph that lies there the kernels of ``cuda_kernels/check.cu`` answer everything, and the digest too, in one
# reading of the rows.  What is wrong is said by the host's check, which looks for it anew: so the words are the same.

NOTHING = 2**64 - 1


def _checked(rows: DeviceRows) -> NDArray[np.uint64] | None:
    """Return the words that the kernels found; None where the offsets do not ascend from 0 to the number of arcs."""
    device, n = rows.device, rows.vertices
    found = device.upload(np.array([NOTHING, NOTHING, 0, 0, 0, 0], np.uint64))
    if int(device.read(rows.offsets, 0)) != 0 or int(device.read(rows.offsets, n)) != rows.arcs:
        return None
    rows.launch(CHECK, "offsets", n, np.int64(n), rows.offsets, found)
    if int(device.read(found, CHECK["FALL"])) != NOTHING:
        return None
    dtype = np.dtype(rows.weights.dtype)
    bits, real = 8 * dtype.itemsize, dtype.kind == "f"
    infinity = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}")[()]) if real else 2**bits - 1
    rows.launch(
        CHECK,
        "arcs",
        -(-rows.arcs // ARCS_PER_THREAD),
        *(np.int32(n), np.int64(rows.arcs), rows.offsets, rows.targets, rows.weights, np.int32(dtype.itemsize)),
        *(np.uint64(infinity), np.uint64(1 << (bits - 1) if real else 0), found),
    )
    answer: NDArray[np.uint64] = device.download(found)
    return answer


def _digest(graph: CSRGraph, found: NDArray[np.uint64]) -> str:
    sums = int(found[CHECK["DIGEST"]]), int(found[CHECK["DIGEST"] + 1])
    return finish(*sums, graph.vertices, graph.arcs, graph.digest_code)


def _rows(graph: CSRGraph) -> DeviceRows:
    assert graph.on_device is not None
    return graph.on_device


def digest_on_device(graph: CSRGraph) -> str:
    """Return the digest of a graph that lies on a device, and is sound."""
    found = _checked(_rows(graph))
    if found is None or int(found[CHECK["BAD"]]) != NOTHING:
        raise _differs(graph)
    return _digest(graph, found)


def is_symmetric_on_device(graph: CSRGraph) -> bool:
    """Tell whether every arc has its reverse with equal weight."""
    found = _checked(_rows(graph))
    return found is not None and not found[CHECK["BALANCE"] :].any()


def has_negative_weight(graph: CSRGraph) -> bool:
    """Tell whether a weight is below zero."""
    rows = _rows(graph)
    dtype, device = np.dtype(rows.weights.dtype), rows.device
    if dtype.kind == "u":
        return False
    found = device.full(1, 0, np.uint32)
    threads = -(-rows.arcs // ARCS_PER_THREAD)
    rows.launch(CHECK, "negative", threads, np.int64(rows.arcs), rows.weights, np.int32(dtype.itemsize), found)
    return bool(device.read(found))


def check_on_device(graph: CSRGraph) -> None:
    """Check everything that ``check_structure`` checks, of the copy that lies on a device.

    A graph found sound keeps its digest.

    Raises:
        GraphFormatError: what ``check_structure`` says, or that the copy is not what the file holds now.
    """
    found = _checked(_rows(graph))
    if (
        found is not None
        and int(found[CHECK["BAD"]]) == NOTHING
        and (graph.directed or not found[CHECK["BALANCE"] :].any())
    ):
        digest = _digest(graph, found)
        if graph.stored_digest in (None, digest):
            graph.__dict__["digest"] = digest
            return
    host: dict[str, Any] = {name: getattr(graph, name) for name in ("offsets", "targets", "weights")}
    check_structure(
        CSRGraph(
            **host,
            directed=graph.directed,
            name=graph.name,
            source=graph.source,
            stored_digest=graph.stored_digest,
        )
    )
    raise _differs(graph)


def _differs(graph: CSRGraph) -> GraphFormatError:
    return GraphFormatError(
        "damaged: it was changed while it was read, or its copy on the device was",
        path=graph.source or graph.name,
        remedy="read it again when nothing writes to it",
    )
