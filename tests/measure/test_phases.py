"""Every second of a command has a name: the phases of a record, and what is done with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpugraph.base import clock as clocks
from gpugraph.base.clock import NullClock, PhaseTimer
from gpugraph.measure import assemble, measurement
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp import gpu_delta_stepping
from gpugraph.records.record import PHASES, Record, ordered
from gpugraph.report.table import table
from gpugraph.report.terminal import plain
from tests.emulator.compiler import needs_compiler
from tests.measure.fakes import FakeTime, Puppet
from tests.measure.runs import SIX, cell, measure, puppets
from tests.report.canned import mst_record
from tests.zoo import directed, zoo


@pytest.fixture
def puppet(monkeypatch: pytest.MonkeyPatch) -> Puppet:
    (made,), _ = puppets(monkeypatch, "puppet")
    return made


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    made = FakeTime()
    monkeypatch.setattr(clocks, "time", made)
    monkeypatch.setattr(measurement, "time", made)
    monkeypatch.setattr(clocks, "compile_seconds", lambda: 0.0)
    return made


def test_the_phases_of_a_cell_divide_the_clock_from_the_command_to_the_end(
    puppet: Puppet, fake: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = assemble._blank

    def slow(*words: Any) -> dict[str, Any]:
        fake.now += 64
        return environment(*words)

    checked = measurement.check

    def check(*subject: Any) -> Verdict:
        fake.now += 16
        return checked(*subject)

    monkeypatch.setattr(assemble, "_blank", slow)
    monkeypatch.setattr(measurement, "check", check)
    puppet.on_prepare, puppet.on_run = fake.lasting(4.0), fake.lasting(1.0)
    phase_timer = PhaseTimer("start", since=-2.0)
    record = run_cell(cell("puppet"), sampling=replace(Sampling.fixed(5, 1), bandwidth=False), phase_timer=phase_timer)
    phases = record.data["phases_s"]
    assert phases == pytest.approx(
        dict.fromkeys({*PHASES, "total"} - {"fetch", "stage", "h2d"}, 0.0)
        | {"start": 2, "prepare": 4, "kernel": 1, "verify": 16, "sampling": 5, "close": 64, "total": 92}
    )
    assert fake.now - -2.0 == sum(phase_timer.until_now().values()) == phases["total"]
    assert record.answer_s == phases["total"] - phases["sampling"]


def test_what_is_written_after_the_run_is_part_of_the_total(puppet: Puppet, fake: FakeTime) -> None:
    phase_timer = PhaseTimer("start")
    record = run_cell(cell("puppet"), sampling=SIX, phase_timer=phase_timer)
    before = record.data["phases_s"]
    fake.now += 8
    after = record.with_phases(phase_timer).data["phases_s"]
    assert after == {**before, "close": before["close"] + 8, "total": before["total"] + 8}


def test_the_phases_of_competing_cells_are_their_own(monkeypatch: pytest.MonkeyPatch, fake: FakeTime) -> None:
    (one, two), _ = puppets(monkeypatch, "one", "two")
    one.on_run, two.on_run = fake.lasting(1.0), fake.lasting(10.0)
    records = measure([cell("one"), cell("two")], SIX).records
    for index, each in ((0, 1), (1, 10)):
        phases = records[index].data["phases_s"]
        assert (phases["kernel"], phases["sampling"], phases["start"], phases["close"]) == (each, 5 * each, 0, 0)


@needs_compiler
@pytest.mark.parametrize(
    ("weight", "kernel_s"),
    [(1, 1), (2**31, 1 + 64 + 8)],
    ids=["32 bits", "a restart in 64 bits"],
)
def test_kernel_time_ends_where_the_host_waits_for_word_whether_32_bits_were_enough(
    weight: int, kernel_s: int, fake: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restart counts in full: both searches and the wait between them."""
    search, overflowed = gpu_delta_stepping.search, gpu_delta_stepping.State.overflowed

    def search_for_a_while(state: gpu_delta_stepping.State, *query: Any) -> None:
        fake.now += 1 if state.width.bits == 32 else 8
        search(state, *query)

    def wait_for_a_while(state: gpu_delta_stepping.State) -> bool:
        fake.now += 64
        return overflowed(state)

    monkeypatch.setattr(gpu_delta_stepping, "search", search_for_a_while)
    monkeypatch.setattr(gpu_delta_stepping.State, "overflowed", wait_for_a_while)
    graph = directed(4, [(i, i + 1, weight) for i in range(3)])
    record = run_cell(Cell("sssp", graph, "delta-stepping", "emulated", phases=False), sampling=Sampling.fixed(3, 1))
    assert record.status == "passed"
    assert record.data["samples_s"]["kernel"] == [kernel_s] * 3


