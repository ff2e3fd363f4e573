"""What shows that a forest is wrong: a cycle of few edges."""

from itertools import pairwise

import numpy as np

from gpugraph.ext.counter_examples.part import MISSING, OTHER, RIGHT, WRONG, CounterExample, around, path_between
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.verify import check_ids, ends_of, reference_forest

_TRIED = 8
"""Missing edges whose cycles are looked at for a short one."""


def counter_example(graph: CSRGraph, query: tuple[()], forest: Forest) -> CounterExample | None:
    """Return a cycle with an edge that is wrongly in the forest, or an edge that it lacks; None where ids are bad."""
    if check_ids(graph, forest.edges) is not None:
        return None
    expected = reference_forest(graph)
    given, missing = forest.edges, np.setdiff1d(expected, forest.edges)
    extra = np.setdiff1d(given, expected)
    span, closing = (given, missing[:_TRIED]) if len(missing) else (expected, extra[:_TRIED])
    tails, heads, _ = ends_of(graph, span)
    ends = [(int(u), int(v)) for u, v in zip(*ends_of(graph, closing)[:2], strict=True)]
    found = [(path_between(graph.vertices, tails, heads, u, v) or [u, v]) for u, v in ends]
    if not found:
        return None
    core = min((path for path in found if len(path) > 2), key=len, default=found[0])

    def mark(u: int, v: int, arc: int = -1) -> str:
        low, high = graph.offsets[min(u, v) : min(u, v) + 2].tolist()
        edge = arc if u < v and arc >= 0 else low + int(np.searchsorted(graph.targets[low:high], max(u, v)))
        for ascending, kind in ((extra, WRONG), (missing, MISSING), (given, RIGHT)):
            at = int(np.searchsorted(ascending, edge))
            if at < len(ascending) and int(ascending[at]) == edge:
                return kind
        return OTHER

    bad = [v for u, v in pairwise(core) if mark(u, v) == WRONG]
    return around(graph, core, mark, lambda v: ("", False), bad)
