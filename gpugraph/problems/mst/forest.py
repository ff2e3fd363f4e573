"""Forest: the result of the minimum spanning forest problem.

A forest is the same edge for edge whatever computed it: edges compare by (weight, smaller endpoint, larger
endpoint), so the minimum spanning forest is unique.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.exact import exact_sum
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.mst.edges import edge_endpoints, edge_weights


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
        """Return the forest of the given canonical edge ids, in any order.

        Nothing is checked: ids outside the graph weigh nothing here, and the certificate names them.
        """
        if graph.on_device is not None and graph.on_device.usable and not (edges < 0).any():
            ascending = graph.on_device.ascending(edges)
        else:
            ascending = np.sort(edges.astype(np.int64, copy=False), kind="stable")
        inside = ascending[np.searchsorted(ascending, 0) : np.searchsorted(ascending, graph.arcs)]
        return cls(graph, ascending, exact_sum(edge_weights(graph, inside)), graph.vertices - len(ascending))

    def endpoints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the edges' endpoints (u, v): two (tree_edges,) int64 arrays, u < v, ascending by (u, v)."""
        return edge_endpoints(self.graph, self.edges)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """(n,) int64: of each vertex, the smallest vertex of its component."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = self.graph.vertices
        if n == 0:
            return np.zeros(0, np.int64)
        u, v = self.endpoints()
        _, component = connected_components(coo_array((np.ones(len(u), bool), (u, v)), (n, n)), directed=False)
        _, smallest = np.unique(component, return_index=True)
        labels: NDArray[np.int64] = smallest[component].astype(np.int64, copy=False)
        return labels

    @cached_property
    def edges_sha256(self) -> str:
        """SHA-256 of the pairs (u, v), u < v, ascending, as little-endian int64: u0, v0, u1, v1, …."""
        pairs = np.stack(self.endpoints(), axis=1).astype("<i8", copy=False)
        return hashlib.sha256(np.ascontiguousarray(pairs).data).hexdigest()

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record."""
        return {
            "total_weight": self.total_weight,
            "tree_edges": len(self.edges),
            "components": self.components,
            "edges_sha256": self.edges_sha256,
        }

    def fingerprint(self) -> str:
        """Return a digest that equals another forest's of the same graph exactly if the forests are equal."""
        digest = hashlib.sha256(np.ascontiguousarray(self.edges, "<i8").data)
        digest.update(f"{self.total_weight!r} {self.components}".encode())
        return digest.hexdigest()
