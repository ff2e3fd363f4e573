"""A second process that compiles an algorithm's CPU code while this one makes or reads the graph.

Nearly all of a user's first command is compilation, half of it for the graph and half for the algorithm and the check
of its result.  Numba compiles one function at a time in a process, so the second half gets a process of its own; its
code goes through the cache of compiled code, where this process finds it or waits for it.
"""

import contextlib
import os
import sys

from gpugraph.base import code_cache, numba_prebuilt
from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.base.host import end_with, environment_with_package, usable_cores
from gpugraph.problems.contract import PROBLEMS


def begin(problem: str, graph: str, algorithm: str) -> None:
    """Start the process if neither cache nor package holds code of the problem, and a processor is free for it.

    The weights of a spec decide what is compiled; those of any other ``graph`` are taken for uint32.
    """
    folder = code_cache.users_folder()
    if folder is None or usable_cores() < 2:
        return
    with contextlib.suppress(OSError), os.scandir(folder / "numba") as kept:  # may be thousands
        if any(file.name.startswith(f"{PROBLEMS[problem]}.") for file in kept):
            return
    if numba_prebuilt.is_there():
        return
    import subprocess

    command = [sys.executable, "-P", "-m", __name__, problem, graph, algorithm, str(os.getpid())]
    nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    with contextlib.suppress(OSError):
        subprocess.Popen(command, env=environment_with_package(), **nowhere)  # type: ignore[call-overload]


def main(problem: str, graph: str, algorithm: str, parent: str) -> None:
    """Compile what solving the problem on a graph with such weights needs; end with the parent."""
    import numpy as np

    from gpugraph.devices.cpu import CpuDevice
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.graph.spec import parse_spec
    from gpugraph.graph.view import GraphView
    from gpugraph.measure.cell import Cell, resolve_algorithm
    from gpugraph.measure.run_cell import run_cell
    from gpugraph.problems.registry import load_problem

    end_with(int(parent))
    weights = "uint32"
    with contextlib.suppress(InputError):
        weights = parse_spec(graph).weights.dtype
    offsets, targets = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    path = CSRGraph(offsets, targets, np.array([1, 1, 2, 2], weights), directed=False, name="path")
    cell = Cell(problem, path, algorithm, "cpu", repeat=1, warmup=0, verify="certificate")
    chosen = resolve_algorithm(cell, load_problem(problem), path, "cpu")
    if chosen.compile is not None:
        chosen.compile(GraphView.of(path), CpuDevice())  # first, for it takes longest
    run_cell(cell)


if __name__ == "__main__":
    with contextlib.suppress(GpuGraphError, KeyboardInterrupt):  # the parent will say what is wrong
        main(*sys.argv[1:])
