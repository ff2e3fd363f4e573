"""The distances from some vertices to others, every search of them certified.

On a CPU each core searches from a source of its own, and ends once the goals are settled (``check.py`` certifies what
that leaves).  On a GPU whole rows are found together, and certified where they lie.  Where an undirected graph with
integer weights has fewer goals than sources, the searches begin at the goals; sums of reals depend on their order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import NullClock
from gpugraph.ext.matrix.check import certify_within
from gpugraph.ext.matrix.files import Vertices
from gpugraph.ext.python.resident_graph import ResidentGraph
from gpugraph.ext.python.sources import Vertices as VertexNumbers
from gpugraph.graph.view import GraphView
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.distances import read_words, refuse_wrapped

Progress = Callable[[str, float], object]

_WORDS_AT_ONCE, _LEAST_BLOCK = 2**27, 64
"""Distances in the rows that a GPU returns at once, and sources of these at least."""


def distances_between(
    held: ResidentGraph, sources: Vertices, goals: Vertices, progress: Progress
) -> tuple[NDArray[Any], int, int]:
    """Return (sources, goals) distances, the searches that found them, and how many of these ended early.

    Distances are uint64 or float64, the greatest of the type where there is no path.

    Raises:
        VerificationFailed: a search does not hold.
        InputError, OutOfMemory: as for ``ResidentGraph.sssp``.
    """
    starts, row = np.unique(sources, return_inverse=True)
    ends, column = np.unique(goals, return_inverse=True)
    graph = held.graph
    turned = len(ends) < len(starts) and not graph.directed and graph.weight_dtype.kind in "iu"
    if turned:
        starts, ends = ends, starts
    search = _on_cpu if held.device.kind == "cpu" else _on_gpu
    found, early = search(held, starts, ends, progress)
    return (found.T if turned else found)[row[:, None], column], len(starts), early


def _on_gpu(held: ResidentGraph, starts: Vertices, ends: Vertices, progress: Progress) -> tuple[NDArray[Any], int]:
    """Return the distances by whole searches, so many at a time."""
    step, parts = max(_LEAST_BLOCK, _WORDS_AT_ONCE // held.graph.vertices), []
    for first in range(0, len(starts), step):
        progress("searching", first / len(starts))
        block = VertexNumbers(starts[first : first + step].tolist())
        parts.append(held.sssp(sources=block, verify="all").raw[:, ends])
    return np.concatenate(parts), 0


def _on_cpu(held: ResidentGraph, starts: Vertices, ends: Vertices, progress: Progress) -> tuple[NDArray[Any], int]:
    """Return the distances by a search for each core, and how many searches ended early."""
    from gpugraph.ext.tuned.sssp.cpu_delta_stepping import prepare_many, search_each

    graph, ended = held.graph, list[bool]()  # whether early
    states, dtype = prepare_many(GraphView.of(graph), None), distance_dtype(graph.weight_dtype)

    def take(distance: NDArray[Any], source: int) -> NDArray[Any]:
        found, most = distance[ends], unreached(distance.dtype)
        is_whole = bool((found == most).any())
        if is_whole:
            refuse_wrapped(graph, source, distance)
        farthest = np.finfo(dtype).max if dtype.kind == "f" else most - 1
        certify_within(graph, states[0].arcs, distance, source, farthest if is_whole else found.max())
        ended.append(not is_whole)
        progress("searching", len(ended) / len(starts))
        return found if dtype.kind == "f" else read_words(found, dtype)

    rows = search_each(states, NullClock(), starts.tolist(), take, ends)
    return np.stack(rows), sum(ended)
