from __future__ import annotations

import time

import numba
import pytest

import gpugraph.base.numba_cache  # noqa: F401  counts what Numba compiles
from gpugraph.base import clock as clocks
from gpugraph.base.clock import COMPILING, HostClock, HostStopwatch, NullClock, PhaseTimer, compile_seconds
from tests.measure.fakes import FakeTime


def test_a_phase_counts_work_and_no_compilation():
    @numba.njit
    def slow_to_compile(x: float) -> float:
        for _ in range(3):
            x = x * 2.0 + 1.0
        return x

    clock, compiled_before, start = HostClock(), compile_seconds(), time.perf_counter()
    with clock.phase("work"):
        slow_to_compile(1.0)
        time.sleep(0.01)
    elapsed, compiled = time.perf_counter() - start, compile_seconds() - compiled_before
    assert compiled > 0
    assert 0.01 <= clock.seconds["work"] <= elapsed - compiled


def test_threads_that_compile_at_once_and_a_compiler_within_another_count_once():
    compiled_before = compile_seconds()
    phase_timer = PhaseTimer("start")
    with phase_timer.phase("build"), COMPILING:
        COMPILING(time.sleep)(0.01)
        time.sleep(0.01)
    compiled = compile_seconds() - compiled_before
    spent = phase_timer.until_now()
    assert 0.02 <= compiled <= sum(spent.values())
    assert spent["compile"] == pytest.approx(compiled)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """A clock that moves when it is told to, and on which nothing was compiled."""
    made = FakeTime()
    monkeypatch.setattr(clocks, "time", made)
    monkeypatch.setattr(clocks, "compile_seconds", lambda: 0.0)
    return made


def test_an_account_gives_every_second_to_one_phase(fake: FakeTime) -> None:
    phase_timer = PhaseTimer("start", since=-1.0)
    fake.now += 2
    with phase_timer.phase("verify"):
        fake.now += 4
        with phase_timer.phase("finish"):
            fake.now += 8
        with phase_timer.phase("verify"):
            fake.now += 16
        fake.now += 32
    fake.now += 64
    phase_timer.switch_phase("close")
    fake.now += 128
    assert phase_timer.until_now() == {"start": 67, "verify": 52, "finish": 8, "close": 128}
    assert sum(phase_timer.until_now().values()) == fake.now + 1


def test_what_is_compiled_within_a_phase_is_counted_as_compiled(
    fake: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    phase_timer = PhaseTimer("start")
    with phase_timer.phase("kernel"):
        fake.now += 5
        monkeypatch.setattr(clocks, "compile_seconds", lambda: 3.0)
    assert phase_timer.until_now() == {"start": 0, "kernel": 2, "compile": 3}


def test_seconds_that_are_moved_stay_as_many_and_outside_of_all_phases_none_are_counted(fake: FakeTime) -> None:
    phase_timer = PhaseTimer()
    fake.now += 100
    with phase_timer.phase("sampling"):
        fake.now += 5
    phase_timer.move("sampling", "kernel", 2)
    phase_timer.move("sampling", "d2h", 4)  # more than there is
    assert phase_timer.until_now() == {"sampling": 0, "kernel": 2, "d2h": 3}


@pytest.mark.parametrize("kind", [NullClock, HostClock])
def test_the_stopwatch_of_a_run_stops_behind_the_last_work_that_was_issued(
    kind: type[NullClock], fake: FakeTime
) -> None:
    watch, clock = HostStopwatch(), kind()
    clock.stop = watch.stop
    watch.start()
    assert not clock.stopped
    for worked, seconds in ((1, 1), (2, 1 + 8 + 2)):
        fake.now += worked
        assert clock.issued()
        assert clock.stopped
        fake.now += 8
        assert watch.seconds == seconds


def test_a_run_without_a_stopwatch_has_nothing_to_stop() -> None:
    clock = NullClock()
    assert clock.issued()
    assert not clock.stopped


def test_a_run_whose_result_nobody_reads_need_not_wait() -> None:
    assert not NullClock(awaited=False).issued()
