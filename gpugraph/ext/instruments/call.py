"""The time of a call on a GPU that idles, between two events with the launch inside, as other programs take theirs.

The kernel's samples are queued behind other work, so that launches are not timed (``measure/instruments/wake.py``).
"""

import time
from typing import Any

from gpugraph.base.clock import NullClock
from gpugraph.measure.instruments import Instrument, Run
from gpugraph.measure.measurement import Measurement
from gpugraph.records.statistics import clocked

RUNS, LIMIT_S = 7, 0.5
"""Runs from each source, one before them untimed; those of all sources end after about so many seconds, at the least
with one each."""


class Call(Instrument):
    """The runs, after all samples are taken."""

    def ending_s(self, measurement: Measurement) -> float:
        """Return the seconds of these runs."""
        trials = measurement.trials
        return len(trials) * min((RUNS + 1) * trials[0].last_s, LIMIT_S / len(trials) + 2 * trials[0].last_s)

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``call``: ``samples_s`` between the events and ``wall_s`` by the host's clock, of the same runs."""
        if measurement.is_wrong:
            return {}
        measurement.setup.progress(f"{measurement.algorithm.name}: timing its launch")
        samples, walls = list[float](), list[float]()
        for trial in measurement.trials:
            began = time.perf_counter()
            for run in range(RUNS + 1):
                seconds, wall = _timed(Run(measurement, trial, True, measurement.ranks.stopwatch(measurement.device)))
                samples += [clocked(seconds)] if run else []
                walls += [clocked(wall)] if run else []
                if run and time.perf_counter() - began > LIMIT_S / len(measurement.trials):
                    break
        return {"call": {"samples_s": samples, "wall_s": walls}}


def _timed(run: Run) -> tuple[float, float]:
    """Return the seconds of a run between events on an idle stream, and until the host knows that it has ended."""
    measurement, watch, clock = run.measurement, run.watch, NullClock()
    device, clock.stop = measurement.device, watch.stop
    with measurement.guard:
        device.synchronize()
        start = time.perf_counter()
        watch.start()
        measurement.algorithm.run(measurement.state, clock, *run.trial.query)
        if not clock.stopped:
            watch.stop()
        device.synchronize()
        wall = time.perf_counter() - start
    return watch.seconds, wall
