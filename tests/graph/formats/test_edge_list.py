from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph.errors import GraphFormatError, InputError
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


def test_numbers_on_top_of_unweighted_edges_are_told_from_an_edge_by_the_count(tmp_path: Path) -> None:
    assert load_text(tmp_path, "a.txt", "5 2\n0 1\n1 2\n").vertices == 5
    graph = load_text(tmp_path, "a.txt", "5 3\n0 1\n1 2\n")
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == [0, 1, 2, 3, 5]


def test_with_the_number_of_vertices_told_an_id_equal_to_it_means_counting_from_one(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.txt", "3\n1 2 5\n2 3 7\n")
    assert arcs(graph) == [(0, 1, 5), (1, 2, 7)]
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == [1, 2, 3]
    assert arcs(load_text(tmp_path, "b.txt", "3 2\n1 2\n2 3\n")) == [(0, 1, 1), (1, 2, 1)]


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
        ("0 1\n1\n", 2, "found 1 fields"),
        ("0 1 2\n1 2 heavy\n", 2, "the weight 'heavy' is not a number"),
        ("0 1 2\n1 2 1_0\n", 2, "'1_0' is not a number"),
        ("0 1\n1 1.5\n", 2, "'1.5' is not an integer"),
        ("0 1 2\n1 2 nan\n", 2, "NaN"),
        ("0 1\n-1 2\n", 2, "negative vertex id"),
        (f"0 1\n{2**64} 2\n", 2, "more than 64 bits"),
        (f"0 1 -1\n1 2 {2**64 - 1}\n", 1, "more than 64 bits"),
        ("0 1 2 3\n", 1, "4 fields"),
        ("3 5\n0 1 5\n", 1, "promises 5 edges, but 1 follow"),
        ("3 1\n0 4 5\n", 2, "out of range 0..3"),
        ("3 2\n0 1 5\n1 3 5\n", 3, "out of range 0..2"),
        (f"{2**60}\n0 1 5\n", 1, "more than 2^40"),
        ("hello world\n", 1, "'hello' is not an integer"),
        ("0 1 2\n\xff\xfe x y\n", 2, "is not an integer"),
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
    with pytest.raises(InputError, match="--weights unit"):
        written(zoo("triangle"), "edgelist", ".el")
