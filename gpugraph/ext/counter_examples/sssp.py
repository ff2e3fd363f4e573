"""What shows that distances are wrong: the shortest path to a wrong vertex."""

from typing import Any

import numpy as np

from gpugraph.base.errors import InputError
from gpugraph.ext.counter_examples.part import MISSING, OTHER, RIGHT, CounterExample, around
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import sums_of, unreached
from gpugraph.problems.sssp.distances import DistanceMatrix, Distances
from gpugraph.problems.sssp.verify import malformed, reference_distances, reference_predecessors


def counter_example(graph: CSRGraph, query: tuple[Any], result: Distances | DistanceMatrix) -> CounterExample | None:
    """Return the shortest path to a wrong vertex, the nearest to the source, with the arcs around it.

    None of a result that is no answer at all, or whose distances are right.
    """
    if isinstance(result, DistanceMatrix):
        drawn = (counter_example(graph, (row.source,), row) for row in result)
        return next((example for example in drawn if example is not None), None)
    source = int(query[0])
    if malformed(graph, source, result) is not None:
        return None
    try:
        right, _ = reference_distances(graph, source, sums=sums_of(result.raw.dtype))
    except InputError:
        return None
    wrong = result.raw != right
    if not wrong.any():
        return None
    places = np.flatnonzero(wrong)
    v = int(places[np.argmin(right[places])])
    before = reference_predecessors(graph, source, right)
    core = [v]
    while before[core[-1]] >= 0:
        core.append(int(before[core[-1]]))

    def mark(tail: int, head: int, arc: int) -> str:
        if before[head] != tail:
            return OTHER
        return MISSING if wrong[head] else RIGHT

    def note(v: int) -> tuple[str, bool]:
        given, due = (_short(distance[v]) for distance in (result.raw, right))
        return (f"{given}, not {due}", True) if wrong[v] else (given, False)

    return around(graph, core[::-1], mark, note, [v, *core[1:2]])


def _short(distance: Any) -> str:
    if distance == unreached(distance.dtype):
        return "∞"
    return f"{distance:g}" if distance.dtype.kind == "f" else str(distance)
