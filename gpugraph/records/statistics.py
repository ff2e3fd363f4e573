"""The statistics of records: medians and their intervals, outliers, means of rates.

Samples of one process are not independent: clocks, caches and neighbours drift.  So every interval is that of fewer
samples than were taken, as many as their autocorrelation leaves (docs/method.md has the simulated coverage).
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
INTERVAL_SAMPLES = 6
"""Fewest samples whose least and greatest enclose the median with 95 %; of fewer the range is given."""

ESTIMATE_SAMPLES = 4
"""Fewest samples that prove anything, if the difference is a large multiple of their scatter."""

STOP_LEVEL = 0.98
"""Sampling stops when the interval of this level is narrow: that of 95 % would be picked for being narrow by chance."""

OUTLIER_DEVIATIONS = 10.0
"""An outlier is this many standard deviations from the median, the deviation estimated robustly."""

MOST_CORRELATION = 0.9
"""The autocorrelation of neighbours is taken to be at most this in an interval, and to be this of too few samples."""

NORMAL = 1.4826
"""Standard deviations of a normal distribution per median absolute deviation."""

_WIDEST = math.log(1000)  # an interval of few processes can be as wide as one likes: beyond a factor it says nothing
_RESOLUTION = 1e-3  # of the median: clocks tick, and samples equal but for a tick have no outliers


def clocked(seconds: float) -> float:
    """Return a time to seven significant digits: no clock tells more, and records stay short."""
    return float(f"{seconds:.7g}")


def median(samples: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the median of a non-empty sequence; NumPy's function would import masked arrays first."""
    ordered: list[float] = sorted(samples.tolist() if isinstance(samples, np.ndarray) else samples)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@dataclass(frozen=True)
class Estimate:
    """A value known from samples.

    Attributes:
        below, above: its standard error towards smaller and towards greater values.
        freedom: degrees of freedom of Student's t for it.
    """

    value: float
    below: float
    above: float
    freedom: float

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the interval that holds the true value with a probability of ``level``."""
        t = t_quantile(self.freedom, level)
        return self.value - t * self.below, self.value + t * self.above


def t_beyond(freedom: float, t: float) -> float:
    """Return the probability that Student's t with these degrees of freedom, 1 at least, exceeds ``t`` ≥ 0.

    SciPy has this too, but importing it takes a quarter of a second, which every command would wait for.

    Source: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, 26.5.8 (continued fraction), 26.7.1.
    """
    square = t * t
    a, b, x, rest = freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square)
    if x == 0 or rest == 0:  # t is too large or too small for its square
        return 0.5 if rest == 0 else 0.0
    swapped = x > (a + 1) / (a + b + 2)  # where the fraction converges slowly
    if swapped:
        a, b, x, rest = b, a, rest, x
    value = 1.0
    for m in range(30 + math.isqrt(int(max(a, b))), 0, -1):
        odd = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / value
        value = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / odd
    value = 1 - (a + b) * x / (a + 1) / value
    beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    share = math.exp(a * math.log(x) + b * math.log(rest) - beta) / (a * value)
    return (1 - share if swapped else share) / 2


@functools.lru_cache(maxsize=1024)
def t_quantile(freedom: float, level: float) -> float:
    """Return the value that Student's t stays within, to either side of 0, with a probability of ``level`` < 1.

    Newton's method from 0 comes nearer with every step and never passes the value: the density falls from 0 on.
    """
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    t, step = 0.0, 1.0
    while step > 1e-10 * t:
        density = math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (t_beyond(freedom, t) - (1 - level) / 2) / density
        t += step
    return t


def estimate(samples: Sequence[float] | NDArray[np.float64], correlation: float | None = None) -> Estimate:
    """Return the median of a series of two or more samples, in the order in which they were taken, with its errors.

    The order statistics that enclose the median of independent samples with 95 % are stretched by what their
    autocorrelation ρ takes away: of an autoregressive series the mean of n has the variance of 1/V independent samples,
    and the scatter within the series is too small by the factor 1 − V.  The autocorrelation is estimated from the
    samples if it is not given.

    Source: H. David, H. Nagaraja, Order Statistics, 2003, section 7.1; G. Box, G. Jenkins, G. Reinsel, Time Series
    Analysis, 1994, section 2.1.5 (variance of the mean).
    """
    series = np.asarray(samples, np.float64)
    ordered, n = np.sort(series), len(series)
    place = max(1, math.floor((n + 1) / 2 - 0.98 * math.sqrt(n)))
    low, middle, high = float(ordered[place - 1]), median(ordered), float(ordered[n - place])
    rho = autocorrelation(series) if correlation is None else correlation
    effective = 1 / _mean_variance(rho, n)
    stretch = math.sqrt((n - 1) / max(effective - 1, 0.2)) / t_quantile(n - 1, LEVEL)
    return Estimate(middle, stretch * (middle - low), stretch * (high - middle), max(effective - 1, min(n - 1, 2)))


def _mean_variance(rho: float, n: int) -> float:
    """Return the variance of the mean of n values of a first-order autoregressive series of variance 1."""
    lost = 2 * rho * (1 - rho**n) / (n * (1 - rho) ** 2)
    return max(1.0, (1 + rho) / (1 - rho) - lost) / n


def autocorrelation(samples: Sequence[float] | NDArray[np.float64], errors: float = 1.0, most: float = 0.9) -> float:
    """Return the autocorrelation of neighbouring samples, so many standard errors above its estimate, 0 to ``most``.

    It is that of their ranks, which outliers do not hide, corrected for its bias in short series.

    Source: M. G. Kendall, Note on Bias in the Estimation of Autocorrelation, 1954.
    """
    values, n = np.asarray(samples, np.float64), len(samples)
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(counts) < 2:
        return 0.0
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places] - (n + 1) / 2
    rho = float(ranks[1:] @ ranks[:-1] / (ranks @ ranks))
    rho += (1 + 4 * rho) / n
    rho += errors * math.sqrt(max(1 - rho * rho, 0.05) / n)
    return min(max(rho, 0.0), most)


def rounds(groups: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Return a series for queries with samples in order: the median of all times how each round of runs differed."""
    n = min(map(len, groups))
    if len(groups) == 1:
        return np.asarray(groups[0], np.float64)
    levels = [median(group) for group in groups]
    ratios = [
        np.asarray(group[:n]) / level if level else np.ones(n) for group, level in zip(groups, levels, strict=True)
    ]
    series: NDArray[np.float64] = median([sample for group in groups for sample in group]) * np.mean(ratios, axis=0)
    return series


