"""When a measurement has samples enough, and whose turn it is among cells that compete; knows no graphs, no devices.

A measurement ends by its target, its limits of samples and of time, and its share of processes.  Each round every cell
that still runs takes one sample, in a random order that the seed decides, so that whatever drifts drifts for all of
them.  What finds no room beside the others is set up once more when they have ended.
"""

import gc
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gpugraph.base.quantities import duration, percent
from gpugraph.measure.instruments import Trial
from gpugraph.measure.sampling import PATIENCE, PROCESSES, Sampling
from gpugraph.records.record import SCATTERED
from gpugraph.records.statistics import INTERVAL_SAMPLES, STOP_LEVEL, median, median_interval, relative_half_width

WATCHED_S = 0.5
"""Progress shows the median so far once in so many seconds."""

_GROWTH = 1.25  # looks at the interval are so far apart: each look is a chance to find it narrow by accident


class Stopping:
    """What ends a measurement.

    Attributes:
        share: what this process takes of the ``sampling`` that several share.
        earlier: the record of the processes that took samples before this one, or None.
        spent_s: seconds that sampling took, without the check of the first result.
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        sampling: Sampling,
        earlier: Mapping[str, Any] | None,
        *,
        starts_again: bool,
        ends_when_wrong: bool = True,
    ):
        self._trials = trials
        self.sampling, self.share, self.earlier = sampling, sampling.share(), earlier
        self.spent_s = 0.0
        self._least = -(-PROCESSES // sampling.processes) if starts_again else 0
        self._ends_when_wrong = ends_when_wrong
        self._looked_at = 0
        self._watched = 0.0, ""

    def reason(self) -> str | None:
        """Return why no more samples are taken, ``"target"``, ``"time"`` or ``"count"``, or None to go on."""
        share, trials = self.share, self._trials
        taken = len(trials[-1].kernel_s)
        wrong = self._ends_when_wrong and any(trial.verdict.status == "failed" for trial in trials)
        if taken == 0:
            return None
        too_few = not (wrong or self.starts_suffice)
        if taken < share.max_samples and too_few and self.spent_s < PATIENCE * share.time_limit_s:
            return None  # a program that measures itself is started once more: fewer processes rank nothing
        if taken >= share.max_samples or (share.adaptive and wrong):
            return "count"
        if share.adaptive and taken >= max(share.min_samples, INTERVAL_SAMPLES, self._looked_at * _GROWTH):
            self._looked_at = taken
            if self.is_narrow:
                return "target"
        return "time" if self.spent_s >= share.time_limit_s else None

    @property
    def starts_suffice(self) -> bool:
        """Whether a program that measures itself was started often enough."""
        return sum(len(trial.d2h_s) for trial in self._trials) >= self._least

    @property
    def is_narrow(self) -> bool:
        """Whether the interval of the median is as narrow as the target."""
        groups = [trial.kernel_s for trial in self._trials]
        interval = median_interval(groups, level=STOP_LEVEL)
        return relative_half_width(interval, all_median(groups)) <= self.share.target

    def progress(self) -> str:
        """Return the number of the next sample, and now and then the median so far with half its interval."""
        trials, taken, now = self._trials, len(self._trials[-1].kernel_s), time.perf_counter()
        if taken >= INTERVAL_SAMPLES and now - self._watched[0] > WATCHED_S:
            groups = [trial.kernel_s for trial in trials]
            middle = all_median(groups)
            half = relative_half_width(median_interval(groups), middle)
            known = f" ± {percent(half)}" if half <= SCATTERED else ""
            self._watched = now, f", {duration(middle)}{known} so far"
        of = "" if self.share.adaptive else f" of {self.share.max_samples}"
        return f"sample {taken + 1}{of}{self._watched[1]}"

    @property
    def limit_s(self) -> float:
        """Seconds that the runs of this process may take, 0 where there is no limit."""
        return self.share.time_limit_s if self.share.time_limit_s < math.inf else 0.0

    @property
    def processes(self) -> list[int]:
        """Samples that each earlier process took."""
        return list(self.earlier["sampling"]["processes"]) if self.earlier else []

    @property
    def is_last(self) -> bool:
        """Whether this process is the last."""
        return len(self.processes) + 1 >= self.sampling.processes

    def earlier_of(self, values: Any) -> list[Sequence[Any]]:
        """Return by trial the values that an earlier record has for its samples; none where it has not all of them."""
        each, trials = sum(self.processes), len(self._trials)
        whole = isinstance(values, list) and len(values) == each * trials
        return [values[i * each : (i + 1) * each] if whole else [] for i in range(trials)]


def all_median(groups: Sequence[Sequence[float]]) -> float:
    """Return the median of the samples of all groups together."""
    return median([second for group in groups for second in group])


# ------------------------------------------------------------------ turns


class Turns:
    """The turns of cells, which are called by their places; iterated over, it yields whose turn it is.

    Whoever iterates says after each turn what became of it: ``begun``, ``end_of``, ``ended`` or ``tried_later``.
    """

    def __init__(self, count: int, sampling: Sampling):
        self._waiting, self._crowded, self._alone = list(range(count)), list[int](), count == 1
        self._running, self._converged = dict[int, None](), set[int]()
        self._random, self._together = random.Random(sampling.seed), sampling.together

    def __iter__(self) -> Iterator[int]:
        while self._waiting or self._running or self._crowded:
            if not self._waiting and not self._running:
                gc.collect()  # what the others left in cycles may hold device memory
                self._waiting, self._alone = [self._crowded.pop(0)], True
            turn = self._waiting or self._random.sample(list(self._running), len(self._running))
            self._waiting = []
            yield from turn

    def begun(self, index: int) -> None:
        """Take note that a cell is set up, and can take samples."""
        self._running[index] = None

    def takes_sample(self, index: int) -> bool:
        """Tell whether a cell takes one more: one that waits does while another goes on."""
        return index not in self._converged or not self._all_converged

    def end_of(self, index: int, stopped_by: str | None, narrow: Callable[[int], bool]) -> str | None:
        """Return why a cell ends now, or None; it gives why it would end by itself, and if its interval is narrow."""
        if stopped_by == "target" or (stopped_by is None and index in self._converged):
            stopped_by = "target"
            self._converged.add(index)
        if self._together and self._all_converged:  # samples since then may have widened one
            self._converged -= {other for other in self._running if not narrow(other)}
        return None if stopped_by == "target" and self._together and not self._all_converged else stopped_by

    def ended(self, index: int) -> None:
        """Take note that a cell is done, or has failed."""
        self._running.pop(index, None)

    def tried_later(self, index: int) -> bool:
        """Tell whether a cell that found no room is to be measured by itself, once the others have ended."""
        if not self._alone:
            self._running.pop(index, None)
            self._crowded.append(index)
        return not self._alone

    @property
    def _all_converged(self) -> bool:
        return self._converged >= self._running.keys()
