"""Ranges of an array, and the threads that work on them."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base.compiled import threads
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_order, in_threads


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_even_ranges_cover_everything_once(items: int, parts: int) -> None:
    ranges = even_ranges(items, parts)
    assert len(ranges) <= parts
    assert [stop for _, stop in ranges[:-1]] == [start for start, _ in ranges[1:]]
    assert (ranges[0][0], ranges[-1][1]) == (0, items)


@given(st.lists(st.integers(0, 50_000), max_size=60), st.integers(1, 9))
def test_balanced_ranges_cover_every_row_once(degrees: list[int], parts: int) -> None:
    starts = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
    ranges = balanced_ranges(starts, parts)
    assert [row for start, stop in ranges for row in range(start, stop)] == list(range(len(degrees)))


@pytest.mark.skipif(threads() < 2, reason="one thread does one range after the other")
def test_results_come_in_the_order_of_the_ranges_whoever_is_done_first() -> None:
    first_may_end = threading.Event()

    def work(start: int, stop: int) -> int:
        if start == 0:
            assert first_may_end.wait(300)
        else:
            first_may_end.set()
        return stop

    assert in_threads(work, [(0, 1), (1, 2), (2, 3)]) == [1, 2, 3]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_nothing_is_begun_or_left_running(error: type[BaseException]) -> None:
    running, begun = set(), []

    def work(start: int, stop: int) -> None:
        begun.append(start)
        running.add(start)
        try:
            if start == 1:
                raise error("range 1")
        finally:
            running.discard(start)

    with pytest.raises(error, match="range 1"):
        in_threads(work, [(i, i + 1) for i in range(500)])
    assert not running
    assert in_threads(lambda start, stop: start, [(0, 1), (1, 2)]) == [0, 1]  # the threads are there for the next call


def test_progress_is_reported_range_by_range() -> None:
    told: list[float] = []
    in_threads(lambda start, stop: start, [(i, i + 1) for i in range(4)], told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("ahead", [1, 3, 100, None])
def test_ranges_come_in_order_and_no_more_are_begun_than_may_be_ahead(ahead: int | None) -> None:
    begun = []

    def work(start: int, stop: int) -> int:
        begun.append(start)
        return start

    taken = 0
    for found in in_order(work, [(i, i + 1) for i in range(20)], ahead):
        assert found == taken
        taken += 1
        assert ahead is None or len(begun) <= taken + ahead
    assert taken == 20
    assert sorted(begun) == list(range(20))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_child_of_a_fork_has_threads_of_its_own() -> None:
    ranges = even_ranges(1 << 20, 4)
    expected = in_threads(lambda start, stop: stop - start, ranges)
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        os._exit(int(in_threads(lambda start, stop: stop - start, ranges) != expected))
    assert os.waitpid(child, 0)[1] == 0
