"""The common part of scans on a device: the resident array, and the launches of ``cuda_kernels/prefix_scan.cu``."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import KernelFile, product
from gpugraph.ext.scan.array import ArrayInput


class ResidentArray:
    """The elements on a device.

    A scan in place leaves its result where the elements were; whoever scans next calls ``renew`` first.  The elements
    then come from the host again: the device never holds them twice, and a scan in place can show what it saves.

    Attributes:
        values: (n,) the elements, or what a scan in place made of them.
        heads: (n,) uint8 heads of segments, or None.
    """

    def __init__(self, host: ArrayInput, device: Device, staged: NDArray[Any], heads: NDArray[np.uint8] | None):
        self.host, self.device, self._staged = host, device, staged
        self.values: Array = device.upload(staged)
        self.heads: Array | None = None if heads is None else device.upload(heads)
        self._overwritten = False

    @property
    def elements(self) -> int:
        """Number of elements, n."""
        return self.host.elements

    def overwrite(self) -> Array:
        """Return ``values`` to be scanned in place."""
        self._overwritten = True
        return self.values

    def renew(self) -> None:
        """Bring the elements back if a scan has overwritten them."""
        if self._overwritten:
            self.values = None  # freed first
            self.values = self.device.upload(self._staged)
            self._overwritten = False


def place(view: ArrayInput, device: Device) -> tuple[ResidentArray, float, float]:
    """Return an array on a device, the seconds of staging, and of the rest; raise OutOfMemory if it does not fit."""
    device.require(view.nbytes + (0 if view.heads is None else view.heads.nbytes))
    start = time.perf_counter()
    staged = device.stage(view.values)
    heads = None if view.heads is None else device.stage(view.heads)
    stage_s = time.perf_counter() - start
    watch = device.stopwatch()
    watch.start()
    resident = ResidentArray(view, device, staged, heads)
    watch.stop()
    return resident, stage_s, watch.seconds


ELEMENTS = ("uint32", "uint64", "float32", "float64")
FILE = KernelFile(
    "prefix_scan.cu",
    [
        *product(ELEMENT=ELEMENTS, VECTORS=(4, 8)),
        *product(ELEMENT=("uint32", "float64"), NETWORK=(1, 2, 3)),
        *product(ELEMENT=("uint32", "uint64"), BLOCK=(128,), VECTORS=(2,)),
        *product(ELEMENT=("uint32", "uint64"), BLOCK=(512,), VECTORS=(8,)),
    ],
)


class Tiles:
    """The kernels for one type of element and size of tile, the defines of prefix_scan.cu."""

    def __init__(self, device: Device, defines: dict[str, str | int]):
        self.device, self.threads = device, int(defines["BLOCK"])
        self.dtype = np.dtype(str(defines["ELEMENT"]))
        self.tile = self.threads * int(defines["VECTORS"]) * 16 // self.dtype.itemsize
        self.kernels = load_kernels(defines, device)
        self.launches = self.written = 0  # of sums and elements, how many were written

    def launch(self, name: str, grid: int, *args: object, shared_bytes: int = 0) -> None:
        """Launch the kernel ``scan_<name>``."""
        self.kernels[name](grid, self.threads, args, shared_bytes)
        self.launches += 1

    def resident(self, *names: str) -> int:
        """Return how many blocks are resident, whichever of the kernels runs."""
        return min(self.kernels[name].resident_blocks(self.threads) for name in names)

    def tiles_of(self, n: int) -> int:
        """Return how many tiles n elements take."""
        return -(-n // self.tile)

    def sum_ranges(self, source: Array, n: int, sums: Array, blocks: int) -> None:
        """Let every block add up its range of tiles."""
        self.launch("sums", blocks, np.int64(n), source, sums)
        self.written += blocks

    def scan_ranges(self, arrays: tuple[Array, Array], n: int, blocks: int, exclusive: bool, **sums: Array) -> None:
        """Let every block scan its range of tiles of ``arrays``, the source and the target.

        It begins with what is in ``prefixes``, and writes its sum to ``totals``, where these are given.
        """
        args: list[Any] = [np.int64(n), np.int32(exclusive), *arrays]
        for name in ("prefixes", "totals"):
            args += [np.int32(name in sums), sums.get(name, arrays[1])]
        self.launch("tiles", blocks, *args)
        self.written += n + blocks * ("totals" in sums)


class OffsetScan(Tiles):
    """Exclusive sums of ``most`` counts at most, uint32 or uint64, for algorithms that need offsets."""

    def __init__(self, device: Device, dtype: np.dtype[Any], most: int):
        super().__init__(device, offset_defines(dtype))
        self._blocks = max(1, min(self.tiles_of(most), self.resident("sums", "tiles")))
        self._sums = device.empty(self._blocks, dtype)

    def __call__(self, counts: Array, offsets: Array, n: int) -> None:
        """Write the sum of what precedes each of n counts, in three launches, or in one where one tile holds all."""
        arrays = counts, offsets
        if n <= self.tile:
            self.scan_ranges(arrays, n, 1, exclusive=True)
            return
        blocks = min(self._blocks, self.tiles_of(n))
        self.sum_ranges(counts, n, self._sums, blocks)
        self.scan_ranges((self._sums, self._sums), blocks, 1, exclusive=True)
        self.scan_ranges(arrays, n, blocks, exclusive=True, prefixes=self._sums)


def offset_defines(dtype: np.dtype[Any]) -> dict[str, str | int]:
    """Return the defines of an OffsetScan."""
    return {"ELEMENT": dtype.name, "BLOCK": 256, "VECTORS": 4, "NETWORK": 0}


def load_kernels(defines: dict[str, str | int], device: Device) -> dict[str, Kernel]:
    """Return the kernels of prefix_scan.cu, compiled if need be."""
    without = ("look_back",) if defines["NETWORK"] else ()
    return FILE.kernels(device, defines, without=without, cooperative=("look_back",))
