"""Compilation of kernels: a CUDA source is flattened, compiled by NVRTC, kept in the cache of compiled code, loaded.

The cache key covers all that the machine code depends on: flattened source with its defines, options,
compiler version and architecture.  A run on a GPU and the compile check without one call the same function.
"""

import ctypes
import hashlib
import math
import os
import re
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.base import code_cache
from gpugraph.base.clock import COMPILING
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError
from gpugraph.devices.base import Arguments, Array, Defines, Grid, KernelArgumentError, KernelCompileError
from gpugraph.devices.cuda_runtime import translated
from gpugraph.devices.cuda_streams import OpenGpu
from gpugraph.devices.kernel_source import Source, define_lines, load_source
from gpugraph.devices.nvrtc import compiler, parameter_sizes

OPTIONS = ("-std=c++17", "-ftz=false", "-fmad=false", "-lineinfo", "--ptxas-options=-v")

_ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
_NUMBER = {
    "registers": re.compile(r"Used (\d+) registers"),
    "spill_stores": re.compile(r"(\d+) bytes spill stores"),
    "spill_loads": re.compile(r"(\d+) bytes spill loads"),
    "stack_bytes": re.compile(r"(\d+) bytes stack frame"),
    "shared_bytes": re.compile(r"(\d+) bytes smem"),
}
_DIAGNOSTIC = re.compile(r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\S+)?: (?P<text>.+)$", re.M)


@dataclass(frozen=True)
class KernelUsage:
    """What one kernel takes of a multiprocessor: registers per thread, the rest in bytes; 0 where it is unknown."""

    registers: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    stack_bytes: int = 0
    shared_bytes: int = 0


@dataclass(frozen=True)
class CompiledModule:
    """A kernel file compiled for an architecture and a set of defines: the cubin in the cache, the compiler's log.

    ``kernels`` has the usage by kernel name; ``cached``: nothing had to be compiled.
    """

    cubin_path: Path
    arch: str
    kernels: dict[str, KernelUsage]
    log: str
    cached: bool


@COMPILING
def compile_kernels(file: str | os.PathLike[str], defines: Defines | None, arch: str) -> CompiledModule:
    """Compile a kernel file for an architecture, e.g. ``"sm_90"``, or find it compiled in the cache.

    Raises:
        DeviceUnavailable: NVRTC is missing, or does not know the architecture.
        KernelCompileError: the source does not compile; ``log`` holds every diagnostic.
        InputError: no such file, or a define that is none.
    """
    unit = Unit.of(file, defines, arch)
    found = unit.in_cache()
    if found is not None:
        return found
    with code_cache.sole_maker("cubins", unit.cache_name) as entry:
        found = _from_cache(entry, arch)
        if found is not None:
            return found
        nvrtc = compiler()
        result = nvrtc.compile(unit.text, unit.source.name, unit.options)
        if result.status != "ok":
            raise _compile_error(unit.source, arch, result.status, result.log, nvrtc.version)
        # NVRTC may keep what it compiled before, under other defines: then the assembler says nothing, and only the
        # cubin tells which kernels there are.
        kernels = dict.fromkeys(parameter_sizes(result.cubin), KernelUsage()) | parse_usage(result.log)
        return unit.into_cache(result.cubin, kernels, result.log)


