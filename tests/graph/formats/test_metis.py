from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph.base.errors import GraphFormatError
from tests.graph.formats.samples import ARCS, arcs, load_text


def test_a_weighted_graph_with_an_isolated_vertex_is_read(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.graph", "% by hand\n4 2 001\n2 5 3 7\n1 5\n% between\n1 7\n\n")
    assert arcs(graph) == ARCS
    assert not graph.directed
    assert graph.vertex_names is not None


@pytest.mark.parametrize(
    "text",
    [
        "4 2\n2 3\n1\n1\n\n",
        "4 2 0\n 2\t3 \n1\n1\n \n\n",
        "4 2 10\n9 2 3\n9 1\n9 1\n9\n",
        "4 2 010 2\n8 9 2 3\n8 9 1\n8 9 1\n8 9\n",
        "4 2 110 2\n7 8 9 2 3\n7 8 9 1\n7 8 9 1\n7 8 9\n",
        "4 2 100\n9 2 3\n9 1\n9 1\n9",
    ],
)
def test_sizes_and_weights_of_vertices_are_passed_over(tmp_path: Path, text: str) -> None:
    assert arcs(load_text(tmp_path, "a.graph", text)) == [(u, v, 1) for u, v, _ in ARCS]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("3 2\n2 4\n1\n1\n", 2, "the neighbour 4 is out of range 1..3"),
        ("3 2\n2 3\n1\n0\n", 4, "the neighbour 0 is out of range"),
        ("3 2\n2 x\n1\n1\n", 2, "'x' is not an integer"),
        ("3 2\n2 3\n1\n", 3, "ends after the lines of 2 of 3 vertices"),
        ("3 2\n2 3\n1\n1\n1\n", 5, "more lines than the 3 vertices"),
        ("3 2 1\n2 5 3\n1 5\n1 7\n", 2, "without the weight of its edge"),
        ("3 2 10\n9 2 3\n\n9 1\n", 3, "are expected, found 0 numbers"),
        ("3 4\n2 3\n1\n1\n", 1, "promises 4 edges, so 8 neighbours; the lines hold 4"),
        ("2 1\n0x2\n1\n", 2, "'0x2' is not an integer"),
        ("3\n2 3\n1\n1\n", 1, "the header is not"),
        ("3 2 7\n2 3\n1\n1\n", 1, "the header is not"),
        (f"{2**60} 0\n", 1, "more than 2^40"),
        (f"3 {2**60}\n2\n1\n\n", 1, f"promises {2**60} edges"),
        (f"2 1 1\n2 {2**63}\n1 {2**63}\n", 2, "more than 64 bits"),
        ("% c\n3 2 1\n2 5 3 7\n1 5\n1 8\n", 3, "the edge 1 - 3 weighs 7 one way and 8 the other"),
        ("3 2\n2 3\n1 3\n\n", 2, "has the arc"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(GraphFormatError) as caught:
        load_text(tmp_path, "bad.graph", text)
    assert says in str(caught.value)
    assert caught.value.line == line
    assert caught.value.remedy


def test_a_file_of_comments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="ends before its header"):
        load_text(tmp_path, "bad.graph", "% nothing\n")


def test_weights_of_nineteen_digits_and_leading_zeros_are_read(tmp_path: Path) -> None:
    for weight in (10**18, 2**62, 2**63 - 1, -(2**63) + 1):
        text = f"2 1 1\n{'0' * 20}2 {weight}\n1 {weight}\n"
        assert arcs(load_text(tmp_path, "a.graph", text)) == [(0, 1, weight), (1, 0, weight)]
    for weight in (2**63, 10**19 - 1, 2**64 + 5):
        with pytest.raises(GraphFormatError, match=r"line 2: .* needs more than 64 bits"):
            load_text(tmp_path, "b.graph", f"2 1 1\n2 {weight}\n1 {weight}\n")


def test_the_remedy_for_one_sided_edges_is_no_option_that_is_refused_as_well(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError) as caught:
        load_text(tmp_path, "a.graph", "2 1 1\n2 5\n1 6\n")
    assert caught.value.remedy == "list both arcs of each edge, with equal weights"
