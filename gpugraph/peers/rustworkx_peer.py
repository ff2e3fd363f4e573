"""rustworkx: Rust, which asks a Python function for the weight of every edge as a double."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.arrays import edge_columns, float_weights
from gpugraph.peers.peer import Adapter, Peer


def _prepare(graph: CSRGraph, threads: int, method: str) -> Any:
    import rustworkx

    made = rustworkx.PyDiGraph(multigraph=False) if graph.directed else rustworkx.PyGraph(multigraph=False)
    made.add_nodes_from(range(graph.vertices))
    tails, heads, weights = edge_columns(graph)
    made.add_edges_from(list(zip(tails.tolist(), heads.tolist(), float_weights(weights).tolist(), strict=True)))
    return made


def _forest(graph: Any) -> Any:
    import rustworkx

    return rustworkx.minimum_spanning_edges(graph, weight_fn=float)


def _pairs(graph: Any, edges: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    pairs = np.array([(u, v) for u, v, _ in edges], np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _paths(graph: Any, source: int) -> tuple[int, Any]:
    import rustworkx

    return source, rustworkx.dijkstra_shortest_path_lengths(graph, source, edge_cost_fn=float)


def _distances(graph: Any, found: tuple[int, Any]) -> NDArray[np.float64]:
    source, lengths = found
    distance = np.full(graph.num_nodes(), np.inf)
    distance[np.array(list(lengths.keys()), np.int64)] = list(lengths.values())
    distance[source] = min(distance[source], 0.0)  # the answer leaves the source out
    return distance


PEER = Peer(
    name="rustworkx",
    title="rustworkx",
    module="rustworkx",
    distributions=("rustworkx",),
    install="pip install rustworkx",
    authors="M. Treinish, I. Carvalho, G. Tsilimigkounakis, N. Sá",
    year=2022,
    adapters={
        "mst": Adapter("minimum_spanning_edges", _prepare, _forest, _pairs),
        "sssp": Adapter("dijkstra_shortest_path_lengths", _prepare, _paths, _distances),
    },
)
