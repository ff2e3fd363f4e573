"""Delta-stepping: vertices settle by buckets of distances, without a step that all threads wait for.

``buckets.py`` describes how.  Unlike in the paper, light and heavy arcs are relaxed together: with buckets as narrow as
chosen here few vertices come twice, and the arcs need not be sorted first.  Every thread has buckets of its own, and
before it begins the next it helps those that are behind it.
Distances of integers run in 32 bits, and once more in 64 where they may not fit.

Sources: Meyer & Sanders, Δ-stepping: a parallelizable shortest path algorithm (2003), §2; threads that take from each
other by priority in place of barriers as in D'Antonio et al., Wasp: efficient asynchronous single-source shortest path
on multicore systems via work stealing (2025).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import NullClock
from gpugraph.base.compiled import njit, threads
from gpugraph.base.errors import InputError
from gpugraph.ext.tuned.sssp import buckets
from gpugraph.ext.tuned.thread_pool import STRIDE, add_phases, run_on_threads, thread_count
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.digest import array_digest
from gpugraph.graph.view import GraphView
from gpugraph.problems.algorithm import Option
from gpugraph.problems.registry import add_algorithm
from gpugraph.problems.sssp import BATCHED
from gpugraph.problems.sssp.arcs import FLOAT64, SUMS, Arcs, distance_dtype, unreached
from gpugraph.problems.sssp.distances import (
    DistanceMatrix,
    Distances,
    distance_bytes,
    distances_from_words,
    require_room,
)

_SAMPLE = 1 << 14
_STATE_COLUMNS = 32
NO_GOALS = np.empty(0, np.int64)


@dataclass(eq=False)
class State:
    """What a search needs, allocated once.

    Attributes:
        arcs: the graph's arrays in the types that compiled code is made for.
        heaviest: no weight is greater; of reals 0.
        delta: width of a bucket.
        arrays: by the dtype of distances, the arrays of ``buckets.py``.
        size: how many threads.
        sums: the type that float32 weights are summed in.
    """

    view: GraphView
    arcs: Arcs
    heaviest: int
    delta: float
    arrays: dict[np.dtype[Any], buckets.Search]
    size: int
    sums: str = FLOAT64

    def arrays_for(self, dtype: np.dtype[Any]) -> buckets.Search:
        """Return what the threads of a search for distances of a dtype share."""
        if dtype in self.arrays:
            return self.arrays[dtype]
        self.arrays.clear()
        arcs, size = self.arcs, self.size
        n, blocks = arcs.vertices, 2 * arcs.vertices // buckets.BLOCK + size * (buckets.BINS + 2) + 2
        self.arrays[dtype] = buckets.Search(
            *arcs,
            none=unreached(dtype),
            delta=min(max(self.delta, 1e-300), 1e300),  # so that the quotient of any distance is a number
            distance=np.empty(n, dtype),
            least_pending=np.empty(size, dtype),
            heads=np.empty((size, buckets.COLUMNS), np.int32),
            counts=np.empty((size, buckets.COLUMNS), np.int64),
            vertices=np.empty((blocks, buckets.BLOCK), arcs.targets.dtype),
            entry_distance=np.empty((blocks, buckets.BLOCK), dtype),
            following=np.empty(blocks, np.int32),
            filled=np.empty(blocks, np.int32),
            queues=np.empty((size, buckets.QUEUE), np.int32),
            ends=np.empty(2 * size * STRIDE, np.int64),
            front_distance=np.empty(size * STRIDE, np.float64),
            thread_state=np.empty((size, _STATE_COLUMNS), np.int64),
            goals=NO_GOALS,
        )
        return self.arrays[dtype]


def prepare(
    view: GraphView, device: object, *, delta: float = 0.0, sums: str = FLOAT64, size: int | None = None
) -> State:
    """Return the state of searches on a graph.  Raises InputError if ``delta`` is negative or not finite."""
    if not (math.isfinite(delta) and delta >= 0):
        raise InputError(f"option 'delta' is {delta}", remedy="give a positive width, or 0 to have it chosen")
    arcs = Arcs.of(view.graph)
    heaviest = 0
    if arcs.weights.dtype.kind == "u":
        heaviest = max(in_threads(lambda low, high: _heaviest(arcs.weights, low, high), even_ranges(len(arcs.targets))))
    threads_ = size or thread_count(view.vertices + view.arcs)
    state = State(view, arcs, int(heaviest), delta or chosen_delta(arcs), {}, threads_, sums)
    state.arrays_for(_narrow(state))
    return state


def _narrow(state: State) -> np.dtype[Any]:
    """Return the dtype that distances are tried in first."""
    wide = distance_dtype(state.arcs.weights.dtype, state.sums)
    return np.dtype(np.uint32) if wide.kind == "u" and state.heaviest < 2**28 else wide


def chosen_delta(arcs: Arcs) -> float:
    """Return a bucket width for the graph: mean finite weight over mean degree.

    With random weights that settles a vertex about once (the paper's Θ(1/d)); tried on R-MAT graphs and grids,
    wider buckets relax arcs again and narrower ones make rounds too small to share.
    """
    sample = arcs.weights[:: max(1, len(arcs.weights) // _SAMPLE)].astype(np.float64)
    sample = sample[np.isfinite(sample)]
    top = float(sample.max(initial=0.0))
    mean = top * float(np.mean(sample / top)) if top > 0 else 1.0  # the sum of large weights would overflow
    return mean / max(1.0, len(arcs.targets) / max(1, arcs.vertices))


def run(state: State, clock: NullClock, source: int, goals: NDArray[np.int64] = NO_GOALS) -> NDArray[Any]:
    """Return (n,) distances from ``source``: uint32, uint64 or reals; the next run overwrites them.

    Beyond the farthest of ``goals`` they may be too great on a state of one thread.
    """
    dtype = _narrow(state)
    distance = _search(state, clock, source, dtype, goals)
    if dtype == np.uint32:
        farthest = state.arrays_for(dtype).least_pending.max()
        if int(farthest) + state.heaviest >= int(unreached(dtype)):
            distance = _search(state, clock, source, np.dtype(np.uint64), goals)
    return distance


def _search(
    state: State, clock: NullClock, source: int, dtype: np.dtype[Any], goals: NDArray[np.int64] = NO_GOALS
) -> NDArray[Any]:
    shared = state.arrays_for(dtype)._replace(goals=goals)
    start = time.perf_counter()
    run_on_threads(buckets.search, shared, source, size=state.size)
    own = shared.thread_state
    clock.count("rounds", int(own[:, buckets.ROUNDS].max()))
    clock.count("relaxations", int(own[:, buckets.RELAXED].sum()))
    spent = own[0, [buckets.IN_STEPS, buckets.IN_WINDOW]]
    add_phases(clock, ("relax", "move_window"), spent, time.perf_counter() - start)
    return shared.distance


def finish(state: State, raw: NDArray[Any], source: int) -> Distances:
    """Return the distances; raise InputError if one needs more than 64 bits."""
    graph = state.view.graph
    if raw.dtype.kind == "f":
        return Distances(graph, source, raw)
    return distances_from_words(graph, source, raw, overflowed=raw.dtype == np.uint64)


def compile_(view: GraphView, device: object, *, delta: float = 0.0, sums: str = FLOAT64) -> None:
    """Compile all that a run may need."""
    tiny = view.tiny()
    state = prepare(tiny, device, delta=delta, sums=sums)
    finish(state, run(state, NullClock(), 0), 0)
    _search(state, NullClock(), 0, distance_dtype(state.arcs.weights.dtype, sums))


ALGORITHM = add_algorithm(
    "sssp",
    "delta-stepping",
    devices=("cpu",),
    summary="buckets of tentative distances for each thread; those ahead help those behind, and none waits",
    authors="Meyer, Sanders",
    year=2003,
    section="§2",
    options=(Option("delta", float, 0.0, "width of a bucket; 0 chooses it from the mean weight and degree"), SUMS),
    prepare=prepare,
    run=run,
    fetch=lambda state, handle: handle.copy(),
    finish=finish,
    digest=array_digest,
    compile=compile_,
    minimum_bytes=distance_bytes,
    version=4,
)


# ------------------------------------------------------------------ from many sources
# A search for each core is quicker than all threads on one search, for its threads never wait for each other.  Eight
# searches side by side, as on a GPU, were tried: no quicker, for a core finds most distances in its own caches.


def prepare_many(view: GraphView, device: object, *, delta: float = 0.0, sums: str = FLOAT64) -> list[State]:
    """Return a state for each core."""
    first = prepare(view, device, delta=delta, sums=sums, size=1)
    return [first, *(prepare(view, device, delta=first.delta, sums=sums, size=1) for _ in range(threads() - 1))]


def run_many(states: list[State], clock: NullClock, sources: tuple[int, ...]) -> list[NDArray[Any]]:
    """Return (n,) distances, the caller's, for each source as ``run`` does; OutOfMemory without room for all."""
    require_room(states[0].view.graph, len(sources), states[0].sums)
    return search_each(states, clock, sources, lambda distance, source: distance.copy())


def search_each(
    states: list[State],
    clock: NullClock,
    sources: Sequence[int],
    take: Callable[[NDArray[Any], int], NDArray[Any]],
    goals: NDArray[np.int64] = NO_GOALS,
) -> list[NDArray[Any]]:
    """Return what ``take`` makes of (n,) distances and their source, for each source; see ``run``."""
    found: list[NDArray[Any]] = [np.empty(0)] * len(sources)
    turns = count()
    counters: list[NullClock] = [NullClock() for _ in states]

    def work(state: State, own: NullClock) -> None:
        while (i := next(turns)) < len(sources):
            found[i] = take(run(state, own, sources[i], goals), sources[i])

    with ThreadPoolExecutor(len(states)) as pool:
        try:
            list(pool.map(work, states, counters))
        except BaseException:
            turns = count(len(sources))  # those under way are the last
            raise
    clock.count("relaxations", sum(own.counters["relaxations"] for own in counters if own.counters))
    return found


def finish_many(states: list[State], raw: list[NDArray[Any]], sources: tuple[int, ...]) -> DistanceMatrix:
    """Return the distances; raise InputError where one needs more than 64 bits."""
    return DistanceMatrix.joined([finish(states[0], words, source) for words, source in zip(raw, sources, strict=True)])


add_algorithm(
    "sssp",
    BATCHED,
    devices=("cpu",),
    summary="from many sources: delta-stepping, a search for each core",
    authors="Meyer, Sanders",
    year=2003,
    section="§2",
    options=ALGORITHM.options,
    prepare=prepare_many,
    run=run_many,
    finish=finish_many,
    digest=lambda raw: " ".join(map(array_digest, raw)),
    compile=compile_,
    minimum_bytes=distance_bytes,
    batched=True,
    version=2,
)


@njit
def _heaviest(weights: Any, low: int, high: int) -> Any:
    most = weights.dtype.type(0)
    for i in range(low, high):
        most = max(most, weights[i])
    return most
