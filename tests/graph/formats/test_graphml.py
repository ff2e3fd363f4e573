"""GraphML: all that it says of vertices, edges, direction and weights is read, or refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gpugraph
from gpugraph.base.errors import GpuGraphError
from gpugraph.ext.formats import graphml
from gpugraph.graph.csr import CSRGraph
from tests.graph.formats.test_tables import load, named

TOP = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
WEIGHT = '<key id="w" for="edge" attr.name="weight" attr.type="{}">{}</key>\n'


@pytest.fixture(autouse=True, params=["one by one", "together"])
def runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have edges taken one by one, or in runs however short, in parts of the file that end inside of them."""
    if request.param == "together":
        monkeypatch.setattr(graphml, "_LONG_RUN", 1)
        monkeypatch.setattr(graphml, "_CHUNK", 300)


def document(body: str, kind: str = "undirected", key: str = WEIGHT.format("double", "")) -> str:
    return f'{TOP}{key}<graph edgedefault="{kind}">{body}</graph></graphml>'


def nodes(names: str) -> str:
    return "".join(f'<node id="{name}"/>' for name in names)


def edge(tail: str, head: str, weight: Any = None, more: str = "") -> str:
    data = "" if weight is None else f'<data key="w">{weight}</data>'
    return f'<edge source="{tail}" target="{head}" {more}>{data}</edge>'


def edges_of(graph: CSRGraph) -> list[tuple[Any, Any, Any]]:
    return named(graph) if graph.directed else [row for row in named(graph) if row[0] < row[1]]


def test_edges_without_a_value_have_the_default_of_the_key(tmp_path: Path) -> None:
    body = nodes("abc") + edge("a", "b", 2.0) + edge("b", "c") + edge("a", "c", 4.0)
    graph = load(tmp_path, "a.graphml", document(body, key=WEIGHT.format("double", "<default>5.0</default>")))
    assert edges_of(graph) == [("a", "b", 2), ("a", "c", 4), ("b", "c", 5)]
    assert graph.notes == ()
    graph = load(
        tmp_path, "a.graphml", document(nodes("ab") + edge("a", "b"), key=WEIGHT.format("int", "<default>7</default>"))
    )
    assert edges_of(graph) == [("a", "b", 7)]


@pytest.mark.parametrize("more", ['id="0"', ""])
@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_of_parallel_edges_with_one_id_or_none_the_lightest_stays(tmp_path: Path, kind: str, more: str) -> None:
    body = nodes("abc") + edge("a", "b", 1, more) + edge("a", "b", 8, more) + edge("b", "c", 3, more)
    graph = load(tmp_path, "a.graphml", document(body, kind))
    assert edges_of(graph) == [("a", "b", 1), ("b", "c", 3)]
    assert graph.directed is (kind == "directed")
    assert graph.notes == (f"merged 1 parallel {'arc' if graph.directed else 'edge'}",)


def test_vertices_and_edges_of_nested_graphs_belong_to_the_whole(tmp_path: Path) -> None:
    inner = f'<node id="g"><graph edgedefault="undirected">{nodes("xy")}{edge("x", "y", 2)}</graph></node>'
    graph = load(tmp_path, "a.graphml", document(edge("x", "a", 1) + inner + nodes("a") + edge("g", "a", 3)))
    assert edges_of(graph) == [("a", "g", 3), ("a", "x", 1), ("x", "y", 2)]
    assert graph.notes == ("holds 1 nested <graph>: their vertices and edges are taken too",)


@pytest.mark.parametrize("kind", ["string", "double", "long"])
def test_weights_that_are_text_are_numbers(tmp_path: Path, kind: str) -> None:
    key = WEIGHT.format(kind, "").replace("weight", "length")
    text = document(
        nodes("123") + edge("1", "2", "12.5", 'id="0"') + edge("2", "3", " 7.25\n", 'id="0"'), "directed", key
    )
    with pytest.raises(GpuGraphError, match="no edge has 'weight'; attributes that are numbers: 'length'"):
        load(tmp_path, "a.graphml", text)
    assert edges_of(load(tmp_path, "a.graphml", text, weight="length")) == [(1, 2, 12.5), (2, 3, 7.25)]
    assert edges_of(load(tmp_path, "a.graphml", text, weights="unit")) == [(1, 2, 1), (2, 3, 1)]


