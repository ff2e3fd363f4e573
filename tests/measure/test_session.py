from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpugraph.base import clock as clocks
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError, OutOfMemory
from gpugraph.measure import measurement, open_device, run_cell
from gpugraph.measure.assemble import outcome_of
from gpugraph.measure.run_cell import DeviceLost, Session
from gpugraph.measure.sampling import Sampling
from gpugraph.records.record import Record
from tests.measure.fakes import FakeTime, Puppet, enlist
from tests.measure.runs import SIX, Notes, cell, measure, puppets


def rounds(log: list[str], size: int) -> list[list[str]]:
    return [log[i : i + size] for i in range(0, len(log), size)]


# ------------------------------------------------------------------ order


def test_samples_of_competing_cells_are_interleaved_in_an_order_that_the_seed_decides(monkeypatch):
    orders = []
    for seed in (1, 1, 2):
        _, log = puppets(monkeypatch, "a", "b", "c")
        measure([cell(n) for n in "abc"], replace(Sampling.fixed(12, 0), seed=seed))
        assert all(sorted(turn) == ["a", "b", "c"] for turn in rounds(log, 3))
        assert len(log) == 36
        orders.append(log)
    assert orders[0] == orders[1] != orders[2]
    assert len({tuple(turn) for turn in rounds(orders[0], 3)}) > 2


def test_a_cell_whose_interval_is_met_ends_at_once_and_the_others_go_on(monkeypatch):
    (steady, noisy), log = puppets(monkeypatch, "steady", "noisy")
    steady.seconds, noisy.seconds = [0.002, 0.0021], [0.0005, 0.004]
    enlist(monkeypatch, steady.algorithm(), noisy.algorithm())
    notes = measure([cell("steady"), cell("noisy")], Sampling(target=0.5, min_samples=4, max_samples=14, warmup=0))
    assert notes.ended == [0, 1]
    sampled = notes.records[0].data["sampling"]
    assert (sampled["stopped_by"], sampled["target"]) == ("target", 0.5)
    assert sampled["reached"] <= 0.5
    assert log.count("steady") == 6 < log.count("noisy") == 14
    assert notes.records[1].data["sampling"]["stopped_by"] == "count"


def test_cells_that_end_together_are_all_known_well_enough_at_the_end(monkeypatch):
    (early, late), _ = puppets(monkeypatch, "early", "late")
    wide = [0.0002, 0.006] * 4
    early.seconds, late.seconds = [0.002] * 4 + wide + [0.002] * 99, wide[:4] + [0.002] * 99
    enlist(monkeypatch, early.algorithm(), late.algorithm())
    sampling = Sampling(target=0.2, min_samples=4, max_samples=90, warmup=0, together=True)
    records = measure([cell("early"), cell("late")], sampling).records
    ended = [records[index].data for index in (0, 1)]
    assert [data["sampling"]["stopped_by"] for data in ended] == ["target", "target"]
    assert all(data["sampling"]["reached"] <= 0.2 for data in ended)
    taken = [len(data["samples_s"]["kernel"]) for data in ended]
    assert 12 < min(taken) <= max(taken) <= min(taken) + 1 < 90


@pytest.fixture
def clock(monkeypatch):
    fake = FakeTime()
    monkeypatch.setattr(measurement, "time", fake)
    monkeypatch.setattr(run_cell, "time", fake)
    monkeypatch.setattr(clocks, "time", fake)
    monkeypatch.setattr(clocks, "compile_seconds", lambda: 0.0)
    return fake


@pytest.mark.parametrize(("limit_s", "taken"), [(0.5, 1), (1.0, 1), (2.5, 3), (6.0, 6)])
def test_the_time_limit_ends_a_cell_that_has_at_least_one_sample(monkeypatch, clock, limit_s, taken):
    (slow,), _ = puppets(monkeypatch, "slow")
    slow.on_run = clock.lasting(1.0)
    data = measure([cell("slow")], Sampling(target=0, min_samples=9, time_limit_s=limit_s, warmup=0)).records[0].data
    assert data["sampling"]["stopped_by"] == "time"
    assert len(data["samples_s"]["kernel"]) == taken
    assert (data["sampling"]["reached"] is None) == (taken < 6) == (data["confidence_s"] == {})


@pytest.mark.parametrize(("limit_s", "taken"), [(0.01, 1), (0.15, 2), (0.5, 3), (2.5, 3), (6.0, 6)])
def test_a_program_that_measures_itself_is_started_three_times_but_not_past_ten_limits(
    monkeypatch, clock, limit_s, taken
):
    slow = Puppet("slow", [])
    enlist(monkeypatch, slow.algorithm(warms_itself=True))
    slow.on_run = clock.lasting(1.0)
    data = measure([cell("slow")], Sampling(target=0, min_samples=9, time_limit_s=limit_s)).records[0].data
    assert data["sampling"]["stopped_by"] == "time"
    assert len(data["samples_s"]["kernel"]) == taken


