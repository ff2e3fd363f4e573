"""Graphs of Python's objects that are no matrices and no graphs of NetworkX: edges, tables, other libraries' graphs."""

from __future__ import annotations

import io
import os
import sys
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import gpugraph
from gpugraph.base.errors import DeviceUnavailable, InputError
from tests.tiers import drawn

EDGES = [(0, 1, 4), (1, 2, 8), (0, 2, 7), (3, 4, 1)]
SRC, DST, WEIGHT = (np.array(column) for column in zip(*EDGES, strict=True))
NAMED = {"source": ["a", "b", "a"], "target": ["b", "c", "c"], "km": [4, 8, 7]}


class OnlyDlpack:
    """An array of which only DLPack is known, as of a library without NumPy's protocols."""

    def __init__(self, array: np.ndarray):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **named: Any) -> Any:
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class OnGpu(OnlyDlpack):
    """An array on a GPU, as CuPy has it."""

    __cuda_array_interface__ = property(lambda self: {})

    def get(self) -> np.ndarray:
        return self.array.copy()


class Tensor(OnlyDlpack):
    """What PyTorch's tensors have of what is read."""

    def __init__(self, array: np.ndarray, layout: str = "torch.strided", **parts: np.ndarray):
        super().__init__(array)
        self.layout, self.is_sparse, self.parts = layout, "coo" in layout, parts

    def detach(self) -> Tensor:
        return self

    coalesce = detach

    def crow_indices(self) -> Tensor:
        return Tensor(self.parts["crow"])

    def col_indices(self) -> Tensor:
        return Tensor(self.parts["col"])

    def indices(self) -> Tensor:
        return Tensor(self.parts["indices"])

    def values(self) -> Tensor:
        return Tensor(self.parts["values"])


def matrix() -> sparse.csr_array:
    upper = sparse.coo_array((WEIGHT, (SRC, DST)), (5, 5))
    return (upper + upper.T).tocsr()


def torch_csr() -> Tensor:
    m = matrix()
    parts = {"crow": m.indptr.astype(np.int64), "col": m.indices.astype(np.int64), "values": m.data}
    return Tensor(np.zeros((5, 5)), "torch.sparse_csr", **parts)


def torch_coo() -> Tensor:
    m = matrix().tocoo()
    return Tensor(np.zeros((5, 5)), "torch.sparse_coo", indices=np.stack((m.row, m.col)), values=m.data)


def pandas_table() -> Any:
    return pytest.importorskip("pandas").DataFrame({"source": SRC, "target": DST, "weight": WEIGHT})


def arrow_table() -> Any:
    return pytest.importorskip("pyarrow").table({"source": SRC, "target": DST, "weight": WEIGHT})


def polars_table() -> Any:
    return pytest.importorskip("polars").DataFrame({"source": SRC, "target": DST, "weight": WEIGHT})


def rustworkx_graph() -> Any:
    graph = pytest.importorskip("rustworkx").PyGraph()
    graph.add_nodes_from(range(5))
    graph.add_edges_from(EDGES)
    return graph


def networkit_graph() -> Any:
    graph = pytest.importorskip("networkit").Graph(5, weighted=True)
    for u, v, weight in EDGES:
        graph.addEdge(u, v, float(weight))
    return graph


def graphblas_matrix() -> Any:
    m = matrix().tocoo()
    return SimpleNamespace(to_coo=lambda: (m.row, m.col, m.data), nrows=5, ncols=5)


def pydata_dok() -> Any:
    return SimpleNamespace(to_coo=lambda: SimpleNamespace(to_scipy_sparse=matrix))


def pyg_data(**more: Any) -> Any:
    return SimpleNamespace(
        edge_index=Tensor(np.stack((SRC, DST))), num_nodes=5, edge_attr=Tensor(WEIGHT[:, None]), **more
    )


