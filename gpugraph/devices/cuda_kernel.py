"""One loaded kernel of a GPU, with everything that can be checked before a launch checked once.

Arguments are device arrays and NumPy scalars.  A Python number has no width, and CuPy passes an int as eight
bytes whatever the kernel wants, so it is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.devices.base import KernelArgumentError
from gpugraph.devices.cuda_runtime import translate, translated

_MAX_GRID = 2**31 - 1
_PLAIN_SHARED_BYTES = 48 * 1024  # more has to be asked for, kernel by kernel


class CudaKernel:
    """Launches one kernel on its device's stream.

    The first launch with a combination of block size, shared memory and argument types is checked; later
    ones cost a set lookup.  The grid is launched exactly as asked for or not at all: CuPy by itself shrinks a
    cooperative one to what is resident.

    Args:
        device: its CudaDevice; ``last_kernel`` there is set, for the message should the kernel fail.
        raw: CuPy's RawKernel.
        sizes: bytes of each parameter, or None where the cubin does not tell.
    """

    def __init__(self, device: Any, name: str, raw: Any, sizes: tuple[int, ...] | None, *, cooperative: bool):
        self._device = device
        self._raw = raw
        self._sizes = sizes
        self._cooperative = cooperative
        self._stream = device.stream
        self._limits: dict[tuple[Any, ...], int] = {}
        self._resident: dict[tuple[int, int], int] = {}
        self.name = name
        with translated(device.label, f"loading {name}"):
            self._function = raw.kernel
            self._max_block = int(raw.max_threads_per_block)

    def __call__(
        self, grid: int, block: int, args: tuple[Any, ...], shared_bytes: int = 0, *, stop: Any = None
    ) -> None:
        """Launch ``grid`` blocks of ``block`` threads; returns before the kernel has ended.

        Whoever waits for the device then is interrupted by Ctrl-C, which sets the word ``stop``.

        Raises:
            KernelArgumentError: the arguments do not fit the kernel, or the grid or block does not fit the GPU.
        """
        signature = (block, shared_bytes, *map(type, args))
        limit = self._limits.get(signature)
        if limit is None:
            limit = self._limits[signature] = self._admit(block, args, shared_bytes)
        if not 0 < grid <= limit:
            self._refuse(grid, block, limit)
        device = self._device
        device.last_kernel = self.name
        try:
            self._function((grid,), (block,), args, shared_bytes, self._stream, self._cooperative)
        except Exception as error:
            ours = translate(error, device=device.label, doing=f"launching {self.name}")
            if ours is None:
                raise
            raise ours from error
        if stop is not None:
            device.interrupts.add(stop.data.ptr)

    def resident_blocks(self, block: int, shared_bytes: int = 0) -> int:
        """Return how many blocks of ``block`` threads fit on the whole device at once."""
        key = (block, shared_bytes)
        if key not in self._resident:
            self._allow_shared(shared_bytes)
            occupancy = self._device.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
            with translated(self._device.label, f"asking for the occupancy of {self.name}"):
                each = int(occupancy(self._function.ptr, block, shared_bytes))
            self._resident[key] = each * self._device.multiprocessors
        return self._resident[key]

    def _admit(self, block: int, args: tuple[Any, ...], shared_bytes: int) -> int:
        """Check all but the grid; return the largest grid that may be launched."""
        check_arguments(self.name, args, self._device.cupy.ndarray, self._sizes)
        if not 0 < block <= self._max_block:
            raise KernelArgumentError(
                f"a block of {block} threads, the kernel can have 1 to {self._max_block}",
                where=self.name,
                remedy="choose another block size",
            )
        self._allow_shared(shared_bytes)
        return self.resident_blocks(block, shared_bytes) if self._cooperative else _MAX_GRID

    def _allow_shared(self, shared_bytes: int) -> None:
        if shared_bytes > _PLAIN_SHARED_BYTES and shared_bytes > self._raw.max_dynamic_shared_size_bytes:
            with translated(self._device.label, f"asking for {shared_bytes:,} bytes of shared memory"):
                self._raw.max_dynamic_shared_size_bytes = shared_bytes

    def _refuse(self, grid: int, block: int, limit: int) -> None:
        what = f"a grid of {grid} blocks of {block} threads, "
        if self._cooperative and grid > limit:
            raise KernelArgumentError(
                f"{what}but only {limit} are resident together", where=self.name, remedy="ask resident_blocks()"
            )
        raise KernelArgumentError(f"{what}allowed are 1 to {limit}", where=self.name, remedy="correct the launch")


def check_arguments(kernel: str, args: tuple[Any, ...], array_type: Any, sizes: tuple[int, ...] | None) -> None:
    """Check the number, kinds and widths of a kernel's arguments.

    Args:
        kernel: its name, for messages.
        args: what it is launched with.
        array_type: the class of the device's arrays.
        sizes: bytes of each parameter as the compiled kernel has them, or None where that is not known.

    Raises:
        KernelArgumentError: they do not fit.
    """
    if sizes is not None and len(args) != len(sizes):
        raise KernelArgumentError(
            f"{len(args)} arguments are given, the kernel takes {len(sizes)}", where=kernel, remedy="correct the launch"
        )
    for position, value in enumerate(args):
        where = f"{kernel}, argument {position}"
        if isinstance(value, array_type):
            width = 8
            if not value.flags.c_contiguous:
                raise KernelArgumentError("the array is not contiguous", where=where, remedy="pass a contiguous slice")
        elif isinstance(value, np.generic) and value.dtype.kind in "biuf":
            width = value.dtype.itemsize
        else:
            raise KernelArgumentError(
                f"a {type(value).__name__} has no width that a kernel could rely on",
                where=where,
                remedy="pass a device array or a NumPy scalar such as np.int32(n)",
            )
        if sizes is not None and width != sizes[position]:
            kind = "an array" if isinstance(value, array_type) else f"{value.dtype}"
            raise KernelArgumentError(
                f"{kind} is {width} bytes, the kernel takes {sizes[position]}", where=where, remedy="correct the type"
            )
