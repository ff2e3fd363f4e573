"""Arrays of the emulated device: NumPy arrays whose bytes are counted and whose fresh contents are poison."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

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
