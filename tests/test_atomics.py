"""Threads that share an array: no step of theirs is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gpugraph.base.compiled import fetch_min, njit
from gpugraph.ext.tuned.thread_pool import compare_and_swap, cycles, fetch_add, load_now, prefetch


@njit
def _swap(array, index, expected, desired):
    return compare_and_swap(array, index, expected, desired)


@njit
def _lower(array, index, value):
    return fetch_min(array, index, value)


@njit
def _load(array, index):
    return load_now(array, index)


@njit
def _add(array, index, value):
    return fetch_add(array, index, value)


@njit
def _look_ahead(array, index):
    before = cycles()
    prefetch(array, index)
    return cycles() - before


@njit
def _count_up(array, steps):
    for _ in range(steps):
        seen = load_now(array, 0)
        while True:
            found = compare_and_swap(array, 0, seen, seen + 1)
            if found == seen:
                break
            seen = found


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_a_swap_takes_place_only_where_the_expected_value_is(dtype):
    array = np.array([3, 5, 7], dtype)
    assert _swap(array, 1, 5, 9) == 5
    assert _swap(array, 2, 5, 9) == 7
    assert array.tolist() == [3, 9, 7]


@pytest.mark.parametrize(("dtype", "less"), [(np.int32, -4), (np.int64, -(2**40)), (np.uint32, 1), (np.uint64, 2)])
def test_a_minimum_is_that_of_the_arrays_own_type(dtype, less):
    array = np.array([2**31 - 1, 9], dtype)
    assert _lower(array, 0, less) == 2**31 - 1
    assert _lower(array, 1, 100) == 9
    assert array.tolist() == [less, 9]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reals_that_are_not_negative_are_lowered_by_their_bits(dtype):
    array = np.array([np.inf, 2.5, 0.0], dtype)
    assert _lower(array, 0, 1e-3) == np.inf
    assert _lower(array, 1, 2.75) == 2.5
    assert _lower(array, 2, 1.0) == 0
    assert array.tolist() == [dtype(1e-3), 2.5, 0.0]
    assert _load(array, 1) == 2.5


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.int64])
def test_a_sum_grows_by_what_is_added(dtype):
    array = np.array([1, 40], dtype)
    assert _add(array, 1, 2) == 40
    assert array.tolist() == [1, 42]


def test_asking_for_a_line_ahead_changes_nothing_even_outside():
    array = np.arange(4)
    assert _look_ahead(array, 2) >= 0
    assert _look_ahead(array, 1 << 40) >= 0
    assert array.tolist() == [0, 1, 2, 3]


def test_no_step_of_several_threads_is_lost():
    array = np.zeros(1, np.int64)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: _count_up(array, 20_000), range(4)))
    assert array[0] == 80_000


def test_what_is_no_row_of_integers_is_refused():
    with pytest.raises(Exception, match="one-dimensional arrays of integers"):
        _swap(np.zeros(2), 0, 0, 1)
    with pytest.raises(Exception, match="one-dimensional arrays of numbers"):
        _lower(np.zeros(2, bool), 0, 1)
