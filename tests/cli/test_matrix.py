"""Tables of distances: as searches alone give them, certified as far as they went, and written in three formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base.errors import InputError, VerificationFailed
from gpugraph.ext.matrix.check import certify_within
from gpugraph.ext.matrix.table import distances_between
from gpugraph.ext.python.resident_graph import ResidentGraph
from gpugraph.ext.tuned.sssp import cpu_delta_stepping
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.problems.sssp.arcs import Arcs, unreached
from gpugraph.problems.sssp.verify import reference_distances
from tests.cli.runner import refuse, succeed
from tests.emulator.compiler import needs_compiler
from tests.problems.sssp.small_graphs import SEARCHABLE, expected_distances, graphs
from tests.tiers import drawn, first
from tests.zoo import directed, undirected, zoo


def table(graph: CSRGraph, sources: Any, goals: Any, device: str = "cpu") -> tuple[Any, int, int]:
    with ResidentGraph(graph, device) as held:
        return distances_between(held, np.array(sources), np.array(goals), lambda step, share: None)


def rows(graph: CSRGraph, sources: Any) -> Any:
    return np.stack([reference_distances(graph, int(source))[0] for source in sources])


@pytest.mark.parametrize("name", SEARCHABLE)
def test_a_table_has_what_searches_alone_give(name: str) -> None:
    graph = zoo(name)
    few, many = np.linspace(0, graph.vertices - 1, 3).astype(int), np.arange(graph.vertices)[::-1][:9]
    for sources, goals in ((few, many), (many, few)):
        np.testing.assert_array_equal(table(graph, sources, goals)[0], rows(graph, sources)[:, goals])


@needs_compiler
@pytest.mark.parametrize("name", first(2, ["directed-random", "float64", "random-ties", "zero-weights", "many-tiny"]))
def test_the_emulated_device_gives_the_same_table(name: str) -> None:
    graph, sources, goals = zoo(name), [1, 0, 1], [3, 2, 3, 0]
    found, searches, early = table(graph, sources, goals, "emulated")
    assert (searches, early) == (2, 0)
    np.testing.assert_array_equal(found, table(graph, sources, goals)[0])


@drawn(200)
@given(graphs(), st.data())
def test_any_vertices_of_any_graph(graph: CSRGraph, data: Any) -> None:
    vertices = st.lists(st.integers(0, graph.vertices - 1), min_size=1, max_size=5)
    sources, goals = data.draw(vertices), data.draw(vertices)
    right = np.stack([expected_distances(graph, source)[goals] for source in sources])
    np.testing.assert_array_equal(table(graph, sources, goals)[0], right)


def test_a_search_ends_with_its_farthest_goal_and_what_lies_beyond_is_not_found(monkeypatch: Any) -> None:
    graph, seen = generate("path:20000,w=1..9"), []
    monkeypatch.setattr(
        "gpugraph.ext.matrix.table.certify_within", lambda *found: seen.extend((found[2].copy(), found[4]))
    )
    found, searches, early = table(graph, [0], [40, 3])
    assert (searches, early) == (1, 1)
    reached = np.count_nonzero(seen[0] != unreached(seen[0].dtype))
    assert 40 < reached < 10_000
    assert found[0].tolist() == rows(graph, [0])[0, [40, 3]].tolist()
    assert seen[1] == found[0, 0], "certified as far as the farthest goal"
    assert table(undirected(4, [(0, 1, 5)]), [0], [1, 3])[1:] == (1, 0), "a goal without a path needs the whole search"


@needs_compiler
def test_a_gpu_certifies_every_row_and_returns_as_many_at_once_as_fit(monkeypatch: Any) -> None:
    for name, value in (("_WORDS_AT_ONCE", 1), ("_LEAST_BLOCK", 2)):
        monkeypatch.setattr(f"gpugraph.ext.matrix.table.{name}", value)
    graph, checked = generate("grid:5x5"), []
    monkeypatch.setattr(ResidentGraph, "_certify", lambda held, by, way, row, *limits: checked.append(row.source))
    sources, goals = [3, 0, 24, 7, 7, 1], [*range(25)]
    found = table(graph, sources, goals, "emulated")[0]
    np.testing.assert_array_equal(found, rows(graph, sources))
    assert checked == [0, 1, 3, 7, 24]


def test_a_goal_too_far_for_64_bits_is_refused() -> None:
    graph = directed(3, [(0, 1, 2**63), (1, 2, 2**63)], "uint64")
    assert table(graph, [0], [1])[0].tolist() == [[2**63]]
    with pytest.raises(InputError, match="from vertex 0 to vertex 2 does not fit in 64 bits"):
        table(graph, [0], [1, 2])


def test_the_greatest_distance_is_certified_where_a_goal_is_not_reached(monkeypatch: Any) -> None:
    find = cpu_delta_stepping.run

    def planted(*given: Any) -> Any:
        found = find(*given)
        found[2] = unreached(found.dtype) - 1
        return found

    monkeypatch.setattr(cpu_delta_stepping, "run", planted)
    with pytest.raises(VerificationFailed, match=r"vertex 2 has distance \d+, but is not reached"):
        table(undirected(4, [(0, 1, 5)]), [0], [1, 3])


def test_from_the_shorter_list_are_the_searches_where_that_gives_the_same() -> None:
    many, few = [0, 1, 2, 3, 5], [7, 8]
    assert table(generate("grid:3x3"), many, few)[1] == 2
    assert table(generate("grid:3x3,dtype=float64"), many, few)[1] == 5
    assert table(directed(9, [(i, (i + 1) % 9, 1) for i in range(9)]), many, few)[1] == 5


@pytest.mark.parametrize(("vertex", "change"), [(5, 1), (5, -1), (0, 1), (9, -1)])
@pytest.mark.parametrize("dtype", first(1, ["uint32", "float64"]))
def test_the_certificate_refuses_a_wrong_distance_up_to_the_end_and_no_other(
    vertex: int, change: int, dtype: str
) -> None:
    graph = generate(f"path:10,w=2..9,dtype={dtype}")
    right = rows(graph, [0])[0]
    wrong = right.copy()
    wrong[vertex] += wrong.dtype.type(change) if change > 0 else 0
    wrong[vertex] -= wrong.dtype.type(-change) if change < 0 else 0
    certify_within(graph, Arcs.of(graph), right, 0, right[9])
    with pytest.raises(VerificationFailed, match=r"relaxed|tight arcs"):
        certify_within(graph, Arcs.of(graph), wrong, 0, right[9])
    if vertex:
        certify_within(graph, Arcs.of(graph), wrong, 0, right[vertex - 1])


@pytest.mark.parametrize(
    ("arcs", "distance", "words"),
    [
        ([(0, 1, 1), (1, 2, 5), (0, 2, 2)], [0, 1, 6], "the arc 0 → 2 of weight 2.* can be relaxed"),
        ([(0, 1, 1), (1, 2, 5)], [1, 2, 7], "vertex 0 has distance 1.0, but is not reached"),
        ([(0, 1, 0), (1, 2, 5)], [0, 0, 0], "vertex 2 has distance 0.0, but is not reached"),
        ([(0, 1, 1), (1, 2, 5)], [0, 1, 4], "vertex 2 has distance 4.0, but is not reached"),
        ([(0, 1, 1), (1, 2, 5)], [0, 1, np.nan], "vertex 2 has distance nan, but is not reached"),
        ([(0, 1, 1), (1, 2, 5), (2, 3, 1)], [0, 1, np.nan, 7], "vertex 2 has distance nan, but is not reached"),
    ],
    ids=["a longer way", "all shifted", "an arc that adds", "the goal too near", "NaN", "NaN on the way"],
)
def test_the_certificate_names_what_is_wrong_up_to_the_last_goal(arcs: Any, distance: Any, words: str) -> None:
    graph, found = directed(len(distance), arcs, "float64"), np.array(distance, np.float64)
    with pytest.raises(VerificationFailed, match=words):
        certify_within(graph, Arcs.of(graph), found, 0, found[-1])


def test_a_sum_that_wraps_is_no_shorter_way() -> None:
    graph = directed(3, [(0, 1, 2**12), (1, 2, 2**12), (2, 1, 2**64 - 2**11)], "uint64")
    certify_within(graph, Arcs.of(graph), rows(graph, [0])[0], 0, 2**13)


def test_a_circle_of_arcs_that_add_nothing_is_no_path() -> None:
    graph = undirected(5, [(0, 1, 4), (2, 3, 0), (3, 4, 0), (2, 4, 0)])
    right = rows(graph, [0])[0]
    cut_off = right.copy()
    cut_off[2:] = 3
    certify_within(graph, Arcs.of(graph), right, 0, 4)
    with pytest.raises(VerificationFailed, match="vertex 2 has distance 3, but is not reached"):
        certify_within(graph, Arcs.of(graph), cut_off, 0, 4)
    joined = undirected(5, [(0, 1, 4), (1, 2, 0), (2, 3, 0), (3, 4, 0)])
    certify_within(joined, Arcs.of(joined), rows(joined, [0])[0], 0, 4)


# ------------------------------------------------------------------ the command


@pytest.fixture
def lists(tmp_path: Path) -> Any:
    """Return a graph with ids of its own, and two lists of them, one with a blank line."""
    (tmp_path / "g.wel").write_text("10 20 5\n20 30 7\n40 50 1\n")
    (tmp_path / "from").write_text("10\n\n30\n10\n")
    (tmp_path / "to").write_text("30\n50\n")
    words = ("--from", tmp_path / "from", "--to", tmp_path / "to", "--device", "cpu")
    return ("matrix", tmp_path / "g.wel", *words)


RIGHT = [(10, 30, 12), (10, 50, None), (30, 30, 0), (30, 50, None), (10, 30, 12), (10, 50, None)]


def test_the_table_has_the_ids_of_the_graph_in_each_format(lists: Any, tmp_path: Path, capfd: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert "3 × 2 distances of g; searches certified: 2" in succeed(*lists).err
    shown = capfd.readouterr()
    text = "".join(f"{u},{v},{'inf' if d is None else d}\n" for u, v, d in RIGHT)
    assert shown.out == f"from,to,distance\n{text}"
    succeed(*lists, "-o", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == shown.out
    succeed(*lists, "-o", tmp_path / "t.parquet")
    found = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert [(row["from"], row["to"], row["distance"]) for row in found] == RIGHT
    succeed(*lists, "-o", tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as archive:
        assert (archive["from"].tolist(), archive["to"].tolist()) == ([10, 30, 10], [30, 50])
        assert archive["distance"].tolist() == [[12, 2**64 - 1], [0, 2**64 - 1], [12, 2**64 - 1]]


def test_the_command_reports_how_far_searches_that_ended_early_are_certified(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("0\n1\n")
    words = ("matrix", "grid:9x9", "--from", tmp_path / "list", "--to", tmp_path / "list")
    out = succeed(*words, "--device", "cpu", "-o", tmp_path / "t.csv").out
    assert out.endswith("2 × 2 distances of grid:9x9; searches certified: 2, 2 of them up to the farthest goal\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10\n\n77\n", "from line 3: no vertex is called '77'"),
        ("10\nten\n", "from line 2: no vertex is called 'ten'"),
        ("\n\n", "from: lists no vertex"),
    ],
)
def test_a_line_that_is_no_vertex_is_named(lists: Any, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "from").write_text(text)
    assert words in refuse(2, *lists)


def test_what_cannot_be_is_refused_before_the_work(lists: Any, tmp_path: Path) -> None:
    (tmp_path / "to").write_text("1\n-3\n")
    numbered = ("matrix", "grid:3x3", "--from", tmp_path / "to", "--to", tmp_path / "to", "--device", "cpu")
    assert "to line 2: source -3 is not a vertex" in refuse(2, *numbered)
    (tmp_path / "to").write_text("a\n")
    assert "to line 1: 'a' is no vertex number" in refuse(2, *numbered)
    (tmp_path / "to").write_text("30\n")
    assert "unknown ending of a table '.txt'" in refuse(2, *lists, "-o", tmp_path / "t.txt")
    (tmp_path / "g.wel").write_text("10 20 -5\n20 30 7\n")
    assert "has the negative weight -5" in refuse(2, *lists)
    (tmp_path / "to").unlink()
    assert "to: cannot be read: no such file" in refuse(2, *lists)
