"""The minimum spanning forest problem: input, result, work counted.

A forest is the same edge for edge whatever computed it: edges compare by (weight, smaller endpoint, larger
endpoint), so the minimum spanning forest is unique.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import OutOfMemory
from gpugraph.exact import exact_sum
from gpugraph.graph.build import symmetrize
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.mst.edges import edge_endpoints
from gpugraph.problems.on_graphs import OnGraphs

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.devices.resident import ResidentView


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
        ascending = np.sort(edges.astype(np.int64, copy=False), kind="stable")
        inside = ascending[np.searchsorted(ascending, 0) : np.searchsorted(ascending, graph.arcs)]
        return cls(graph, ascending, exact_sum(graph.weights[inside]), graph.vertices - len(ascending))

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


class MinimumSpanningForest(OnGraphs):
    """The problem as the measurement sees it."""

    name = "mst"
    title = "Minimum spanning forest"
    counted = "undirected edges"
    definition = "MTEPS = undirected edges of the graph / kernel time / 10^6"

    def admit(self, graph: CSRGraph) -> CSRGraph:
        """Return the undirected graph; of a directed one the lighter arc of a pair wins, and a note says so."""
        return symmetrize(graph)

    def queries(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the one run there is to make."""
        return [()]

    def work(self, graph: CSRGraph, result: Forest) -> int:
        """Return the number of undirected edges of the graph."""
        return graph.edges

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the algorithm measured fastest: filter-Borůvka on a GPU (docs/results.md), Borůvka's elsewhere."""
        return "filter-boruvka" if device_kind == "cuda" else "boruvka"

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Forest, by: str = "") -> Verdict:
        """Compare with SciPy's forest, edge for edge."""
        from gpugraph.problems.mst.reference import check_against_reference

        return check_against_reference(graph, result)

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: Forest) -> Verdict:
        """Check that the forest spans, has no cycle, and that every other edge is heaviest on its cycle."""
        from gpugraph.problems.mst.verify import check_certificate

        return check_certificate(graph, result)

    def certificate_on_device(
        self, view: ResidentView, device: Device, query: tuple[Any, ...], result: Forest
    ) -> Verdict | None:
        """Make the same checks on the device; None if the view's arcs are rearranged or there is no room."""
        from gpugraph.problems.mst.gpu_verify import certify

        if view.edge_ids is not None or view.compressed is not None:
            return None
        try:
            return certify(view, device, result)
        except OutOfMemory:
            return None


PROBLEM: Problem = MinimumSpanningForest()