def median_interval(
    groups: Sequence[Sequence[float]], *, level: float = LEVEL, logs: bool = True
) -> tuple[float, float]:
    """Return the interval that holds the true median of all samples of a process with the probability ``level``.

    ``groups`` has the samples of each query: sources of different length do not pass for noise.  Without ``logs`` the
    scale is not logarithmic, as in older records.
    """
    series = rounds(groups)
    middle = median(series)
    if len(series) < 2 or not logs or series.min() <= 0:
        low, high = estimate(series).interval(level) if len(series) > 1 else (middle, middle)
        return max(low, 0.0), high
    low, high = (max(-_WIDEST, min(_WIDEST, end)) for end in estimate(np.log(series / middle)).interval(level))
    return middle * math.exp(min(low, 0.0)), middle * math.exp(max(high, 0.0))


def estimate_of_processes(medians: Sequence[float]) -> Estimate:
    """Return the logarithm of the time that processes scatter around, with Student's error of the mean.

    Samples of one process share its addresses, its clocks and its neighbours; only processes are independent.  Of each
    of two or more there is the median, above 0.

    Source: T. Kalibera, R. Jones, Rigorous Benchmarking in Reasonable Time, 2013, section 6.
    """
    logs = np.log(np.asarray(medians, np.float64))
    error = float(np.std(logs, ddof=1)) / len(logs) ** 0.5
    return Estimate(float(np.mean(logs)), error, error, len(logs) - 1)


def spread_interval(medians: Sequence[float]) -> tuple[float, float]:
    """Return the interval of the time that processes scatter around; ``medians`` as ``estimate_of_processes``."""
    low, high = estimate_of_processes(medians).interval()
    middle = (low + high) / 2
    return math.exp(max(low, middle - _WIDEST)), math.exp(min(high, middle + _WIDEST))


def interval_of(
    groups: Sequence[Sequence[float]], processes: Sequence[int], middle: float, logs: bool = True
) -> tuple[float, float] | None:
    """Return ``median_interval`` of the median, ``middle``, of samples of each query; None of too few for one.

    ``processes`` has how many samples of each query every process took; of several it is the interval they scatter in.
    """
    (low, high), known = median_interval(groups, logs=logs), len(groups[0]) >= INTERVAL_SAMPLES
    if len(processes) > 1:
        ends = [sum(processes[:i]) for i in range(len(processes) + 1)]
        medians = [median([s for group in groups for s in group[start:end]]) for start, end in pairwise(ends)]
        if min(medians) > 0:
            (low, high), known = spread_interval(medians), True
    return (min(low, middle), max(high, middle)) if known else None


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
    middle = median(values)
    deviation = np.abs(values - middle)
    scale = NORMAL * max(median(deviation), _RESOLUTION * abs(middle))
    return [int(i) for i in np.flatnonzero(deviation > OUTLIER_DEVIATIONS * scale)]


def harmonic_mean(rates: Sequence[float]) -> float:
    """Return the harmonic mean, the right mean of rates; 0 if any rate is 0.

    Source: Graph500 specification, "Performance metrics": TEPS are compared by harmonic means.
    """
    return 0.0 if any(rate <= 0 for rate in rates) else len(rates) / sum(1 / rate for rate in rates)


def mteps(count: int, seconds: float) -> float:
    """Return millions of traversed edges a second."""
    return count / seconds / 1e6 if seconds > 0 else 0.0
