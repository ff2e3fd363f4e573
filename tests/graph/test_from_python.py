"""Graphs from Python: every label and every number is kept exactly, or refused in words."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import gpugraph
from gpugraph import csgraph
from gpugraph.base.errors import InputError
from gpugraph.graph.csr import WEIGHT_DTYPES
from tests.tiers import drawn

LABELS = st.one_of(
    st.sampled_from([0, 1, "1", 1.5, "a", "a\0", "", (1, 2), ("1", 2), b"a", np.int64(7), "7", 2**70, -3]),
    st.integers(0, 9),
    st.text(max_size=2),
    st.floats(allow_nan=False),
    st.tuples(st.integers(0, 2), st.text("ab", max_size=1)),
    st.frozensets(st.integers(0, 3)),
    st.fractions(max_denominator=3),
)


@st.composite
def labelled_graphs(draw: st.DrawFn) -> Any:
    """Return a NetworkX graph of whichever kind over whichever nodes, with small weights."""
    nodes = draw(st.lists(LABELS, min_size=1, max_size=8, unique_by=hash))
    node = st.sampled_from(nodes)
    graph = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))()
    graph.add_nodes_from(nodes)
    graph.add_weighted_edges_from(draw(st.lists(st.tuples(node, node, st.integers(0, 5)), max_size=20)))
    return graph


def identities(nodes: Any) -> list[int]:
    return sorted(map(id, nodes))


@drawn(60)
@given(labelled_graphs(), st.data())
def test_every_node_keeps_its_identity_and_the_answers_are_those_of_networkx(graph: Any, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(list(graph)))
    paths = gpugraph.sssp(graph, source, device="cpu")
    tree = gpugraph.to_networkx(paths)
    assert identities(tree) == identities(graph)
    assert tree.graph["source"] is {node: node for node in graph}[source]
    expected = nx.single_source_dijkstra_path_length(graph, source)
    assert {node: d for node, d in tree.nodes(data="distance") if d is not None} == expected
    forest = gpugraph.to_networkx(gpugraph.mst(graph, device="cpu"))
    assert identities(forest) == identities(graph)
    plain = nx.Graph()
    plain.add_nodes_from(graph)
    for u, v, w in sorted(graph.edges(data="weight"), key=lambda edge: -edge[2]):
        plain.add_edge(u, v, weight=w)
    # By numbers: NetworkX compares nodes with !=, which a NumPy integer and a tuple answer with an array.
    oracle = nx.minimum_spanning_tree(nx.convert_node_labels_to_integers(plain))
    assert forest.graph["total_weight"] == oracle.size("weight")
    assert all(plain[u][v]["weight"] == w for u, v, w in forest.edges(data="weight"))


@drawn(60)
@given(st.lists(LABELS, min_size=1, max_size=8, unique_by=hash))
def test_printed_names_differ_wherever_labels_do(labels: list[Any]) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(labels)
    loaded = gpugraph.load(graph)
    if loaded.printed_names is not None:
        assert len({str(name) for name in loaded.printed_names.tolist()}) == len(labels)


def test_nodes_that_compare_are_numbered_in_their_order_and_others_in_the_graphs_own() -> None:
    assert gpugraph.load(nx.Graph([((0, 10), (0, 2)), ((0, 2), (0, 1))])).vertex_names.tolist() == [
        (0, 1),
        (0, 2),
        (0, 10),
    ]
    assert gpugraph.load(nx.Graph([("b", 3), (3, "a")])).vertex_names.tolist() == ["b", 3, "a"]
    assert gpugraph.load(nx.path_graph(4)).vertex_names is None
    assert gpugraph.load(nx.Graph([(0.0, 1.0)])).vertex_names.tolist() == [0.0, 1.0]


# ------------------------------------------------------------------ weights


def path_with(weights: list[Any]) -> Any:
    graph = nx.Graph()
    graph.add_weighted_edges_from((i, i + 1, weight) for i, weight in enumerate(weights))
    return graph


WHOLE = st.one_of(
    st.sampled_from(
        [0, 1, -1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, -(2**63), 2**2000]
    ),
    st.integers(-5, 5),
    st.booleans(),
    st.sampled_from([np.uint64(2**64 - 1), np.int8(-3), np.uint8(200), np.int64(2**60 + 1), np.bool_(True)]),
)
REAL = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([np.float32(0.1), np.float16(0.5), np.float64(0.1), math.inf]),
)


@drawn(150)
@given(st.one_of(st.lists(WHOLE, max_size=6), st.lists(REAL, max_size=6), st.lists(st.one_of(WHOLE, REAL), max_size=6)))
def test_a_number_is_taken_exactly_or_refused(weights: list[Any]) -> None:
    whole = [int(w) for w in weights if isinstance(w, int | np.integer | np.bool_)]
    mixed = 0 < len(whole) < len(weights)
    fits = not whole or (min(whole) >= 0 and max(whole) < 2**64) or (min(whole) >= -(2**63) and max(whole) < 2**63)
    if mixed:
        fits = all(abs(w) < 2**1000 and int(float(w)) == w for w in whole)
    if not fits:
        with pytest.raises(InputError, match=r"the weight of the edge \d - \d is"):
            gpugraph.load(path_with(weights))
        return
    for graph in (gpugraph.load(path_with(weights)), gpugraph.load(row_of(weights))):
        held = [graph.weights[graph.offsets[v + 1] - 1].item() for v in range(len(weights))]
        assert [exact(w) for w in held] == [exact(w) for w in weights]


def row_of(weights: list[Any]) -> tuple[list[int], list[int], list[Any]]:
    """Return the path as lists of Python's: the arc from each vertex to the next."""
    k = len(weights)
    return [*range(k + 1), k], list(range(1, k + 1)), weights


