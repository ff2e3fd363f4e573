"""Kernels that a wheel brings compiled: those of ordinary commands, for common GPUs and types of weights.

The first command of a user then compiles nothing for many seconds.  They lie in one ZIP archive in the package, each
under the digest of its source, defines and options: where anything of these differs, as after a change to a kernel, it
is not found there and NVRTC compiles it as ever.  A package without the archive works too.
``gpugraph.ext.builds.kernels`` makes it.
"""

import json
import os
import zipfile
from functools import cache
from pathlib import Path

from gpugraph.base import code_cache
from gpugraph.base.clock import COMPILING
from gpugraph.devices.base import Defines
from gpugraph.devices.kernels import CompiledModule, KernelUsage, Unit

ARCHIVE = Path(__file__).parent / "prebuilt.zip"
"""The archive of the package; git does not know it."""


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
