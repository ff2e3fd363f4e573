"""Time, verdict and phases over ranks, of which one is here: what the others say is given by the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpugraph.base.clock import PhaseTimer
from gpugraph.base.errors import InputError
from gpugraph.devices.discovery import select_device
from gpugraph.ext.ranks import measuring
from gpugraph.ext.ranks.comm import HostComm, LoneComm
from gpugraph.ext.ranks.measuring import Ranks
from gpugraph.ext.ranks.part import GraphPart
from gpugraph.measure.assemble import record_of
from gpugraph.measure.cell import Cell
from gpugraph.measure.inputs import CellSetup, InputCache, LoadedInput
from gpugraph.measure.instruments.memory import Memory
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.open_device import OpenDevice
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import find_algorithm
from gpugraph.records.record import Record
from tests.measure.fakes import enlist
from tests.zoo import zoo

DEVICE: Any = select_device("cpu")[0]
Others = Callable[[Any], list[Any]]


class OneOfThree(HostComm):
    """One of three ranks; ``others`` tells what the other two give where this one gives something."""

    size, name = 3, "three ranks"

    def __init__(self, others: Others = lambda own: [own, own], rank: int = 0):
        super().__init__()
        self.others, self.rank = others, rank

    def all_gather_object(self, thing: Any) -> list[Any]:
        """Return what all have given, in the order of the ranks."""
        given = self.others(thing)
        return [*given[: self.rank], thing, *given[self.rank :]]

    def _barrier(self) -> None:
        pass


def seconds_of_others(own: Any) -> list[Any]:
    """Return figures of two ranks that take longer than this one; they agree with it on everything else."""
    return [own + 2, own + 1] if isinstance(own, float) else [own, own]


def distributed(**changes: Any) -> Algorithm:
    """Return the algorithm for ranks, every run of which says that it took a second."""
    return replace(find_algorithm("mst", "boruvka-distributed", "cpu"), own_seconds=lambda *run: 1.0, **changes)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Measurement]:
    """Return what sets up a cell on one of three ranks, to which a whole graph is given as its part."""
    part = GraphPart.of(zoo("random"), LoneComm())
    placed = LoadedInput(part, "a graph", {}, algorithm_input=part)
    monkeypatch.setattr(measuring, "load_part", lambda *asked: placed)

    def start(comm: HostComm, algorithm: Algorithm, sampling: Sampling = Sampling.fixed(3, 0)) -> Measurement:  # noqa: B008
        enlist(monkeypatch, algorithm)
        cell = Cell("mst", "a graph", device="cpu", phases=False)
        silent = lambda what: None  # noqa: E731
        setup = CellSetup(cell, OpenDevice(DEVICE, None), PhaseTimer("start"), silent, Ranks(comm).problem)
        run = Measurement(setup, sampling, InputCache(), ranks=Ranks(comm))
        run.prepare()
        return run

    return start


def measured(run: Measurement) -> Record:
    """Take all samples; return the record."""
    while (stopped_by := run.stopping.reason()) is None:
        run.sample()
    return record_of(run, stopped_by)


def test_the_time_of_several_ranks_is_that_of_the_slowest(started: Callable[..., Measurement]) -> None:
    record = measured(started(OneOfThree(seconds_of_others), distributed()))
    assert record.data["samples_s"]["kernel"] == [3.0] * 3
    assert record.data["samples_s"]["d2h"] == [2.0] * 3
    assert record.status == "passed"


def test_the_memory_of_several_ranks_is_that_of_the_rank_that_took_most(started: Callable[..., Measurement]) -> None:
    def others(own: Any) -> list[Any]:
        return [own + 100, own] if type(own) is int else [own, own]

    run = started(OneOfThree(others), distributed())
    record = measured(run)
    (own,) = [one.peak_bytes for one in run.instruments if isinstance(one, Memory)]
    assert record.data["peak_device_bytes"] == own + 100
    assert [member["peak_device_bytes"] for member in record.data["ranks"]["members"]] == [own] * 3


def test_a_sample_that_differs_on_another_rank_alone_makes_the_cell_wrong(started: Callable[..., Measurement]) -> None:
    def others(own: Any) -> list[Any]:
        return [True, False] if isinstance(own, bool) else [own, own]

    record = measured(started(OneOfThree(others), distributed()))
    assert (record.outcome, record.data["message"]) == ("wrong", "sample 2 differs from sample 1")
    assert record.data["mteps"]["kernel"] is None


def test_a_sample_that_differs_on_this_rank_alone_makes_the_cell_wrong(started: Callable[..., Measurement]) -> None:
    answers = iter(["one", "one", "another"])

    def others(own: Any) -> list[Any]:
        return [True, True] if isinstance(own, bool) else [own, own]

    record = measured(started(OneOfThree(others), distributed(digest=lambda raw: next(answers))))
    assert (record.outcome, record.data["message"]) == ("wrong", "sample 3 differs from sample 1")


def test_a_first_answer_that_is_wrong_is_found_by_the_certificate(started: Callable[..., Measurement]) -> None:
    right = find_algorithm("mst", "boruvka-distributed", "cpu")

    def finish(*run: Any) -> Any:
        forest = right.finish(*run)
        return replace(forest, total_weight=forest.total_weight + 1)

    record = measured(started(OneOfThree(), distributed(finish=finish)))
    assert record.outcome == "wrong"
    assert "the total weight is" in record.data["message"]


def test_rank_0s_clock_decides_for_all_when_time_is_up(started: Callable[..., Measurement]) -> None:
    def others(own: Any) -> list[Any]:
        return [99.0, own] if isinstance(own, float) else [own, own]

    sampling = replace(Sampling.fixed(9, 0), time_limit_s=50.0)
    record = measured(started(OneOfThree(others, rank=1), distributed(), sampling))
    assert record.data["sampling"]["stopped_by"] == "time"
    assert record.data["sampling"]["spent_s"] == 99.0
    assert len(record.data["samples_s"]["kernel"]) == 1


def test_the_seconds_of_a_phase_are_split_rank_by_rank() -> None:
    def others(own: Any) -> list[Any]:
        seconds, collectives = own
        return [({"relax": 5.0}, {}), (seconds, collectives)]

    ranks = Ranks(OneOfThree(others))
    clock = ranks.phase_clock(DEVICE)
    with ranks.metered(clock):
        with clock.phase("relax"):
            ranks.comm.meter(0.5, 0.25, 100)  # type: ignore[misc]
            ranks.comm.meter(0.5, 0.25, 11)  # type: ignore[misc]
        clock.add_seconds("relax", 4 - clock.seconds["relax"])
    assert ranks.comm.meter is None
    inner, split = ranks.phases(clock)
    assert inner == {"relax": 5.0}
    assert split["relax"]["wait_s"] == [1.0, 0.0, 1.0]
    assert split["relax"]["communication_s"] == [0.5, 0.0, 0.5]
    assert split["relax"]["bytes_sent"] == [111, 0, 111]
    np.testing.assert_allclose(split["relax"]["work_s"], [2.5, 5.0, 2.5])


def test_several_ranks_refuse_an_algorithm_of_one_device(started: Callable[..., Measurement]) -> None:
    with pytest.raises(InputError, match="runs on one device"):
        started(OneOfThree(), distributed(ranks=False))
