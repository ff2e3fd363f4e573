"""Compile a kernel file and launch its kernels: the call shape of ``cupy.RawModule`` on NumPy arrays.

module = SimtModule(path="sum.cu", options=("-DBLOCK=256",))
module.get_function("sum")((grid,), (block,), (array, np.int32(n)), shared_mem=0)
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

from gpugraph.devices.cuda_source import Source, load_source
from gpugraph.emulator.arguments import check_limits, pack
from gpugraph.emulator.faults import KernelFault
from gpugraph.emulator.library import Library, load_library
from gpugraph.emulator.races import Race, describe_races
from gpugraph.emulator.toolchain import BUILDS, build_library
from gpugraph.errors import InputError, unknown_name


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
