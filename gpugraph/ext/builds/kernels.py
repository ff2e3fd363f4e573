"""Kernels compiled for a wheel to bring: those of ordinary commands, for common GPUs and types of weights.

``python -m gpugraph.ext.builds.kernels`` builds the archive before a wheel is made; it needs NVRTC and no GPU.  A wheel
that is built on a machine with a GPU (``hatch_build.py``) brings those for this GPU and weights of uint32.
"""

import argparse
import itertools
import json
import multiprocessing
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpugraph.base.errors import GpuGraphError
from gpugraph.base.host import usable_cores
from gpugraph.devices.base import Defines
from gpugraph.devices.kernels import Unit, compile_kernels
from gpugraph.devices.nvrtc import compiler
from gpugraph.devices.prebuilt import ARCHIVE

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
    parser = argparse.ArgumentParser(prog="python -m gpugraph.ext.builds.kernels", description=main.__doc__)
    parser.add_argument("--arch", action="append", metavar="sm_90", help="may be given several times")
    parser.add_argument("--uint32", action="store_true", help="for no other types of weights")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="processes")
    parser.add_argument("--output", type=Path, default=ARCHIVE)
    options = parser.parse_args(arguments)
    try:
        chosen = [unit for unit in units(options.arch or ARCHITECTURES) if not (options.uint32 and unit[1])]
        build(options.output, chosen, options.workers)
    except GpuGraphError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"{options.output}: {len(chosen)} kernel files, {options.output.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