@pytest.mark.parametrize(("processes", "started"), [(1, 3), (2, 2), (3, 1), (5, 1)])
def test_the_three_starts_of_a_program_are_spread_over_the_workers_of_a_bench(monkeypatch, clock, processes, started):
    slow = Puppet("slow", [])
    enlist(monkeypatch, slow.algorithm(warms_itself=True))
    slow.on_run = clock.lasting(1.0)
    sampling = Sampling(target=0, min_samples=9, time_limit_s=2.0, processes=processes)
    measure([cell("slow")], sampling)
    assert len(slow.log) == started


def test_the_check_of_the_first_result_does_not_count_against_the_limit(monkeypatch, clock):
    (slow,), log = puppets(monkeypatch, "slow")
    slow.on_run, checked = clock.lasting(1.0), measurement.check

    def check(*subject: Any) -> Any:
        clock.now += 1000
        return checked(*subject)

    monkeypatch.setattr(measurement, "check", check)
    measure([cell("slow")], Sampling(target=0, min_samples=5, time_limit_s=3.5, warmup=0))
    assert len(log) == 4


def test_at_the_end_of_the_time_for_all_cells_end_with_what_they_have_and_those_without_a_sample_are_given_up(
    monkeypatch, clock
):
    (one, two, late), log = puppets(monkeypatch, "one", "two", "late")
    one.on_run = two.on_run = late.on_run = clock.lasting(1.0)
    sampling = Sampling(target=0, min_samples=9, warmup=0)
    notes = measure([cell("one"), cell("two")], sampling, until=5.5)
    assert [notes.records[index].data["sampling"]["stopped_by"] for index in (0, 1)] == ["budget", "budget"]
    assert len(log) == 6
    clock.now, log[:] = 0.0, []
    late.on_prepare = lambda turn: setattr(clock, "now", 9.0)
    notes = measure([cell("one"), cell("late"), cell("two")], sampling, until=5.5)
    assert (notes.ended, notes.errors, log) == ([0], {}, ["one"])


def test_no_cell_is_refined_before_all_have_the_fewest_samples_nor_after_its_share_of_the_budget(monkeypatch, clock):
    (one, two), log = puppets(monkeypatch, "one", "two")
    one.on_run = two.on_run = clock.lasting(1.0)
    sampling = Sampling(target=0, min_samples=3, max_samples=9, warmup=0)
    for refine_until, taken in ((0.0, 3), (9.5, 5)):
        clock.now, log[:] = 0.0, []
        notes = measure([cell("one"), cell("two")], sampling, refine_until=refine_until)
        assert [len(notes.records[i].data["samples_s"]["kernel"]) for i in (0, 1)] == [taken, taken]
        assert sorted(log[:6]) == ["one"] * 3 + ["two"] * 3
        assert notes.records[0].data["sampling"]["stopped_by"] == "time"


def test_the_first_cell_gets_a_sample_even_if_there_is_no_time_left(monkeypatch, clock):
    puppets(monkeypatch, "one", "two")
    notes = measure([cell("one"), cell("two")], Sampling(target=0, min_samples=9, warmup=0), until=0.0)
    assert notes.ended == [0]
    assert len(notes.records[0].data["samples_s"]["kernel"]) == 1


def test_the_time_that_the_inner_phases_take_is_kept_for_them(monkeypatch, clock):
    (slow,), log = puppets(monkeypatch, "slow")
    slow.on_run = clock.lasting(1.0)
    measure([replace(cell("slow"), phases=True)], Sampling(target=0, min_samples=9, warmup=0), until=9.0)
    assert len(log) == 9  # four samples, and five runs
    assert clock.now == 9.0


def test_the_caller_learns_whose_code_runs_before_it_runs(monkeypatch):
    (one, two), _ = puppets(monkeypatch, "one", "two")
    notes, seen = Notes(), []
    one.on_run = two.on_run = lambda turn: seen.append(notes.current[-1])
    with Session() as used:
        args = (lambda what: None, notes.finished, notes.failed, notes.current.append)
        used.measure([cell("one"), cell("two")], Sampling.fixed(3, 1), *args)
    assert notes.current[:2] == [0, 1]
    assert sorted(seen) == [0] * 4 + [1] * 4


# ------------------------------------------------------------------ failure


