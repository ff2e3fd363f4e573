"""The minimum spanning forest problem: input, work counted, oracle, certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.mst import COMMAND
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.verify import check_against_reference, check_certificate
from gpugraph.problems.on_graphs import OnGraphs

if TYPE_CHECKING:
    from gpugraph.graph.view import ResidentView


class MinimumSpanningForest(OnGraphs):
    """The problem as the measurement sees it."""

    result = Forest
    recorded: tuple[str, ...] = ("graph.directed", "result.total_weight")
    recorded_of_ours: tuple[str, ...] = ("result.tree_edges", "result.components", "result.edges_sha256")
    name = "mst"
    certifier = "gpugraph.problems.mst.gpu_verify"
    command = COMMAND
    counter_examples = "gpugraph.ext.counter_examples.mst"

    def admit(self, graph: Any) -> Any:
        """Return the undirected graph; of a directed one the lighter arc of a pair wins, and a note says so."""
        if not graph.directed:
            return graph
        from gpugraph.graph.symmetrize import symmetrize

        return symmetrize(graph)

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the algorithm measured fastest: filter-Borůvka on a GPU (docs/results.md), Borůvka's elsewhere."""
        return "filter-boruvka" if device_kind == "cuda" else "boruvka"

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Forest, by: str = "") -> Verdict:
        """Compare with SciPy's forest, edge for edge."""
        return check_against_reference(graph, result)

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: Forest) -> Verdict:
        """Check that the forest spans, has no cycle, and that every other edge is heaviest on its cycle."""
        return check_certificate(graph, result)

    def suits(self, view: ResidentView) -> bool:
        """Tell whether the view's arcs are where they were; ranks in place of weights will do."""
        return view.edge_ids is None and view.compressed is None


PROBLEM: Problem = MinimumSpanningForest()
