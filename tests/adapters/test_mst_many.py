"""Many small graphs at once: each forest is the one that the graph has by itself."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpugraph
from gpugraph.base.errors import InputError, VerificationFailed
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.python import graph_batch, mst_many
from gpugraph.ext.python.graph_batch import GraphBatch
from gpugraph.ext.python.mst_many import on_gpu
from tests.emulator.compiler import needs_compiler
from tests.tiers import drawn, first
from tests.zoo import COMMON, ZOO, directed, undirected, zoo

DEVICES = ("cpu", pytest.param("emulated", marks=needs_compiler))


def rows(graph):
    return graph.offsets, graph.targets, graph.weights


@st.composite
def small_graphs(draw: st.DrawFn, dtype: str = "uint32"):
    n = draw(st.integers(0, 9))
    ends = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(ends, ends, st.integers(0, 4)), max_size=20)) if n else []
    return undirected(n, [(u, v, w) for u, v, w in edges if u != v], dtype)


@pytest.mark.parametrize("zoo_names", first(1, [COMMON, ZOO]), ids=["common", "all"])
@pytest.mark.parametrize("device", DEVICES)
def test_the_whole_zoo_at_once_has_the_forests_of_its_graphs(device, zoo_names):
    by_type: dict[str, list[str]] = {}
    for name in zoo_names:
        by_type.setdefault(zoo(name).weights.dtype.name, []).append(name)
    for names in by_type.values():
        forests = gpugraph.mst_many([zoo(name) for name in names], device=device)
        assert len(forests) == len(names)
        for name, forest, trees in zip(names, forests, forests.components, strict=True):
            alone = gpugraph.mst(zoo(name), device="cpu", verify="none")
            assert forest.fingerprint() == alone.fingerprint(), name
            assert trees == alone.components


@drawn(60)
@given(st.lists(small_graphs(), max_size=8))
def test_forests_of_rows_are_right_with_ties_and_without_edges(graphs):
    forests = gpugraph.mst_many([rows(graph) for graph in graphs], device="cpu", verify="certificate")
    for graph, forest in zip(graphs, forests, strict=True):
        assert gpugraph.verify(graph, forest, method="reference").passed
        assert sum(forests.weights.tolist()) == sum(one.total_weight for one in forests)


@needs_compiler
def test_a_block_a_graph_races_with_nobody():
    rng = np.random.default_rng(3)
    graphs = []
    for n in (1, 0, 70, 33, 200, 2):
        ends = rng.integers(0, max(n, 1), (4 * n, 2))
        graphs.append(
            undirected(
                n,
                [(int(u), int(v), int(w)) for (u, v), w in zip(ends, rng.integers(1, 6, 4 * n), strict=True) if u != v],
            )
        )
    batch = GraphBatch.of(graphs)
    expected = gpugraph.mst_many(batch, device="cpu", verify="reference")
    for seed in range(3):
        device = EmulatedDevice(seed=seed, races=True)
        found = on_gpu(batch, device)
        assert device.races() == []
        np.testing.assert_array_equal(found.edges, expected.edges)
        np.testing.assert_array_equal(found.starts, expected.starts)


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "int64", "float32", "float64"])
def test_weights_of_every_type_are_compared_as_they_are(dtype):
    low = 0 if dtype.startswith("u") else -5
    huge = 2**40 if "64" in dtype else 7
    graphs = [undirected(4, [(0, 1, huge), (1, 2, low), (2, 0, 3), (2, 3, huge)], dtype), zoo("no-vertex")]
    forests = gpugraph.mst_many(graphs, device="cpu", verify="reference")
    assert forests.weights.tolist() == [3, low, huge]


def test_graphs_of_several_types_and_kinds_go_together():
    G = nx.Graph([("a", "b", {"weight": 2.5}), ("b", "c", {"weight": 1}), ("a", "c", {"weight": 7})])
    mixed = [G, directed(3, [(0, 1, 5), (1, 0, 3), (1, 2, 9)]), "path:4", rows(zoo("triangle"))]
    forests = gpugraph.mst_many(mixed, device="cpu")
    assert [one.total_weight for one in forests] == [3.5, 12, gpugraph.mst("path:4", device="cpu").total_weight, 3]
    assert [one.edges.tolist() for one in forests[1:3]] == [forests[1].edges.tolist(), forests[-2].edges.tolist()]
    with pytest.raises(IndexError):
        forests[4]


def test_a_forest_is_that_of_its_graph_whatever_types_stand_beside_it():
    wide = np.array([2**53 - 1, 2**53 - 3])
    graphs = [gpugraph.from_edges([0, 1], [1, 2], weights) for weights in (wide, [3, 4], [2.5, 1.0])]
    alone = [gpugraph.mst(graph, device="cpu") for graph in graphs]
    assert list(gpugraph.mst_many(graphs, device="cpu")) == alone
    assert gpugraph.mst_many(graphs, device="cpu")[0].total_weight == 2**54 - 4


@pytest.mark.parametrize(
    ("offsets", "targets", "weights"),
    [
        ([0, 2, 3, 4], [2, 1, 0, 0], [1, 1, 1, 1]),  # does not ascend
        ([0, 2, 3, 4], [1, 2, 0, 0], [1, 1, 2, 1]),  # the arcs of an edge differ
        ([0, 1, 1], [1], [4]),  # one arc only
        ([0, 0, 1], [0], [4]),  # one arc only, backwards
        ([0, 1, 2], [0, 1], [4, 4]),  # loops
    ],
)
def test_rows_of_a_graph_that_is_none_yet_are_mended(offsets, targets, weights):
    graph = (np.array(offsets), np.array(targets, np.int32), np.array(weights))
    good = rows(zoo("triangle"))
    forests = gpugraph.mst_many([good, graph, good], device="cpu", verify="both")
    assert forests[1].fingerprint() == gpugraph.mst(graph, device="cpu").fingerprint()
    assert forests[2].total_weight == 3


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ((np.array([0, 1]), np.array([5], np.int32), np.array([1])), "graph 1.*outside"),
        ((np.array([0, 2, 1]), np.array([1], np.int32), np.array([1])), "graph 1.*fall"),
        ((np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([np.nan, np.nan])), "graph 1.*NaN"),
        (7, "graph 1.*not a graph"),
    ],
)
def test_what_is_no_graph_is_named(graph, said):
    with pytest.raises(InputError, match=said):
        gpugraph.mst_many([zoo("triangle"), graph], device="cpu")


def test_integers_beside_floats_must_be_exact():
    graphs = [undirected(2, [(0, 1, 2**60)], "int64"), undirected(2, [(0, 1, 0.5)], "float64")]
    with pytest.raises(InputError, match="no type in common"):
        gpugraph.mst_many(graphs, device="cpu")


def test_a_wrong_forest_is_named(monkeypatch):
    from gpugraph.ext.python import mst_many

    def wrong(batch):
        return mst_many.Forests(batch, np.array([0, 2, 3]), np.array([0, 1, 0]))

    monkeypatch.setattr(mst_many, "_on_cpu", wrong)
    with pytest.raises(VerificationFailed, match="mst_many: graph 1"):
        gpugraph.mst_many([undirected(3, [(0, 1, 1), (0, 2, 1)]), zoo("triangle")], device="cpu", verify="certificate")


def test_no_graphs_have_no_forests():
    forests = gpugraph.mst_many([], device="cpu")
    assert len(forests) == 0
    assert list(forests) == []


def test_heavy_edges_that_nothing_light_replaces_join_in_the_end():
    cliques = [(6 * k + u, 6 * k + v, 1 + (u * v) % 3) for k in range(3) for u in range(6) for v in range(u)]
    bridges = [(0, 6, 90), (1, 7, 80), (8, 13, 70), (2, 14, 80)]
    graph = undirected(20, cliques + bridges)  # and two vertices by themselves
    (forest,) = gpugraph.mst_many([graph], device="cpu", verify="both")
    assert sorted(forest.graph.weights[forest.edges].tolist())[-2:] == [70, 80]
    assert forest.components == 3


@needs_compiler
def test_a_gpu_stays_open_for_the_next_call_and_not_after_one_that_failed(monkeypatch):
    class Gpu(EmulatedDevice):
        kind = "cuda"

    opened = []
    monkeypatch.setattr(mst_many, "select_device", lambda name: (opened.append(Gpu()) or opened[-1], None))
    monkeypatch.setattr(mst_many, "_idle", {})
    given = [rows(zoo("triangle")), rows(zoo("random"))]
    for _ in range(3):
        assert gpugraph.mst_many(given, device="cuda")[0].total_weight == 3
    assert len(opened) == 1
    assert not opened[0].closed
    with pytest.raises(InputError):
        gpugraph.mst_many([(given[0][0], given[0][1] + np.int32(7), given[0][2])], device="cuda")
    assert opened[0].closed
    assert gpugraph.mst_many(given, device="cuda")[0].total_weight == 3
    assert len(opened) == 2


@pytest.mark.parametrize(
    ("given_graphs", "options", "named"),
    [(3, {}, "graphs is 3"), ([], {"device": ["cpu"]}, "device is"), ([], {"verify": None}, "verify is None")],
)
def test_an_odd_argument_is_refused_and_named(given_graphs, options, named):
    with pytest.raises(InputError, match=named):
        gpugraph.mst_many(given_graphs, **{"device": "cpu", **options})


def test_a_graph_with_more_arcs_than_a_kernel_counts_is_refused_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_batch, "MOST_ARCS", 5)
    with pytest.raises(InputError, match=r"graph 1.*6 arcs, more than 5"):
        mst_many.GraphBatch.of([gpugraph.load("path:3"), gpugraph.load("path:4")])


def two_paths() -> dict[str, np.ndarray]:
    """The arrays of a batch of two paths of three vertices."""
    targets, weights = np.array([1, 0, 2, 1] * 2, np.int32), np.array([1, 1, 2, 2] * 2, np.uint32)
    return {
        "starts": np.array([0, 3, 6]),
        "offsets": np.array([0, 1, 3, 4, 5, 7, 8]),
        "targets": targets,
        "weights": weights,
    }


@pytest.mark.parametrize(
    ("name", "array", "named"),
    [
        ("starts", np.zeros(0, np.int64), "starts do not ascend from 0 to the number of rows, 6"),
        ("starts", np.array([0, 6, 3]), "starts do not ascend from 0 to the number of rows, 6"),
        ("starts", np.array([-(2**40), 3, 6]), "starts do not ascend from 0 to the number of rows, 6"),
        ("starts", np.array([0, 3, 2**40]), "starts do not ascend from 0 to the number of rows, 6"),
        ("offsets", np.array([0, 1, 3, 4, 5, 7, 2**40]), "offsets do not ascend from 0 to the number of targets, 8"),
        ("offsets", np.array([0, 1, 3, -(2**40), 5, 7, 8]), "offsets do not ascend from 0 to the number of targets, 8"),
        ("offsets", np.array([0, 1, 3, 4, 5, 7, 8], np.int32), "offsets is .*int64"),
        ("targets", np.array([1], np.int32), "offsets do not .* 1"),
        ("targets", np.array([1, 0, 2, 1] * 4, np.int32), "offsets do not .* 16"),
        ("targets", np.array([1, 0, 2, 1, 2**30, 0, 2, 1], np.int32), "graph 1: .*both arcs"),
        ("targets", np.array([1, 0, 2, 1, 1, 0, 2, -(2**30)], np.int32), "graph 1: .*both arcs"),
        ("targets", np.array([[1, 0, 2, 1]] * 2, np.int32), "targets is .*int32"),
        ("targets", [1, 0, 2, 1] * 2, "targets is .*int32"),
        ("weights", np.array([1], np.uint32), "8 targets and 1 weights"),
        ("weights", np.ones(8, np.float16), "weights is .*float64"),
        ("weights", np.ones(8, ">f8"), "weights is .*float64"),
        ("weights", np.array([1, 1, 2, 2, 1, 9, 2, 2], np.uint32), "graph 1: .*both arcs"),
        ("weights", np.full(8, np.nan), "graph 0: .*NaN"),
        ("weights", -np.zeros(8, np.float32), "graph 0: .*−0.0"),
    ],
)
def test_arrays_of_a_batch_that_are_no_rows_are_refused_before_compiled_code_reads_them(name, array, named):
    with pytest.raises(InputError, match=named):
        GraphBatch(**{**two_paths(), name: array})


def test_a_batch_of_ones_own_arrays_has_the_forests_of_its_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    spread = {name: np.repeat(array, 2)[::2] for name, array in two_paths().items()}
    for arrays in (two_paths(), spread):
        assert [one.total_weight for one in gpugraph.mst_many(GraphBatch(**arrays), device="cpu")] == [3, 3]
    monkeypatch.setattr(graph_batch, "MOST_ARCS", 3)
    with pytest.raises(InputError, match=r"graph 0.*4 arcs, more than 3"):
        GraphBatch(**two_paths())
