from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpugraph.base.errors import GraphFormatError
from gpugraph.graph.check import check_structure, ensure_checked
from gpugraph.graph.csr import CSRGraph
from tests.zoo import ZOO, directed, undirected, zoo

GRAPH = undirected(4, [(0, 1, 5), (0, 2, 7), (1, 2, 9)])


def _with(graph: CSRGraph, array: str, index: int, value: float) -> CSRGraph:
    changed = getattr(graph, array).copy()
    changed[index] = value
    return replace(graph, **{array: changed}, source="a.csr")


@pytest.mark.parametrize("name", ZOO)
def test_every_graph_of_the_zoo_is_sound(name: str) -> None:
    graph = zoo(name)
    check_structure(replace(graph, stored_digest=graph.digest))


@pytest.mark.parametrize(
    ("array", "index", "value", "says"),
    [
        ("offsets", 0, 1, "row offsets run from 1 to 6"),
        ("offsets", 4, 5, "row offsets fall from 6 to 5 at vertex 3"),
        ("offsets", 2, 1, "row offsets fall from 2 to 1 at vertex 1"),
        ("offsets", 1, 2**40, "row offsets fall"),
        ("offsets", 1, -1, "row offsets fall"),
        ("targets", 0, 4, "an arc of vertex 0 leads to vertex 4, but there are 4 vertices"),
        ("targets", 0, 2**31 - 1, "leads to vertex 2147483647"),
        ("targets", 0, -1, "leads to vertex -1"),
        ("targets", 0, 0, "vertex 0 has an arc to itself"),
        ("targets", 1, 1, "the targets of vertex 0 do not ascend: 1, 1"),
        ("targets", 1, 3, "undirected, but the edge 0 - 3 has the arc 0 → 3 only"),
        ("weights", 0, 6, "undirected, but the edge 0 - 1 weighs 6 one way and 5 the other"),
    ],
)
def test_damage_is_named(array: str, index: int, value: int, says: str) -> None:
    with pytest.raises(GraphFormatError, match=r"a.csr: damaged: ") as caught:
        check_structure(_with(GRAPH, array, index, value))
    assert says in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("value", "says"), [(np.nan, "nan"), (-np.nan, "nan"), (-0.0, "-0.0")])
def test_reals_that_no_graph_holds_are_refused(dtype: str, value: float, says: str) -> None:
    graph = directed(2, [(0, 1, 1.5)], dtype)
    with pytest.raises(GraphFormatError, match=f"the arc 0 → 1 has the weight {says}"):
        check_structure(_with(graph, "weights", 0, value))
    for fine in (np.inf, -np.inf, 0.0, -1.0):
        check_structure(_with(graph, "weights", 0, fine))


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "int64"])
def test_any_integer_is_a_weight(dtype: str) -> None:
    graph = directed(2, [(0, 1, 1)], dtype)
    for value in (np.iinfo(dtype).min, np.iinfo(dtype).max):
        check_structure(_with(graph, "weights", 0, value))


def test_a_digest_that_differs_is_refused() -> None:
    with pytest.raises(GraphFormatError, match=f"its digest is {GRAPH.digest}, the header says {'0' * 32}"):
        check_structure(replace(GRAPH, stored_digest="0" * 32))


def test_damage_far_inside_a_large_graph_is_found() -> None:
    n = 200_000
    offsets = np.minimum(np.arange(n + 1, dtype=np.int64), n - 1)
    graph = CSRGraph(offsets, np.arange(1, n, dtype=np.int32), np.ones(n - 1, np.uint32), True)
    check_structure(graph)
    with pytest.raises(GraphFormatError, match="vertex 150000 has an arc to itself"):
        check_structure(_with(graph, "targets", 150_000, 150_000))
    with pytest.raises(GraphFormatError, match="at vertex 150000"):
        check_structure(_with(graph, "offsets", 150_001, 0))


def test_a_graph_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[CSRGraph] = []

    def counted(graph: CSRGraph) -> None:
        calls.append(graph)
        check_structure(graph)

    monkeypatch.setattr("gpugraph.graph.check.check_structure", counted)
    graph = replace(GRAPH, stored_digest=GRAPH.digest)
    ensure_checked(graph)
    ensure_checked(graph)
    ensure_checked(GRAPH)
    assert calls == [graph]