@needs_compiler
def test_staging_is_told_from_the_bus_only_where_that_is_asked_for() -> None:
    some = replace(cell("boruvka"), graph=zoo("random"), device="emulated", verify="none")
    together = run_cell(some, sampling=Sampling.fixed(1, 0)).data["phases_s"]
    separate = run_cell(replace(some, transfers="separate"), sampling=Sampling.fixed(1, 0)).data["phases_s"]
    assert together["transfer"] > 0
    assert not together.keys() & {"stage", "h2d"}
    assert separate["h2d"] > 0
    assert "transfer" not in separate
    for phases in (together, separate):
        assert sum(s for name, s in phases.items() if name != "total") == pytest.approx(phases["total"])


def test_what_is_not_verified_is_neither_checked_nor_finished_again(
    puppet: Puppet, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished, finish = [], puppet.finish
    puppet.finish = lambda *what: (finished.append(1), finish(*what))[1]  # type: ignore[method-assign]
    puppets_own = puppet.algorithm(digest=lambda raw: pytest.fail("a digest nobody asked for"))
    from tests.measure.fakes import enlist

    enlist(monkeypatch, puppets_own)
    monkeypatch.setattr(measurement, "check", lambda *subject: pytest.fail("a check nobody asked for"))
    (record,) = measure([replace(cell("puppet"), verify="none")], SIX).records.values()
    assert record.status == "skipped"
    assert record.data["phases_s"]["verify"] == 0
    assert len(finished) == 1


def test_records_from_before_there_was_a_total_are_read_as_they_were() -> None:
    phases = {"load": 0.0, "build": 0.25, "stage": 0.5, "h2d": 0.25, "prepare": 0.0, "kernel": 1.0, "d2h": 0.125}
    old = Record.of(mst_record(phases_s=phases))
    assert (old.transfer_s, old.kernel_s, old.answer_s) == (0.875, 1.0, None)
    new = Record.of(mst_record(phases_s=ordered({"transfer": 0.75, "kernel": 1.0, "d2h": 0.125, "sampling": 9.0})))
    assert (new.transfer_s, new.kernel_s, new.answer_s) == (0.875, 1.0, 1.875)


def test_inner_phases_are_timed_five_times_or_once_where_that_takes_too_long(puppet: Puppet, fake: FakeTime) -> None:
    lasted = [*[1.0] * 6, 0.5, 50.0, 0.75, 7.0, 0.625, *[3.0] * 6, 9.0]  # six samples before each
    shares = iter([0.5, 0.25, 0.75, 0.125, 0.625, 1.0])

    def run(state: Any, clock: Any, *query: Any) -> Any:
        seconds = lasted.pop(0)
        with clock.phase("sort"):
            fake.now += (share := next(shares) if clock.timing else 1.0) * seconds
        fake.now += (1 - share) * seconds
        return Puppet.run(puppet, state, NullClock(), *query)

    from tests.measure.fakes import enlist

    patched = pytest.MonkeyPatch()
    enlist(patched, puppet.algorithm(run=run))
    try:
        one = run_cell(replace(cell("puppet"), phases=True), sampling=SIX).data
        long = run_cell(replace(cell("puppet"), phases=True), sampling=SIX).data
    finally:
        patched.undo()
    assert (one["kernel_phases_s"], one["kernel_phases_run_s"]) == ({"sort": 0.75 * 0.75}, 0.75)  # of median length
    assert one["kernel_phases_runs"] == 5
    assert one["kernel_phases_shares"] == {"sort": [0.125, 0.5, 0.75], "other": [0.25, 0.5, 0.875]}
    assert long["kernel_phases_runs"] == 1
    assert (Record.of(long).inner, len(Record.of(one).inner)) == ({}, 2)
    assert lasted == []
    shown = " ".join(plain(table(Record.of(long))).split())
    assert "its phases are left out, 5 more runs take too long: give more time with --max-seconds" in shown
