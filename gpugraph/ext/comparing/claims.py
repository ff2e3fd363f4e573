"""Claims: which of two records is the faster, by how much, and whether their samples prove it.

Everything that compares times makes its claims here: two runs of the same cells (``compare.py``), records of the same
work (``ranking.py``).  What is compared is the logarithm of the ratio of two medians.

- Two records that took turns in one process are compared round by round, so that what drifts for both is left out.
- Where both spread their samples over several processes, the medians of the processes take the place of the samples.
- Otherwise the two medians are independent; the two processes may differ by ``PROCESS_CHANCE`` without any change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.quantities import duration, percent
from gpugraph.ext.comparing.cells import by_process
from gpugraph.records.record import Record
from gpugraph.records.statistics import (
    ESTIMATE_SAMPLES,
    INTERVAL_SAMPLES,
    MOST_CORRELATION,
    Estimate,
    autocorrelation,
    estimate,
    estimate_of_processes,
    median,
    rounds,
    t_beyond,
)

ALPHA = 0.01
"""Significance level of all claims of a comparison together.  Simulated samples with an autocorrelation of 0.9, which
short series do not show in full, pass it in up to 5 % of the comparisons (docs/method.md)."""

PROCESS_CHANCE = math.exp(1.96 * math.sqrt(2) * 0.1)
"""The ratio that two processes may differ by where nothing tells how processes scatter: each by 10 %, with 95 %."""

RESOLUTION_S = 1e-6
"""Differences below the tick of the devices' clocks are none."""

_CORRELATED_SAMPLES = 10  # fewest samples from which an autocorrelation is estimated for a test
_POWER = (1.96 + 0.84) / 1.96  # so many half intervals away, a change is found in four of five tries