def exact(weight: Any) -> Fraction | float:
    value = float(weight) if isinstance(weight, np.floating) else weight
    return (
        value
        if isinstance(value, float) and math.isinf(value)
        else Fraction(int(value) if isinstance(value, np.integer | np.bool_) else value)
    )


def test_integers_beyond_63_bits_beside_smaller_ones_give_the_right_forest() -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 2**63 + 2), (0, 2, 2**63 + 1), (1, 2, 2**63), (2, 3, 1)])
    forest = gpugraph.mst(graph, device="cpu")
    assert list(zip(*(ends.tolist() for ends in forest.endpoints()), strict=True)) == [(0, 2), (1, 2), (2, 3)]
    assert forest.total_weight == 2**64 + 2


def test_what_fits_no_type_is_refused_by_name() -> None:
    with pytest.raises(
        InputError, match=r"edge 1 - 2 is -1 and the weight of the edge 0 - 1 is 9223372036854775809: no in"
    ):
        gpugraph.load(path_with([2**63 + 1, -1]))
    with pytest.raises(InputError, match=r"edge 0 - 1 is 9007199254740993, which beside floats has no exact"):
        gpugraph.load(path_with([2**53 + 1, 0.5]))


@pytest.mark.parametrize("weight", [None, "3", 1j, [1], np.array([1, 2]), Fraction(1, 2), np.longdouble(1), math.nan])
def test_what_is_no_weight_is_refused_with_its_edge(weight: Any) -> None:
    with pytest.raises(InputError, match=r"the weight of the edge 1 - 2 is"):
        gpugraph.load(path_with([1.5, weight]))


# ------------------------------------------------------------------ arrays


@pytest.mark.parametrize("dtype", [*WEIGHT_DTYPES, "int8", "uint8", "int16", "uint16", "float16"])
@pytest.mark.parametrize("order", "<>")
def test_the_byte_order_of_an_array_does_not_matter(dtype: str, order: str) -> None:
    offsets, targets = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1])
    weights = np.array([1, 2, 1, 3, 2, 3])
    swapped = np.dtype(dtype).newbyteorder(order)  # type: ignore[arg-type]
    ids = np.dtype(np.int32).newbyteorder(order)  # type: ignore[arg-type]
    given = (offsets.astype(ids), targets.astype(ids), np.repeat(weights.astype(swapped), 2)[::2])
    graph = gpugraph.load(given)
    assert graph.weights.dtype.isnative
    assert graph.weights.dtype.name in WEIGHT_DTYPES
    assert graph.weights.tolist() == weights.tolist()
    paths = gpugraph.sssp(given, 0, device="cpu", verify="both")
    assert paths.distance.tolist() == [0, 1, 2]
    assert gpugraph.mst(given, device="cpu").total_weight == 3


