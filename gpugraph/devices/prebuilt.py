"""Kernels that a wheel brings compiled: those of ordinary commands, for common GPUs and types of weights.

The first command of a user then compiles nothing for many seconds.  They lie in one ZIP archive in the package, each
under the digest of its source, defines and options: where anything of these differs, as after a change to a kernel, it
is not found there and NVRTC compiles it as ever.  A package without the archive works too.

``python -m gpugraph.devices.prebuilt`` builds the archive before a wheel is made; it needs NVRTC and no GPU.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from gpugraph.base import code_cache
from gpugraph.base.clock import COMPILING
from gpugraph.base.errors import GpuGraphError
from gpugraph.devices.base import Defines
from gpugraph.devices.kernels import CompiledModule, KernelUsage, Unit, compile_kernels
from gpugraph.devices.nvrtc import compiler

ARCHIVE = Path(__file__).parent / "prebuilt.zip"
"""The archive of the package; git does not know it."""
ARCHITECTURES = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
_DISTANCES: tuple[Defines, ...] = tuple({"DISTANCE_BITS": 64, "WEIGHT": real} for real in ("float32", "float64"))
DEFINE_SETS: dict[str, tuple[Defines, ...]] = {
    **dict.fromkeys(("arcs_at.cu", "build.cu", "check.cu", "components.cu", "fill.cu", "generate.cu"), ({},)),
    **dict.fromkeys(("generate_knn.cu", "probe.cu", "verify_components.cu", "verify_forest.cu"), ({},)),
    "delta_stepping.cu": ({}, {"DISTANCE_BITS": 64}, *_DISTANCES),
    "filter_boruvka.cu": ({}, *({"WEIGHT": weight} for weight in ("int32", "float32", "float64"))),
    "verify_distances.cu": ({}, *({"WEIGHT": weight} for weight in ("float32", "float64"))),
}
"""What ``mst``, ``sssp`` and ``components`` load when no algorithm is named and fewer than 2^31 arcs are given."""


@COMPILING
def prebuilt_kernels(
    file: str | os.PathLike[str], defines: Defines | None, arch: str, driver: int, archive: Path = ARCHIVE
) -> CompiledModule | None:
    """Return a kernel file that came compiled; None where it did not, or is in the cache of compiled code already.

    ``driver`` is the major version of CUDA that the driver supports; code of a later one it may not load.
    """
    if not _contents(archive):
        return None
    unit = Unit.of(file, defines, arch)
    if f"{unit.key}.json" not in _contents(archive) or unit.in_cache(announced=False) is not None:
        return None
    try:
        with zipfile.ZipFile(archive) as opened:
            facts = json.loads(opened.read(f"{unit.key}.json"))
            if facts["compiler"][0] > driver:
                return None
            cubin = opened.read(f"{unit.key}.cubin")
        kernels = {name: KernelUsage(**usage) for name, usage in facts["kernels"].items()}
    except Exception:  # damage finds every gap of the library: it is compiled instead
        code_cache.warn_of_damage(archive)
        return None
    return unit.into_cache(cubin, kernels, "")


@cache
def _contents(archive: Path) -> frozenset[str]:
    try:
        with zipfile.ZipFile(archive) as opened:
            return frozenset(opened.namelist())
    except FileNotFoundError:
        return frozenset()
    except Exception:
        code_cache.warn_of_damage(archive)
        return frozenset()


# ------------------------------------------------------------------ building


def units(architectures: Iterable[str]) -> Iterator[tuple[str, Defines, str]]:
    """Yield file, defines and architecture of all that is built."""
    for arch, (file, sets) in itertools.product(architectures, DEFINE_SETS.items()):
        yield from ((file, defines, arch) for defines in sets)


def build(archive: Path, chosen: Sequence[tuple[str, Defines, str]], workers: int) -> None:
    """Compile and write the archive, which replaces an old one when it is complete."""
    made = archive.with_suffix(".part")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context) as pool, zipfile.ZipFile(made, "w", zipfile.ZIP_LZMA) as opened:
        for key, cubin, facts in pool.map(_built, chosen):
            opened.writestr(f"{key}.cubin", cubin)
            opened.writestr(f"{key}.json", json.dumps(facts))
    made.replace(archive)


def _built(chosen: tuple[str, Defines, str]) -> tuple[str, bytes, dict[str, Any]]:
    module = compile_kernels(*chosen)
    kernels = {name: asdict(usage) for name, usage in module.kernels.items()}
    facts = {"compiler": compiler().version, "kernels": kernels}
    return Unit.of(*chosen).key, module.cubin_path.read_bytes(), facts


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile the kernels of ordinary commands into the package, for a wheel to bring; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gpugraph.devices.prebuilt", description=main.__doc__)
    parser.add_argument("--arch", action="append", metavar="sm_90", help="may be given several times")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--output", type=Path, default=ARCHIVE)
    options = parser.parse_args(arguments)
    try:
        chosen = list(units(options.arch or ARCHITECTURES))
        build(options.output, chosen, options.workers)
    except GpuGraphError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"{options.output}: {len(chosen)} kernel files, {options.output.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
