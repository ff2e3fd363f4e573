"""The kernels of drivers on ranks: no race beyond those that they explain, and one result under shuffled schedules."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpugraph.base.clock import NullClock
from gpugraph.devices.discovery import select_device
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.ranks.comm import LoneComm
from gpugraph.ext.ranks.part import GraphPart
from gpugraph.ext.ranks.sssp import delta_stepping_distributed, delta_stepping_distributed_cpu
from gpugraph.ext.ranks.sssp.delta_stepping_distributed import DeviceSearch, near_bins
from gpugraph.ext.ranks.sssp.delta_stepping_distributed_cpu import Widths, _bin, bin_of, in_arcs_of
from gpugraph.graph.open import open_graph
from tests.ranks.on_zoo import complaint
from tests.ranks.runs import own_ranks
from tests.ranks.test_drivers import DENSE, tried
from tests.tiers import also, extended
from tests.zoo import undirected

by_names = pytest.mark.parametrize(
    "names",
    [
        ("random-ties", "two-components", "star"),
        pytest.param(("grid-equal", "zero-weights", "one-edge-and-isolated"), marks=pytest.mark.thorough),
    ],
)


@extended
@by_names
def test_they_race_only_where_they_say_so(names: tuple[str, ...]) -> None:
    run = own_ranks(2, "emulated", "tests.ranks.on_zoo", "races", *names)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) == 4 * len(names)


@by_names
@extended
def test_shuffled_schedules_give_one_result(names: tuple[str, ...]) -> None:
    run = own_ranks(3, "emulated", "tests.ranks.on_zoo", "emulated:1", *names)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) == 4 * len(names)


@pytest.mark.parametrize("ranks", [also(2), pytest.param(3, marks=pytest.mark.thorough), also(4)])
def test_ranks_that_write_into_each_others_memory_find_the_same(ranks: int) -> None:
    graphs = ("random-ties", "one-edge", "zero-weights", "rmat:8,w=1..255", "rmat:7,w=1..4294967295")
    run = own_ranks(ranks, "emulated", "tests.ranks.on_zoo", "mapped", *graphs)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) == 4 * len(graphs)


def test_arrays_of_both_widths_are_made_and_mapped_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mapped, made = delta_stepping_distributed.mapped_block, []
    monkeypatch.setattr(
        delta_stepping_distributed, "mapped_block", lambda *args: made.append(mapped(*args)) or made[-1]
    )
    part, device = part_of("path:9,w=4294967295..4294967295"), EmulatedDevice()
    state = delta_stepping_distributed.prepare(part, device)
    places, found = set(), []
    for source in (0, 4, 8):  # each begins with 32 bits, which hold no path of two edges
        assert delta_stepping_distributed.run(state, NullClock(), source) is False
        assert state.bits == 64
        found.append(state.own_words().tolist())
        places |= {(state.distance.ctypes.data, state.entries.ctypes.data)}
    assert found == [[abs(vertex - source) * 4294967295 for vertex in range(9)] for source in (0, 4, 8)]
    assert len(made) == len(places) == 1


def test_rows_too_long_for_a_few_lanes_are_cut_and_give_the_same() -> None:
    device = EmulatedDevice(races=True)
    graph = undirected(3001, [(0, i, i % 7) for i in range(1, 3000)] + [(1, 3000, 2), (2999, 3000, 1)])
    for source in (0, 1, 3000):
        assert complaint(LoneComm(), device, "sssp", graph, source) is None
    assert device.races() == []


def test_the_host_reads_in_the_same_places_as_the_kernels_write() -> None:
    places = delta_stepping_distributed.FILE.enumerators("Report")
    assert len(places) == 3
    assert {name: getattr(delta_stepping_distributed_cpu, name) for name in places} == places


THOROUGH = (("cpu", DENSE[1::2]), ("emulated", DENSE), ("races", DENSE))


@pytest.mark.parametrize(
    ("kind", "specs"), [also("cpu", DENSE[::2]), *(pytest.param(*one, marks=pytest.mark.thorough) for one in THOROUGH)]
)
def test_what_lies_beyond_the_horizon_of_a_dense_graph_is_found_as_well(kind: str, specs: tuple[str, ...]) -> None:
    run = own_ranks(3, "cpu" if kind == "cpu" else "emulated", "tests.ranks.on_zoo", kind, *specs)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) == 4 * len(specs)


def part_of(spec: str) -> GraphPart:
    return GraphPart.of(open_graph(spec), LoneComm())


def test_a_horizon_pays_in_dense_graphs_alone() -> None:
    assert math.isinf(Widths.of(part_of("grid:8x8,w=1..100"), 0.0, 8).window)
    assert math.isinf(Widths.of(part_of("rmat:8,w=unit"), 0.0, 8).window)
    for spec in DENSE:
        part = part_of(spec)
        widths = Widths.of(part, 0.0, 8)
        light = np.count_nonzero(part.weights < widths.window)
        assert 0 < light < len(part.weights) / 4
        assert 0 < widths.delta < widths.window


@pytest.mark.parametrize("threads", [None, 1])
def test_the_horizon_of_a_dense_graph_lies_beyond_a_source_whose_only_arc_is_long(
    threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_stepping_distributed_cpu, "MASS_SHARE", 16)
    dense = open_graph("rmat:8,w=1..255")
    tails = np.repeat(np.arange(256), np.diff(dense.offsets))
    edges = [(u, v, w) for u, v, w in zip(tails, dense.targets, dense.weights, strict=True) if u < v]
    hub = int(np.argmax(np.diff(dense.offsets)))
    part = GraphPart.of(undirected(257, [*edges, (hub, 256, 200)]), LoneComm())
    device = EmulatedDevice(threads=threads) if threads else select_device("cpu")[0]
    state, set_at = delta_stepping_distributed.prepare(part, device), []
    take = "_take_horizon" if threads else "set_horizon"
    whole = getattr(type(state), take)
    monkeypatch.setattr(type(state), take, lambda self, *at: set_at.append(at[0]) or whole(self, *at))
    cross, nearer = type(state).cross, list[bool]()

    def crossed(self: Any) -> None:
        cross(self)
        words, waiting = self.own_words(), np.asarray(self.pending)
        if threads:
            waiting = np.unpackbits(waiting.view(np.uint8), bitorder="little")[: len(words)]
        nearer.append(bool((words[waiting.astype(bool)] < int(self.base)).any()))

    monkeypatch.setattr(type(state), "cross", crossed)
    for source in (hub, 256):
        assert delta_stepping_distributed.run(state, NullClock(), source) is False
    assert nearer == [False, False]  # or what is collected would not be what was counted
    assert 0 <= set_at[0] < 200 <= set_at[1]
    assert 1 < state.widths.window < 100


@pytest.mark.parametrize("spec", DENSE)
def test_rows_are_turned_alike_on_host_and_device_light_arcs_first(spec: str) -> None:
    part = part_of(spec)
    widths = Widths.of(part, 0.0, 8)
    device = EmulatedDevice()
    there, here = DeviceSearch(part, device, widths).turned, in_arcs_of(part, widths.window)
    tails = np.repeat(np.arange(part.vertices), np.diff(here.offsets))
    for rows in (here, there):
        offsets, light, heads, weights = (
            device.download(array) for array in (rows.offsets, rows.light, rows.heads, rows.weights)
        )
        assert np.array_equal(offsets, here.offsets)
        in_front = np.arange(len(heads)) - offsets[tails] < light[tails]
        assert (weights[~in_front] >= widths.window).all()
        turned = sorted(zip(tails.tolist(), heads.tolist(), weights.tolist(), strict=True))
        whole = zip(part.tails(np.arange(part.own_arcs)), part.targets, part.weights, strict=True)
        assert turned == sorted((int(u), int(v), w.item()) for u, v, w in whole)  # a lone rank has both arcs of each


def test_bins_of_host_and_kernels_grow_with_what_lies_beyond_their_base() -> None:
    beyond = [*range(100), *(2**k + d for k in range(7, 62) for d in (-1, 0, 1))]
    bins = [bin_of(length) for length in beyond]
    assert bins[:17] == list(range(17))
    assert bins == sorted(bins)
    assert max(bins) < 512
    exact = [length for length in beyond if length < 2**53]
    assert [_bin(np.uint64(length + 7), np.uint64(7), 1.0) for length in exact] == bins[: len(exact)]


def test_no_fewer_are_near_than_the_share_and_none_that_lies_a_bin_farther() -> None:
    state: Any = SimpleNamespace(
        dtype=np.dtype(np.uint64),
        part=part_of("path:64"),
        widths=Widths(1.0, math.inf, 1.0, 8),
        waits=False,
        bins_to=lambda far: far,
    )
    waiting, least = np.array([0, 3, 4, 5, 0, 9], np.uint64), np.array([1, 2**64 - 1], np.uint64)
    assert near_bins(state, waiting, least) == 4  # 8 of 64 vertices, which two bins do not hold
    state.bins_to = lambda far: 5
    assert near_bins(state, waiting, least) == 5  # all within a width of the nearest
    state.widths, state.bins_to = Widths(1.0, math.inf, 1.0, 0), lambda far: 1
    assert near_bins(state, waiting, least) == 2  # the nearest in any case
    state.widths, state.waits = Widths(1.0, 9.0, 1.0, 8), True
    assert near_bins(state, waiting, least) == 2  # a share is taken once there is a horizon
