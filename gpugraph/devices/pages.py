"""Pinned memory made quickly: pages touched by many threads first, then pinned as they lie.

The driver's own allocation has one thread fault and clear every page, which takes longer than the copy into
them; for pages that are there already, pinning is little more than counting.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PAGE = 4096
_LARGE = 8 << 20  # bytes from which the threads pay


class PinnedPages:
    """Allocates and frees pinned memory.

    Args:
        runtime: CuPy's ``cuda.runtime``.
        in_parallel: ``in_parallel(function, size)`` calls ``function(start, stop)`` for pieces of ``range(size)`` on
            several threads.
    """

    def __init__(self, runtime: Any, in_parallel: Callable[[Callable[[int, int], None], int], None]):
        self._runtime = runtime
        self._in_parallel = in_parallel
        self._regions: dict[int, mmap.mmap] = {}

    def allocate(self, size: int) -> int:
        """Return the address of ``size`` bytes of pinned memory; raise CuPy's error where there is none."""
        if size >= _LARGE:
            try:
                return self._touch_and_pin(size)
            except (self._runtime.CUDARuntimeError, OSError, ValueError):
                pass  # not every system lets a process pin its own pages: the driver may still have some
        return int(self._runtime.hostAlloc(size, 0))

    def free(self, address: int) -> None:
        """Free what ``allocate`` returned."""
        region = self._regions.pop(address, None)
        try:
            if region is None:
                self._runtime.freeHost(address)
            else:
                self._runtime.hostUnregister(address)  # unmapped with the last reference to the region
        except self._runtime.CUDARuntimeError:
            return  # after a failed kernel the driver has let go of everything already

    def _touch_and_pin(self, size: int) -> int:
        region = mmap.mmap(-1, size)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # small pages do too
                region.madvise(mmap.MADV_HUGEPAGE)
        address = ctypes.addressof(ctypes.c_uint8.from_buffer(region))
        cells: NDArray[np.uint8] = np.frombuffer(region, np.uint8)

        def touch(start: int, stop: int) -> None:
            cells[start:stop:_PAGE] = 0

        self._in_parallel(touch, size)
        self._runtime.hostRegister(address, size, 0)
        self._regions[address] = region
        return address
