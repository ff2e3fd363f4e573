"""The oracle and the certificate catch every damaged forest, and name the first counter-example."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst import verify
from gpugraph.problems.mst.forest import Forest, edge_ids
from gpugraph.problems.mst.verify import check_against_reference, check_certificate
from tests.problems.mst.helpers import forest_by, random_graph
from tests.zoo import undirected, zoo

# Forest: 0–3 (1), 2–3 (2), 1–2 (3), 4–5 (6). Outside it: 0–1 (4), 0–2 (9), and 1–3 (3), equal to 1–2.
GRAPH = undirected(7, [(0, 1, 4), (1, 2, 3), (2, 3, 2), (0, 3, 1), (0, 2, 9), (1, 3, 3), (4, 5, 6)])

CHECKS: dict[str, Callable[[CSRGraph, Forest], Verdict]] = {
    "reference": check_against_reference,
    "certificate": check_certificate,
}


def ids(*pairs: tuple[int, int]) -> np.ndarray:
    """Return the ids of edges of GRAPH, ascending."""
    u, v = np.array(pairs).T
    return np.sort(edge_ids(GRAPH, u, v))


def damaged(*pairs: tuple[int, int]) -> Forest:
    """Return the forest of edges of GRAPH."""
    return Forest.of(GRAPH, ids(*pairs))


RIGHT = forest_by("kruskal", GRAPH)
BACKWARD = int(GRAPH.offsets[3])  # the arc 3→0

MUTATIONS: dict[str, tuple[Forest, str, str]] = {
    "a heavier edge": (
        damaged((0, 3), (2, 3), (0, 1), (4, 5)),
        "edge (0, 1) of weight 4 is in the forest and not in the reference",
        "edge (1, 2) of weight 3 comes before forest edge (0, 1) of weight 4 on its cycle",
    ),
    "an equal edge that is not canonical": (
        damaged((0, 3), (2, 3), (1, 3), (4, 5)),
        "edge (1, 2) of weight 3 belongs to the reference forest and is missing",
        "edge (1, 2) of weight 3 comes before forest edge (1, 3) of weight 3 on its cycle "
        "(equal weight, smaller endpoints)",
    ),
    "an edge dropped": (
        damaged((0, 3), (1, 2), (4, 5)),
        "edge (2, 3) of weight 2 belongs to the reference forest and is missing",
        "edge (0, 1) of weight 4 joins two trees: the forest does not span the graph",
    ),
    "a cycle closed": (
        damaged((0, 3), (2, 3), (1, 2), (0, 2), (4, 5)),
        "edge (0, 2) of weight 9 is in the forest and not in the reference",
        "edge (0, 2) of weight 9 closes a cycle of forest edges",
    ),
    "an edge dropped and a cycle closed": (
        damaged((0, 3), (2, 3), (1, 2), (0, 1)),
        "edge (0, 1) of weight 4 is in the forest and not in the reference",
        "edge (0, 1) of weight 4 closes a cycle of forest edges",
    ),
    "an edge twice": (
        Forest.of(GRAPH, np.append(RIGHT.edges, ids((2, 3)))),
        "edge (2, 3) of weight 2 appears twice in the forest",
        "edge (2, 3) of weight 2 appears twice in the forest",
    ),
    "a wrong total": (
        Forest(GRAPH, RIGHT.edges, 13, RIGHT.components),
        "the total weight is 12, not 13",
        "the total weight is 12, not 13",
    ),
    "a wrong number of components": (
        Forest(GRAPH, RIGHT.edges, 12, 2),
        "the number of components is 3, not 2",
        "the number of components is 3, not 2",
    ),
    "ids out of order": (
        Forest(GRAPH, RIGHT.edges[::-1].copy(), 12, 3),
        f"edge ids do not ascend: {RIGHT.edges[-2]} after {RIGHT.edges[-1]}",
        f"edge ids do not ascend: {RIGHT.edges[-2]} after {RIGHT.edges[-1]}",
    ),
    "an id beyond the graph": (
        Forest.of(GRAPH, np.append(RIGHT.edges[:-1], 99)),
        "edge id 99 is outside the graph, whose arcs are 0..13",
        "edge id 99 is outside the graph, whose arcs are 0..13",
    ),
    "a negative id": (
        Forest.of(GRAPH, np.append(RIGHT.edges[:-1], -1)),
        "edge id -1 is outside the graph, whose arcs are 0..13",
        "edge id -1 is outside the graph, whose arcs are 0..13",
    ),
    "a reverse arc": (
        Forest.of(GRAPH, np.append(ids((2, 3), (1, 2), (4, 5)), BACKWARD)),
        f"edge id {BACKWARD} is the arc 3→0; canonical ids are arcs to the larger endpoint",
        f"edge id {BACKWARD} is the arc 3→0; canonical ids are arcs to the larger endpoint",
    ),
    "no edge at all": (
        Forest.of(GRAPH, np.zeros(0, np.int64)),
        "edge (0, 3) of weight 1 belongs to the reference forest and is missing",
        "edge (0, 1) of weight 4 joins two trees: the forest does not span the graph",
    ),
}


@pytest.mark.parametrize("check", CHECKS)
def test_the_right_forest_passes(check: str) -> None:
    verdict = CHECKS[check](GRAPH, RIGHT)
    assert (verdict.status, verdict.method) == ("passed", check)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_damaged_forest_is_caught_with_its_counter_example(mutation: str, check: str) -> None:
    forest, by_reference, by_certificate = MUTATIONS[mutation]
    verdict = CHECKS[check](GRAPH, forest)
    assert (verdict.status, verdict.method) == ("failed", check)
    assert verdict.detail == (by_reference if check == "reference" else by_certificate)


@pytest.mark.parametrize("check", CHECKS)
def test_the_counter_example_is_named_as_in_the_file(check: str) -> None:
    named = GRAPH.renamed(vertex_names=np.array([10, 20, 30, 40, 50, 60, 70]))
    verdict = CHECKS[check](named, Forest.of(named, ids((2, 3), (1, 2), (4, 5))))
    assert "in the file (10, " in verdict.detail


@pytest.mark.parametrize("check", CHECKS)
def test_an_undefined_total_of_infinities_equals_itself(check: str) -> None:
    graph = undirected(3, [(0, 1, np.inf), (1, 2, -np.inf)], "float64")
    forest = forest_by("boruvka", graph)
    assert np.isnan(forest.total_weight)
    assert CHECKS[check](graph, forest).passed
    assert not CHECKS[check](graph, Forest(graph, forest.edges, 0.0, 1)).passed


def test_the_first_counter_example_of_a_large_graph_is_the_smallest_edge() -> None:
    graph = random_graph(3_000, 60_000, 2**30, 3)
    right = forest_by("kruskal", graph)
    dropped = Forest.of(graph, np.delete(right.edges, 1000))
    labels = dropped.labels
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    first = np.flatnonzero((labels[tails] != labels[graph.targets]) & (tails < graph.targets))[0]
    detail = check_certificate(graph, dropped).detail
    assert detail.startswith(f"edge ({tails[first]}, {graph.targets[first]}) of weight {graph.weights[first]} joins")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_no_other_spanning_forest_passes(data: st.DataObject) -> None:
    graph = random_graph(12, 40, 2, data.draw(st.integers(0, 1000)))
    right = forest_by("prim", graph)
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    edges = np.flatnonzero(graph.targets > tails)
    other = np.sort(np.array(data.draw(st.permutations(edges.tolist())))[: len(right.edges)])
    assume(not np.array_equal(other, right.edges))
    forest = Forest.of(graph, other)
    assert not check_certificate(graph, forest).passed
    assert not check_against_reference(graph, forest).passed


def test_a_graph_too_large_for_scipy_is_skipped_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "_MOST", 100)
    graph = zoo("random")
    verdict = check_against_reference(graph, forest_by("prim", graph))
    assert verdict.status == "skipped"
    assert "--verify certificate" in verdict.detail
