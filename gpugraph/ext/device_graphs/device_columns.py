"""Columns of an arc list on the device that will build their rows, in the parts in which they were sent.

Host code that needs one after all asks for it, ``on_host``; what is done to the ids on the device takes the kernels at
the end of ``cuda_kernels/build.cu``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import INDICES, KernelFile

_FILE = KernelFile("build.cu", INDICES)


class DeviceColumn:
    """A column of numbers on a device in parts, in order, one at least, all of one dtype; of ids, int32."""

    def __init__(self, device: Device, parts: list[Array]):
        self.device, self.parts = device, parts
        self.dtype: np.dtype[Any] = np.dtype(parts[0].dtype)
        self._size = sum(int(part.size) for part in parts)

    def __len__(self) -> int:
        return self._size

    def on_host(self) -> NDArray[Any]:
        """Return a copy, in one piece."""
        return np.concatenate([self.device.download(part) for part in self.parts])

    def subtract(self, number: int) -> None:
        """Make every id less."""
        for part in self.parts:
            self._launch("less", part, np.int32(number))

    def mark(self, present: Array) -> None:
        """Write 1 to the place of every id in ``present``, (largest id + 1,) uint8."""
        for part in self.parts:
            self._launch("mark", part, present)

    def renumber(self, numbers: Array) -> None:
        """Replace every id by its number, one of (largest id + 1,) int32."""
        for part in self.parts:
            self._launch("renumber", part, numbers)

    def _launch(self, name: str, part: Array, *arguments: Any) -> None:
        _FILE.launch(self.device, name, int(part.size), np.int64(part.size), part, *arguments)
