"""The compile matrix: every kernel file, every define set, every architecture, without a GPU.

Each compilation goes through the function that a run on a GPU uses.  What a kernel may take of a
multiprocessor is checked in: at most so many registers, and no spills.

``python -m gpugraph.devices.matrix`` checks against the budget, ``--write`` makes a new one; both leave alone the
architectures that the compiler at hand does not know.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpugraph.devices.base import Defines
from gpugraph.devices.kernels import CompiledModule, KernelUsage, compile_kernels
from gpugraph.devices.nvrtc import compiler
from gpugraph.errors import GpuGraphError, InputError
from gpugraph.files import resource_dir

ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
"""One of each generation that is promised.  No compiler knows all: CUDA 13's does not know Volta, sm_70, any more."""
BUDGET = Path("tests/devices/register_budget.json")

WEIGHTS = ("uint32", "int32", "uint64", "int64", "float32", "float64")

DefineSets = list[dict[str, str | int]]


def product(**choices: Sequence[str | int]) -> DefineSets:
    """Return every combination of the values given for each define."""
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]


_TYPES = product(INDEX_BITS=(32, 64), WEIGHT=WEIGHTS)

_DISTANCES: DefineSets = [
    {**types, "DISTANCE_BITS": bits}
    for types in _TYPES
    for bits in (32, 64)
    if bits == (64 if "64" in str(types["WEIGHT"]) else 32) or (bits == 64 and "int" in str(types["WEIGHT"]))
]
"""Distances are as wide as the weights, and of integers 64 bits wide where sums do not fit 32."""


def _cell(weight: str) -> str:
    """Return the type of an adjacency matrix's element for a type of weight."""
    return weight if weight.startswith(("u", "f")) else f"u{weight}"


DEFINE_SETS: dict[str, DefineSets] = {
    "arcs_at.cu": product(INDEX_BITS=(32, 64)),
    "boruvka.cu": [
        *_TYPES,
        *product(LANES=(4, 8, 16, 32), SORTED=(0, 1), HAS_IDS=(0, 1)),
        *product(LANES=(32,), SORTED=(0, 1), HAS_IDS=(1,), SHUFFLES=(0,)),
        *product(INDEX_BITS=(64,), WEIGHT=("float64",), LANES=(4, 32), SORTED=(1,), HAS_IDS=(1,)),
        *product(LANES=(4, 32), SORTED=(0, 1), HAS_IDS=(0, 1), COMPRESSED=(1,)),
        *product(INDEX_BITS=(64,), WEIGHT=("float64",), LANES=(32,), SORTED=(0,), HAS_IDS=(0, 1), COMPRESSED=(1,)),
    ],
    "boruvka_distributed.cu": _TYPES,
    "boruvka_prim.cu": product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "uint64")),
    "boruvka_scan.cu": [{**types, "HAS_IDS": has} for types in _TYPES for has in (0, 1)],
    "boruvka_streamed.cu": _TYPES,
    "build.cu": product(INDEX_BITS=(32, 64)),
    "check.cu": product(INDEX_BITS=(32, 64)),
    "components.cu": product(INDEX_BITS=(32, 64)),
    "delta_stepping.cu": _DISTANCES,
    "delta_stepping_distributed.cu": _DISTANCES,
    "dijkstra.cu": [*_DISTANCES, *({**types, "ATOMIC": 0} for types in _DISTANCES if types["INDEX_BITS"] == 32)],
    "dijkstra_matrix.cu": [
        *({**types, "CELL": _cell(str(types["WEIGHT"]))} for types in _DISTANCES if types["INDEX_BITS"] == 32),
        *product(INDEX_BITS=(64,), WEIGHT=("uint32",), DISTANCE_BITS=(32, 64), CELL=("uint32",)),
        *product(INDEX_BITS=(32,), WEIGHT=("uint32",), DISTANCE_BITS=(64,), CELL=("uint64",)),
        *product(INDEX_BITS=(32,), WEIGHT=("uint32",), DISTANCE_BITS=(32,), CELL=("uint32",), ATOMIC=(0,)),
    ],
    "dijkstra_pull.cu": _DISTANCES,
    "fill.cu": [{}],
    "filter_boruvka.cu": _TYPES,
    "generate.cu": product(INDEX_BITS=(32, 64)),
    "generate_knn.cu": product(INDEX_BITS=(32, 64)),
    "harish_narayanan.cu": [types for types in _DISTANCES if types["INDEX_BITS"] == 32],
    "mst_many.cu": product(INDEX_BITS=(64,)),
    "prim.cu": [
        *({**types, "PAIRS": 0} for types in _TYPES),
        *product(INDEX_BITS=(32,), WEIGHT=("uint32", "int32", "float32"), PAIRS=(1,)),
    ],
    "prim_naive.cu": _TYPES,
    "prim_persistent.cu": [
        *({**types, "ON_CHIP": level} for types in _TYPES for level in (2, 3)),
        *product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "float64"), ON_CHIP=(0, 1)),
    ],
    "prefix_scan.cu": [
        *product(ELEMENT=("uint32", "uint64", "float32", "float64"), BLOCK=(256,), VECTORS=(4,), NETWORK=(0, 1, 2, 3)),
        *product(ELEMENT=("uint32", "uint64"), BLOCK=(128, 512), VECTORS=(2, 8), NETWORK=(0,)),
        *product(ELEMENT=("uint32", "uint64", "float32", "float64"), BLOCK=(256,), VECTORS=(8,), NETWORK=(0,)),
    ],
    "probe.cu": [{}],
    "segmented_scan.cu": [
        *({**types, "FLAGS": 0, "VECTORS": 2} for types in _TYPES),
        *product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "uint64"), FLAGS=(1,), VECTORS=(1, 4)),
        *product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "uint64"), FLAGS=(0,), IDS=(1,), ENDS=(1,), VECTORS=(2,)),
    ],
    "verify_components.cu": product(INDEX_BITS=(32, 64)),
    "verify_distances.cu": _TYPES,
    "verify_forest.cu": _TYPES,
}
"""By kernel file, the define sets that drivers use.  A file that is not named is compiled with its defaults."""


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


def entries(files: Sequence[str] | None = None, architectures: Sequence[str] = ARCHITECTURES) -> Iterator[Entry]:
    """Yield every compilation of the matrix, of all files or of those named."""
    for file in kernel_files() if files is None else files:
        for defines in DEFINE_SETS.get(file, [{}]):
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
            if spills(usage):
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
        if spills(usage):
            found.append(f"{where} spills {spills(usage)} bytes")
        if limit is None:
            found.append(f"{where} has no budget; make one with: python -m gpugraph.devices.matrix --write")
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
    parser = argparse.ArgumentParser(prog="python -m gpugraph.devices.matrix", description=main.__doc__)
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