ROW = ([0, 1, 2], [1, 0])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ((*ROW, np.ones((2, 1))), "the weights have 2 dimensions"),
        ((*ROW, [[1], [1]]), r"position 0 is \[1\], of type list"),
        ((*ROW, [[1], [1, 2]]), "position 0 is"),
        ((*ROW, 5), "the weights have 0 dimensions"),
        ((*ROW, [1]), "1 weight for 2 targets"),
        ((*ROW, ["a", "b"]), "position 0 is 'a'"),
        ((*ROW, np.ones(2, complex)), "weights of type complex128 are not supported"),
        ((*ROW, np.ones(2, "M8[s]")), "not supported"),
        ((*ROW, np.array([1, None])), "position 1 is None"),
        ((*ROW, [1, np.timedelta64(5, "s")]), r"position 1 is np.timedelta64\(5,'s'\), of type timedelta64"),
        ((*ROW, np.ma.masked_array([1, 2], [0, 1])), "masked in part"),
        (([0, 1.5, 2], [1, 0], None), "offsets are of type float64"),
        (([[0, 1, 2]], [1, 0], None), "offsets have 2 dimensions"),
        ((np.array([0, 2**63 + 5, 2], np.uint64), [1, 0], None), "offsets fall from .* at vertex 1"),
        ((np.array([0, 2**62, -(2**63), -(2**62), 2]), [1, 0], None), "offsets fall from .* at vertex 1"),
        ((np.array([0, 1, 2]), np.array([1, 2**63], np.uint64), None), "outside"),
        (([0, 1, 2], [1, -1], None), "outside"),
        ((*ROW, np.array([1.0, np.nan])), "position 1 is NaN"),
        (sparse.coo_array(np.array([1, 2, 3])), "two dimensions, this one has 1"),
        (nx.Graph, "a type is not a graph"),
        (sparse.csr_array, "a ABCMeta is not a graph|a type is not a graph"),
        (None, "a NoneType is not a graph"),
        (b"no-such-file", "cannot be read: no such file"),
    ],
)
def test_damaged_input_is_refused_in_words(source: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        gpugraph.load(source)


def test_rows_may_be_lists_and_may_be_empty() -> None:
    assert gpugraph.load(([0, 1, 2], [1, 0], [2**63, 2**63])).weights.tolist() == [2**63] * 2
    assert gpugraph.load(([0, 0], [], [])).vertices == 1


# ------------------------------------------------------------------ matrices


@drawn(60)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-100, 100)), max_size=20),
    st.sampled_from(["int8", "int32", "int64", "float32", "float64"]),
    st.sampled_from(["coo", "csr", "csc", "dok", "lil", "bsr", "dia"]),
)
def test_a_matrix_means_to_us_what_it_means_to_scipy(entries: Any, dtype: str, form: str) -> None:
    rows, columns, values = np.array(entries or np.zeros((0, 3), int)).T
    matrix = sparse.coo_array((values.astype(dtype), (rows, columns)), (4, 4))
    if dtype == "int8" and form != "coo":
        return  # SciPy's own conversion sums in eight bits
    expected = matrix.astype(np.int64).toarray()
    graph = gpugraph.load(matrix.asformat(form))
    found = np.zeros((4, 4), np.int64)
    found[np.repeat(np.arange(4), graph.degrees), graph.targets] = graph.weights
    np.fill_diagonal(expected, 0)
    assert np.array_equal(found, expected)


