"""Any minimum spanning forest is right, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.ext.peers.mst import PeerForest, each_once, forest_of_pairs
from gpugraph.graph.csr import CSRGraph
from gpugraph.measure.check import check
from gpugraph.problems.mst.forest import Forest, edge_endpoints
from gpugraph.problems.mst.problem import PROBLEM as MST
from gpugraph.problems.mst.verify import reference_forest
from tests.zoo import UNDIRECTED, undirected, zoo

METHODS = ("reference", "certificate", "both")


def forest_in_order(graph: CSRGraph, order: Any) -> Any:
    """Return the edges that Kruskal's algorithm takes if it meets them in an order."""
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    ids = np.flatnonzero(graph.targets > tails)
    root = list(range(graph.vertices))

    def find(v: int) -> int:
        while root[v] != v:
            v = root[v]
        return v

    taken = []
    for edge in ids[order(ids)].tolist():
        u, v = find(int(tails[edge])), find(int(graph.targets[edge]))
        if u != v:
            root[u] = v
            taken.append(edge)
    return np.array(taken, np.int64)


def peers_forest(graph: CSRGraph, edges: Any, first: list[PeerForest] | None = None) -> PeerForest:
    return forest_of_pairs(graph, *edge_endpoints(graph, edges), "peer:fake", [] if first is None else first)


def judged(graph: CSRGraph, forest: Forest, method: str) -> Any:
    return check(MST, graph, (), forest, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", UNDIRECTED)
def test_a_forest_with_all_ties_broken_the_other_way_is_right(name: str, method: str) -> None:
    graph = zoo(name)
    edges = forest_in_order(graph, lambda ids: np.lexsort((-ids, graph.weights[ids])))
    verdict = judged(graph, peers_forest(graph, edges), method)
    assert verdict.passed, verdict.detail
    canonical = np.array_equal(np.sort(edges), reference_forest(graph))
    assert ("same weight, other ties" in verdict.detail) is not canonical


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [n for n in UNDIRECTED if len(np.unique(zoo(n).weights)) > 1])
def test_a_spanning_forest_that_is_heavier_is_wrong(name: str, method: str) -> None:
    graph = zoo(name)
    edges = forest_in_order(graph, lambda ids: np.lexsort((ids, graph.weights[ids]))[::-1])
    lightest = Forest.of(graph, reference_forest(graph))
    forest = peers_forest(graph, edges)
    assert judged(graph, forest, method).passed is (
        sorted(graph.weights[edges]) == sorted(lightest.graph.weights[lightest.edges])
    )


@pytest.mark.parametrize("method", METHODS)
def test_what_is_missing_doubled_foreign_or_cyclic_is_wrong(method: str) -> None:
    graph = zoo("grid-two-weights")
    right = reference_forest(graph)
    missing = judged(graph, peers_forest(graph, right[1:]), method)
    assert missing.status == "failed"
    assert "does not span" in missing.detail
    doubled = judged(graph, peers_forest(graph, np.append(right[1:], right[-1])), method)
    assert doubled.status == "failed"
    foreign = forest_of_pairs(graph, np.array([0]), np.array([63]), "peer:fake", [])
    assert "edge (0, 63), which the graph does not have" in judged(graph, foreign, method).detail
    outside = forest_of_pairs(graph, np.array([0]), np.array([64]), "peer:fake", [])
    assert judged(graph, outside, method).status == "failed"
    others = np.setdiff1d(np.flatnonzero(graph.targets > np.repeat(np.arange(64), graph.degrees)), right)
    cyclic = judged(graph, peers_forest(graph, np.append(right, others[0])), method)
    assert cyclic.status == "failed"


def test_a_counter_example_is_a_lighter_edge_and_never_a_tie() -> None:
    graph = undirected(5, [(0, 1, 1), (1, 2, 1), (0, 2, 1), (2, 3, 4), (3, 4, 5), (2, 4, 9)])
    tail = np.repeat(np.arange(5), graph.degrees)
    ids = {(int(tail[i]), int(graph.targets[i])): i for i in range(graph.arcs)}
    wrong = np.array([ids[1, 2], ids[0, 2], ids[2, 3], ids[2, 4]])
    verdict = judged(graph, peers_forest(graph, wrong), "both")
    assert verdict.status == "failed"
    assert "edge (3, 4) of weight 5 comes before forest edge (2, 4) of weight 9" in verdict.detail
    assert "equal weight" not in verdict.detail


def test_scipys_own_peer_is_not_checked_against_scipy() -> None:
    graph = zoo("random")
    forest = forest_of_pairs(graph, *edge_endpoints(graph, reference_forest(graph)), "peer:scipy", [])
    assert judged(graph, forest, "reference").method == "certificate"


@given(st.integers(0, 10**6), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_exactly_the_forests_of_least_weight_pass(seed: int, weights: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(rng.integers(0, 9, 2).tolist())) for _ in range(16)}
    graph = undirected(9, [(u, v, int(rng.integers(weights))) for u, v in sorted(pairs) if u != v])
    edges = forest_in_order(graph, lambda ids: rng.permutation(len(ids)))
    least = int(graph.weights[reference_forest(graph)].sum())
    for method in METHODS:
        passed = judged(graph, peers_forest(graph, edges), method).passed
        assert passed is (int(graph.weights[edges].sum()) == least)


def test_later_samples_may_break_ties_otherwise_but_may_not_be_wrong() -> None:
    graph = zoo("grid-equal")
    first: list[PeerForest] = []
    one = peers_forest(graph, forest_in_order(graph, lambda ids: np.arange(len(ids))), first).fingerprint()
    other = peers_forest(graph, forest_in_order(graph, lambda ids: np.arange(len(ids))[::-1]), first)
    assert other.fingerprint() == one
    short = peers_forest(graph, other.edges[1:], first)
    assert short.fingerprint() != one


def test_edges_listed_both_ways_count_once() -> None:
    graph = zoo("triangle")
    forest = forest_of_pairs(graph, *each_once(np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])), "peer:fake", [])
    assert judged(graph, forest, "both").passed
