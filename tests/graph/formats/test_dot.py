"""Graphviz files are read as Graphviz reads them, and what is no graph is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpugraph
from gpugraph.base.errors import GpuGraphError, InputError, OutOfMemory
from tests.graph.formats.test_graphml import edges_of
from tests.graph.formats.test_tables import load, named
from tests.tiers import extended


def test_edges_chains_defaults_quotes_ports_subgraphs_and_comments(tmp_path: Path) -> None:
    text = """/* a net */ strict graph "my net" {
  node [shape=box]; edge [weight=2];  // a default
  a -- b -- c [weight=5, label="x \\"y\\""];
  "d e" -- a; alone; rank=same
  subgraph cluster0 { edge [weight=7]; g -- h }
# as the C preprocessor leaves it
  i:port -- c
}
"""
    graph = load(tmp_path, "a.dot", text)
    assert not graph.directed
    assert [row for row in named(graph) if row[0] < row[1]] == [
        *(("a", "b", 5), ("a", "d e", 2), ("b", "c", 5), ("c", "i", 2), ("g", "h", 7)),
    ]
    assert "alone" in graph.vertex_names.tolist()  # type: ignore[union-attr]


def test_a_digraph_has_arcs_and_whole_numbers_stay_numbers(tmp_path: Path) -> None:
    graph = load(tmp_path, "a.gv", "digraph{10->9[weight=1.5];9->10;10->30[weight=2]}")
    assert graph.directed
    assert named(graph) == [(9, 10, 1.0), (10, 9, 1.5), (10, 30, 2.0)]
    assert graph.notes == ("1 of 3 edges has no 'weight' and weighs 1",)
    (tmp_path / "unnamed").write_text("graph { 0 -- 1 }")
    assert gpugraph.load(tmp_path / "unnamed").vertex_names is None


def test_texts_in_angle_brackets_and_backslashes_are_as_graphviz_has_them(tmp_path: Path) -> None:
    for label in ("<<b>x</b>>", "<a>", "<[;]>"):
        assert edges_of(load(tmp_path, "a.dot", f"graph {{ a [label={label}]; a -- b [weight=3]; }}")) == [
            ("a", "b", 3)
        ]
    graph = load(tmp_path, "a.dot", 'graph { "a\\nb" -- "anb" [weight="2.5"]; "x\\"y" -- "anb" }')
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == ["a\\nb", "anb", 'x"y']
    (tmp_path / "a.dot").write_bytes('graph { "Köln" -- "Käln" }'.encode("latin-1"))
    graph = gpugraph.load(tmp_path / "a.dot")
    assert (graph.vertices, graph.notes) == (2, ("is not UTF-8 text: read as Latin-1",))


def test_a_repeated_edge_of_a_strict_graph_takes_the_last_attributes_and_of_others_the_lightest_stays(
    tmp_path: Path,
) -> None:
    text = "graph { edge [weight=3]; a -- b [weight=1]; b -- a [weight=5]; a -- b [color=red] }"
    assert edges_of(load(tmp_path, "a.dot", text)) == [("a", "b", 1)]
    graph = load(tmp_path, "a.dot", f"strict {text}")
    assert edges_of(graph) == [("a", "b", 5)]
    assert graph.notes == ("took 2 repeated edges of a strict graph for one each, with the last attributes",)
    graph = load(tmp_path, "a.dot", f"strict di{text.replace('--', '->')}")
    assert edges_of(graph) == [("a", "b", 1), ("b", "a", 5)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a -> {b c}", ["ab", "ac"]),
        ("{a b} -> c", ["ac", "bc"]),
        ("a -> {b -> c} -> {d; e}", ["ab", "ac", "bc", "bd", "be", "cd", "ce"]),
        ("subgraph s {a; {b}} a -> x; subgraph s {c} d -> subgraph s -> subgraph t", ["ax", "da", "db", "dc"]),
        ("{a b edge [weight=9]}; a -> subgraph {b rank=same}", ["ab"]),
        ("a -> {}; x -> y", ["xy"]),
    ],
)
def test_an_edge_of_a_subgraph_is_one_of_each_of_its_vertices(tmp_path: Path, text: str, expected: list[str]) -> None:
    graph = load(tmp_path, "a.dot", f"digraph {{ edge [weight=3] {text} }}")
    assert named(graph) == [(pair[0], pair[1], 3) for pair in expected]


@extended
def test_edges_of_large_subgraphs_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    group = "{" + " ".join(map(str, range(200_000))) + "}"
    with pytest.raises(OutOfMemory):
        load(tmp_path, "a.dot", f"digraph {{ {group} -> {group} }}")


def test_another_attribute_weighs_edges_by_its_name(tmp_path: Path) -> None:
    text = "graph { a -- b [len=3] }"
    with pytest.raises(InputError, match="attributes that are numbers: 'len' — name one of them with weight"):
        load(tmp_path, "a.dot", text)
    assert named(load(tmp_path, "a.dot", text, weight="len"))[0] == ("a", "b", 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("graph {\n a -> b }", "line 2: an edge of this graph is written --"),
        ("digraph {\n a -- b }", "line 2: an edge of this graph is written ->"),
        ("graph { a -- b [weight=2]\n b -- c -- d }", "2 of 3 edges have no 'weight' — give it to each, or accept 1"),
        ("graph { a -- {b c }", "line 1: ends before the graph does"),
        ("graph { {a}:n -- b }", "line 1: a name is expected, not ':'"),
        ("graph { {a} = b }", "line 1: a name is expected, not '='"),
        ("graph " + "{" * 200 + "}" * 200, "line 1: has more than 100 subgraphs inside of each other"),
        ("graph {\n a -- b", "line 2: ends before the graph does"),
        ("graph { a -- ", "ends before the graph does"),
        ("graph { a -- <b", "line 1: a text in < > does not end"),
        ("graph { a -- b }\ngraph { c -- d }", "line 2: the file goes on behind the graph"),
        ("graph a b {}", "a graph begins with graph { or digraph {"),
        ("strict", "line 1: ends before the graph does"),
        ("graph { a -- b [weight=heavy] }", "line 1: the weight 'heavy' is not a number"),
        ("graph { a -- b [weight] }", "the weight 'true' is not a number"),
        ("graph { a -- b\n [weight=0x10] }", "line 2: a name goes on with 'x': such a name needs quotes"),
        ("graph { a -- b [weight=1_000] }", "a name goes on with '_'"),
        ("graph { a -- b [weight=1,5] }", "the number 5 is no attribute: decimals have a point"),
        ("graph { 3a4f -- 5b6c }", "a name goes on with 'a'"),
        ("graph { 192.168.1.1 -- 10.0.0.1 }", "a name goes on with '.'"),
        ("graph { a-1 -- b }", "a name goes on with '-'"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(GpuGraphError) as error:
        load(tmp_path, "a.dot", text, input_format="dot")
    assert says in str(error.value)
