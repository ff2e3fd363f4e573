from __future__ import annotations

import base64
import io
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pyarrow import parquet

import gpugraph
from gpugraph.base.errors import GpuGraphError, GpuGraphWarning, InputError
from gpugraph.ext.formats.text import fields
from gpugraph.graph.check import check_structure
from gpugraph.graph.csr import ASSUMED, CSRGraph
from tests.cli.runner import succeed
from tests.graph.formats.samples import arcs
from tests.tiers import drawn

WIDE = 'source,target,cost,note\n10,20,1.5,x\n20,30,2,"a, b"\n30,10,3,z\n'


def named(graph: CSRGraph) -> list[tuple[Any, Any, Any]]:
    """Return the arcs by the file's own ids."""
    return [(graph.name_of(u), graph.name_of(v), weight) for u, v, weight in arcs(graph)]


def load(folder: Path, name: str, text: str, **told: Any) -> CSRGraph:
    path = folder / name
    path.write_text(text)
    return gpugraph.load(path, **told)


@pytest.mark.parametrize("columns", ["source,target,cost", "1,2,3"])
def test_columns_are_taken_by_name_or_by_number(tmp_path: Path, columns: str) -> None:
    graph = load(tmp_path, "a.csv", WIDE, columns=columns)
    assert named(graph) == [(10, 20, 1.5), (20, 30, 2.0), (30, 10, 3.0)]
    assert graph.weights.dtype == np.float64
    assert [weight for *_, weight in named(load(tmp_path, "a.csv", WIDE, columns="target,source"))] == [1, 1, 1]


def test_a_list_without_names_is_wide_too(tmp_path: Path) -> None:
    graph = load(tmp_path, "a.txt", "# u v time weight\n0  1 99 7\n1\t2 98 8\n", columns="1,2,4")
    assert arcs(graph) == [(0, 1, 7), (1, 2, 8)]
    assert graph.weights.dtype == np.uint32