KINDS = {
    "pandas": pandas_table,
    "pyarrow": arrow_table,
    "polars": polars_table,
    "record batch reader": lambda: arrow_table().to_reader(),
    "list of tuples": lambda: EDGES,
    "array (E, 3)": lambda: np.array(EDGES),
    "array (E, 3) of reals": lambda: np.array(EDGES, float),
    "array by DLPack": lambda: OnlyDlpack(np.array(EDGES)),
    "array on a GPU": lambda: OnGpu(np.array(EDGES)),
    "rustworkx": rustworkx_graph,
    "networkit": networkit_graph,
    "graphblas": graphblas_matrix,
    "pydata/sparse COO": lambda: SimpleNamespace(to_scipy_sparse=matrix),
    "pydata/sparse DOK": pydata_dok,
    "torch CSR": torch_csr,
    "torch COO": torch_coo,
    "PyG Data": pyg_data,
    "dict of dicts": lambda: nx.to_dict_of_dicts(nx.Graph([(u, v, {"weight": w}) for u, v, w in EDGES])),
    "dict of weights": lambda: {0: {1: 4, 2: 7}, 1: {2: 8}, 3: {4: 1}},
    "binary stream": lambda: io.BytesIO(b"0 1 4\n1 2 8\n0 2 7\n3 4 1\n"),
    "text stream": lambda: io.StringIO("0 1 4\n1 2 8\n0 2 7\n3 4 1\n"),
    "rows by DLPack": lambda: tuple(map(OnlyDlpack, (matrix().indptr, matrix().indices, matrix().data))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_may_come_from_whatever_holds_edges(kind: str) -> None:
    forest = gpugraph.mst(KINDS[kind](), device="cpu")
    assert (forest.total_weight, forest.components) == (12, 2)
    assert [ends.tolist() for ends in forest.endpoints()] == [[0, 0, 3], [1, 2, 4]]
    with gpugraph.on(KINDS[kind](), "cpu") as held:
        assert held.mst().fingerprint() == forest.fingerprint()
        assert len(held.input_positions(held.mst())) == 3


@drawn(40)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(-9, 9)), min_size=1), st.booleans())
def test_edges_mean_to_us_what_they_mean_to_networkx(edges: Any, directed: bool) -> None:
    graph = gpugraph.from_edges(*zip(*edges, strict=True), vertices=7, directed=directed)
    lightest: dict[Any, int] = {}
    for u, v, w in edges:
        for pair in [(u, v)] if directed else [(u, v), (v, u)]:
            if u != v:
                lightest[pair] = min(w, lightest.get(pair, w))
    tails = np.repeat(np.arange(7), graph.degrees)
    assert (
        dict(zip(zip(tails.tolist(), graph.targets.tolist(), strict=True), graph.weights.tolist(), strict=True))
        == lightest
    )
    assert graph.directed is directed


def test_ends_of_edges_are_numbers_or_names() -> None:
    named = gpugraph.from_edges(NAMED["source"], NAMED["target"], NAMED["km"])
    assert named.vertex_names.tolist() == ["a", "b", "c"]
    assert gpugraph.sssp(named, "a", device="cpu").distance.tolist() == [0, 4, 7]
    more = gpugraph.from_edges(["b"], ["a"], names=["c", "b", "a"])
    assert (more.vertices, more.vertex_names.tolist(), more.edges) == (3, ["a", "b", "c"], 1)
    numbered = gpugraph.from_edges([0, 2], [1, 1], names=["x", "y", "z", "alone"])
    assert gpugraph.sssp(numbered, "name:z", device="cpu").distance.tolist() == [2, 1, 0, None]
    assert gpugraph.from_edges([], [], vertices=3).vertices == 3
    assert gpugraph.from_edges([0, 1], [1, 0], [5, 5], directed=None).directed is False
    assert gpugraph.from_edges([0.0, 2.0], [1.0, 1], [5, 5]).vertex_names is None
    if hasattr(np.dtypes, "StringDType"):
        texts = np.array(["b"], np.dtypes.StringDType())
        assert gpugraph.from_edges(texts, ["a"]).vertex_names.tolist() == ["a", "b"]
    tags = pytest.importorskip("pandas").DataFrame(NAMED)
    assert gpugraph.from_edges(tags.source, tags.target, tags.km).weights.tolist() == named.weights.tolist()


