"""Cold caches: a GPU's second-level cache is flushed before every run."""

from typing import Any
from weakref import WeakKeyDictionary

from gpugraph.base.errors import InputError
from gpugraph.measure.instruments import Instrument, Run
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.open_device import OpenDevice

FACTOR = 2
"""The buffer is so many times the cache: whatever way the cache replaces its lines, nothing older stays."""

_BUFFERS: WeakKeyDictionary[OpenDevice, Any] = WeakKeyDictionary()


class Cold(Instrument):
    """Flushes in stream order, by overwriting a buffer that is larger: the flush ends before the timing begins."""

    def __init__(self, open_device: OpenDevice):
        self._device, self._buffer = open_device.device, buffer_of(open_device)

    @classmethod
    def of(cls, measurement: Measurement) -> "Cold":
        """Return the instrument of a measurement; errors as for ``buffer_of``."""
        return cls(measurement.setup.open_device)

    @staticmethod
    def check(open_device: OpenDevice) -> None:
        """Refuse a device before a graph is loaded; errors as for ``buffer_of``."""
        buffer_of(open_device)

    def before(self, run: Run) -> None:
        """Queue the flush."""
        self._device.fill(self._buffer, 0)


def buffer_of(open_device: OpenDevice) -> Any:
    """Return the buffer of a device, one for all cells.

    Raises:
        InputError: another kind of device, whose caches cannot be flushed so.
        OutOfMemory: there is no room for the buffer.
    """
    if open_device not in _BUFFERS:
        device = open_device.device
        if device.kind != "cuda":
            what = f"cold samples need a GPU: the caches behind the device '{device.kind}' cannot be flushed"
            raise InputError(what, remedy="measure it warm, or use --device cuda")
        _BUFFERS[open_device] = device.empty(FACTOR * open_device.description["l2_bytes"], "uint8")
    return _BUFFERS[open_device]