def test_columns_of_a_parquet_file(tmp_path: Path) -> None:
    table = pa.table(
        {"src": [1, 5, 9], "dst": [5, 9, 1], "w": pa.array([1, 2, 2**63], pa.uint64()), "t": ["x", "y", "z"]}
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    graph = gpugraph.load(tmp_path / "a.parquet", columns="src,dst,w")
    assert named(graph) == [(1, 5, 1), (5, 9, 2), (9, 1, 2**63)]
    by_names = gpugraph.load(tmp_path / "a.parquet")
    assert named(by_names) == named(graph)
    assert by_names.notes[0] == "left out: column 't'"


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv"])
def test_ids_may_be_words(tmp_path: Path, name: str) -> None:
    mark = {".csv": ",", ".tsv": "\t"}.get(name[-4:], " ")
    text = "zoe bob 3\nbob al 4\n".replace(" ", mark)
    graph = load(tmp_path, name, text)
    assert named(graph) == [("bob", "al", 4), ("zoe", "bob", 3)]
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == ["al", "bob", "zoe"]
    assert gpugraph.sssp(graph, "name:zoe", device="cpu").distance.tolist() == [7, 3, 0]


def test_two_words_on_top_of_a_csv_are_not_guessed_at(tmp_path: Path) -> None:
    text = "amy,bob\nbob,cid\n"
    with pytest.raises(InputError, match="'amy,bob' may be an edge, or the names of the columns"):
        load(tmp_path, "a.csv", text)
    assert len(arcs(load(tmp_path, "a.csv", text, columns="1,2"))) == 2
    assert named(load(tmp_path, "a.csv", text, columns="amy,bob")) == [("bob", "cid", 1)]


def test_a_word_among_numbers_is_a_mistake_and_no_vertex(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: the vertex id 'x' is not an integer"):
        load(tmp_path, "a.txt", "0 1\nx 2\n2 3\n")


def test_lines_are_arcs_or_edges_as_the_user_says(tmp_path: Path) -> None:
    text, both = "0 1 3\n2 1 4\n", "0 1 3\n1 0 3\n"
    assumed = load(tmp_path, "a.wel", text)
    assert assumed.directed
    assert assumed.notes == (ASSUMED,)
    assert load(tmp_path, "a.wel", text, directed=True).notes == ()
    edges = load(tmp_path, "a.wel", text, directed=False)
    assert (edges.directed, arcs(edges)) == (False, [(0, 1, 3), (1, 0, 3), (1, 2, 4), (2, 1, 4)])
    assert not load(tmp_path, "a.wel", both).directed
    assert load(tmp_path, "a.wel", both, directed=True).directed
    (note,) = load(tmp_path, "a.wel", text, symmetrize=True).notes
    assert note.startswith("symmetrised: ")


def test_what_a_file_says_of_itself_is_not_overruled(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="says itself that the graph is undirected — leave directed=True out"):
        load(tmp_path, "a.graph", "2 1\n2\n1\n", directed=True)
    with pytest.raises(InputError, match="says all of itself"):
        gpugraph.load("path:4", directed=True)
    with pytest.raises(InputError, match=r"METIS \.graph has no columns to choose"):
        load(tmp_path, "a.graph", "2 1\n2\n1\n", columns="1,2")


def test_the_number_of_vertices_may_be_given(tmp_path: Path) -> None:
    assert load(tmp_path, "a.el", "0 1\n1 2\n", vertices=9).vertices == 9
    assert load(tmp_path, "a.csv", WIDE, columns="1,2", vertices=40).vertices == 40
    with pytest.raises(InputError, match="line 2: the vertex id 5 is out of range"):
        load(tmp_path, "a.el", "0 1\n1 5\n", vertices=3)
    with pytest.raises(InputError, match="has the id 30, but vertices is 20 — give a larger vertices"):
        load(tmp_path, "a.csv", WIDE, columns="1,2", vertices=20)
    with pytest.raises(InputError, match="has 2 vertices, not the 3 of vertices"):
        load(tmp_path, "a.graph", "2 1\n2\n1\n", vertices=3)


@pytest.mark.parametrize(
    ("name", "text", "told", "says"),
    [
        ("a.csv", WIDE, {"columns": "source,target,price"}, "unknown column 'price'"),
        ("a.csv", WIDE, {"columns": "source"}, "makes no edges"),
        ("a.csv", WIDE, {"columns": "source,target,note"}, "row 1: the weight 'x' is not a number"),
        ("a.csv", "src,dst\n1,\n", {"columns": "src,dst"}, "row 1 has nothing in column 'dst'"),
        ("a.csv", "src,dst\n1,2,3\n", {"columns": "src,dst"}, "line 2: expected 2 fields, found 3"),
        ("a.csv", "src,dst\n-1,2\n", {"columns": "src,dst,w"}, "unknown column 'w'"),
        ("a.txt", "", {"columns": "1,2"}, "empty"),
        ("a.csv", "src,d\rst\n1,2\n", {"columns": "src,dst"}, "unknown column 'dst'"),
        ("a.txt", "# nothing\n", {"columns": "1,2"}, "lists no edges"),
        ("a.wel", "x y 1e40\ny z nan\n", {}, "not a number"),
        ("a.wel", "x y 0.5\ny z 9007199254740993\n", {}, "which would round them"),
        ("a.csv", "src,dst,weight\na,b,1\nb,c,1_0\nc,d,x\n", {}, "row 2: the weight '1_0' is not a number"),
        ("a.csv", "src,src,weight\na,b,1\n", {}, "has two columns 'src'"),
        ("a.csv", "src,dst,weight\n\ufeff1,2,5\n3,4,5\n", {}, "line 2: the vertex id"),
    ],
)
def test_what_is_no_graph_is_refused(tmp_path: Path, name: str, text: str, told: dict[str, str], says: str) -> None:
    with pytest.raises(GpuGraphError, match=says) as refused:
        load(tmp_path, name, text, **told)
    assert refused.value.remedy


def test_a_source_of_a_file_with_its_own_ids_explains_itself(tmp_path: Path) -> None:
    text = "1 2 3\n2 5 4\n"
    graph = load(tmp_path, "a.wel", text, directed=True)
    with pytest.raises(InputError, match="asked for by name: source='name:5'"):
        gpugraph.sssp(graph, 5, device="cpu")
    with pytest.warns(GpuGraphWarning, match="source 1 is what the file calls 2; what it calls 1 is name:1"):
        assert gpugraph.sssp(graph, 1, device="cpu").distance.tolist()[1] == 0
    words = load(tmp_path, "b.wel", "al bo 3\n", directed=True)
    with pytest.raises(InputError, match="did you mean 'name:al'"):
        gpugraph.sssp(words, "al", device="cpu")


def test_how_many_vertices_were_reached_is_reported_where_the_kind_of_graph_was_assumed(tmp_path: Path) -> None:
    (tmp_path / "a.wel").write_text("0 1 3\n2 1 4\n")
    words = ("sssp", tmp_path / "a.wel", "--source", 0, "--device", "cpu")
    told = succeed(*words).err
    assert f"{ASSUMED}\n" in told
    assert "2 of 3 vertices were reached along the arcs\n" in told
    for option in ("--directed", "--undirected"):
        assert "reached" not in succeed(*words, option).err


def _samples() -> dict[str, tuple[bytes, dict[str, Any]]]:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("b", "a", 2), ("a", "c", 5)])
    table, stream = pa.table({"src": [1, 5], "dst": [5, 9], "w": [1.5, 2.5], "t": ["x", "y"]}), io.BytesIO()
    parquet.write_table(table, stream)
    return {
        "a.csv": (WIDE.encode(), {"columns": "source,target,cost"}),
        "b.csv": (WIDE.encode(), {"columns": "1,2,3"}),
        "a.txt": (b"zoe bob 3\nbob al 4\n", {}),
        "a.parquet": (stream.getvalue(), {"columns": "src,dst,w"}),
        "a.graphml": ("\n".join(nx.generate_graphml(graph)).encode(), {}),
        "a.gml": ("\n".join(nx.generate_gml(graph)).encode(), {}),
        "a.edgelist": ("\n".join(nx.generate_edgelist(graph)).encode(), {}),
    }


