"""boruvka-scan beyond the zoo: hubs whose segments span blocks, chains, ties, many schedules, and its memory."""

from __future__ import annotations

import numpy as np
import pytest

from gpugraph.base.clock import HostClock, NullClock
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.registry import find_algorithm
from tests.emulator.compiler import needs_compiler
from tests.problems.gpu_cases import expected, run_on
from tests.problems.mst.helpers import random_graph
from tests.tiers import first
from tests.zoo import undirected, zoo

pytestmark = needs_compiler


@pytest.mark.parametrize("seed", [0, 3])
def test_a_hub_whose_segment_spans_many_tiles_finds_its_lightest_edge(seed: int) -> None:
    graph = undirected(6000, [(0, i, (i * 7919) % 100) for i in range(1, 6000)] + [(5998, 5999, 0)])
    result, counters = run_on(EmulatedDevice(seed), "mst", "boruvka-scan", graph)
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)
    assert counters["rounds"] <= 3


@pytest.mark.parametrize("heaviest", [0, 3, 10**6])
@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_ties_of_any_number_leave_the_canonical_forest(heaviest: int, index_bits: int) -> None:
    for seed in range(1, 4):
        graph = random_graph(700, 4000, heaviest, seed)
        result, _ = run_on(EmulatedDevice(seed), "mst", "boruvka-scan", graph, index_bits=index_bits)
        np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)


def test_offsets_of_more_trees_than_a_tile_holds_are_scanned_in_three_launches() -> None:
    graph = undirected(
        20_000, [(2 * i, 2 * i + 1, i % 7) for i in range(9_999)] + [(i, i + 2, 9) for i in range(19_998)]
    )
    result, _ = run_on(EmulatedDevice(), "mst", "boruvka-scan", graph)
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)


@pytest.mark.parametrize("dtype", ["uint32", "int64", "float64"])
@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_the_need_foretold_is_what_a_run_allocates(dtype: str, index_bits: int) -> None:
    graph = random_graph(3000, 20_000, 1000, 1, dtype)
    for name, options in (("boruvka-scan", {}), ("boruvka-prim", {"switch-after": 1})):
        algorithm = find_algorithm("mst", name, "emulated")
        device = EmulatedDevice()
        view, _, _ = make_resident(GraphView.of(graph, (), index_bits), device)
        algorithm.run(algorithm.prepare(view, device, **options), NullClock())
        assert algorithm.state_bytes is not None
        taken, foretold = device.peak_bytes() - view.nbytes, algorithm.state_bytes(view)
        assert taken <= foretold <= 1.02 * taken + (1 << 16) + (1 << 14)


def test_it_takes_a_round_for_each_halving_at_most() -> None:
    _, counters = run_on(EmulatedDevice(), "mst", "boruvka-scan", zoo("path-increasing"))
    assert 1 <= counters["rounds"] <= 7


def test_the_cpu_takes_every_step_but_find_min_where_the_paper_leaves_them_there() -> None:
    graph = random_graph(700, 4000, 3, 2, "float64")
    device = EmulatedDevice(3, races=True)
    clock = HostClock()
    algorithm = find_algorithm("mst", "boruvka-scan", "emulated")
    view, _, _ = make_resident(GraphView.of(graph), device)
    state = algorithm.prepare(view, device, others="cpu")
    launched, launch = [], state.launch
    state.launch = lambda name, *args: (launched.append(name), launch(name, *args))
    raw = algorithm.fetch(state, algorithm.run(state, clock))
    assert launched == ["list_arcs"]  # and the three launches of each scan
    steps = {"find_min_edge", "remove_cycle", "merge_vertices", "add_edges"}
    assert set(clock.seconds) == {"list_arcs", *steps, "copy_lists"}
    np.testing.assert_array_equal(algorithm.finish(state, raw).edges, expected("mst", graph, ()).edges)
    assert device.races() == []