def test_scalars_of_numpy_state_what_pythons_own_state() -> None:
    stated = gpugraph.from_edges([0, 1], [1, 2], vertices=5, directed=False)
    assert gpugraph.from_edges([0, 1], [1, 2], vertices=np.int64(5), directed=np.bool_(False)).digest == stated.digest
    assert gpugraph.load([(0, 1), (1, 2)], vertices=np.int32(5), directed=np.bool_(False)).digest == stated.digest


def test_a_table_in_memory_is_the_graph_of_the_same_table_in_a_file(tmp_path) -> None:
    table = pytest.importorskip("pandas").DataFrame({"from": [10, 20, 10], "to": [20, 30, 30], "km": [1.5, 2.0, 9.0]})
    table.to_csv(tmp_path / "t.csv", index=False)
    for options in ({}, {"directed": False}, {"keep_ids": True}, {"columns": "to,from"}, {"weight": "km"}):
        here, there = gpugraph.load(table, **options), gpugraph.load(tmp_path / "t.csv", **options)
        assert (here.digest, str(here.vertex_names)) == (there.digest, str(there.vertex_names))
    words = pytest.importorskip("polars").DataFrame(NAMED)
    assert gpugraph.sssp(words, "a", device="cpu").distance.tolist() == [0, 4, 7]
    for columns in ("source,target,km", ("source", "target", "km"), [1, 2, 3]):
        assert gpugraph.load(words, columns=columns).vertex_names.tolist() == ["a", "b", "c"]


def test_a_stream_is_taken_as_the_file_of_its_name(tmp_path) -> None:
    gpugraph.generate("grid:3x3")
    (tmp_path / "g.txt").write_text("a b 3\nb c 4\n")
    with open(tmp_path / "g.txt", "rb") as stream:
        graph = gpugraph.load(stream, directed=False)
    assert (graph.name, graph.vertex_names.tolist()) == ("g", ["a", "b", "c"])
    assert gpugraph.load(os.fsencode(tmp_path / "g.txt"), directed=False).digest == graph.digest
    with pytest.raises(InputError, match=r"^stream line 2: expected tail and head"):
        gpugraph.load(io.BytesIO(b"0 1\n1 2 3 4 5\n"), input_format="edgelist")


def test_edge_index_and_attributes_of_edges_weigh() -> None:
    index = Tensor(np.array([[0, 1, 0, 3], [1, 2, 2, 4]]))
    assert gpugraph.load(index, vertices=6).vertices == 6
    assert gpugraph.mst(pyg_data(cost=Tensor(np.array([1, 1, 1, 1.5]))), device="cpu").total_weight == 12
    data = pyg_data(cost=Tensor(np.array([1, 1, 1, 1.5])))
    assert gpugraph.load(data, weight="cost", directed=False).weights.sum() == 9
    assert gpugraph.load(data, weights="unit", directed=False).weights.sum() == 8


@pytest.mark.parametrize("spoilt", ["indptr", "indices", "data"])
def test_rows_are_shared_and_what_is_none_yet_is_copied(spoilt: str) -> None:
    m = matrix().astype(np.float64)
    wide = gpugraph.load(m)
    assert np.shares_memory(wide.weights, m.data)
    m.indices = m.indices.astype(np.int32)
    for graph in (gpugraph.load(m), gpugraph.mst(m, device="cpu").graph, gpugraph.load((m.indptr, m.indices, m.data))):
        assert np.shares_memory(graph.targets, m.indices)
        assert np.shares_memory(graph.weights, m.data)
        assert not graph.weights.flags.writeable
    for series in (pytest.importorskip("pandas").Series, pytest.importorskip("polars").Series):
        offsets, targets, weights = (series(part) for part in (m.indptr, m.indices, m.data))
        graph = gpugraph.load((offsets, targets, weights))
        assert np.shares_memory(graph.targets, np.asarray(targets))
        assert np.shares_memory(graph.weights, np.asarray(weights))
    setattr(m, spoilt, getattr(m, spoilt).astype({"indptr": ">i8", "indices": ">i4", "data": ">f8"}[spoilt]))
    if spoilt == "data":
        assert not np.shares_memory(gpugraph.load(m).weights, m.data)
    assert gpugraph.load(m).weights.tolist() == matrix().data.tolist()


