"""The statistics of a comparison: the interval of a ratio of medians, a rank test, its correction for many cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000

_FEW = 6  # cells, fewer tell nothing of the machine
_NORMAL = 1.4826  # standard deviations of a normal distribution per median absolute deviation

PARTS = 4
"""Parts of a run, each of which must show a change."""


def median_draws(samples: Sequence[float], rng: np.random.Generator, resamples: int = RESAMPLES) -> NDArray[np.float64]:
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
