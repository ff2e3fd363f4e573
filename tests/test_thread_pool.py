"""A thread pool: nobody passes where all meet, one decides for all, and an interrupt ends it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.compiled import plain_njit
from gpugraph.ext.tuned import thread_pool
from gpugraph.ext.tuned.thread_pool import fetch_add
from tests.tiers import extended


@plain_njit
def _rotate(control, rank, size, cells, rounds, decided):
    thread_pool.enter(control)
    for i in range(rounds):
        cells[rank, i + 1] = cells[(rank + 1) % size, i] + 1
        thread_pool.meet(control, size)
    if size == 1 or thread_pool.join(control, size):
        decided[0] += 1
        decided[1] = cells[0, rounds]
        if size > 1:
            thread_pool.release(control)
    cells[rank, 0] = decided[1]
    thread_pool.leave(control, size)


@plain_njit
def _deal(control, rank, size, taken):
    thread_pool.enter(control)
    while True:
        item = fetch_add(control, thread_pool.COUNTERS, 1)
        if item >= len(taken):
            break
        taken[item] += 1
    thread_pool.leave(control, size)


@plain_njit
def _until_stopped(control, rank, size, begun):
    thread_pool.enter(control)
    begun[rank] = 1
    halt = thread_pool.COUNTERS
    while control[halt] == 0:
        if size == 1 or thread_pool.join(control, size):
            control[halt] = thread_pool.stopped(control)
            if size > 1:
                thread_pool.release(control)
    thread_pool.leave(control, size)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_what_stood_before_a_meeting_is_seen_after_it_and_one_decides_for_all(size):
    rounds = 300
    cells, decided = np.zeros((size, rounds + 1), np.int64), np.zeros(2, np.int64)
    thread_pool.run_on_threads(_rotate, cells, rounds, decided, size=size)
    assert (cells[:, 1:] == np.arange(1, rounds + 1)).all()
    assert decided.tolist() == [1, rounds]
    assert (cells[:, 0] == rounds).all()


@pytest.mark.parametrize("size", [1, 3])
def test_every_item_is_dealt_to_one(size):
    taken = np.zeros(10_000, np.int64)
    thread_pool.run_on_threads(_deal, taken, size=size)
    assert (taken == 1).all()


def test_calls_of_several_threads_take_turns():
    taken = [np.zeros(5_000, np.int64) for _ in range(4)]
    callers = [
        threading.Thread(target=thread_pool.run_on_threads, args=(_deal, each), kwargs={"size": 3}) for each in taken
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((each == 1).all() for each in taken)


def assert_a_thread_pool_works():
    taken = np.zeros(100, np.int64)
    thread_pool.run_on_threads(_deal, taken, size=2)
    assert (taken == 1).all()


def test_an_interrupt_ends_a_team_that_would_go_on_for_ever(monkeypatch):
    begun, hear, interrupted = np.zeros(2, np.int64), thread_pool._hear, []

    def interrupted_once(*args):
        if not interrupted:
            while not begun.all():
                time.sleep(0.001)
            interrupted.append(True)
            raise KeyboardInterrupt
        return hear(*args)

    monkeypatch.setattr(thread_pool, "_hear", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        thread_pool.run_on_threads(_until_stopped, begun, size=2)
    assert_a_thread_pool_works()


def test_a_second_interrupt_leaves_the_team_behind_and_the_next_call_gets_another(monkeypatch):
    begun, hear, interrupted = np.zeros(2, np.int64), thread_pool._hear, []
    thread_pool.run_on_threads(_deal, np.zeros(1, np.int64), size=2)
    before = thread_pool._thread_pool(2)

    def interrupted_twice(*args):
        if len(interrupted) < 2:
            interrupted.append(True)
            raise KeyboardInterrupt
        return hear(*args)

    monkeypatch.setattr(thread_pool, "_hear", interrupted_twice)
    with pytest.raises(KeyboardInterrupt):
        thread_pool.run_on_threads(_until_stopped, begun, size=2)
    assert_a_thread_pool_works()
    assert thread_pool._thread_pool(2) is not before


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["_wake", "_hear"])
def test_an_interrupt_at_any_moment_of_a_run_hangs_nobody(monkeypatch, step, when):
    thread_pool.run_on_threads(_deal, np.zeros(1, np.int64), size=2)
    done, interrupted = getattr(thread_pool, step), []

    def interrupted_once(*args):
        if when == "after" or interrupted:
            done(*args)
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt

    monkeypatch.setattr(thread_pool, step, interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        thread_pool.run_on_threads(_deal, np.zeros(100, np.int64), size=2)
    assert_a_thread_pool_works()


def test_what_a_function_raises_is_raised_and_the_team_goes_on():
    def refuse(control, rank, size):
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        thread_pool.run_on_threads(refuse, size=2)
    assert_a_thread_pool_works()


def test_runs_one_upon_the_other_never_mix_up_their_counters():
    for _ in range(500):
        cells, decided = np.zeros((3, 3), np.int64), np.zeros(2, np.int64)
        thread_pool.run_on_threads(_rotate, cells, 2, decided, size=3)
        assert decided.tolist() == [1, 2]


@extended
def test_numba_counts_the_processors_of_the_machine_when_a_team_is_the_first_to_need_it():
    code = (
        "import numpy as np\n"
        "from gpugraph.ext.tuned import thread_pool\n"
        "from gpugraph.base.compiled import threads\n"
        "from gpugraph.ext.components import cpu_afforest\n"
        "before = threads()\n"
        "size = max(2, before)\n"
        "graph = np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(1, np.int32)\n"
        "taken, spent = np.zeros(2 * size * thread_pool.STRIDE, np.int64), np.zeros(4, np.int64)\n"
        "thread_pool.run_on_threads(cpu_afforest._afforest, (*graph, taken, spent), size=size)\n"
        "assert threads() == before, threads()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@pytest.mark.parametrize(("items", "size"), [(0, 3), (1, 4), (64, 2), (1000, 3), (100_000, 16)])
def test_shares_cover_everything_once_in_whole_cache_lines(items, size):
    shares = [thread_pool.share_of(items, rank, size) for rank in range(size)]
    assert [v for start, stop in shares for v in range(start, stop)] == list(range(items))
    assert all(start % 64 == 0 or start == items for start, _ in shares)


def test_phases_share_the_time_by_their_cycles():
    clock = HostClock()
    thread_pool.add_phases(clock, ("a", "b", "c"), np.array([30, 0, 10]), 2.0)
    assert clock.seconds == {"a": 1.5, "c": 0.5}
    thread_pool.add_phases(NullClock(), ("a",), np.array([1]), 2.0)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system pins no threads")
def test_a_team_as_large_as_the_machine_has_a_processor_for_each():
    allowed = os.sched_getaffinity(0)
    if len(allowed) == 1:
        pytest.skip("one processor")
    earlier = set(os.listdir("/proc/self/task"))
    thread_pool._ThreadPool(len(allowed))
    deadline, places = time.monotonic() + 300, []
    while time.monotonic() < deadline and len(places) < len(allowed):
        new = set(os.listdir("/proc/self/task")) - earlier
        places = [place for place in (os.sched_getaffinity(int(thread)) for thread in new) if len(place) == 1]
        time.sleep(0.01)
    assert set.union(*places) == allowed
    assert os.sched_getaffinity(0) == allowed


def _fails_on_one(control, rank, size, done):
    """What a function does that a thread cannot even compile, and its like on the others: they wait for it."""
    if rank == 1:
        raise OSError(24, "Too many open files")
    _rotate(control, rank, size, *done)


def test_a_thread_that_fails_before_the_others_meet_it_hangs_nobody_and_the_next_run_works(monkeypatch):
    monkeypatch.setattr(thread_pool, "_LONGEST_STOP", 0.05)
    cells, decided = np.zeros((3, 11), np.int64), np.zeros(2, np.int64)
    with pytest.raises(OSError, match="Too many open files"):
        thread_pool.run_on_threads(_fails_on_one, (cells, 10, decided), size=3)
    test_what_stood_before_a_meeting_is_seen_after_it_and_one_decides_for_all(3)


def _fails(control, rank, size, ranks):
    if rank in ranks:
        raise ValueError(rank)
    thread_pool.leave(control, size)


def test_a_thread_pool_goes_on_after_errors_that_kept_nobody_waiting(monkeypatch):
    monkeypatch.setattr(thread_pool, "_LONGEST_STOP", 300.0)
    thread_pool.run_on_threads(_fails, [], size=3)
    pool = thread_pool._thread_pool(3)
    for ranks in ([0, 1, 2], [2], [0, 1], []) * 5:
        if ranks:
            with pytest.raises(ValueError, match=r"[012]"):
                thread_pool.run_on_threads(_fails, ranks, size=3)
        else:
            test_every_item_is_dealt_to_one(3)
    assert thread_pool._thread_pool(3) is pool


def test_what_a_thread_waits_with_is_compiled_before_it_starts(monkeypatch):
    """``ulimit -n 10`` leaves no file to compile with: a thread that died of that left its caller waiting."""
    order = []
    await_turn = thread_pool._await_turn
    monkeypatch.setattr(thread_pool, "_await_turn", lambda *args: order.append("compiled") or await_turn(*args))
    monkeypatch.setattr(thread_pool._ThreadPool, "_work", lambda *_: order.append("started"))
    thread_pool._ThreadPool(2)
    assert order[0] == "compiled"
    assert "started" in order[1:]


def test_a_pool_without_pipes_leaves_none_open(monkeypatch):
    made, pipe = [], os.pipe

    def few():
        if len(made) == 3:
            raise OSError(24, "Too many open files")
        made.append(pipe())
        return made[-1]

    monkeypatch.setattr(os, "pipe", few)
    with pytest.raises(OSError, match="Too many"):
        thread_pool.run_on_threads(_fails, [], size=6)
    for end in (end for pair in made for end in pair):
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(end)
