"""Graphs and answers go out: to files, SciPy, Arrow, pandas and NetworkX, and through pickle without their graph."""

from __future__ import annotations

import copy
import os
import pickle
import re
import sys
import tempfile
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

import gpugraph
from gpugraph.base.errors import GpuGraphWarning, InputError
from gpugraph.ext.formats.edge_list import _WORD
from tests.cli.runner import refuse
from tests.tiers import drawn
from tests.zoo import zoo


def named() -> nx.Graph:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 4), ("b", "c", 8), ("a", "c", 7), ("d", "e", 1)])
    return graph


ANSWERS = {
    "forest": lambda graph: gpugraph.mst(graph, device="cpu"),
    "distances": lambda graph: gpugraph.sssp(graph, 0, device="cpu", predecessors=True),
    "matrix": lambda graph: gpugraph.sssp(graph, sources=[0, 3], device="cpu"),
    "components": lambda graph: gpugraph.components(graph, device="cpu"),
}


@pytest.mark.parametrize("name", ["forest.csv.gz", "forest.npz", "forest.mtx"])
def test_a_saved_answer_is_verified_from_its_file(tmp_path, name: str) -> None:
    path = gpugraph.save(gpugraph.mst(zoo("random"), device="cpu"), tmp_path / name)
    assert path == tmp_path / name
    assert gpugraph.verify(zoo("random"), path, method="both").passed


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_answer_is_saved_and_verified(tmp_path, kind: str) -> None:
    path = gpugraph.save(ANSWERS[kind](zoo("random")), tmp_path / "answer.npz")
    assert gpugraph.verify(zoo("random"), path).passed


def test_a_saved_graph_is_loaded_again(tmp_path) -> None:
    graph = gpugraph.load(nx.relabel_nodes(named(), dict(zip("abcde", (10, 20, 30, 40, 50), strict=True))))
    assert gpugraph.load(gpugraph.save(graph, tmp_path / "g.wel.gz"), directed=False).digest == graph.digest
    plain = gpugraph.save(graph, tmp_path / "g", output_format="edgelist")
    assert gpugraph.load(plain, directed=False).digest == graph.digest
    with pytest.raises(InputError, match="renumber=True"):
        gpugraph.save(graph, tmp_path / "g.gr")
    with pytest.warns(GpuGraphWarning, match="numbered from 1"):
        gpugraph.save(graph, tmp_path / "g.gr", renumber=True)


def _labelled(graph: gpugraph.CSRGraph) -> set[tuple[str, str, Any]]:
    tails, names = np.repeat(np.arange(graph.vertices), graph.degrees), graph.printed_names
    names = np.arange(graph.vertices) if names is None else names
    ends = names[tails].astype(str).tolist(), names[graph.targets].astype(str).tolist()
    return set(zip(*ends, graph.weights.tolist(), strict=True))


LETTERS = st.text("aé01 .,;|:'#%+-&=<>()[]\"\t\n\\nul", max_size=4)


