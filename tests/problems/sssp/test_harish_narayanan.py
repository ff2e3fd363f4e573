"""What is wrong on purpose: it goes wrong, the race detector says where, and nothing ever vouches for it."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpugraph.devices.kernel_source import find_source
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.papers.sssp.gpu_harish_narayanan import state_bytes
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.algorithm import REGISTERED
from gpugraph.problems.registry import algorithms, find_algorithm, load_problem
from tests.emulator.compiler import needs_compiler
from tests.problems.gpu_cases import cases, expected_on_zoo, run_on
from tests.zoo import directed, zoo

pytestmark = needs_compiler

WRONG = ("f-gpu-no-atomic", "harish-narayanan", "matrix-f-gpu-no-atomic")
PLACES = {
    "f-gpu-no-atomic": ("dijkstra_base.cuh", "if (offered < *cell) *cell = offered;"),
    "harish-narayanan": ("harish_narayanan.cu", "if (updating_cost[v] > sum) updating_cost[v] = sum;"),
    "matrix-f-gpu-no-atomic": ("dijkstra_base.cuh", "if (offered < *cell) *cell = offered;"),
}


def counterexample(n: int, one_way: bool) -> CSRGraph:
    return generate(f"counterexample:{n}" + ("" if one_way else ",directed=false"))


@pytest.mark.parametrize("one_way", [True, False])
@pytest.mark.parametrize("name", WRONG)
def test_some_schedule_gives_a_wrong_answer_on_the_counterexample(name: str, one_way: bool) -> None:
    graph, answers = counterexample(200, one_way), Counter[int]()
    for seed in range(1, 81):
        found, _ = run_on(EmulatedDevice(seed=seed, races=True), "sssp", name, graph, query=(0,))
        np.testing.assert_array_equal(found.raw[:-1], [0] + [1] * 198)
        answers[int(found.raw[-1])] += 1
        if len(answers) > 1:
            break
    assert len(answers) > 1
    assert min(answers) == 2


@pytest.mark.parametrize(("seed", "kinds"), [(0, 1), (1, 2)])
def test_answers_differ_from_run_to_run_where_schedules_do(seed: int, kinds: int) -> None:
    device, graph = EmulatedDevice(seed=seed), counterexample(200, True)
    answers = [run_on(device, "sssp", "harish-narayanan", graph, query=(0,))[0].raw[-1] for _ in range(20)]
    assert min(len(set(answers)), 2) == kinds


@pytest.mark.parametrize("name", WRONG)
def test_the_race_detector_names_the_one_line_to_blame(name: str) -> None:
    device = EmulatedDevice(seed=1, races=True)
    run_on(device, "sssp", name, counterexample(200, True), query=(0,))
    races = device.races()
    file, text = PLACES[name]
    assert races
    for race in races:
        ((path, line),) = race.lines
        assert path.endswith(file)
        assert text in (find_source(file).read_text().splitlines()[line - 1])


@pytest.mark.parametrize("name", WRONG)
def test_in_order_they_are_right_so_nothing_but_the_race_is_wrong(name: str) -> None:
    device = EmulatedDevice()
    for graph_name, query in cases("sssp"):
        found, _ = run_on(device, "sssp", name, zoo(graph_name), query=query)
        right = expected_on_zoo("sssp", graph_name, query)
        np.testing.assert_array_equal(found.raw, right.raw, err_msg=graph_name)


def test_exactly_these_are_marked_as_wrong() -> None:
    marked = [algorithm for algorithm in algorithms("sssp") if not algorithm.trusted]
    assert {algorithm.name for algorithm in marked} == set(WRONG)
    assert all("wrong on purpose" in algorithm.summary for algorithm in marked)


@pytest.mark.parametrize("name", WRONG)
def test_they_are_never_chosen_and_never_reported_as_verified(name: str) -> None:
    record = run_cell(Cell("sssp", zoo("grid"), name, "emulated", repeat=2, warmup=0, verify="both", source="0"))
    assert record.status == "skipped"
    assert "wrong on purpose" in record.data["verification"]["detail"]
    assert record.data["mteps"]["kernel"] is None
    problem = load_problem("sssp")
    assert all(problem.auto(zoo("grid"), kind) not in WRONG for kind in ("cpu", "cuda", "emulated"))


def test_costs_beyond_32_bits_restart_in_64() -> None:
    graph = directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5)])
    found, counters = run_on(EmulatedDevice(), "sssp", "harish-narayanan", graph, query=(0,))
    assert counters["restarts"] == 1
    assert found.raw.tolist() == [0, 2**32 - 2, 2**33 - 4, 2**33 + 1]


def test_the_need_foretold_is_what_is_allocated() -> None:
    from gpugraph.ext.papers.sssp.gpu_harish_narayanan import State
    from gpugraph.graph.view import GraphView, make_resident

    device = EmulatedDevice()
    view, _, _ = make_resident(GraphView.of(zoo("grid")), device)
    State(view, device)
    taken = device.peak_bytes() - view.nbytes
    assert taken <= state_bytes(view) <= taken + 4096


@pytest.mark.gpu
@pytest.mark.parametrize("one_way", [True, False])
def test_a_gpu_gives_a_wrong_answer_on_the_counterexample(one_way: bool) -> None:
    from gpugraph.devices.cuda import CudaDevice

    device = CudaDevice(0)
    graph = counterexample(1024, one_way)
    answers = {int(run_on(device, "sssp", WRONG[1], graph, query=(0,))[0].raw[-1]) for _ in range(200)}
    device.close()
    assert answers != {2}


def test_one_that_is_wrong_on_purpose_is_sampled_to_the_end_and_its_results_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, right = itertools.cycle([3, 1, 2]), find_algorithm("sssp", "dijkstra", "emulated")

    def finish(state: Any, words: Any, source: int) -> Any:
        found = right.finish(state, words, source)
        return replace(found, raw=found.raw + next(answers))

    flawed = replace(right, trusted=False, finish=finish)
    monkeypatch.setitem(REGISTERED, ("sssp", "dijkstra", "emulated"), flawed)
    sampling = Sampling(min_samples=5, max_samples=6, warmup=0)
    record = run_cell(Cell("sssp", zoo("grid"), "dijkstra", "emulated", source="0"), sampling=sampling)
    assert record.outcome == "wrong"
    assert len(record.data["samples_s"]["kernel"]) >= 5
    verification = record.data["verification"]
    assert (verification["wrong_on_purpose"], verification["results"]) == (True, 3)
    assert "differs" not in verification["detail"]
    assert record.data["mteps"]["kernel"] is None
    meant = replace(flawed, trusted=True)
    monkeypatch.setitem(REGISTERED, ("sssp", "dijkstra", "emulated"), meant)
    ended = run_cell(
        Cell("sssp", zoo("grid"), "dijkstra", "emulated", source="0"), sampling=replace(sampling, max_samples=9)
    )
    assert len(ended.data["samples_s"]["kernel"]) == 1
    assert "wrong_on_purpose" not in ended.data["verification"]
