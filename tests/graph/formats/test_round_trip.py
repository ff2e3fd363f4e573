from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io

import gpugraph
from gpugraph.base.errors import GraphFormatError, InputError
from gpugraph.ext.formats.files import save_file
from gpugraph.graph.build import narrow_weights
from gpugraph.graph.check import check_structure
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.load import load_file
from gpugraph.graph.read_options import ReadOptions
from tests.zoo import ZOO, zoo

EXTENSIONS = (".csr", ".gr", ".mtx", ".el", ".wel", ".txt", ".tsv", ".csv", ".egr", ".wsg", ".sg", ".npz", ".adj")
EXACT = (".csr",)
INT32 = (".egr", ".wsg")
KEEPS_REALS = (".csr", ".npz")


def _as_the_format_types_it(graph: CSRGraph, extension: str) -> CSRGraph:
    """Return the graph with the weight dtype that reading the format gives; the values are the same."""
    weights = graph.weights
    if extension in EXACT:
        return graph
    if extension == ".egr" and not graph.arcs:
        weights = weights.astype(np.uint32)
    elif extension in INT32:
        weights = weights.astype(np.int32)
    elif weights.dtype.kind == "f":
        weights = weights if extension in KEEPS_REALS else weights.astype(np.float64)
    else:
        weights = narrow_weights(weights)
    # A format that says nothing of undirected calls a graph so when every arc has its reverse.
    return CSRGraph(graph.offsets, graph.targets, weights, graph.directed and graph.arcs > 0)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_graph_of_the_zoo_comes_back_with_the_same_digest(tmp_path: Path, extension: str) -> None:
    held = []
    for name in ZOO:
        graph, path = zoo(name), tmp_path / f"{name}{extension}"
        try:
            save_file(graph, path)
        except InputError:
            assert not path.exists()
            continue
        back = load_file(path)
        check_structure(back)
        assert back.digest == _as_the_format_types_it(graph, extension).digest, name
        assert back.name == name
        held.append(name)
    assert {"no-vertex", "one-vertex", "isolated-vertices"} <= set(held)
    assert len(held) >= (4 if extension in (".el", ".sg") else 25)
    assert len(held) == len(ZOO) or extension not in (".csr", ".mtx", ".wel", ".txt", ".npz", ".adj")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("extension", [".csr", ".gr", ".mtx", ".wel", ".egr", ".npz", ".wsg"])
def test_compressed_files_come_back_whatever_they_are_called(tmp_path: Path, extension: str, suffix: str) -> None:
    path = tmp_path / f"grid{extension}{suffix}"
    save_file(zoo("grid"), path)
    assert load_file(path).targets.tolist() == zoo("grid").targets.tolist()
    assert load_file(path).name == "grid"
    renamed = path.rename(tmp_path / f"renamed{extension}")
    assert load_file(renamed).weights.tolist() == zoo("grid").weights.tolist()


def test_the_same_graph_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.gr.gz", "b.gr.gz"):
        save_file(zoo("random"), tmp_path / name)
    assert (tmp_path / "a.gr.gz").read_bytes() == (tmp_path / "b.gr.gz").read_bytes()


def test_more_arcs_than_a_block_of_the_writer_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.ext.formats.text.rows._CHUNK", 7)
    for extension in (".gr", ".mtx", ".wsg"):
        save_file(zoo("wheel"), tmp_path / f"a{extension}")
        assert load_file(tmp_path / f"a{extension}").targets.tolist() == zoo("wheel").targets.tolist()


def test_galois_comes_back_where_its_weights_allow_it_and_an_odd_number_of_targets_is_padded(tmp_path: Path) -> None:
    held = 0
    for name in ZOO:
        graph, path = zoo(name), tmp_path / f"{name}.gr"
        if graph.weights.dtype.kind == "f" or (graph.arcs and graph.weights.min() < 0):
            with pytest.raises(InputError, match="Galois"):
                save_file(graph, path, "galois")
            continue
        save_file(graph, path, "galois")
        back = load_file(path, ReadOptions(input_format="galois"))
        assert np.array_equal(back.offsets, graph.offsets), name
        assert np.array_equal(back.targets, graph.targets), name
        assert np.array_equal(back.weights.astype(graph.weights.dtype), graph.weights), name
        held += 1
    assert held > 20


