"""CPU code that a wheel brings compiled: that of ordinary commands, so that a user's first one need not wait.

It lies in the package, an archive for each version of Python, Numba and NumPy, which alone can load it. Its
instructions are those of x86-64-v3, which x86 processors have since 2013 (Intel) and 2015 (AMD). Each function is there
under the name that it would have in the cache of compiled code, with a digest of all that it depends on: what is not
found, as after a change of the source or for another type of weights, is compiled as ever. A package without archives
works too.

``python -m gpugraph.base.numba_prebuilt`` builds the archive for the Python that runs it, before a wheel is made.
"""

from __future__ import annotations

import functools
import importlib.metadata
import io
import lzma
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from gpugraph.base import code_cache
from gpugraph.base.files import replaced
from gpugraph.base.host import environment_with_package

FOLDER = Path(__file__).parents[1] / "prebuilt"
"""The archives of the package; git does not know them."""

CPU, FEATURES = "x86-64-v3", ""
"""What it is compiled for, as ``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES`` name it."""
NEEDED = frozenset(("+avx2", "+bmi", "+bmi2", "+f16c", "+fma", "+lzcnt", "+movbe"))
"""LLVM's names for what a processor must have, beside what comes with these."""

_GRAPHS = ("rmat:16", "grid:256x256", "road:256x256", "random:n=65536,deg=8", "knn:n=65536,k=8")
_FILES = ("graph.csr", "graph.gr", "graph.gr.gz", "graph.wel", "graph.mtx")
_PROBLEMS = (("mst",), ("sssp", "--source", "0"), ("components",))


def archive() -> Path:
    """Return the archive for this Python and what is installed of Numba and NumPy; it may not be there."""
    numba, numpy = map(_installed, ("numba", "numpy"))
    return FOLDER / f"{sys.implementation.cache_tag}-numba-{numba}-numpy-{numpy.rpartition('.')[0]}.xz"


_installed = functools.cache(importlib.metadata.version)


def is_there() -> bool:
    """Tell whether the package brings code for this Python and what is installed of Numba and NumPy."""
    return FOLDER.is_dir() and archive().is_file()


@functools.cache
def contents() -> dict[str, bytes]:
    """Return the package's code by its names in the cache of compiled code; nothing where it is absent or damaged."""
    if not is_there():
        return {}
    try:
        with lzma.open(archive()) as file, zipfile.ZipFile(io.BytesIO(file.read())) as opened:
            return {name: opened.read(name) for name in opened.namelist()}
    except Exception:  # damage finds every gap of the libraries: all is compiled as ever
        code_cache.warn_of_damage(archive())
        return {}


# ------------------------------------------------------------------ building


def build(commands: Sequence[Sequence[str]]) -> int:
    """Run commands with an empty cache and put what they compile into the archive; return the number of functions."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        chosen = {"NUMBA_CPU_NAME": CPU, "NUMBA_CPU_FEATURES": FEATURES}
        folders = {"GPUGRAPH_CACHE_DIR": folder, "XDG_CONFIG_HOME": folder}
        environment = environment_with_package() | folders | chosen
        for command in commands:
            print("+ gpugraph", *command, flush=True)
            words = [sys.executable, "-P", "-m", "gpugraph", *command]
            done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
            if done.returncode != 0:
                sys.exit(f"it ended with exit code {done.returncode}; {archive()} is as it was")
        compiled = sorted(Path(folder, "numba").glob("*.code"))
        with replaced(archive()) as raw, lzma.open(raw, "wb", preset=9) as file, zipfile.ZipFile(file, "w") as opened:
            for one in compiled:
                opened.write(one, one.name)
    return len(compiled)


def ordinary_commands() -> list[tuple[str, ...]]:
    """Return the commands whose code a wheel brings: each problem on graphs of specs and of files."""
    written = [("generate", "rmat:10", "-o", file) for file in _FILES]
    solved = [(*problem, graph, "--device", "cpu") for graph in (*_GRAPHS, *_FILES) for problem in _PROBLEMS]
    return written + solved


if __name__ == "__main__":
    count = build(ordinary_commands())
    print(f"{archive()}: {count} functions, {archive().stat().st_size / 1e6:.1f} MB")
