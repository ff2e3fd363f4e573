"""The minimum spanning forest problem: input, work counted, oracle, certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpugraph.errors import InputError, OutOfMemory
from gpugraph.graph.build import symmetrize
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.column import Column, result_column
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.guest import numbers, plain_array
from gpugraph.problems.mst import COMMAND
from gpugraph.problems.mst.forest import Forest, edge_ids
from gpugraph.problems.mst.on_ranks import ForestOnRanks
from gpugraph.problems.mst.peers import ByPeers
from gpugraph.problems.mst.result_files import ForestFiles
from gpugraph.problems.on_graphs import OnGraphs

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.graph.view import ResidentView
    from gpugraph.problems.counter_example import CounterExample


class MinimumSpanningForest(ForestFiles, ByPeers, ForestOnRanks, OnGraphs):
    """The problem as the measurement sees it."""

    name = "mst"
    title = "Minimum spanning forest"
    counted = "undirected edges"
    definition = "MTEPS = undirected edges of the graph / kernel time / 10^6"
    command = COMMAND
    columns: tuple[Column, ...] = (
        result_column("total_weight"),
        result_column("tree_edges"),
        result_column("components"),
        result_column("edges_sha256", identifies=True),
    )

    def admit(self, graph: CSRGraph) -> CSRGraph:
        """Return the undirected graph; of a directed one the lighter arc of a pair wins, and a note says so."""
        return symmetrize(graph) if graph.directed else graph

    def queries(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the one run there is to make."""
        return [()]

    def query_of(self, result: Forest) -> tuple[Any, ...]:
        """Return the one query there is."""
        return ()

    def work(self, graph: CSRGraph, result: Forest) -> int:
        """Return the number of undirected edges of the graph."""
        return graph.edges

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the algorithm measured fastest: filter-Borůvka on a GPU (docs/results.md), Borůvka's elsewhere."""
        return "filter-boruvka" if device_kind == "cuda" else "boruvka"

    def accept(self, graph: CSRGraph, query: tuple[Any, ...], returned: Any) -> Forest:
        """Return the forest of the canonical edge ids in an array, of pairs of vertices, or of a Forest."""
        edges = returned.edges if isinstance(returned, Forest) else numbers(returned)
        remedy = "return pairs of vertices, or the ids of the forest's edges: the places of their arcs u->v with u < v"
        if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[1] == 2:
            pairs = plain_array(edges, "i u", edges.shape, "pairs of vertices", remedy)
            inside = ((pairs >= 0) & (pairs < graph.vertices)).all(axis=1)
            ids = np.full(len(pairs), -1, np.int64)
            ids[inside] = edge_ids(graph, pairs[inside, 0], pairs[inside, 1])
            for u, v in pairs[ids < 0][:1].tolist():
                raise InputError(f"run returned the pair ({u}, {v}), which is no edge of the graph", remedy=remedy)
            edges = ids
        return Forest.of(graph, plain_array(edges, "i u", None, "the edges of a forest", remedy))

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Forest, by: str = "") -> Verdict:
        """Compare with SciPy's forest, edge for edge."""
        from gpugraph.problems.mst.verify import check_against_reference

        return check_against_reference(graph, result)

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: Forest) -> Verdict:
        """Check that the forest spans, has no cycle, and that every other edge is heaviest on its cycle."""
        from gpugraph.problems.mst.verify import check_certificate

        return check_certificate(graph, result)

    def counter_example(self, graph: CSRGraph, query: tuple[Any, ...], result: Forest) -> CounterExample | None:
        """Return the part of the graph that shows that a result is wrong (see ``verify.py``)."""
        from gpugraph.problems.mst.verify import counter_example

        return counter_example(graph, result)

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
