from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph.base.errors import GraphFormatError
from tests.graph.formats.samples import ARCS, arcs, load_text

BANNER = "%%MatrixMarket matrix coordinate "


def test_a_symmetric_integer_matrix_is_an_undirected_graph(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.mtx", BANNER + "integer symmetric\n% by hand\n4 4 3\n2 1 5\n3 1 7\n3 3 9\n")
    assert arcs(graph) == ARCS
    assert not graph.directed
    assert graph.notes == ("dropped 1 self loop",)


def test_a_general_real_matrix_is_a_directed_graph_of_doubles(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.mtx", BANNER + "real general\n3 3 3\n1 2 -.25\n2 3 3\n3 1 1e-3\n")
    assert arcs(graph) == [(0, 1, -0.25), (1, 2, 3.0), (2, 0, 0.001)]
    assert graph.directed
    assert str(graph.weights.dtype) == "float64"


def test_a_real_matrix_of_whole_numbers_stays_real(tmp_path: Path) -> None:
    assert str(load_text(tmp_path, "a.mtx", BANNER + "real general\n2 2 1\n1 2 3\n").weights.dtype) == "float64"


def test_a_pattern_weighs_one(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.mtx", BANNER + "pattern symmetric\n2 2 1\n2 1\n")) == [(0, 1, 1), (1, 0, 1)]


def test_a_general_matrix_with_equal_halves_is_undirected(tmp_path: Path) -> None:
    assert not load_text(tmp_path, "a.mtx", BANNER + "integer general\n2 2 2\n2 1 3\n1 2 3\n").directed


def test_a_minus_zero_loads_as_zero(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.mtx", BANNER + "real general\n2 2 1\n1 2 -0.0\n")
    assert str(graph.weights[0]) == "0.0"


def test_a_plus_sign_is_read_though_the_fast_parser_refuses_it(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.mtx", BANNER + "real general\n2 2 1\n1 2 +1.5\n")) == [(0, 1, 1.5)]


def test_a_symmetric_matrix_that_lists_both_halves_alike_is_read(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.mtx", BANNER + "integer symmetric\n2 2 2\n2 1 3\n1 2 3\n")
    assert arcs(graph) == [(0, 1, 3), (1, 0, 3)]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (BANNER + "real skew-symmetric\n2 2 0\n", 1, "'skew-symmetric' is not supported"),
        (BANNER + "complex general\n2 2 0\n", 1, "'complex' is not supported"),
        (BANNER + "complex hermitian\n2 2 0\n", 1, "not supported"),
        ("%%MatrixMarket matrix array real general\n2 2\n", 1, "'array' is not supported"),
        ("%%MatrixMarket graph\n", 1, "no Matrix Market banner"),
        ("2 2 1\n1 2 3\n", 1, "no Matrix Market banner"),
        (BANNER + "real general\n2 3 0\n", 2, "2 rows and 3 columns is no graph"),
        (BANNER + "real general\n2 2\n", 2, "size line has 2 fields"),
        (BANNER + "real general\n2 2 2\n1 2 3\n", 2, "promises 2 entries, the file lists 1"),
        (BANNER + "real general\n2 2 1\n1 3 3\n", 3, "out of range 1..2"),
        (BANNER + "real general\n2 2 1\n1 2 nan\n", 3, "NaN"),
        (BANNER + "real general\n2 2 1\n1 2\n", 3, "expected tail, head and weight"),
        (BANNER + "real general\n2 2 1\n\ufeff1 2 3\n", 3, "is not an integer"),
        (BANNER + f"real general\n{2**60} {2**60} 0\n", 2, "more than 2^40"),
        (BANNER + f"real general\n2 2 {2**60}\n1 2 3\n", 2, f"promises {2**60} entries"),
        (BANNER + "integer symmetric\n% c\n3 3 3\n2 1 5\n3 1 4\n1 2 6\n", 6, "declared symmetric, but (1, 2) is 6"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(GraphFormatError) as caught:
        load_text(tmp_path, "bad.mtx", text)
    assert caught.value.line == line
    assert says in str(caught.value)
    assert caught.value.remedy


def test_a_file_that_ends_before_its_size_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="ends before its size line"):
        load_text(tmp_path, "bad.mtx", BANNER + "real general\n% nothing\n")
