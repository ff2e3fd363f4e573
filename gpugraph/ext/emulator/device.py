"""The emulated device: the contract of ``gpugraph.devices.base`` on NumPy arrays and a C++ compiler."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpugraph.base.clock import Clock, HostClock, HostStopwatch
from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.base.host import available_memory, require_memory, total_memory
from gpugraph.devices.base import Arguments, Array, Defines, Grid, Stopwatch, check_copy, read_exactly
from gpugraph.devices.base import Launch as PreparedLaunch
from gpugraph.devices.kernel_source import Source, load_source
from gpugraph.ext.emulator.module import (
    MAX_SHARED_BYTES,
    MAX_THREADS,
    KernelFault,
    Launch,
    Library,
    check_limits,
    library_of,
    pack,
)
from gpugraph.ext.emulator.toolchain import BUILDS, SANITIZED, Build, find_compiler

if TYPE_CHECKING:
    from gpugraph.ext.emulator.races import Race

_LINES = ("-gdwarf-4", "-g1")
"""In tables of version 5 addr2line (binutils 2.40) names a kernel after its temporary file if nothing is included."""
_NULL = "-fno-delete-null-pointer-checks"
"""Without it compilers drop a kernel that accesses a constant null, and nothing reports the access."""


def _of_a_user(source: Source, build: Build) -> tuple[Source, Build]:
    """Return a user's kernels, and how they are built, so that faults are reported and edits seen.

    The source is told to lie where no header is: one that only the compiler found would not be in the key.
    """
    more = () if build.name == "counters" else (*_LINES, _NULL) if build.name == "races" else _LINES
    nowhere = Path(os.devnull, source.path.name)
    return replace(source, path=nowhere), replace(build, kernel=(*build.kernel, *more))


# Arrays are NumPy arrays whose bytes are counted and whose fresh contents are poison.

POISON = 0xCD
"""The byte that fresh memory is filled with, so that a read before any write shows."""

ALIGNMENT = 256
"""Bytes; every allocation of a GPU begins at a multiple of that."""

_NEVER_SHORT = 1 << 20  # bytes; below this, asking the system costs more than it could tell


class HostReply:
    """The reply of a launch that has ended when it returns."""

    def __init__(self) -> None:
        self.word = np.zeros(1, np.uint64)
        self._number = 0

    def expect(self) -> np.uint32:
        self._number += 1
        return np.uint32(self._number)

    def wait(self) -> int:
        number, word = divmod(int(self.word[0]), 1 << 32)
        return word if number == self._number else 0


class LaunchCounts(Protocol):
    """What hears of the work of every launch; ``clock`` is ``Launch.counts``."""

    clock: int

    def add(self, kernel: str, blocks: int, library: Library) -> None:
        """Take what a launch of so many blocks did from the library."""


MULTIPROCESSORS = 4
THREADS_PER_MULTIPROCESSOR = 512
BLOCKS_PER_MULTIPROCESSOR = 16
"""Fewer than any GPU has, so that grids of a few blocks already exceed what is resident."""
RACING = ("harish_narayanan.cu",)
"""Kernels that show what a race does: on a device with a seed, threads take turns after every access."""


class EmulatedKernel:
    """A kernel bound to the device that launches it, and the races that the detector has found in its launches."""

    def __init__(self, device: EmulatedDevice, library: Library, source: Source, name: str, cooperative: bool) -> None:
        self._parameters, bound = library.describe(name)
        self.most_threads = bound or MAX_THREADS
        self.races: list[Race] = []
        self._device, self._library, self._source, self._name = device, library, source, name
        self._cooperative = cooperative

    def __call__(
        self, grid: Grid, block: int, args: Arguments, shared_bytes: int = 0, *, stop: Array | None = None
    ) -> None:
        """Run ``grid`` blocks of ``block`` threads to their end; Ctrl-C, and whatever else a signal's handler throws,
        sets the word ``stop`` and waits for that.

        Raises:
            InputError: the arguments or the shape do not fit the kernel.
            KernelFault: the kernel could not go on.
        """
        resident, shape = self.resident_blocks(block, shared_bytes), grid if isinstance(grid, tuple) else (grid,)
        if self._cooperative and 1 <= block <= MAX_THREADS and math.prod(shape) > resident:
            raise InputError(
                f"{self._name}: {math.prod(shape)} blocks of {block} threads cannot wait for each other, "
                f"{resident} are resident at once",
                remedy="launch at most kernel.resident_blocks(block)",
            )
        if stop is None:
            self.launch(args, shape, (block,), shared_bytes)
            return
        # In a thread, so that this one can be interrupted; then the kernel is told, and its end waited for.
        with ThreadPoolExecutor(1, thread_name_prefix="gpugraph-launch") as pool:
            pool.submit(int).result()  # a thread whose start is interrupted is none that the pool waits for
            try:
                pool.submit(self.launch, args, shape, (block,), shared_bytes).result()
            except BaseException:
                stop[...] = 1
                raise

    def launch(
        self, args: Sequence[object], grid: tuple[int, ...], block: tuple[int, ...], shared_bytes: int = 0
    ) -> None:
        """Run the kernel to its end on arrays, and NumPy scalars of exactly the widths that it takes.

        Grid and block have one to three extents.

        Raises:
            InputError: the arguments do not fit the kernel, or the launch exceeds a limit.
            KernelFault: the kernel could not go on.
        """
        name, library, device = self._name, self._library, self._device
        check_limits(name, grid, block, shared_bytes, self.most_threads)
        how = Launch(
            grid=(*grid, 1, 1)[:3],
            block=(*block, 1, 1)[:3],
            shared_bytes=shared_bytes,
            resident=self.resident_blocks(math.prod(block), shared_bytes),
            workers=device.threads,
            seed=device.next_seed(),
            races=device.build == "races" or device.shuffles_accesses(self._source),
            counts=0 if device.counts is None else device.counts.clock,
        )
        report, found = library.launch(name, pack(name, self._parameters, args, bounds=library.detects_races), how)
        if device.counts is not None:
            device.counts.add(name, math.prod(grid), library)
        if found:
            from gpugraph.ext.emulator.races import describe_races

            self.races += describe_races(name, self._source, library.symbols, found)
        if report:
            from gpugraph.ext.emulator.races import with_source

            what, excerpt = with_source(report, self._source, name)
            fault = KernelFault(what, where=f"kernel {name}")
            fault.excerpt = excerpt
            raise fault

    def prepared(self, grid: int, block: int, last: Arguments, *, stop: Array | None = None) -> PreparedLaunch:
        return lambda *first: self(grid, block, (*first, *last), stop=stop)

    def resident_blocks(self, block: int, shared_bytes: int = 0) -> int:
        by_threads = THREADS_PER_MULTIPROCESSOR // max(1, block)
        by_shared = MAX_SHARED_BYTES // max(1, shared_bytes)
        return self._device.multiprocessors * max(1, min(by_threads, by_shared, BLOCKS_PER_MULTIPROCESSOR))


class EmulatedDevice:
    """Runs kernels without a GPU; of a user's own it checks the bounds of every access, on one thread of the host.

    Args:
        seed: 0 runs threads and blocks in order; any other number shuffles every launch, reproducibly.
        sanitize: build with AddressSanitizer and UBSan, which report memory faults by line and end the process; needs a
            process started by ``python -m gpugraph.ext.emulator.sanitize``, where it is the default.
        races: build with the race detector, which also checks the bounds of every access; ``races()`` tells what it
            found.
        threads: threads of the host that blocks are assigned to; more than one gives up reproducible schedules.

    Raises:
        DeviceUnavailable: there is no C++ compiler, or the process is not set up for ``sanitize``.
        InputError: the options exclude each other.
    """

    kind = "emulated"
    multiprocessors: int = MULTIPROCESSORS
    shared_bytes_per_block = MAX_SHARED_BYTES
    closed = False
    counts: LaunchCounts | None = None
    """Where the work of every launch is counted, in the build ``counters``."""

    def __init__(self, seed: int = 0, sanitize: bool | None = None, races: bool = False, threads: int = 1) -> None:
        self.compiler = find_compiler()
        self.name = f"SIMT emulator, {self.compiler.version}"
        self.seed = seed
        self.threads = threads
        if sanitize is None:
            sanitize = SANITIZED in os.environ and not races and self.threads == 1
        if self.threads < 1 or seed < 0 or sum((sanitize, races, self.threads > 1)) > 1:
            raise InputError(
                f"the emulated device cannot have seed={seed}, sanitize={sanitize}, races={races}, threads={threads}",
                remedy="give a seed of 0 or more, and one of sanitize, races and threads > 1",
            )
        if sanitize:
            from gpugraph.ext.emulator.sanitize import check_running_sanitized

            check_running_sanitized()
        self.build = "sanitize" if sanitize else "races" if races else "threads" if self.threads > 1 else "plain"
        self.reply = HostReply()
        self._used = self._peak = 0  # bytes of arrays that are alive, and their maximum
        self._launches = 0
        self._kernels: dict[tuple[str, str, tuple[tuple[str, str | int], ...], bool], EmulatedKernel] = {}

    # ------------------------------------------------------------------ arrays

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return a fresh array, every byte of it ``POISON``.  Raises OutOfMemory if the host has no room for it."""
        kind = np.dtype(dtype)
        self.require(kind.itemsize * math.prod(shape if isinstance(shape, tuple) else (shape,)))
        array = self._allocate(shape, kind)
        array.reshape(-1).view(np.uint8).fill(POISON)
        self._used += array.nbytes
        self._peak = max(self._peak, self._used)
        memory = array if array.base is None else array.base  # which slices keep alive
        weakref.finalize(memory, self._release, array.nbytes).atexit = False
        return array

    def _allocate(self, shape: int | tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
        """Return memory that begins where a GPU's does, so that every process touches the same sectors."""
        if self.build == "sanitize":  # which watches the ends of what was allocated
            return np.empty(shape, kind)
        size = kind.itemsize * math.prod(shape if isinstance(shape, tuple) else (shape,))
        memory = np.empty(size + ALIGNMENT, np.uint8)
        first = -int(memory.ctypes.data) % ALIGNMENT
        return memory[first : first + size].view(kind).reshape(shape)

    def _release(self, size: int) -> None:
        self._used -= size

    def full(self, shape: int | tuple[int, ...], value: ArrayLike, dtype: DTypeLike) -> Array:
        array = self.empty(shape, dtype)
        array.fill(value)
        return array

    def fill(self, array: Array, value: ArrayLike) -> None:
        array.fill(value)

    def copy(self, target: Array, source: Array) -> None:
        check_copy(target, source)
        np.copyto(target, source.reshape(target.shape))

    def upload_file(self, file: int, offset: int, count: int, dtype: DTypeLike) -> Array:
        made = self.empty(count, dtype)
        read_exactly(file, made.view(np.uint8), offset)
        return made

    def sort(self, words: Array) -> None:
        words.sort()

    def stage(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array itself: there is no faster memory to upload from."""
        return array

    def upload(self, array: NDArray[Any]) -> Array:
        made = self.empty(array.shape, array.dtype)
        np.copyto(made, array)
        return made

    def download(self, array: Array) -> NDArray[Any]:
        return np.array(array)

    def download_counted(self, array: Array, count: Array) -> NDArray[Any]:
        return np.array(array[: int(count[0])])

    def read(self, array: Array, index: int = 0) -> Any:
        """Return one element, counted through all axes, as a NumPy scalar."""
        if not 0 <= index < array.size:
            raise GpuGraphError(f"cannot read element {index} of an array of {array.size}", where="emulated device")
        return array.reshape(-1)[index]

    # ------------------------------------------------------------------ kernels

    def kernel(
        self, file: str, name: str, defines: Defines | None = None, *, cooperative: bool = False
    ) -> EmulatedKernel:
        chosen = tuple(sorted((defines or {}).items()))
        key = (os.fspath(file), name, chosen, cooperative)
        if key not in self._kernels:
            source, swaps = load_source(file), cooperative and self.build == "sanitize"
            # A user's kernels are under test: the build that sees every access checks its bounds.
            watched = not source.ours or self.shuffles_accesses(source)
            build = BUILDS["races" if self.build == "plain" and watched else self.build]
            compiled = (source, build) if source.ours else _of_a_user(source, build)
            library = library_of(compiled[0], chosen, compiled[1], swaps, find_compiler())
            self._kernels[key] = EmulatedKernel(self, library, source, name, cooperative)
        return self._kernels[key]

    def shuffles_accesses(self, source: Source) -> bool:
        """Tell whether threads of a kernel take turns after every access, and not only where they wait."""
        return self.seed > 0 and self.build == "plain" and source.path.name in RACING

    def count_into(self, counts: LaunchCounts | None) -> None:
        """Count the work of the launches that follow, under the schedule of a new device; None ends that.

        Kernels are loaded anew, in the build ``counters``; let their algorithm prepare after the first call.

        Raises:
            InputError: the device was made for something else.
        """
        if self.build not in ("plain", "counters"):
            raise InputError(f"the build '{self.build}' of the emulated device counts no work")
        if self.build == "plain":
            self.build = "counters"
            self._kernels.clear()
        self.counts, self._launches = counts, 0

    def next_seed(self) -> int:
        """Return the seed of the next launch: with a seed on the device, every launch gets its own."""
        self._launches += 1
        if self.seed == 0:
            return 0
        return int(np.random.SeedSequence([self.seed, self._launches]).generate_state(1, np.uint64)[0]) | 1

    def races(self, *, allowed: bool = False) -> list[Race]:
        """Return the races found so far, one per pair of lines, without those explained; all if ``allowed``."""
        if self.build != "races":
            raise InputError("this device does not look for races", remedy="make it with EmulatedDevice(races=True)")
        from gpugraph.ext.emulator.races import unexplained

        found = [race for kernel in self._kernels.values() for race in kernel.races]
        return found if allowed else unexplained(found)

    def recorded(self, launches: Callable[[], None]) -> PreparedLaunch:
        return launches

    def synchronize(self) -> None:
        """Return at once: a launch has ended when it returns, and raised what went wrong."""

    def pinned(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised host array: there is no faster memory."""
        return np.empty(shape, dtype)

    # ------------------------------------------------------------------ clocks and figures

    def stopwatch(self) -> Stopwatch:
        return HostStopwatch()

    def phase_clock(self) -> Clock:
        return HostClock()

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "multiprocessors": self.multiprocessors,
            "build": self.build,
            "seed": self.seed,
            "threads": self.threads,
        }

    def memory(self) -> tuple[int, int]:
        return available_memory(), total_memory()

    def require(self, needed: int) -> None:
        if needed >= _NEVER_SHORT:
            require_memory(needed, "emulated device", "use a smaller graph")

    def reset_peak(self) -> None:
        self._peak = self._used

    def peak_bytes(self) -> int:
        return self._peak

    def close(self) -> None:
        """Forget the kernels; arrays go with the last reference to them."""
        self.closed = True
        self._kernels.clear()
