"""The inner phases of an algorithm, timed in runs of their own."""

from typing import Any

from gpugraph.measure.instruments import Instrument
from gpugraph.measure.measurement import Measurement
from gpugraph.records.statistics import median

INNER_RUNS, INNER_LIMIT_S = 5, 5.0
"""Runs that time the inner phases: of fewer a median says nothing.  Where these would take longer than that and than
the cell's own limit there is one, for its counters."""


class Phases(Instrument):
    """The runs that time the inner phases."""

    def ending_s(self, measurement: Measurement) -> float:
        """Return the seconds of these runs."""
        return _runs(measurement) * measurement.trials[0].last_s

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return the fields ``kernel_phases_…``, and the counters of the last run.

        The seconds are those of the run of median length; a share is given by its least, median and greatest value.
        """
        algorithm, ranks = measurement.algorithm, measurement.ranks
        if measurement.is_wrong or algorithm.name.startswith("peer:"):
            return {}  # a peer marks no phases
        measurement.setup.progress(f"{algorithm.name}: timing its phases")
        runs: list[tuple[float, dict[str, float], dict[str, Any]]] = []
        for _ in range(_runs(measurement)):
            clock, watch = ranks.phase_clock(measurement.device), ranks.stopwatch(measurement.device)
            with measurement.guard, ranks.metered(clock):
                watch.start()
                algorithm.run(measurement.state, clock, *measurement.trials[0].query)
                watch.stop()
                measurement.device.synchronize()
            inner, split = ranks.phases(clock)
            runs.append((max(ranks.greatest(watch.seconds), sum(inner.values())), inner, split))
        seconds, inner, split = sorted(runs, key=lambda run: run[0])[(len(runs) - 1) // 2]
        shares: dict[str, list[float]] = {}
        for whole, parts, _ in runs if seconds > 0 else []:
            for name, part in {**parts, "other": whole - sum(parts.values())}.items():
                shares.setdefault(name, []).append(part / whole if whole > 0 else 0.0)
        ends = {name: [min(of), median(of), max(of)] for name, of in shares.items() if len(of) == len(runs)}
        phases = {"s": inner, "run_s": seconds, "runs": len(runs), "shares": ends if inner else {}}
        found = {f"kernel_phases_{name}": value for name, value in phases.items()} if inner else {}
        return {**found, "counters": clock.counters, **({"ranks": {"phases": split}} if ranks.several else {})}


def _runs(measurement: Measurement) -> int:
    """Return how many runs time the inner phases; times of an emulated device are none."""
    long = INNER_RUNS * measurement.trials[0].last_s > max(measurement.stopping.limit_s, INNER_LIMIT_S)
    return 1 if long or measurement.device.kind == "emulated" else INNER_RUNS
