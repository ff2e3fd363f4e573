"""Cold caches: a GPU's second-level cache is flushed before every run."""

from __future__ import annotations

from collections.abc import Callable

from gpugraph.measure.instruments import Instrument, Run
from gpugraph.measure.measurement import Measurement


class Cold(Instrument):
    """Flushes in stream order: the flush ends before the timing begins."""

    def __init__(self, flush: Callable[[], None]):
        self._flush = flush

    @classmethod
    def of(cls, measurement: Measurement) -> Cold:
        """Return the instrument of a measurement; an InputError says where there is no such cache."""
        return cls(measurement.setup.open_device.flush)

    def before(self, run: Run) -> None:
        """Queue the flush."""
        self._flush()
