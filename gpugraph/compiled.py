"""Numba's decorators as gpugraph uses them: compiled once, kept in the cache of compiled code, free of the GIL.

Everything compiled goes through here, so that the options stand in one place and mypy sees typed decorators.  Numba is
imported when a compiled function is first called, and not before: many runs call none.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from gpugraph.host import usable_cores

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(function: Function) -> Function:
    """Compile a sequential function."""
    return _compiled(function, parallel=False)


def parallel_njit(function: Function) -> Function:
    """Compile a function whose one ``prange`` loop runs on all threads."""
    return _compiled(function, parallel=True)


def _compiled(function: Function, *, parallel: bool) -> Function:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return function
    return cast(Function, Compiled(function, parallel))


class Compiled:
    """A function that Numba compiles when it is first called."""

    def __init__(self, function: Callable[..., Any], parallel: bool):
        functools.update_wrapper(self, function)
        self._function, self._parallel = function, parallel
        self._made: Any = None
        self._under_way: Any = None

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function."""
        return (self._made or self.dispatcher)(*args)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of Numba's own object."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    @property
    def dispatcher(self) -> Any:
        """Numba's own object, made now if it is not there yet, and so are those of the functions that it calls."""
        with _MAKING:
            if self._made is None and self._under_way is not None:  # it calls itself, or what it calls does
                return self._under_way
            if self._made is None:
                numba_cache = _numba()
                self._under_way = numba_cache.dispatcher_of(self._function, parallel=self._parallel)
                names = self._function.__globals__
                for name in self._function.__code__.co_names:  # Numba knows only what is its own
                    value: Any = names.get(name)
                    if isinstance(value, Compiled):
                        names[name] = value.dispatcher
                    elif any(value is one for one in _NUMBAS):
                        names[name] = getattr(numba_cache, value.__name__)
                self._made = self._under_way  # not before: another thread would call what does not know its callees
            return self._made


_MAKING = threading.RLock()


# ------------------------------------------------------------------ what Numba puts something of its own in place of


def _parallel_range(*bounds: int) -> range:
    """Return the range of a loop that runs on all threads."""
    return range(*bounds)


def compare_and_swap(array: Any, index: int, expected: Any, desired: Any) -> Any:
    """Set ``array[index]`` to ``desired`` if it is ``expected``; return what it was before, in one atomic step.

    Args:
        array: (n,) integers that threads share.
        index: 0 to n−1; not checked.
        expected: cast to the array's dtype.
        desired: likewise.
    """
    before = array[index]
    if before == expected:
        array[index] = desired
    return before


def fetch_min(array: Any, index: int, value: Any) -> Any:
    """Lower ``array[index]`` to ``value`` if that is less; return what it was before, in one atomic step.

    Args:
        array: (n,) integers that threads share, signed or unsigned.
        index: 0 to n−1; not checked.
        value: cast to the array's dtype.
    """
    before = array[index]
    array[index] = min(before, value)
    return before


def load_now(array: Any, index: int) -> Any:
    """Return ``array[index]`` as it is now: read from memory, whatever the compiler has seen of it before.

    Args:
        array: (n,) integers that threads share.
        index: 0 to n−1; not checked.
    """
    return array[index]


_parallel_range.__name__ = "prange"
prange = cast(type[range], _parallel_range)

_NUMBAS = (prange, compare_and_swap, fetch_min, load_now)


# ------------------------------------------------------------------ threads


def _numba() -> Any:
    """Return the module that imports Numba."""
    return importlib.import_module("gpugraph.numba_cache")


def threads() -> int:
    """Return how many threads parallel loops run on."""
    if "gpugraph.numba_cache" in sys.modules:
        return int(_numba().numba.get_num_threads())
    return int(os.environ.get("NUMBA_NUM_THREADS") or usable_cores())


def set_threads(count: int) -> None:
    """Let parallel loops run on ``count`` threads from now on."""
    if "gpugraph.numba_cache" in sys.modules or count != threads():
        _numba().numba.set_num_threads(count)
