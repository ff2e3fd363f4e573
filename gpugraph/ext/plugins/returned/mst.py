"""Forests that users' algorithms return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.ext.plugins.returned.arrays import numbers, plain_array
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.mst.forest import Forest, edge_ids


def accept(graph: CSRGraph, query: tuple[Any, ...], returned: object) -> Forest:
    """Return the forest of the canonical edge ids in an array, of pairs of vertices, or of a Forest."""
    edges = returned.edges if isinstance(returned, Forest) else numbers(returned)
    remedy = "return pairs of vertices, or the ids of the forest's edges: the places of their arcs u->v with u < v"
    if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[1] == 2:
        pairs = plain_array(edges, "i u", edges.shape, "pairs of vertices", remedy)
        edges = ids_of_pairs(graph, pairs[:, 0], pairs[:, 1])
        for u, v in pairs[edges < 0][:1].tolist():
            raise InputError(f"run returned the pair ({u}, {v}), which is no edge of the graph", remedy=remedy)
    return Forest.of(graph, plain_array(edges, "i u", None, "the edges of a forest", remedy))


def ids_of_pairs(graph: CSRGraph, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.int64]:
    """Return what ``edge_ids`` does of any numbers; −1 also where one is no vertex of the graph."""
    inside = (np.minimum(u, v) >= 0) & (np.maximum(u, v) < graph.vertices)
    ids = np.full(len(u), -1, np.int64)
    ids[inside] = edge_ids(graph, u[inside], v[inside])
    return ids
