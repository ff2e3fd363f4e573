from __future__ import annotations

import gzip
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpugraph
from gpugraph.base.errors import GraphFormatError, InputError
from gpugraph.ext import published
from gpugraph.ext.formats.graphalytics import published_values
from gpugraph.graph.check import check_structure
from gpugraph.graph.load import load_file
from gpugraph.graph.open import open_graph
from gpugraph.graph.read_options import ReadOptions
from tests.cli.runner import refuse, succeed
from tests.graph.formats.samples import arcs
from tests.tiers import drawn

PROPERTIES = """\
# of a graph made by hand
graph.net.vertex-file = net.v
graph.net.edge-file = net.e
graph.net.meta.vertices = 5
graph.net.meta.edges = 4
graph.net.directed = {directed}
graph.net.edge-properties.names = weight
graph.net.edge-properties.types = real
graph.net.algorithms = bfs, sssp, wcc
graph.net.sssp.weight-property = weight
graph.net.sssp.source-vertex = 40
"""
VERTICES = "7\n20\n21\n40\n9000000000000000000\n"
EDGES = "7 20 0.5\n40 7 1.25\n20 21 2\n40 21 4\n"
"""From 40: 7 at 1.25, 20 at 1.75, 21 at 3.75; the last vertex is alone."""
DISTANCES = "7 1.25\n20 1.7500000000000002\n21 3.75\n40 0.0\n9000000000000000000 infinity\n"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(folder: Path, directed: str = "true", **other: str) -> Path:
    texts = {"properties": PROPERTIES.format(directed=directed), "v": VERTICES, "e": EDGES} | other
    for ending, text in texts.items():
        (folder / f"net.{ending}").write_text(text)
    return folder / "net.properties"


@pytest.mark.parametrize("ending", ["properties", "v", "e"])
def test_any_of_the_three_files_names_the_graph(ending: str, net: Path) -> None:
    graph = load_file(net.with_suffix(f".{ending}"))
    assert graph.vertex_names.tolist() == [7, 20, 21, 40, 9000000000000000000]
    assert arcs(graph) == [(0, 1, 0.5), (1, 2, 2.0), (3, 0, 1.25), (3, 2, 4.0)]
    assert (graph.directed, graph.weight_dtype, graph.name) == (True, np.float64, "net")


def test_blanks_behind_an_id_and_ends_of_lines_of_other_systems_are_passed_over(tmp_path: Path) -> None:
    ways = [VERTICES.replace("\n", " \n"), VERTICES.replace("\n", "\r\n"), "# ids\n" + VERTICES.rstrip()]
    assert len({load_file(written(tmp_path, v=vertices)).digest for vertices in ways}) == 1


def test_an_undirected_graph_lists_each_edge_once(tmp_path: Path) -> None:
    graph = load_file(written(tmp_path, "false"))
    assert (graph.directed, graph.vertices, graph.edges) == (False, 5, 4)


def test_without_properties_the_files_do_not_say_whether_they_are_arcs(net: Path) -> None:
    net.unlink()
    assert open_graph(str(net.with_suffix(".v"))).directed
    assert not open_graph(str(net.with_suffix(".e")), ReadOptions(directed=False)).directed


def test_a_list_of_edges_alone_is_an_edge_list(net: Path) -> None:
    net.unlink()
    net.with_suffix(".v").unlink()
    assert load_file(net.with_suffix(".e")).vertices == 4


def test_ids_in_any_order_and_dense_ones_are_read(tmp_path: Path) -> None:
    graph = load_file(written(tmp_path, v="3 Ulm\n0 Rom\n1 Aue\n2 Bonn\n4 Jena\n", e="0 1 5\n3 2 1\n0 2 1\n1 2 1\n"))
    assert graph.vertex_names is None
    assert arcs(graph) == [(0, 1, 5.0), (0, 2, 1.0), (1, 2, 1.0), (3, 2, 1.0)]