@drawn(60)
@example([("0", "0,", 0)], ".tsv.gz")
@given(
    st.lists(st.tuples(LETTERS, LETTERS, st.integers(-3, 2**40)), min_size=1, max_size=5),
    st.sampled_from([".csv", ".tsv.gz"]),
)
def test_names_that_are_saved_are_read_again_letter_by_letter(edges: list[tuple[str, str, int]], ending: str) -> None:
    edges = [(u, v, w) for u, v, w in edges if u != v] or [("Ulm", "Bern", 2), ("Bern", "Rome", 7)]
    graph = gpugraph.from_edges(*zip(*edges, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = os.fsencode(f"{folder}/g{ending}")
        cut = re.compile(r"\d+[,;]" if ending.startswith(".tsv") else "(?!)")  # as where commas stand behind blanks
        if any(
            not _WORD.fullmatch(name) or not name.isprintable() or name != name.strip() or cut.fullmatch(name)
            for name in graph.vertex_names
        ):
            with pytest.raises(InputError, match="cannot hold the name"):
                gpugraph.save(graph, path)
            return
        again = gpugraph.load(gpugraph.save(graph, path))
    assert (again.directed, _labelled(again)) == (False, _labelled(graph))


def test_names_have_a_format_of_their_own(tmp_path) -> None:
    graph = gpugraph.from_edges(["Ulm", "Bern"], ["Bern", "St. John's, NB"], [2.5, 7])
    with pytest.raises(InputError, match=r"write \.csv or \.tsv, or leave"):
        gpugraph.save(graph, tmp_path / "g.wel")
    assert "write .csv or .tsv" in refuse(2, "convert", gpugraph.save(graph, tmp_path / "g.csv"), tmp_path / "g.gr")
    gpugraph.save(graph, tmp_path / "g", output_format="csv")
    assert (tmp_path / "g").read_text().splitlines()[:2] == ["source,target,weight", 'Bern,"St. John\'s, NB",7']
    alone = gpugraph.from_edges(["Ulm"], ["Bern"], names=["Ulm", "Bern", "Rome"])
    with pytest.raises(InputError, match="no line for vertex Rome, which has no edge"):
        gpugraph.save(alone, tmp_path / "g.csv")


def test_a_graph_and_its_answers_are_what_scipy_would_have() -> None:
    graph = zoo("random")
    matrix = graph.to_scipy()
    assert np.shares_memory(matrix.data, graph.weights)
    assert gpugraph.load(matrix).digest == graph.digest
    tree = ANSWERS["forest"](graph).to_scipy()
    assert tree.sum() == csgraph.minimum_spanning_tree(matrix).sum()
    assert sparse.triu(tree).nnz == tree.nnz
    paths = csgraph.dijkstra(matrix, indices=[0, 3])
    assert np.array_equal(ANSWERS["matrix"](graph).to_scipy(), paths)
    assert np.array_equal(ANSWERS["distances"](graph).to_scipy(), paths[0])
    number, labels = ANSWERS["components"](graph).to_scipy()
    right, expected = csgraph.connected_components(matrix, directed=False)
    assert (number, labels.tolist()) == (right, expected.tolist())


def test_a_data_frame_has_the_columns_of_the_csv_and_the_names(tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    graph = gpugraph.load(named())
    forest = ANSWERS["forest"](graph)
    frame = forest.to_pandas()
    assert frame.values.tolist() == [[0, 1, 4, "a", "b"], [0, 2, 7, "a", "c"], [3, 4, 1, "d", "e"]]
    assert forest.to_arrow().to_pydict() == frame.to_dict("list")
    gpugraph.save(forest, tmp_path / "f.csv")
    assert pandas.read_csv(tmp_path / "f.csv").values.tolist() == frame.values.tolist()
    assert graph.to_pandas()[["u_name", "v_name", "weight"]].values.tolist()[-1] == ["d", "e", 1]
    assert gpugraph.load(frame, columns="u_name,v_name,weight", directed=False).edges == 3
    paths = gpugraph.sssp(graph, "name:a", device="cpu")
    assert paths.to_arrow()["distance"].to_pylist() == [0, 4, 7, None, None]
    assert paths.to_pandas().distance.isna().tolist() == [False, False, False, True, True]
    several = gpugraph.sssp(graph, sources=["name:a", "name:d"], device="cpu").to_pandas()
    assert several[several.source == 3].distance.tolist()[3:] == [0, 1]
    assert ANSWERS["components"](graph).to_pandas().component.tolist() == [0, 0, 0, 3, 3]
    real = gpugraph.sssp(zoo("float64"), 0, device="cpu").to_pandas()
    assert real.distance.dtype == np.float64
    everywhere = gpugraph.sssp("path:4", 0, device="cpu", predecessors=True)
    assert everywhere.to_pandas().distance.tolist() == everywhere.distance.tolist()


def test_a_file_that_does_not_tell_its_source_says_what_would(tmp_path) -> None:
    edges = [(0, 1, 0), (1, 2, 5)]
    file = gpugraph.save(gpugraph.sssp(edges, 0, device="cpu"), tmp_path / "paths.csv")
    with pytest.raises(InputError, match=r"write the result as \.npz, or with predecessors=True$"):
        gpugraph.verify(edges, file)
    file = gpugraph.save(gpugraph.sssp(edges, 0, device="cpu", predecessors=True), tmp_path / "paths.csv")
    assert gpugraph.verify(edges, file).passed


def test_graphs_and_components_become_networkx_graphs_too() -> None:
    assert nx.utils.graphs_equal(gpugraph.load(named()).to_networkx(), named())
    arcs = gpugraph.from_edges([0, 1], [1, 2], [5, 6], directed=True)
    assert list(gpugraph.to_networkx(arcs).edges(data="weight")) == [(0, 1, 5), (1, 2, 6)]
    assert ANSWERS["components"](named()).to_networkx().nodes["e"] == {"component": "d"}
    with pytest.raises(InputError, match="DistanceMatrix makes no graph"):
        ANSWERS["matrix"](zoo("grid")).to_networkx()


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_pickled_answer_leaves_its_graph_behind_and_finds_it_again(kind: str) -> None:
    answer = ANSWERS[kind]("rmat:9")
    packed = pickle.dumps(answer)
    arrays = [value for value in vars(answer).values() if isinstance(value, np.ndarray)]
    assert len(packed) < 8_000 + sum(array.nbytes for array in arrays) + 20 * 512
    back = pickle.loads(packed)
    assert back.fingerprint() == answer.fingerprint()
    assert back.summary() == answer.summary()
    assert repr(back) == repr(answer)
    assert back.to_pandas().equals(answer.to_pandas())
    assert pickle.loads(pickle.dumps(back)).summary() == answer.summary()
    assert gpugraph.verify("rmat:9", back).passed
    assert np.array_equal(back.graph.weights, answer.graph.weights)


def test_an_answer_on_a_graph_made_in_python_asks_for_it_once_unpickled() -> None:
    back = pickle.loads(pickle.dumps(ANSWERS["forest"](named())))
    assert nx.utils.graphs_equal(back.to_networkx(), ANSWERS["forest"](named()).to_networkx())
    assert gpugraph.verify(named(), back).passed
    with pytest.raises(InputError, match="pickled without its graph, which was made in Python"):
        _ = back.graph.weights


def test_a_source_that_changed_does_not_stand_in_for_the_graph(tmp_path) -> None:
    path = tmp_path / "g.el"
    path.write_text("0 1\n1 2\n2 0\n")
    back = pickle.loads(pickle.dumps(ANSWERS["forest"](path)))
    assert back.graph.arcs == 6
    assert back.graph.targets.tolist() == [1, 2, 0, 2, 0, 1]
    back = pickle.loads(pickle.dumps(ANSWERS["forest"](path)))
    path.write_text("0 1\n1 2\n2 3\n")
    with pytest.raises(InputError, match="this is now another one"):
        _ = back.graph.targets


SOLVERS = {**ANSWERS, "scan": lambda spec: gpugraph.scan(np.arange(len(spec)), device="cpu")}


@pytest.mark.parametrize("kind", SOLVERS)
def test_answers_are_equal_if_they_say_the_same_of_the_same_graph(kind: str) -> None:
    first, again = SOLVERS[kind]("grid:4x4"), SOLVERS[kind]("grid:4x4")
    assert first == again == pickle.loads(pickle.dumps(first))
    assert len({first, again}) == 1
    assert first not in (SOLVERS[kind]("path:16,seed=2"), None, 1)


def test_an_answer_is_another_from_another_source_and_of_other_weights() -> None:
    assert gpugraph.sssp("path:5", 0, device="cpu") != gpugraph.sssp("path:5", 1, device="cpu")
    assert gpugraph.mst("path:5", device="cpu", algo="prim") == gpugraph.mst("path:5", device="cpu", algo="kruskal")
    rows = [0, 1, 2], [1, 0]
    assert gpugraph.components((*rows, [5, 5]), device="cpu") != gpugraph.components((*rows, [6, 6]), device="cpu")


def test_copies_of_an_answer_share_its_graph() -> None:
    forest = ANSWERS["forest"](named())
    for twin in (copy.copy(forest), copy.deepcopy(forest)):
        assert twin.graph is forest.graph
        assert twin.fingerprint() == forest.fingerprint()


def test_records_are_a_stream_of_arrows() -> None:
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    records = gpugraph.bench(["path:9", "rmat:6"], algo="kruskal", device="cpu", max_seconds=0.05)
    table = pyarrow.table(records)
    assert table.column_names == list(records.rows()[0])
    assert polars.DataFrame(records)["algorithm"].to_list() == ["kruskal", "kruskal"]
    mixed = gpugraph.bench("path:9", device="cpu", max_seconds=0.05)
    mixed.rows = lambda: [{"x": 1, "y": 2**70}, {"x": "a", "y": None}]  # type: ignore[method-assign]
    assert pyarrow.table(mixed).to_pydict() == {"x": ["1", "a"], "y": [str(2**70), None]}


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: gpugraph.save(5, "x.csv"), "a int is neither a graph nor an answer — .* records have"),
        (lambda: gpugraph.save(ANSWERS["forest"]("path:4"), "x.gr"), r"unknown ending of a result file '\.gr'"),
        (lambda: gpugraph.save(gpugraph.generate("path:4"), "x.docx"), "x.docx|docx"),
        (lambda: gpugraph.save(ANSWERS["forest"]("path:4"), "x.csv", renumber=True), "are for graphs"),
        (lambda: gpugraph.to_networkx([1]), "a list is neither a graph nor an answer about one — convert them one"),
    ],
)
def test_what_cannot_go_out_is_refused(call: Any, reason: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=reason):
        call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "networkx"])
def test_a_library_that_is_missing_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forest = ANSWERS["forest"]("path:4")
    monkeypatch.setitem(sys.modules, library, None)
    method = {"pyarrow": "to_arrow"}.get(library, f"to_{library}")
    with pytest.raises(InputError, match=f"is not installed — pip install {library}"):
        getattr(forest, method)()
