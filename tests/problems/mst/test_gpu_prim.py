"""Prim's algorithm as the papers have it, and the version without the primitive: block sizes, grids, launches."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import gpugraph.ext.papers.mst.gpu_prim as prim
from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import InputError
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.registry import find_algorithm
from tests.problems.gpu_cases import expected, run_on
from tests.problems.mst.helpers import random_graph
from tests.tiers import first
from tests.zoo import undirected

PAPER = {"threads": 128, "blocks": 128, "layout": "csr", "look": "c-to-n", "launches": "host"}


class Launches:
    """A kernel that notes its launches."""

    def __init__(self, kernel: Any, name: str, noted: list[tuple[str, int, int]]):
        self.kernel, self.name, self.noted = kernel, name, noted

    def __call__(self, grid: int, block: int, args: tuple[Any, ...], shared_bytes: int = 0) -> None:
        self.noted.append((self.name, grid, block))
        self.kernel(grid, block, args, shared_bytes)


class NotingDevice(EmulatedDevice):
    """The emulated device; ``noted`` holds every launch as (kernel, grid, block)."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[str, int, int]] = []

    def kernel(self, file: str, name: str, *args: Any, **more: Any) -> Any:
        return Launches(super().kernel(file, name, *args, **more), name, self.noted)


def launches(name: str, n: int, m: int, **options: Any) -> list[tuple[str, int, int]]:
    device = NotingDevice()
    graph = random_graph(n, m, 50, 1)
    result, _ = run_on(device, "mst", name, graph, options=options)
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)
    return device.noted


@pytest.mark.parametrize("threads", first(2, prim.BLOCK_SIZES))
@pytest.mark.parametrize("layout", ["csr", "int2"])
def test_every_block_size_of_the_paper_gives_the_same_forest(threads: int, layout: str) -> None:
    launches("prim", 90, 400, threads=threads, blocks=5, layout=layout)


def test_the_defaults_are_the_papers_best() -> None:
    assert {o.name: o.default for o in prim.OPTIONS} == PAPER


def test_grid_and_block_are_chosen_anew_before_every_launch() -> None:
    reductions = [call[1:] for call in launches("prim", 300, 900, **PAPER) if call[0] == "prim_reduce_candidates"]
    assert reductions[0] == (3, 128)
    assert reductions[200] == (1, 128)
    assert reductions[-1] == (1, 2)  # the last candidate joins without one
    assert {block for _, block in reductions} == {128, 64, 32, 16, 8, 4, 2}


@pytest.mark.parametrize("name", ["prim", "prim-naive"])
def test_a_graph_of_n_vertices_takes_n_less_two_steps(name: str) -> None:
    for n in (2, 3, 40):
        result, counters = run_on(EmulatedDevice(), "mst", name, generate(f"complete:{n}"))
        assert counters["rounds"] == n - 2
        assert len(result.edges) == n - 1


def test_the_second_reduction_runs_only_when_the_first_had_several_blocks() -> None:
    calls = launches("prim", 300, 900, **PAPER)
    several = sum(1 for name, grid, _ in calls if name == "prim_reduce_candidates" and grid > 1)
    assert Counter(name for name, _, _ in calls)["prim_reduce_blocks"] == several == 299 - 128


@pytest.mark.parametrize("layout", first(1, ["csr", "int2"]))
def test_without_the_primitive_a_step_takes_three_passes_and_a_join(layout: str) -> None:
    count = Counter(name for name, _, _ in launches("prim-naive", 100, 300, threads=32, blocks=3, layout=layout))
    assert {count[f"prim_naive_{name}"] for name in ("least_weight", "least_ends", "find", "join")} == {98}


@pytest.mark.parametrize("layout", ["csr", "int2"])
def test_the_row_of_c_may_be_longer_than_its_part_in_shared_memory(layout: str) -> None:
    graph = undirected(1700, [(5, v, v * 7 % 97) for v in range(1700) if v != 5] + [(3, 1600, 1), (9, 1000, 0)])
    assert prim.FILE["ROW_PART"] * 3 < 1699
    for look in ("c-to-n", "n-to-c"):
        result, _ = run_on(EmulatedDevice(1), "mst", "prim", graph, options={"layout": layout, "look": look})
        np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)


def test_candidates_look_for_c_in_their_own_rows_only_where_that_is_chosen() -> None:
    for look, kernel in (("c-to-n", "prim_compare_update"), ("n-to-c", "prim_compare_update_from_n")):
        count = Counter(name for name, _, _ in launches("prim", 60, 200, **{**PAPER, "look": look}))
        updates = {name: number for name, number in count.items() if "compare_update" in name}
        assert updates == {kernel: 59}


@pytest.mark.parametrize("name", ["prim", "prim-naive"])
def test_recorded_launches_give_the_same_forest_again_and_again(name: str) -> None:
    device, graph = EmulatedDevice(2), random_graph(90, 300, 9, 2)
    algorithm = find_algorithm("mst", name, device.kind)
    view = make_resident(GraphView.of(graph), device)[0]
    state = algorithm.prepare(view, device, **{**PAPER, "launches": "graph"})
    for _ in range(2):
        clock = HostClock()
        edges = algorithm.fetch(state, algorithm.run(state, clock))
        np.testing.assert_array_equal(np.sort(edges), expected("mst", graph, ()).edges)
        assert clock.seconds == {}  # no step is launched by the host


@pytest.mark.parametrize("options", [{"layout": "csr"}, {"look": "n-to-c", "layout": "int2"}])
def test_it_has_no_race(options: dict[str, str]) -> None:
    device = EmulatedDevice(4, races=True)
    graph = random_graph(700, 2500, 3, 6)
    result, _ = run_on(device, "mst", "prim", graph, options={**options, "threads": 64, "blocks": 3})
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)
    assert device.races() == []


@pytest.mark.parametrize("name", ["prim", "prim-naive"])
def test_a_launch_without_blocks_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="option 'blocks' is 0"):
        launches(name, 5, 5, threads=32, blocks=0, layout="csr")


@pytest.mark.parametrize("name", ["prim", "prim-naive"])
def test_the_same_state_can_be_run_again(name: str) -> None:
    device, graph = EmulatedDevice(), random_graph(60, 200, 9, 2)
    algorithm = find_algorithm("mst", name, device.kind)
    state = algorithm.prepare(make_resident(GraphView.of(graph), device)[0], device, **PAPER)
    for _ in range(2):
        edges = algorithm.fetch(state, algorithm.run(state, NullClock()))
        np.testing.assert_array_equal(np.sort(edges), expected("mst", graph, ()).edges)