SAMPLES = _samples()


@pytest.mark.parametrize("name", SAMPLES)
@drawn(60, suppress_health_check=list(HealthCheck))
@given(
    edits=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 4), st.binary(max_size=6)), min_size=1, max_size=4)
)
def test_changed_files_load_or_are_refused_with_a_remedy(name: str, edits: list[tuple[int, int, bytes]]) -> None:
    data, told = SAMPLES[name]
    for place, gone, new in edits:
        at = place % (len(data) + 1)
        data = data[:at] + new + data[at + gone :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        remedy: str | None = "none is needed"
        try:
            check_structure(gpugraph.load(path, **told))
        except GpuGraphError as error:
            remedy = error.remedy
        assert remedy


def test_a_column_whose_name_is_a_digit_but_no_number_is_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown column '²'"):
        load(tmp_path, "a.csv", WIDE, columns="²,1")


GEPHI = "Id,Source,Target,Weight,Type\n0,1,2,3.5,Undirected\n1,2,3,4,Undirected\n"


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_of_gephi_is_read_by_the_names_of_its_columns(tmp_path: Path, mark: str) -> None:
    text = GEPHI.replace(",", mark)
    for columns in ("", "Source,Target,Weight"):
        graph = load(tmp_path, "a.csv", text, columns=columns)
        assert not graph.directed
        assert named(graph) == [(1, 2, 3.5), (2, 1, 3.5), (2, 3, 4.0), (3, 2, 4.0)]
        assert "undirected: column 'Type' says so; column 'Weight' weighs" in graph.reading
        assert ("left out: column 'Id'" in graph.notes) is (not columns)
    directed = load(tmp_path, "a.csv", text.replace("Undirected", "Directed"))
    assert named(directed) == [(1, 2, 3.5), (2, 3, 4.0)]
    mixed = load(tmp_path, "a.csv", text.replace("Undirected", "Directed", 1))
    assert (mixed.directed, named(mixed)) == (True, [(1, 2, 3.5), (2, 3, 4.0), (3, 2, 4.0)])
    assert "1 row of column 'Type' undirected: taken as two arcs each" in mixed.notes


def test_semicolons_separate_fields_and_then_a_comma_may_be_the_decimal_point(tmp_path: Path) -> None:
    for text in ("1;2;3,5\n2;3;4\n", "from;to;km\n1;2;3,5\n2;3;4\n"):
        assert named(load(tmp_path, "a.csv", text)) == [(1, 2, 3.5), (2, 3, 4.0)]
    with pytest.raises(InputError, match=r"the weight '3\.5\.1' is not a number"):
        load(tmp_path, "a.csv", "1;2;3\n2;3;3,5,1\n")


def test_columns_with_usual_names_may_come_in_any_order(tmp_path: Path) -> None:
    assert named(load(tmp_path, "a.csv", "weight,target,source\n5,2,1\n6,3,1\n")) == [(1, 2, 5), (1, 3, 6)]
    assert named(load(tmp_path, "a.tsv", "source\ttarget\tweight\n1\t2\t5\n")) == [(1, 2, 5)]


@pytest.mark.parametrize("bad", [b"a b\nc d\n\xff e\n", b"a b\nc d\ne \xff\n"], ids=["tail", "head"])
def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "a.edgelist"
    path.write_bytes(bad)
    with pytest.raises(GpuGraphError, match=r"a\.edgelist line 3: is not UTF-8 text — save it in UTF-8"):
        gpugraph.load(path)


BEYOND_ITS_DICTIONARY = (
    "KLUv/WCdAtUPANYbXjwgiyodQBEKQYABAkRhAGBWkjC/JyoJ0TmmZcukPk0ARPO07N//n1uWWWNru+FatCzQcN/57zy/LQjZOwVI"
    "AE4ATQAGYL0IhKPtInISkZWtrHfiB/eDWcxeC0dOapptN/o8yzlo+9l+eBA5OXIQtsDgwp0s3AjKUtZbbbvbdjbFe22Eylb22swm"
    "QgUuQ+Y4qFIk29DZhBPGjd9O1uu33msjZiS7yD7iR4TROyfQFVOymLPNxCaMVp1MG6UVlO9yqVIkG/v4om0pS76LZA1XJKF00lJQ"
    "uuIzrw1fHXPSPEA10JD+38DrT5RSysH5DxJQj/Fz/l/BX6uJc9Pvual+9Sf4Qf//AZRSSp8GScABg1DoEolNWyAxksFogcQAD0P2"
    "OmQuJLqQK5nQM+y3wTa2mZkJzISFxjKhYyO1lSxYVh3bJpJAoTQJVakChU2EskjXg34ICCi0/y+gEar1x3jnq3oNz3+BUprhcRCF"
    "xvF3PJ3/F5RSjwUHfk45IKACIaLs8FGONbU3cAWc3cVoBmPEIBsxXXTwgTG0W8jBxFRA+gXuLCa6upYRaT5wht0NIYToiXlei9b+"
    "S1lit07KuLQIgWsGu2ickYjTGc5OcbzkQJLQFoMjDncinOo3hzc4u48jhnSAr9CNDDjcEDYeFoICcZBpGU8IsHgG"
)
"""A damaged Parquet file, a position of which lies beyond the dictionary of its column; compressed, in base64."""


def test_a_position_beyond_the_dictionary_of_a_column_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "columns.parquet.zst"
    path.write_bytes(base64.b64decode(BEYOND_ITS_DICTIONARY))
    with pytest.raises(InputError, match=r"is damaged: .*out of bounds"):
        gpugraph.load(path)


def test_fields_that_end_in_another_separator_are_refused_not_taken_as_names(tmp_path: Path) -> None:
    for rows in ("u v w\n10, 5, 1.5\n5, 7, 2\n", "u v w\na; b; 1\n", "u\tv\n1,\t2\n2,\t3\n"):
        with pytest.raises(InputError, match=r"line 2: row 1: '\w+[,;]' ends in another separator"):
            load(tmp_path, "a.txt", rows)
    assert named(load(tmp_path, "a.txt", "from to\nSmith,J Doe,A\n")) == [("Smith,J", "Doe,A", 1)]
    for rows in ("1,\t2,\t3\n2,\t3,\t4\n", "u,\tv,\tw\n1,\t2,\t3\n2,\t3,\t4\n", "1;\t2;\t3\n2;\t3;\t4\n"):
        assert named(load(tmp_path, "a.csv", rows)) == [(1, 2, 3), (2, 3, 4)]


def test_a_column_that_says_of_some_rows_whether_they_are_directed_has_to_say_it_of_all(tmp_path: Path) -> None:
    text = "Source,Target,Type,Weight\n1,2,Undirected,5\n2,3,,6\n"
    with pytest.raises(InputError, match="line 3: row 2: '' in column 'Type' does not say whether the row is directed"):
        load(tmp_path, "a.csv", text)
    assert named(load(tmp_path, "a.csv", text, directed=True)) == [(1, 2, 5), (2, 3, 6)]
    table = pa.table({"source": [1, 2], "target": [2, 3], "Type": ["Directed", None]})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InputError, match="row 2 has nothing in column 'Type'"):
        gpugraph.load(tmp_path / "a.parquet")
    assert len(gpugraph.load(tmp_path / "a.parquet", directed=True).targets) == 2
    relations = load(tmp_path, "a.csv", "source,target,type\n1,2,friend\n2,3,mutual\n")
    assert [note for note in relations.notes if note.startswith("left out: column 'type'")]


