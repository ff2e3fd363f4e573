from __future__ import annotations

from pathlib import Path

import pytest

import gpugraph
from gpugraph.base.errors import GraphFormatError, InputError, OutOfMemory
from gpugraph.graph.input_file import Source
from gpugraph.graph.load import load_file
from gpugraph.graph.read_options import ReadOptions
from tests.graph.formats.samples import arcs, load_text, written
from tests.zoo import directed, zoo


@pytest.mark.parametrize("separator", [" ", "\t", ",", ", ", "  ", " \t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_any_separator_and_line_end_is_read(tmp_path: Path, separator: str, end: str) -> None:
    text = end.join(["# made by hand", separator.join("015"), "% and more", "", separator.join("127"), ""])
    assert arcs(load_text(tmp_path, "a.txt", text)) == [(0, 1, 5), (1, 2, 7)]


def test_without_weights_arcs_weigh_one(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.el", "0 1\n1 0\n1 2\n2 1\n")
    assert arcs(graph) == [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)]
    assert not graph.directed


@pytest.mark.parametrize(
    ("text", "vertices"),
    [
        ("4 2\n0 1 5\n1 2 7\n", 4),
        ("4\n0 1 5\n1 2 7\n", 4),
        ("4\n2\n0 1 5\n1 2 7\n", 4),
        ("# Nodes: 4 Edges: 2\n0 1 5\n1 2 7\n", 4),
        ("0 1 5\n1 2 7\n", 3),
    ],
)
def test_the_numbers_of_vertices_and_edges_may_stand_on_top(tmp_path: Path, text: str, vertices: int) -> None:
    graph = load_text(tmp_path, "a.txt", text)
    assert arcs(graph) == [(0, 1, 5), (1, 2, 7)]
    assert graph.vertices == vertices
    assert graph.vertex_names is None


@pytest.mark.parametrize("first", ["5,2,", "5,,2", ",5,2", "5,"])
def test_an_edge_that_lacks_a_field_is_no_numbers_on_top(tmp_path: Path, first: str) -> None:
    text = f"# c\r\n{first}\r\n2,3,4\r\n3,4,1\r\n"
    with pytest.raises(GraphFormatError, match=r"line 2: the field \d of \d is empty .*--input-format counted"):
        load_text(tmp_path, "a.csv", text)
    assert arcs(load_text(tmp_path, "a.csv", text, input_format="counted")) == [(2, 3, 4), (3, 4, 1)]


@pytest.mark.parametrize("text", ["1 2\t3\n2 3\t4\n3 1\t5\n", "1\t2 3\n2\t3 4\n3\t1 5\n"])
def test_blanks_and_tabs_are_gaps_also_beside_each_other(tmp_path: Path, text: str) -> None:
    assert arcs(load_text(tmp_path, "a.txt", text)) == [(0, 1, 3), (1, 2, 4), (2, 0, 5)]
    assert arcs(load_text(tmp_path, "a.csv", text.replace("3\n", "0.5\n", 1)))[0] == (0, 1, 0.5)


def test_numbers_between_blanks_are_no_names_of_columns(tmp_path: Path) -> None:
    for name in ("a.txt", "a.csv", "a.dat"):
        assert arcs(load_text(tmp_path, name, "8 7 34\t\n2\t8\t82\n")) == [(0, 2, 82), (2, 1, 34)]


@pytest.mark.parametrize("text", ["5 2\n0 1\n1 2\n", "3 2\n2 1\n1 3\n", "7 0\n", "# c\n3 1\n0 1\n1 0\n"])
def test_a_first_line_that_may_be_an_edge_or_numbers_on_top_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(GraphFormatError, match="may be an edge, or the numbers of vertices and edges") as caught:
        load_text(tmp_path, "a.txt", text)
    assert caught.value.line == 1 + text.startswith("#")
    assert "--input-format el" in str(caught.value.remedy)
    assert "--input-format counted" in str(caught.value.remedy)


def test_who_says_which_gets_the_edge_or_the_numbers(tmp_path: Path) -> None:
    text = "3 2\n2 1\n1 3\n"
    edges = [(0, 2, 1), (1, 0, 1), (2, 1, 1)]
    assert arcs(load_text(tmp_path, "a.txt", text, input_format="el")) == edges
    assert arcs(load_text(tmp_path, "a.el", text)) == edges
    assert arcs(load_text(tmp_path, "a.csv", "u,v\n" + text.replace(" ", ","))) == edges
    counted = load_text(tmp_path, "a.txt", text, input_format="counted")
    assert (counted.vertices, arcs(counted)) == (3, [(0, 2, 1), (1, 0, 1)])
    assert load_text(tmp_path, "a.el", "7 0\n", input_format="counted").vertices == 7
    assert load_text(tmp_path, "a.el", "7 0\n").vertices == 2


def test_large_numbers_beyond_all_ids_are_no_edge_and_that_is_reported(tmp_path: Path) -> None:
    lines = [f"{u} {v}" for u in range(1, 41) for v in range(41, 71)]
    text = "\n".join([f"70 {len(lines)}", *lines, ""])
    graph = load_text(tmp_path, "a.txt", text)
    assert (graph.vertices, graph.arcs) == (70, 1200)
    assert graph.notes[0].startswith("'70 1200' on top is taken for the numbers of vertices and edges")
    assert load_text(tmp_path, "a.txt", text, input_format="el").arcs == 1201
    for n in (1200, 2000):
        with pytest.raises(GraphFormatError, match="may be an edge"):
            load_text(tmp_path, "a.txt", "\n".join([f"{n} {len(lines)}", *lines, ""]))


@pytest.mark.parametrize(("text", "line"), [("0 1 5\n", 1), ("# nothing\n", None), ("5 3\n0 1\n", 1)])
def test_a_list_said_to_be_counted_has_to_keep_to_it(tmp_path: Path, text: str, line: int | None) -> None:
    with pytest.raises(GraphFormatError) as caught:
        load_text(tmp_path, "a.txt", text, input_format="counted")
    assert caught.value.line == line


def test_an_edge_that_cannot_be_the_numbers_of_the_others_is_an_edge(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.txt", "5 3\n0 1\n1 2\n", directed=True)
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == [0, 1, 2, 3, 5]
    assert graph.notes == ("1 of the ids 0 to 5 do not occur and are no vertices; --keep-ids keeps them",)


def test_the_vertices_that_no_edge_meets_are_kept_on_request(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.el", "0 1\n5 1\n", keep_ids=True, directed=True)
    assert (graph.vertices, graph.vertex_names, graph.notes) == (6, None, ())
    assert arcs(graph) == [(0, 1, 1), (5, 1, 1)]
    with pytest.raises(OutOfMemory, match=f"{2**39 + 1} vertices"):
        load_text(tmp_path, "a.el", f"0 {2**39}\n", keep_ids=True)


def test_names_far_apart_are_no_missing_vertices(tmp_path: Path) -> None:
    assert load_text(tmp_path, "a.el", "10 20\n20 40\n", directed=True).notes == ()
    assert load_text(tmp_path, "a.el", "1 2\n2 3\n", directed=True).notes == ()


def test_ids_that_may_count_from_0_or_1_are_reported(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.wel", "4\n1 2 5\n2 3 7\n")
    assert graph.notes[:-1] == ("neither vertex 0 nor 4 of 4 occurs: ids are taken to count from 0",)
    assert arcs(graph) == [(1, 2, 5), (2, 3, 7)]


def test_a_comment_that_tells_another_number_of_edges_is_noted(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.txt", "# Nodes: 3 Edges: 9\n0 1\n1 2\n")
    assert graph.notes[:-1] == ("the comment on top gives 9 edges, the file lists 2",)


def test_with_the_number_of_vertices_given_an_id_equal_to_it_means_counting_from_one(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.txt", "3\n1 2 5\n2 3 7\n")
    assert arcs(graph) == [(0, 1, 5), (1, 2, 7)]
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == [1, 2, 3]
    assert arcs(load_text(tmp_path, "b.txt", "3 2\n1 2\n2 3\n", input_format="counted")) == [(0, 1, 1), (1, 2, 1)]


@pytest.mark.parametrize("big", [30, 2**40, 2**63 - 1])
def test_arbitrary_ids_are_compacted_in_order_and_kept_as_names(tmp_path: Path, big: int) -> None:
    graph = load_text(tmp_path, "a.txt", f"{big} 7 1\n7 9 2\n")
    assert arcs(graph) == [(0, 1, 2), (2, 0, 1)]
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == [7, 9, big]


def test_a_csv_may_begin_with_column_names(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.csv", "source,target,weight\n0,1,5\n")) == [(0, 1, 5)]


def test_whole_and_real_weights_together_are_real(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.wel", "0 1 5\n1 2 0.5\n2 3 1e3\n3 4 inf\n")
    assert graph.weights.tolist() == [5.0, 0.5, 1000.0, float("inf")]


@pytest.mark.parametrize(
    ("weights", "dtype"),
    [
        ([1, 2**32 - 1], "uint32"),
        ([-1, 2**31 - 1], "int32"),
        ([-1, 2**31], "int64"),
        ([0, 2**63 - 1], "int64"),
        ([0, 2**63], "uint64"),
        ([2**64 - 1, 2**64 - 2], "uint64"),
    ],
)
def test_integer_weights_load_exactly_in_the_narrowest_type(tmp_path: Path, weights: list[int], dtype: str) -> None:
    graph = load_text(tmp_path, "a.wel", f"0 1 {weights[0]}\n1 2 {weights[1]}\n")
    assert graph.weights.tolist() == weights
    assert str(graph.weights.dtype) == dtype


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("0 1\n1 two\n", 2, "'two' is not an integer"),
        ("0 1\n# fine\n1 2 3\n", 3, "expected tail and head, found 3 fields"),
        ("0 1\n1\n", 2, "found 1 field "),
        ("0 1 2\n1 2 heavy\n", 2, "the weight 'heavy' is not a number"),
        ("0 1 2\n1 2 1_0\n", 2, "'1_0' is not a number"),
        ("0 1\n1 1.5\n", 2, "'1.5' is not an integer"),
        ("0 1 2\n1 2 nan\n", 2, "NaN"),
        ("0 1\n-1 2\n", 2, "negative vertex id"),
        (f"0 1\n{2**64} 2\n", 2, "more than 64 bits"),
        (f"0 1 -1\n1 2 {2**64 - 1}\n", 1, "more than 64 bits"),
        ("0 1 2 3\n", 1, "4 fields"),
        ("0 1\n0x1 2\n", 2, "'0x1' is not an integer"),
        ("0 1 5\n1 2 0X1F\n", 2, "'0X1F' is not a number"),
        ("1 " * 99, 1, "more than 32 fields"),
        ("3 5\n0 1 5\n", 1, "the first line promises 5 edges, the file lists 1"),
        ("3 1\n0 4 5\n", 2, "out of range 1..3, or 0..2 where ids count from 0"),
        ("3 2\n0 1 5\n1 3 5\n", 3, "out of range 0..2"),
        (f"{2**60}\n0 1 5\n", 1, "more than 2^40"),
        ("0 1\nhello world\n", 2, "'hello' is not an integer"),
        ("0 1 2\n\xff\xfe x y\n", 2, "is not an integer"),
        ("0,1,5\n1,,2\n", 2, "the field 2 of 3 is empty"),
        ("0,1\n1,2,\n", 2, "the field 3 of 3 is empty"),
        (",0,1\n", 1, "the field 1 of 3 is empty"),
        ("0 1\r1 2\r", 1, "its lines end in carriage returns alone"),
        ("0 1 5\n0 1 1e400\n", 2, "'1e400' is beyond what a double holds"),
        ("0 1 0.5\n1 2 inf\n2 3 -1e999\n", 3, "beyond what a double holds"),
        (f"0 1 0.5\n1 2 {2**53 + 1}\n", 2, "would round them"),
        (f"0 1 {'9' * 5000}\n", 1, "needs more than 64 bits"),
        (f"0 {'9' * 5000}\n", 1, "needs more than 64 bits"),
        (f"{'9' * 5000}\n0 1 2\n", 1, "needs more than 64 bits"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(GraphFormatError) as caught:
        load_text(tmp_path, "bad.txt", text)
    assert caught.value.line == line
    assert says in str(caught.value)
    assert caught.value.remedy


def test_a_file_of_comments_lists_no_edges(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="lists no edges"):
        load_text(tmp_path, "bad.txt", "# nothing\n")


def test_the_number_of_vertices_is_written_only_where_the_arcs_do_not_tell_it() -> None:
    assert written(zoo("triangle"), "edgelist", ".wel").startswith(b"0 1 1\n")
    assert written(zoo("one-edge-and-isolated"), "edgelist", ".csv") == b"# Nodes: 4 Edges: 2\n1,3,7\n3,1,7\n"


def test_unweighted_arcs_that_look_like_numbers_on_top_are_read_back(tmp_path: Path) -> None:
    graph = directed(6, [(5, 1, 1), (5, 2, 1)])
    back = load_text(tmp_path, "a.el", written(graph, "edgelist", ".el"))
    assert arcs(back) == arcs(graph)


def test_a_weighted_graph_does_not_go_into_an_unweighted_file() -> None:
    with pytest.raises(InputError, match="--reweight unit"):
        written(zoo("triangle"), "edgelist", ".el")


@pytest.mark.parametrize("rows", [1, 20_000])
def test_ids_with_leading_zeros_or_signs_are_names(tmp_path: Path, rows: int) -> None:
    plain = "".join(f"{i} {i + 1} 2\n" for i in range(1, rows))
    graph = load_text(tmp_path, "a.wel", f"{plain}{'0' * 60}7 8 1.5\n+7 {'0' * 5000}9 2\n7 8 3\n")
    assert graph.vertex_names is not None
    assert {"0" * 60 + "7", "+7", "7", "8", "0" * 5000 + "9"} <= set(graph.vertex_names.tolist())
    assert "leading zeros or signs" in " ".join(graph.notes)
    assert arcs(load_text(tmp_path, "b.wel", "2\n00 1 5\n")) == [(0, 1, 5)]  # counted: they are numbers


def test_columns_left_empty_between_tabs_are_refused_where_tabs_part_columns(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="the field 2 of 3 is empty"):
        load_text(tmp_path, "a.tsv", "1\t\t2\n3\t\t4\n")
    assert len(arcs(load_text(tmp_path, "a.txt", "1\t\t2\n3\t\t4\n"))) == 2


def test_rows_of_a_csv_without_a_single_value_are_blank(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.csv", "u,v,w\n0,1,5\n,,\n# x,,y\n1,2,7\n")) == [(0, 1, 5), (1, 2, 7)]


def test_whole_weights_that_reals_elsewhere_would_round_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Source.chunks
    monkeypatch.setattr(Source, "chunks", lambda self, size=24: whole(self, size))
    with pytest.raises(GraphFormatError, match="would round them"):
        load_text(tmp_path, "a.wel", f"0 1 {2**53 + 1}\n1 2 0.5           \n")
    assert arcs(load_text(tmp_path, "b.wel", f"0 1 {2**53 + 2}\n1 2 0.5           \n"))[0] == (0, 1, 2**53 + 2)


@pytest.mark.parametrize("name", ["a.txt", "a.csv"])
def test_more_vertices_than_any_machine_holds_are_refused_before_a_line_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('"1","2"\n' if name == "a.csv" else "1 2\n")
    for vertices in (2**41, 2**63, 2**70):
        with pytest.raises(InputError, match="more than 2\\^40"):
            load_file(tmp_path / name, ReadOptions(vertices=vertices))


def test_a_note_says_that_ids_may_count_from_one_wherever_their_number_is_given(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"1",2\n2,3\n')
    graphs = [
        load_text(tmp_path, "a.txt", "# Nodes: 4 Edges: 2\n1 2\n2 3\n"),
        gpugraph.load(tmp_path / "a.csv", vertices=4),
    ]
    for graph in graphs:
        assert "neither vertex 0 nor 4 of 4 occurs: ids are taken to count from 0" in graph.notes


def test_a_given_number_of_vertices_hides_nothing_that_the_file_says(tmp_path: Path) -> None:
    four = {"vertices": 4}
    with pytest.raises(GraphFormatError, match="'4 2' may be an edge, or the numbers of vertices and edges"):
        load_text(tmp_path, "a.txt", "4 2\n1 2\n2 3\n", **four)
    assert len(arcs(load_text(tmp_path, "b.txt", "3 2\n0 1\n1 2\n", **four))) == 3
    with pytest.raises(GraphFormatError, match="two sides number their vertices apart — leave --vertices out"):
        load_text(tmp_path, "c.txt", "% bip weighted\n1 1 5\n2 2 6\n", **four)
    short = load_text(tmp_path, "d.txt", "# Nodes: 5 Edges: 7\n0 1\n1 2\n", **four)
    assert "the comment on top gives 7 edges, the file lists 2" in short.notes


def test_a_list_without_an_edge_may_have_no_vertex(tmp_path: Path) -> None:
    for vertices in (0, 3):
        assert load_text(tmp_path, "a.txt", "# nothing\n", vertices=vertices).vertices == vertices
