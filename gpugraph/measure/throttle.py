"""Was the GPU held down while a sample was taken?  The SM clock is read around every sample.

A sample whose clock lies more than 3 % below the highest that its cell has seen, or during which power or
temperature held the clock down, is taken again after a pause in which the GPU can cool; how often that happened is
counted.  After ``MAX_REPEATED`` of them a cell takes what comes: a GPU that is always held down is measured so.
"""

from __future__ import annotations

import time
from typing import Any

from gpugraph.devices.nvml import Nvml
from gpugraph.errors import DeviceUnavailable

FALL = 0.03
MAX_REPEATED = 10
"""Samples that a cell takes again, at most."""

_PAUSE_S, _GROWTH, _LONGEST_S = 0.05, 1.5, 0.5


class Throttle:
    """The clock of one cell's samples.

    Args:
        nvml: the GPU, or the reason why its clock cannot be read.

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
