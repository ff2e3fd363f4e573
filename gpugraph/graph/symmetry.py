"""Whether every arc of a graph has its reverse with equal weight.

The question is answered by a signed sum of arc hashes, in one pass without random access: arcs u→v with u < v
count positive, the others negative, each hashed as the undirected edge it belongs to.  A sum other than zero
proves asymmetry; zero, in two independent 64-bit lanes, proves symmetry up to a chance of 2^-128.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.compiled import njit
from gpugraph.graph.canonical import find_arc
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.digest import arc_lanes
from gpugraph.graph.sort_arcs import weight_words


@njit
def _signed_sums(offsets: Any, targets: Any, words: Any, first: int, last: int) -> Any:
    """Return both lanes of the signed sum over the rows [first, last)."""
    sum0, sum1 = np.uint64(0), np.uint64(0)
    for u in range(first, last):
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            upper = u < v
            lane0, lane1 = arc_lanes(u if upper else v, v if upper else u, words[i])
            if upper:
                sum0 += lane0
                sum1 += lane1
            else:
                sum0 -= lane0
                sum1 -= lane1
    return sum0, sum1


def is_symmetric(graph: CSRGraph) -> bool:
    """Tell whether every arc has its reverse with equal weight; O(n + arcs)."""
    words = weight_words(graph.weights)[0]
    parts = in_threads(
        lambda lo, hi: _signed_sums(graph.offsets, graph.targets, words, lo, hi), balanced_ranges(graph.offsets)
    )
    return all(sum(int(part[lane]) for part in parts) % 2**64 == 0 for lane in (0, 1))


@njit
def first_asymmetry(offsets: Any, targets: Any, words: Any) -> Any:
    """Return (arc, its tail, its reverse or −1) of the first arc without an equal reverse, or (−1, −1, −1)."""
    for u in range(len(offsets) - 1):
        for i in range(offsets[u], offsets[u + 1]):
            back = find_arc(offsets, targets, targets[i], u)
            if back < 0 or words[back] != words[i]:
                return i, u, back
    return -1, -1, -1
