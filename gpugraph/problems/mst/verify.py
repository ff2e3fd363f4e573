"""The certificate of minimum spanning forests, and SciPy's as their oracle.

The certificate: a minimum spanning forest is known by its edges alone, without another algorithm.

1. ids: the edges are canonical ids of the graph, ascending, each once.
2. no cycle: the edges, united in canonical order, each join two trees.  This leaves the *merge forest*: every
   vertex but the roots points to the vertex that represented the other tree, by the rank of the edge that
   joined them.  Trees are united by size and paths never shortened, so that it is O(log n) deep and the ranks
   rise along every path up.
3. cycle property: the greatest rank on the forest path between u and v is found by walking both up, the one
   with the smaller rank first, until they meet.  An edge {u, v} whose walk does not meet joins two trees: the
   forest does not span.  An edge before the one at that rank in canonical order refutes minimality.
4. total weight and number of components.

O(m log n) time, in practice a few steps an edge, on all threads.

Source: Tarjan 1983, Data Structures and Network Algorithms, section 6.1 (the red rule: the last edge of a cycle
is in no minimum spanning forest) and section 2.1 (linking by size keeps trees O(log n) deep).

The oracle: SciPy drops edges of weight zero, computes in float64 and breaks ties its own way.  So it is given,
instead of the weights, the edges' *ranks* in canonical order, from 1 on: small integers, all different, and the
minimum spanning forest of the ranks is that of the weights.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import inner_njit, njit, threads
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.oracle_sums import certified_sum, reference_sum

_RANGES_PER_THREAD = 8


def check_certificate(graph: CSRGraph, forest: Forest, keys: NDArray[Any] | None = None) -> Verdict:
    """Check that a forest is the minimum spanning forest of an undirected graph, without an oracle.

    ``keys`` (arcs,), unsigned, are what edges are compared by before their ids, where that is not the weight alone.
    The detail of a failed verdict names the first counter-example.
    """
    wrong = check_ids(graph, forest.edges)
    if wrong is None:
        keys = words_in_order(graph.weights) if keys is None else keys
        ranked = forest.edges[np.argsort(keys[forest.edges], kind="stable")]  # ids ascend, so that equal ones go by id
        up, closing = _merge_forest(graph, ranked)
        wrong = describe_closing(graph, closing) if closing >= 0 else _check_cycles(graph, keys, ranked, up)
    return verdict_on(forest, wrong or check_totals(forest, certified_sum(graph.weights[forest.edges])))


def words_in_order(weights: NDArray[Any]) -> NDArray[Any]:
    """Return unsigned words, (k,), as wide as weights and in the same order."""
    words: NDArray[Any] = np.ascontiguousarray(weights).view(f"u{weights.dtype.itemsize}")
    if weights.dtype.kind == "u":
        return words
    sign = words.dtype.type(1 << 8 * words.dtype.itemsize - 1)
    if weights.dtype.kind == "i":
        return np.asarray(words + sign)
    return np.where(words < sign, words + sign, ~words)


def ends_of(graph: CSRGraph, arcs: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return tails, heads and weights, (k,) each, of arcs by position, read where the graph lies."""
    if graph.on_device is not None and graph.on_device.usable:
        u, v, weights = graph.on_device.ends_and_weights(arcs)
    else:
        u, v, weights = np.searchsorted(graph.offsets, arcs, side="right") - 1, graph.targets[arcs], graph.weights[arcs]
    return u.astype(np.int64, copy=False), v.astype(np.int64, copy=False), weights


def describe_edge(graph: CSRGraph, edge: int) -> str:
    """Return an edge in words: ``"edge (3, 7) of weight 12"``, with the file's own ids where it had some."""
    (u,), (v,), (weight,) = (part.tolist() for part in ends_of(graph, np.array([edge])))
    names = graph.vertex_names is not None
    named = f", in the file ({graph.name_of(u)}, {graph.name_of(v)})," if names else ""
    return f"edge ({u}, {v}){named} of weight {weight}"