def test_rows_that_are_stated_to_be_edges_are_checked() -> None:
    arcs = (np.array([0, 1, 1]), np.array([1], np.int32), np.array([3]))
    with pytest.raises(InputError, match="declared undirected"):
        gpugraph.load(arcs, directed=False)
    m = matrix()
    assert gpugraph.load((m.indptr, m.indices, m.data), directed=True).directed


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: gpugraph.from_edges([0, 1], [1]), "2 sources, 1 target make no edges"),
        (lambda: gpugraph.from_edges([0], [1], [1, 2]), "1 source, 1 target and 2 weights make no edges"),
        (lambda: gpugraph.from_edges([-1], [1]), "an edge ends at the vertex -1"),
        (lambda: gpugraph.from_edges([0], [9], vertices=5), "vertex 9, but there are 5 vertices"),
        (lambda: gpugraph.from_edges([0], [1], names=["a", "a"]), "names has a name twice"),
        (lambda: gpugraph.from_edges(np.array([0.5]), np.array([1.0])), "the sources are not whole numbers"),
        (lambda: gpugraph.from_edges(["a"], ["b"], vertices=2), "vertices has no meaning"),
        (lambda: gpugraph.from_edges(["a"], ["b"], names=["a"]), "names has no 'b'"),
        (lambda: gpugraph.from_edges([0], [1], vertices=3, names=["a", "b"]), "2 names for 3 vertices"),
        (lambda: gpugraph.from_edges([], [], vertices=-1), "vertices is -1 — give 0 or more"),
        (lambda: gpugraph.from_edges([[0]], [[1]]), "cannot be a name: unhashable type: 'list'"),
        (lambda: gpugraph.from_edges([0], [1], names=[{}, {}]), "cannot be a name: unhashable type: 'dict'"),
        (lambda: gpugraph.from_edges(["a", None], ["b", "c"]), "a name is missing: None"),
        (lambda: gpugraph.from_edges(["a", float("nan")], ["b", "c"]), "a name is missing: nan"),
        (lambda: gpugraph.from_edges([0.5], [1]), "the sources are not whole numbers"),
        (lambda: gpugraph.from_edges([0, float("nan")], [1, 2]), "the sources are not whole numbers"),
        (lambda: gpugraph.from_edges(iter([0]), [1]), "0 dimensions, as list_iterator — give a list"),
        (lambda: gpugraph.from_edges([0], [1], names=2), "the names have 0 dimensions, as int"),
        (lambda: gpugraph.load(open(os.devnull, "w")), "^null: cannot be read: .* — open it by open"),  # noqa: SIM115
        (lambda: gpugraph.load(io.TextIOWrapper(io.BytesIO(b"0 1 \xff"), "utf-8")), "cannot be read: 'utf-8' codec"),
        (lambda: gpugraph.save(gpugraph.load(EDGES), None), "path is None"),  # type: ignore[arg-type]
        (lambda: gpugraph.save(gpugraph.load(EDGES), "x.el"), "the weights with gpugraph.load\\(…, weights='unit'\\)"),
        (
            lambda: gpugraph.mst(nx.Graph([(0, 1, {"km": 2})]), device="cpu"),
            r"name one of them with gpugraph.load\(…, weight=…\), or accept 1 .* gpugraph.load\(…, weights='unit'\)",
        ),
        (lambda: gpugraph.load(nx.Graph([(0, 1, {"km": 2})])), "name one of them with weight, or .* weights='unit'$"),
        (lambda: gpugraph.bench(gpugraph.load([(0, 1, -2)]), "sssp", device="cpu"), r"use gpugraph.load\(…, weights="),
        (lambda: gpugraph.on(gpugraph.load([(0, 1, -2)]), "cpu").sssp(0), r"use gpugraph.load\(…, weights='abs'\)"),
        (lambda: gpugraph.sssp(EDGES, [0, 1], device="cpu"), r"source is \[0, 1\] — give several as sources=…"),
        (lambda: gpugraph.on(EDGES, "cpu").mst(foo=3), "unknown option of 'boruvka' 'foo' — known: none"),
        (lambda: gpugraph.read_records("none.jsonl"), "give a file that save or `gpugraph bench` wrote"),
        (lambda: gpugraph.verify("grid:3x3", __file__), "give a file that save wrote"),
        (lambda: gpugraph.from_edges([0], [1], [float("nan")]), "NaN"),
        (lambda: gpugraph.from_edges([0], [1], directed="yes"), "directed is 'yes'"),
        (lambda: gpugraph.load([[0, 1], [1, 0]]), "a list is not a graph — give edges as tuples"),
        (lambda: gpugraph.load([(0, 1), (1, 2, 3)]), "all \\(u, v\\) or all"),
        (lambda: gpugraph.load([]), "a list is not a graph"),
        (lambda: gpugraph.load(np.zeros((2, 3), int)), "square, this one is 2 x 3 — .* gpugraph.from_edges"),
        (lambda: gpugraph.load(EDGES, keep_ids=True), "keep_ids has no meaning for a list — leave keep_ids out"),
        (lambda: gpugraph.load(matrix(), directed=True), "directed has no meaning for a csr_array"),
        (lambda: gpugraph.load(np.eye(3), vertices=3), "vertices has no meaning for a ndarray"),
        (
            lambda: gpugraph.load("rmat:5", vertices=9),
            "directed=True, directed=False, vertices, columns and weight are",
        ),
        (lambda: gpugraph.load({0: 5}), "the neighbours of 0 are 5"),
        (lambda: gpugraph.load(nx.to_dict_of_dicts(nx.MultiGraph([(0, 1)]))), "0 - 1 has edges by their keys"),
        (lambda: gpugraph.load(SimpleNamespace(edge_index={})), "edge_index has the shape"),
        (lambda: gpugraph.load(pyg_data(), weight="cost"), "has no 'cost'"),
        (lambda: gpugraph.load(Tensor(np.eye(2), "torch.sparse_bsr")), "layout torch.sparse_bsr is not read"),
        (lambda: gpugraph.load(pandas_table(), columns="x,y"), "DataFrame: unknown column 'x'"),
        (lambda: gpugraph.load(pandas_table(), vertices=2), "but vertices is 2 — give a larger vertices"),
        (lambda: gpugraph.load(pandas_table()[:0]), "no row"),
        (lambda: gpugraph.load(pandas_table()["weight"]), "a Series is no table"),
        (lambda: gpugraph.load(io.BytesIO(b"")), "^stream: the file is empty"),
        (lambda: gpugraph.save(gpugraph.mst(EDGES, device="cpu"), "f.json"), "known: .csv, .mtx, .npz$"),
        (
            lambda: gpugraph.on(EDGES, "emulated").sssp(0, algo="delta-stepping-batched", groups="x"),
            "— write groups=0, for instance",
        ),
    ],
)
def test_what_is_no_graph_is_refused_in_terms_of_python(call: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        call()
    assert "--" not in str(caught.value)


def test_an_array_on_a_gpu_that_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    there = SimpleNamespace(__cuda_array_interface__={}, shape=(3,))
    for call in (lambda: gpugraph.from_edges(there, there), lambda: gpugraph.load((there, there, there))):
        with pytest.raises(DeviceUnavailable, match=r"of SimpleNamespace lies on a GPU .* — copy it to the host, or"):
            call()


def test_a_command_in_an_error_stays_a_command() -> None:
    with pytest.raises(InputError, match=r"^device='cpu\*2': .* algo='NAME@DEVICE', .* gpugraph mst --device cpu\*4$"):
        gpugraph.on(EDGES, "cpu*2")


def test_a_table_without_pyarrow_is_told_apart_from_a_damaged_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pandas_table()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"'pyarrow' is missing: .* or give its columns to gpugraph.from_edges"):
        gpugraph.load(table)
    assert gpugraph.from_edges(table.source, table.target, table.weight).edges == 4
