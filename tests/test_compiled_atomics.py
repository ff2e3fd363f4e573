"""Threads that share an array: no step of theirs is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gpugraph.compiled import compare_and_swap, fetch_min, load_now, njit


@njit
def _swap(array, index, expected, desired):
    return compare_and_swap(array, index, expected, desired)


@njit
def _lower(array, index, value):
    return fetch_min(array, index, value)


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
def test_a_swap_takes_place_only_where_the_expected_value_stands(dtype):
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


def test_no_step_of_several_threads_is_lost():
    array = np.zeros(1, np.int64)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: _count_up(array, 20_000), range(4)))
    assert array[0] == 80_000


def test_what_is_no_row_of_integers_is_refused():
    with pytest.raises(Exception, match="one-dimensional arrays of integers"):
        _swap(np.zeros(2), 0, 0, 1)
