"""The variants of the compound frontier: what runs where, what is copied, and every one of them right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.papers.sssp import frontier_dijkstra_cpu, frontier_dijkstra_gpu
from gpugraph.ext.papers.sssp.frontier_dijkstra import STRATEGIES, State, run, state_bytes
from gpugraph.ext.papers.sssp.frontier_dijkstra_gpu import ROUNDS_PER_READ, minima_sizes
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.registry import algorithms, find_algorithm
from tests.emulator.compiler import needs_compiler
from tests.problems.gpu_cases import run_on
from tests.problems.sssp.small_graphs import expected_distances, graphs
from tests.tiers import also, drawn, first
from tests.zoo import directed, undirected, zoo

pytestmark = needs_compiler

ALL = {name: strategy for name, (strategy, _, _) in STRATEGIES.items()}
ON_GPU = sorted(name for name, strategy in ALL.items() if "gpu" in strategy.sides and strategy.atomic)
HYBRIDS = ("u-hybrid-1", "u-hybrid-2", "u-hybrid-3")


@pytest.fixture(scope="module")
def device() -> EmulatedDevice:
    return EmulatedDevice()


def big(dtype: str = "uint32", n: int = 1400) -> CSRGraph:
    """Return a directed graph of several blocks, with a hub, vertices that nobody reaches and zero weights."""
    rng = np.random.default_rng(5)
    edges = [(int(u), int(v), int(w)) for u, v, w in rng.integers(0, n - 100, (4 * n, 3)) % [n - 100, n - 100, 8]]
    return directed(n, [*edges, *((3, v, v % 5) for v in range(4, n - 100))], dtype)


def with_weights(graph: CSRGraph, weights: list[int]) -> CSRGraph:
    """Return the graph with other weights, in the order of its arcs."""
    return replace(graph, weights=np.array(weights, graph.weights.dtype))


# ------------------------------------------------------------------ what the paper says


@pytest.mark.parametrize(
    ("name", "places"),
    {
        "f-cpu": ("push", "cpu", "cpu", "cpu"),
        "u-cpu": ("pull", "cpu", "cpu", "cpu"),
        "u-hybrid-1": ("pull", "cpu", "cpu", "gpu"),
        "u-hybrid-2": ("pull", "gpu", "cpu", "cpu"),
        "u-hybrid-3": ("pull", "gpu", "cpu", "gpu"),
        "u-gpu": ("pull", "gpu", "gpu", "gpu"),
        "u-gpu-2min": ("pull", "gpu", "gpu", "gpu"),
        "u-gpu-plus": ("pull-plus", "gpu", "gpu", "gpu"),
        "dijkstra": ("push", "gpu", "gpu", "gpu"),
        "f-gpu-no-atomic": ("push", "gpu", "gpu", "gpu"),
        "matrix-u-cpu": ("pull", "cpu", "cpu", "cpu"),
        "matrix-f-cpu": ("push", "cpu", "cpu", "cpu"),
        "matrix-u-gpu": ("pull", "gpu", "gpu", "gpu"),
        "matrix-f-gpu": ("push", "gpu", "gpu", "gpu"),
        "matrix-f-gpu-no-atomic": ("push", "gpu", "gpu", "gpu"),
    }.items(),
)
def test_each_step_runs_where_the_paper_says(name: str, places: tuple[str, ...]) -> None:
    strategy = ALL[name]
    assert (strategy.relax, strategy.relax_on, strategy.minimum_on, strategy.update_on) == places
    (found,) = [algorithm for algorithm in algorithms("sssp") if algorithm.name == name and algorithm.year == 2009]
    assert found.devices == (("cuda", "emulated") if "gpu" in places else ("cpu",))
    assert found.authors == "Martín, Torres, Gavilanes"
    assert found.section[0] in "45"
    assert found.trusted == ("no-atomic" not in name)


def test_one_pass_leaves_the_host_a_value_for_every_512_vertices_and_two_passes_one_for_every_512_of_those() -> None:
    assert minima_sizes(11 << 20, "one-pass") == [22528]
    assert minima_sizes(11 << 20, "two-pass") == [22528, 44]
    assert minima_sizes(1, "two-pass") == [1, 1]
    assert minima_sizes(1 << 20, "atomic") == [ROUNDS_PER_READ]
    assert minima_sizes(1 << 20, "cpu") == []


def test_the_cpu_repeats_the_states_of_the_kernels() -> None:
    for name in ("UNRESOLVED", "FRONTIER", "RESOLVED"):
        assert getattr(frontier_dijkstra_cpu, name) == frontier_dijkstra_gpu.LISTS[name]


# ------------------------------------------------------------------ copies


@pytest.mark.parametrize(
    ("name", "to_cpu", "to_gpu"),
    [
        # After r rounds of n states (1 byte) and n distances (4 bytes); the start is made where relaxing is done.
        ("u-hybrid-1", lambda n, r: n * (r - 1), lambda n, r: 4 * n * r + n),
        ("u-hybrid-2", lambda n, r: 4 * n * r + n, lambda n, r: n * (r - 1)),
        ("u-hybrid-3", lambda n, r: 5 * n * r, lambda n, r: 0),
    ],
)
def test_a_hybrid_copies_what_the_other_side_has_written_and_no_more(
    device: EmulatedDevice, name: str, to_cpu: Any, to_gpu: Any
) -> None:
    n = zoo("grid").vertices
    _, counters = run_on(device, "sssp", name, zoo("grid"), query=(0,))
    rounds = counters["rounds"] + 1  # the last one finds nothing
    assert counters.get("bytes_to_cpu", 0) == to_cpu(n, rounds)
    assert counters.get("bytes_to_gpu", 0) == to_gpu(n, rounds)


@pytest.mark.parametrize("name", HYBRIDS)
def test_the_copies_of_a_hybrid_are_phases(device: EmulatedDevice, name: str) -> None:
    view, _, _ = make_resident(GraphView.of(zoo("grid")), device)
    clock = HostClock()
    run(State(view, device, ALL[name]), clock, 0)
    copies = {"u-hybrid-1": {"to_cpu", "to_gpu"}, "u-hybrid-2": {"to_cpu", "to_gpu"}, "u-hybrid-3": {"to_cpu"}}[name]
    assert set(clock.seconds) == {"relax", "minimum", "update"} | copies


def test_what_runs_on_one_side_copies_nothing(device: EmulatedDevice) -> None:
    for name in sorted(set(ON_GPU) - set(HYBRIDS)):
        _, counters = run_on(device, "sssp", name, zoo("grid"), query=(0,))
        assert set(counters) <= {"rounds", "minima_read"}, name


@pytest.mark.parametrize(("name", "left"), [("u-gpu", 5), ("f-gpu", 5), ("u-gpu-2min", 1), ("dijkstra", None)])
def test_a_pass_of_the_minimum_leaves_a_value_for_each_block(device: EmulatedDevice, name: str, left: int) -> None:
    graph = directed(2100, [(i, (i + 1) % 2100, 1) for i in range(3)])
    _, counters = run_on(device, "sssp", name, graph, query=(0,))
    assert counters.get("minima_read") == left


# ------------------------------------------------------------------ right


@pytest.mark.parametrize("dtype", first(1, ["uint32", "float32", "int64"]))
@pytest.mark.parametrize("name", ON_GPU)
def test_graphs_of_several_blocks_are_solved(device: EmulatedDevice, name: str, dtype: str) -> None:
    graph = big(dtype)
    found, _ = run_on(device, "sssp", name, graph, query=(3,))
    np.testing.assert_array_equal(found.raw, expected_distances(graph, 3))


@pytest.mark.parametrize("name", ON_GPU)
def test_the_frontiers_are_those_of_the_cpu(device: EmulatedDevice, name: str) -> None:
    algorithm = find_algorithm("sssp", "f-cpu", "cpu")
    for graph_name in ("random-ties", "two-components", "directed-random", "float64"):
        clock = NullClock()
        algorithm.run(algorithm.prepare(GraphView.of(zoo(graph_name)), None), clock, 0)
        _, counters = run_on(device, "sssp", name, zoo(graph_name), query=(0,))
        assert counters["rounds"] == clock.counters["rounds"]


@pytest.mark.parametrize("name", ON_GPU)
def test_a_distance_beyond_32_bits_restarts_in_64(device: EmulatedDevice, name: str) -> None:
    graph = directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5)])
    found, counters = run_on(device, "sssp", name, graph, query=(0,))
    assert counters["restarts"] == 1
    assert found.raw.tolist() == [0, 2**32 - 2, 2**33 - 4, 2**33 + 1]
    _, counters = run_on(device, "sssp", name, zoo("grid"), query=(0,))
    assert "restarts" not in counters


@pytest.mark.parametrize("name", ON_GPU)
def test_the_greatest_weights_of_a_type_are_weights(device: EmulatedDevice, name: str) -> None:
    narrow = directed(3, [(0, 1, 2**32 - 1), (1, 2, 2**32 - 1)])
    found, _ = run_on(device, "sssp", name, narrow, query=(0,))
    assert found.raw.tolist() == [0, 2**32 - 1, 2**33 - 2]
    reals = directed(3, [(0, 1, 3e38), (1, 2, 3e38)], "float32")
    assert run_on(device, "sssp", name, reals, query=(0,))[0].reached.all()
    found, counters = run_on(device, "sssp", name, reals, query=(0,), options={"sums": "float32"})
    assert found.reached.tolist() == [True, True, False]
    assert "restarts" not in counters


@pytest.mark.parametrize("name", ON_GPU)
@pytest.mark.parametrize("weight", [2**63, 2**64 - 1])
def test_a_distance_beyond_64_bits_is_refused(device: EmulatedDevice, name: str, weight: int) -> None:
    graph = with_weights(directed(4, [(0, 1, 1), (1, 2, 1), (2, 3, 1)], "uint64"), [weight, weight, 1])
    with pytest.raises(InputError, match="does not fit in 64 bits"):
        run_on(device, "sssp", name, graph, query=(0,))
    shorter = with_weights(directed(3, [(0, 1, 1), (0, 2, 1), (1, 2, 1), (2, 1, 1)], "uint64"), [9, 7, weight, weight])
    found, _ = run_on(device, "sssp", name, shorter, query=(0,))
    assert found.raw.tolist() == [0, 9, 7]


@drawn(25)
@given(graph=graphs(), data=st.data())
def test_drawn_graphs_are_solved_by_every_variant(graph: CSRGraph, data: st.DataObject) -> None:
    source = data.draw(st.integers(0, graph.vertices - 1))
    name = data.draw(st.sampled_from(ON_GPU))
    found, _ = run_on(EmulatedDevice(seed=data.draw(st.integers(0, 9))), "sssp", name, graph, query=(source,))
    np.testing.assert_array_equal(found.raw, expected_distances(graph, source))


def test_a_state_serves_source_after_source(device: EmulatedDevice) -> None:
    graph = directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5), (3, 1, 4)])
    view, _, _ = make_resident(GraphView.of(graph), device)
    for name in ON_GPU:
        state = State(view, device, ALL[name])
        for source in (0, 3, 0):
            words = run(state, NullClock(), source).fetch()
            np.testing.assert_array_equal(words.astype(np.uint64)[1:], expected_distances(graph, source)[1:])


# ------------------------------------------------------------------ memory


@pytest.mark.parametrize("name", ON_GPU)
@pytest.mark.parametrize(("dtype", "index_bits"), [("uint32", 32), also("float64", 64)])
@pytest.mark.parametrize("one_way", [True, False])
def test_the_need_foretold_is_what_a_run_allocates(name: str, dtype: str, index_bits: int, one_way: bool) -> None:
    device, make = EmulatedDevice(), directed if one_way else undirected
    rng = np.random.default_rng(1)
    graph = make(1200, [(int(u), int(v), 1 + int(u) % 9) for u, v in rng.integers(0, 1200, (4000, 2))], dtype)
    view, _, _ = make_resident(GraphView.of(graph, (), index_bits), device)
    run(State(view, device, ALL[name]), NullClock(), 0)
    taken, foretold = device.peak_bytes() - view.nbytes, state_bytes(view, ALL[name])
    assert taken <= foretold <= 1.02 * taken + 4096


@pytest.mark.parametrize("name", ON_GPU)
def test_nothing_is_allocated_where_there_is_no_room(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device = EmulatedDevice()
    view, _, _ = make_resident(GraphView.of(big()), device)
    before = device.peak_bytes()
    monkeypatch.setattr("gpugraph.base.host.available_memory", lambda: 1 << 10)
    monkeypatch.setattr("gpugraph.base.host._ALWAYS_THERE", 0)
    monkeypatch.setattr("gpugraph.ext.emulator.device._NEVER_SHORT", 0)
    with pytest.raises(OutOfMemory, match=r"needs .* and 1 KiB are available"):
        State(view, device, ALL[name])
    assert device.peak_bytes() == before


# ------------------------------------------------------------------ on a GPU


@pytest.mark.gpu
@pytest.mark.parametrize("name", ON_GPU)
@pytest.mark.parametrize("spec", ["regular:n=20000,in=7,w=1..10", "rmat:12,dtype=float32", "dense:n=900,density=0.3"])
def test_it_is_verified_both_ways_on_a_gpu(name: str, spec: str) -> None:
    from gpugraph.measure.cell import Cell
    from gpugraph.measure.run_cell import run_cell

    if name.startswith("matrix") and "n=20000" in spec:
        spec = spec.replace("20000", "3000")
    record: Any = run_cell(Cell("sssp", spec, name, "cuda", repeat=2, verify="both", source="0"))
    assert record.status == "passed"