def test_whole_weights_are_exact_up_to_64_bits_and_reals_as_the_file_says(tmp_path: Path) -> None:
    body = nodes("abc") + edge("a", "b", 2**64 - 1) + edge("b", "c", 2**53 + 1)
    graph = load(tmp_path, "a.graphml", document(body, key=WEIGHT.format("long", "")))
    assert [w for *_, w in edges_of(graph)] == [2**64 - 1, 2**53 + 1]
    assert load(tmp_path, "a.graphml", document(nodes("ab") + edge("a", "b", 5))).weights.dtype == "float64"
    with pytest.raises(GpuGraphError, match="which would round them"):
        load(tmp_path, "a.graphml", document(body + edge("a", "c", 0.5), key=WEIGHT.format("string", "")))


def test_undirected_edges_beside_directed_ones_have_both_arcs_and_a_notice_counts_them(tmp_path: Path) -> None:
    body = nodes("abc") + edge("a", "b", 1) + edge("b", "c", 2, 'directed="false"')
    graph = load(tmp_path, "a.graphml", document(body, "directed"))
    assert named(graph) == [("a", "b", 1), ("b", "c", 2), ("c", "b", 2)]
    note = "1 edge of 2 undirected: taken as two arcs each, since other edges are directed"
    assert (graph.directed, graph.notes) == (True, (note,))
    body = nodes("abc") + edge("a", "b", 1, 'directed="true"') + edge("b", "c", 2)
    graph = load(tmp_path, "a.graphml", document(body))
    assert named(graph) == [("a", "b", 1), ("b", "c", 2), ("c", "b", 2)]
    assert graph.notes == (note,)
    body = nodes("abc") + edge("a", "b", 1, 'directed="true"') + edge("b", "c", 2, 'directed="true"')
    graph = load(tmp_path, "a.graphml", document(body))
    assert (graph.directed, graph.notes, named(graph)) == (True, (), [("a", "b", 1), ("b", "c", 2)])


def test_an_attribute_that_some_edges_lack_is_a_notice_and_above_half_an_error(tmp_path: Path) -> None:
    some = nodes("abc") + edge("a", "b", 4) + edge("b", "c")
    graph = load(tmp_path, "a.graphml", document(some))
    assert edges_of(graph) == [("a", "b", 4), ("b", "c", 1)]
    assert graph.notes == ("1 of 2 edges has no 'weight' and weighs 1",)
    most = document(some + edge("a", "c"))
    with pytest.raises(GpuGraphError, match=r"2 of 3 edges have no 'weight' — .* weights='unit'"):
        load(tmp_path, "a.graphml", most)
    assert load(tmp_path, "a.graphml", most, weights="unit").weights.tolist() == [1] * 6