@pytest.mark.parametrize("rows", ["1,2\nsource,target\n3,4\n", "a,b\nsource,target\nc,d\n"])
def test_the_names_of_the_columns_of_a_second_table_behind_the_first_are_no_edge(tmp_path: Path, rows: str) -> None:
    with pytest.raises(InputError, match="line 3: row 2 has the names of the columns again"):
        load(tmp_path, "a.csv", f"source,target\n{rows}")
    assert len(load(tmp_path, "a.csv", "source,target\na,source\ntarget,b\n").targets) == 2


@pytest.mark.parametrize("index", ["", "Unnamed: 0"])
@pytest.mark.parametrize("ends", ["source,target", "a,b"])
def test_an_index_of_pandas_neither_weighs_nor_ends_an_edge_though_rows_were_dropped(
    tmp_path: Path, index: str, ends: str
) -> None:
    graph = load(tmp_path, "a.csv", f"{index},{ends}\n5,1,2\n9,2,3\n")
    assert named(graph) == [(1, 2, 1), (2, 3, 1)]
    assert f"left out: column {index or '(untitled)'!r}" in graph.notes
    assert named(load(tmp_path, "a.csv", f"{index},{ends},w\n5,1,2,7\n9,2,3,8\n")) == [(1, 2, 7), (2, 3, 8)]


