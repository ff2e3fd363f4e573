"""Libraries' connected components: how each is called, and its labels by the smallest vertex."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.ext.components.labels import Components
from gpugraph.ext.peers import libraries
from gpugraph.ext.peers.adapter import Adapter, Figure, PrintedFigure
from gpugraph.ext.peers.graph_files import ResultFile, as_numbers
from gpugraph.ext.peers.peer import PeerRefused, PeerThrew, certified
from gpugraph.graph.csr import CSRGraph


def canonical(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return labels of any kind as those by the smallest vertex."""
    _, smallest, number = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(smallest[number], np.int64)


def _labels_of_sets(vertices: int, sets: Iterable[Iterable[int]]) -> NDArray[np.int64]:
    labels = np.full(vertices, -1, np.int64)
    for number, members in enumerate(sets):
        labels[list(members)] = number
    return labels


def _cugraph_prepared(graph: CSRGraph, threads: int, method: str) -> libraries.CugraphGraph:
    if graph.directed:
        raise PeerRefused("its components are those of an undirected graph", remedy="--undirected")
    ones = np.ones(graph.arcs, np.float32)  # it reads no weights, and need not hold these exactly
    return libraries.CugraphGraph(CSRGraph(graph.offsets, graph.targets, ones, directed=False), threads, "float32")


def _cugraph_labels(prepared: libraries.CugraphGraph, raw: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
    labels = np.empty(prepared.vertices, raw[1].dtype)
    labels[raw[0]] = raw[1]  # they come in the order of cuGraph's own numbers
    return labels


PEERS = {
    "scipy": Adapter(
        "sparse.csgraph.connected_components",
        lambda graph, threads, method: libraries.scipy_matrix(graph, upper=False),
        lambda matrix: import_module("scipy.sparse.csgraph").connected_components(matrix, directed=False)[1],
        lambda matrix, labels: labels,
    ),
    "networkx": Adapter(
        "connected_components",
        lambda graph, threads, method: libraries.networkx_graph(graph),
        lambda graph: list(import_module("networkx").connected_components(graph)),
        lambda graph, sets: _labels_of_sets(len(graph), sets),
    ),
    "igraph": Adapter(
        "Graph.connected_components",
        libraries.IgraphGraph,
        lambda prepared: prepared.graph.connected_components(mode="weak"),
        lambda prepared, found: np.array(found.membership, np.int64),
    ),
    "networkit": Adapter(
        "components.ParallelConnectedComponents",
        lambda graph, threads, method: libraries.networkit_graph(graph, threads),
        lambda graph: import_module("networkit").components.ParallelConnectedComponents(graph).run(),
        lambda graph, algorithm: _labels_of_sets(graph.numberOfNodes(), algorithm.getComponents()),
    ),
    "cugraph": Adapter(
        "weakly_connected_components",
        _cugraph_prepared,
        lambda prepared: libraries.call_cugraph(prepared, "weakly_connected_components", *[None] * 4, False),
        _cugraph_labels,
        fetch=libraries.cugraph_to_host,
    ),
}


class ByPeers:
    """How ``SolvedByPeers`` is fulfilled."""

    peers: Mapping[str, Adapter] = PEERS
    printed = PrintedFigure("components", "number of components", "components")

    def answer(
        self, graph: CSRGraph, raw: NDArray[Any], query: tuple[Any, ...], by: str, first: list[Any]
    ) -> Components:
        """Return the components of a library's labels, whatever it calls them."""
        return Components.of(graph, canonical(raw))

    def listed(self, file: ResultFile, graph: CSRGraph, query: tuple[Any, ...], first: list[Any]) -> Components:
        """Return the components that a file lists: ``label`` a line in vertex order, or ``vertex label``."""
        columns = file.columns(vertices=graph.vertices)
        if not columns:
            return Components.of(graph, np.zeros(0, np.int64))
        labels = as_numbers(columns[min(1, len(columns) - 1)], np.dtype(np.int64), file.by)
        if len(columns) > 1:
            vertices = file.vertices(columns[0])
            if not np.array_equal(np.sort(vertices), np.arange(graph.vertices)):
                remedy = "write a line 'vertex component' for each vertex"
                raise PeerThrew("its result file does not hold each vertex once", where=file.by, remedy=remedy)
            labels = labels[np.argsort(vertices)]
        return Components.of(graph, canonical(labels))

    def truth(self, graph: CSRGraph, query: tuple[Any, ...], method: str) -> Figure:
        """Return the number of components."""
        if method == "reference":
            from gpugraph.ext.components.verify import reference_labels

            return Figure(Components.of(graph, reference_labels(graph)).components, 0.0, "SciPy's components")
        return Figure(certified("components", "afforest", graph).components, 0.0, "certified components")


BY_PEERS = ByPeers()
