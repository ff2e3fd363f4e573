"""ResidentArray: an ArrayInput whose elements lie on a device, and are put back after a scan in place."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device
from gpugraph.problems.scan.array import ArrayInput


class ResidentArray:
    """The elements on a device.

    A scan in place leaves its result where the elements were; whoever scans next calls ``renew`` first.  The elements
    then come from the host again: the device never holds them twice, and a scan in place can show what it saves.

    Attributes:
        host: the ArrayInput.
        values: (n,) the elements, or what a scan in place made of them.
        heads: (n,) uint8 heads of segments, or None.
    """

    def __init__(self, host: ArrayInput, device: Device, staged: NDArray[Any], heads: NDArray[np.uint8] | None):
        self.host, self.device, self._staged = host, device, staged
        self.values: Array = device.upload(staged)
        self.heads: Array | None = None if heads is None else device.upload(heads)
        self._overwritten = False

    @property
    def elements(self) -> int:
        """Number of elements, n."""
        return self.host.elements

    def overwrite(self) -> Array:
        """Return ``values`` to be scanned in place."""
        self._overwritten = True
        return self.values

    def renew(self) -> None:
        """Bring the elements back if a scan has overwritten them."""
        if self._overwritten:
            self.values = None  # freed first
            self.values = self.device.upload(self._staged)
            self._overwritten = False


def place(view: ArrayInput, device: Device) -> tuple[ResidentArray, float, float]:
    """Copy an array to a device.

    Returns:
        The resident array, the seconds of staging and of allocation and transfer.

    Raises:
        OutOfMemory: it does not fit; nothing was allocated.
    """
    device.require(view.nbytes + (0 if view.heads is None else view.heads.nbytes))
    start = time.perf_counter()
    staged = device.stage(view.values)
    heads = None if view.heads is None else device.stage(view.heads)
    stage_s = time.perf_counter() - start
    watch = device.stopwatch()
    watch.start()
    resident = ResidentArray(view, device, staged, heads)
    watch.stop()
    return resident, stage_s, watch.seconds
