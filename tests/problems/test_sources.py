"""What may be written after --source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.formats import named_sources
from gpugraph.problems.sssp.problem import PROBLEM
from tests.zoo import directed, undirected, zoo


def sources(name: str, **parameters: Any) -> list[int]:
    return [query[0] for query in PROBLEM.queries(zoo(name), parameters)]


def test_the_default_is_the_smallest_vertex_of_greatest_degree() -> None:
    assert sources("star-equal") == [35]
    assert sources("cycle-equal") == [0]
    assert sources("isolated-vertices", source="max-degree") == [0]
    assert sources("directed-unequal", source=None) == [0]


@pytest.mark.parametrize("source", [17, "17", " 17 ", np.int32(17), "index:17", " index:17 "])
def test_a_number_is_a_vertex_counted_from_zero(source: Any) -> None:
    assert sources("path", source=source) == [17]


@pytest.mark.parametrize("source", [40, -1, "40", "-1", 2**70])
def test_a_number_out_of_range_is_refused_with_the_range(source: Any) -> None:
    with pytest.raises(InputError, match=r"path: source .* is not a vertex — vertices run from 0 to 39"):
        sources("path", source=source)


@pytest.mark.parametrize("source", ["max-degre", "seventeen", "", "1.5", "random", "nam:3", "٣", "9" * 5000])
def test_anything_else_is_refused(source: str) -> None:
    with pytest.raises(InputError, match="unknown source"):
        sources("path", source=source)


def test_a_misspelt_form_gets_a_suggestion() -> None:
    with pytest.raises(InputError, match="did you mean 'max-degree'"):
        sources("path", source="max-degre")


def test_a_graph_without_vertices_has_no_source() -> None:
    with pytest.raises(InputError, match="no vertex to start from"):
        sources("no-vertex")


@pytest.mark.parametrize("names", [np.arange(40) * 3 - 9, np.array([f"v{i:02}" for i in range(40)])])
def test_a_name_is_the_id_in_the_file(names: Any) -> None:
    graph = zoo("path").renamed(vertex_names=names)
    for vertex in (0, 17, 39):
        assert PROBLEM.queries(graph, {"source": f"index:{vertex}"}) == [(vertex,)]
        assert PROBLEM.queries(graph, {"source": f"name:{names[vertex]}"}) == [(vertex,)]


@pytest.mark.parametrize("name", ["4", "-100", "1000", "x", "", str(2**70)])
def test_an_unknown_name_is_refused_with_those_there_are(name: str) -> None:
    graph = zoo("path").renamed(vertex_names=np.arange(40) * 3 - 9)
    with pytest.raises(InputError, match="names run from -9 to 108"):
        PROBLEM.queries(graph, {"source": f"name:{name}"})


def test_a_name_is_refused_where_the_file_has_none() -> None:
    with pytest.raises(InputError, match="no vertex names"):
        sources("path", source="name:3")


NODES = [1, "1", 2.5, (0, 1), "a", "a\0", "'a'", np.int64(7), frozenset({3}), "index:0", 2**70, "\ud800"]


def nodes() -> Any:
    return zoo("star").renamed(vertex_names=np.fromiter([*NODES, *range(100, 158)], object, 70))


@pytest.mark.parametrize("vertex", range(len(NODES)))
def test_a_source_that_is_a_node_means_that_node(vertex: int) -> None:
    assert PROBLEM.queries(nodes(), {"source": NODES[vertex]}) == [(vertex,)]


@pytest.mark.parametrize(
    ("name", "vertex"),
    [("2.5", 2), ("(0, 1)", 3), ("a", 4), ("'1'", 1), ("'a\\x00'", 5), ("7", 7), (str(2**70), 10), ("100", 12)],
)
def test_a_node_is_found_by_what_is_printed_of_it(name: str, vertex: int) -> None:
    assert PROBLEM.queries(nodes(), {"source": f"name:{name}"}) == [(vertex,)]


def test_a_name_that_two_nodes_have_is_refused_with_the_number_of_each() -> None:
    with pytest.raises(InputError, match=r"2 nodes are printed as '1' — give the node .* 1 is index:0, '1' is index:1"):
        PROBLEM.queries(nodes(), {"source": "name:1"})


@pytest.mark.parametrize("source", ["b", "name:b", "name:", "max-degre"])
def test_what_is_no_node_is_refused_with_those_there_are(source: str) -> None:
    with pytest.raises(InputError, match=r"no vertex is called .* names run from 1 to 157"):
        PROBLEM.queries(nodes(), {"source": source})


@pytest.mark.parametrize("source", ["index:", "index:x", "index:40", "index:-1"])
def test_a_number_of_no_vertex_is_refused(source: str) -> None:
    with pytest.raises(InputError, match=r"the N of index:N is|is not a vertex"):
        sources("path", source=source)


def test_random_sources_are_seeded_distinct_and_never_isolated() -> None:
    drawn = sources("random-sparse", source="random:64")
    assert drawn == sources("random-sparse", source="random:64", seed=1)
    assert drawn != sources("random-sparse", source="random:64", seed=2)
    assert len(set(drawn)) == 64
    assert (zoo("random-sparse").degrees[drawn] > 0).all()


def test_more_random_sources_extend_fewer() -> None:
    assert sources("grid", source="random:9")[:4] == sources("grid", source="random:4")


def test_random_sources_repeat_only_when_there_are_no_others() -> None:
    assert sorted(sources("one-edge-and-isolated", source="random:4")) == [1, 1, 3, 3]


@pytest.mark.parametrize("source", ["random:0", "random:-3", "random:x", "random:", "random:99999999999"])
def test_a_count_that_is_none_is_refused(source: str) -> None:
    with pytest.raises(InputError, match="random:"):
        sources("grid", source=source)


def test_random_sources_need_an_arc() -> None:
    with pytest.raises(InputError, match="no vertex has an arc"):
        sources("isolated-vertices", source="random:2")


def test_a_seed_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="the seed is 'x'"):
        sources("grid", source="random:2", seed="x")


@pytest.mark.parametrize("make", [undirected, directed])
def test_a_wide_source_reaches_a_tenth_of_the_vertices_or_as_many_as_any(make: Any) -> None:
    pairs = [(i, i + 1, 1) for i in range(0, 400, 2)]
    graph = make(500, pairs + [(i, i + 1, 1) for i in range(400, 499)])
    for seed in range(5):
        ((one,),) = PROBLEM.queries(graph, {"source": "wide:1", "seed": seed})
        assert one >= 400
        assert not graph.directed or one <= 450
    ((one,),) = PROBLEM.queries(make(500, pairs), {"source": "wide:1"})
    assert one < 400


def test_several_wide_sources_differ_and_their_number_is_a_number() -> None:
    assert len(set(sources("path", source="wide:7"))) == 7
    with pytest.raises(InputError, match="unknown source"):
        sources("path", source="wide:none")


def test_wide_sources_are_looked_for_once_in_each_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    looked = named_sources._reach
    monkeypatch.setattr(named_sources, "_reach", lambda graph: (asked.append(graph.name), looked(graph))[1])
    graphs = [undirected(300, [(i, i + 1, 1) for i in range(most)]) for most in (299, 250)]
    first = [PROBLEM.queries(graph, {"source": "wide:2", "seed": 3}) for graph in graphs]
    assert [PROBLEM.queries(graph, {"source": "wide:2", "seed": 3}) for graph in graphs] == first
    assert len(asked) == 2
    assert PROBLEM.queries(graphs[0], {"source": "wide:2", "seed": 4}) != first[0]
    assert len(PROBLEM.queries(graphs[0], {"source": "wide:3", "seed": 3})) == 3
    assert len(asked) == 4
