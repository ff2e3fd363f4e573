"""Exact sums: nothing wraps, and reals are rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base import exact
from gpugraph.base.exact import exact_sum
from gpugraph.problems.oracle_sums import certified_sum, reference_sum
from tests.tiers import drawn

INTEGERS = ("uint8", "int16", "uint32", "int32", "uint64", "int64")


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("bound", ["min", "max"])
def test_extreme_integers_do_not_wrap(dtype: str, bound: str) -> None:
    value = int(getattr(np.iinfo(dtype), bound))
    assert exact_sum(np.full(1000, value, dtype)) == 1000 * value


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("bits", [42, 43, 44])
@pytest.mark.parametrize("beside", [-1, 0, 1])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_whole_chunk_of_integers_at_the_limit_does_not_wrap(dtype: str, bits: int, beside: int, sign: int) -> None:
    value = sign * ((1 << bits) + beside)
    if value < 0 and dtype == "uint64":
        pytest.skip("no such value")
    assert exact_sum(np.full(exact._CHUNK, value, dtype)) == exact._CHUNK * value


@pytest.mark.parametrize("add", [certified_sum, reference_sum])
@drawn(60)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40), st.integers(0, 2**64 - 1))
def test_the_sums_of_judges_are_those_of_python(
    add: Callable[[Any], int | float], values: list[int], word: int
) -> None:
    assert add(np.array(values, np.int64)) == sum(values)
    assert add(np.full(3, word, np.uint64)) == 3 * word


@pytest.mark.parametrize("add", [certified_sum, reference_sum])
@drawn(80)
@given(st.lists(st.floats(), max_size=40), st.lists(st.floats(width=32), max_size=40))
def test_the_sums_of_judges_are_rounded_once(
    add: Callable[[Any], int | float], values: list[float], singles: list[float]
) -> None:
    for array in (np.array(values, np.float64), np.array(singles, np.float32)):
        np.testing.assert_equal(float(add(array)), float(exact._sum_in_bins(array)))  # NaN equals NaN


@pytest.mark.parametrize("add", [certified_sum, reference_sum])
def test_the_sums_of_judges_hold_beyond_a_piece(add: Callable[[Any], int | float]) -> None:
    assert add(np.full((1 << 20) + 1, 1 << 43, np.int64)) == ((1 << 20) + 1) << 43
    assert add(np.full((1 << 20) + 1, 0.1)) == math.fsum([0.1] * ((1 << 20) + 1))


@pytest.mark.parametrize("add", [certified_sum, reference_sum])
def test_an_infinity_beside_reals_whose_sum_overflows_is_the_sum(add: Callable[[Any], int | float]) -> None:
    greatest = float(np.finfo(np.float64).max)
    assert add(np.array([greatest, greatest, np.inf])) == math.inf
    assert math.isnan(add(np.array([greatest, greatest, np.inf, -np.inf])))


def test_integers_are_summed_over_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_CHUNK", 7)
    values = np.array([(-1) ** i * (2**62 + i) for i in range(50)], np.int64)
    assert exact_sum(values) == sum(values.tolist())
    assert isinstance(exact_sum(values), int)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_the_empty_sum_is_zero(dtype: str) -> None:
    assert exact_sum(np.zeros(0, dtype)) == 0


@drawn(60)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40))
def test_int64_sums_equal_python_sums(values: list[int]) -> None:
    assert exact_sum(np.array(values, np.int64)) == sum(values)


@drawn(150)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=60))
def test_float64_sums_are_correctly_rounded(values: list[float]) -> None:
    exactly = sum(map(Fraction, values), Fraction(0))
    try:
        expected = float(exactly)
    except OverflowError:
        expected = math.inf if exactly > 0 else -math.inf
    assert exact_sum(np.array(values, np.float64)) == expected
    assert exact._sum_in_bins(np.array(values, np.float64)) == expected


@drawn(80)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=60))
def test_float32_sums_are_rounded_once_to_float64(values: list[float]) -> None:
    assert exact_sum(np.array(values, np.float32)) == math.fsum(values)
    assert exact._sum_in_bins(np.array(values, np.float32)) == math.fsum(values)


def test_a_long_float32_array_equals_fsum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_CHUNK", 1000)
    monkeypatch.setattr(exact, "_PIECE", 5000)
    values = np.random.default_rng(1).normal(size=23_456).astype(np.float32)
    assert exact_sum(values) == math.fsum(values.tolist())


def test_a_strided_array_is_summed() -> None:
    assert exact_sum(np.arange(10.0)[::3]) == 18.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308], math.inf),
        ([-1e308, -1e308], -math.inf),
        ([5e-324, 5e-324], 1e-323),
        ([5e-324, -1.0, 1.0], 5e-324),
        ([1.0, 2.0**-53, 2.0**-53], 1.0 + 2.0**-52),
        ([1.0, 2.0**-53], 1.0),
        ([1.0, math.inf], math.inf),
        ([-math.inf, 1e308], -math.inf),
    ],
)
def test_edges_of_float64(values: list[float], expected: float) -> None:
    assert exact_sum(np.array(values)) == expected


@pytest.mark.parametrize("values", [[math.inf, -math.inf], [math.nan, 1.0]])
def test_undefined_sums_are_nan(values: list[float]) -> None:
    assert math.isnan(exact_sum(np.array(values)))
