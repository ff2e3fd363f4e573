"""The minimum spanning forest problem: input, result, work counted.

A forest is the same edge for edge whatever computed it: edges compare by (weight, smaller endpoint, larger
endpoint), so the minimum spanning forest is unique.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph


@dataclass(frozen=True, eq=False)
class Forest:
    """A spanning forest of an undirected CSRGraph.

    Attributes:
        graph: the graph it spans.
        edges: (tree_edges,) int64 canonical edge ids, ascending.
        total_weight: exact Python int, or the correctly rounded float.
        components: number of connected components, isolated vertices included.
    """

    graph: CSRGraph
    edges: NDArray[np.int64]
    total_weight: int | float
    components: int

    @classmethod
    def of(cls, graph: CSRGraph, edges: NDArray[Any]) -> Forest:
        """Return the forest of the given canonical edge ids, in any order."""
        raise NotImplementedError

    # endpoints() -> (u, v) int64 arrays, u < v, ascending by (u, v); labels; summary(); fingerprint()
