"""boruvka-prim: the same forest wherever the switch stands, and as many steps as trees are left."""

from __future__ import annotations

import numpy as np
import pytest

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.papers.mst.gpu_boruvka_scan import default_rounds
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.registry import find_algorithm
from tests.cli.runner import refuse, succeed
from tests.emulator.compiler import needs_compiler
from tests.problems.gpu_cases import expected, run_on
from tests.problems.mst.helpers import random_graph
from tests.zoo import ZOO, undirected, zoo

pytestmark = needs_compiler


@pytest.mark.parametrize("rounds", [-1, 0, 1, 2, 9])
@pytest.mark.parametrize("heaviest", [2, 10**6])
def test_the_forest_does_not_depend_on_the_switch(rounds: int, heaviest: int) -> None:
    for seed, dtype in enumerate(["uint32", "float64"], 1):
        graph = random_graph(600, 1500, heaviest, seed, dtype)
        result, _ = run_on(EmulatedDevice(seed), "mst", "boruvka-prim", graph, options={"switch-after": rounds})
        np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)


def test_prim_takes_a_step_for_each_tree_but_one() -> None:
    graph = undirected(50, [(i, i + 1, 1 + i % 3) for i in range(49)])
    _, counters = run_on(EmulatedDevice(), "mst", "boruvka-prim", graph, options={"switch-after": 0})
    assert counters == {"prim_steps": 49}


def test_several_blocks_grow_one_tree() -> None:
    graph = random_graph(1200, 1500, 50, 4)
    for seed in (0, 2):
        result, _ = run_on(EmulatedDevice(seed), "mst", "boruvka-prim", graph, options={"switch-after": 0})
        np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)


def test_the_grid_of_prim_follows_the_arcs_of_a_tree() -> None:
    graph = generate("complete:400")
    device = EmulatedDevice(2)
    algorithm = find_algorithm("mst", "boruvka-prim", "emulated")
    state = algorithm.prepare(make_resident(GraphView.of(graph), device)[0], device, **{"switch-after": 1})
    grids, kernel = [], state.prim_kernel
    state.prim_kernel = lambda grid, *args, **named: (grids.append(grid), kernel(grid, *args, **named))
    result = algorithm.finish(state, algorithm.fetch(state, algorithm.run(state, NullClock())))
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)
    arcs_of_a_tree = state.arcs_left // state.trees_left
    assert grids == [min(-(-arcs_of_a_tree // 1024), state.most_blocks)]
    assert grids[0] > 1


def test_it_has_no_race_beyond_those_explained_in_the_kernels() -> None:
    device = EmulatedDevice(seed=3, races=True)
    for graph in (random_graph(1100, 1300, 3, 5), zoo("many-tiny"), zoo("float64")):
        result, _ = run_on(device, "mst", "boruvka-prim", graph, options={"switch-after": 1})
        np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)
    assert device.races() == []


@pytest.mark.parametrize(
    ("vertices", "rounds"), [(0, 0), (1, 0), (2, 0), (4, 1), (16, 2), (17, 3), (65536, 4), (10**9, 5)]
)
def test_it_switches_after_log_log_rounds_by_default(vertices: int, rounds: int) -> None:
    assert default_rounds(vertices) == rounds


def test_the_switch_is_set_on_the_command_line() -> None:
    words = ("mst", "grid:9x9", "--algo", "boruvka-prim", "--device", "emulated", "--format", "json")
    assert '"switch-after": 2' in succeed(*words, "--switch-after", "2").out
    assert "give 0 or more" in refuse(2, *words, "--switch-after", "-2")
    assert "takes int" in refuse(2, *words, "--switch-after", "soon")


def test_a_negative_switch_is_refused() -> None:
    with pytest.raises(InputError, match="-5 rounds"):
        run_on(EmulatedDevice(), "mst", "boruvka-prim", zoo(ZOO[3]), options={"switch-after": -5})