def verdict_on(forest: Forest, wrong: str | None, by: str = "") -> Verdict:
    """Return the certificate's verdict, given what is wrong with a forest, or None; ``by`` ends the detail else."""
    if wrong is not None:
        return Verdict("failed", "certificate", wrong)
    others = forest.graph.edges - len(forest.edges)
    rest = "the other edge" if others == 1 else f"each of the {others} other edges"
    detail = f"spanning, without a cycle, and {rest} is the last of its cycle"
    return Verdict("passed", "certificate", detail + by)


def check_totals(forest: Forest, total: int | float) -> str | None:
    """Return what is wrong with the forest's total weight, which should be ``total``, or its components, or None."""
    components = forest.graph.vertices - len(forest.edges)
    both_nan = math.isnan(total) and math.isnan(forest.total_weight)  # the sum of infinities of both signs
    if forest.total_weight != total and not both_nan:
        return f"the total weight is {total}, not {forest.total_weight}"
    if forest.components != components:
        return f"the number of components is {components}, not {forest.components}"
    return None


def describe_closing(graph: CSRGraph, edge: int) -> str:
    """Return in words that a forest's edge closes a cycle of others."""
    return f"{describe_edge(graph, edge)} closes a cycle of forest edges"


def describe_violation(graph: CSRGraph, edge: int, last: int | None) -> str:
    """Return in words that an edge comes before the forest edge ``last`` on its cycle, or, for None, closes none."""
    if last is None:
        return f"{describe_edge(graph, edge)} joins two trees: the forest does not span the graph"
    # Edges of equal weight differ by their ids alone.
    tie = " (equal weight, smaller endpoints)" if graph.weights[edge] == graph.weights[last] else ""
    return f"{describe_edge(graph, edge)} comes before forest {describe_edge(graph, last)} on its cycle{tie}"


def check_ids(graph: CSRGraph, edges: NDArray[np.int64]) -> str | None:
    """Return what is wrong with a forest's ids, which should be canonical, ascending, each once; or None."""
    outside = np.flatnonzero((edges < 0) | (edges >= graph.arcs))
    if len(outside):
        return f"edge id {edges[outside[0]]} is outside the graph, whose arcs are 0..{graph.arcs - 1}"
    u, v, _ = ends_of(graph, edges)
    backward = np.flatnonzero(u >= v)
    if len(backward):
        at = backward[0]
        return f"edge id {edges[at]} is the arc {u[at]}→{v[at]}; canonical ids are arcs to the larger endpoint"
    unordered = np.flatnonzero(edges[1:] <= edges[:-1])
    if len(unordered):
        at = int(unordered[0])
        if edges[at] == edges[at + 1]:
            return f"{describe_edge(graph, int(edges[at]))} appears twice in the forest"
        return f"edge ids do not ascend: {edges[at + 1]} after {edges[at]}"
    return None


