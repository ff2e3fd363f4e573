"""NetworkX: pure Python, and exact for integers of any size."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.arrays import edge_columns, refuse_infinite
from gpugraph.peers.errors import PeerRefused
from gpugraph.peers.peer import Adapter, Peer
from gpugraph.problems.sssp.arcs import unreached


def _graph(graph: CSRGraph) -> Any:
    import networkx

    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(range(graph.vertices))
    tails, heads, weights = edge_columns(graph)
    made.add_weighted_edges_from(zip(tails.tolist(), heads.tolist(), weights.tolist(), strict=True))
    return made


def _prepare_forest(graph: CSRGraph, threads: int, method: str) -> tuple[Any, str]:
    if method == "boruvka":
        refuse_infinite(graph, "NetworkX's Borůvka")
    return _graph(graph), method


def _forest(structure: tuple[Any, str]) -> list[tuple[int, int]]:
    import networkx

    graph, method = structure
    return list(networkx.minimum_spanning_edges(graph, algorithm=method, weight="weight", data=False))


def _pairs(structure: Any, edges: list[tuple[int, int]]) -> tuple[Any, Any]:
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _prepare_paths(graph: CSRGraph, threads: int, method: str) -> tuple[Any, np.dtype[Any]]:
    return _graph(graph), graph.weights.dtype


def _paths(structure: tuple[Any, Any], source: int) -> dict[int, int | float]:
    import networkx

    found: dict[int, int | float] = networkx.single_source_dijkstra_path_length(structure[0], source, weight="weight")
    return found


def _distances(structure: tuple[Any, np.dtype[Any]], found: dict[int, int | float]) -> Any:
    graph, weights = structure
    if weights.kind == "f":
        distance = np.full(len(graph), np.inf)
        distance[list(found)] = list(found.values())
        return distance
    whole = np.dtype(np.uint64)
    if max(found.values()) >= unreached(whole):
        raise PeerRefused("a distance needs more than 64 bits")
    exact = np.full(len(graph), unreached(whole), whole)
    exact[list(found)] = np.array(list(found.values()), whole)
    return exact


PEER = Peer(
    name="networkx",
    title="NetworkX",
    module="networkx",
    distributions=("networkx",),
    install="pip install networkx",
    authors="A. Hagberg, D. Schult, P. Swart",
    year=2008,
    adapters={
        "mst": Adapter(
            "minimum_spanning_edges", _prepare_forest, _forest, _pairs, methods=("kruskal", "prim", "boruvka")
        ),
        "sssp": Adapter("single_source_dijkstra_path_length", _prepare_paths, _paths, _distances),
    },
)
