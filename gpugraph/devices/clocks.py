"""Clocks of the devices: CUDA events on the GPU's stream, the host's clock elsewhere."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any

from gpugraph.clock import NullClock
from gpugraph.devices.cuda_errors import translated


class HostStopwatch:
    """Times a region by the host's monotonic clock."""

    def __init__(self) -> None:
        self._start = self._stop = 0.0

    def start(self) -> None:
        """Mark the beginning."""
        self._start = time.perf_counter()

    def stop(self) -> None:
        """Mark the end."""
        self._stop = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds between the two marks."""
        return self._stop - self._start


class Events:
    """The timing events of one device, used again and again.

    They live as long as the device: destroying one after a kernel has failed would fail too.

    Args:
        create: makes an event.
    """

    def __init__(self, create: Callable[[], Any]):
        self._create = create
        self._all: list[Any] = []
        self._idle: list[Any] = []

    def take(self) -> Any:
        """Return an event that nobody uses."""
        if not self._idle:
            self._idle.append(self._create())
            self._all.append(self._idle[-1])
        return self._idle.pop()

    def give(self, *events: Any) -> None:
        """Take events back."""
        self._idle += events


class CudaStopwatch:
    """Times a region by two events on the device's stream; what the device does elsewhere is not in it."""

    def __init__(self, device: Any):
        self._device = device
        self._start = device.events.take()
        self._stop = device.events.take()
        weakref.finalize(self, device.events.give, self._start, self._stop)

    def start(self) -> None:
        """Mark the beginning, in stream order."""
        self._start.record(self._device.stream)

    def stop(self) -> None:
        """Mark the end, in stream order."""
        self._stop.record(self._device.stream)

    @property
    def seconds(self) -> float:
        """Seconds between the two marks; waits for the work between them and raises what failed in it."""
        with translated(self._device.label, f"after {self._device.last_kernel}"):
            self._device.interrupts.wait()
            self._stop.synchronize()
            return float(self._device.cupy.cuda.get_elapsed_time(self._start, self._stop)) / 1e3


class CudaClock(NullClock):
    """Times phases by events; they are read at the end, so that a phase costs two records.

    Args:
        ranges: CuPy's ``cuda.nvtx`` to wrap every phase in an NVTX range for a profiler, or None.
    """

    def __init__(self, device: Any, ranges: Any = None):
        super().__init__()
        self.device = device
        self.ranges = ranges
        self._marks: list[tuple[str, Any, Any]] = []
        self._seconds: dict[str, float] = {}

    timing = True

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add a time that a kernel measured itself to the phase ``name``."""
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def phase(self, name: str) -> _Phase:
        """Return a context manager that times one phase."""
        return _Phase(self, name)

    def add(self, name: str, start: Any, stop: Any) -> None:
        """Take the events of a phase that has ended."""
        self._marks.append((name, start, stop))

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds by phase; waits for every phase that has ended."""
        elapsed = self.device.cupy.cuda.get_elapsed_time
        with translated(self.device.label, f"after {self.device.last_kernel}"):
            for name, start, stop in self._marks:
                stop.synchronize()
                self._seconds[name] = self._seconds.get(name, 0.0) + float(elapsed(start, stop)) / 1e3
                self.device.events.give(start, stop)
        self._marks.clear()
        return dict(self._seconds)


class _Phase:
    __slots__ = ("_clock", "_name", "_start")

    def __init__(self, clock: CudaClock, name: str):
        self._clock = clock
        self._name = name

    def __enter__(self) -> None:
        clock = self._clock
        if clock.ranges is not None:
            clock.ranges.RangePush(self._name)
        self._start = clock.device.events.take()
        self._start.record(clock.device.stream)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        clock = self._clock
        stop = clock.device.events.take()
        stop.record(clock.device.stream)
        clock.add(self._name, self._start, stop)
        if clock.ranges is not None:
            clock.ranges.RangePop()
