"""Numba's decorators as gpugraph uses them: compiled once, cached on disk, free of the GIL.

Everything compiled goes through here, so that the options stand in one place and mypy sees typed decorators.
The cache lives beside the source, or in Numba's user-wide directory where that is not writable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

prange: type[range] = numba.prange


def njit(function: Function) -> Function:
    """Compile a sequential function."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def parallel_njit(function: Function) -> Function:
    """Compile a function whose one ``prange`` loop runs on all threads."""
    return cast(Function, numba.njit(cache=True, nogil=True, parallel=True)(function))


class _CompileTime(event.Listener):
    """Adds up the time that any thread spends under Numba's compiler lock: compiling, or loading compiled code."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._start = 0.0
        self.seconds = 0.0

    def on_start(self, _: Any) -> None:
        with self._lock:
            if self._depth == 0:
                self._start = time.perf_counter()
            self._depth += 1

    def on_end(self, _: Any) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - self._start


_COMPILE_TIME = _CompileTime()
event.register("numba:compiler_lock", _COMPILE_TIME)  # type: ignore[no-untyped-call]


def compile_seconds() -> float:
    """Return the seconds that this process has spent so far on compiling and on loading compiled code."""
    return _COMPILE_TIME.seconds


def threads() -> int:
    """Return how many threads parallel loops run on."""
    return int(numba.get_num_threads())


def set_threads(count: int) -> None:
    """Let parallel loops run on ``count`` threads from now on."""
    numba.set_num_threads(count)
