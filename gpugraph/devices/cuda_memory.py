"""Device memory with an account: what is allocated, its peak, and everything freed at the end.

CuPy's pool is not used: freed bytes go back to the driver at once, so that the figures are those of the
arrays alive and a memory checker sees every array's bounds.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gpugraph.devices.cuda_runtime import does_not_fit, translated


class _Allocation:
    """Owns one allocation and frees it when the last array on it goes."""

    __slots__ = ("__weakref__", "memory", "pointer", "size")

    def __init__(self, memory: DeviceMemory, pointer: int, size: int):
        self.memory = memory
        self.pointer = pointer
        self.size = size

    def free(self) -> None:
        pointer, self.pointer = self.pointer, 0
        if pointer:
            self.memory.release(pointer, self.size)

    def __del__(self) -> None:
        self.free()


class DeviceMemory:
    """Allocates arrays on one GPU and keeps the account.

    Args:
        cupy: the CuPy module.
        device: e.g. ``"cuda:0"``, for messages.
    """

    def __init__(self, cupy: Any, index: int, device: str):
        self._cupy = cupy
        self._runtime = cupy.cuda.runtime
        self._index = index
        self._device = device
        self._live: weakref.WeakSet[_Allocation] = weakref.WeakSet()
        self.allocated = 0
        self.peak = 0

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an uninitialised CuPy array; its pointer is valid even where it has no elements.

        Raises:
            OutOfMemory: it does not fit; the message gives both figures.
        """
        shape = (shape,) if isinstance(shape, int) else tuple(map(int, shape))
        size = max(1, math.prod(shape) * np.dtype(dtype).itemsize)
        return self._cupy.ndarray(shape, np.dtype(dtype), self._block(size))

    def for_cupy(self) -> Any:
        """Return a context in which CuPy's own functions take their memory from here too."""
        return self._cupy.cuda.using_allocator(lambda size: self._block(max(1, int(size))))

    def _block(self, size: int) -> Any:
        """Return CuPy's pointer to fresh memory, freed when the last reference to it goes."""
        runtime = self._runtime
        with translated(self._device, f"allocating {size:,} bytes"):
            runtime.setDevice(self._index)
            try:
                pointer = runtime.malloc(size)
            except runtime.CUDARuntimeError as error:
                if error.status != 2:
                    raise
                raise does_not_fit(size, *self.figures(), self._device) from None
        owner = _Allocation(self, pointer, size)
        self._live.add(owner)
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        memory = self._cupy.cuda.memory
        return memory.MemoryPointer(memory.UnownedMemory(pointer, size, owner, self._index), 0)

    def release(self, pointer: int, size: int) -> None:
        """Give memory back to the driver; called by the allocations themselves."""
        self.allocated -= size
        try:
            self._runtime.free(pointer)
        except Exception:  # after a failed kernel, or while Python ends, the driver has freed everything already
            return

    def figures(self) -> tuple[int, int]:
        """Return (free, total) bytes of the GPU's memory."""
        with translated(self._device, "asking for its memory"):
            self._runtime.setDevice(self._index)
            free, total = self._runtime.memGetInfo()
        return int(free), int(total)

    def require(self, needed: int) -> None:
        """Raise OutOfMemory with both figures unless ``needed`` more bytes are free."""
        free, total = self.figures()
        if needed > free:
            raise does_not_fit(needed, free, total, self._device)

    def close(self) -> None:
        """Free every array that is still alive; they must not be used afterwards."""
        for allocation in list(self._live):
            allocation.free()
