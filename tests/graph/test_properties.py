import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gpugraph.ext.graph_files.properties import component_sizes, degree_distribution, properties
from gpugraph.graph.view import GraphView
from tests.zoo import ZOO, directed, undirected, zoo


@pytest.mark.parametrize("name", ZOO)
def test_figures_agree_with_numpy_and_scipy(name):
    graph = zoo(name)
    found = properties(graph)
    assert (found.vertices, found.arcs, found.edges) == (graph.vertices, graph.arcs, graph.edges)
    n = graph.vertices
    matrix = csr_array((np.ones(graph.arcs), graph.targets, graph.offsets), (n, n)) if n else csr_array((1, 1))
    count, labels = connected_components(matrix, directed=graph.directed, connection="weak")
    assert found.components == (count if n else 0)
    assert sorted(component_sizes(graph)) == (sorted(np.bincount(labels)) if n else [])
    assert found.largest_component == (np.bincount(labels).max() if n else 0)
    assert found.distinct_weights == len(np.unique(graph.weights))
    assert found.least_weight == (graph.weights.min() if graph.arcs else None)
    assert found.greatest_weight == (graph.weights.max() if graph.arcs else None)
    assert found.weight_dtype == graph.weights.dtype
    assert sum(vertices for _, _, vertices in found.degrees.histogram) == n
    assert (found.in_degrees is None) is not graph.directed


@pytest.mark.parametrize("bits", [32, 64])
def test_device_bytes_are_those_of_the_plain_view(bits):
    graph = zoo("float64")
    assert getattr(properties(graph), f"device_bytes_{bits}") == GraphView.of(graph, index_bits=bits).nbytes
    assert properties(graph).host_bytes == graph.nbytes


def test_degrees_are_binned_by_powers_of_two_up_to_the_greatest():
    found = degree_distribution(np.array([0, 0, 1, 2, 3, 4, 9]))
    assert (found.least, found.median, found.greatest) == (0, 2.0, 9)
    assert found.mean == pytest.approx(19 / 7)
    assert found.histogram == ((0, 0, 2), (1, 1, 1), (2, 3, 2), (4, 7, 1), (8, 9, 1))
    assert degree_distribution(np.array([0])).histogram == ((0, 0, 1),)


def test_weights_of_every_kind_are_counted_by_edge():
    weights = [(0, 1, 0.0), (1, 2, -1.5), (2, 3, np.inf), (3, 4, -np.inf), (4, 5, 2.0)]
    found = properties(undirected(7, weights, "float64"))
    assert (found.zero_weights, found.negative_weights, found.infinite_weights) == (1, 2, 2)
    assert found.isolated == 1
    found = properties(directed(7, weights, "float64"))
    assert (found.zero_weights, found.negative_weights, found.infinite_weights) == (1, 2, 2)


def test_a_vertex_with_incoming_arcs_only_is_not_isolated():
    found = properties(directed(4, [(0, 1, 1), (2, 1, 1)]))
    assert found.isolated == 1
    assert found.in_degrees.greatest == 2
    assert found.components == 2