def test_graphs_without_weights_and_with_whole_ones_are_read(tmp_path: Path) -> None:
    plain = PROPERTIES.format(directed="true").replace("names = weight", "names =")
    bare = "7 20\n40 7\n20 21\n40 21\n"
    assert set(load_file(written(tmp_path, properties=plain, e=bare)).weights) == {1}
    whole = PROPERTIES.format(directed="true").replace("types = real", "types = integer")
    assert load_file(
        written(tmp_path, properties=whole, e=EDGES.replace(".5", "").replace(".25", ""))
    ).weights.dtype == (np.uint32)


def test_files_may_be_packed(net: Path) -> None:
    for ending in ("v", "e"):
        path = net.with_suffix(f".{ending}")
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert load_file(net).arcs == 4
    assert load_file(net.with_name("net.e.gz")).arcs == 4


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"v": VERTICES.replace("40", "x")}, r"net.v line 4: the vertex id 'x' is not an integer"),
        ({"v": VERTICES.replace("40", "-4")}, "net.v line 4: a negative vertex id: -4"),
        ({"v": VERTICES.replace("40", f"{-(10**19)} a")}, f"net.v line 4: a negative vertex id: {-(10**19)}"),
        ({"v": VERTICES.replace("40", f"{2**63}")}, f"net.v line 4: the vertex id {2**63} needs more than 63 bits"),
        ({"v": VERTICES.replace("40", "20")}, "net.v line 4: lists the vertex 20 twice"),
        ({"v": "7\n20\n"}, "lists 2 vertices, the properties promise 5"),
        ({"e": EDGES + "7 40 1\n"}, "lists 5 edges, the properties promise 4"),
        ({"e": EDGES.replace("20 21", "20 22")}, "net.e line 3: the vertex 22 is not in the file of vertices"),
        ({"e": EDGES.replace("20 21 2", "20 21 x")}, "net.e line 3: the weight 'x' is not a number"),
        ({"e": EDGES.replace("20 21 2", "20 21")}, "net.e line 3: "),
        ({"properties": "directed = true\n"}, "describes no graph"),
        ({"properties": PROPERTIES.format(directed="perhaps")}, "line 6: directed is 'perhaps', not true or false"),
        ({"properties": PROPERTIES.format(directed="true").replace("= 5", "= five")}, "is 'five', not a whole number"),
        ({"properties": "graph.a.directed = true\ngraph.b.directed = true\n"}, "describes several graphs"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(changed: dict[str, str], says: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match=says):
        load_file(written(tmp_path, **changed))


@pytest.mark.parametrize("missing", ["v", "e"])
def test_a_missing_file_is_named(missing: str, net: Path) -> None:
    net.with_suffix(f".{missing}").unlink()
    with pytest.raises(GraphFormatError, match=f"its file net.{missing} is not beside it"):
        load_file(net)


# ------------------------------------------------------------------ reference outputs


def test_distances_are_compared_with_the_published_ones_from_the_published_source(net: Path) -> None:
    net.with_name("net-SSSP").write_text(DISTANCES)
    words = ("sssp", net, "--device", "cpu", "--verify", "reference", "--format", "json")
    record = json.loads(succeed(*words, "--source", "published").out)
    assert record["result"]["source_name"] == 40
    assert "all 5 distances are those of net-SSSP, each within 0.01%" in record["verification"]["detail"]
    assert "all 5 distances equal those of" in record["verification"]["detail"]
    other = json.loads(succeed(*words, "--source", "name:7").out)
    assert "net-SSSP" not in other["verification"]["detail"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (DISTANCES.replace("3.75", "3.76"), r"vertex 2 \(named 21\) is at distance 3.75, by net-SSSP at distance 3.76"),
        (DISTANCES.replace("infinity", "9"), r"is unreached, by net-SSSP at distance 9.0"),
        (DISTANCES.replace("21 3.75", "21 Infinity"), r"is at distance 3.75, by net-SSSP unreached"),
    ],
)
def test_a_distance_that_is_not_the_published_one_fails(wrong: str, says: str, net: Path) -> None:
    net.with_name("net-SSSP").write_text(wrong)
    graph = load_file(net)
    found = gpugraph.sssp(graph, source="published", device="cpu", verify="none")
    verdict = gpugraph.verify(graph, found, method="reference")
    assert verdict.status == "failed"
    assert re.search(says, verdict.detail)


