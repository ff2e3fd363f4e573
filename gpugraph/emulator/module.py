"""Compile a kernel file and launch its kernels: the call shape of ``cupy.RawModule`` on NumPy arrays.

module = SimtModule(path="sum.cu", options=("-DBLOCK=256",))
module.get_function("sum")((grid,), (block,), (array, np.int32(n)), shared_mem=0)
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpugraph.devices.cuda_source import Source, load_source
from gpugraph.emulator.arguments import Packed, Parameter, check_limits, pack
from gpugraph.emulator.races import Race, Symbols, describe_races
from gpugraph.emulator.toolchain import BUILDS, build_library
from gpugraph.errors import DeviceUnavailable, GpuGraphError, InputError, unknown_name

_REPORT_BYTES = 4096


class _Parameter(ctypes.Structure):
    _fields_ = (
        ("bytes", ctypes.c_uint32),
        ("kind", ctypes.c_char),
        ("pointee_bytes", ctypes.c_uint32),
        ("type", ctypes.c_char_p),
    )


class _Kernel(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("parameters", ctypes.c_uint32),
        ("max_threads", ctypes.c_uint32),
        ("parameter", ctypes.POINTER(_Parameter)),
        ("invoke", ctypes.c_void_p),
    )


class _Launch(ctypes.Structure):
    _fields_ = (
        ("kernel", ctypes.POINTER(_Kernel)),
        ("arguments", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint32),
        ("resident", ctypes.c_uint32),
        ("workers", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("extents", ctypes.c_void_p),
        ("extent_count", ctypes.c_uint32),
    )


class RaceRecord(ctypes.Structure):
    """A race as the runtime records it; the meaning is in ``shim/races.h``."""

    _fields_ = (
        ("first_pc", ctypes.c_uint64),
        ("second_pc", ctypes.c_uint64),
        ("first_kind", ctypes.c_uint32),
        ("second_kind", ctypes.c_uint32),
        ("shared", ctypes.c_uint32),
        ("first_thread", ctypes.c_uint32 * 2),
        ("second_thread", ctypes.c_uint32 * 2),
    )


class Library:
    """The kernels of one shared object.

    Raises:
        DeviceUnavailable: it cannot be loaded.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._handle = ctypes.CDLL(str(path))
        except OSError as error:
            raise DeviceUnavailable(
                f"a compiled kernel cannot be loaded: {error}",
                remedy="set GPUGRAPH_CACHE_DIR to a directory from which programs may run",
            ) from None
        self._handle.simt_kernel.restype = ctypes.POINTER(_Kernel)
        self._launch = self._handle.simt_launch
        self._launch.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
        self._kernels = {}
        for i in range(self._handle.simt_count()):
            found = self._handle.simt_kernel(ctypes.c_uint32(i))
            self._kernels[found.contents.name.decode()] = found
        self._lock = threading.Lock()
        self._report = ctypes.create_string_buffer(_REPORT_BYTES)
        self.detects_races = hasattr(self._handle, "simt_take_races")
        self.symbols = Symbols(path)

    def describe(self, name: str) -> tuple[tuple[Parameter, ...], int]:
        """Return a kernel's parameters and the most threads that its ``__launch_bounds__`` allow (0: not said).

        Raises:
            InputError: there is no such kernel.
        """
        if name not in self._kernels:
            raise unknown_name("kernel", name, self._kernels)
        kernel = self._kernels[name].contents
        parameters = tuple(
            Parameter.of(p.bytes, p.kind.decode(), p.pointee_bytes, p.type.decode())
            for p in kernel.parameter[: kernel.parameters]
        )
        return parameters, int(kernel.max_threads)

    def launch(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Packed,
        shared_bytes: int,
        resident: int,
        workers: int,
        seed: int,
    ) -> tuple[str, list[Any]]:
        """Run a kernel; return the report of what went wrong (empty: nothing) and the races found."""
        launch = _Launch(
            self._kernels[name],
            ctypes.addressof(arguments.pointers),
            _extents(grid),
            _extents(block),
            shared_bytes,
            resident,
            workers,
            seed,
            ctypes.addressof(arguments.extents) if arguments.extents is not None else None,
            len(arguments.extents) if arguments.extents is not None else 0,
        )
        with self._lock:
            failed = self._launch(ctypes.addressof(launch), self._report, _REPORT_BYTES)
            report = self._report.value.decode(errors="replace") if failed else ""
            races = self._take_races() if self.detects_races else []
        return self.symbols.replace_marks(report), races

    def _take_races(self) -> list[Any]:
        capacity = 64
        while True:
            records = (RaceRecord * capacity)()
            count = self._handle.simt_take_races(records, ctypes.c_uint32(capacity))
            if count <= capacity:
                return list(records[:count])
            capacity = count


