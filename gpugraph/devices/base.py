"""The contract between algorithms and devices.

A driver allocates, uploads and launches through ``Device`` and never asks which kind it runs on.  Arrays are
CuPy arrays on ``cuda`` and NumPy arrays on ``emulated``; of them a driver uses only ``dtype``, ``size``,
``nbytes``, ``shape``, basic slicing and ``view(dtype)``.  Scalars are passed to kernels typed: ``np.int32(n)``.

A device runs its kernels on one stream; ``ext/papers/copies.py`` has others for copies beside them.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.errors import GpuGraphError, InputError

Array = Any
Arguments = tuple[Array | np.generic, ...]
"""Of a kernel: arrays of the device, and typed scalars."""
Defines = Mapping[str, str | int]
Grid = int | tuple[int, int]
Launch = Callable[..., None]
"""Launches with the arguments that are still missing, the first, typed scalars; returns before the kernel has ended."""


class KernelArgumentError(InputError):
    """An argument is not what the kernel takes; the message names kernel, position, and both widths."""


class KernelCompileError(GpuGraphError):
    """A kernel file does not compile; exit code 2 for a user's own file, 70 for one of ours."""

    def __init__(self, what: str, *, where: str, remedy: str, log: str, ours: bool):
        super().__init__(what, where=where, remedy=remedy)
        self.log = log
        self.exit_code = GpuGraphError.exit_code if ours else InputError.exit_code


class Kernel(Protocol):
    """A compiled kernel."""

    most_threads: int
    """Threads that a block may have: what its ``__launch_bounds__`` say, or less."""

    def __call__(
        self, grid: Grid, block: int, args: Arguments, shared_bytes: int = 0, *, stop: Array | None = None
    ) -> None:
        """Launch ``grid`` blocks (or blocks of a row, and rows) of ``block`` threads; returns before they have ended.

        A block has ``shared_bytes`` of dynamic shared memory.  ``stop`` is a word (1,) uint32 on the device, 0 now,
        that the kernel looks at while it runs; Ctrl-C sets it, and ends a launch that would take long.
        """

    def prepared(self, grid: int, block: int, last: Arguments, *, stop: Array | None = None) -> Launch:
        """Return launches that differ in their first arguments only, so that little is left to do for each.

        ``last`` are the arguments behind those; the others are as above.
        """

    def resident_blocks(self, block: int, shared_bytes: int = 0) -> int:
        """Return how many blocks of ``block`` threads fit on the whole device at once."""


class Reply(Protocol):
    """A word of the host's that kernels write: the quickest way to tell it what it has to know before it goes on.

    The kernel is given ``word`` and a number, and in the end calls ``reply()`` of common.cuh.
    """

    word: Array
    """(1,) uint64, an argument of a kernel."""

    def expect(self) -> np.uint32:
        """Return the number of the launch that follows."""

    def wait(self) -> int:
        """Return the 32 bits that the kernel has written; waits for them, and not for the end of the kernel.

        It is 0 where the launch was stopped before it wrote anything.
        """


class Stopwatch(Protocol):
    """Times one region of work in stream order."""

    def start(self) -> None:
        """Mark the beginning."""

    def stop(self) -> None:
        """Mark the end."""

    @property
    def seconds(self) -> float:
        """Seconds between the two marks; waits for the work between them."""


