"""GML as Newman's collection, igraph, Gephi, Cytoscape and NetworkX write it, and what is no graph."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

import gpugraph
from gpugraph.base.errors import GpuGraphError, GraphFormatError
from gpugraph.ext.formats import gml
from tests.graph.formats.test_graphml import edges_of
from tests.graph.formats.test_tables import load, named

NEWMAN = """Creator "Mark Newman on Sat Jul 22 05:32:16 2006"
graph
[
  directed 1
  node
  [
    id 1
    label "100monkeys typing.com"
    value 0
    source "Blogarama"
  ]
  node
  [
    id 2
    label "b"
  ]
  edge
  [
    source 1
    target 2
  ]
  edge
  [
    source 2
    target 1
  ]
  edge
  [
    source 2
    target 1
  ]
]
"""
IGRAPH = "Version 1\ngraph\n[\n  directed 0\n{}\n  edge\n  [\n    source 1\n    target 0\n    weight 3.5\n  ]\n]\n"
CYTOSCAPE = """Creator "Cytoscape"
Version 1.0
graph [
 node [
  root_index -3
  id -3
  graphics [ x 1.5 y 2 w 35 fill "#ff0000" type "ellipse" ]
  label "A"
 ]
 node [ root_index -2 id -2 graphics [ x 0 ] label "B" ]
 edge [ root_index -1 target -2 source -3 graphics [ width 1 Line [ point [ x 1 ] point [ x 2 ] ] ] weight 7 ]
]
Title "net"
"""
GEPHI = """graph
[
  Creator Gephi
  directed 0
  node
  [
    id 0
    label "Valjean"
    graphics
    [
      x 1.0
    ]
  ]
  node
  [
    id 1
    label "Javert"
  ]
  edge
  [
    id 0
    source 0
    target 1
    value 2.5
    fill "#000"
  ]
]
"""


def graph_of(edges: str, nodes: int = 3) -> str:
    return "graph [\n" + "".join(f"node [ id {i} ]\n" for i in range(nodes)) + edges + "\n]\n"


def test_newman_files_are_read_with_labels_or_without_and_parallel_edges_merge(tmp_path: Path) -> None:
    graph = load(tmp_path, "polblogs.gml", NEWMAN)
    assert (graph.directed, graph.notes) == (True, ("merged 1 parallel arc",))
    assert named(graph) == [("100monkeys typing.com", "b", 1), ("b", "100monkeys typing.com", 1)]
    karate = (
        'Creator "x"\ngraph\n[\n  node\n  [\n    id 1\n  ]\n  node\n  [\n    id 2\n  ]\n'
        + NEWMAN[NEWMAN.rindex("  edge") :]
    )
    graph = load(tmp_path, "karate.gml", karate)
    assert (graph.directed, edges_of(graph)) == (False, [(1, 2, 1)])


def test_what_igraph_gephi_and_cytoscape_write_is_read(tmp_path: Path) -> None:
    nodes = '  node\n  [\n    id 0\n    name "Köln"\n  ]\n  node\n  [\n    id 1\n    name "Bonn"\n  ]'
    assert edges_of(load(tmp_path, "a.gml", IGRAPH.format(nodes))) == [("Bonn", "Köln", 3.5)]
    bare = nodes.replace('    name "Köln"\n', "").replace('    name "Bonn"\n', "")
    assert edges_of(load(tmp_path, "a.gml", IGRAPH.format(bare))) == [(0, 1, 3.5)]
    assert edges_of(load(tmp_path, "a.gml", CYTOSCAPE)) == [("A", "B", 7)]
    with pytest.raises(GpuGraphError, match="no edge has 'weight'; attributes that are numbers: 'value'"):
        load(tmp_path, "a.gml", GEPHI)
    assert edges_of(load(tmp_path, "a.gml", GEPHI, weight="value")) == [("Javert", "Valjean", 2.5)]


@pytest.mark.parametrize("multigraph", ["", "multigraph 1\n"])
def test_of_parallel_edges_the_lightest_stays_with_and_without_multigraph(tmp_path: Path, multigraph: str) -> None:
    edges = (
        "edge [ source 0 target 1 weight 5 ]\nedge [ source 1 target 0 weight 1 ]\nedge [ source 1 target 2 weight 3 ]"
    )
    assert edges_of(load(tmp_path, "a.gml", graph_of(multigraph + edges))) == [(0, 1, 1), (1, 2, 3)]


def test_vertices_whose_labels_repeat_or_are_missing_go_by_their_ids(tmp_path: Path) -> None:
    for label in ('label "x"', ""):
        text = f'graph [ node [ id 4 label "x" ] node [ id 7 {label} ] edge [ source 4 target 7 weight 2 ] ]'
        graph = load(tmp_path, "a.gml", text)
        assert edges_of(graph) == [(4, 7, 2)]
        assert graph.notes == ("vertices go by their ids: not each has a label of its own",)


@pytest.mark.parametrize(("encoding", "notes"), [("utf-8", 0), ("utf-8-sig", 0), ("latin-1", 1)])
def test_text_is_utf8_or_latin1_with_entities(tmp_path: Path, encoding: str, notes: int) -> None:
    text = 'graph [ node [ id 0 label "Köln" ] node [ id 1 label "&#66;&quot;&amp;" ] edge [ source 0 target 1 ] ]'
    (tmp_path / "a.gml").write_bytes(text.encode(encoding))
    graph = gpugraph.load(tmp_path / "a.gml")
    assert edges_of(graph) == [('B"&', "Köln", 1)]
    assert graph.notes == ("is not UTF-8 text: read as Latin-1",) * notes
    (tmp_path / "a.gml").write_bytes(text.encode("utf-16"))
    with pytest.raises(GpuGraphError, match="is UTF-16 text — convert it: iconv -f UTF-16 "):
        gpugraph.load(tmp_path / "a.gml")


def test_keywords_may_be_in_capitals_but_texts_stay_as_they_are(tmp_path: Path) -> None:
    text = """# a Graph [ in a comment, isn't it
