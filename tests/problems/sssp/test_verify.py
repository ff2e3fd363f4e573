"""The checkers are checked: every mutation of a right result is caught, with the counter-example named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.arcs import unreached
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.problem import PROBLEM
from tests.problems.sssp.small_graphs import SEARCHABLE, expected_distances, graphs
from tests.tiers import drawn
from tests.zoo import directed, undirected, zoo

CHECKERS = {"reference": PROBLEM.reference, "certificate": PROBLEM.certificate}
both_checkers = pytest.mark.parametrize("method", sorted(CHECKERS))


def right(graph: CSRGraph, source: int = 0) -> Distances:
    return Distances(graph, source, expected_distances(graph, source)).with_predecessors()


def check(method: str, result: Distances, source: int = 0) -> Verdict:
    verdict = CHECKERS[method](result.graph, (source,), result)
    assert verdict.method == method
    return verdict


def with_distance(result: Distances, vertex: int, distance: Any) -> Distances:
    changed = result.raw.copy()
    changed[vertex] = distance
    return replace(result, raw=changed, predecessor=None)


@both_checkers
@pytest.mark.parametrize("name", SEARCHABLE)
def test_a_right_result_passes(method: str, name: str) -> None:
    verdict = check(method, right(zoo(name)))
    assert verdict.passed, verdict.detail


MUTATED = ("path", "grid", "random", "float32", "float64", "directed-random", "star", "caterpillar", "huge-weights")


@both_checkers
@pytest.mark.parametrize("name", MUTATED)
def test_a_distance_too_low_is_caught(method: str, name: str) -> None:
    result = right(zoo(name))
    vertex = int(np.argmax(np.where(result.reached, result.raw, 0)))
    held = result.raw[vertex]
    lower = held - 1 if held.dtype.kind == "u" else np.nextafter(held, held.dtype.type(0))
    verdict = check(method, with_distance(result, vertex, lower))
    assert verdict.status == "failed"
    assert str(vertex) in verdict.detail


@both_checkers
@pytest.mark.parametrize("name", MUTATED)
def test_a_distance_too_high_is_caught(method: str, name: str) -> None:
    result = right(zoo(name))
    vertex = int(np.argmax(np.where(result.reached, result.raw, 0)))
    verdict = check(method, with_distance(result, vertex, result.raw[vertex] * 2))
    assert verdict.status == "failed"
    assert str(vertex) in verdict.detail


@both_checkers
def test_a_reached_vertex_marked_as_unreached_is_caught(method: str) -> None:
    result = right(zoo("grid"))
    verdict = check(method, with_distance(result, 80, unreached(result.raw.dtype)))
    assert verdict.status == "failed"
    assert "80" in verdict.detail


@both_checkers
def test_an_unreached_vertex_with_a_distance_is_caught(method: str) -> None:
    result = right(zoo("two-components"))
    verdict = check(method, with_distance(result, 8, 3))
    assert verdict.status == "failed"
    assert "vertex 8" in verdict.detail


@both_checkers
def test_a_cycle_of_zero_weights_cut_off_from_the_source_is_caught(method: str) -> None:
    graph = directed(5, [(0, 1, 4), (2, 3, 0), (3, 4, 0), (4, 2, 0)])
    distance = np.array([0, 4, 3, 3, 3], np.uint64)
    verdict = check(method, Distances(graph, 0, distance))
    assert verdict.status == "failed"
    assert "vertex 2" in verdict.detail


@both_checkers
def test_a_cycle_of_zero_weights_pulled_below_its_entry_is_caught(method: str) -> None:
    graph = undirected(4, [(0, 1, 4), (1, 2, 0), (2, 3, 0), (1, 3, 0)])
    verdict = check(method, Distances(graph, 0, np.array([0, 3, 3, 3], np.uint64)))
    assert verdict.status == "failed"
    assert "vertex 1" in verdict.detail


@both_checkers
def test_a_source_with_a_distance_is_caught(method: str) -> None:
    graph = undirected(2, [(0, 1, 0)])
    verdict = check(method, Distances(graph, 0, np.array([5, 5], np.uint64)))
    assert verdict.status == "failed"
    assert "0" in verdict.detail


@both_checkers
def test_a_negative_distance_and_a_distance_that_is_no_number_are_caught(method: str) -> None:
    result = right(zoo("float64"))
    for nonsense in (-1.0, np.nan):
        assert check(method, with_distance(result, 5, nonsense)).status == "failed"


@both_checkers
def test_the_result_of_another_source_is_caught(method: str) -> None:
    result = right(zoo("grid"), source=1)
    assert check(method, result, source=0).detail == "the result is for source 1, not 0"
    assert check(method, replace(result, source=0)).status == "failed"


@both_checkers
def test_distances_of_another_shape_or_type_are_caught(method: str) -> None:
    result = right(zoo("grid"))
    assert "shape" in check(method, replace(result, raw=result.raw[:-1])).detail
    assert "float64" in check(method, replace(result, raw=result.raw.astype(float))).detail
    assert "shape" in check(method, replace(result, predecessor=result.predecessor[:-1])).detail


@both_checkers
def test_a_vertex_hung_elsewhere_is_caught(method: str) -> None:
    result = right(zoo("grid"))
    assert result.predecessor is not None
    rehung = result.predecessor.copy()
    rehung[40] = 3
    verdict = check(method, replace(result, predecessor=rehung))
    assert verdict.status == "failed"
    assert f"vertex 40 has predecessor 3, the canonical one is {result.predecessor[40]}" in verdict.detail


@both_checkers
def test_a_tight_predecessor_that_is_not_the_smallest_is_caught(method: str) -> None:
    result = right(zoo("grid-equal"))
    assert result.predecessor is not None
    rehung = result.predecessor.copy()
    rehung[9] = 8
    assert rehung[9] != result.predecessor[9]
    assert "vertex 9" in check(method, replace(result, predecessor=rehung)).detail


@both_checkers
def test_the_detail_names_vertices_as_the_file_does(method: str) -> None:
    graph = zoo("path").renamed(vertex_names=np.arange(40) * 10 + 7)
    result = with_distance(right(graph), 39, 1)
    assert "39 (named 397)" in check(method, result).detail


@both_checkers
def test_float32_sums_are_checked_in_float32(method: str) -> None:
    graph = undirected(3, [(0, 1, 1.0), (1, 2, 1e-8)], "float32")
    assert check(method, Distances(graph, 0, np.array([0, 1, 1], np.float32))).passed
    assert check(method, Distances(graph, 0, np.array([0, 1, 1], np.float64))).status == "failed"
    higher = np.array([0, 1, np.nextafter(np.float32(1), np.float32(2))], np.float32)
    assert check(method, Distances(graph, 0, higher)).status == "failed"


def test_a_wrapped_distance_left_out_is_caught() -> None:
    graph = directed(3, [(0, 1, 2**63), (1, 2, 2**63)], "uint64")
    result = Distances(graph, 0, np.array([0, 2**63, 2**64 - 1], np.uint64))
    assert "does not fit in 64 bits" in PROBLEM.certificate(graph, (0,), result).detail


def test_sums_beyond_the_floats_count_as_unreached() -> None:
    graph = directed(3, [(0, 1, 1e308), (1, 2, 1e308)], "float64")
    result = right(graph)
    assert result.reached.tolist() == [True, True, False]
    assert PROBLEM.certificate(graph, (0,), result).passed


@drawn(150)
@given(graph=graphs(), data=st.data())
def test_the_certificate_holds_for_the_right_distances_and_no_others(graph: CSRGraph, data: st.DataObject) -> None:
    result = right(graph)
    assert PROBLEM.certificate(graph, (0,), result).passed
    vertex = data.draw(st.integers(0, graph.vertices - 1))
    values = [*result.raw.tolist(), 0, 1, unreached(result.raw.dtype)]
    value = result.raw.dtype.type(data.draw(st.sampled_from(values)))
    changed = with_distance(result, vertex, value)
    verdict = PROBLEM.certificate(graph, (0,), changed)
    assert verdict.passed == (value == result.raw[vertex])
