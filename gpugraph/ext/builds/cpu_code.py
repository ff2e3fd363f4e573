"""CPU code compiled for a wheel to bring: that of ordinary commands.

``python -m gpugraph.ext.builds.cpu_code`` builds the archive for the Python that runs it, before a wheel is made.
"""

import lzma
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from gpugraph.base import numba_prebuilt
from gpugraph.base.files import replaced
from gpugraph.base.host import environment_with_package

_GRAPHS = ("rmat:16", "grid:256x256", "road:256x256", "random:n=65536,deg=8", "knn:n=65536,k=8")
_FILES = ("graph.csr", "graph.gr", "graph.gr.gz", "graph.wel", "graph.mtx")
_PROBLEMS = (("mst",), ("sssp", "--source", "0"), ("components",))


def build(commands: Sequence[Sequence[str]]) -> int:
    """Run commands with an empty cache and put what they compile into the archive; return the number of functions."""
    numba_prebuilt.FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        chosen = {"NUMBA_CPU_NAME": numba_prebuilt.CPU, "NUMBA_CPU_FEATURES": numba_prebuilt.FEATURES}
        folders = {"GPUGRAPH_CACHE_DIR": folder, "XDG_CONFIG_HOME": folder}
        environment = environment_with_package() | folders | chosen
        for command in commands:
            print("+ gpugraph", *command, flush=True)
            words = [sys.executable, "-P", "-m", "gpugraph", *command]
            done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
            if done.returncode != 0:
                sys.exit(f"it ended with exit code {done.returncode}; {numba_prebuilt.archive()} is as it was")
        compiled = sorted(Path(folder, "numba").glob("*.code"))
        with (
            replaced(numba_prebuilt.archive()) as raw,
            lzma.open(raw, "wb", preset=9) as file,
            zipfile.ZipFile(file, "w") as opened,
        ):
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
    print(f"{numba_prebuilt.archive()}: {count} functions, {numba_prebuilt.archive().stat().st_size / 1e6:.1f} MB")
