"""The paper's variants of the compound frontier by name: which step runs where, and how.

============== ========================= ================= ======
name           relax                     minimum           update
============== ========================= ================= ======
f-cpu          CPU, push                 CPU               CPU
u-cpu          CPU, pull                 CPU               CPU
u-hybrid-1     CPU, pull                 CPU               GPU
u-hybrid-2     GPU, pull                 CPU               CPU
u-hybrid-3     GPU, pull                 CPU               GPU
u-gpu          GPU, pull                 GPU, one pass     GPU
u-gpu-2min     GPU, pull                 GPU, two passes   GPU
u-gpu-plus     GPU, pull, chip resources GPU, one pass     GPU
dijkstra       GPU, push, atomicMin      GPU               GPU
============== ========================= ================= ======

``dijkstra`` is the paper's F-GPU. The matrix variants are the same over an adjacency matrix; those called ``no-
atomic`` lose updates, as the paper says, and only show what atomics cost.

Source: P. J. Martín, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, sections 4 and 5.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpugraph.clock import NullClock
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, ResidentView
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import register
from gpugraph.problems.sssp.distances import distance_bytes
from gpugraph.problems.sssp.frontier_dijkstra import State, Strategy, fetch, finish, gpu_steps, run, search
from gpugraph.problems.sssp.frontier_dijkstra_arrays import CPU, GPU, Cells, predecessors
from gpugraph.problems.sssp.frontier_dijkstra_gpu import step_kernels

_PUSH, _PULL = "each frontier vertex relaxes its successors", "each unresolved vertex looks at its predecessors"
_NO_ATOMIC = "wrong on purpose: the minimum without an atomic loses updates"

STRATEGIES: dict[str, tuple[Strategy, str, str]] = {
    "dijkstra": (
        Strategy("push", GPU, "atomic", GPU),
        "4: F-GPU",
        "compound frontier: relax with atomicMin, minimum, update",
    ),
    "f-cpu": (Strategy("push", CPU, "cpu", CPU), "4.1: F-CPU", f"compound frontier on one CPU thread: {_PUSH}"),
    "u-cpu": (Strategy("pull", CPU, "cpu", CPU), "4.1: U-CPU", f"compound frontier on one CPU thread: {_PULL}"),
    "u-hybrid-1": (
        Strategy("pull", CPU, "cpu", GPU),
        "4.1: U-H1",
        "hybrid: relax and minimum on the CPU, update on the GPU",
    ),
    "u-hybrid-2": (
        Strategy("pull", GPU, "cpu", CPU),
        "4.1: U-H2",
        "hybrid: relax on the GPU, minimum and update on the CPU",
    ),
    "u-hybrid-3": (
        Strategy("pull", GPU, "cpu", GPU),
        "4.1: U-H3",
        "hybrid: relax and update on the GPU, minimum on the CPU",
    ),
    "u-gpu": (Strategy("pull", GPU, "one-pass", GPU), "4.1: U-GPU", f"compound frontier without atomics: {_PULL}"),
    "u-gpu-2min": (
        Strategy("pull", GPU, "two-pass", GPU),
        "4.1: U-GPU+2min",
        "u-gpu with a second pass of the minimum",
    ),
    "u-gpu-plus": (
        Strategy("pull-plus", GPU, "one-pass", GPU),
        "4.2: U-GPU-PLUS",
        "u-gpu with offsets through shared memory and flags through the read-only cache",
    ),
    "f-gpu-no-atomic": (
        Strategy("push", GPU, "atomic", GPU, atomic=False),
        "4.1: F-GPU-no-atomic",
        f"{_NO_ATOMIC}; shows what they cost",
    ),
    "matrix-u-cpu": (
        Strategy("pull", CPU, "cpu", CPU, matrix=True),
        "5: U-CPU",
        f"adjacency matrix on one CPU thread: {_PULL}",
    ),
    "matrix-f-cpu": (
        Strategy("push", CPU, "cpu", CPU, matrix=True),
        "5: F-CPU",
        f"adjacency matrix on one CPU thread: {_PUSH}",
    ),
    "matrix-u-gpu": (
        Strategy("pull", GPU, "atomic", GPU, matrix=True),
        "5: U-GPU",
        f"adjacency matrix, chunks of the frontier through shared memory: {_PULL}",
    ),
    "matrix-f-gpu": (
        Strategy("push", GPU, "atomic", GPU, matrix=True),
        "5: F-GPU",
        f"adjacency matrix, tiles through shared memory: {_PUSH}",
    ),
    "matrix-f-gpu-no-atomic": (
        Strategy("push", GPU, "atomic", GPU, matrix=True, atomic=False),
        "5: F-GPU-no-atomic",
        f"adjacency matrix, {_NO_ATOMIC}",
    ),
}
"""By name: the strategy, its section and name in the paper, and what it does."""

_VERSIONS = {"dijkstra": 2}
"""Of those whose times have changed since they were first recorded."""


def compile_kernels(view: ResidentView, device: Any, strategy: Strategy) -> None:
    """Bring into being all kernels that a run needs before it turns out to need 64-bit distances."""
    cells = Cells.of(view.host.graph) if strategy.matrix else None
    bits = (cells.dtype if cells else view.weights.dtype).itemsize * 8
    needed = step_kernels(view, *gpu_steps(strategy), cells, strategy.atomic, bits)
    for file, name, defines in needed.values():
        file.kernel(device, defines, name)


def compile_host_code(graph: CSRGraph, strategy: Strategy) -> None:
    """Bring into being the compiled code of the CPU's steps, by a search on three vertices with the same dtypes."""
    there = replace(strategy, relax="pull" if strategy.pulls else "push", relax_on=CPU, minimum="cpu", update_on=CPU)
    state = State(GraphView.of(_three_vertices(graph)), None, there)
    search(state, NullClock(), 0)
    if state.float_dtype is None and state.bits == 32:
        state.use_width(64)
        search(state, NullClock(), 0)


