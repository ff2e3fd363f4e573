"""Keys order as the weights do, and sort stably."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.graph.canonical import canonical_order, order_keys
from gpugraph.graph.csr import WEIGHT_DTYPES
from tests.tiers import drawn


def extremes(dtype: str) -> np.ndarray[Any, Any]:
    """Return ascending weights of a dtype, its extremes included."""
    if np.dtype(dtype).kind == "f":
        info = np.finfo(dtype)
        row = [-np.inf, info.min, -1.5, -1.0, -info.smallest_subnormal, 0.0, info.smallest_subnormal, info.tiny]
        return np.array([*row, 1.0, 1.5, info.max, np.inf], dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return np.array(sorted({low, low + 1, 0, 1, 7, high // 2, high - 1, high}), dtype)


@pytest.mark.parametrize("dtype", WEIGHT_DTYPES)
def test_keys_ascend_strictly_with_the_weights(dtype: str) -> None:
    weights = extremes(dtype)
    keys = order_keys(weights)
    assert keys.dtype == np.dtype(f"uint{8 * weights.dtype.itemsize}")
    assert (keys[1:] > keys[:-1]).all()


@pytest.mark.parametrize("dtype", WEIGHT_DTYPES)
def test_the_weights_are_left_as_they_were(dtype: str) -> None:
    weights = extremes(dtype)
    before = weights.copy()
    canonical_order(order_keys(weights))
    assert np.array_equal(weights, before)


@pytest.mark.parametrize("dtype", WEIGHT_DTYPES)
def test_a_strided_array_gives_the_same_keys(dtype: str) -> None:
    weights = np.tile(extremes(dtype), 5)
    whole = order_keys(weights)
    assert np.array_equal(order_keys(np.repeat(weights, 2)[::2]), whole)


def test_unsigned_weights_are_not_copied() -> None:
    weights = np.arange(5, dtype=np.uint32)
    assert np.shares_memory(order_keys(weights), weights)


@drawn(60)
@given(st.lists(st.floats(allow_nan=False, width=32)), st.sampled_from(["float32", "float64"]))
def test_real_keys_compare_as_the_reals(values: list[float], dtype: str) -> None:
    weights = np.array(values, dtype) + np.dtype(dtype).type(0)  # no negative zero, as in a graph
    keys = order_keys(weights)
    assert np.array_equal(keys[:, None] < keys, weights[:, None] < weights)


@drawn(60)
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5)), st.sampled_from(["uint32", "uint64"]))
def test_the_canonical_order_is_the_stable_one(values: list[int], dtype: str) -> None:
    keys = (np.array(values, np.uint64) & np.uint64(np.iinfo(dtype).max)).astype(dtype)
    assert np.array_equal(canonical_order(keys), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("shift", [0, 8, 21, 24])
def test_keys_that_differ_in_few_digits_are_sorted(shift: int) -> None:
    keys = ((np.arange(3000, dtype=np.uint32) * np.uint32(2654435761)) % np.uint32(200)) << np.uint32(shift)
    assert np.array_equal(canonical_order(keys), np.argsort(keys, kind="stable"))
