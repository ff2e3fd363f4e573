"""What a run costs, where a device is paid by the hour."""

from statistics import fmean
from typing import Any

from gpugraph.measure.instruments import Instrument
from gpugraph.measure.measurement import Measurement
from gpugraph.records.statistics import median

HOUR_S = 3600.0


def costs(per_hour: float, answer_s: float, edge_s: float | None) -> dict[str, float | None]:
    """Return the ``price`` object of a record, of the seconds that an answer takes, and an edge of it.

    ``per_hour`` of one device, ``per_million_answers`` and ``per_billion_edges`` are in the same currency.
    """
    second = per_hour / HOUR_S
    per_edges = None if edge_s is None else second * edge_s * 1e9
    return {"per_hour": per_hour, "per_million_answers": second * answer_s * 1e6, "per_billion_edges": per_edges}


class Price(Instrument):
    """The cost of the kernel's time: of one answer after another, on a graph that the device has."""

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``price``; that of several ranks is of all their devices."""
        setup, trials, devices = measurement.setup, measurement.trials, len(measurement.ranks.gather(0))
        if measurement.is_wrong or measurement.device.kind == "emulated":
            why = "the result is wrong" if measurement.is_wrong else "times on the emulated device are no performance"
            return {"price": {"absent": why}}
        seconds = [devices * median(trial.kernel_s) for trial in trials]
        counts = [setup.problem.work(measurement.input.graph, trial.result) for trial in trials]
        together = len(trials[0].query[0]) if measurement.algorithm.batched else 1
        edge_s = fmean(s / count for s, count in zip(seconds, counts, strict=True)) if all(counts) else None
        return {"price": costs(measurement.stopping.sampling.price, fmean(seconds) / together, edge_s)}
