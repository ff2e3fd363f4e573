from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from gpugraph.records.statistics import (
    autocorrelation,
    clocked,
    estimate,
    harmonic_mean,
    interval_of,
    median,
    median_interval,
    outliers,
    relative_half_width,
    t_beyond,
    t_quantile,
)

SECONDS = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=40)


def test_a_stored_time_has_seven_digits_however_short_it_is():
    assert clocked(0.00037631999701261520) == 0.00037632
    assert clocked(1234.56789) == 1234.568
    assert clocked(4.123456789e-11) == 4.123457e-11
    assert clocked(0.0) == 0.0


@settings(max_examples=50, deadline=None)
@given(SECONDS)
def test_the_interval_lies_around_the_median_and_is_reproducible(samples):
    low, high = median_interval([samples])
    slack = 1e-12 * max(samples)
    assert 0 <= low <= median(samples) + slack
    assert median(samples) - slack <= high
    assert median_interval([samples]) == (low, high)


@settings(max_examples=25, deadline=None)
@given(SECONDS, st.floats(1e-3, 1e3))
def test_the_interval_scales_with_the_unit(samples, unit):
    low, high = median_interval([samples])
    scaled = median_interval([[unit * sample for sample in samples]])
    rounding = 1e-12 * unit * max(samples)  # of an end near 0, the difference of much greater numbers
    assert scaled == pytest.approx((unit * low, unit * high), rel=1e-9, abs=rounding)


def test_the_interval_is_on_a_logarithmic_scale_so_that_rates_have_its_reciprocal():
    samples = [0.7, 0.9, 1.0, 9.0, 20.0, 30.0, 35.8]
    low, high = median_interval([samples])
    rates = median_interval([[1 / sample for sample in samples]])
    assert 0 < low < 9.0 < high
    assert rates == pytest.approx((1 / high, 1 / low), rel=1e-9)
    assert median_interval([samples], logs=False)[0] == 0.0
    assert median_interval([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]])[0] == 0.0  # none: a time of 0 has no logarithm


def test_equal_samples_have_an_interval_of_no_width():
    assert median_interval([[0.25] * 9]) == (0.25, 0.25)
    assert relative_half_width((0.25, 0.25), 0.25) == 0
    assert relative_half_width((0.0, 0.0), 0.0) == 0
    assert relative_half_width((0.9, 1.1), 1.0) == pytest.approx(0.1)


@pytest.mark.parametrize("size", [10, 25, 60])
@pytest.mark.parametrize("draw", ["normal", "exponential"])
def test_the_intervals_of_independent_samples_hold_the_true_median(draw, size):
    rng = np.random.default_rng(7)
    truth = {"normal": 10.0, "exponential": 10 + np.log(2)}[draw]
    held, trials = 0, 400
    for _ in range(trials):
        low, high = median_interval([10 + getattr(rng, draw)(size=size)])
        held += low <= truth <= high
    assert held / trials >= 0.93


@pytest.mark.parametrize("size", [6, 7, 8, 9, 10, 13, 20, 37, 60, 101, 400])
def test_the_order_statistics_of_an_interval_enclose_the_median_with_95_per_cent(size):
    place = np.arange(1.0, size + 1)
    low, _ = estimate(place, correlation=0.0).interval()
    below = round(low) - 1  # samples below the interval
    outside = [2 * sum(math.comb(size, k) for k in range(most + 1)) / 2**size for most in (below, below + 1)]
    assert outside[0] <= 0.05
    assert outside[1] > 0.035  # and no tighter pair does, or hardly


def test_samples_that_are_alike_in_time_widen_the_interval():
    rng = np.random.default_rng(4)
    free = rng.standard_normal(400)
    alike = np.repeat(free[:40], 10)
    assert autocorrelation(free) < 0.2
    assert autocorrelation(alike) > 0.8
    assert autocorrelation([1.0] * 50) == 0.0
    assert autocorrelation([1.0, 2.0] * 20) == 0.0
    widths = [high - low for low, high in (estimate(one).interval() for one in (alike, rng.permutation(alike)))]
    assert widths[0] > 2.5 * widths[1]


def test_sources_of_different_length_are_no_noise():
    rng = np.random.default_rng(3)
    short, long = 1 + 0.01 * rng.random(15), 5 + 0.01 * rng.random(15)
    apart = median_interval([short, long])
    assert relative_half_width(apart, median([*short, *long])) < 0.01
    assert relative_half_width(median_interval([[*short, *long]]), median([*short, *long])) > 0.2


def test_the_interval_of_many_sources_holds_their_median_even_if_each_has_outliers() -> None:
    rng = np.random.default_rng(1)
    groups = [(1 + rng.pareto(1.2, 20)).tolist() for _ in range(200)]
    middle = median([sample for group in groups for sample in group])
    low, high = interval_of(groups, [20], middle) or (0.0, 0.0)
    assert low <= middle < high
    assert interval_of([group[:5] for group in groups], [5], middle) is None


def test_more_samples_narrow_the_interval():
    rng = np.random.default_rng(5)
    widths = []
    for size in (10, 100, 1000):
        low, high = median_interval([rng.normal(1, 0.1, size)])
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.9, 1.1), min_size=11, max_size=40), st.integers(0, 39), st.floats(50, 1e6))
def test_a_sample_far_off_is_reported_by_its_position_wherever_it_is(samples, at, far):
    at %= len(samples)
    samples[at] = far
    assert at in outliers(samples)
    assert all(0 <= i < len(samples) for i in outliers(samples))


def test_noise_holds_no_outliers_and_neither_do_ticks_of_the_clock():
    assert outliers(np.random.default_rng(1).normal(1, 0.05, 500).tolist()) == []
    assert outliers([1.0] * 9 + [1.0005]) == []
    assert outliers([1.0] * 9 + [1.1]) == [9]
    assert outliers([1.0, 900.0]) == []


@pytest.mark.parametrize(("deviations", "found"), [(9.9, []), (10.1, [7])])
def test_an_outlier_is_ten_standard_deviations_away(deviations: float, found: list[int]) -> None:
    samples = [97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 100.0 + deviations * 1.4826 * 2]
    assert outliers([*samples, 100.0]) == found  # whose median is 100, and their median deviation 2


def test_rates_have_a_harmonic_mean():
    assert harmonic_mean([1.0, 3.0]) == pytest.approx(1.5)
    assert harmonic_mean([1.0, 0.0]) == 0.0


@given(st.floats(1, 1e5), st.floats(0, 1e3))
@example(1e5, 1e-160)
@example(1.0, 1e200)
def test_the_tails_of_student_s_t_are_scipy_s(freedom: float, t: float) -> None:
    assert t_beyond(freedom, t) == pytest.approx(float(stdtr(freedom, -t)), rel=1e-7, abs=1e-200)


@given(st.floats(1, 1e5), st.floats(0.1, 0.9999))
def test_student_s_t_stays_within_its_quantile_as_often_as_asked(freedom: float, level: float) -> None:
    assert t_quantile(freedom, level) == pytest.approx(float(stdtrit(freedom, (1 + level) / 2)), rel=1e-7)
