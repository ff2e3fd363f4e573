"""An array that the CPU and a GPU work on in turns, and the copies between them."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gpugraph.clock import Clock

CPU, GPU = "cpu", "gpu"
"""The two sides."""

_ALONE = {side: frozenset((side,)) for side in (CPU, GPU)}


class TwoSided:
    """An array with a copy on each side that works on it; a copy is made only where the other side has written.

    Args:
        device: the device of the side ``GPU``; unused where only the CPU works on the array.
        sides: the sides that work on it.

    Attributes:
        host: (size,) the NumPy array of the side ``CPU``, pinned if both work on it; as of the last ``bring`` to it.
        there: (size,) the array of the side ``GPU``; likewise.
    """

    def __init__(self, device: Any, size: int, dtype: DTypeLike, sides: Set[str]):
        both = CPU in sides and GPU in sides
        self._device = device
        self._copies: Any = device.copy_stream() if both else None
        self._current = frozenset(sides)
        self.host: Any = None
        if CPU in sides:
            self.host = device.pinned(size, dtype) if both else np.empty(size, dtype)
        self.there: Any = device.empty(size, dtype) if GPU in sides else None

    def bring(self, side: str, clock: Clock) -> None:
        """Make the copy of ``side`` current; a transfer is the phase ``to_cpu`` or ``to_gpu``, its bytes a counter."""
        if side in self._current:
            return
        with clock.phase(f"to_{side}"):
            if side == CPU:
                self._copies.wait_for(self._device.mark())
                self._copies.download(self.host, self.there)
            else:
                self._copies.upload(self.there, self.host)
            self._copies.mark().wait()
        clock.count(f"bytes_to_{side}", self.host.nbytes)
        self._current |= {side}

    def wrote(self, side: str) -> None:
        """Note that ``side`` has changed its copy, so that the other is no longer current."""
        self._current = _ALONE[side]

    def fetch(self) -> Any:
        """Return the current contents as a NumPy array."""
        return self.host if CPU in self._current else self._device.download(self.there)