def _extents(shape: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (*shape, 1, 1)[:3]
    return int(x), int(y), int(z)


@functools.cache
def load_library(path: Path) -> Library:
    """Return the library at ``path``, loaded once per process."""
    return Library(path)


class KernelFault(GpuGraphError):
    """A kernel could not go on: a deadlock, a divergent barrier, a bad mask, an endless wait, a failed assertion."""


class SimtKernel:
    """A kernel ready to launch.

    Attributes:
        races: what the race detector has found in its launches.
    """

    def __init__(self, library: Library, source: Source, name: str) -> None:
        self.parameters, self.max_threads = library.describe(name)
        self.name = name
        self.races: list[Race] = []
        self._library = library
        self._source = source

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        shared_mem: int = 0,
        *,
        resident: int = 1 << 20,
        workers: int = 1,
        seed: int = 0,
    ) -> None:
        """Run the kernel to its end.

        Args:
            grid: one to three extents, in blocks.
            block: one to three extents, in threads.
            args: arrays, and NumPy scalars of exactly the widths that the kernel takes.
            shared_mem: bytes of dynamic shared memory per block.
            resident: how many blocks may be under way at once.
            workers: threads of the host; more than one only in the build ``"threads"``.
            seed: 0 runs threads in order; any other number below 2^64 shuffles the schedule, always the same way.

        Raises:
            InputError: the arguments do not fit the kernel, or the launch exceeds a limit.
            KernelFault: the kernel could not go on.
        """
        check_limits(self.name, grid, block, shared_mem, self.max_threads)
        packed = pack(self.name, self.parameters, args, bounds=self._library.detects_races)
        report, races = self._library.launch(self.name, grid, block, packed, shared_mem, resident, workers, seed)
        if races:
            self.races += describe_races(self.name, self._source, self._library.symbols, races)
        if report:
            raise KernelFault(report, where=f"kernel {self.name}")


class SimtModule:
    """A kernel file, compiled when first used; takes the arguments of ``cupy.RawModule`` that make sense here.

    Args:
        path: a file of ``cuda_kernels/``, or the path of a .cu file.
        options: of the compiler; ``-DNAME=VALUE`` alone is meaningful, others are ignored.
        name_expressions: instances of template kernels to compile, e.g. ``"reduce<float, 256>"``.
        build: ``"plain"``, ``"threads"``, ``"sanitize"`` or ``"races"``.
        cooperative: blocks wait for each other.

    Raises:
        InputError: there is no such file or build.
    """

    def __init__(
        self,
        *,
        path: str | os.PathLike[str],
        options: Sequence[str] = (),
        name_expressions: Sequence[str] = (),
        build: str = "plain",
        cooperative: bool = False,
    ) -> None:
        self.source = load_source(path)
        self._defines = dict(_define(option) for option in options if option.startswith("-D"))
        self._expressions = tuple(name_expressions)
        if build not in BUILDS:
            raise unknown_name("build", build, BUILDS)
        self._build = BUILDS[build]
        self._cooperative = cooperative

    @functools.cached_property
    def library(self) -> Library:
        """The compiled file.

        Raises:
            InputError: a user's file does not compile.
            GpuGraphError: a file of gpugraph's own does not compile.
            DeviceUnavailable: there is no compiler.
        """
        path = build_library(
            self.source, self._defines, self._build, cooperative=self._cooperative, expressions=self._expressions
        )
        return load_library(path)

    def get_function(self, name: str) -> SimtKernel:
        """Return the kernel ``name``.

        Raises:
            InputError: the file does not compile or has no such kernel.
        """
        return SimtKernel(self.library, self.source, name)


def _define(option: str) -> tuple[str, str]:
    name, _, value = option[2:].partition("=")
    if not name.isidentifier():
        raise InputError(f"'{option}' does not define a macro", remedy="write -DNAME or -DNAME=VALUE")
    return name, value or "1"
