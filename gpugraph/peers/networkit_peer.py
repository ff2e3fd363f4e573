"""NetworKit: C++ with threads; weights are doubles, unreached vertices at the greatest of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.arrays import edge_columns, float_weights, refuse_infinite
from gpugraph.peers.errors import PeerRefused
from gpugraph.peers.peer import Adapter, Peer

_FOREST = {"kruskal": "KruskalMSF", "prim": "PrimMSF"}


def _prepare(graph: CSRGraph, threads: int, method: str) -> tuple[Any, str]:
    import networkit

    if method and not hasattr(networkit.graph, _FOREST[method]):
        raise PeerRefused(f"this version of NetworKit has no {_FOREST[method]}", remedy="pip install -U networkit")
    if method == "prim":
        refuse_infinite(graph, "NetworKit's Prim")
    networkit.setNumberOfThreads(threads)
    tails, heads, weights = edge_columns(graph)
    triples = (float_weights(weights), (tails.astype(np.uint64), heads.astype(np.uint64)))
    made = networkit.GraphFromCoo(triples, n=graph.vertices, weighted=True, directed=graph.directed)
    return made, method


def _forest(structure: tuple[Any, str]) -> Any:
    import networkit

    graph, method = structure
    algorithm = getattr(networkit.graph, _FOREST[method])(graph)
    algorithm.run()
    return algorithm


def _pairs(structure: Any, algorithm: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    pairs = np.array(list(algorithm.getForest().iterEdges()), np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _paths(structure: tuple[Any, str], source: int) -> Any:
    import networkit

    algorithm = networkit.distance.Dijkstra(structure[0], source, storePaths=False)
    algorithm.run()
    return algorithm


def _distances(structure: Any, algorithm: Any) -> NDArray[np.float64]:
    distance = np.array(algorithm.getDistances(asarray=True), np.float64)
    distance[distance == np.finfo(np.float64).max] = np.inf
    return distance


PEER = Peer(
    name="networkit",
    title="NetworKit",
    module="networkit",
    distributions=("networkit",),
    install="pip install networkit",
    authors="C. Staudt, A. Sazonovs, H. Meyerhenke",
    year=2016,
    adapters={
        "mst": Adapter("graph.KruskalMSF or PrimMSF", _prepare, _forest, _pairs, methods=tuple(_FOREST)),
        "sssp": Adapter("distance.Dijkstra", _prepare, _paths, _distances),
    },
)
