"""Memory of the emulated device, and copies between it and the host.

Arrays are NumPy arrays whose bytes are counted and whose fresh contents are poison.  A copy is made at once, in the
order of the calls, and so does not show that a driver waits for too little.
"""

from __future__ import annotations

import math
import time
import weakref
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.devices.base import Mark, check_copy
from gpugraph.host import require_memory

POISON = 0xCD
"""The byte that fresh memory is filled with, so that a read before any write shows."""


class Memory:
    """Allocates arrays and counts the bytes that are alive."""

    def __init__(self) -> None:
        self.used = 0
        self.peak = 0

    def allocate(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a fresh array filled with poison.

        Raises:
            OutOfMemory: the host has no room for it.
        """
        kind = np.dtype(dtype)
        self.require(kind.itemsize * math.prod(shape if isinstance(shape, tuple) else (shape,)))
        array: NDArray[Any] = np.empty(shape, kind)
        array.reshape(-1).view(np.uint8).fill(POISON)
        self.used += array.nbytes
        self.peak = max(self.peak, self.used)
        weakref.finalize(array, self._release, array.nbytes).atexit = False
        return array

    def require(self, needed: int) -> None:
        """Check that ``needed`` more bytes fit.

        Raises:
            OutOfMemory: they do not; the message gives both figures.
        """
        if needed >= _NEVER_SHORT:
            require_memory(needed, "emulated device", "use a smaller graph")

    def _release(self, size: int) -> None:
        self.used -= size


_NEVER_SHORT = 1 << 20  # below this, asking the system costs more than it could tell


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
        check_copy(target, source)
        np.copyto(target, source)

    def download(self, target: NDArray[Any], source: NDArray[Any]) -> None:
        """Copy at once."""
        check_copy(target, source)
        np.copyto(target, source)

    def wait_for(self, mark: Mark) -> None:
        """Return at once: what was marked is done."""

    def mark(self) -> HostMark:
        """Return the mark."""
        return HostMark()