@dataclass(frozen=True)
class Unit:
    """What the compiler is given: a flattened source with its defines on top, and the options."""

    source: Source
    text: str
    options: tuple[str, ...]
    arch: str

    @classmethod
    def of(cls, file: str | os.PathLike[str], defines: Defines | None, arch: str) -> "Unit":
        """Read a kernel file.  Raises InputError if there is no such file, or a define is none."""
        source = load_source(file)
        return cls(source, define_lines(defines) + source.text, (*OPTIONS, f"--gpu-architecture={arch}"), arch)

    @property
    def key(self) -> str:
        """A digest of all that the machine code depends on but the compiler."""
        return hashlib.sha256(repr((self.options, self.source.name, self.text)).encode()).hexdigest()

    @cached_property
    def cache_name(self) -> str:
        """The name of its cubin in the cache of compiled code."""
        key = hashlib.sha256(f"{compiler().version} {self.key}".encode()).hexdigest()
        return f"{self.source.path.stem}-{self.arch}-{key[:32]}.cubin"

    def in_cache(self, *, announced: bool = True) -> CompiledModule | None:
        """Return the module from the cache; where it is missing, None, and the user learns of a compilation."""
        look = code_cache.find if announced else code_cache.look_up
        return _from_cache(look("cubins", self.cache_name), self.arch)

    def into_cache(self, cubin: bytes, kernels: dict[str, KernelUsage], log: str) -> CompiledModule:
        """Keep a cubin for this and later runs."""
        facts = {"kernels": {name: asdict(usage) for name, usage in kernels.items()}, "log": log}
        path = code_cache.keep("cubins", self.cache_name, cubin, facts)
        return CompiledModule(path, self.arch, kernels, log, cached=False)


