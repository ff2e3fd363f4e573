"""Memory: the most that input, state and runs took on the device together; what the checks took does not count."""

from typing import Any

from gpugraph.devices.base import Device
from gpugraph.measure.inputs import live_bytes
from gpugraph.measure.instruments import Instrument, Run
from gpugraph.measure.measurement import Measurement


class Memory(Instrument):
    """The device's memory; ``peak_bytes`` is the most on this rank's device."""

    at_prepare = True

    def __init__(self, device: Device):
        self._device = device
        self._before = self._held = self.peak_bytes = 0

    @classmethod
    def of(cls, measurement: Measurement) -> "Memory":
        """Return the instrument of a measurement."""
        return cls(measurement.device)

    def before(self, run: Run) -> None:
        """Let the peak start anew."""
        self._before = live_bytes(self._device)

    def after(self, run: Run) -> None:
        """Note the peak; some states grow when they are first run."""
        there = run.measurement.input.device_bytes + self._held
        self.peak_bytes = max(self.peak_bytes, there + int(self._device.peak_bytes()) - self._before)
        self._held += live_bytes(self._device) - self._before

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``peak_device_bytes``."""
        return {"peak_device_bytes": measurement.ranks.greatest(self.peak_bytes)}
