from __future__ import annotations

import numpy as np
from hypothesis import given
from scipy import sparse

from gpugraph.ext.papers.sssp.frontier_dijkstra_cpu import predecessors
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import Arcs
from tests.problems.sssp.small_graphs import graphs
from tests.tiers import drawn
from tests.zoo import directed, zoo


@drawn(60)
@given(graph=graphs())
def test_the_rows_are_those_of_the_transposed_matrix(graph: CSRGraph) -> None:
    found, n = predecessors(graph), graph.vertices
    positions = np.arange(1, graph.arcs + 1)  # instead of weights, of which some are zero
    right = sparse.csr_array((positions, graph.targets, graph.offsets), (n, n)).transpose().tocsr()
    right.sort_indices()
    np.testing.assert_array_equal(found.offsets, right.indptr)
    np.testing.assert_array_equal(found.targets, right.indices)
    np.testing.assert_array_equal(found.weights, Arcs.of(graph).weights[right.data - 1])


def test_an_undirected_graph_is_its_own_transpose_and_not_copied() -> None:
    assert np.shares_memory(predecessors(zoo("grid")).targets, zoo("grid").targets)


def test_a_graph_without_arcs_has_a_transpose() -> None:
    found = predecessors(directed(3, []))
    assert found.offsets.tolist() == [0, 0, 0, 0]
    assert found.targets.dtype == np.int32
