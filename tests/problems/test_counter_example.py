"""What is drawn of a wrong result: the graph, or the part of it, with what is wrong and what is missing."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from gpugraph.ext.charts.chart import LIGHT, PAGE
from gpugraph.ext.charts.counter_example import shape_of_verdict, sketch, svg
from gpugraph.ext.components.labels import Components
from gpugraph.ext.counter_examples.part import MISSING, OTHER, PATH, RIGHT, WRONG
from gpugraph.graph.open import open_graph
from gpugraph.measure.check import check
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.verify import reference_forest
from gpugraph.problems.registry import load_problem
from gpugraph.problems.sssp.arcs import distance_dtype
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.verify import reference_distances
from gpugraph.report.terminal import plain
from tests.tiers import only
from tests.zoo import COMMON, ZOO, has_negative_weights, zoo


def drawn(problem, graph, result, query=()):
    """Return the counter-example of a wrong result, after every way to show it has been taken."""
    verdict = check(load_problem(problem), graph, query, result, "reference")
    assert verdict.status == "failed"
    shape = shape_of_verdict(verdict)
    for ink in (LIGHT, PAGE):
        ElementTree.fromstring(svg(shape, ink))
    assert all(len(line) <= 80 for line in plain(sketch(shape)).splitlines())
    assert plain(sketch(shape, unicode=False)).isascii()
    return verdict.counter_example


def kinds(example):
    """Return the edges of each kind as pairs of names."""
    names = [name for name, _, _ in example.vertices]
    found: dict[str, set[frozenset[str]]] = {}
    for u, v, _, kind in example.edges:
        found.setdefault(kind, set()).add(frozenset((names[u], names[v])))
    return found


def pair(u, v):
    return frozenset((str(u), str(v)))


def test_a_forest_with_a_wrong_edge_shows_it_and_the_one_that_is_missing():
    graph = open_graph("grid:3x3")
    right = reference_forest(graph)
    forest_of = {int(edge) for edge in right}
    heads = graph.targets
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    other = next(i for i in range(graph.arcs) if tails[i] < heads[i] and i not in forest_of)
    for gone in right:
        swapped = Forest.of(graph, np.append(right[right != gone], other))
        if len(set(swapped.labels.tolist())) == 1:
            break
    example = drawn("mst", graph, swapped)
    assert example.whole
    assert len(example.vertices) == 9
    found = kinds(example)
    assert found[WRONG] == {pair(tails[other], heads[other])}
    assert found[MISSING] == {pair(tails[gone], heads[gone])}
    assert len(found[RIGHT]) == len(right) - 1
    assert len(found[OTHER]) == graph.edges - len(right) - 1


def test_a_forest_of_a_large_graph_shows_a_cycle_and_what_was_left_out_of_it():
    graph = open_graph("path:500,w=unit")
    right = reference_forest(graph)
    example = drawn("mst", graph, Forest.of(graph, right[:-1]))
    assert not example.whole
    assert kinds(example)[MISSING] == {pair(498, 499)}
    ring = open_graph("rmat:10")
    expected = reference_forest(ring)
    lacking = drawn("mst", ring, Forest.of(ring, expected[5:]))
    assert MISSING in kinds(lacking)
    assert len(lacking.vertices) <= 16
    assert len(lacking.edges) <= 60


def test_wrong_distances_show_the_path_to_the_nearest_wrong_vertex():
    graph = open_graph("path:40,w=unit")
    distance, _ = reference_distances(graph, 0)
    distance[30:] += 5
    example = drawn("sssp", graph, Distances(graph, 0, distance), (0,))
    notes = {name: (note, wrong) for name, note, wrong in example.vertices}
    assert notes["30"] == ("35, not 30", True)
    assert notes["29"] == ("29", False)
    assert not notes["0"][1]
    found = kinds(example)
    assert pair(29, 30) in found[MISSING]
    assert len(found[PATH]) == 1
    assert any(kind == PATH and text.endswith(" edges") for _, _, text, kind in example.edges)


@pytest.mark.parametrize("spec", ["regular:n=64,in=4", "random:n=12,deg=3", "path:1"])
def test_distances_that_are_all_wrong_are_drawn_on_any_graph(spec):
    graph = open_graph(spec)
    example = drawn("sssp", graph, Distances(graph, 0, np.full(graph.vertices, 3, np.uint64)), (0,))
    assert any(wrong for _, _, wrong in example.vertices)
    assert example.directed == graph.directed


def test_wrong_labels_show_a_way_to_the_vertex_that_should_name_them():
    graph = open_graph("path:6")
    labels = np.zeros(6, np.int64)
    labels[4:] = 4
    example = drawn("components", graph, Components(graph, labels))
    assert kinds(example)[MISSING] == {pair(3, 4)}
    assert ("4", "label 4, not 0", True) in example.vertices


def test_what_is_no_answer_at_all_is_not_drawn():
    graph = open_graph("path:6")
    for problem, result, query in (
        ("mst", Forest.of(graph, np.array([10**6])), ()),
        ("sssp", Distances(graph, 0, np.zeros(5, np.uint64)), (0,)),
        ("components", Components(graph, np.zeros(5, np.int64)), ()),
    ):
        verdict = check(load_problem(problem), graph, query, result, "reference")
        assert (verdict.status, verdict.counter_example) == ("failed", None)


@pytest.mark.parametrize("name", only(COMMON, ZOO))
def test_whatever_is_wrong_on_any_graph_of_the_zoo_is_small_enough_to_be_drawn(name):
    graph = zoo(name)
    answers = {
        "mst": lambda graph: (Forest.of(graph, reference_forest(graph)[1:]), ()),
        "sssp": lambda graph: (Distances(graph, 0, np.ones(graph.vertices, distance_dtype(graph.weight_dtype))), (0,)),
        "components": lambda graph: (Components(graph, np.arange(graph.vertices)[::-1].copy()), ()),
    }
    for problem, answer in answers.items():
        if graph.vertices == 0 or (problem == "sssp" and has_negative_weights(graph)):
            continue
        admitted = load_problem(problem).admit(graph)
        result, query = answer(admitted)
        verdict = check(load_problem(problem), admitted, query, result, "reference")
        shape = shape_of_verdict(verdict)
        if verdict.status == "failed" and shape is not None:
            assert 0 < len(shape.vertices) <= 16
            assert len(shape.edges) <= 80
            ElementTree.fromstring(svg(shape, LIGHT))