Graph [ DIRECTED 1
NODE [ ID 1 LABEL "Node [a]" id_ 5 ] Node
[ Id 2 Label "EDGE [b]" graphics [ X 1 ] ]
EDGE [ SOURCE 1 TARGET 2 weight 7 ] Edge [ Source 2 Target 1 weight 8 graphics [ Line [ x 2 ] ] ]
]
"""
    graph = load(tmp_path, "a.gml", text)
    assert named(graph) == [("EDGE [b]", "Node [a]", 8), ("Node [a]", "EDGE [b]", 7)]
    many = text.replace("EDGE [ S", 'EDGE [ SOURCE 2 TARGET 1 weight 9 Target "x" ]' * 1000 + "EDGE [ S")
    with pytest.raises(GraphFormatError, match="line 5: target is there twice"):
        load(tmp_path, "a.gml", many)
    beside = 'graph [ node [ id 1 ID 5 ] node [ ID 5 id 2 ] edge [ source 1 target 2 Source "x" weight 3 ] ]'
    assert edges_of(load(tmp_path, "a.gml", beside)) == [(1, 2, 3)]


def test_weights_written_as_text_are_numbers_and_exact(tmp_path: Path) -> None:
    edges = f'edge [ source 0 target 1 weight "3000000000" ]\nedge [ source 1 target 2 weight {2**64 - 1} ]'
    assert edges_of(load(tmp_path, "a.gml", graph_of(edges))) == [(0, 1, 3000000000), (1, 2, 2**64 - 1)]
    edges = "edge [ source 0 target 1 weight +INF ]\nedge [ source 01 target 2 weight -1E-3 ]"
    assert edges_of(load(tmp_path, "a.gml", graph_of(edges))) == [(0, 1, float("inf")), (1, 2, -1e-3)]


def many(extra: str = "", at: int = -1) -> str:
    """Return enough edges to be taken together, one of them with something else."""
    rows = [f"edge [\n source {i % 3}\n target {(i + 1) % 3}\n weight {i + 1}.5\n ]" for i in range(1000)]
    rows[at] = extra or rows[at]
    return graph_of("\n".join(rows))


def test_many_alike_edges_are_taken_together_as_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(gml._Reader, "_edge", lambda self, *row: calls.append(row))
    assert edges_of(load(tmp_path, "a.gml", many())) == [(0, 1, 1.5), (0, 2, 3.5), (1, 2, 2.5)]
    assert not calls
    monkeypatch.undo()
    odd = 'edge [ label "x ] y" weight 0.25 source 2 target 1 nums 1 nums 2 ]'
    for size in (1, 50, 3000, 1 << 20):
        monkeypatch.setattr(gml, "_WINDOW", size)
        assert edges_of(load(tmp_path, "a.gml", many(odd, 500))) == [(0, 1, 1.5), (0, 2, 3.5), (1, 2, 0.25)]


@pytest.mark.parametrize("at", [0, 400, 999])
def test_the_line_of_a_bad_edge_among_many_is_named(tmp_path: Path, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    line = 5 + 5 * at
    for bad, says in (
        ("edge [\n source 0\n target 1\n weight x\n ]", "the weight 'x' is not a number"),
        ("edge [\n source 0\n target 9\n weight 1\n ]", "an edge ends at 9, which is no node"),
        ("edge [\n source 0\n weight 1\n weight 2\n ]", "weight is there twice"),
    ):
        for size in (1, 1 << 20):
            monkeypatch.setattr(gml, "_WINDOW", size)
            with pytest.raises(GraphFormatError, match=says) as error:
                load(tmp_path, "a.gml", many(bad, at))
            # Where windows cut an edge into words, its line is that of one of them.
            assert error.value.line in (range(line, line + 6) if size == 1 else (line,))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (graph_of("edge [ source 0 ]"), "line 5: an edge without a target"),
        (graph_of("edge [ source 0 target 8 ]"), "line 5: an edge ends at 8, which is no node"),
        (graph_of('node [ label "x" ]'), "line 5: a node without an id"),
        (graph_of("node [ id 2 ]"), "line 5: two vertices have the id '2'"),
        (graph_of("\nedge [ source 0 target 1 weight [ a 1 ] ]"), "line 6: the weight '[' is not a number"),
        (graph_of("edge [ source 0 target 1 weight 1 weight 2 ]"), "line 5: weight is there twice"),
        (graph_of("edge [ source 0 target 1 7 weight ]"), "a name is expected, not 7"),
        (graph_of("edge [ source 0 target 1 weight ]"), "weight has no value"),
        (graph_of("edge [ source 0 target 1 weight NAN ]"), "NaN"),
        (graph_of("directed 1 directed 0"), "directed is there twice"),
        (graph_of("directed 2"), "directed is 2, neither 0 nor 1"),
        (graph_of("graph [ ]"), "a graph inside of a graph is not read"),
        (graph_of("") + "graph [ ]", "line 7: begins a second graph"),
        (graph_of('edge [ source 0 target 1 label "x ]'), "line 5: a text in quotes does not end"),
        ("graph [ node [ id 0 ]", "ends before its graph does"),
        ("graph [ node [ id 0 ] ] ]", "a ] without its ["),
        ('Creator "x"\n', "holds no graph"),
        ("graph [ " + "a [ " * 600, "lists inside of each other"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(GpuGraphError) as error:
        load(tmp_path, "a.gml", text)
    assert says in str(error.value)
    assert error.value.remedy
    assert "damaged" not in str(error.value)


def test_comments_and_elements_outside_of_the_graph_are_passed_over_and_counted(tmp_path: Path) -> None:
    text = "# graph [ ]\n" + graph_of("# edge [ source 0 target 2 ]\nedge [ source 0 target 1 ]") + "node [ id 9 ]\n"
    graph = load(tmp_path, "a.gml", text)
    assert (graph.vertices, edges_of(graph)) == (3, [(0, 1, 1)])
    assert graph.notes == ("passed over 1 element outside of the graph, nodes or edges",)


def test_many_alike_vertices_are_taken_together_as_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gml, "_LONG_RUN", 1)
    rows = "".join(f'node [ id {i} label "v &amp; {i % 7}" ]\n' for i in range(7))
    edges = "edge [ source 0 target 6 weight 2 ]"
    assert edges_of(load(tmp_path, "a.gml", f"graph [ {rows} {edges} ]")) == [("v & 0", "v & 6", 2)]
    for bad, says in (
        ("id 3", "two vertices have the id '3'"),
        ("id 03", "two vertices"),
        ("key 9", "a node without an id"),
    ):
        text = f'graph [ {rows}node [ {bad} label "x" ]\n{edges} ]'
        with pytest.raises(GraphFormatError, match=f"line 8: {says}"):
            load(tmp_path, "a.gml", text)
    graph = load(tmp_path, "a.gml", "graph [ edge [ source 5 target 07 ]\nnode [ id 5 ]\nnode [ id 7 ]\n ]")
    assert edges_of(graph) == [(5, 7, 1)]


def test_keys_of_a_multigraph_are_no_weights(tmp_path: Path) -> None:
    graph = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])
    nx.write_gml(graph, tmp_path / "a.gml")
    assert " key 1" in (tmp_path / "a.gml").read_text()
    assert set(gpugraph.load(tmp_path / "a.gml").weights.tolist()) == {1}
