"""The compile matrix: every kernel file, every define set that a driver declares, every architecture, without a GPU.

Each compilation goes through the function that a run on a GPU uses.  What a kernel may take of a
multiprocessor is checked in: at most so many registers, and no spills but known ones.

``python -m tests.devices.compile_matrix`` checks against the budget, ``--write`` makes a new one; both leave alone
the architectures that the compiler at hand does not know.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.base.files import resource_dir
from gpugraph.devices.base import Defines
from gpugraph.devices.kernel_file import KernelFile
from gpugraph.devices.kernels import CompiledModule, KernelUsage, compile_kernels
from gpugraph.devices.nvrtc import compiler
from gpugraph.ext.device_graphs import launches
from gpugraph.ext.generators import knn
from gpugraph.ext.graph500 import generator
from gpugraph.ext.python import mst_many
from gpugraph.problems.registry import algorithms

ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
"""One of each generation that is promised.  No compiler knows all: CUDA 13's does not know Volta, sm_70, any more."""
BUDGET = Path("tests/devices/register_budget.json")
SPILLS = {("filter_boruvka", "sm_80"): 28}
"""Bytes that a kernel spills at most, by architecture; docs/performance/mst.md says since when.  Others spill none."""


@dataclass(frozen=True)
class Entry:
    """One compilation of the matrix."""

    file: str
    defines: Defines
    arch: str

    @property
    def key(self) -> str:
        """The entry's key in the budget, e.g. ``"boruvka.cu INDEX_BITS=64"``."""
        return " ".join([self.file, *(f"{name}={value}" for name, value in sorted(self.defines.items()))])


def kernel_files() -> list[str]:
    """Return the names of all kernel files, sorted."""
    return sorted(path.name for path in resource_dir("cuda_kernels").glob("*.cu"))


def declared() -> dict[str, KernelFile]:
    """Return by name the kernel files of all drivers: of algorithms, and of graphs made on a device."""
    algorithms()
    assert {launches.FILE.name, knn.FILE.name, generator.FILE.name, mst_many.FILE.name} <= KernelFile.declared.keys()
    return KernelFile.declared


def entries(files: Sequence[str] | None = None, architectures: Sequence[str] = ARCHITECTURES) -> Iterator[Entry]:
    """Yield every compilation of the matrix, of all files or of those named; a file of no driver's has no defines."""
    known = declared()
    for file in kernel_files() if files is None else files:
        for defines in known[file].define_sets if file in known else [{}]:
            for arch in architectures:
                yield Entry(file, defines, arch)


def known_architectures() -> list[str]:
    """Return those of ``ARCHITECTURES`` that the compiler at hand compiles for.

    Raises:
        DeviceUnavailable: NVRTC is missing.
    """
    known = compiler().architectures
    return [arch for arch in ARCHITECTURES if int(arch.removeprefix("sm_")) in known]


Budget = dict[str, dict[str, dict[str, int]]]
"""Registers by entry key, kernel and architecture."""


def measure(matrix: Iterator[Entry]) -> Budget:
    """Compile and return what every kernel takes; raise on the first kernel that spills.

    Registers are rounded up to eights: a warp is given them so, and the compiler's next version may need one more.
    """
    budget: Budget = {}
    for entry in matrix:
        kernels = compile_kernels(entry.file, entry.defines, entry.arch).kernels
        for name, usage in sorted(kernels.items()):
            if spills(usage) > SPILLS.get((name, entry.arch), 0):
                raise GpuGraphError(f"{name} spills {spills(usage)} bytes", where=f"{entry.key} {entry.arch}")
            budget.setdefault(entry.key, {}).setdefault(name, {})[entry.arch] = -(-usage.registers // 8) * 8
    return budget


def merged(old: Budget, new: Budget) -> Budget:
    """Return the new budget with the old one's limits for architectures that it does not have."""
    return {
        key: {
            name: dict(sorted({**old.get(key, {}).get(name, {}), **limits}.items(), key=lambda item: int(item[0][3:])))
            for name, limits in kernels.items()
        }
        for key, kernels in new.items()
    }


def spills(usage: KernelUsage) -> int:
    """Return the bytes that a kernel spills."""
    return usage.spill_stores + usage.spill_loads


def complaints(entry: Entry, module: CompiledModule, budget: Budget) -> list[str]:
    """Return what is wrong with one compilation: spills, too many registers, kernels without a budget."""
    found = []
    allowed = budget.get(entry.key, {})
    for name, usage in sorted(module.kernels.items()):
        where = f"{entry.key} {entry.arch}: {name}"
        limit = allowed.get(name, {}).get(entry.arch)
        if spills(usage) > SPILLS.get((name, entry.arch), 0):
            found.append(f"{where} spills {spills(usage)} bytes")
        if limit is None:
            found.append(f"{where} has no budget; make one with: python -m tests.devices.compile_matrix --write")
        elif usage.registers > limit:
            found.append(f"{where} takes {usage.registers} registers, its budget is {limit}")
    return found


def read_budget(path: Path) -> Budget:
    """Return the checked-in budget.

    Raises:
        InputError: the file is missing or no JSON.
    """
    try:
        budget: Budget = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"no register budget: {error}", where=path, remedy="make one with --write") from None
    return budget


def budget_text(budget: Budget) -> str:
    """Return the budget as JSON, a line for each kernel."""
    blocks = []
    for key, kernels in sorted(budget.items()):
        rows = (f"  {json.dumps(name)}: {json.dumps(limits)}" for name, limits in sorted(kernels.items()))
        blocks.append(f" {json.dumps(key)}: {{\n" + ",\n".join(rows) + "\n }")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile the whole matrix and check it against the budget, or write the budget."""
    parser = argparse.ArgumentParser(prog="python -m tests.devices.compile_matrix", description=main.__doc__)
    parser.add_argument("files", nargs="*", help="kernel files; all if none is named")
    parser.add_argument("--write", action="store_true", help="write what is measured as the new budget")
    parser.add_argument("--budget", type=Path, default=BUDGET)
    parser.add_argument("--arch", action="append", choices=ARCHITECTURES, help="may be given several times")
    options = parser.parse_args(arguments)
    try:
        architectures = options.arch or known_architectures()
        matrix = list(entries(options.files or None, architectures))
        if options.write:
            old = read_budget(options.budget) if options.budget.exists() else {}
            others = {key: value for key, value in old.items() if key.split(" ", 1)[0] not in options.files}
            budget = (others if options.files else {}) | merged(old, measure(iter(matrix)))
            options.budget.write_text(budget_text(budget))
            print(f"{options.budget}: {len(budget)} define sets")
            return 0
        budget = read_budget(options.budget)
        wrong = [
            line
            for entry in matrix
            for line in complaints(entry, compile_kernels(entry.file, entry.defines, entry.arch), budget)
        ]
    except GpuGraphError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print("\n".join(wrong) or f"{len(matrix)} compilations are within their budget ({', '.join(architectures)})")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