def architecture_for(capability: int) -> str:
    """Return the architecture for a compute capability, 90 for 9.0: the GPU's own, or the nearest the compiler knows.

    That is below of the same major number, whose code the GPU runs.  Raises DeviceUnavailable if NVRTC knows none.
    """
    nvrtc = compiler()
    able = [a for a in nvrtc.architectures if a // 10 == capability // 10 and a <= capability]
    if not able:
        raise _unknown_architecture(f"sm_{capability}", nvrtc.version)
    return f"sm_{max(able)}"


def parse_usage(log: str) -> dict[str, KernelUsage]:
    """Return what each kernel uses, from the assembler's verbose log."""
    entries = list(_ENTRY.finditer(log))
    usage = {}
    for entry, following in zip(entries, [*entries[1:], None], strict=False):
        end = following.start() if following else len(log)
        part = log[entry.end() : end]
        numbers = {name: pattern.search(part) for name, pattern in _NUMBER.items()}
        usage[entry[1]] = KernelUsage(**{name: int(m[1]) if m else 0 for name, m in numbers.items()})
    return usage


def _from_cache(entry: code_cache.Entry | None, arch: str) -> CompiledModule | None:
    """Return the module of a file in the cache; None if there is none, or its facts are no module's."""
    if entry is None:
        return None
    try:
        kernels = {name: KernelUsage(**usage) for name, usage in entry.facts["kernels"].items()}
        return CompiledModule(entry.path, arch, kernels, entry.facts["log"], cached=True)
    except (AttributeError, KeyError, TypeError):
        return None


def _compile_error(source: Source, arch: str, status: str, log: str, version: tuple[int, int]) -> GpuGraphError:
    if status == "invalid option" and "architecture" in log:
        return _unknown_architecture(arch, version)
    first = _DIAGNOSTIC.search(log)
    where = f"{first['file']} line {first['line']}" if first else source.name
    said = first["text"] if first else (log.splitlines() or ["the compiler gave no reason"])[0]
    remedy = "report this with the whole log" if source.ours else "correct the kernel"
    remedy += f"; see all with: python -m gpugraph.ext.builds.usage {source.path} --arch {arch}"
    what = f"does not compile for {arch}: {said}"
    return KernelCompileError(what, where=where, remedy=remedy, log=log, ours=source.ours)


def _unknown_architecture(arch: str, version: tuple[int, int]) -> DeviceUnavailable:
    number = re.match(r"sm_(\d+)", arch)
    if number is not None and int(number[1]) < 75:
        remedy = "GPUs older than sm_75 need the CUDA 12 compiler: pip install 'gpugraph[cuda12]'"
    else:
        remedy = "give an architecture as sm_90, or update the compiler: pip install -U 'gpugraph[cuda13]'"
    return DeviceUnavailable(f"NVRTC {version[0]}.{version[1]} cannot compile for {arch}", remedy=remedy)


# ------------------------------------------------------------------ one loaded kernel
# Everything that can be checked before a launch is checked once.
# Arguments are device arrays and NumPy scalars.  A Python number has no width, and CuPy passes an int as eight
# bytes whatever the kernel wants, so it is refused.

_MAX_GRID = 2**31 - 1
_PLAIN_SHARED_BYTES = 48 * 1024  # more has to be asked for, kernel by kernel


class CudaKernel:
    """Launches one kernel, CuPy's ``raw``, on its device's stream; ``sizes`` are bytes of each parameter, or None.

    The first launch with a combination of block size, shared memory and argument types is checked; later ones cost a
    set lookup.  The grid is launched exactly as asked for or not at all: CuPy by itself shrinks a cooperative one to
    what is resident.
    """

    def __init__(self, device: OpenGpu, name: str, raw: Any, sizes: tuple[int, ...] | None, *, cooperative: bool):
        self._device = device
        self._raw = raw
        self._sizes = sizes
        self._cooperative = cooperative
        self._stream = device.stream
        self._limits: dict[tuple[Any, ...], int] = {}
        self._resident: dict[tuple[int, int], int] = {}
        self._driver = device.cupy.cuda.driver
        self._doing = f"launching {name}"
        self.name = name
        with translated(device.label, f"loading {name}"):
            self._function = raw.kernel
            self.most_threads = int(raw.max_threads_per_block)

    def __call__(
        self, grid: Grid, block: int, args: Arguments, shared_bytes: int = 0, *, stop: Array | None = None
    ) -> None:
        """Launch, as ``Kernel`` says; whoever waits for the device then is interrupted by Ctrl-C.

        Raises KernelArgumentError if the arguments do not fit the kernel, or the grid or block does not fit the GPU.
        """
        shape = grid if isinstance(grid, tuple) else (grid,)
        self.check(math.prod(shape), block, args, shared_bytes)
        device = self._device
        device.last_kernel = self.name
        with translated(device.label, self._doing):
            self._function(shape, (block,), args, shared_bytes, self._stream, self._cooperative)
        if stop is not None:
            device.interrupts.add(stop.data.ptr)

    def prepared(self, grid: int, block: int, last: Arguments, *, stop: Array | None = None) -> "PreparedLaunch":
        return PreparedLaunch(self, grid, block, last, stop)

    def check(self, grid: int, block: int, args: Arguments, shared_bytes: int) -> None:
        """Raise KernelArgumentError if the arguments do not fit the kernel, or grid and block not the GPU."""
        signature = (block, shared_bytes, *map(type, args))
        limit = self._limits.get(signature)
        if limit is None:
            limit = self._limits[signature] = self._admit(block, args, shared_bytes)
        if not 0 < grid <= limit:
            what = f"a grid of {grid} blocks of {block} threads, "
            if self._cooperative and grid > limit:
                what, remedy = f"{what}but only {limit} are resident together", "ask resident_blocks()"
            else:
                what, remedy = f"{what}allowed are 1 to {limit}", "correct the launch"
            raise KernelArgumentError(what, where=self.name, remedy=remedy)

    def start(self, grid: int, block: int, parameters: int, stop: int | None) -> None:
        """Launch with what was checked; ``parameters`` is the address of those of the arguments."""
        device = self._device
        device.last_kernel = self.name
        with translated(device.label, self._doing):
            if not self._driver.ctxGetCurrent():  # in a thread that has called nothing of CUDA's yet
                device.cupy.cuda.runtime.setDevice(device.index)
            what = (self._function.ptr, grid, 1, 1, block, 1, 1, 0, self._stream.ptr, parameters)
            if self._cooperative:
                self._driver.launchCooperativeKernel(*what)
            else:
                self._driver.launchKernel(*what, 0)
        if stop is not None:
            device.interrupts.add(stop)

    def resident_blocks(self, block: int, shared_bytes: int = 0) -> int:
        key = (block, shared_bytes)
        if key not in self._resident:
            self._allow_shared(shared_bytes)
            occupancy = self._device.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
            with translated(self._device.label, f"asking for the occupancy of {self.name}"):
                each = int(occupancy(self._function.ptr, block, shared_bytes))
            self._resident[key] = each * self._device.multiprocessors
        return self._resident[key]

    def _admit(self, block: int, args: Arguments, shared_bytes: int) -> int:
        """Check all but the grid; return the largest grid that may be launched."""
        check_arguments(self.name, args, self._device.cupy.ndarray, self._sizes)
        if not 0 < block <= self.most_threads:
            what = f"a block of {block} threads, the kernel can have 1 to {self.most_threads}"
            raise KernelArgumentError(what, where=self.name, remedy="choose another block size")
        self._allow_shared(shared_bytes)
        return self.resident_blocks(block, shared_bytes) if self._cooperative else _MAX_GRID

    def _allow_shared(self, shared_bytes: int) -> None:
        if shared_bytes > _PLAIN_SHARED_BYTES and shared_bytes > self._raw.max_dynamic_shared_size_bytes:
            with translated(self._device.label, f"asking for {shared_bytes:,} bytes of shared memory"):
                self._raw.max_dynamic_shared_size_bytes = shared_bytes


class PreparedLaunch:
    """Launches of one kernel whose last arguments lie ready for the driver, 8 bytes each; Ctrl-C sets ``stop``.

    CuPy makes an object of each argument, and asks how large a cooperative grid may be, at every launch.
    """

    def __init__(self, kernel: CudaKernel, grid: int, block: int, last: Arguments, stop: Array | None):
        self._kernel, self._grid, self._block, self._last = kernel, grid, block, last
        self._stop = None if stop is None else int(stop.data.ptr)
        self._types: tuple[type, ...] | None = None  # of the first arguments that the memory below is laid out for

    def __call__(self, *first: np.generic) -> None:
        """Launch with NumPy scalars as the first arguments.  Raises KernelArgumentError as a launch does."""
        types = tuple(map(type, first))
        if types != self._types:
            self._lay_out(first)
            self._types = types
        self._pack(self._values, 0, *first)
        self._kernel.start(self._grid, self._block, self._parameters, self._stop)

    def _lay_out(self, first: Arguments) -> None:
        args = first + self._last
        self._kernel.check(self._grid, self._block, args, 0)
        values = [value if isinstance(value, np.generic) else np.uint64(value.data.ptr) for value in args]
        self._values = (ctypes.c_uint64 * (len(args) + 1))()
        struct.pack_into(_format(values), self._values, 0, *values)
        begin = ctypes.addressof(self._values)
        self._addresses = (ctypes.c_void_p * (len(args) + 1))(*range(begin, begin + 8 * len(args), 8))
        self._parameters = ctypes.addressof(self._addresses)
        self._pack = struct.Struct(_format(values[: len(first)])).pack_into


def _format(values: Sequence[np.generic]) -> str:
    """Return how ``struct`` writes NumPy scalars, each at the beginning of 8 bytes."""
    return "=" + "".join(f"{_CHARACTERS[value.dtype]}{8 - value.itemsize}x" for value in values)


_CHARACTERS = {np.dtype(char): char for char in "?bBhHiIqQefd"}


def check_arguments(kernel: str, args: Arguments, array_type: Any, sizes: tuple[int, ...] | None) -> None:
    """Raise KernelArgumentError if number, kinds or widths of arguments are wrong; ``sizes``: bytes, if known."""
    if sizes is not None and len(args) != len(sizes):
        what = f"{len(args)} arguments are given, the kernel takes {len(sizes)}"
        raise KernelArgumentError(what, where=kernel, remedy="correct the launch")
    for position, value in enumerate(args):
        where = f"{kernel}, argument {position}"
        if isinstance(value, array_type):
            width = 8
            if not value.flags.c_contiguous:
                raise KernelArgumentError("the array is not contiguous", where=where, remedy="pass a contiguous slice")
        elif isinstance(value, np.generic) and value.dtype.kind in "biuf":
            width = value.dtype.itemsize
        else:
            what = f"a {type(value).__name__} has no width that a kernel could rely on"
            remedy = "pass a device array or a NumPy scalar such as np.int32(n)"
            raise KernelArgumentError(what, where=where, remedy=remedy)
        if sizes is not None and width != sizes[position]:
            kind = "an array" if isinstance(value, array_type) else f"{value.dtype}"
            what = f"{kind} is {width} bytes, the kernel takes {sizes[position]}"
            raise KernelArgumentError(what, where=where, remedy="correct the type")
