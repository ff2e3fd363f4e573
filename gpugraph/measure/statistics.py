"""The statistics of a record: medians of times with their intervals, outliers, harmonic means of rates."""

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
    low, high = np.quantile(medians, [(1 - level) / 2, (1 + level) / 2])
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
