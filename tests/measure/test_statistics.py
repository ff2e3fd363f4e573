from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.measure.statistics import (
    _resampled_medians,
    harmonic_mean,
    median,
    median_interval,
    outliers,
    relative_half_width,
)

SECONDS = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=40)


@settings(max_examples=50, deadline=None)
@given(SECONDS)
def test_the_interval_lies_within_the_samples_around_their_median_and_is_reproducible(samples):
    low, high = median_interval([samples])
    slack = 1e-12 * max(samples)
    assert min(samples) - slack <= low <= median(samples) + slack
    assert median(samples) - slack <= high <= max(samples) + slack
    assert median_interval([samples]) == (low, high)


@settings(max_examples=25, deadline=None)
@given(SECONDS, st.floats(1e-3, 1e3))
def test_the_interval_scales_with_the_unit(samples, unit):
    low, high = median_interval([samples])
    scaled = median_interval([[unit * sample for sample in samples]])
    assert scaled == pytest.approx((unit * low, unit * high), rel=1e-9)


def test_equal_samples_have_an_interval_of_no_width():
    assert median_interval([[0.25] * 9]) == (0.25, 0.25)
    assert relative_half_width((0.25, 0.25), 0.25) == 0
    assert relative_half_width((0.0, 0.0), 0.0) == 0
    assert relative_half_width((0.9, 1.1), 1.0) == pytest.approx(0.1)


@pytest.mark.parametrize("size", [10, 25, 60])
@pytest.mark.parametrize("draw", ["normal", "exponential"])
def test_about_ninety_five_per_cent_of_the_intervals_hold_the_true_median(draw, size):
    rng = np.random.default_rng(7)
    truth = {"normal": 0.0, "exponential": np.log(2)}[draw]
    held, trials = 0, 400
    for _ in range(trials):
        low, high = median_interval([getattr(rng, draw)(size=size)])
        held += low <= truth <= high
    assert 0.90 <= held / trials <= 0.985  # 0.93 to 0.96 and what a count of 400 may be off


@pytest.mark.parametrize("size", [1, 2, 5, 8, 31, 60])
def test_medians_drawn_directly_are_those_of_drawn_samples(size):
    ordered = np.sort(np.random.default_rng(size).lognormal(size=size))
    rng = np.random.default_rng(1)
    direct = _resampled_medians(ordered, 20000, rng)
    drawn = np.median(ordered[rng.integers(0, size, (20000, size))], axis=1)
    assert set(direct) <= {(a + b) / 2 for a in ordered for b in ordered}
    shares = [np.searchsorted(np.sort(one), [*direct, *drawn], "right") / len(one) for one in (direct, drawn)]
    statistic = np.abs(shares[0] - shares[1]).max()  # Kolmogorov's and Smirnov's
    assert statistic < 0.02  # a chance of 1 in 1000 for equal distributions


def test_sources_of_different_length_are_no_noise():
    rng = np.random.default_rng(3)
    short, long = 1 + 0.01 * rng.random(15), 5 + 0.01 * rng.random(15)
    apart = median_interval([short, long])
    assert relative_half_width(apart, median([*short, *long])) < 0.01
    assert relative_half_width(median_interval([[*short, *long]]), median([*short, *long])) > 0.2


def test_more_samples_narrow_the_interval():
    rng = np.random.default_rng(5)
    widths = []
    for size in (10, 100, 1000):
        low, high = median_interval([rng.normal(1, 0.1, size)])
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.9, 1.1), min_size=11, max_size=40), st.integers(0, 39), st.floats(50, 1e6))
def test_a_sample_far_off_is_told_by_its_position_wherever_it_is(samples, at, far):
    at %= len(samples)
    samples[at] = far
    assert at in outliers(samples)
    assert all(0 <= i < len(samples) for i in outliers(samples))


def test_noise_holds_no_outliers_and_neither_do_ticks_of_the_clock():
    assert outliers(np.random.default_rng(1).normal(1, 0.05, 500).tolist()) == []
    assert outliers([1.0] * 9 + [1.0005]) == []
    assert outliers([1.0] * 9 + [1.1]) == [9]
    assert outliers([1.0, 900.0]) == []


def test_rates_have_a_harmonic_mean():
    assert harmonic_mean([1.0, 3.0]) == pytest.approx(1.5)
    assert harmonic_mean([1.0, 0.0]) == 0.0