def test_what_other_programs_keep_in_their_data_is_passed_over(tmp_path: Path) -> None:
    shape = (
        '<y:ShapeNode><y:Geometry height="30"/><edge source="q" target="r"/><y:Ports><port/></y:Ports></y:ShapeNode>'
    )
    body = (
        f'<desc>about</desc><node id="a"><data key="d6">{shape}</data></node><node id="b"/>'
        f'<edge id="e" source="a" target="b"><desc>x</desc><data key="d9"><y:PolyLineEdge/></data>'
        f'<data key="w"><![CDATA[2]]>.5</data></edge><data key="w">9</data><!-- <edge/><node/><graph/> -->'
    )
    keys = WEIGHT.format("double", "") + '<key for="node" id="d6" yfiles.type="nodegraphics"/>'
    text = document(body, key=keys).replace("<graphml ", '<graphml xmlns:y="http://www.yworks.com/xml/graphml" ')
    graph = load(tmp_path, "a.graphml", text)
    assert edges_of(graph) == [("a", "b", 2.5)]
    assert graph.notes == tuple(
        f"passed over {count} <{name}> in comments or inside of <data>"
        for count, name in ((1, "node"), (2, "edge"), (1, "graph"))
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings_entities_and_prefixes_are_those_of_xml(tmp_path: Path, encoding: str) -> None:
    text = document('<node id="Köln"/><node id="a&amp;&#98;"/>' + edge("Köln", "a&amp;b", 3))
    text = text.replace("UTF-8", encoding.removesuffix("-sig")).replace("<", "<ns0:").replace("<ns0:/", "</ns0:")
    text = text.replace("<ns0:?", "<?").replace("xmlns=", "xmlns:ns0=")
    (tmp_path / "a.graphml").write_bytes(text.encode(encoding))
    assert edges_of(gpugraph.load(tmp_path / "a.graphml")) == [("Köln", "a&b", 3)]


def test_ids_that_are_whole_numbers_are_numbers_and_others_stay_text(tmp_path: Path) -> None:
    names = '<node id="2"/><node id="10"/><node id="0"/><node id="1"/>'
    graph = load(tmp_path, "a.graphml", document(names + edge("2", "10", 1)))
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == [0, 1, 2, 10]
    graph = load(tmp_path, "a.graphml", document('<node id="01"/><node id="1"/>' + edge("1", "01", 1)))
    assert edges_of(graph) == [("01", "1", 1)]


BOMB = '<!DOCTYPE g [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (document(nodes("ab") + edge("a", "")), "line 4: an edge without a target"),
        (document(nodes("ab") + '<edge target="a"/>'), "line 4: an edge without a source"),
        (document(nodes("a") + "\n" + edge("a", "zz", 1)), "line 5: an edge ends at 'zz', which is no <node>"),
        (document(nodes("aa")), "line 4: two vertices have the id 'a'"),
        (document("<node/>"), "line 4: a vertex has an empty id"),
        (document(nodes("ab") + edge("a", "b", "true"), key=WEIGHT.format("boolean", "")), "true or false, no weight"),
        (document(nodes("ab") + edge("a", "b", "true")), "line 4: the weight 'true' is not a number"),
        (document(nodes("ab") + edge("a", "b", "1_0")), "the weight '1_0' is not a number"),
        (document(nodes("ab") + edge("a", "b", "NaN")), "NaN"),
        (document(nodes("ab") + edge("a", "b", "")), "the weight '' is not a number"),
        (document(nodes("ab") + edge("a", "b", '1</data><data key="w">2')), "an edge has 'weight' twice"),
        (document(nodes("ab") + edge("a", "b", "1<b>2</b>")), "<b> inside of a weight"),
        (document(nodes("a")).replace("</graphml>", '<graph edgedefault="directed"/></graphml>'), "a second <graph>"),
        (document("<hyperedge/>"), "line 4: <hyperedge> is not read"),
        (document('<node id="a"><port name="p"/></node>'), "<port> is not read"),
        (document(nodes("ab") + edge("a", "b", 1, 'sourceport="p"')), "ports are not read"),
        (document(nodes("ab") + edge("a", "b", 1, 'directed="maybe"')), "directed of an edge is true or false"),
        (document(nodes("ab") + edge("a", "b", "1</data><edge/><data>")), "<edge> inside of <edge>"),
        (document("", "mixed"), "edgedefault is 'mixed'"),
        (f"{TOP}</graphml>", "holds no <graph>"),
        (document("").replace("<graphml", BOMB + "<graphml"), "line 2: has an entity of its own, 'a'"),
        (
            document("<node id='a'/>&b;").replace("<graphml", '<!DOCTYPE g SYSTEM "g.dtd"><graphml'),
            "an entity of its own",
        ),
        (TOP + "<graph", "line 3: is no well-formed XML"),
        ("<html><graphml >", "begins with <html>, not with <graphml>"),
        (document("").replace("UTF-8", "EBCDIC-X"), "its encoding is not read"),
        (document("".join(f'<node id="{i}"><graph>' for i in range(600))), "graphs inside of each other"),
        (
            document(
                "",
                key=WEIGHT.format("int", "<default>1</default>") + '<key id="v" for="all" attr.name="weight">'
                "<default>2</default></key>",
            ),
            "different defaults",
        ),
    ],
)
def test_what_is_no_graph_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(GpuGraphError) as error:
        load(tmp_path, "a.graphml", text)
    assert says in str(error.value)
    assert error.value.remedy


def test_the_line_of_a_bad_weight_is_right_wherever_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = document(nodes("ab") + "\n" + "\n".join([edge("a", "b", 1.5)] * 20) + "\n" + edge("a", "b", "x"))
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr(graphml, "_CHUNK", size)
        with pytest.raises(GpuGraphError, match=r"line 25: the weight 'x' is not a number"):
            load(tmp_path, "a.graphml", text)
        assert len(load(tmp_path, "a.graphml", text.replace(">x<", ">1<")).weights) == 2


