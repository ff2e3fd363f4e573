"""The cuGraph adapter, on stand-ins for CuPy and pylibcugraph that compute on the host."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpugraph.ext.components.labels import Components
from gpugraph.ext.components.problem import PROBLEM as COMPONENTS
from gpugraph.ext.components.verify import reference_labels
from gpugraph.ext.peers import LIBRARIES
from gpugraph.ext.peers.components import canonical
from gpugraph.ext.peers.mst import each_once, forest_of_pairs
from gpugraph.ext.peers.peer import PeerRefused
from gpugraph.ext.peers.sssp import distances_of
from gpugraph.graph.csr import CSRGraph
from gpugraph.measure.check import check
from gpugraph.problems.mst.forest import edge_endpoints
from gpugraph.problems.mst.problem import PROBLEM as MST
from gpugraph.problems.mst.verify import reference_forest
from gpugraph.problems.sssp.problem import PROBLEM as SSSP
from tests.zoo import UNDIRECTED, ZOO, has_negative_weights, undirected, zoo

STEPS: list[str] = []
"""What was done to the device, the latest last."""

TAKEN = [n for n in UNDIRECTED if n not in ("no-vertex", "uint64")]


class FakeGraph:
    """What ``SGGraph`` would hold; it checks what the real one is given."""

    def __init__(self, handle: Any, properties: Any, offsets: Any, targets: Any, weights: Any, **options: Any):
        assert options["input_array_format"] == "CSR"
        assert offsets.dtype == targets.dtype == np.int32
        assert weights.dtype in (np.float32, np.float64)
        assert STEPS.pop() == "waited", "CuPy's copies may still be on their way"
        self.graph = CSRGraph(offsets.astype(np.int64), targets, weights, directed=not properties.is_symmetric)


def fake_forest(handle: Any, graph: FakeGraph, check: bool) -> Any:
    u, v = edge_endpoints(graph.graph, reference_forest(graph.graph))
    return np.concatenate([u, v]), np.concatenate([v, u]), None, None


def fake_paths(handle: Any, graph: FakeGraph, source: int, cutoff: float, predecessors: bool, check: bool) -> Any:
    from gpugraph.problems.sssp.verify import reference_distances

    distance, _ = reference_distances(graph.graph, source, sums=graph.graph.weights.dtype.name)
    distance[np.isinf(distance)] = np.finfo(distance.dtype).max
    order = np.arange(len(distance))[::-1]
    return order, distance[order], None


def fake_components(handle: Any, graph: FakeGraph, *nothing: Any) -> Any:
    assert nothing == (None, None, None, None, False)
    labels = reference_labels(graph.graph)
    order = np.arange(len(labels))[::-1]
    return order, 7 + labels[order]


def copied(array: Any) -> Any:
    STEPS.append("copied")
    return np.asarray(array)


@pytest.fixture
def cugraph(monkeypatch: pytest.MonkeyPatch) -> Any:
    fake: Any = ModuleType("pylibcugraph")
    fake.ResourceHandle = object
    fake.GraphProperties = SimpleNamespace
    fake.SGGraph = FakeGraph
    fake.minimum_spanning_tree, fake.sssp, fake.weakly_connected_components = fake_forest, fake_paths, fake_components
    cupy: Any = ModuleType("cupy")
    cupy.asarray = copied
    cupy.asnumpy = np.asarray
    runtime = SimpleNamespace(deviceSynchronize=lambda: STEPS.append("waited"))
    cupy.cuda = SimpleNamespace(runtime=runtime, Stream=SimpleNamespace(null=nullcontext()))
    monkeypatch.setitem(sys.modules, "pylibcugraph", fake)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    rmm: Any = ModuleType("rmm")
    rmm.mr = SimpleNamespace(CudaAsyncMemoryResource=object, set_current_device_resource=lambda pool: None)
    monkeypatch.setitem(sys.modules, "rmm", rmm)
    return fake


@pytest.mark.usefixtures("cugraph")
@pytest.mark.parametrize("name", TAKEN)
def test_a_forest_listed_both_ways_comes_back_once(name: str) -> None:
    adapter, graph = LIBRARIES["cugraph"].adapters["mst"], zoo(name)
    prepared = adapter.prepare(graph, 1, "float64")
    u, v = adapter.answer(prepared, adapter.fetch(prepared, adapter.run(prepared)))
    forest = forest_of_pairs(graph, u, v, "peer:cugraph", [])
    assert check(MST, graph, (), forest, "both").passed


@pytest.mark.usefixtures("cugraph")
@pytest.mark.parametrize(
    "name", [n for n in ZOO if n not in ("no-vertex", "uint64") and not has_negative_weights(zoo(n))]
)
def test_distances_come_back_in_vertex_order_with_infinity_where_unreached(name: str) -> None:
    adapter, graph = LIBRARIES["cugraph"].adapters["sssp"], zoo(name)
    prepared = adapter.prepare(graph, 1, "float64")
    values = adapter.answer(prepared, adapter.fetch(prepared, adapter.run(prepared, 0)))
    result = distances_of(graph, 0, values, "peer:cugraph")
    verdict = check(SSSP, graph, (0,), result, "both")
    assert verdict.passed, verdict.detail
    assert result.raw.dtype == (graph.weights.dtype if graph.weights.dtype.kind == "f" else np.uint64)


@pytest.mark.usefixtures("cugraph")
@pytest.mark.parametrize("name", [n for n in ZOO if n != "no-vertex"])
def test_labels_come_back_in_vertex_order_whatever_the_weights_and_directed_graphs_are_refused(name: str) -> None:
    adapter, graph = LIBRARIES["cugraph"].adapters["components"], zoo(name)
    if graph.directed:
        with pytest.raises(PeerRefused, match="those of an undirected graph"):
            adapter.prepare(graph, 1, "")
        return
    prepared = adapter.prepare(graph, 1, "")
    labels = adapter.answer(prepared, adapter.fetch(prepared, adapter.run(prepared)))
    verdict = check(COMPONENTS, graph, (), Components.of(graph, canonical(labels)), "both")
    assert verdict.passed, verdict.detail


@pytest.mark.usefixtures("cugraph")
def test_integers_are_searched_in_float32_where_that_is_asked_for_and_exact() -> None:
    graph = zoo("random")
    for problem, query in (("mst", ()), ("sssp", (0,))):
        adapter = LIBRARIES["cugraph"].adapters[problem]
        prepared = adapter.prepare(graph, 1, "float32")
        assert prepared.arrays[2].dtype == np.float32
        found = adapter.answer(prepared, adapter.fetch(prepared, adapter.run(prepared, *query)))
        if problem == "sssp":
            assert found.dtype == np.float32
            assert check(SSSP, graph, query, distances_of(graph, 0, found, "peer:cugraph"), "both").passed
        else:
            assert check(MST, graph, (), forest_of_pairs(graph, *found, "peer:cugraph", []), "both").passed


@pytest.mark.usefixtures("cugraph")
def test_what_float32_cannot_hold_is_refused_and_not_called_wrong() -> None:
    adapter = LIBRARIES["cugraph"].adapters["sssp"]
    with pytest.raises(PeerRefused, match="float32, which does not hold the weight 16777217 exactly"):
        adapter.prepare(path_of([2**24 + 1, 1]), 1, "float32")
    far = adapter.prepare(path_of([2**23, 2**23 + 2]), 1, "float32")
    with pytest.raises(PeerRefused, match=r"exact up to 2\^24, and distances here reach 1.68e\+07"):
        adapter.answer(far, adapter.fetch(far, adapter.run(far, 0)))
    near = adapter.prepare(path_of([2**23, 2**23 - 1]), 1, "float32")
    assert adapter.answer(near, adapter.fetch(near, adapter.run(near, 0))).tolist() == [0, 2**23, 2**24 - 1]


def path_of(weights: list[int]) -> CSRGraph:
    """Return a path with these weights."""
    return undirected(len(weights) + 1, [(v, v + 1, w) for v, w in enumerate(weights)])


def test_edges_listed_twice_or_once_or_not_at_all_come_once() -> None:
    u, v = each_once(np.array([3, 1, 2, 5], np.int32), np.array([1, 3, 0, 4], np.int32))
    assert (u.tolist(), v.tolist()) == ([0, 1, 4], [2, 3, 5])
    assert [len(end) for end in each_once(np.empty(0, np.int32), np.empty(0, np.int32))] == [0, 0]


def test_a_version_without_forests_is_refused(cugraph: Any) -> None:
    del cugraph.minimum_spanning_tree
    with pytest.raises(PeerRefused, match="no minimum_spanning_tree"):
        LIBRARIES["cugraph"].adapters["mst"].prepare(zoo("triangle"), 1, "")


@pytest.mark.gpu
@pytest.mark.skipif(LIBRARIES["cugraph"].version() is None, reason="cugraph is not installed")
@pytest.mark.parametrize("problem", ["mst", "sssp"])
def test_cugraph_is_a_cell_like_any_other(problem: str) -> None:
    from gpugraph.ext.peers import PeerError
    from gpugraph.measure.cell import Cell
    from gpugraph.measure.run_cell import run_cell

    source = "max-degree" if problem == "sssp" else None
    cell = Cell(problem, "rmat:12", "peer:cugraph", device="cuda", source=source, repeat=2, phases=False)
    try:
        record = run_cell(cell)
    except PeerError as error:
        pytest.skip(f"this release of cuGraph cannot: {error}")
    assert record.status == "passed"
    assert record.data["phases_s"]["d2h"] > 0