def test_an_adjacency_graph_is_a_number_a_line(tmp_path: Path) -> None:
    path = tmp_path / "g.adj"
    save_file(zoo("triangle"), path)
    words = path.read_text().splitlines()
    graph = zoo("triangle")
    assert words[0] == "WeightedAdjacencyGraph"
    assert list(map(int, words[1:])) == [
        graph.vertices, graph.arcs, *graph.offsets[:-1], *graph.targets, *graph.weights
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AdjacencyGraph\n2\n2\n0\n1\n1\n", "take 7 words, the file has 6"),
        ("AdjacencyGraph\n2\n2\n0\n1\n1\nx\n", "word 7, 'x', is no integer"),
        ("AdjacencyGraph\n2\n2\n0\n5\n1\n0\n", "the row offsets fall"),
        ("AdjacencyGraph\n-2\n2\n", "a negative number of vertices"),
        ("WeightedAdjacencyGraph\n1000000000000000000\n1\n", r"more than 2\^40"),
        ("AdjacencyGraph\n", "ends before its numbers of vertices and arcs"),
        ("AdjacencyGraph\n2\n-1\n0\n0\n", "a negative number of arcs: -1"),
        ("AdjacencyGraph\n2\n2\n0\n1\n1\n0\0\n", "word 7, '0\0', is no number"),
        ("AdjacencyGraph\n2\n2\n0\n1\n1\n0_0\n", "word 7, '0_0', is no number"),
        ("WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n1e400\n0.5\n", "word 8: the weight '1e400' is beyond"),
        (f"WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n0.5\n{2**53 + 1}\n", "would round them"),
        (f"WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n-1\n{2**63}\n", "from below 0 to beyond"),
        (f"WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n1\n{2**64}\n", "needs more than 64 bits"),
    ],
)
def test_a_damaged_adjacency_graph_is_reported_where(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.adj"
    path.write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        load_file(path)


def test_a_name_that_ends_in_that_of_its_format_is_read_as_that(tmp_path: Path) -> None:
    for ending in ("galois", "ecl", "gap", "pbbs"):
        save_file(zoo("triangle"), tmp_path / f"g.{ending}")
        assert load_file(tmp_path / f"g.{ending}").edges == 3


@pytest.mark.parametrize(
    ("name", "asked", "begins"),
    [
        ("g.dat", "csv", "0,1,"),
        ("g.el", "CSV", "0,1,"),
        ("g.csv", ".tsv", "0\t1\t"),
        ("g.el", "wel", "0 1 "),
        ("g.csv", "edgelist", "0,1,"),
        ("g.dat", "edgelist", "0 1 "),
    ],
)
def test_the_ending_that_is_requested_goes_before_that_of_the_name(
    tmp_path: Path, name: str, asked: str, begins: str
) -> None:
    save_file(zoo("triangle"), tmp_path / name, asked)
    assert (tmp_path / name).read_text().startswith(begins)


@pytest.mark.parametrize("asked", ["el", "sg", "counted"])
def test_what_the_requested_ending_cannot_hold_is_refused_under_any_name(tmp_path: Path, asked: str) -> None:
    with pytest.raises(InputError, match=r"holds no weights|is only read"):
        save_file(zoo("triangle"), tmp_path / "g.dat", asked)
    assert not [*tmp_path.iterdir()]


def test_the_remedy_for_ids_below_zero_is_no_list_of_edges_which_cannot_hold_them(tmp_path: Path) -> None:
    graph = zoo("triangle").renamed(vertex_names=np.array([-1, 2, 5]))
    for name in ("g.wel", "g.csv", "g.gr"):
        with pytest.raises(InputError, match=r"cannot hold .*-1, 2, 5 — leave the ids out with --renumber"):
            save_file(graph, tmp_path / name)
    words = zoo("triangle").renamed(vertex_names=np.array(["a", "b", "c"]))
    with pytest.raises(InputError, match=r"cannot hold names unless it is a \.csv or \.tsv: a, b, c — write \.csv"):
        save_file(words, tmp_path / "g.wel")


def test_scipy_reads_weights_beyond_int64_from_the_matrices_that_are_written(tmp_path: Path) -> None:
    graph = gpugraph.from_edges([0, 1], [1, 2], np.array([2**64 - 1, 3], np.uint64))
    gpugraph.save(graph, tmp_path / "graph.mtx")
    gpugraph.save(gpugraph.mst(graph, device="cpu"), tmp_path / "forest.mtx")
    for name in ("graph.mtx", "forest.mtx"):
        assert sorted(scipy.io.mmread(tmp_path / name).data.tolist()) == [3, 3, 2**64 - 1, 2**64 - 1]
    assert gpugraph.load(tmp_path / "graph.mtx").digest == graph.digest
    assert gpugraph.verify(graph, tmp_path / "forest.mtx").passed


@pytest.mark.parametrize("extension", [".wel", ".txt", ".csv", ".tsv"])
def test_three_arcs_that_would_make_a_symmetric_matrix_come_back(tmp_path: Path, extension: str) -> None:
    graph = gpugraph.from_edges([0, 1, 2], [1, 0, 3], [2, 3, 0], directed=True)
    gpugraph.save(graph, tmp_path / f"a{extension}")
    assert gpugraph.load(tmp_path / f"a{extension}").digest == graph.digest
