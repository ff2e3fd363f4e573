"""prim-persistent beyond the zoo: tournaments of several levels, long rows, many blocks, memory, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpugraph.ext.papers.mst.gpu_prim_persistent as persistent
from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError
from gpugraph.devices.kernel_file import needs
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, ResidentView, make_resident
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.mst.gpu_forest import fetch_forest
from tests.problems.gpu_cases import expected, run_on
from tests.problems.mst.helpers import random_graph
from tests.tiers import extended, first
from tests.zoo import undirected

KERNELS = [("uint32", 32, level) for level in persistent.ON_CHIP] + [("float64", 64, "winners"), ("int32", 32, "rows")]
"""Weights, bits of an index and what is on chip: a choice of few, for each has to be compiled."""


def assert_same_forest(graph: CSRGraph, seed: int = 0, races: bool = False, bits: int = 32, **options: Any) -> None:
    device = EmulatedDevice(seed=seed, races=races)
    result, counters = run_on(device, "mst", "prim-persistent", graph, options=options, index_bits=bits)
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)
    assert counters["rounds"] == max(graph.vertices - 1, 0)
    if races:
        assert device.races() == []


def view_of(graph: CSRGraph, device: EmulatedDevice, bits: int = 32) -> ResidentView:
    return make_resident(GraphView.of(graph, index_bits=bits), device)[0]


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 150),
    degree=st.integers(0, 12),
    heaviest=st.sampled_from([0, 1, 1000]),
    kernel=st.sampled_from(KERNELS),
    blocks=st.integers(0, 6),
    threads=st.sampled_from([32, 64, 128]),
    seed=st.integers(0, 1000),
)
def test_any_graph_dealt_in_any_way_has_one_forest(
    n: int, degree: int, heaviest: int, kernel: tuple[str, int, str], blocks: int, threads: int, seed: int
) -> None:
    dtype, bits, on_chip = kernel
    graph = random_graph(n, n * degree // 2, heaviest, seed, dtype)
    assert_same_forest(graph, seed, bits=bits, blocks=blocks, threads=threads, on_chip=on_chip)


LARGE = {
    "three levels": lambda: random_graph(2500, 6000, 20, 1),
    "a hub": lambda: undirected(1500, [(0, i, (i * 7919) % 100) for i in range(1, 1500)]),
    "a long path": lambda: undirected(1200, [(i, i + 1, i % 7) for i in range(1199)]),
    "tiny components": lambda: undirected(1200, [(3 * i, 3 * i + 1, i % 5) for i in range(400)]),
    "dense": lambda: random_graph(300, 30000, 50, 2),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize(
    "options", first(1, [{}, {"blocks": 4, "threads": 64}, {"blocks": 2, "on_chip": "winners"}]), ids=str
)
def test_large_graphs_under_shuffled_schedules(name: str, options: dict[str, Any]) -> None:
    for seed in (1, 2, 3):
        assert_same_forest(LARGE[name](), seed, **options)


@pytest.mark.parametrize("on_chip", persistent.ON_CHIP)
def test_the_exchange_and_the_tournament_have_no_race(on_chip: str) -> None:
    for blocks in (1, 3):
        assert_same_forest(random_graph(150, 1200, 4, 3), 5, True, blocks=blocks, threads=64, on_chip=on_chip)


@extended
def test_it_runs_on_several_workers() -> None:
    graph, device = random_graph(300, 2000, 9, 4), EmulatedDevice(threads=2)
    result, _ = run_on(device, "mst", "prim-persistent", graph, options={"blocks": 4})
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)


def test_the_same_state_can_be_run_again() -> None:
    device, graph = EmulatedDevice(), random_graph(80, 300, 9, 5)
    options = {"blocks": 3, "threads": 64, "on_chip": "auto", "prefetch": True}
    state = persistent.State(view_of(graph, device), device, **options)
    for _ in range(3):
        edges = fetch_forest(state, persistent.run(state, NullClock()))
        np.testing.assert_array_equal(np.sort(edges), expected("mst", graph, ()).edges)


# ------------------------------------------------------------------ how the work is dealt


class SmallDevice(EmulatedDevice):
    """A device whose blocks have little shared memory."""

    def __init__(self, shared: int):
        super().__init__()
        self.shared_bytes_per_block = shared


def shape_on(shared: int, graph: CSRGraph, blocks: int = 0, threads: int = 0, on_chip: str = "auto") -> Any:
    device = SmallDevice(shared)
    return persistent.choose_shape(view_of(graph, device), device, blocks, threads, on_chip)


def test_a_sparse_graph_is_one_warps_work_with_all_on_chip() -> None:
    shape = shape_on(227 << 10, random_graph(500, 1000, 9, 6))
    assert (shape.blocks, shape.threads, shape.on_chip) == (1, 32, 3)


def test_where_rows_do_not_fit_candidates_stay_on_chip() -> None:
    shape = shape_on(8 << 10, random_graph(700, 1000, 9, 6))
    assert (shape.blocks, shape.on_chip) == (1, 2)


def test_more_blocks_hold_what_one_cannot() -> None:
    shape = shape_on(3 << 10, random_graph(700, 1000, 9, 6))
    assert (shape.blocks, shape.on_chip) == (4, 2)


def test_beyond_all_blocks_the_candidates_leave_the_chip() -> None:
    assert shape_on(1 << 10, random_graph(700, 1000, 9, 6)).on_chip == 1
    assert shape_on(256, random_graph(700, 1000, 9, 6)).on_chip == 0


def test_long_rows_are_shared() -> None:
    shape = shape_on(227 << 10, undirected(1300, [(u, v, u ^ v) for u in range(1300) for v in range(u)]))
    assert (shape.blocks, shape.threads) == (2, 256)


def test_a_device_with_less_shared_memory_gives_the_same_forest() -> None:
    graph = random_graph(700, 3000, 9, 6)
    for shared in (256, 1 << 10, 3 << 10, 8 << 10):
        result, _ = run_on(SmallDevice(shared), "mst", "prim-persistent", graph)
        np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blocks": -1}, "option 'blocks' is -1"),
        ({"blocks": 400}, "resident at once"),
        ({"blocks": 1, "on_chip": "rows"}, "a block would need 9,"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        shape_on(8 << 10, random_graph(700, 1000, 9, 6), **options)


@pytest.mark.parametrize("dtype", ["uint32", "float64"])
@pytest.mark.parametrize("bits", first(1, [32, 64]))
@pytest.mark.parametrize("shared", [256, 1 << 10, 227 << 10])
def test_the_need_foretold_is_what_a_run_allocates(dtype: str, bits: int, shared: int) -> None:
    device, graph = SmallDevice(shared), random_graph(3000, 6000, 9, 7, dtype)
    view = view_of(graph, device, bits)
    taken = device.peak_bytes()
    state = persistent.State(view, device, blocks=0, threads=0, on_chip="auto", prefetch=True)
    foretold = needs(persistent.arrays(view, state.shape))
    assert device.peak_bytes() - taken <= foretold <= device.peak_bytes() - taken + 7 * 512  # an array is rounded up


# ------------------------------------------------------------------ on a GPU


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("random:n=16384,ef=10,w=1..1000", {}),
        ("random:n=16384,ef=2,w=1..1000,dtype=float64", {}),
        ("random:n=20000,ef=2", {"blocks": 16, "threads": 64}),
        ("random:n=40000,ef=4", {"blocks": 1, "on_chip": "winners"}),
        ("random:n=100000,ef=4", {}),
        ("rmat:13", {"on_chip": "nothing"}),
        ("dense:n=3000,density=0.6,w=1..50", {}),
        ("dense:n=5000,density=0.9", {"blocks": 32, "threads": 256}),
    ],
    ids=str,
)
def test_it_is_verified_both_ways_on_larger_graphs(spec: str, options: dict[str, Any]) -> None:
    record = run_cell(Cell("mst", spec, "prim-persistent", "cuda", options=options, repeat=3, verify="both"))
    assert record.status == "passed"
