"""Copies beside the kernels: further streams, and events by which streams and the host wait for each other.

A device runs its kernels on one stream.  What is to move while they run goes through a ``CopyStream``.  A ``Mark`` is
an event recorded on a stream: another stream, or the host, waits until all that was issued before it has ended.  The
emulated device copies at once, in the order of the calls, and so does not show that a driver waits for too little.
"""

from __future__ import annotations

import time
import weakref
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.cuda_errors import translated
from gpugraph.devices.pinned import as_bytes
from gpugraph.errors import GpuGraphError

_TO_DEVICE, _TO_HOST = 1, 2  # cudaMemcpyKind


class Mark(Protocol):
    """An event behind all that had been issued to a stream."""

    def wait(self) -> None:
        """Let the host wait until the event has happened."""
        ...

    def seconds_since(self, earlier: Mark) -> float:
        """Return the seconds between two marks of one device; waits for both."""
        ...


class CopyStream(Protocol):
    """Copies between host and device, in order among themselves and beside the kernels."""

    def upload(self, target: Any, source: NDArray[Any]) -> None:
        """Copy a host array over a device array; the host array must stay as it is until a later mark is passed."""
        ...

    def download(self, target: NDArray[Any], source: Any) -> None:
        """Copy a device array over a host array, which holds it once a later mark is passed."""
        ...

    def wait_for(self, mark: Mark) -> None:
        """Let what follows wait for the mark of another stream."""
        ...

    def mark(self) -> Mark:
        """Return a mark behind everything given to this stream so far."""
        ...


class HostMark:
    """A mark where everything is done at once: a reading of the host's monotonic clock."""

    def __init__(self) -> None:
        self.time = time.perf_counter()

    def wait(self) -> None:
        """Return at once."""

    def seconds_since(self, earlier: Mark) -> float:
        """Return the seconds between the two."""
        assert isinstance(earlier, HostMark)
        return self.time - earlier.time


class HostCopies:
    """The copy stream of a device whose memory is the host's."""

    def upload(self, target: NDArray[Any], source: NDArray[Any]) -> None:
        """Copy at once."""
        _check_sizes(target, source)
        np.copyto(target, source)

    def download(self, target: NDArray[Any], source: NDArray[Any]) -> None:
        """Copy at once."""
        _check_sizes(target, source)
        np.copyto(target, source)

    def wait_for(self, mark: Mark) -> None:
        """Return at once: what was marked is done."""

    def mark(self) -> HostMark:
        """Return the mark."""
        return HostMark()


class CudaMark:
    """An event on one of a GPU's streams; it goes back to the device's events with the mark.

    Args:
        device: the CudaDevice.
        stream: CuPy's stream.
    """

    def __init__(self, device: Any, stream: Any):
        self._device = device
        self.event = device.events.take()
        self.event.record(stream)
        weakref.finalize(self, device.events.give, self.event).atexit = False

    def wait(self) -> None:
        """Let the host wait; raises what went wrong before the mark."""
        with translated(self._device.label, f"after {self._device.last_kernel}"):
            self.event.synchronize()

    def seconds_since(self, earlier: Mark) -> float:
        """Return the seconds between the two; waits for both."""
        assert isinstance(earlier, CudaMark)
        earlier.wait()
        self.wait()
        with translated(self._device.label, "timing"):
            return float(self._device.cupy.cuda.get_elapsed_time(earlier.event, self.event)) / 1e3


class CudaCopies:
    """A second stream of a GPU.  Copies from and to memory that is not pinned are right, but not beside the kernels.

    Args:
        device: the CudaDevice.
    """

    def __init__(self, device: Any):
        self._device = device
        self.stream = device.cupy.cuda.Stream(non_blocking=True)
        self._memcpy = device.cupy.cuda.runtime.memcpyAsync
        self._pointer = int(self.stream.ptr)

    def upload(self, target: Any, source: NDArray[Any]) -> None:
        """Begin the copy."""
        _check_sizes(target, source)
        if source.size:
            with translated(self._device.label, "copying to the device"):
                self._memcpy(target.data.ptr, as_bytes(source).ctypes.data, source.nbytes, _TO_DEVICE, self._pointer)

    def download(self, target: NDArray[Any], source: Any) -> None:
        """Begin the copy."""
        _check_sizes(target, source)
        if target.size:
            with translated(self._device.label, "copying to the host"):
                self._memcpy(as_bytes(target).ctypes.data, source.data.ptr, target.nbytes, _TO_HOST, self._pointer)

    def wait_for(self, mark: Mark) -> None:
        """Let the stream wait for the mark; the host goes on."""
        assert isinstance(mark, CudaMark)
        self.stream.wait_event(mark.event)

    def mark(self) -> CudaMark:
        """Return a mark."""
        return CudaMark(self._device, self.stream)


def _check_sizes(target: Any, source: Any) -> None:
    if target.shape != source.shape or target.dtype != source.dtype:
        raise GpuGraphError(f"cannot copy {source.shape} of {source.dtype} over {target.shape} of {target.dtype}")
    if not (target.flags.c_contiguous and source.flags.c_contiguous):
        raise GpuGraphError("a copied array is not contiguous", remedy="pass contiguous slices")