def _merge_forest(graph: CSRGraph, ranked: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
    """Return the merge forest of edges in canonical order, and the id of the first that closes a cycle or −1.

    The merge forest is (n, 2) of the targets' dtype: the vertex that each points to, and the rank by which; a root
    points to itself by a rank above all.  One array, so that a step touches one cache line.
    """
    up = np.empty((graph.vertices, 2), graph.targets.dtype)
    up[:, 0] = np.arange(graph.vertices)
    up[:, 1] = np.iinfo(up.dtype).max
    u, v, _ = ends_of(graph, ranked)
    closing = unite_by_size(u, v, up, np.ones(graph.vertices, up.dtype))
    return up, int(ranked[closing]) if closing >= 0 else -1


def _check_cycles(graph: CSRGraph, keys: NDArray[Any], ranked: NDArray[np.int64], up: NDArray[Any]) -> str | None:
    """Return the first edge that joins two trees or comes before a forest edge on its cycle, or None."""
    look = partial(first_violation, (graph.offsets, graph.targets, keys, 0, 0), up, (ranked, keys[ranked]))
    found = in_threads(look, balanced_ranges(graph.offsets, _RANGES_PER_THREAD * threads()))
    for edge, rank in found:
        if edge >= 0:
            return describe_violation(graph, edge, None if rank < 0 else int(ranked[rank]))
    return None


@njit
def unite_by_size(u: Any, v: Any, up: Any, size: Any) -> int:
    """Build the merge forest of the edges {u[r], v[r]}; return the rank of one that closes a cycle, or −1."""
    for rank in range(len(u)):
        a, b = u[rank], v[rank]
        while up[a, 0] != a:
            a = np.int64(up[a, 0])
        while up[b, 0] != b:
            b = np.int64(up[b, 0])
        if a == b:
            return rank
        if size[a] > size[b]:
            a, b = b, a
        up[a, 0] = b
        up[a, 1] = rank
        size[b] += size[a]
    return -1


@inner_njit
def _path_maximum(up: Any, a: Any, b: Any) -> int:
    """Return the greatest rank on the forest path from ``a`` to ``b``, or −1 where there is no path."""
    rank = -1
    while a != b:
        rank_a, rank_b = up[a, 1], up[b, 1]
        if rank_a < rank_b:
            a, rank = up[a, 0], rank_a
        elif rank_b < rank_a:
            b, rank = up[b, 0], rank_b
        else:  # ranks are unique: two roots
            return -1
    return rank


@njit
def first_violation(rows: tuple[Any, ...], up: Any, forest: tuple[Any, ...], start: int, stop: int) -> tuple[int, int]:
    """Return the first edge of rows [start, stop) that refutes the forest, or −1.

    With it comes the rank of the forest edge that it comes before, or −1 where it joins two trees.  The rows may be a
    rank's: with them come the vertex of row 0, and its first arc's place in the whole graph.
    """
    (offsets, targets, keys, first_vertex, first_arc), (ranked, ranked_keys) = rows, forest
    for row in range(start, stop):
        u = targets.dtype.type(first_vertex + row)
        first = offsets[row + 1]
        while first > offsets[row] and targets[first - 1] > u:
            first -= 1
        for arc in range(first, offsets[row + 1]):
            rank, edge = _path_maximum(up, u, targets[arc]), first_arc + arc
            if rank < 0:
                return arc, -1
            # A forest edge finds itself, and is not before itself.
            if keys[arc] < ranked_keys[rank] or (keys[arc] == ranked_keys[rank] and edge < ranked[rank]):
                return arc, rank
    return -1, -1


# ------------------------------------------------------------------ what shows it

# ------------------------------------------------------------------ oracle

_MOST = 2**31 - 1
"""SciPy's graph routines index by int32."""


def reference_forest(graph: CSRGraph) -> NDArray[np.int64]:
    """Return the canonical ids of the minimum spanning forest of an undirected graph, ascending.

    Takes O(m log m) time on one thread and some 60 bytes an edge.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    ids = np.flatnonzero(graph.targets > tails)
    if len(ids) == 0:
        return ids
    order = np.argsort(graph.weights[ids], kind="stable")  # ids ascend, so that equal weights go by id
    ranks = np.empty(len(ids), np.float64)
    ranks[order] = np.arange(1, len(ids) + 1)
    shape = (graph.vertices, graph.vertices)
    offsets = np.searchsorted(ids, graph.offsets).astype(np.int32)  # before SciPy 1.16 its routines take no other
    upper: csr_array[np.float64] = csr_array((ranks, graph.targets[ids], offsets), shape)
    chosen = minimum_spanning_tree(upper).data.astype(np.int64) - 1
    return np.sort(ids[order[chosen]])


def check_against_reference(graph: CSRGraph, forest: Forest) -> Verdict:
    """Compare a forest with the oracle's, edge for edge; the verdict names the first edge that differs."""
    if graph.vertices > _MOST or graph.edges > _MOST:
        what = f"SciPy takes at most {_MOST} vertices and edges; use --verify certificate"
        return Verdict("skipped", "reference", what)
    if (wrong := check_ids(graph, forest.edges)) is not None:
        return Verdict("failed", "reference", wrong)
    expected = reference_forest(graph)
    for edge in np.setxor1d(forest.edges, expected)[:1].tolist():
        how = "belongs to the reference forest and is missing"
        if edge in forest.edges:
            how = "is in the forest and not in the reference"
        return Verdict("failed", "reference", f"{describe_edge(graph, edge)} {how}")
    if (wrong := check_totals(forest, reference_sum(graph.weights[expected]))) is not None:
        return Verdict("failed", "reference", wrong)
    return Verdict("passed", "reference", f"the same {len(expected)} edges as SciPy's forest of the canonical ranks")