def test_summed_entries_are_reported_and_never_wrap() -> None:
    rows, columns = [0, 0, 1], [1, 1, 0]
    graph = gpugraph.load(sparse.coo_array((np.array([1, 2, 3], np.int32), (rows, columns)), (2, 2)))
    assert (graph.weights.tolist(), graph.directed, graph.weights.dtype) == ([3, 3], False, np.int32)
    assert graph.notes == ("summed 1 repeated entry of the matrix, as SciPy does",)
    wide = gpugraph.load(sparse.coo_array((np.full(3, 2**31 - 1, np.int32), (rows, columns)), (2, 2)))
    assert wide.weights.tolist() == [2**32 - 2, 2**31 - 1]
    pattern = gpugraph.load(sparse.coo_array((np.ones(3, bool), (rows, columns)), (2, 2)))
    assert pattern.weights.tolist() == [1, 1]
    with pytest.raises(InputError, match="does not fit into 64 bits"):
        gpugraph.load(sparse.coo_array((np.full(3, 2**62, np.int64), (rows, columns)), (2, 2)))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int64", [2**63 - 1, 0]),
        ("int64", [-(2**63), 0]),
        ("int64", [2**63 - 1, 2**63 - 1, -(2**63)]),
        ("int64", [2**62, 2**62]),
        ("int64", [-(2**63), -1]),
        ("uint64", [2**63, 2**63 - 1]),
        ("uint64", [2**63, 2**63]),
        ("uint64", [2**64 - 1, 1]),
    ],
)
def test_a_sum_up_to_the_bound_of_64_bits_is_exact_and_one_beyond_it_refused(kind: str, values: list[int]) -> None:
    graph = sparse.coo_array((np.array(values, kind), ([0] * len(values), [1] * len(values))), (2, 2))
    if np.iinfo(kind).min <= sum(values) <= np.iinfo(kind).max:
        assert gpugraph.load(graph).weights.tolist() == [sum(values)]
    else:
        with pytest.raises(InputError, match="does not fit into 64 bits"):
            gpugraph.load(graph)


@pytest.mark.parametrize(
    ("form", "name", "change"),
    [
        ("dok", "_dict", lambda held: held | {(5, 0): 3.0}),
        ("dok", "_dict", lambda held: held | {"x": 3.0}),
        ("lil", "rows", lambda rows: np.array([[7], *rows[1:]], object)),
        ("lil", "rows", lambda rows: np.array([[2**40], *rows[1:]], object)),
        ("lil", "rows", lambda rows: np.array([None, *rows[1:]], object)),
        ("dia", "data", lambda data: data[:1]),
        ("dia", "data", lambda data: data.reshape(-1)),
        ("dia", "offsets", lambda offsets: offsets[:1]),
        ("dia", "offsets", lambda offsets: offsets + 0.5),
        ("coo", "coords", lambda coords: (coords[0] + 0.7, coords[1])),
        ("coo", "coords", lambda coords: coords[:1]),
        ("csr", "indices", lambda indices: indices + 0.5),
        ("csr", "indices", lambda indices: indices.tolist()),
        ("csr", "indptr", lambda indptr: None),
        ("csr", "indptr", lambda indptr: indptr.astype(float)),
        ("csc", "data", lambda data: data.reshape(-1, 1)),
        ("bsr", "data", lambda data: data.reshape(-1)),
    ],
)
def test_a_matrix_with_an_array_that_is_none_of_its_form_is_refused(form: str, name: str, change: Any) -> None:
    whole = sparse.coo_array((np.array([1.0, 2, 3]), ([0, 1, 2], [1, 2, 0])), (3, 3)).asformat(form)
    setattr(whole, name, change(getattr(whole, name)))
    for read in (gpugraph.load, lambda matrix: gpugraph.on(matrix, device="cpu")):
        with pytest.raises(InputError, match="matrix"):
            read(whole)
    for function in (csgraph.minimum_spanning_tree, csgraph.dijkstra, csgraph.connected_components):
        with pytest.raises(ValueError, match="matrix"):
            function(whole)


@pytest.mark.parametrize("kind", ["uint8", "uint64", ">i4", "int16"])
def test_indices_of_any_integer_type_are_taken(kind: str) -> None:
    matrix = sparse.csr_array((np.array([1.0, 2, 3]), ([0, 1, 2], [1, 2, 0])), (3, 3))
    matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(kind)
    assert gpugraph.load(matrix).weights.tolist() == [1, 2, 3]
    assert csgraph.minimum_spanning_tree(matrix).sum() == 3
    assert csgraph.connected_components(matrix)[0] == 1
    assert csgraph.dijkstra(matrix, indices=0).tolist() == [0, 1, 3]


def test_a_great_entry_beside_a_repeated_one_is_taken() -> None:
    graph = gpugraph.load(sparse.coo_array((np.array([2**63 - 1, 1, 2]), ([0, 1, 1], [1, 2, 2])), (3, 3)))
    assert graph.weights.tolist() == [2**63 - 1, 3]


