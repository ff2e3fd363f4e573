"""The connected components problem: input, work counted, oracle, certificate."""

from typing import Any

from gpugraph.ext.components import COMMAND, verify
from gpugraph.ext.components.labels import Components
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.symmetrize import symmetrize
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.on_graphs import OnGraphs


class ConnectedComponents(OnGraphs):
    """The problem as the measurement sees it."""

    result = Components
    recorded: tuple[str, ...] = ("graph.directed", "result.components")
    recorded_of_ours: tuple[str, ...] = ("result.largest", "result.labels_sha256")
    name = "components"
    certifier = "gpugraph.ext.components.verify"
    command = COMMAND
    counter_examples = "gpugraph.ext.components.verify"

    def admit(self, graph: Any) -> Any:
        """Return the undirected graph: the components of a directed one are the weakly connected ones."""
        return symmetrize(graph)

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the one algorithm there is for a kind of device."""
        return "afforest" if device_kind == "cpu" else "hook"

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Components, by: str = "") -> Verdict:
        """Compare with SciPy's components, vertex by vertex."""
        return verify.check_against_reference(graph, result)

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: Components) -> Verdict:
        """Check that no arc leaves a component and that each is connected."""
        return verify.check_certificate(graph, result)


PROBLEM: Problem = ConnectedComponents()
