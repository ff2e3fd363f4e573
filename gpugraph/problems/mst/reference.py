"""The oracle: SciPy's minimum spanning tree, made exact and unique.

SciPy drops edges of weight zero, computes in float64 and breaks ties its own way.  So it is given, instead of
the weights, the edges' *ranks* in canonical order, from 1 on: small integers, all different, and the minimum
spanning forest of the ranks is that of the weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpugraph.exact import exact_sum
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.edges import describe_edge
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.verify import check_totals

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
    upper: csr_array[np.float64] = csr_array((ranks, graph.targets[ids], np.searchsorted(ids, graph.offsets)), shape)
    chosen = minimum_spanning_tree(upper).data.astype(np.int64) - 1
    return np.sort(ids[order[chosen]])


def check_against_reference(graph: CSRGraph, forest: Forest) -> Verdict:
    """Compare a forest with the oracle's, edge for edge; the verdict names the first edge that differs."""
    if graph.vertices > _MOST or graph.edges > _MOST:
        what = f"SciPy takes at most {_MOST} vertices and edges; use --verify certificate"
        return Verdict("skipped", "reference", what)
    expected = reference_forest(graph)
    if not np.array_equal(forest.edges, expected):
        return Verdict("failed", "reference", _first_difference(graph, forest.edges, expected))
    wrong = check_totals(graph, forest, exact_sum(graph.weights[expected]), graph.vertices - len(expected))
    if wrong is not None:
        return Verdict("failed", "reference", wrong)
    return Verdict("passed", "reference", f"the same {len(expected)} edges as SciPy's forest of the canonical ranks")


def _first_difference(graph: CSRGraph, edges: NDArray[np.int64], expected: NDArray[np.int64]) -> str:
    """Return what is wrong with the edge of the smallest id that the two lists do not share once each."""
    outside = edges[(edges < 0) | (edges >= graph.arcs)]
    if len(outside):
        return f"edge id {outside[0]} is outside the graph, whose arcs are 0..{graph.arcs - 1}"
    found, times = np.unique(edges, return_counts=True)
    different = np.setxor1d(found, expected)
    repeated = found[times > 1]
    if len(repeated) and (len(different) == 0 or repeated[0] < different[0]):
        return f"{describe_edge(graph, int(repeated[0]))} appears {int(times[times > 1][0])} times in the forest"
    if len(different) == 0:
        return "the forest's edges are those of the reference, but not in ascending order"
    edge = int(different[0])
    if edge in expected:
        return f"{describe_edge(graph, edge)} belongs to the reference forest and is missing"
    return f"{describe_edge(graph, edge)} is in the forest and not in the reference"
