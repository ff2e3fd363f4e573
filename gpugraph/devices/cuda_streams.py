"""Streams and events of a GPU: what times its work, and a wait that Ctrl-C ends.

Times are read from events on the stream that they are about.  The protocols are in ``base.py``.

CUDA's own waits know nothing of signals, and a search in one launch may take longer than anybody wants to wait.  So
where such a launch is under way the host asks again and again instead: at once for as long as a short search takes,
and then with pauses that are short beside what has passed, so that no timing of the host shows them.  A launch is
stopped by a word on the device, copied there beside the kernel.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import NullClock
from gpugraph.devices.cuda_runtime import TO_DEVICE, translated

if TYPE_CHECKING:
    from cupy.cuda import Event, Stream


class OpenGpu(Protocol):
    """What a kernel, a clock or a copy needs of its GPU, which is a ``CudaDevice``."""

    label: str
    index: int
    multiprocessors: int
    last_kernel: str
    cupy: ModuleType
    stream: Stream
    events: Events
    interrupts: Interrupts

    def synchronize(self) -> None:
        """Wait until everything launched has ended; raise what went wrong in it."""


class Events:
    """The timing events of one device, used again and again.

    They live as long as the device: destroying one after a kernel has failed would fail too.
    """

    def __init__(self, create: Callable[[], Event]):
        self._create = create
        self._all: list[Any] = []
        self._idle: list[Any] = []

    def take(self) -> Event:
        """Return an event that nobody uses."""
        if not self._idle:
            self._idle.append(self._create())
            self._all.append(self._idle[-1])
        return self._idle.pop()

    def give(self, *events: Event) -> None:
        """Take events back."""
        self._idle += events


class CudaStopwatch:
    """Times a region by two events on the device's stream; what the device does elsewhere is not in it."""

    def __init__(self, device: OpenGpu):
        self._device = device
        self._start = device.events.take()
        self._stop = device.events.take()
        weakref.finalize(self, device.events.give, self._start, self._stop)

    def start(self) -> None:
        self._start.record(self._device.stream)

    def stop(self) -> None:
        self._stop.record(self._device.stream)

    @property
    def seconds(self) -> float:
        """Seconds between the two marks; waits for the work between them and raises what failed in it."""
        with translated(self._device.label, f"after {self._device.last_kernel}"):
            self._device.interrupts.wait()
            self._stop.synchronize()
            return float(self._device.cupy.cuda.get_elapsed_time(self._start, self._stop)) / 1e3


class CudaClock(NullClock):
    """Times phases by events, read at the end, so that a phase costs two records; in NVTX ranges if given CuPy's."""

    timing = True

    def __init__(self, device: OpenGpu, ranges: ModuleType | None = None):
        super().__init__()
        self.device = device
        self.ranges = ranges
        self.ended: list[tuple[str, Event, Event]] = []  # phases, with the events at both ends
        self._seconds: dict[str, float] = {}

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add a time that a kernel measured itself to the phase ``name``."""
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def phase(self, name: str) -> _Phase:
        """Return a context manager that times one phase."""
        return _Phase(self, name)

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds by phase; waits for every phase that has ended."""
        elapsed = self.device.cupy.cuda.get_elapsed_time
        with translated(self.device.label, f"after {self.device.last_kernel}"):
            for name, start, stop in self.ended:
                stop.synchronize()
                self.add_seconds(name, float(elapsed(start, stop)) / 1e3)
                self.device.events.give(start, stop)
        self.ended.clear()
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
        clock.ended.append((self._name, self._start, stop))
        if clock.ranges is not None:
            clock.ranges.RangePop()


# ------------------------------------------------------------------ Ctrl-C while a GPU is at work

_NOT_READY = 600  # cudaErrorNotReady
_EAGER_S = 0.1
"""For so long the host asks without a pause, as CUDA's own wait does."""
_PAUSE_SHARE = 1e-3
"""A pause, as a part of the time waited so far."""
_LONGEST_PAUSE_S = 0.01
_REPEAT_S = 1e-3
"""Between two orders to stop: a launch behind the one that ends may reset its word."""


class Interrupts:
    """The launches on a stream that Ctrl-C can end, by a pinned word of (4,) uint8."""

    def __init__(self, cupy: ModuleType, stream: int, word: NDArray[np.uint8]):
        self._runtime = cupy.cuda.runtime
        self._stream = stream
        self._orders = cupy.cuda.Stream(non_blocking=True)
        self._word = word
        self._word.view(np.uint32)[0] = 1
        self._stops: set[int] = set()

    def add(self, stop: int) -> None:
        """Take note of a launch that ends when the word at ``stop`` on the device is not 0."""
        self._stops.add(stop)

    def forget(self, pointer: int, size: int) -> None:
        """Write no order to so many bytes of memory any more: they go back to the driver, which waits for kernels."""
        if self._stops:
            self._stops -= {stop for stop in tuple(self._stops) if pointer <= stop < pointer + size}

    def wait(self) -> None:
        """Wait for the stream if a launch on it can be stopped, and stop it on Ctrl-C; else return at once.

        The KeyboardInterrupt comes after the kernels have ended; what they were to compute is not there.
        """
        if self._stops:
            self.wait_until(lambda: False)

    def wait_until(self, known: Callable[[], bool]) -> None:
        """Wait until something is known that the last launch tells, or for the stream; Ctrl-C does the same."""
        try:
            start = time.perf_counter()
            while not known() and self._runtime.streamQuery(self._stream) == _NOT_READY:
                waited = time.perf_counter() - start
                if waited > _EAGER_S:
                    time.sleep(min(_PAUSE_SHARE * waited, _LONGEST_PAUSE_S))
        except KeyboardInterrupt:
            self.stop()
            raise
        self._stops.clear()

    def stop(self) -> None:
        """End the launches that can be stopped, and wait for it."""
        while self._stops and self._runtime.streamQuery(self._stream) == _NOT_READY:
            for stop in tuple(self._stops):
                self._runtime.memcpyAsync(stop, self._word.ctypes.data, 4, TO_DEVICE, self._orders.ptr)
            self._runtime.streamSynchronize(self._orders.ptr)
            time.sleep(_REPEAT_S)
        self._stops.clear()

    def close(self) -> None:
        """Give the pinned word back."""
        self._word = np.empty(0, np.uint8)


class CudaReply:
    """A word, (8,) uint8 in pinned memory, which a GPU writes where it lies, while the host looks at it.

    A copy would begin when the kernel has ended, and the host would wait for the end of that.
    """

    def __init__(self, device: OpenGpu, word: NDArray[np.uint8]):
        memory = device.cupy.cuda.memory
        there = memory.MemoryPointer(memory.UnownedMemory(word.ctypes.data, 8, word, device.index), 0)
        self.word = device.cupy.ndarray((1,), np.dtype(np.uint64), there)
        self._device, self._seen = device, word.view(np.uint64).data
        self._number = self._seen[0] = 0

    def expect(self) -> np.uint32:
        self._number = self._number % 0xFFFFFFFF + 1
        return np.uint32(self._number)

    def wait(self) -> int:
        self._device.interrupts.wait_until(self._known)
        if not self._known():  # it has ended, or failed
            self._device.synchronize()
        return int(self._seen[0] & 0xFFFFFFFF) if self._known() else 0

    def _known(self) -> bool:
        return self._seen[0] >> 32 == self._number

    def close(self) -> None:
        """Give the word back, and let go of the device, which holds this."""
        self.word, self._seen = None, memoryview(bytes(8)).cast("L")
        vars(self).pop("_device", None)