def test_the_column_that_weighs_may_be_named_beside_those_of_the_ends(tmp_path: Path) -> None:
    for columns in ("a,b", "1,2", "a,b,len"):
        graph = load(tmp_path, "a.csv", "a,b,w,len\nu,v,1,5\nv,w,2,6\n", columns=columns, weight="len")
        assert [weight for *_, weight in named(graph)] == [5, 6]
    for columns, weight, says in (
        ("a,b,w", "len", "the weight is 'w' by columns, and 'len' by weight"),
        ("a,b", "height", "unknown column 'height'"),
        ("a,b", "b", "makes no edges"),
        ("a", "len", "makes no edges"),
    ):
        with pytest.raises(InputError, match=says):
            gpugraph.load(tmp_path / "a.csv", columns=columns, weight=weight)


def test_a_column_of_ends_cannot_weigh(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column 'to' holds ends of edges"):
        load(tmp_path, "a.csv", "from,to\n1,2\n", weight="to")


@pytest.mark.parametrize("least", [0, 1 << 40])
def test_a_name_with_a_zero_byte_is_refused_wherever_it_is(tmp_path: Path, least: int) -> None:
    text = "source,target\n" + "a,b\n" * 20_000 + "a\0,b\n"
    with mock.patch.object(fields, "_LARGE", least), pytest.raises(InputError, match=r"line 20002: row 20001: the id"):
        load(tmp_path, "a.csv", text)


def test_a_row_whose_first_name_begins_with_a_hash_is_one_above_the_others_too(tmp_path: Path) -> None:
    graph = load(tmp_path, "a.csv", '#n,of,w\n#h,"b",3\n# c,b,3\n#i,b,4\na,b,2\n')
    assert named(graph) == [("#h", "b", 3), ("#i", "b", 4), ("a", "b", 2)]
    assert "line 1 has as many fields as a row, and is taken for a comment, as others like it" in graph.notes
    assert named(load(tmp_path, "a.csv", "#who,whom,weight\na,b,2\n")) == [("a", "b", 2)]
    (tmp_path / "a.csv").write_bytes(b"#h\ri,b,3\r\na,b,2\r\n")
    assert named(gpugraph.load(tmp_path / "a.csv")) == [("#h↵i", "b", 3), ("a", "b", 2)]


def test_a_first_field_in_quotes_may_hold_a_line_end(tmp_path: Path) -> None:
    graph = load(tmp_path, "a.txt", '"a\nb"\t"x\ty"\t"3"\n"x y"\tq\t2\n')
    assert named(graph) == [("a\nb", "x\ty", 3), ("x y", "q", 2)]


def test_one_more_column_that_has_only_words_is_no_weight(tmp_path: Path) -> None:
    graph = load(tmp_path, "a.csv", "source,target,note\n1,2,good\n2,3,bad\n")
    assert graph.weights.tolist() == [1, 1]
    assert any(note.startswith("left out: column 'note'") for note in graph.notes)
    with pytest.raises(InputError, match="the weight 'good' is not a number"):
        load(tmp_path, "a.csv", "source,target,note\n1,2,good\n2,3,5\n")


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("v1 v2 0.5\nv2 v3 2\n", [("v1", "v2", 0.5), ("v2", "v3", 2)]),
        ("u v 5\nv w 3\n", [("u", "v", 5), ("v", "w", 3)]),
        ("v1 v2 2019\nv3 v1 2020\n", [("v1", "v2", 2019), ("v3", "v1", 2020)]),
        ("source target 2019\na b 3\n", [("a", "b", 3)]),
        ("u v w\nu v 3\n", [("u", "v", 3)]),
        ("from to\na b\n", [("a", "b", 1)]),
        ("source target\nsource lib\n", [("source", "lib", 1)]),
    ],
)
def test_vertices_called_u_or_v1_are_no_names_of_columns(tmp_path: Path, text: str, edges: list[Any]) -> None:
    for name, separator in (("a.ncol", " "), ("a.csv", ",")):
        assert named(load(tmp_path, name, text.replace(" ", separator), directed=True)) == edges


def test_names_of_columns_may_hold_line_ends(tmp_path: Path) -> None:
    text = 'source,target,"weight\n(km)"\n1,2,3\n2,3,4\n'
    assert named(load(tmp_path, "a.csv", text, directed=True)) == [(1, 2, 3), (2, 3, 4)]
    text = 'source,target,5" pipes\n1,2,3\n2,3,4\n'
    assert named(load(tmp_path, "a.csv", text, directed=True)) == [(1, 2, 3), (2, 3, 4)]
    text = '"from\nhere",to,km\n"#a",b,3\nb,c,4\n'
    assert named(load(tmp_path, "a.csv", text, directed=True)) == [("#a", "b", 3), ("b", "c", 4)]
