"""The kernels of a compiled file, launched on NumPy arrays.

On a GPU an argument of the wrong width is silent garbage; here it is refused, in the words of the kernel's parameters.
"""

from __future__ import annotations

import ctypes
import functools
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError, unknown_name
from gpugraph.base.host import ForkLock
from gpugraph.devices.base import KernelArgumentError
from gpugraph.devices.kernel_source import Source
from gpugraph.ext.emulator.toolchain import Build, Compiler, build_library

if TYPE_CHECKING:
    from gpugraph.ext.emulator.races import RaceRecord, Symbols

MAX_THREADS = 1024
MAX_SHARED_BYTES = 227 << 10
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)

_KINDS = {"i": "iub", "u": "iub", "f": "f", "s": "V"}
_KIND_NAMES = {"i": "an integer", "u": "an integer", "f": "a real number", "s": "a structure"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel.

    Attributes:
        width: bytes.
        kind: ``p`` pointer, ``i`` signed, ``u`` unsigned, ``f`` real, ``s`` structure.
        pointee: bytes of what a pointer points to, 0 if that is not a number.
        type: the type as the compiler writes it, e.g. ``"const int*"``.
    """

    width: int
    kind: str
    pointee: int
    type: str

    @classmethod
    def of(cls, width: int, kind: str, pointee: int, text: str) -> Parameter:
        """Return the parameter whose type is in the compiler's ``text``."""
        name = text.rpartition("T = ")[2].partition(";")[0].rstrip("]").replace(" *", "*")
        return cls(width, kind, pointee, name)


class Extent(ctypes.Structure):
    """Memory that a kernel may touch: an array, or the arguments themselves (argument -1)."""

    _fields_ = (("low", ctypes.c_uint64), ("high", ctypes.c_uint64), ("argument", ctypes.c_int64))


@dataclass(frozen=True)
class Packed:
    """Arguments as a launch takes them, kept alive: the bytes, a pointer to each, and what they open, if known."""

    values: ctypes.Array[ctypes.c_char]
    pointers: ctypes.Array[ctypes.c_void_p]
    extents: ctypes.Array[Extent] | None


def pack(name: str, parameters: Sequence[Parameter], args: Sequence[object], *, bounds: bool = False) -> Packed:
    """Return arguments laid out for a launch, with ``bounds`` also the memory they give access to.

    Raises KernelArgumentError if they are not what the kernel takes.
    """
    if len(args) != len(parameters):
        takes = ", ".join(p.type for p in parameters)
        raise KernelArgumentError(f"{name}: takes {len(parameters)} arguments ({takes}), {len(args)} given")
    values, offsets = bytearray(), []
    for number, (parameter, argument) in enumerate(zip(parameters, args, strict=True)):
        piece = _bytes_of(parameter, argument)
        if piece is None:
            raise _refusal(f"{name}: argument {number}", parameter, argument)
        offsets.append(len(values))
        values += piece.ljust(-(-len(piece) // 16) * 16, b"\0")
    buffer = (ctypes.c_char * (len(values) + 16)).from_buffer(values + bytes(16))
    start = ctypes.addressof(buffer)
    base = start + -start % 16
    if base != start:
        ctypes.memmove(base, bytes(values), len(values))
    pointers = (ctypes.c_void_p * max(1, len(offsets)))(*[base + offset for offset in offsets])
    if not bounds or any(parameter.kind == "s" for parameter in parameters):  # a structure may carry pointers
        return Packed(buffer, pointers, None)
    spans = [(ctypes.addressof(piece), ctypes.sizeof(piece), -1) for piece in (buffer, pointers)]
    arrays = ((number, argument) for number, argument in enumerate(args) if isinstance(argument, np.ndarray))
    spans += [(int(array.ctypes.data), array.nbytes, number) for number, array in arrays]
    extents = (Extent * len(spans))(*(Extent(low, low + size, number) for low, size, number in spans))
    return Packed(buffer, pointers, extents)


def _bytes_of(parameter: Parameter, argument: object) -> bytes | None:
    """Return the bytes of an argument; None where the parameter is of another kind or width."""
    if isinstance(argument, np.ndarray):
        fits = parameter.pointee <= 1 or argument.dtype.itemsize in (1, parameter.pointee)
        if parameter.kind != "p" or not fits or not argument.flags.c_contiguous:
            return None
        return int(argument.ctypes.data).to_bytes(8, "little")
    if not isinstance(argument, np.generic) or parameter.kind == "p":
        return None
    fits = argument.dtype.itemsize == parameter.width and argument.dtype.kind in _KINDS[parameter.kind]
    return argument.tobytes() if fits else None


def _refusal(where: str, parameter: Parameter, argument: object) -> KernelArgumentError:
    """Return the error for an argument that the parameter does not take."""
    takes = f"the kernel takes {parameter.width} ({parameter.type})"
    if isinstance(argument, np.ndarray):
        if parameter.kind != "p":
            what = f"{parameter.width} bytes ({parameter.type})"
            return KernelArgumentError(f"{where} is an array, the kernel takes {what}")
        if not argument.flags.c_contiguous:
            return KernelArgumentError(f"{where} is not contiguous", remedy="pass a contiguous slice")
        what = f"is an array of {argument.dtype} ({argument.dtype.itemsize} bytes each)"
        return KernelArgumentError(f"{where} {what}, the kernel takes {parameter.type}")
    if not isinstance(argument, np.generic):
        width = {bool: 1, int: 8, float: 8, complex: 16}.get(type(argument))
        what = f"is {width} bytes" if width else f"is a {type(argument).__name__}"
        remedy = "an array of the device" if parameter.kind == "p" else f"a typed scalar such as {_suggest(parameter)}"
        return KernelArgumentError(f"{where} {what}, {takes}", remedy=f"pass {remedy}")
    if parameter.kind == "p":
        return KernelArgumentError(f"{where} is a scalar of {argument.dtype}, the kernel takes {parameter.type}")
    if argument.dtype.itemsize != parameter.width:
        what = f"is {argument.dtype.itemsize} bytes"
    else:
        what, takes = f"is {argument.dtype}", f"the kernel takes {_KIND_NAMES[parameter.kind]} ({parameter.type})"
    return KernelArgumentError(f"{where} {what}, {takes}", remedy=f"pass {_suggest(parameter)}")


def _suggest(parameter: Parameter) -> str:
    prefix = {"i": "int", "u": "uint", "f": "float"}.get(parameter.kind)
    return f"np.{prefix}{parameter.width * 8}(…)" if prefix else f"np.void of {parameter.width} bytes"


def check_limits(name: str, grid: Sequence[int], block: Sequence[int], shared_bytes: int, max_threads: int) -> None:
    """Refuse a launch that no GPU would take.  Raises InputError if it exceeds a limit."""

    def refuse(what: str, remedy: str) -> InputError:
        return InputError(f"{name}: {what}", remedy=remedy)

    for what, shape, limits in (("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)):
        if not 1 <= len(shape) <= 3:
            raise refuse(f"a {what} has one to three extents, not {len(shape)}", "give a tuple of up to three")
        for extent, limit in zip(shape, limits, strict=False):
            if not 1 <= extent <= limit:
                raise refuse(f"{what} extent {extent} is not in 1..{limit}", "choose one in that range")
    threads = math.prod(block)
    if threads > MAX_THREADS:
        raise refuse(f"a block of {threads} threads exceeds the limit of {MAX_THREADS}", "choose a smaller block")
    if max_threads and threads > max_threads:
        what = f"a block of {threads} threads exceeds its __launch_bounds__ of {max_threads}"
        raise refuse(what, "choose a smaller block, or raise the bound")
    if not 0 <= shared_bytes <= MAX_SHARED_BYTES:
        raise refuse(f"{shared_bytes} bytes of shared memory exceed the limit of {MAX_SHARED_BYTES}", "ask for less")


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


class Launch(ctypes.Structure):
    """How a kernel is launched: grid and block, and the dynamic shared memory of a block.

    ``resident`` blocks may be under way at once, on ``workers`` threads of the host, more than one only in the build
    ``"threads"``.  A seed of 0 runs threads in order; any other below 2^64 shuffles the schedule, always the same way.
    Without ``races`` the build that looks for them checks bounds alone.  ``counts`` is 0 where no work is counted, else
    1 + the place in ``TOTALS`` of what kernels read as the time.  ``Library.launch`` sets the kernel, its
    arguments and the extents.
    """

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
        ("races", ctypes.c_uint32),
        ("counts", ctypes.c_uint32),
    )


class Site(ctypes.Structure):
    """A place that touches global memory, or updates shared memory; the meaning is in ``shim/counters.h``."""

    _fields_ = (
        ("pc", ctypes.c_uint64),
        ("kind", ctypes.c_char_p),
        *((name, ctypes.c_uint64) for name in ("shared", "warps", "lanes", "bytes", "sectors", "addresses")),
    )


TOTALS = ("accesses", "sectors", "atomics", "block_barriers", "collectives")


class Library:
    """The kernels of one shared object.  Raises DeviceUnavailable if it cannot be loaded."""

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
        self.counts_work = hasattr(self._handle, "simt_counts")
        self._path = path

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

    def launch(self, name: str, arguments: Packed, how: Launch) -> tuple[str, list[RaceRecord]]:
        """Run a kernel to its end; return the report of what went wrong (empty: nothing) and the races found."""
        how.kernel, how.arguments = self._kernels[name], ctypes.addressof(arguments.pointers)
        if (extents := arguments.extents) is not None:
            how.extents, how.extent_count = ctypes.addressof(extents), len(extents)
        with self._lock:
            failed = self._launch(ctypes.addressof(how), self._report, _REPORT_BYTES)
            report = self._report.value.decode(errors="replace") if failed else ""
            found = self._take_races() if self.detects_races else []
        return self.symbols.replace_marks(report) if report else "", found

    @cached_property
    def symbols(self) -> Symbols:
        """The line table, which a report is written with."""
        from gpugraph.ext.emulator.races import Symbols

        return Symbols(self._path)

    def counts(self) -> tuple[dict[str, int], list[Site]]:
        """Return what the last launch did, in the build that counts: ``TOTALS`` by name, and the part of each place."""
        totals, sites = (ctypes.c_uint64 * len(TOTALS))(), ctypes.POINTER(Site)()
        count = self._handle.simt_counts(totals, ctypes.byref(sites))
        return dict(zip(TOTALS, totals, strict=True)), sites[:count]

    def _take_races(self) -> list[RaceRecord]:
        from gpugraph.ext.emulator.races import RaceRecord

        capacity = 64
        while True:
            records = (RaceRecord * capacity)()
            count = self._handle.simt_take_races(records, ctypes.c_uint32(capacity))
            if count <= capacity:
                return list(records[:count])
            capacity = count


@functools.cache
def library_of(
    source: Source, defines: tuple[tuple[str, str | int], ...], build: Build, cooperative: bool, _compiler: Compiler
) -> Library:
    """Return the compiled kernels of a file, loaded once per process; errors as ``build_library``.

    What is loaded needs no look at the cache of compiled code.
    """
    path = build_library(source, dict(defines), build, cooperative=cooperative)
    with _LOADING:  # a second Library of one path would launch beside the first: what the kernels share has no lock
        return _loaded(path)


_LOADING = ForkLock()


@functools.cache
def _loaded(path: Path) -> Library:
    return Library(path)


class KernelFault(GpuGraphError):
    """A kernel could not go on: a deadlock, a divergent barrier, a bad mask, an endless wait, a failed assertion.

    Attributes:
        excerpt: lines that show the line of the source, as far as it is known.
    """

    excerpt: tuple[str, ...] = ()
