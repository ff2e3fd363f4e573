"""What ``measure/compile_ahead.py`` starts: a process that compiles an algorithm's CPU code, and the check's."""

import contextlib
import sys

import numpy as np

from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.base.host import end_with
from gpugraph.devices.cpu import CpuDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.spec import parse_spec
from gpugraph.graph.view import GraphView
from gpugraph.measure.cell import Cell, resolve_algorithm
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.registry import load_problem


def main(problem: str, graph: str, algorithm: str, parent: str) -> None:
    """Compile what solving the problem on a graph with such weights needs; end with the parent."""
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
