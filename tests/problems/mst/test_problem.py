"""The forest and the problem's definitions."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pytest

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.mst.forest import Forest, edge_ids
from gpugraph.problems.mst.problem import PROBLEM
from gpugraph.problems.mst.verify import describe_edge
from gpugraph.problems.registry import load_problem
from tests.problems.mst.helpers import forest_by, random_graph
from tests.zoo import undirected, zoo

SQUARE = [(0, 1, 4), (1, 2, 3), (2, 3, 2), (0, 3, 1), (0, 2, 9)]


def test_a_forest_is_made_of_edges_in_any_order() -> None:
    graph = undirected(6, SQUARE)
    ids = edge_ids(graph, np.array([3, 2, 1]), np.array([0, 3, 2]))
    forest = Forest.of(graph, ids)
    assert forest.edges.tolist() == sorted(ids.tolist())
    assert (forest.total_weight, forest.components) == (6, 3)
    assert [ends.tolist() for ends in forest.endpoints()] == [[0, 1, 2], [3, 2, 3]]


def test_a_forest_looked_up_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(60, 200, 20, 5)
    whole = forest_by("kruskal", graph)
    monkeypatch.setattr("gpugraph.problems.mst.forest._PIECE", 3)
    pieces = Forest.of(graph, whole.edges[::-1])
    pairs = np.stack(whole.endpoints(), axis=1)
    assert pieces.edges.tolist() == whole.edges.tolist()
    assert pieces.edges_sha256 == hashlib.sha256(pairs.astype("<i8").tobytes()).hexdigest()
    assert pieces.total_weight == int(graph.weights[whole.edges].sum())


def test_labels_are_the_smallest_vertices_of_the_components() -> None:
    assert forest_by("kruskal", zoo("two-components")).labels.tolist() == [0, 0, 0, 3, 4, 5, 5, 5, 8]
    assert forest_by("kruskal", zoo("isolated-vertices")).labels.tolist() == [0, 1, 2, 3, 4]
    assert forest_by("kruskal", zoo("no-vertex")).labels.tolist() == []


def test_the_summary_digest_is_over_the_sorted_pairs() -> None:
    forest = forest_by("prim", undirected(4, SQUARE))
    pairs = struct.pack("<6q", 0, 3, 1, 2, 2, 3)
    assert forest.summary() == {
        "total_weight": 6,
        "tree_edges": 3,
        "components": 1,
        "edges_sha256": hashlib.sha256(pairs).hexdigest(),
    }


def test_the_empty_forest_has_a_summary() -> None:
    empty = hashlib.sha256().hexdigest()
    expected = {"total_weight": 0, "tree_edges": 0, "components": 0, "edges_sha256": empty}
    assert forest_by("boruvka", zoo("no-vertex")).summary() == expected


@pytest.mark.parametrize(("name", "kind"), [("int64", int), ("uint64", int), ("float32", float)])
def test_the_total_weight_is_a_python_number(name: str, kind: type) -> None:
    forest = forest_by("kruskal", zoo(name))
    assert type(forest.total_weight) is kind
    assert forest.total_weight == pytest.approx(sum(forest.graph.weights[forest.edges].tolist()))


def test_a_total_beyond_64_bits_is_exact() -> None:
    graph = undirected(41, [(i, i + 1, 2**63 - 1) for i in range(40)], "uint64")
    assert forest_by("boruvka", graph).total_weight == 40 * (2**63 - 1)


def test_an_infinite_edge_joins_the_forest_and_its_total() -> None:
    forest = forest_by("boruvka", zoo("float-infinite"))
    assert (len(forest.edges), forest.total_weight, forest.components) == (4, float("inf"), 1)


def test_the_fingerprint_tells_forests_apart() -> None:
    graph = zoo("random")
    forest = forest_by("kruskal", graph)
    others = [
        Forest.of(graph, forest.edges[1:]),
        Forest(graph, forest.edges, forest.total_weight + 1, forest.components),
        Forest(graph, forest.edges, forest.total_weight, forest.components + 1),
    ]
    assert forest.fingerprint() == Forest.of(graph, forest.edges[::-1]).fingerprint()
    assert forest.fingerprint() not in {other.fingerprint() for other in others}


def test_a_forest_of_ids_outside_the_graph_can_be_made_and_summarised() -> None:
    graph = zoo("triangle")
    forest = Forest.of(graph, np.array([-5, 0, 10**12]))
    assert forest.summary()["total_weight"] == int(graph.weights[0])


def test_edge_ids_are_found_from_either_direction() -> None:
    graph = random_graph(300, 2000, 9, 1)
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    up = np.flatnonzero(graph.targets > tails)
    assert edge_ids(graph, tails[up], graph.targets[up]).tolist() == up.tolist()
    assert edge_ids(graph, graph.targets[up], tails[up]).tolist() == up.tolist()


def test_an_edge_that_does_not_exist_has_no_id() -> None:
    graph = undirected(6, SQUARE)
    assert edge_ids(graph, np.array([1, 4, 2]), np.array([3, 5, 2])).tolist() == [-1, -1, -1]


def test_an_edge_is_described_with_the_files_own_ids() -> None:
    graph = undirected(3, [(0, 1, 5), (1, 2, 7)])
    named = graph.renamed(vertex_names=np.array(["a", "b", "c"]))
    edge = int(edge_ids(graph, np.array([1]), np.array([2]))[0])
    assert describe_edge(graph, edge) == "edge (1, 2) of weight 7"
    assert describe_edge(named, edge) == "edge (1, 2), in the file (b, c), of weight 7"


def test_a_directed_graph_is_admitted_with_its_lighter_arcs() -> None:
    graph = PROBLEM.admit(zoo("directed-unequal"))
    assert not graph.directed
    assert forest_by("prim", graph).total_weight == 3 + 2 + 1


def test_an_undirected_graph_is_admitted_as_it_is() -> None:
    graph: CSRGraph = zoo("random")
    assert PROBLEM.admit(graph) is graph


def test_the_work_is_the_undirected_edges() -> None:
    graph = zoo("complete")
    assert PROBLEM.work(graph, forest_by("prim", graph)) == 24 * 23 // 2
    assert PROBLEM.counted == "undirected edges"
    assert PROBLEM.counted in PROBLEM.definition


def test_there_is_one_query_and_it_is_empty() -> None:
    assert list(PROBLEM.queries(zoo("random"), {})) == [()]


def test_the_problem_is_found_by_name() -> None:
    assert load_problem("mst") is PROBLEM
    assert PROBLEM.auto(zoo("random"), "cpu") == "boruvka"
