"""The statistics of records and of comparisons: medians and their intervals, outliers, rank tests, and many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
_LARGEST_DRAWING = 4_000_000  # samples drawn at once for several queries; fewer resamples there, but at least 1000
OUTLIER_DEVIATIONS = 10.0
"""An outlier is this many standard deviations from the median, the deviation estimated robustly."""

_NORMAL = 1.4826  # standard deviations of a normal distribution per median absolute deviation
_WIDEST = math.log(1000)  # an interval of two processes can be as wide as one likes: beyond a factor it says nothing
_RESOLUTION = 1e-3  # of the median: clocks tick, and samples equal but for a tick have no outliers


def median(samples: Sequence[float]) -> float:
    """Return the median of a non-empty sequence."""
    ordered = sorted(samples)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_interval(
    groups: Sequence[Sequence[float]], *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 1
) -> tuple[float, float]:
    """Return the bootstrap percentile interval of the median of all samples.

    Args:
        groups: samples of each query; every group is resampled by itself, so that sources of different length do
            not pass for noise.
        level: the probability that the interval holds the true median.
        resamples: bootstrap samples to draw; fewer for many samples of several queries.
        seed: of the drawing; equal samples give equal intervals.

    Of few samples it is a little too narrow: of 10 to 60 it holds the true median 92 to 96 times in a hundred.

    Source: B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    rng = np.random.default_rng(seed)
    filled = [np.asarray(group, float) for group in groups if len(group)]
    if len(filled) == 1:
        medians = _resampled_medians(np.sort(filled[0]), resamples, rng)
    else:
        draws = min(resamples, max(1000, _LARGEST_DRAWING // sum(map(len, filled))))
        drawn = [group[rng.integers(0, len(group), (draws, len(group)))] for group in filled]
        medians = np.median(np.concatenate(drawn, axis=1), axis=1)
    last = len(medians) - 1  # np.quantile would import a module that takes longer than all the rest of this
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    low, high = np.interp(shares * last, np.arange(last + 1), np.sort(medians))
    return float(low), float(high)


def _resampled_medians(ordered: NDArray[np.float64], resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the medians of bootstrap samples, drawn without drawing the samples.

    A resample takes the positions ⌊n·U⌋ of n uniform U, so that its k-th smallest lies at ⌊n·U₍ₖ₎⌋, and the order
    statistic U₍ₖ₎ is Beta(k, n−k+1); the next, given it, is the least of n−k uniforms above it.

    Source: H. David, H. Nagaraja, Order Statistics, 2003, sections 2.1 and 2.5.
    """
    n, k = len(ordered), (len(ordered) + 1) // 2
    lower = rng.beta(k, n - k + 1, resamples)
    upper = lower if n % 2 else lower + (1 - lower) * rng.beta(1, n - k, resamples)
    first, second = (ordered[np.minimum((n * u).astype(np.int64), n - 1)] for u in (lower, upper))
    return (first + second) / 2


def spread_interval(medians: Sequence[float], *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the time that processes scatter around, by Student's t over the logarithms.

    Samples of one process share its addresses, its clocks and its neighbours; only processes are independent.

    Args:
        medians: of each process, two or more, above 0.
        level: the probability that the interval holds the true value.

    Source: T. Kalibera, R. Jones, Rigorous Benchmarking in Reasonable Time, 2013, section 6.
    """
    from scipy.special import stdtrit

    logs = np.log(np.asarray(medians, float))
    n = len(logs)
    half = min(float(stdtrit(n - 1, (1 + level) / 2)) * float(np.std(logs, ddof=1)) / n**0.5, _WIDEST)
    middle = float(np.mean(logs))
    low, high = np.exp([middle - half, middle + half])
    return float(low), float(high)


def relative_half_width(interval: tuple[float, float], middle: float) -> float:
    """Return half the width of an interval over the value it surrounds; 0 for a value of 0."""
    return (interval[1] - interval[0]) / 2 / middle if middle else 0.0


def outliers(samples: Sequence[float]) -> list[int]:
    """Return the positions of the samples that lie far from the median, in order.

    Far is more than ten times 1.4826 MAD, the median absolute deviation, which is taken to be at least 0.1 % of
    the median.

    Source: B. Iglewicz, D. Hoaglin, How to Detect and Handle Outliers, 1993, section 3.3 (modified z-score).
    """
    if len(samples) < 3:
        return []
    values = np.asarray(samples, float)
    middle = float(np.median(values))
    deviation = np.abs(values - middle)
    scale = _NORMAL * max(float(np.median(deviation)), _RESOLUTION * abs(middle))
    return [int(i) for i in np.flatnonzero(deviation > OUTLIER_DEVIATIONS * scale)]


def harmonic_mean(rates: Sequence[float]) -> float:
    """Return the harmonic mean, the right mean of rates; 0 if any rate is 0.

    Source: Graph500 specification, "Performance metrics": TEPS are compared by harmonic means.
    """
    if any(rate <= 0 for rate in rates):
        return 0.0
    return len(rates) / sum(1 / rate for rate in rates)


def mteps(count: int, seconds: float) -> float:
    """Return millions of traversed edges a second."""
    return count / seconds / 1e6 if seconds > 0 else 0.0


RATIO_RESAMPLES = 2000

_FEW = 6  # cells, fewer tell nothing of the machine

PARTS = 4
"""Parts of a run, each of which must show a change."""


def median_draws(
    samples: Sequence[float], rng: np.random.Generator, resamples: int = RATIO_RESAMPLES
) -> NDArray[np.float64]:
    """Return medians of smoothed bootstrap samples, (resamples,) float64, without drawing the samples themselves.

    The median of n draws is the middle order statistic of n uniform positions, which follows a beta distribution.
    Samples of one process are not independent: clocks and neighbours drift.  So n is the effective number of samples,
    what is left of them after their correlation in time.

    Args:
        samples: (n,) values in the order in which they were taken, n ≥ 1.
        rng: where the draws come from.
        resamples: how many medians.

    Source: J. S. Maritz, R. G. Jarrett, A Note on Estimating the Variance of the Sample Median, 1978, section 2.
    """
    ordered = np.sort(np.asarray(samples, np.float64))
    half = (len(ordered) / correlation_time(samples) + 1) / 2
    places = (np.arange(len(ordered)) + 0.5) / len(ordered)
    drawn: NDArray[np.float64] = np.interp(rng.beta(half, half, resamples), places, ordered)
    return drawn


def correlation_time(samples: Sequence[float]) -> float:
    """Return how many consecutive samples tell as much of the median as one independent sample, at least 1.

    It is 1 + 2 Σ ρ(k), where ρ is the autocorrelation of lying above or below the median, summed over pairs of
    neighbouring lags while these are positive.

    Source: C. J. Geyer, Practical Markov Chain Monte Carlo, 1992, section 3.3 (initial positive sequence).
    """
    values = np.asarray(samples, np.float64)
    n = len(values)
    side = np.sign(values - np.median(values))
    power = float(side @ side)
    if n < 8 or power == 0:
        return 1.0
    correlation = [float(side[: n - k] @ side[k:]) / power for k in range(n // 2)]
    total = -1.0
    for k in range(0, len(correlation) - 1, 2):
        if (both := correlation[k] + correlation[k + 1]) <= 0:
            break
        total += 2 * both
    return min(max(total, 1.0), float(n))


def rank_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value of the Mann–Whitney test that neither sample tends to be larger.

    Source: H. B. Mann, D. R. Whitney, On a Test of Whether One of Two Random Variables is Stochastically Larger than
    the Other, 1947.
    """
    from scipy.stats import mannwhitneyu

    if min(first) == max(first) == min(second) == max(second):
        return 1.0
    return float(mannwhitneyu(first, second, alternative="two-sided").pvalue)


def ratio_of_spreads(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, int]:
    """Return how the processes of two cells differ: the mean log of the ratio, its standard error, and the freedom.

    Args:
        first: median of each process of one cell, above 0.
        second: of the other, two or more of both.

    Source: T. Kalibera, R. Jones, Rigorous Benchmarking in Reasonable Time, 2013, section 7; Student's t with the
    variance of both pooled, for the same machine scatters both.
    """
    logs = np.log(np.asarray(first)), np.log(np.asarray(second))
    freedom = len(logs[0]) + len(logs[1]) - 2
    pooled = sum(float(np.sum((one - one.mean()) ** 2)) for one in logs) / freedom
    error = math.sqrt(pooled * (1 / len(logs[0]) + 1 / len(logs[1])))
    return float(logs[1].mean() - logs[0].mean()), error, freedom


def part_medians(samples: Sequence[float], parts: int = PARTS) -> list[float]:
    """Return the medians of the parts of a run, each so many samples in a row.

    Where a run drifts, its parts differ by as much as two runs may.
    """
    return [float(np.median(part)) for part in np.array_split(np.asarray(samples), min(parts, len(samples)))]


def run_scatter(ratios: Sequence[float]) -> float:
    """Return the ratio that a cell of this comparison may reach by chance alone, at least 1.

    Where a machine does not repeat itself, cells that nobody changed scatter too.  Their deviation is estimated in two
    ways, by the distance of all ratios from their median, and by the distance of those below 1 from 1; the lesser
    counts, for a change of many cells raises one of them and not both.  As it is an estimate from few cells, five
    deviations are taken for chance.

    Args:
        ratios: of all cells, above 1 where slower; the reciprocals give the bound for what became faster.
    """
    if len(ratios) < _FEW:
        return 1.0
    logs = np.log(np.asarray(ratios, np.float64))
    spreads = [float(np.median(np.abs(logs - np.median(logs))))]
    if len(below := -logs[logs < 0]) >= _FEW // 2:
        spreads.append(float(np.median(below)))
    return math.exp(5 * _NORMAL * min(spreads))


def least_p(first: int, second: int) -> float:
    """Return the smallest p-value that the rank test can give for samples of these sizes."""
    return 2 / math.comb(first + second, first)


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for there being many of them, in the same order.

    Source: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979.
    """
    corrected = [1.0] * len(values)
    worst = 0.0
    for rank, i in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        worst = max(worst, min(1.0, (len(values) - rank) * values[i]))
        corrected[i] = worst
    return corrected
