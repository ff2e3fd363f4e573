"""A team of threads: nobody passes where all meet, one decides for all, and an interrupt ends it."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from gpugraph import team
from gpugraph.clock import HostClock, NullClock
from gpugraph.compiled import plain_njit
from gpugraph.team import fetch_add


@plain_njit
def _rotate(control, rank, size, cells, rounds, decided):
    for i in range(rounds):
        cells[rank, i + 1] = cells[(rank + 1) % size, i] + 1
        team.meet(control, size)
    if size == 1 or team.join(control, size):
        decided[0] += 1
        decided[1] = cells[0, rounds]
        if size > 1:
            team.release(control)
    cells[rank, 0] = decided[1]


@plain_njit
def _deal(control, rank, size, taken):
    while True:
        item = fetch_add(control, team.COUNTERS, 1)
        if item >= len(taken):
            break
        taken[item] += 1


@plain_njit
def _until_stopped(control, rank, size, begun):
    begun[rank] = 1
    halt = team.COUNTERS
    while control[halt] == 0:
        if size == 1 or team.join(control, size):
            control[halt] = team.stopped(control)
            if size > 1:
                team.release(control)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_what_stood_before_a_meeting_is_seen_after_it_and_one_decides_for_all(size):
    rounds = 300
    cells, decided = np.zeros((size, rounds + 1), np.int64), np.zeros(2, np.int64)
    team.run_team(_rotate, cells, rounds, decided, size=size)
    assert (cells[:, 1:] == np.arange(1, rounds + 1)).all()
    assert decided.tolist() == [1, rounds]
    assert (cells[:, 0] == rounds).all()


@pytest.mark.parametrize("size", [1, 3])
def test_every_item_is_dealt_to_one(size):
    taken = np.zeros(10_000, np.int64)
    team.run_team(_deal, taken, size=size)
    assert (taken == 1).all()


def test_teams_of_several_callers_take_turns():
    taken = [np.zeros(5_000, np.int64) for _ in range(4)]
    callers = [threading.Thread(target=team.run_team, args=(_deal, each), kwargs={"size": 3}) for each in taken]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((each == 1).all() for each in taken)


def test_an_interrupt_ends_a_team_that_would_go_on_for_ever(monkeypatch):
    team.run_team(_deal, np.zeros(1, np.int64), size=2)  # the threads are there
    begun = np.zeros(2, np.int64)
    real = team.wait

    def interrupted_once(futures):
        monkeypatch.setattr(team, "wait", real)
        while not begun.all():
            time.sleep(0.001)
        raise KeyboardInterrupt

    monkeypatch.setattr(team, "wait", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        team.run_team(_until_stopped, begun, size=2)
    taken = np.zeros(100, np.int64)
    team.run_team(_deal, taken, size=2)
    assert (taken == 1).all()


@pytest.mark.parametrize(("items", "size"), [(0, 3), (1, 4), (64, 2), (1000, 3), (100_000, 16)])
def test_shares_cover_everything_once_in_whole_cache_lines(items, size):
    shares = [team.share_of(items, rank, size) for rank in range(size)]
    assert [v for start, stop in shares for v in range(start, stop)] == list(range(items))
    assert all(start % 64 == 0 or start == items for start, _ in shares)


def test_phases_share_the_time_by_their_cycles():
    clock = HostClock()
    team.add_phases(clock, ("a", "b", "c"), np.array([30, 0, 10]), 2.0)
    assert clock.seconds == {"a": 1.5, "c": 0.5}
    team.add_phases(NullClock(), ("a",), np.array([1]), 2.0)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system pins no threads")
def test_a_team_as_large_as_the_machine_has_a_processor_for_each(monkeypatch):
    allowed = os.sched_getaffinity(0)
    pool = team._pool.__wrapped__(len(allowed))
    places = list(pool.map(lambda _: (time.sleep(0.05), os.sched_getaffinity(0))[1], range(len(allowed))))
    assert set.union(*places) == allowed
    assert all(len(place) == 1 for place in places)
    pool.shutdown()
    assert os.sched_getaffinity(0) == allowed