def test_compressed_rows_that_repeat_an_entry_are_summed_too() -> None:
    matrix = sparse.csr_array((np.array([1, 2, 4]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 2))
    assert gpugraph.load(matrix).weights.tolist() == [3, 4]
    assert gpugraph.load(sparse.csc_array(matrix.T)).weights.tolist() == [4, 3]


def test_a_matrix_whose_indices_lie_outside_is_refused() -> None:
    matrix = sparse.csr_array((np.array([1, 2]), np.array([1, 0]), np.array([0, 1, 2])), (2, 2))
    pairs = matrix.tocoo()
    matrix.indices[0] = pairs.row[0] = 99
    for damaged in (matrix, pairs):
        with pytest.raises(InputError, match="outside"):
            gpugraph.load(damaged)


# ------------------------------------------------------------------ self loops


def test_a_self_loop_of_negative_weight_is_reported_and_refused_where_it_matters() -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "b", -2), ("b", "c", 1)])
    loaded = gpugraph.load(graph)
    assert loaded.notes == ("dropped 1 self loop, 1 of negative weight",)
    assert gpugraph.mst(loaded, device="cpu").total_weight == 2
    with pytest.raises(InputError, match="self loop of the vertex b has a negative weight"):
        gpugraph.sssp(graph, "a", device="cpu")
    assert gpugraph.sssp(gpugraph.load(graph, weights="abs"), "a", device="cpu").distance.tolist() == [0, 1, 2]


def test_a_matrix_of_numpy_is_the_graph_of_what_is_not_0_in_it():
    dense = np.array([[0, 4, 0], [4, 0, 7], [0, 7, 0]])
    graph = gpugraph.load(dense)
    assert (graph.vertices, graph.edges, graph.directed) == (3, 2, False)
    assert graph.digest == gpugraph.load(sparse.csr_array(dense)).digest
    assert gpugraph.load(np.ma.masked_equal(dense, 7)).edges == 1
    assert gpugraph.load(np.triu(dense) > 0).directed
    with gpugraph.on(dense.astype(np.float32), device="cpu") as held:
        assert held.path(0, 2) == (11, [0, 1, 2])
    with pytest.raises(InputError, match="square, this one is 2 x 3"):
        gpugraph.load(np.zeros((2, 3)))
    with pytest.raises(InputError, match="is NaN"):
        gpugraph.load(np.array([[0, np.nan], [1, 0]]))


class IgraphLike:
    """A graph with the methods of igraph's that tell what it is."""

    class Edges(dict[str, Any]):
        def attributes(self) -> list[str]:
            return list(self)

    def __init__(self, edges: list[tuple[int, int]], weights: list[Any] | None, directed: bool):
        self.es = self.Edges() if weights is None else self.Edges(weight=weights)
        self.get_edgelist, self.vcount, self.is_directed = lambda: edges, lambda: 4, lambda: directed


@pytest.mark.parametrize("real", [True, False])
def test_a_graph_of_igraph_keeps_the_numbers_of_its_vertices(real: bool):
    igraph = pytest.importorskip("igraph") if real else None

    def made(weights: list[Any] | None, directed: bool = False) -> Any:
        edges = [(2, 0), (0, 1), (1, 2)]
        if igraph is None:
            return IgraphLike(edges, weights, directed)
        attributes = {} if weights is None else {"edge_attrs": {"weight": weights}}
        return igraph.Graph(n=4, edges=edges, directed=directed, **attributes)

    assert gpugraph.sssp(made([9, 2.5, 3]), 0, device="cpu").distance.tolist() == [0, 2.5, 5.5, math.inf]
    assert gpugraph.mst(made(None), device="cpu").total_weight == 2
    assert gpugraph.load(made([1, 2, 3], directed=True)).arcs == 3
    with pytest.raises(InputError, match="the weight of the edge 0 - 1 is None"):
        gpugraph.load(made([1, None, 3]))


def roads(**attributes: object) -> nx.Graph:
    G = nx.Graph()
    G.add_edge("a", "b", name="High Street", **attributes)
    return G


