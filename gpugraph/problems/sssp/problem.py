"""The single-source shortest paths problem: input, result, work counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph


def distance_dtype(weight_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of distances on the host: uint64 for integer weights, else the weights' own float."""
    return np.dtype(np.uint64) if weight_dtype.kind in "iu" else weight_dtype


def unreached(dtype: np.dtype[Any]) -> Any:
    """Return the value that marks a vertex as not reached: 2^64−1 for integers, infinity for floats."""
    return np.iinfo(dtype).max if dtype.kind == "u" else dtype.type(np.inf)


@dataclass(frozen=True, eq=False)
class Distances:
    """Shortest distances from one source.

    Attributes:
        graph: the graph.
        source: 0-based source vertex.
        distance: (n,) uint64 for integer weights, float32 or float64 for theirs; ``unreached(dtype)`` where
            there is no path of finite length.
        predecessor: (n,) int64, −1 for the source and unreached vertices, or None where not asked for.
    """

    graph: CSRGraph
    source: int
    distance: NDArray[Any]
    predecessor: NDArray[np.int64] | None = None

    # reached -> (n,) bool mask; summary(); fingerprint(); with_predecessors()
