"""The certificate on the device agrees with the host's, verdict and counter-example, whatever forest it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.base.errors import OutOfMemory
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.measure.cell import Cell
from gpugraph.measure.check import check
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.gpu_verify import certify
from gpugraph.problems.mst.verify import check_certificate
from gpugraph.problems.registry import load_problem
from tests.problems.mst.helpers import forest_by, random_graph
from tests.problems.mst.test_verify import GRAPH, MUTATIONS, RIGHT
from tests.tiers import first
from tests.zoo import ZOO, undirected, zoo

MST = load_problem("mst")


def certified(device: Any, graph: CSRGraph, forest: Forest, index_bits: int | None = None) -> Verdict:
    """Return the device's verdict."""
    view, _, _ = make_resident(GraphView.of(graph, index_bits=index_bits), device)
    return certify(view, device, forest)


def damage(graph: CSRGraph, right: Forest, rng: np.random.Generator) -> Forest:
    """Return another set of as many edges, or one more or one less."""
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    others = np.setdiff1d(np.flatnonzero(graph.targets > tails), right.edges)
    edges = right.edges.tolist()
    how = rng.integers(3) if len(edges) else 0
    if how != 0:
        edges.pop(rng.integers(len(edges)))
    if how != 1 and len(others):
        edges.append(int(rng.choice(others)))
    return Forest.of(graph, np.array(edges, np.int64))


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "emulated":
        yield EmulatedDevice()
        return
    from gpugraph.devices.cuda import CudaDevice

    made = CudaDevice(0)
    yield made
    made.close()


@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_the_right_forest_of_every_graph_of_the_zoo_passes(device: Any, index_bits: int) -> None:
    for name in ZOO:
        graph = MST.admit(zoo(name))
        verdict = certified(device, graph, forest_by("kruskal", graph), index_bits)
        assert (verdict.status, verdict.method) == ("passed", "certificate"), (name, verdict.detail)
        assert verdict.detail.endswith("checked on the device")


@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_damaged_forest_is_caught_with_the_hosts_counter_example(device: Any, mutation: str, index_bits: int) -> None:
    forest, _, by_certificate = MUTATIONS[mutation]
    assert certified(device, GRAPH, forest, index_bits) == Verdict("failed", "certificate", by_certificate)


@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_damage_to_any_graph_of_the_zoo_gets_the_hosts_verdict(device: Any, index_bits: int) -> None:
    caught = 0
    for seed, name in enumerate(ZOO):
        graph = MST.admit(zoo(name))
        right, rng = forest_by("kruskal", graph), np.random.default_rng(seed)
        for _ in range(4):
            forest = damage(graph, right, rng)
            expected, found = check_certificate(graph, forest), certified(device, graph, forest, index_bits)
            assert found.status == expected.status, (name, found.detail, expected.detail)
            if found.passed:
                assert np.array_equal(forest.edges, right.edges), name
            elif "closes a cycle" in expected.detail:
                assert "closes a cycle of forest edges" in found.detail
            else:
                assert found.detail == expected.detail
            caught += not found.passed
    assert caught > 50


@pytest.mark.parametrize("seed", first(3, range(1, 11)))
def test_the_verdict_is_the_same_under_any_schedule(seed: int) -> None:
    device = EmulatedDevice(seed=seed)
    for name in ("random-ties", "two-components", "star-equal", "float64"):
        graph = zoo(name)
        right = forest_by("prim", graph)
        assert certified(device, graph, right).passed
        forest = damage(graph, right, np.random.default_rng(seed))
        assert certified(device, graph, forest) == certified(EmulatedDevice(), graph, forest)


def test_there_is_no_race_beyond_those_explained_in_the_kernels() -> None:
    device = EmulatedDevice(seed=3, races=True)
    for name in ("random-ties", "star-equal", "path-increasing", "many-tiny", "int64"):
        graph = zoo(name)
        right = forest_by("prim", graph)
        assert certified(device, graph, right).passed
        assert not certified(device, graph, Forest.of(graph, right.edges[1:])).passed
    assert device.races() == []


@pytest.mark.parametrize("dtype", ["uint32", "float64"])
def test_of_equal_edges_the_last_on_a_cycle_is_compared(dtype: str) -> None:
    """Keys of 32 bits have the edge below them, wider ones beside them."""
    graph = undirected(3, [(0, 1, 5), (0, 2, 5), (1, 2, 5)], dtype)
    wrong = Forest.of(graph, np.array([0, 3]))
    assert [ends.tolist() for ends in wrong.endpoints()] == [[0, 1], [1, 2]]
    found = certified(EmulatedDevice(), graph, wrong)
    assert not found.passed
    assert found == check_certificate(graph, wrong)


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "int64"])
def test_a_vertex_that_a_wrong_forest_leaves_alone_is_found_though_its_edges_weigh_the_most(dtype: str) -> None:
    """It has chosen no edge, and the key of none is that of the greatest weight: there is nothing to look up."""
    most = int(np.iinfo(dtype).max)
    graph = undirected(5, [(0, 1, most - 1), (1, 2, most), (0, 2, most), (3, 4, most)], dtype)
    right = forest_by("kruskal", graph)
    device = EmulatedDevice(races=True)  # checks the bounds of every access
    assert certified(device, graph, right).passed
    for kept in (right.edges[:1], right.edges[:0], right.edges[1:]):
        wrong = Forest.of(graph, kept)
        assert certified(device, graph, wrong) == check_certificate(graph, wrong)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 60), st.integers(0, 200), st.integers(0, 3), st.integers(0, 10**6), st.booleans())