def test_a_graph_whose_numbers_are_not_called_weight_is_refused_and_they_are_listed():
    with pytest.raises(
        InputError, match="no edge has 'weight'; attributes that are numbers: 'length', 'lanes'"
    ) as error:
        gpugraph.load(roads(length=2.5, lanes=2, oneway=True))
    assert "with weight" in error.value.remedy
    with pytest.raises(InputError, match="no edge has 'width'; attributes that are numbers: 'length'"):
        gpugraph.load(roads(length=2.5), weight="width")
    assert gpugraph.load(roads(length=2.5), weight="length").weights.tolist() == [2.5, 2.5]
    assert gpugraph.load(roads(length=2.5), weights="unit").weights.tolist() == [1, 1]
    assert gpugraph.load(roads()).weights.tolist() == [1, 1]


@pytest.mark.parametrize("write", ["write_graphml", "write_gml", "write_edgelist"])
def test_a_file_with_attributes_is_weighed_by_the_one_that_is_named(tmp_path, write):
    path = tmp_path / f"roads.{write.removeprefix('write_')}"
    getattr(nx, write)(roads(length=2.5), path)
    with pytest.raises(InputError, match="attributes that are numbers: 'length'"):
        gpugraph.load(path)
    assert set(gpugraph.load(path, weight="length").weights) == {2.5}
    assert set(gpugraph.load(path, weights="unit").weights) == {1}
    with pytest.raises(InputError, match="no columns to choose") as error:
        gpugraph.load(path, columns="a,b,length")
    assert "with weight" in error.value.remedy


def test_a_graph_without_named_attributes_takes_no_weight():
    rows = ([0, 1, 2], [1, 0], [5, 5])
    for source in (rows, "path:5", gpugraph.load(rows)):
        with pytest.raises(InputError):
            gpugraph.load(source, weight="length")


def test_rows_may_be_said_to_be_symmetric():
    assert not gpugraph.load(([0, 1, 2], [1, 0], [5, 5]), directed=False).directed
    assert gpugraph.load(([0, 1, 2], [1, 0], [5, 5]), directed=True).directed
    with pytest.raises(InputError):
        gpugraph.load(([0, 1, 2], [1, 0], [5, 6]), directed=False)


def test_dir_lists_every_public_name():
    assert set(gpugraph.__all__) <= set(dir(gpugraph))


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_what_lies_behind_the_last_offset_of_a_matrix_is_no_entry(form: str) -> None:
    dense = np.array([[0, 4, 10], [4, 0, 5], [10, 5, 0]], float)
    whole = sparse.csr_array(dense).asformat(form)
    longer = whole.copy()
    longer.indices = np.concatenate((whole.indices, [2, 9**9])).astype(np.int32)
    longer.data = np.concatenate((whole.data, whole.data[:1], whole.data[:1]))
    assert gpugraph.load(longer).digest == gpugraph.load(whole).digest


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_a_dense_matrix_has_no_edge_where_it_is_infinite_and_refuses_what_is_no_number(value: float) -> None:
    dense = np.array([[0, 4, np.inf], [4, 0, np.inf], [np.inf, np.inf, 0]])
    assert gpugraph.components(dense, device="cpu").components == 2
    assert gpugraph.mst(dense, device="cpu").total_weight == 4
    with gpugraph.on(dense, device="cpu") as held:
        assert held.components().components == 2
    assert len(gpugraph.mst_many([dense], device="cpu").weights) == 1
    dense[1, 2] = value
    masked = np.ma.masked_array(dense, ~np.isfinite(dense))
    assert gpugraph.load(masked).edges == 1
    with pytest.raises(InputError, match=r"entry \[1, 2\] is (NaN|-inf)"):
        gpugraph.load(dense)


def test_a_matrix_of_objects_is_refused() -> None:
    with pytest.raises(InputError, match="Python objects"):
        gpugraph.load(np.array([[0, 1], [1, 0]], object))


def test_a_record_names_a_matrix_by_its_type_without_printing_it() -> None:
    class Unprintable(sparse.csr_array):
        def __str__(self) -> str:
            raise AssertionError("printed")

    record: Any = gpugraph.mst(Unprintable(np.array([[0, 1], [1, 0]])), device="cpu", time=True, verify="none")
    assert record.result.total_weight == 1
