"""Numba's decorators as gpugraph uses them: compiled once, cached on disk, free of the GIL.

Everything compiled goes through here, so that the options stand in one place and mypy sees typed decorators.
The cache lives beside the source, or in Numba's user-wide directory where that is not writable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

prange: type[range] = numba.prange


def njit(function: Function) -> Function:
    """Compile a sequential function."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def parallel_njit(function: Function) -> Function:
    """Compile a function whose one ``prange`` loop runs on all threads."""
    return cast(Function, numba.njit(cache=True, nogil=True, parallel=True)(function))


def threads() -> int:
    """Return how many threads parallel loops run on."""
    return int(numba.get_num_threads())