def test_random_graphs_get_the_hosts_verdict(n: int, m: int, heaviest: int, seed: int, wide: bool) -> None:
    graph = random_graph(n, m, heaviest, seed, "int64" if wide else "uint32")
    right = forest_by("prim", graph)
    assert certified(EmulatedDevice(), graph, right).passed
    forest = damage(graph, right, np.random.default_rng(seed))
    if not np.array_equal(forest.edges, right.edges):
        assert not certified(EmulatedDevice(), graph, forest).passed


def test_a_long_path_and_a_hub_of_many_tiles_are_certified(device: Any) -> None:
    n = 3000
    path = [(i, i + 1, i) for i in range(n - 2)]
    graph = undirected(n, path + [(n - 1, i, 5000 + i) for i in range(n - 1)])
    right = forest_by("prim", graph)
    assert certified(device, graph, right).passed
    second = int(graph.offsets[1]) - 1  # the arc from vertex 0 to the hub, the only forest edge of the hub
    assert second in right.edges
    swapped = Forest.of(graph, np.append(right.edges[right.edges != second], graph.offsets[n - 1] - 1))
    assert certified(device, graph, swapped) == check_certificate(graph, swapped)


def test_the_first_of_many_counter_examples_is_named(device: Any) -> None:
    graph = random_graph(500, 3000, 4, 3)
    right = forest_by("kruskal", graph)
    for lost in (right.edges[100:], right.edges[::3]):
        forest = Forest.of(graph, lost)
        assert certified(device, graph, forest) == check_certificate(graph, forest)


def test_ranks_in_place_of_weights_will_do(device: Any) -> None:
    graph = zoo("float64")
    view, _, _ = make_resident(GraphView.of(graph, ("rank-weights",)), device)
    assert certify(view, device, forest_by("kruskal", graph)).passed


def test_nothing_stays_on_the_device(device: Any) -> None:
    graph = zoo("random")
    view, _, _ = make_resident(GraphView.of(graph), device)
    device.reset_peak()
    before = device.peak_bytes()
    certify(view, device, forest_by("kruskal", graph))
    assert device.peak_bytes() > before
    device.reset_peak()
    assert device.peak_bytes() == before


# ------------------------------------------------------------------ who certifies where


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> EmulatedDevice:
    """An emulated device that the measurement takes for a GPU."""
    monkeypatch.setattr(EmulatedDevice, "kind", "cuda")
    monkeypatch.setattr("gpugraph.devices.bandwidth.copy_bandwidth", lambda device: 1e12)  # not through the emulator
    return EmulatedDevice()


def test_a_gpu_that_holds_the_graph_certifies_it(gpu: EmulatedDevice) -> None:
    view, _, _ = make_resident(GraphView.of(GRAPH), gpu)
    verdict = check(MST, GRAPH, (), RIGHT, "certificate", view, gpu)
    assert verdict.passed
    assert "checked on the device" in verdict.detail
    damaged = MUTATIONS["an edge dropped"][0]
    assert not check(MST, GRAPH, (), damaged, "both", view, gpu).passed


def test_a_measured_cell_is_certified_on_its_gpu_and_its_peak_is_that_of_the_runs(gpu: EmulatedDevice) -> None:
    peaks = []
    for verify in ("none", "certificate"):
        record = run_cell(Cell("mst", zoo("random"), "boruvka", "emulated", repeat=2, verify=verify))
        peaks.append(record.data["peak_device_bytes"])
    assert record.data["verification"]["detail"].endswith("checked on the device")
    assert peaks[0] == peaks[1] > 0


@pytest.mark.parametrize("preparation", first(1, ["sort-adjacency", "renumber"]))
def test_a_graph_rearranged_on_the_device_is_certified_on_the_host(gpu: EmulatedDevice, preparation: str) -> None:
    view, _, _ = make_resident(GraphView.of(GRAPH, (preparation,)), gpu)
    verdict = check(MST, GRAPH, (), RIGHT, "certificate", view, gpu)
    assert verdict == check_certificate(GRAPH, RIGHT)


def test_a_device_without_room_leaves_it_to_the_host(gpu: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(needed: int) -> None:
        raise OutOfMemory("no room")

    view, _, _ = make_resident(GraphView.of(GRAPH), gpu)
    monkeypatch.setattr(gpu, "require", full)
    assert check(MST, GRAPH, (), RIGHT, "certificate", view, gpu) == check_certificate(GRAPH, RIGHT)


def test_the_emulated_device_leaves_it_to_the_host_which_is_faster() -> None:
    device = EmulatedDevice()
    view, _, _ = make_resident(GraphView.of(GRAPH), device)
    assert check(MST, GRAPH, (), RIGHT, "certificate", view, device) == check_certificate(GRAPH, RIGHT)


def test_a_problem_without_a_certificate_on_the_device_uses_the_hosts(gpu: EmulatedDevice) -> None:
    class OnTheHostAlone:
        certificate = staticmethod(MST.certificate)

    view, _, _ = make_resident(GraphView.of(GRAPH), gpu)
    verdict = check(cast(Problem, OnTheHostAlone()), GRAPH, (), RIGHT, "certificate", view, gpu)
    assert verdict == check_certificate(GRAPH, RIGHT)
    assert verdict.passed
