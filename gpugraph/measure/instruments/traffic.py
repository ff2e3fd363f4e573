"""Memory traffic: the least that the algorithm needs, the device's copy bandwidth, and the share that is reached."""

import math
from typing import Any

from gpugraph.measure.instruments import Instrument
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.stopping import all_median


class Traffic(Instrument):
    """The traffic of the median run."""

    @classmethod
    def of(cls, measurement: Measurement) -> "Traffic":
        """Return the instrument once the bandwidth is known: the arrays of cells would leave it no room."""
        asks = measurement.stopping.sampling.asks_bandwidth(measurement.device.kind)
        if asks and measurement.algorithm.minimum_bytes is not None:
            with measurement.setup.phase_timer.phase("sampling"):
                _ = measurement.setup.open_device.copy_bytes_per_s
        return cls()

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``traffic``."""
        return {"traffic": _traffic(measurement)}


def _traffic(measurement: Measurement) -> dict[str, Any]:
    algorithm, kernel_s = measurement.algorithm, all_median([trial.kernel_s for trial in measurement.trials])
    if algorithm.minimum_bytes is None:
        return {"absent": f"nobody has worked out the least traffic of '{algorithm.name}'"}
    bandwidth = measurement.setup.open_device.copy_bytes_per_s
    if isinstance(bandwidth, str):
        return {"absent": bandwidth}
    if kernel_s <= 0:
        return {"absent": "the kernel took no time that could be measured"}
    together = [len(measurement.trials[0].query[0])] if algorithm.batched else []
    whole = getattr(measurement.input.graph, "edges", 0) * math.prod(together)
    counted = min(trial.count(measurement) for trial in measurement.trials)
    if 2 * counted < whole:  # ``minimum_bytes`` is that of the whole graph
        return {"absent": f"its runs reach {counted:,} of {whole:,} edges, and need not read the others"}
    least = algorithm.minimum_bytes(measurement.input.view, *together)
    return {"minimum_bytes": least, "copy_bytes_per_s": bandwidth, "share": least / kernel_s / bandwidth}