def hidden(reason: Exception) -> Exception:
    """Return the error of a loader of libraries that does not repeat the system's reason."""
    error = OSError("Could not find/load shared object file")
    error.__context__ = reason
    return error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (OutOfMemory("too large"), "out of memory"),
        (MemoryError(), "out of memory"),
        (hidden(OSError("lib.so: failed to map segment from shared object")), "out of memory"),
        (RuntimeError("can't start new thread"), "out of memory"),
        (InputError("not this one"), "refused"),
        (DeviceUnavailable("gone"), "failed"),
        (ZeroDivisionError("by\nzero"), "threw"),
    ],
)
@pytest.mark.parametrize("place", ["on_prepare", "on_run"])
def test_what_one_cell_raises_is_its_own(monkeypatch, error, outcome, place):
    (bad, _), _ = puppets(monkeypatch, "bad", "good")

    def fail(turn: int) -> None:
        raise error

    setattr(bad, place, fail)
    notes = measure([cell("nope"), cell("bad"), cell("good")], Sampling.fixed(2, 0))
    assert isinstance(notes.errors[0], InputError)
    assert notes.errors[1] is error
    assert outcome_of(error)[0] == outcome
    assert "\n" not in outcome_of(error)[1] != ""
    assert notes.records[2].outcome == "ok"
    assert len(notes.records[2].data["samples_s"]["kernel"]) == 2


@pytest.mark.parametrize("wrong_from", [1, 3])
def test_a_wrong_result_is_an_outcome_without_a_rate_and_ends_an_adaptive_cell(monkeypatch, wrong_from):
    (wrong,), log = puppets(monkeypatch, "wrong")
    wrong.wrong_from = wrong_from
    notes = measure([cell("wrong")], Sampling(target=0.0, min_samples=2, max_samples=50, warmup=0))
    data = notes.records[0].data
    assert (data["outcome"], data["verification"]["status"]) == ("wrong", "failed")
    assert data["message"] == data["verification"]["detail"] != ""
    assert data["mteps"]["kernel"] is None
    assert len(log) == wrong_from


def test_what_the_caller_raises_is_not_blamed_on_the_cell(monkeypatch):
    puppets(monkeypatch, "a")
    notes = Notes()

    def full(index: int, record: Record) -> None:
        raise OSError("disk full")

    with Session() as used, pytest.raises(OSError, match="disk full"):
        used.measure([cell("a")], Sampling.fixed(1, 0), lambda what: None, full, notes.failed)
    assert notes.errors == {}


@pytest.mark.parametrize("place", ["on_prepare", "on_run"])
def test_a_cell_that_finds_no_room_beside_others_is_measured_alone_after_them(monkeypatch, place):
    """The room is there as soon as the other's state has gone, and gone it must be."""
    (small, large), log = puppets(monkeypatch, "small", "large")
    states: list[weakref.ref[Any]] = []
    prepare = small.prepare

    def remembered(view: Any, device: Any) -> Any:
        state = prepare(view, device)
        states.append(weakref.ref(state))
        return state

    def crowd(turn: int) -> None:
        if any(state() is not None for state in states):
            raise OutOfMemory("no room")

    setattr(large, place, crowd)
    enlist(monkeypatch, small.algorithm(prepare=remembered))
    notes = measure([cell("large"), cell("small")] if place == "on_run" else [cell("small"), cell("large")], SIX)
    assert notes.errors == {}
    assert [record.outcome for record in notes.records.values()] == ["ok", "ok"]
    assert log[-6:] == ["large"] * 6
    assert log.count("small") == 6


def test_what_fits_nowhere_is_reported_once_after_it_was_tried_alone(monkeypatch):
    (huge, _), _ = puppets(monkeypatch, "huge", "small")

    def fail(turn: int) -> None:
        raise OutOfMemory("never")

    huge.on_prepare = fail
    notes = measure([cell("huge"), cell("small")], SIX)
    assert notes.ended == [1, 0]
    assert huge.prepared == 2
    assert huge.runs == 0


def test_a_failed_cell_keeps_no_arrays_alive(monkeypatch):
    (bad,), _ = puppets(monkeypatch, "bad")
    arrays: list[Any] = []

    def prepare(view: Any, device: Any) -> Any:
        array = np.zeros(10)
        arrays.append(weakref.ref(array))
        raise GpuGraphError("half way")

    enlist(monkeypatch, bad.algorithm(prepare=prepare))
    notes = measure([cell("bad")], SIX)
    assert isinstance(notes.errors[0], GpuGraphError)
    assert arrays[0]() is None


def test_a_lost_gpu_ends_the_group_after_the_culprit_was_named(monkeypatch):
    (bad, _), _ = puppets(monkeypatch, "bad", "good")

    def fail(turn: int) -> None:
        raise GpuGraphError("a kernel read outside its arrays")

    bad.on_prepare = fail
    monkeypatch.setattr(open_device.OpenDevice, "lost", lambda self: True)
    notes = Notes()
    with Session() as used, pytest.raises(DeviceLost, match="outside its arrays"):
        used.measure([cell("bad"), cell("good")], SIX, lambda what: None, notes.finished, notes.failed)
    assert list(notes.errors) == [0]
    assert notes.records == {}


def test_an_interrupt_passes_through_and_the_session_still_closes(monkeypatch):
    (held,), _ = puppets(monkeypatch, "held")

    def stop(turn: int) -> None:
        raise KeyboardInterrupt

    held.on_run = stop
    with pytest.raises(KeyboardInterrupt):
        measure([cell("held")], SIX)