def test_unknown_attributes_and_false_promises_are_reported(tmp_path: Path) -> None:
    text = document(nodes("ab") + edge("a", "b", 1, 'weight="5" y:z="1"')).replace("<graph ", '<graph parse.edges="4" ')
    assert load(tmp_path, "a.graphml", text.replace("<graphml ", '<graphml xmlns:y="y" ')).notes == (
        "passed over attributes of <edge> that GraphML does not know: 'weight'",
        "parse.edges promises 4, the file has 1",
    )


def test_a_key_of_edges_goes_before_one_of_vertices_with_the_same_id(tmp_path: Path) -> None:
    of_nodes = '<key id="w" for="node" attr.name="name" attr.type="string"/>'
    edges = WEIGHT.format("int", "")
    for key in (edges + of_nodes, of_nodes + edges, edges.replace('for="edge"', 'for="node"')):
        graph = load(tmp_path, "a.graphml", document(nodes("ab") + edge("a", "b", 7), key=key))
        assert edges_of(graph) == [("a", "b", 7)]


@pytest.mark.parametrize(
    ("name", "text", "reading"),
    [
        (
            "a.graphml",
            document(nodes("abc") + edge("a", "b", 1, 'directed="true"') + edge("b", "b", 2) + edge("b", "a", 5)),
            "read as GraphML: 3 vertices and 3 edges; directed: edgedefault is undirected, and 1 of 3 edges differ "
            "from it; attribute 'weight' weighs; dropped 1 self loop; merged 1 parallel arc",
        ),
        (
            "a.gml",
            "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]",
            "read as GML: 2 vertices and 1 edge; undirected: it does not say 'directed 1'; "
            "no edge has 'weight': every edge weighs 1",
        ),
        (
            "a.dot",
            "digraph { a -> b [weight=2]; b -> a }",
            "read as Graphviz .dot: 2 vertices and 2 edges; directed: it begins with digraph; "
            "attribute 'weight' weighs; 1 of 2 edges has no 'weight' and weighs 1",
        ),
    ],
)
def test_one_line_says_how_a_file_was_taken(tmp_path: Path, name: str, text: str, reading: str) -> None:
    assert load(tmp_path, name, text).reading == reading


def test_long_runs_of_edges_are_taken_together_and_comments_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphml, "_CHUNK", 9000)
    taken = []
    take = graphml._Reader._take_run
    monkeypatch.setattr(graphml._Reader, "_take_run", lambda self, *mark: (taken.append(mark), take(self, *mark)))
    key = WEIGHT.format("double", "").replace('id="w"', 'id="w(1|)"')
    body = nodes("abc") + "\n".join([edge("a", "b", 1.5), edge("b", "c", 2.5)] * 400)
    text = document(body + f"<!-- {edge('a', 'c', 1) * 300} -->" + edge("b", "a", 9) * 200 + edge("c", "b"))
    text = text.replace(WEIGHT.format("double", ""), key).replace('key="w"', 'key="w(1|)"')
    graph = load(tmp_path, "a.graphml", text)
    assert edges_of(graph) == [("a", "b", 1.5), ("b", "c", 1)]
    assert len(taken) > 1
    assert graph.notes[:2] == (
        "passed over 300 <edge> in comments or inside of <data>",
        "1 of 1,001 edges has no 'weight' and weighs 1",
    )


@pytest.mark.parametrize("name", ["a.graphml", "a.gml"])
def test_reals_that_graph_tool_writes_in_hexadecimal_are_read_exactly(tmp_path: Path, name: str) -> None:
    text = document(nodes("ab") + edge("a", "b", "0x1.999999999999ap-4"))  # type: ignore[arg-type]
    if name == "a.gml":
        text = 'graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight "0x1.999999999999ap-4" ] ]'
    assert load(tmp_path, name, text).weights.tolist() == [0.1, 0.1]
    with pytest.raises(GpuGraphError, match="the weight '0x1p9999' is beyond what a double holds"):
        load(tmp_path, name, text.replace("0x1.999999999999ap-4", "0x1p9999"))
