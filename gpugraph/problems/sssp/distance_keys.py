"""Distance words: how GPU kernels hold distances, and the way back.

A word is an unsigned integer of 32 or 64 bits that compares as the distance does: the integer itself, or the
bits of a float that is not negative.  The largest word means "not reached".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.tight_arcs import refuse_wrapped


def distances_from_words(graph: CSRGraph, source: int, words: NDArray[Any], overflowed: bool = False) -> Distances:
    """Return the distances that the words stand for.

    Args:
        graph: the graph.
        source: 0-based source vertex.
        words: (n,) uint32 or uint64.
        overflowed: some sum of 64-bit integers did not fit.

    Raises:
        InputError: a vertex can be reached only by paths longer than 64 bits hold.
    """
    dtype = distance_dtype(graph.weights.dtype)
    not_reached = words == np.iinfo(words.dtype).max
    if dtype.kind == "f":
        return Distances(graph, source, np.where(not_reached, dtype.type(np.inf), words.view(dtype)))
    distance = np.where(not_reached, unreached(dtype), words.astype(dtype))
    if overflowed:
        refuse_wrapped(graph, source, distance)
    return Distances(graph, source, distance)
