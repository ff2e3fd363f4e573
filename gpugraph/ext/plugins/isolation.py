"""Isolation of foreign code in this process: what it changes is restored, writing into the graph is detected.

A user's own algorithm and a library may change what the whole process shares, and write into the graph in spite of
read-only arrays.  ``ForeignCodeGuard`` is entered around each of their steps, outside any timing.  Afterwards the
process is as it was before, and the input is compared with what it was.
"""

import contextlib
import dataclasses
import gc
import os
import random
import signal
import sys
import threading
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import set_threads, threads
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.view import ResidentView
from gpugraph.measure.instruments import Guard, SpoiledGraph, WroteIntoInput
from gpugraph.measure.measurement import Measurement

_WROTE = "it wrote into its input"
_REMEDY = "the input is read-only: let the algorithm work on a copy"


class ForeignCodeGuard(Guard):
    """Keeps the process and the arrays of ``holders`` as they are in each step of foreign code; else SpoiledGraph."""

    def __init__(self, name: str, *holders: Any):
        self._name, self._holders = name, holders
        self._sums = self._checksums()
        self._kept = contextlib.ExitStack()

    @classmethod
    def of(cls, measurement: Measurement) -> "ForeignCodeGuard":
        """Return what guards the steps of a measurement's algorithm."""
        return cls(measurement.algorithm.name, measurement.input.graph, measurement.input.view)

    def __enter__(self) -> "ForeignCodeGuard":
        self._kept.enter_context(kept())
        return self

    def __exit__(self, kind: object = None, error: BaseException | None = None, trace: object = None) -> None:
        self._kept.close()
        if self._checksums() != self._sums:
            raise SpoiledGraph(_WROTE, where=self._name, remedy=_REMEDY) from error

    def check_input(self, resident: Any, device: Any) -> None:
        """Raise WroteIntoInput where its own arrays on a device differ from those on the host."""
        if not isinstance(resident, ResidentView):
            return
        view, host = resident, resident.host
        pairs = [(view.offsets, host.offsets), (view.weights, host.weights), (view.edge_ids, host.edge_ids)]
        if view.compressed is None or host.compressed is None:
            pairs.append((view.targets, host.targets))
        else:
            pairs += zip(view.compressed, host.compressed.arrays, strict=True)
        for there, here in pairs:
            if here is not None and _checksum(device.download(there)) != _checksum(here):
                raise WroteIntoInput(_WROTE, where=self._name, remedy=_REMEDY)

    def _checksums(self) -> list[object]:
        """Return sizes and checksums of all arrays; an array that several holders share is read once."""
        seen: dict[tuple[int, ...], Any] = {}
        sums = []
        for array in (array for holder in self._holders for array in _arrays(holder)):
            key = (array.ctypes.data, *array.shape, *array.strides)
            if key not in seen:
                seen[key] = (array.dtype.str, array.shape, _checksum(array))
            sums.append(seen[key])
        return sums


def _arrays(holder: Any) -> Iterator[NDArray[Any]]:
    for field in dataclasses.fields(holder):
        value = getattr(holder, field.name)
        if isinstance(value, np.ndarray):
            yield value
        elif dataclasses.is_dataclass(value):
            yield from _arrays(value)


def _checksum(array: NDArray[Any]) -> list[int]:
    if array.dtype.hasobject:
        return []
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return in_threads(lambda start, stop: zlib.crc32(data[start:stop].data), even_ranges(len(data)))


# ------------------------------------------------------------------ the process

_SIGNALS = [signal.Signals[f"SIG{name}"] for name in ["INT", "TERM", "HUP", "PIPE", "ALRM", "CHLD", "SEGV", "ABRT"]]


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Put back, at the end of the block, what code can change for its whole process.

    That is the working directory, standard streams, signal handlers and timers, NumPy's error handling, the seeds of
    Python and NumPy, Numba's threads, filters of warnings, tracing, the garbage collector, and the file mode mask.
    """
    process = os.getpid()
    numpy_state, python_state = np.random.get_state(), random.getstate()
    errors, error_call = np.geterr(), np.geterrcall()
    workers = threads()
    collects, thresholds, depth, mask = gc.isenabled(), gc.get_threshold(), sys.getrecursionlimit(), os.umask(0o077)
    os.umask(mask)
    traced, profiled = sys.gettrace(), sys.getprofile()
    folder = ""
    with contextlib.suppress(OSError):  # it may be gone already
        folder = os.getcwd()
    with warnings.catch_warnings(), _streams_kept(), _signals_kept():
        try:
            yield
        finally:
            if os.getpid() != process:  # a fork that it left behind must not go on as we do
                os._exit(1)
            if folder:
                with contextlib.suppress(OSError):
                    os.chdir(folder)
            sys.settrace(traced)
            if sys.getprofile() is not profiled:  # a profiler in C cannot be given back
                sys.setprofile(profiled)
            sys.setrecursionlimit(depth)
            (gc.enable if collects else gc.disable)()
            gc.set_threshold(*thresholds)
            os.umask(mask)
            np.seterrcall(error_call)
            np.seterr(**errors)
            set_threads(workers)
            np.random.set_state(numpy_state)
            random.setstate(python_state)


@contextlib.contextmanager
def _streams_kept() -> Iterator[None]:
    """Put standard streams back, closed ones too: a file opened next would take the place of a closed one."""
    streams = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
    saved = {}
    for number in range(3):
        with contextlib.suppress(OSError):  # closed by the shell
            saved[number] = os.dup(number)
    try:
        yield
    finally:
        for number, copy in saved.items():
            os.dup2(copy, number)
            os.close(copy)
        for number, (name, stream) in enumerate(streams.items()):
            if getattr(stream, "closed", False) and number in saved:
                stream = open(os.dup(number), "r" if number == 0 else "w", errors="replace")  # noqa: SIM115
            setattr(sys, name, stream)


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    ticking = signal.getitimer(signal.ITIMER_REAL)[0] > 0
    try:
        yield
    finally:
        if not ticking:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