class Device(Protocol):
    """A device that runs the kernels of ``cuda_kernels/``."""

    kind: str
    """``"cuda"`` or ``"emulated"``."""
    name: str
    """The device's own name, e.g. ``"NVIDIA H200"``."""
    multiprocessors: int
    shared_bytes_per_block: int
    """The most shared memory that a block can have, static and dynamic together."""
    closed: bool
    """``close`` was called: the arrays are gone."""

    @property
    def reply(self) -> Reply:
        """By which launches tell the host something, one after the other."""

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return an uninitialised array on the device."""

    def full(self, shape: int | tuple[int, ...], value: ArrayLike, dtype: DTypeLike) -> Array:
        """Return an array filled with ``value``."""

    def fill(self, array: Array, value: ArrayLike) -> None:
        """Set every element of ``array`` to ``value``, in stream order."""

    def copy(self, target: Array, source: Array) -> None:
        """Copy one device array over another of the same size, in stream order."""

    def upload(self, array: NDArray[Any]) -> Array:
        """Return a copy of a host array on the device."""

    def upload_file(self, file: int, offset: int, count: int, dtype: DTypeLike) -> Array:
        """Return (count,) elements of an open file from byte ``offset`` on, read and copied by turns.

        Raises EOFError if the file ends before the last of them, OSError if it cannot be read.
        """

    def sort(self, words: Array) -> None:
        """Put (k,) uint64 into ascending order, in place; OutOfMemory unless as much memory again is free."""

    def stage(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array in memory from which ``upload`` is fast (pinned on cuda; itself on emulated)."""

    def download(self, array: Array) -> NDArray[Any]:
        """Return a copy of a device array on the host; waits for the work before it."""

    def download_counted(self, array: Array, count: Array) -> NDArray[Any]:
        """Return a copy of the first elements of a flat device array; ``count``, (1,) uint32 there, tells how many.

        A small array comes whole and together with its count, so that the host waits once.
        """

    def read(self, array: Array, index: int = 0) -> Any:
        """Return one element as a NumPy scalar: the read-back that a host loop cannot do without."""

    def kernel(self, file: str, name: str, defines: Defines | None = None, *, cooperative: bool = False) -> Kernel:
        """Return the kernel ``name`` of ``cuda_kernels/<file>``, or of a user's own file, compiled with defines.

        All blocks of a ``cooperative`` one are resident together, so that they may wait for each other.

        Raises:
            DeviceUnavailable: the compiler is missing.
            GpuGraphError: the source does not compile; the message holds the first diagnostic.
        """

    def recorded(self, launches: Callable[[], None]) -> Launch:
        """Return one launch that repeats what ``launches`` launches, with the same arguments: a CUDA graph on cuda.

        ``launches`` must neither wait for the device nor be the first to use a kernel.
        """

    def synchronize(self) -> None:
        """Wait until everything launched has ended; raise what went wrong in it."""

    def pinned(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised host array that is copied beside the kernels."""

    def stopwatch(self) -> Stopwatch:
        """Return a stopwatch (events on cuda, the host's clock on emulated)."""

    def require(self, needed: int) -> None:
        """Check that ``needed`` more bytes fit.  Raises OutOfMemory if they do not."""

    def close(self) -> None:
        """Free every array and whatever else the device holds."""

    def phase_clock(self) -> Clock:
        """Return a clock that times inner phases (events on cuda, the host's clock on emulated)."""

    def describe(self) -> dict[str, Any]:
        """Return the ``device`` object of a record: kind, name and what matters for speed."""

    def memory(self) -> tuple[int, int]:
        """Return (free, total) bytes of device memory."""

    def reset_peak(self) -> None:
        """Forget the peak of allocated bytes."""

    def peak_bytes(self) -> int:
        """Return the peak of bytes allocated through this device since ``reset_peak``."""


BLOCKS_PER_MULTIPROCESSOR = 16
"""Blocks of a grid-stride launch for each multiprocessor: enough to fill it, whatever the kernel's needs."""


def covering_grid(device: Device, threads: int, block: int) -> int:
    """Return the number of blocks for a grid-stride kernel that has ``threads`` threads' worth of work."""
    return max(1, min(-(-threads // block), device.multiprocessors * BLOCKS_PER_MULTIPROCESSOR))


class InTurns:
    """Launches on words that have to be 0: each uses one set of them, and clears another for the one behind it.

    So nothing is filled before a launch, but before the first, and behind one that failed.  ``prepare(set, set to
    clear)`` returns the launch, and ``own`` is the set of the last.
    """

    def __init__(self, device: Device, sets: tuple[Array, Array], prepare: Callable[[Array, Array], Launch]):
        self._device, self._sets = device, sets
        self._launches = prepare(*sets), prepare(*sets[::-1])
        self._turn, self._clear = 0, False
        self.own = sets[0]

    def __call__(self, *first: np.generic) -> None:
        """Launch with these as the first arguments."""
        if not self._clear:
            for words in self._sets:
                self._device.fill(words, 0)
        self._clear = False  # until the launch is under way: Ctrl-C may be quicker
        turn, self._turn = self._turn, 1 - self._turn
        self.own = self._sets[turn]
        self._launches[turn](*first)
        self._clear = True


def read_exactly(file: int, target: NDArray[np.uint8], offset: int) -> None:
    """Fill bytes from ``offset`` of an open file, beside other threads.  Raises EOFError if it ends before, OSError."""
    view = target.data
    while len(view):
        read = os.preadv(file, [view], offset)
        if not read:
            raise EOFError(f"the file ends at byte {offset}")
        view, offset = view[read:], offset + read


def check_copy(target: Array, source: Array) -> None:
    """Refuse a copy between arrays that differ in size or dtype, or are not contiguous."""
    if target.size != source.size or target.dtype != source.dtype:
        what = f"cannot copy {source.size} elements of {source.dtype} over {target.size} of {target.dtype}"
        raise GpuGraphError(what)
    if not (target.flags.c_contiguous and source.flags.c_contiguous):
        raise GpuGraphError("a copied array is not contiguous", remedy="pass contiguous slices")
