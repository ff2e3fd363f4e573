"""A compiled kernel file in this process: what it holds, and the calls into it."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpugraph.emulator.arguments import Packed, Parameter
from gpugraph.emulator.code_places import Symbols
from gpugraph.errors import DeviceUnavailable, unknown_name

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
