"""Streamed Borůvka: the same forest whatever passes by, within the memory allowed, each edge over the bus once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpugraph
import gpugraph.ext.papers.mst.gpu_boruvka_streamed as streamed
from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.papers.mst.gpu_boruvka_streamed import plan
from gpugraph.ext.papers.mst.streamed_edges import NAMES, canonical_edges, split_edges
from gpugraph.graph.canonical import canonical_ids
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.mst.gpu_forest import fetch_forest
from tests.cli.runner import refuse
from tests.emulator.compiler import needs_compiler
from tests.problems.gpu_cases import expected, run_on
from tests.problems.mst.helpers import random_graph
from tests.tiers import first
from tests.zoo import UNDIRECTED, undirected, zoo

pytestmark = needs_compiler

DEFAULTS = {"memory-limit": "", "stream": "rest", "chunk": 0, "light": -1.0}
INT32 = np.dtype(np.int32)


def forest_of(state: Any, clock: Any = None) -> Any:
    return streamed.finish(state, fetch_forest(state, streamed.run(state, clock or NullClock())))


# ------------------------------------------------------------------ parts


@pytest.mark.parametrize("name", UNDIRECTED)
@pytest.mark.parametrize("fractions", [(0.0, 0.0), (0.0, 0.4), (0.3, 0.6), (0.2, 5.0), (1.0, 3.0)])
def test_the_parts_hold_every_edge_once_and_every_edge_of_a_part_is_before_those_of_the_next(
    name: str, fractions: tuple[float, float]
) -> None:
    graph = zoo(name)
    view = GraphView.of(graph)
    light, both = (int(fraction * graph.edges) for fraction in fractions)
    parts = split_edges(view, EmulatedDevice(), (light, both), INT32)
    ids = [canonical_edges(view, parts, np.arange(p.numbers, p.numbers + p.edges)) for p in parts]
    assert sorted(np.concatenate([*ids, np.zeros(0, int)])) == sorted(set(canonical_ids(graph)))
    assert all((np.diff(part) > 0).all() for part in ids)
    for part, mine in zip(parts, ids, strict=True):
        assert np.array_equal(part.weights, graph.weights[mine])
    ordered = [sorted((graph.weights[i], i) for i in part) for part in ids]
    assert all(lower[-1] < upper[0] for lower, upper in pairwise(ordered))
    sizes = {part.name: part.edges for part in parts}
    assert sizes.get("light", 0) <= light
    assert sizes.get("light", 0) + sizes.get("middle", 0) <= max(light, both)
    if light == graph.edges:
        assert set(sizes) <= {"light"}


def test_equal_weights_are_split_between_rows() -> None:
    graph = random_graph(2000, 9000, 0, 1)
    light, middle, heavy = split_edges(GraphView.of(graph), EmulatedDevice(), (2000, 5000), INT32)
    assert (light.name, middle.name, heavy.name) == NAMES
    assert 1900 <= light.edges <= 2000
    assert middle.edges >= 2900
    assert light.edges + middle.edges <= 5000


# ------------------------------------------------------------------ runs


@pytest.mark.parametrize("dtype", ["uint32", "int32", "float32", "uint64", "int64", "float64"])
@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_a_full_list_makes_the_edges_pass_again_and_the_forest_stays_the_same(dtype: str, index_bits: int) -> None:
    rng = np.random.default_rng(7)
    ends, weights = rng.integers(0, 120, (900, 2)).tolist(), rng.integers(1, 40, 900).tolist()
    graph = undirected(120, [(u, v, w) for (u, v), w in zip(ends, weights, strict=True)], dtype)
    view, device = GraphView.of(graph, (), index_bits), EmulatedDevice(seed=4)
    planned = streamed.make_plan(view, device, {**DEFAULTS, "stream": "all", "chunk": 50})
    for capacity, most in ((1, (0, 0)), (5, (5, 40)), (60, (30, 300))):
        state = streamed.State(view, device, replace(planned, capacity=capacity, most=most))
        clock = NullClock()
        found = forest_of(state, clock)
        assert np.array_equal(found.edges, expected("mst", graph, ()).edges)
        assert clock.counters["passes"] > 2
        assert clock.counters["streamed_bytes"] > graph.edges * (4 + graph.weights.itemsize)


@settings(deadline=None, max_examples=15)
@given(
    st.integers(2, 60), st.integers(0, 250), st.integers(1, 200), st.floats(0, 3), st.sampled_from(["rest", "all"]),
    st.integers(1, 10**6),
)  # fmt: skip
def test_any_graph_in_any_chunks_gives_the_forest(
    n: int, m: int, chunk: int, light: float, stream: str, seed: int
) -> None:
    graph = random_graph(n, m, 20, seed)
    options = {"chunk": chunk, "light": light, "stream": stream}
    found, _ = run_on(EmulatedDevice(seed=seed), "mst", "boruvka-streamed", graph, options=options)
    assert np.array_equal(found.edges, expected("mst", graph, ()).edges)


def test_a_run_can_be_made_again() -> None:
    graph = random_graph(200, 1500, 100, 2)
    device = EmulatedDevice()
    view = GraphView.of(graph)
    state = streamed.prepare(view, device, **{**DEFAULTS, "stream": "all", "chunk": 64})
    first, second = forest_of(state), forest_of(state)
    assert np.array_equal(first.edges, second.edges)
    assert np.array_equal(first.edges, expected("mst", graph, ()).edges)


def test_within_a_quarter_of_the_graph_each_edge_passes_once() -> None:
    """The graph is of the paper's degree, 32, so that a quarter of it holds the vertices' arrays."""
    graph = gpugraph.load("random:n=4096,deg=32")
    view, device = GraphView.of(graph), EmulatedDevice()
    options = {**DEFAULTS, "memory-limit": str(view.nbytes // 4 + 16384)}
    state = streamed.prepare(view, device, **options)
    clock = HostClock()
    found = forest_of(state, clock)
    assert np.array_equal(found.edges, expected("mst", graph, ()).edges)
    assert device.peak_bytes() <= view.nbytes // 4 + 16384
    assert clock.counters["passes"] == len(state.parts) == 3
    assert clock.counters["streamed_bytes"] == 8 * (graph.edges - state.plan.resident)
    phases = {f"{part}_{work}" for part in NAMES for work in ("pass", "rounds")}
    assert clock.seconds.keys() == phases | {"copies"}


@pytest.mark.parametrize("dtype", ["uint32", "float64"])
@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
@pytest.mark.parametrize("more", [{}, {"stream": "all"}, {"stream": "all", "chunk": 100}, {"memory-limit": "60KB"}])
def test_the_memory_planned_is_what_a_run_takes(dtype: str, index_bits: int, more: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    edges = [(u, v, w) for (u, v), w in zip(rng.integers(0, 500, (4000, 2)).tolist(), range(4000), strict=True)]
    view = GraphView.of(undirected(500, edges, dtype), (), index_bits)
    device = EmulatedDevice()
    planned = streamed.make_plan(view, device, {**DEFAULTS, **more})
    state = streamed.State(view, device, planned)
    streamed.run(state, NullClock())
    assert device.peak_bytes() <= planned.bytes <= device.peak_bytes() + 17000


def test_more_edges_stay_on_the_device_the_more_memory_there_is() -> None:
    view, device = GraphView.of(gpugraph.load("rmat:12")), EmulatedDevice()
    plans = [
        streamed.make_plan(view, device, {**DEFAULTS, "memory-limit": limit}) for limit in ("30%", "60%", "90%", "300%")
    ]
    resident = [p.resident for p in plans]
    assert resident == sorted(resident)
    assert resident[-1] == view.arcs // 2
    assert plans[-1].chunk == 0


def test_not_even_the_vertices_fitting_is_refused_with_both_figures() -> None:
    view = GraphView.of(zoo("random"))
    with pytest.raises(OutOfMemory, match=r"boruvka-streamed: needs [\d,]+ bytes .* may take 1,000 ") as refused:
        streamed.compile_(view, EmulatedDevice(), **{**DEFAULTS, "memory-limit": "1KB"})
    assert refused.value.exit_code == 3


def test_a_negative_chunk_is_refused() -> None:
    with pytest.raises(InputError, match="'chunk' takes a number of edges"):
        streamed.make_plan(GraphView.of(zoo("random")), EmulatedDevice(), {**DEFAULTS, "chunk": -1})


def test_numbers_stay_narrow_where_only_the_arcs_are_many() -> None:
    class Huge:
        vertices, arcs, index_bits = 1 << 27, 2**32 - 2**20, 64
        weights = np.zeros(0, np.uint32)

    planned = plan(Huge(), 1 << 40, DEFAULTS)  # type: ignore[arg-type]
    assert planned.index_bits == 32
    Huge.arcs = 2**32
    assert plan(Huge(), 1 << 40, DEFAULTS).index_bits == 64  # type: ignore[arg-type]


def test_a_path_and_a_star_take_few_rounds() -> None:
    edges: list[tuple[int, int, float]] = [(i, i + 1, i) for i in range(700)]
    path: CSRGraph = undirected(701, edges)
    star = undirected(701, [(0, i, i) for i in range(1, 701)])
    for graph in (path, star):
        found, counters = run_on(EmulatedDevice(), "mst", "boruvka-streamed", graph, options={"stream": "all"})
        assert np.array_equal(found.edges, expected("mst", graph, ()).edges)
        assert counters["rounds"] <= 4


@pytest.mark.parametrize("name", ["boruvka-streamed", "boruvka-hybrid"])
def test_the_command_line_refuses_a_limit_below_the_vertices_need_with_exit_3(name: str) -> None:
    told = refuse(3, "mst", "rmat:10", "--algo", name, "--device", "emulated", "--memory-limit", "5KB")
    assert "and may take 5,000" in told


def test_the_graph_is_not_copied_to_the_device_before() -> None:
    graph = gpugraph.load("random:n=2000,deg=40")
    limit = GraphView.of(graph).nbytes // 3
    options = {"memory-limit": str(limit)}
    record = run_cell(Cell("mst", graph, "boruvka-streamed", "emulated", repeat=1, warmup=0, options=options))
    assert record.status == "passed"
    assert record.data["peak_device_bytes"] <= limit
    assert record.data["phases_s"]["transfer"] == 0
    assert record.data["counters"]["streamed_bytes"] > 0


@pytest.mark.gpu
@pytest.mark.parametrize("spec", ["rmat:16", "ssca2:16", "random:n=50000,deg=32,dtype=float64", "grid:300x300"])
def test_on_a_gpu_streaming_and_sharing_give_the_forest(spec: str) -> None:
    graph = gpugraph.load(spec)
    runs: list[tuple[str, dict[str, str]]] = [
        ("boruvka-streamed", {"stream": "all"}),
        ("boruvka-streamed", {"stream": "all", "chunk": "10000"}),
        ("boruvka-streamed", {"stream": "all", "light": "0.01"}),
        ("boruvka-hybrid", {}),
        ("boruvka-hybrid", {"cpu-share": "0.3"}),
    ]
    for name, options in runs:
        record = run_cell(Cell("mst", graph, name, "cuda", repeat=3, verify="both", options=options))
        assert record.status == "passed", (name, options, record.data["verification"])
