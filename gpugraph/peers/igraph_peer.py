"""igraph: C, called from Python; weights are doubles, handed over as a list with every call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.arrays import edge_columns, float_weights
from gpugraph.peers.peer import Adapter, Peer


class _Prepared:
    """An igraph graph, its weights, and the ends of its edges by igraph's own edge numbers."""

    def __init__(self, graph: CSRGraph, threads: int, method: str) -> None:
        import igraph

        self.tails, self.heads, weights = edge_columns(graph)
        self.weights: list[float] = float_weights(weights).tolist()
        pairs = np.stack([self.tails, self.heads], axis=1)
        self.graph: Any = igraph.Graph(n=graph.vertices, edges=pairs, directed=graph.directed)
        self.method = method


def _forest(prepared: _Prepared) -> Any:
    # Releases before 1.0 know no methods.
    chosen = {} if prepared.method == "auto" else {"method": prepared.method}
    return prepared.graph.spanning_tree(weights=prepared.weights, return_tree=False, **chosen)


def _pairs(prepared: _Prepared, edges: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    numbers = np.array(edges, np.int64)
    return prepared.tails[numbers], prepared.heads[numbers]


def _paths(prepared: _Prepared, source: int) -> Any:
    return prepared.graph.distances(source=[source], weights=prepared.weights, mode="out", algorithm="dijkstra")


PEER = Peer(
    name="igraph",
    title="igraph",
    module="igraph",
    distributions=("igraph", "python-igraph"),
    install="pip install igraph",
    authors="G. Csárdi, T. Nepusz",
    year=2006,
    adapters={
        "mst": Adapter("Graph.spanning_tree", _Prepared, _forest, _pairs, methods=("auto", "prim", "kruskal")),
        "sssp": Adapter("Graph.distances", _Prepared, _paths, lambda prepared, rows: np.array(rows[0], np.float64)),
    },
)
