"""The kernels of drivers on ranks: no race beyond those that they explain, and one result under shuffled schedules."""

from __future__ import annotations

import pytest

from gpugraph.emulator.device import EmulatedDevice
from gpugraph.problems.sssp import delta_stepping_distributed
from gpugraph.ranks.comm import LoneComm
from tests.ranks.on_zoo import complaint
from tests.ranks.runs import own_ranks
from tests.ranks.test_drivers import tried
from tests.zoo import undirected

NAMES = ("random-ties", "grid-equal", "two-components", "star", "zero-weights", "one-edge-and-isolated")


def test_they_race_only_where_they_say_so() -> None:
    run = own_ranks(2, "emulated", "tests.ranks.on_zoo", "races", *NAMES)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) > 10


@pytest.mark.parametrize("seed", [1])
def test_shuffled_schedules_give_one_result(seed: int) -> None:
    run = own_ranks(3, "emulated", "tests.ranks.on_zoo", f"emulated:{seed}", *NAMES)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) > 10


def test_rows_too_long_for_a_few_lanes_are_cut_and_give_the_same() -> None:
    device = EmulatedDevice(races=True)
    graph = undirected(3001, [(0, i, i % 7) for i in range(1, 3000)] + [(1, 3000, 2), (2999, 3000, 1)])
    for source in (0, 1, 3000):
        assert complaint(LoneComm(), device, "sssp", graph, source) is None
    assert device.races() == []


def test_the_host_counts_in_the_same_places_as_the_kernels() -> None:
    places = delta_stepping_distributed.FILE.enumerators("Count")
    assert len(places) == 5
    assert {name: getattr(delta_stepping_distributed, name) for name in places} == places
