from __future__ import annotations

from pathlib import Path

import pytest

import gpugraph
from gpugraph.base.errors import GpuGraphWarning, GraphFormatError, InputError
from gpugraph.ext.formats.files import save_file
from tests.graph.formats.samples import ARCS, arcs, load_text

DIMACS = "c roads\np sp 4 4\na 1 2 5\na 1 3 7\nc between\na 2 1 5\na 3 1 7\n"


def test_a_dimacs_file_is_read_with_its_ids_as_names(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.gr", DIMACS)
    assert arcs(graph) == ARCS
    assert (graph.name, graph.vertices, graph.directed, str(graph.weights.dtype)) == ("a", 4, False, "uint32")
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("change", [("\n", "\r\n"), (" ", "\t"), (" ", "   "), ("\n", " \n"), ("\na", "\n  a")])
def test_other_white_space_makes_no_difference(tmp_path: Path, change: tuple[str, str]) -> None:
    assert arcs(load_text(tmp_path, "a.gr", DIMACS.replace(*change))) == ARCS


def test_without_a_final_newline_the_last_arc_counts(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.gr", DIMACS.rstrip())) == ARCS


def test_without_a_problem_line_a_vertex_zero_means_counting_from_zero(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.gr", "a 0 2 5\na 2 1 7\n")
    assert arcs(graph) == [(0, 2, 5), (2, 1, 7)]
    assert graph.directed
    assert graph.vertex_names is None


def test_without_a_problem_line_and_without_vertex_zero_ids_count_from_one(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.gr", "a 1 3 5\n")) == [(0, 2, 5)]


def test_with_a_problem_line_a_vertex_zero_means_counting_from_zero(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.gr", "p sp 3 1\na 0 2 5\n")) == [(0, 2, 5)]


def test_negative_and_real_weights_are_read(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.gr", "p sp 2 1\na 1 2 -5\n")) == [(0, 1, -5)]
    graph = load_text(tmp_path, "a.gr", "p sp 2 1\na 1 2 0.5\n")
    assert (arcs(graph), str(graph.weights.dtype)) == ([(0, 1, 0.5)], "float64")


def test_arcs_without_weights_weigh_one(tmp_path: Path) -> None:
    assert arcs(load_text(tmp_path, "a.gr", "p sp 2 1\na 1 2\n")) == [(0, 1, 1)]


def test_loops_and_parallel_arcs_are_dropped_and_said(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.gr", "p sp 2 4\na 1 1 3\na 1 2 9\na 1 2 4\na 2 1 4\n")
    assert arcs(graph) == [(0, 1, 4), (1, 0, 4)]
    assert graph.notes == ("dropped 1 self loop", "merged 1 parallel arc")


def test_a_pace_file_lists_undirected_edges_once(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.gr", "c tree width\np tw 4 2\n1 2\n1 3\n")
    assert arcs(graph) == [(u, v, 1) for u, v, _ in ARCS]
    assert not graph.directed


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("p sp 4 1\na 1 5 1\n", 2, "vertex id 5 is out of range"),
        ("p sp 4 1\na 1 -2 1\n", 2, "negative vertex id"),
        ("p sp 4 2\na 0 1 1\na 1 4 1\n", 3, "vertex id 4 is out of range 0..3"),
        ("p sp 4 1\na 1 2 x\n", 2, "the weight 'x' is not a number"),
        ("p sp 4 1\na 1 2 nan\n", 2, "NaN"),
        ("p sp 4 2\na 1 2 3\na 1 two 3\n", 3, "'two' is not an integer"),
        ("p sp 4 2\na 1 2 3\nb 1 2 3\n", 3, "not with 'b'"),
        ("p sp 4 2\na 1 2 3\na 1 2 3 4\n", 3, "expected tail, head and weight"),
        ("p sp 4 2\na 1 2 3\n", 1, "promises 2 arcs, the file lists 1"),
        ("c x\np edge 4 2\ne 1 2\n", 2, "neither 'p sp N M' nor 'p tw N M'"),
        ("p sp four 2\n", 1, "'four' is not an integer"),
        (f"p sp {2**60} 0\n", 1, "more than 2^40"),
        (f"p sp 3 {2**60}\na 1 2 3\n", 1, f"promises {2**60} arcs"),
        ("p sp 3 -1\n", 1, "negative number of arcs"),
        ("p tw 3 1\n1 2 3\n", 2, "expected tail and head, found 3 fields"),
        ("p tw 3 1\n0 2\n", 2, "out of range 1..3"),
        (f"p sp 3 1\na 1 2 {2**64}\n", 2, "more than 64 bits"),
        (f"a 1 {2**70} 3\n", 1, "more than 64 bits"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(GraphFormatError) as caught:
        load_text(tmp_path, "bad.gr", text)
    assert caught.value.line == line
    assert f"bad.gr line {line}: " in str(caught.value)
    assert says in str(caught.value)
    assert caught.value.remedy


def test_a_bad_line_beyond_the_first_block_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.graph.input_file.Source.chunks", _in_small_chunks)
    text = "p sp 300 301\n" + "".join(f"a {i} {i % 300 + 1} 3\n" for i in range(1, 301)) + "a 1 301 3\n"
    with pytest.raises(GraphFormatError) as caught:
        load_text(tmp_path, "bad.gr", text)
    assert caught.value.line == 302


def _in_small_chunks(self, size: int = 0):
    data = Path(self.path).read_bytes()
    yield from (data[i : i + 50] for i in range(0, len(data), 50))


def test_blocks_of_any_size_give_the_same_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.graph.input_file.Source.chunks", _in_small_chunks)
    assert arcs(load_text(tmp_path, "a.gr", DIMACS)) == ARCS


def test_an_arc_without_its_weight_is_the_line_that_is_named(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="line 3: expected tail, head and weight, found 2 fields"):
        load_text(tmp_path, "a.gr", "c roads\np sp 3 3\na 1 2\na 2 3 5\na 1 3 4\n")
    assert arcs(load_text(tmp_path, "a.gr", "p sp 3 2\na 1 2\na 2 3\n")) == [(0, 1, 1), (1, 2, 1)]


def test_sources_are_read_from_the_files_of_the_challenge(tmp_path: Path) -> None:
    (tmp_path / "a.gr").write_text(DIMACS)
    (tmp_path / "a.ss").write_text("c\np aux sp ss 2\ns 3\ns 1\n")
    (tmp_path / "a.p2p").write_text("p aux sp p2p 3\nq 1 2\nq 3 1\nq 1 3\n")
    for name, sources in (("a.ss", [2, 0]), ("a.p2p", [0, 2])):
        found = gpugraph.sssp(tmp_path / "a.gr", str(tmp_path / name), device="cpu")
        assert [one.source for one in found] == sources  # type: ignore[union-attr]
    for text, says in (
        ("s 9\n", "a.ss: no vertex is called '9'"),
        ("s 1 2\n", "line 1: 's 1 2' is neither"),
        ("s x\n", "line 1: .*'x'"),
        ("c\n", "no source"),
    ):
        (tmp_path / "a.ss").write_text(text)
        with pytest.raises(InputError, match=says):
            gpugraph.sssp(tmp_path / "a.gr", str(tmp_path / "a.ss"), device="cpu")


def test_a_file_of_comments_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="neither a problem line nor an arc"):
        load_text(tmp_path, "a.gr", "c of a file cut short\nc\n")


def test_sources_cut_short_are_noticed_by_their_number(tmp_path: Path) -> None:
    (tmp_path / "a.gr").write_text(DIMACS)
    (tmp_path / "a.ss").write_text("p aux sp ss 3\ns 3\ns 1\n")
    with pytest.raises(InputError, match="promises 3 lines, and has 2"):
        gpugraph.sssp(tmp_path / "a.gr", str(tmp_path / "a.ss"), device="cpu")


def test_a_notice_says_that_sources_count_from_0_where_the_graph_does(tmp_path: Path) -> None:
    save_file(load_text(tmp_path, "a.gr", DIMACS), tmp_path / "a.csr")
    (tmp_path / "a.ss").write_text("s 3\ns 1\n")
    with pytest.warns(GpuGraphWarning, match="a.ss: ids are taken to count from 0, .*DIMACS counts from 1"):
        found = gpugraph.sssp(tmp_path / "a.csr", str(tmp_path / "a.ss"), device="cpu")
    assert [one.source for one in found] == [3, 1]  # type: ignore[union-attr]
    (tmp_path / "a.ss").write_text("s 4\n")
    with pytest.raises(InputError, match=r"a\.ss: "), pytest.warns(GpuGraphWarning, match="count from 0"):
        gpugraph.sssp(tmp_path / "a.csr", str(tmp_path / "a.ss"), device="cpu")