@pytest.mark.parametrize("wrong", ["", "7 1\n", DISTANCES.replace("20 ", "22 "), DISTANCES + "x y\n"])
def test_a_reference_output_that_is_none_of_the_graph_is_refused(wrong: str, net: Path) -> None:
    net.with_name("net-SSSP").write_text(wrong)
    said = refuse(2, "sssp", net, "--source", "published", "--verify", "reference", "--device", "cpu")
    assert "net-SSSP" in said


def test_without_published_distances_there_is_no_published_source(net: Path) -> None:
    assert "no distances were published with this graph" in refuse(2, "sssp", net, "--source", "published")


def test_components_are_compared_with_the_published_ones_whatever_they_are_called(net: Path) -> None:
    called = "7 3\n20 3\n21 3\n40 3\n9000000000000000000 1\n"
    net.with_name("net-WCC").write_text(called)
    words = ("components", net, "--device", "cpu", "--verify", "reference", "--format", "json")
    detail = json.loads(succeed(*words).out)["verification"]["detail"]
    assert "all 5 labels tell the components of net-WCC" in detail
    net.with_name("net-WCC").write_text(called.replace("21 3", "21 1"))
    said = refuse(1, *words)
    assert "is labelled 0, by net-WCC it is with 2" in said


def test_nothing_was_published_of_a_graph_that_was_changed(net: Path) -> None:
    net.with_name("net-SSSP").write_text(DISTANCES)
    assert open_graph(str(net)).answers
    assert not open_graph(str(net), ReadOptions(weights="unit")).answers
    assert not open_graph(str(net), ReadOptions(symmetrize=True)).answers
    with pytest.raises(InputError, match="no distances were published"):
        gpugraph.sssp(open_graph(str(net), ReadOptions(weights="unit")), source="published", device="cpu")


def test_of_a_large_graph_the_published_output_is_the_oracle(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net.with_name("net-SSSP").write_text(DISTANCES)
    monkeypatch.setattr(published, "PUBLISHED_ALONE", 3)
    graph = load_file(net)
    found = gpugraph.sssp(graph, source="published", device="cpu", verify="none")
    detail = gpugraph.verify(graph, found, method="reference").detail
    assert detail == "all 5 distances are those of net-SSSP, each within 0.01%"


ODD = st.sampled_from(["-1", "0.5", "1e400", "nan", "inf", "x", "#", "é", "", "9" * 25, str(2**63)])
IDS = st.sampled_from(["0", "1", "7", "40"])
SOUND = st.lists(st.tuples(IDS, IDS).map(" ".join), max_size=5).map("\n".join)
LINES = SOUND | SOUND | st.lists(st.lists(IDS | ODD, max_size=4).map(" ".join), max_size=5).map("\n".join)
ANSWERS = LINES | st.permutations(["0 7", "1 7", "7 0", "40 7"]).map("\n".join)
VERTICES_OF = st.just("0\n1\n7\n40") | st.lists(IDS | ODD, max_size=4, unique=True).map("\n".join)
KEYS = ["vertex-file", "edge-file", "meta.vertices", "meta.edges", "directed", "edge-properties.names"]
SAID = st.lists(
    st.tuples(
        st.sampled_from(KEYS), st.sampled_from(["", "net.v", "net.e", "..", "4", "-3", "true", "false", "weight", "é"])
    ).map(lambda pair: f"graph.net.{pair[0]} = {pair[1]}"),
    max_size=1,
).map(lambda lines: "\n".join(["graph.net.edge-file = net.e", *lines]))


@drawn(150)
@given(said=SAID, vertices=VERTICES_OF, edges=LINES, answer=ANSWERS)
def test_whatever_the_files_hold_is_a_graph_or_refused(said: str, vertices: str, edges: str, answer: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("net.properties", said), ("net.v", vertices), ("net.e", edges), ("net-WCC", answer)):
            (Path(folder) / name).write_text(text)
        try:
            graph = load_file(Path(folder) / "net.properties")
        except InputError:
            return
        check_structure(graph)
        try:
            values = published_values(graph, graph.answers["WCC"], "int64")
        except InputError:
            return
        assert len(values) == graph.vertices