def _three_vertices(graph: CSRGraph) -> CSRGraph:
    """Return the arcs 0 → 1 → 2 with the dtypes of ``graph``, and its greatest weight, on which a cell depends."""
    weights = np.zeros(2, graph.weight_dtype)
    weights[0] = graph.weights.max(initial=0)
    return CSRGraph(
        offsets=np.array([0, 1, 2, 2], graph.offsets.dtype),
        targets=np.array([1, 2], graph.targets.dtype),
        weights=weights,
        directed=True,
        name=graph.name,
    )


def _compile(view: ResidentView | GraphView, device: Any, strategy: Strategy) -> None:
    graph = view.host.graph if isinstance(view, ResidentView) else view.graph
    if isinstance(view, ResidentView):
        compile_kernels(view, device, strategy)
    if CPU in strategy.sides:
        compile_host_code(graph, strategy)
    elif strategy.pulls and not strategy.matrix and graph.directed:
        predecessors(_three_vertices(graph))  # the host deals out the rows that the device pulls along


def _register(name: str, strategy: Strategy, section: str, summary: str) -> None:
    register(
        Algorithm(
            problem="sssp",
            name=name,
            devices=("cuda", "emulated") if GPU in strategy.sides else ("cpu",),
            summary=summary,
            authors="Martín, Torres, Gavilanes",
            year=2009,
            section=section,
            prepare=lambda view, device: State(view, device, strategy),
            run=run,
            fetch=fetch,
            finish=finish,
            compile=lambda view, device: _compile(view, device, strategy),
            trusted=strategy.atomic,
            version=_VERSIONS.get(name, 1),
            minimum_bytes=distance_bytes,
        )
    )


for _name, (_strategy, _section, _summary) in STRATEGIES.items():
    _register(_name, _strategy, _section, _summary)
