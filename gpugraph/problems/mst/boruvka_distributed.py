"""Borůvka's algorithm over ranks.

On GPUs, and on the emulated device, each rank finds the lightest arcs of its own rows, filters, and agrees with all
others on the least edge of each component (``forest_on_ranks.py``).  Processors take the rounds of
``problems/contraction.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.graph.digest import set_digest
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contraction import contract, part_behind
from gpugraph.problems.contraction_cpu import HostEdges
from gpugraph.problems.mst import forest_on_ranks
from gpugraph.problems.mst.forest import Forest, edge_ids
from gpugraph.problems.mst.forest_on_ranks import ForestOnDevices
from gpugraph.problems.mst.gpu_forest import forest_bytes
from gpugraph.problems.mst.on_ranks import forest_of, gathered_forest
from gpugraph.problems.registry import register


def compile_(subject: Any, device: Any) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        forest_on_ranks.load_kernels(part_behind(subject), device)


def prepare(subject: Any, device: Any) -> HostEdges | ForestOnDevices:
    """Return what this rank knows of the forest."""
    part = part_behind(subject)
    if device.kind == "cpu":
        return HostEdges(part, weighted=True, labelled=False)
    return ForestOnDevices(part, device)


def run(state: HostEdges | ForestOnDevices, clock: Clock) -> None:
    """Grow the forest."""
    if isinstance(state, HostEdges):
        contract(state, clock)
    else:
        forest_on_ranks.grow(state, clock)


def fetch(state: Any, handle: None) -> NDArray[Any]:
    """Copy what names the forest's edges that are kept on this rank to the host."""
    if isinstance(state, HostEdges):
        return np.sort(state.chosen[: int(state.chosen_count[0])].astype(np.int64))
    return state.own_names()  # type: ignore[no-any-return]


def finish(state: Any, chosen: NDArray[Any]) -> Forest:
    """Return the forest; a collective."""
    part = state.part
    if isinstance(state, HostEdges):
        u, v, weight = state.tails[chosen], state.heads[chosen], state.weights[chosen]
        if part.graph is not None:
            return Forest.of(part.graph, edge_ids(part.graph, u, v))
        return gathered_forest(part, u, v, weight)
    names, ids, weights = state.located(chosen)
    if part.graph is not None:
        return Forest.of(part.graph, ids)
    return forest_of(part, ids, (names >> np.uint64(32)).astype(np.int64), names.astype(np.uint32), weights)


register(
    Algorithm(
        problem="mst",
        name="boruvka-distributed",
        devices=("cpu", "cuda", "emulated"),
        summary="each rank picks its vertices' lightest arcs, filters, and agrees with all on each tree's least edge",
        authors="Borůvka; Chung, Condon",
        year=1996,
        section="Parallel implementation of Borůvka's minimum spanning tree algorithm, section 4",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        digest=set_digest,
        compile=compile_,
        minimum_bytes=forest_bytes,
        resident=False,
        ranks=True,
    )
)
