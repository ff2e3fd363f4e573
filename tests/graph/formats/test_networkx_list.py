"""NetworkX's list of edges with attributes, and the other files that NetworkX writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import gpugraph
from gpugraph.base.errors import GpuGraphError
from tests.graph.formats.test_tables import load, named


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("form", ["graphml", "gml", "edgelist"])
def test_what_networkx_writes_is_read(tmp_path: Path, kind: type, form: str) -> None:
    written = kind()
    written.add_weighted_edges_from([("b", "a", 2), ("a", "c", 5)])
    written.add_edge("c", "d")
    path = str(tmp_path / f"g.{form}")
    getattr(nx, f"write_{form}")(written, path)
    # Its lists do not say whether they are directed.
    told = {} if form != "edgelist" else {"directed": written.is_directed()}
    graph = gpugraph.load(path, **told)
    assert graph.directed is written.is_directed()
    edges = {(u, v) for u, v, _ in named(graph)}
    assert edges == {("b", "a"), ("a", "c"), ("c", "d")} | (
        set() if graph.directed else {("a", "b"), ("c", "a"), ("d", "c")}
    )
    assert sorted(set(graph.weights.tolist())) == [1, 2, 5]
    assert graph.notes == ("1 of 3 edges has no 'weight' and weighs 1",)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    text = "0 1 {'weight': np.float64(0.5)}\n1 2 {'weight': np.int64(-3)}\n0 2 {'weight': '9.0', 'on': np.True_}\n"
    graph = load(tmp_path, "a.edgelist", text + "0 3 {'weight': inf, 'x': nan}\n", directed=True)
    assert named(graph) == [(0, 1, 0.5), (0, 2, 9.0), (0, 3, float("inf")), (1, 2, -3.0)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a b {'weight': 3}\na b {open('x')}\n", "line 2: '{open('x')}' are no attributes"),
        ("a b {'weight': 3}\na b {'weight': np.float64(__import__('os'))}\n", "line 2: "),
        ("a b {'weight': 3}\na b\0 {'weight': 2}\n", "line 2: is no edge of the form"),
        ("a b {'weight': 'x'}\n", "line 1: the weight 'x' is not a number"),
        ("a b {'weight': True}\n", "line 1: the weight 'True' is not a number"),
        ("a b {'weight': 1}\na c {}\na d {}\n", "2 of 3 edges have no 'weight'"),
        ("a b {'km': 1}\n", "no edge has 'weight'; attributes that are numbers: 'km'"),
    ],
)
def test_what_is_no_list_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(GpuGraphError) as error:
        load(tmp_path, "a.edgelist", text)
    assert says in str(error.value)


@pytest.mark.filterwarnings("error")
def test_a_backslash_in_attributes_warns_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.edgelist"
    path.write_text("1 2 {'weight': 3, 'name': '\\e'}\n")
    assert gpugraph.load(path, directed=False).weights.tolist() == [3, 3]


@pytest.mark.parametrize("write", [nx.write_adjlist, nx.write_multiline_adjlist])
def test_adjacency_lists_are_refused_by_name_even_where_they_look_like_edges(tmp_path: Path, write: Any) -> None:
    write(nx.DiGraph([(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]), tmp_path / "a.txt")
    with pytest.raises(GpuGraphError, match=r"is an adjacency list of NetworkX.* — write its edges"):
        gpugraph.load(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("name", "edge"),
    [
        ("a.edgelist", "0 1 {{'weight': {}}}\n"),
        ("a.dot", "0 -- 1 [weight={}];"),
        ("a.gml", "edge [source 0 target 1 weight {}]"),
    ],
)
def test_attributes_from_below_zero_to_beyond_63_bits_are_refused(tmp_path: Path, name: str, edge: str) -> None:
    edges = edge.format(-1) + edge.format(2**63)
    nodes = "node [id 0] node [id 1] " if name == "a.gml" else ""
    text = edges if name == "a.edgelist" else f"graph {{ {edges} }}" if name == "a.dot" else f"graph [ {nodes}{edges} ]"
    (tmp_path / name).write_text(text)
    with pytest.raises(GpuGraphError, match="integer weights from below 0 to beyond 2\\^63 need more than 64 bits"):
        gpugraph.load(tmp_path / name)


def test_an_edge_of_a_vertex_whose_name_begins_with_a_percent_sign_is_no_comment(tmp_path: Path) -> None:
    graph = nx.Graph([("%a", "b", {"weight": 2}), ("b", "c", {"weight": 3})])
    nx.write_edgelist(graph, tmp_path / "a.edgelist", comments="%")
    (tmp_path / "b.edgelist").write_text("% sym weighted\n" + (tmp_path / "a.edgelist").read_text())
    for name in ("a.edgelist", "b.edgelist"):
        assert named(gpugraph.load(tmp_path / name))[0] == ("%a", "b", 2)
