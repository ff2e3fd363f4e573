"""SciPy: ``csgraph.minimum_spanning_tree`` (Kruskal) and ``csgraph.dijkstra`` (a Fibonacci heap)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.arrays import edge_columns, float_weights
from gpugraph.peers.errors import PeerRefused
from gpugraph.peers.peer import Adapter, Peer


def _matrix(graph: CSRGraph, *, upper: bool) -> Any:
    """Return the graph as a CSR matrix of float64; ``upper`` holds every edge once."""
    from scipy.sparse import csr_array

    if max(graph.arcs, graph.vertices) >= 2**31:
        raise PeerRefused("SciPy's graph routines count in 32 bits")
    shape = (graph.vertices, graph.vertices)
    if not upper:
        parts = (float_weights(graph.weights), graph.targets.astype(np.int32), graph.offsets.astype(np.int32))
        return csr_array(parts, shape=shape)
    tails, heads, weights = edge_columns(graph)
    return csr_array((float_weights(weights), (tails.astype(np.int32), heads.astype(np.int32))), shape=shape)


def _prepare_forest(graph: CSRGraph, threads: int, method: str) -> Any:
    if graph.arcs and (graph.weights == 0).any():
        raise PeerRefused("SciPy's answer cannot hold edges of weight 0")
    return _matrix(graph, upper=True)


def _forest(matrix: Any) -> Any:
    from scipy.sparse.csgraph import minimum_spanning_tree

    return minimum_spanning_tree(matrix)


def _pairs(matrix: Any, forest: Any) -> tuple[Any, Any]:
    edges = forest.tocoo()
    return edges.row, edges.col


def _distances(matrix: Any, source: int) -> Any:
    from scipy.sparse.csgraph import dijkstra

    return dijkstra(matrix, directed=True, indices=[source])[0]


PEER = Peer(
    name="scipy",
    title="SciPy",
    module="scipy.sparse.csgraph",
    distributions=("scipy",),
    install="pip install scipy",
    authors="P. Virtanen et al.",
    year=2020,
    adapters={
        "mst": Adapter("sparse.csgraph.minimum_spanning_tree", _prepare_forest, _forest, _pairs),
        "sssp": Adapter(
            "sparse.csgraph.dijkstra",
            lambda graph, threads, method: _matrix(graph, upper=False),
            _distances,
            lambda matrix, distances: distances,
        ),
    },
)
