"""Distance words: how GPU kernels hold distances, and the way back.

A word is an unsigned integer of 32 or 64 bits that compares as the distance does: the integer itself, or the
bits of a float that is not negative.  The largest word means "not reached".  Weights are not negative either, so that
signed integers are read as unsigned ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Defines
from gpugraph.devices.kernel_file import unsigned
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import ResidentView
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.tight_arcs import refuse_wrapped

_WIDTHS = (("uint32", 32), ("uint32", 64), ("uint64", 64), ("float32", 32), ("float64", 64))
DISTANCE_SETS: list[Defines] = [
    {"INDEX_BITS": index, "WEIGHT": weight, "DISTANCE_BITS": bits} for index in (32, 64) for weight, bits in _WIDTHS
]
"""The define sets of kernels that know distance words: as wide as weights, and 64 bits where sums do not fit 32."""


def distance_types(view: ResidentView, bits: int | None = None) -> dict[str, str | int]:
    """Return the defines among ``DISTANCE_SETS`` for distances of ``bits``, None for the weights' own width."""
    bits = bits or 8 * view.weight_bytes
    return {"INDEX_BITS": view.index_bits, "WEIGHT": unsigned(view.weights.dtype), "DISTANCE_BITS": bits}


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