@dataclass(frozen=True, eq=False)
class Claim:
    """What the samples say of two records of the same work.

    Attributes:
        first, second: the two; in a ranking the first is the faster.
        ratio: how many times as long the second takes, estimated round by round where both took turns, else from their
            medians; None where one has no times to compare.
        interval: the 95 % interval of that estimate; None where there are too few samples for one.
        p_value: of the hypothesis that both take the same time, corrected for the number of claims.
        spread: both spread their samples over several processes.
        together: both took turns in one process.
        chance: the ratio, at least 1, that may be reached without any change.
        drifts: the times wander more than an interval allows for, so that theirs is that of all samples.
    """

    first: Record
    second: Record
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    spread: bool = False
    together: bool = False
    chance: float = 1.0
    drifts: bool = False

    @property
    def few(self) -> str:
        """Why the samples are too few to prove anything, or nothing."""
        if reason := _unfit(self.first) or _unfit(self.second):
            return reason
        if self.drifts:
            return f"unstable: the times drift, {_range(self.first)} and {_range(self.second)}"
        taken = [len(row.samples) // row.sources for row in (self.first, self.second)]
        return "" if self.interval else f"too few samples: {taken[0]} and {taken[1]} prove nothing"

    @property
    def single(self) -> bool:
        """Whether one of the two has a single sample, by which nothing is ranked."""
        return has_one_sample(self.first) or has_one_sample(self.second)

    @property
    def resolution(self) -> float:
        """The ratio that one tick of the clock makes."""
        return 1 + RESOLUTION_S / (self.first.kernel_s or median(self.first.samples))

    def visible(self, threshold: float = 0.0) -> float:
        """Return the smallest change that four of five such comparisons would have found to be beyond ``threshold``.

        Changes are relative: 0.1 is a time longer by a tenth.  Infinite where there are too few samples.
        """
        if self.interval is None or self.ratio is None or self.interval[0] <= 0:
            return math.inf
        half = max(self.ratio / self.interval[0], self.interval[1] / self.ratio)
        seen: float = max((1 + threshold) * half**_POWER, self.chance * half ** (_POWER - 1)) - 1
        return seen

    @property
    def significant(self) -> bool:
        """Whether the test finds a difference."""
        return self.p_value is not None and self.p_value < ALPHA

    @property
    def stands_out(self) -> bool:
        """Whether the ratio is beyond what may be reached without any change."""
        return self.ratio is not None and max(self.ratio, 1 / self.ratio) > self.chance

    @property
    def proven(self) -> bool:
        """Whether the first is faster beyond what chance, drift and noise may do."""
        beyond = self.interval is not None and self.interval[0] > self.resolution
        return beyond and self.significant and self.stands_out

    @property
    def doubt(self) -> str:
        """Why a difference that the interval shows proves nothing, as far as there is more to say than that."""
        if self.interval is None or (self.interval[0] <= self.resolution and self.interval[1] >= 1 / self.resolution):
            return self.few
        if not self.significant:
            return "the processes differ as much" if self.spread else "the samples scatter or drift as much"
        chance = percent(self.chance - 1)
        return "" if self.stands_out else f"two processes may differ by {chance} without any change: use --processes 5"


def claims(pairs: Sequence[tuple[Record, Record]], *, one_run: bool) -> list[Claim]:
    """Return the claim on each pair, p-values corrected; ``one_run``: records of one file and command took turns."""
    made = [_claim(*pair, one_run and _took_turns(*pair)) for pair in pairs]
    corrected = holm([1.0 if one.p_value is None else one.p_value for one in made])
    return [replace(one, p_value=p) for one, p in zip(made, corrected, strict=True)]


def usable(row: Record) -> bool:
    """Tell whether a record has samples to compare."""
    return bool(row.samples) and all(0 < sample < math.inf for sample in row.samples)


def has_one_sample(row: Record) -> bool:
    """Tell whether a record has a single sample of each source, and few sources."""
    return len(row.samples) // row.sources == 1 and row.sources < INTERVAL_SAMPLES


def _claim(first: Record, second: Record, together: bool) -> Claim:
    """Return the claim on one pair alone."""
    spread = len(first.processes) > 1 and len(second.processes) > 1
    times, logs, drifts = (_levelled(first, first), _levelled(second, first)), list[NDArray[np.float64]](), False
    if spread:
        of = [
            estimate_of_processes([median(part) for part in by_process(row, t.tolist())])
            for row, t in zip((first, second), times, strict=True)
        ]
        shown = tested = difference_of(of[1], of[0])
    else:
        series = [rounds(t.reshape(row.sources, -1).tolist()) for row, t in zip((first, second), times, strict=True)]
        if min(map(len, series)) < ESTIMATE_SAMPLES:
            ratio = float(np.median(series[1]) / np.median(series[0]))
            return Claim(first, second, ratio, None, 1.0, together=together)
        logs = [np.log(one) for one in series]
        if together:
            both = min(map(len, logs))
            difference = logs[1][:both] - logs[0][:both]
            shown, tested, logs = estimate(difference), estimate_for_test(difference), [difference]
        else:
            shown, tested = (difference_of(of(logs[1]), of(logs[0])) for of in (estimate, estimate_for_test))
        drifts = any(map(has_drift, logs))
    if _unfit(first) or _unfit(second):
        return Claim(first, second, math.exp(shown.value), None, 1.0, spread, together)
    ends = shown.interval()
    if drifts:
        than = [0.0] if together else logs[0]
        ends = min(logs[-1]) - max(than), max(logs[-1]) - min(than)
    ratio, low, high = (math.exp(max(-300.0, min(300.0, end))) for end in (shown.value, *ends))
    chance = 1.0 if spread or together else PROCESS_CHANCE
    return Claim(first, second, ratio, (low, high), _p_value(tested), spread, together, chance, drifts)


def difference_of(one: Estimate, other: Estimate) -> Estimate:
    """Return the difference of two independent estimates; the degrees of freedom are Welch's.

    Source: B. L. Welch, The Generalization of Student's Problem, 1947.
    """
    below, above = math.hypot(one.below, other.above), math.hypot(one.above, other.below)
    parts = [((each.below + each.above) ** 2, each.freedom) for each in (one, other)]
    total = sum(part for part, _ in parts)
    freedom = total**2 / sum(part**2 / free for part, free in parts) if total else one.freedom
    return Estimate(one.value - other.value, below, above, freedom)


def _p_value(found: Estimate) -> float:
    """Return the two-sided p-value of the hypothesis that the true value is 0."""
    error = found.below if found.value > 0 else found.above
    if error == 0:
        return float(found.value == 0)
    return 2 * t_beyond(found.freedom, abs(found.value) / error)


_DRIFT = 0.93
"""Of an autoregressive series of 0.9 fewer than a third are above, of one of 0.98 most (docs/method.md)."""

_REGIME_SAMPLES = 20
"""Of fewer samples in a row levels that last, or a drift, cannot be told from chance."""


def _unfit(row: Record) -> str:
    """Return why the times of a record are not ranked: the machine was busy, or they stay at one of two levels."""
    each = len(row.samples) // row.sources
    groups = [row.samples[i * each : (i + 1) * each] for i in range(row.sources)]
    if row.starved or len(row.processes) > 1 or not usable(row) or not has_regimes(rounds(groups)):
        return row.starved
    return f"unstable: the times of a run stay at one of two levels, {_range(row)}"


def _range(row: Record) -> str:
    return f"{duration(min(row.samples))} to {duration(max(row.samples))}"


def has_drift(samples: Sequence[float] | NDArray[np.float64]) -> bool:
    """Tell whether neighbouring times are so alike that no interval allows for it, whose correlation ends at 0.9."""
    return len(samples) >= _REGIME_SAMPLES and autocorrelation(samples, 0.0, 1.0) >= _DRIFT


def has_regimes(samples: Sequence[float] | NDArray[np.float64]) -> bool:
    """Tell whether times stay at one of two levels for long, so that no interval of their median holds.

    Two levels explain more than four fifths of the variance of the logarithms, which those of a normal distribution
    never do, and they follow one another in fewer runs than chance gives by four standard deviations.

    Source: N. Otsu, A Threshold Selection Method from Gray-Level Histograms, 1979; A. Wald, J. Wolfowitz, On a Test
    Whether Two Samples Are from the Same Population, 1940 (runs).
    """
    logs, n = np.log(np.asarray(samples, np.float64)), len(samples)
    if n < _REGIME_SAMPLES or logs.min() == logs.max():
        return False
    ordered, below = np.sort(logs), np.arange(1, n)
    sums = np.cumsum(ordered)
    between = (sums[:-1] / below - (sums[-1] - sums[:-1]) / (n - below)) ** 2 * below * (n - below) / n**2
    split = int(np.argmax(between))
    high = logs > ordered[split]
    share, runs = float(high.mean()), 1 + int(np.count_nonzero(high[1:] != high[:-1]))
    expected = 1 + 2 * n * share * (1 - share)
    deviation = math.sqrt(max((expected - 1) * (expected - 2) / (n - 1), 0.0))
    apart = between[split] > _LEVELS_SHARE * float(np.var(logs)) and 3 <= high.sum() <= n - 3
    return bool(apart and runs < expected - 4 * deviation)


_LEVELS_SHARE = 0.8


def _took_turns(first: Record, second: Record) -> bool:
    """Tell whether two records were measured in turns by one process."""
    known = [
        (row.file, row.shape.environment.get("command"), row.sources, len(row.processes)) for row in (first, second)
    ]
    return known[0] == known[1] and known[0][-1] == 1


def _levelled(row: Record, other: Record) -> NDArray[np.float64]:
    """Return a record's samples, where both have several sources each divided by the median of its source in ``other``.

    Sources differ in their work, and their spread would hide any change.
    """
    groups = np.reshape(row.samples, (row.sources, -1))
    if 1 < row.sources == other.sources:
        groups = groups / np.median(np.reshape(other.samples, (other.sources, -1)), axis=1, keepdims=True)
    return groups.ravel()


def estimate_for_test(samples: Sequence[float] | NDArray[np.float64]) -> Estimate:
    """Return ``estimate`` with the greater allowance for correlation that a test needs, the greatest of few samples."""
    few = len(samples) < _CORRELATED_SAMPLES and min(samples) < max(samples)
    return estimate(samples, MOST_CORRELATION if few else autocorrelation(samples, 1.5))


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
