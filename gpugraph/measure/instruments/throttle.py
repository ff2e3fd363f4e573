"""Throttling: the SM clock after every sample; a sample that the GPU took at a lower clock is taken again.

That is one whose clock lies more than 3 % below the highest that its cell has seen, or during which power or
temperature held the clock down.  It is repeated after a pause in which the GPU can cool; how often that happened is
counted.  After ``MAX_REPEATED`` of them a cell takes what comes: a GPU that is always held down is measured so.
"""

import time
from collections import defaultdict
from typing import Any

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.devices.nvml import Nvml
from gpugraph.measure.instruments import Instrument, Run, Trial
from gpugraph.measure.measurement import Measurement

FALL = 0.03
MAX_REPEATED = 10
"""Samples that a cell takes again, at most."""

_PAUSE_S, _GROWTH, _LONGEST_S = 0.05, 1.5, 0.5


class Throttle(Instrument):
    """The clock of one cell's samples, read from the GPU, or the reason why it cannot be.

    Attributes:
        absent: the reason why there are no clocks, or None.
        repeated: samples taken again so far.
    """

    def __init__(self, nvml: Nvml | str):
        self.absent = nvml if isinstance(nvml, str) else None
        self.repeated = 0
        self._nvml: Any = nvml
        self._highest = 0
        self._in_a_row = 0
        self._clocks_mhz: dict[Trial, list[int]] = defaultdict(list)

    @classmethod
    def of(cls, measurement: Measurement) -> "Throttle":
        """Return the instrument of a measurement."""
        return cls(measurement.setup.open_device.nvml)

    def after(self, run: Run) -> None:
        """Note the clock of a sample; wait where it must be taken again."""
        if not run.is_sample:
            return
        clock, run.must_repeat = self.probe()
        if run.must_repeat:
            run.measurement.setup.progress(f"{run.measurement.algorithm.name}: the GPU is held down, waiting for it")
            self.rest()
        elif clock is not None:
            self._clocks_mhz[run.trial].append(clock)

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return of ``sampling`` the clock of every sample, those of earlier processes included, and the repetitions.

        Of an earlier process that could read no clocks there are none.
        """
        sampled = (measurement.stopping.earlier or {}).get("sampling", {})
        earlier = measurement.stopping.earlier_of(sampled.get("sm_clock_mhz"))
        own = [self._clocks_mhz[trial] for trial in measurement.trials]
        clocks = [mhz for pair in zip(earlier, own, strict=True) for part in pair for mhz in part]
        repeated = self.repeated + sampled.get("throttled_repeated", 0)
        found = clocks if self.absent is None else {"absent": self.absent}
        return {"sampling": {"throttled_repeated": repeated, "sm_clock_mhz": found}}

    def probe(self) -> tuple[int | None, bool]:
        """Return the clock in MHz right after a run, and whether that run must be made again."""
        if self.absent is not None:
            return None, False
        try:
            clock, reasons = self._nvml.sm_clock_mhz(), self._nvml.held_down_by()
        except DeviceUnavailable as reason:
            self.absent = reason.what
            return None, False
        self._highest = max(self._highest, clock)
        held = clock < (1 - FALL) * self._highest or bool(reasons)
        if not held or self.repeated >= MAX_REPEATED:
            self._in_a_row = 0
            return clock, False
        self.repeated += 1
        return clock, True

    def rest(self) -> None:
        """Let the GPU cool before the next try: the longer, the more tries there were in a row."""
        time.sleep(min(_PAUSE_S * _GROWTH**self._in_a_row, _LONGEST_S))
        self._in_a_row += 1
