"""Copies between host and device beside the kernels, which a device runs on one stream.

A ``Mark`` is an event recorded on a stream: another stream, or the host, waits until all that was issued before it has
ended.  On the emulated device a copy is made at once, in the order of the calls, and so does not show that a driver
waits for too little.
"""

import time
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock
from gpugraph.devices.base import Array, check_copy
from gpugraph.devices.cuda_runtime import TO_DEVICE, TO_HOST, translated
from gpugraph.ext.counters.count import CountingClock


def add_beside(clock: Clock, name: str, seconds: float) -> None:
    """Add to a phase seconds of what went on beside the kernels.  Where work is counted, it did none."""
    if not isinstance(clock, CountingClock):
        clock.add_seconds(name, seconds)


class Mark:
    """An event behind all that had been issued to a stream; where everything is done at once a reading of the clock."""

    def __init__(self) -> None:
        self.time = time.perf_counter()

    def wait(self) -> None:
        """Let the host wait until the event has happened."""

    def seconds_since(self, earlier: Any) -> float:
        """Return the seconds between two marks of one device; waits for both."""
        return float(self.time - earlier.time)


class CopyStream:
    """Copies between host and device, in order among themselves and beside the kernels; here at once."""

    def upload(self, target: Array, source: NDArray[Any]) -> None:
        """Copy a host array over a device array; the host array must stay as it is until a later mark is passed."""
        check_copy(target, source)
        np.copyto(target, source.reshape(target.shape))

    def download(self, target: NDArray[Any], source: Array) -> None:
        """Copy a device array over a host array, which holds it once a later mark is passed."""
        self.upload(target, source)

    def wait_for(self, mark: Any) -> None:
        """Let what follows wait for the mark of another stream."""

    def mark(self) -> Mark:
        """Return a mark behind everything given to this stream so far."""
        return Mark()


def copy_stream(device: Any) -> CopyStream:
    """Return a new stream for copies beside the kernels."""
    if device.kind != "cuda":
        return CopyStream()
    with translated(device.label, "making a stream"):
        return CudaCopies(device)


def launched(device: Any) -> Mark:
    """Return a mark behind everything launched so far."""
    return CudaMark(device, device.stream) if device.kind == "cuda" else Mark()


def hold_launches(device: Any, mark: Mark) -> None:
    """Let the launches that follow wait for the mark of a ``CopyStream``; the host goes on."""
    if isinstance(mark, CudaMark):
        device.stream.wait_event(mark.event)


class CudaMark(Mark):
    """An event on one of a GPU's streams; it goes back to the device's events with the mark."""

    def __init__(self, device: Any, stream: Any):
        self._device = device
        self.event = device.events.take()
        self.event.record(stream)
        weakref.finalize(self, device.events.give, self.event).atexit = False

    def wait(self) -> None:
        with translated(self._device.label, f"after {self._device.last_kernel}"):
            self.event.synchronize()

    def seconds_since(self, earlier: Any) -> float:
        earlier.wait()
        self.wait()
        with translated(self._device.label, "timing"):
            return float(self._device.cupy.cuda.get_elapsed_time(earlier.event, self.event)) / 1e3


class CudaCopies(CopyStream):
    """A second stream of a GPU; copies from and to memory that is not pinned are not beside the kernels."""

    def __init__(self, device: Any):
        self._device = device
        self.stream = device.cupy.cuda.Stream(non_blocking=True)
        self._memcpy = device.cupy.cuda.runtime.memcpyAsync
        self._pointer = int(self.stream.ptr)
        device.other_streams.append(self.stream)  # it lives as long as the device

    def upload(self, target: Array, source: NDArray[Any]) -> None:
        check_copy(target, source)
        if source.size:
            with translated(self._device.label, "copying to the device"):
                self._memcpy(target.data.ptr, source.ctypes.data, source.nbytes, TO_DEVICE, self._pointer)

    def download(self, target: NDArray[Any], source: Array) -> None:
        check_copy(target, source)
        if target.size:
            with translated(self._device.label, "copying to the host"):
                self._memcpy(target.ctypes.data, source.data.ptr, target.nbytes, TO_HOST, self._pointer)

    def wait_for(self, mark: Any) -> None:
        self.stream.wait_event(mark.event)

    def mark(self) -> CudaMark:
        return CudaMark(self._device, self.stream)
