"""Borůvka's algorithm on the CPU: threads offer edges to trees by compare-and-swap.

Every tree picks its least outgoing edge and the picks are contracted, until no tree has an outgoing edge:

1. find_min: the least edge of each tree.  In the first round that is the least arc of a row; later every live edge is
   offered to the trees at both of its ends, which are looked up on the way, and those inside a tree are dropped.
2. remove_cycles: two trees that picked the same edge are the only cycles there are; the smaller is the root.
3. merge_trees: every tree finds its root.
4. filter: the live edges are read from the rows.

On graphs of many edges the heavy ones wait: the rounds first run on the lightest few edges per vertex, after which
most of the graph is one tree.  Its rows are not read again: what leads out of it is found from the other end.

The sources are Borůvka 1926, O jistém problému minimálním; the phases as in Kolganov 2015, Hybrid implementation of the
MST algorithm using CPU and GPU; the filter after Osipov, Sanders and Singler 2009, The filter-Kruskal minimum
spanning tree algorithm; the tree that is skipped after Sutton, Ben-Nun and Barak 2018, Optimizing parallel graph
connectivity computation via subgraph sampling.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError
from gpugraph.ext.tuned.mst import cpu_boruvka_steps as steps
from gpugraph.ext.tuned.thread_pool import add_phases, run_on_threads, thread_count
from gpugraph.graph.canonical import order_keys, weight_words
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst.forest import Forest, forest_bytes
from gpugraph.problems.registry import add_algorithm

LIGHT_PER_VERTEX = 1.0
"""Edges per vertex that the rounds run on before the heavy ones are looked at."""

_SAMPLES = 2048
_PHASES = ("find_min", "remove_cycles", "merge_trees", "filter")


@dataclass(eq=False)
class State:
    """What a run needs, allocated once."""

    view: GraphView
    shared: steps.Shared
    size: int


def prepare(view: GraphView, device: object, *, size: int | None = None) -> State:
    """Return the state of runs on a graph.

    Raises:
        InputError: it has 2^32 edges or more.
    """
    graph, size = view.graph, size or thread_count(view.vertices + view.arcs)
    n, index = graph.vertices, graph.targets.dtype
    slots = (graph.edges // steps.BLOCK + 2 * size + 2) * steps.BLOCK
    if slots >= 2**32 - 1:
        what = f"Borůvka's algorithm on the CPU holds fewer than 2^32 edges, not {graph.edges}"
        raise InputError(what, where=graph.name, remedy="use --algo kruskal")
    words, sign, real = weight_words(graph.weights)
    narrow = words.dtype.type
    shared = steps.Shared(
        graph.offsets,
        graph.targets,
        words,
        sign=narrow(sign),
        below_sign=narrow(sign - np.uint64(1)) if real else narrow(0),
        forest=np.empty(n, np.int64),
        label=np.empty(n, index),
        up=np.empty(n, index),
        best=np.empty(n, np.int64),
        alive=np.empty((2, n), index),
        # Room for every edge: pages that are never written cost nothing.
        tail_tree=np.empty(slots, index),
        head_tree=np.empty(slots, index),
        key=np.empty(slots, words.dtype),
        edge=np.empty(slots, np.int64),
        filled=np.empty(slots // steps.BLOCK, np.int64),
        thread_state=np.zeros((size, steps.COLUMNS), np.int64),
        limit=narrow(0),
        filtered=False,
    )
    return State(view, shared, size)


def run(state: State, clock: NullClock) -> NDArray[np.int64]:
    """Return the forest as (tree_edges,) positions of arcs, one of either direction for each edge, in no order."""
    limit, filtered = _light_limit(state)
    start = time.perf_counter()
    run_on_threads(steps.boruvka, state.shared._replace(limit=limit, filtered=filtered), size=state.size)
    own = state.shared.thread_state[0]
    clock.count("rounds", int(own[steps.ROUNDS]))
    add_phases(clock, _PHASES, own[steps.PHASES : steps.PHASES + 4], time.perf_counter() - start)
    return state.shared.forest[: int(own[steps.FOREST])].copy()


def _light_limit(state: State) -> tuple[Any, bool]:
    """Return the greatest key of the edges that the rounds first run on, and whether that leaves any out."""
    graph = state.view.graph
    light = int(LIGHT_PER_VERTEX * graph.vertices)
    heaviest = state.shared.words.dtype.type(np.iinfo(state.shared.words.dtype).max)
    if graph.edges <= 2 * light:
        return heaviest, False
    keys = np.sort(order_keys(graph.weights[np.random.default_rng(1).integers(0, graph.arcs, _SAMPLES)]))
    return keys[light * _SAMPLES // graph.edges], True


def compile_(view: GraphView, device: object) -> None:
    """Compile all that a run needs."""
    run(prepare(view.tiny(), device), NullClock())


ALGORITHM = add_algorithm(
    "mst",
    "boruvka",
    devices=("cpu",),
    summary="parallel Borůvka: row minima, then light edges, then the other edges between trees",
    authors="O. Borůvka",
    year=1926,
    section="O jistém problému minimálním; phases as in Kolganov 2015, filter as in Osipov et al. 2009",
    prepare=prepare,
    run=run,
    fetch=lambda state, handle: handle,
    finish=lambda state, raw: Forest.of(state.view.graph, state.view.canonical_edges(raw)),
    compile=compile_,
    minimum_bytes=forest_bytes,
    version=2,
)
