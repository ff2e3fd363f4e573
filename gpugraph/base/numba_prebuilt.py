"""CPU code that a wheel brings compiled: that of ordinary commands, so that a user's first one need not wait.

It lies in the package, an archive for each version of Python, Numba and NumPy, which alone can load it. Its
instructions are those of x86-64-v3, which x86 processors have since 2013 (Intel) and 2015 (AMD). Each function is there
under the name that it would have in the cache of compiled code, with a digest of all that it depends on: what is not
found, as after a change of the source or for another type of weights, is compiled as ever. A package without archives
works too.  ``gpugraph.ext.builds.cpu_code`` builds the archives.
"""

import functools
import sys
from pathlib import Path

from gpugraph.base import code_cache

FOLDER = Path(__file__).parents[1] / "prebuilt"
"""The archives of the package; git does not know them."""

CPU, FEATURES = "x86-64-v3", ""
"""What it is compiled for, as ``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES`` name it."""
NEEDED = frozenset(("+avx2", "+bmi", "+bmi2", "+f16c", "+fma", "+lzcnt", "+movbe"))
"""LLVM's names for what a processor must have, beside what comes with these."""


def archive() -> Path:
    """Return the archive for this Python and what is installed of Numba and NumPy; it may not be there."""
    numba, numpy = map(_installed, ("numba", "numpy"))
    return FOLDER / f"{sys.implementation.cache_tag}-numba-{numba}-numpy-{numpy.rpartition('.')[0]}.xz"


@functools.cache
def _installed(package: str) -> str:
    from importlib.metadata import version  # slow to import

    return version(package)


def is_there() -> bool:
    """Tell whether the package brings code for this Python and what is installed of Numba and NumPy."""
    return FOLDER.is_dir() and archive().is_file()


@functools.cache
def contents() -> dict[str, bytes]:
    """Return the package's code by its names in the cache of compiled code; nothing where it is absent or damaged."""
    if not is_there():
        return {}
    import io
    import lzma
    import zipfile

    try:
        with lzma.open(archive()) as file, zipfile.ZipFile(io.BytesIO(file.read())) as opened:
            return {name: opened.read(name) for name in opened.namelist()}
    except Exception:  # damage finds every gap of the libraries: all is compiled as ever
        code_cache.warn_of_damage(archive())
        return {}
