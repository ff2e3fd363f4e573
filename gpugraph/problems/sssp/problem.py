"""The single-source shortest paths problem: input, work counted, oracle, certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpugraph.clock import working_seconds
from gpugraph.errors import InputError, OutOfMemory
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.column import Column, result_column
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.guest import plain_array
from gpugraph.problems.on_graphs import OnGraphs
from gpugraph.problems.sssp import COMMAND
from gpugraph.problems.sssp.arcs import distance_dtype
from gpugraph.problems.sssp.distances import Distances, distances_from_words
from gpugraph.problems.sssp.on_ranks import DistancesOnRanks
from gpugraph.problems.sssp.peers import ByPeers
from gpugraph.problems.sssp.race_demo import show_race
from gpugraph.problems.sssp.result_files import DistancesFiles

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.graph.view import ResidentView


class ShortestPaths(DistancesFiles, ByPeers, DistancesOnRanks, OnGraphs):
    """The problem ``sssp``: least distances from one source along the arcs as they are directed."""

    name = "sssp"
    title = "Shortest paths"
    query_fields: tuple[str, ...] = ("source",)
    command = COMMAND
    demonstrations: Mapping[str, Callable[..., dict[str, Any]]] = {"race": show_race}
    counted = "edges with an endpoint in the reached set"
    definition = (
        "MTEPS = undirected edges with an endpoint in the reached set (directed graphs: arcs whose tail is reached) "
        "/ kernel time / 10^6"
    )
    columns: tuple[Column, ...] = (
        result_column("source"),
        result_column("source_name"),
        result_column("reached"),
        result_column("distance_sum"),
        result_column("distance_max"),
        result_column("distances_sha256", identifies=True),
    )

    def admit(self, graph: CSRGraph) -> CSRGraph:
        """Return the graph unchanged.

        Raises:
            InputError: it has a negative weight, or had one on a self loop; the message names the first such arc.
        """
        remedy = "use --weights abs, or --weights unit"
        if graph.negative_loop is not None:
            loop = f"the self loop of the vertex {graph.name_of(graph.negative_loop)} has a negative weight"
            raise InputError(
                f"{loop}: paths through it have no least length", where=graph.source or graph.name, remedy=remedy
            )
        if graph.weights.dtype.kind == "u" or not graph.arcs or not graph.weights.min() < 0:
            return graph
        arc = int(np.argmax(graph.weights < 0))
        tail = int(np.searchsorted(graph.offsets, arc, side="right")) - 1
        head = graph.name_of(int(graph.targets[arc]))
        raise InputError(
            f"the arc {graph.name_of(tail)} → {head} has the negative weight {graph.weights[arc]}; "
            "shortest paths need weights of 0 or more",
            where=graph.source or graph.name,
            remedy=remedy,
        )

    def queries(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> Sequence[tuple[int]]:
        """Return a (source,) for each run that ``parameters`` ask for (see ``start_vertex.py``).

        Raises:
            InputError: there is no such source.
        """
        from gpugraph.problems.sssp.start_vertex import resolve_sources

        return [(source,) for source in resolve_sources(graph, parameters)]

    def query_of(self, result: Distances) -> tuple[int]:
        """Return (source,)."""
        return (result.source,)

    def work(self, graph: CSRGraph, result: Distances) -> int:
        """Return the undirected edges with a reached endpoint; of a directed graph, the arcs whose tail is."""
        from_reached = int(graph.degrees[result.reached].sum())
        if graph.directed:
            return from_reached
        if graph.weights.dtype.kind != "f" or result.reached.all():
            return from_reached // 2
        # Only an infinite edge, or a sum beyond the floats, leads from reached to unreached; it has one arc here.
        heads = result.reached[graph.targets]
        leaving = int(np.count_nonzero(np.repeat(result.reached, graph.degrees) & ~heads))
        return (from_reached + leaving) // 2

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the algorithm measured fastest, on every family tried (docs/results.md)."""
        return "delta-stepping"

    def accept(self, graph: CSRGraph, query: tuple[Any, ...], returned: Any) -> Distances:
        """Return the distances that (n,) distance words (``distances.py``) stand for, or those of a Distances."""
        source, n, weights = int(query[0]), (graph.vertices,), graph.weights.dtype
        wanted = f"the {graph.vertices} distances as"
        if isinstance(returned, Distances):
            own = distance_dtype(weights).name
            distance = plain_array(returned.distance, own, n, f"{wanted} {own}", "return them in that type")
            before = returned.predecessor
            if before is not None:
                before = plain_array(before, "int64", n, "the predecessors as int64", "return -1 where there is none")
            return Distances(graph, source, distance, before)
        widths = (4, 8) if weights.kind in "iu" else (weights.itemsize,)
        names = [f"uint{8 * width}" for width in widths]
        remedy = "return words that compare as the distances do, the largest: unreached"
        words = plain_array(returned, " ".join(names), n, f"{wanted} {' or '.join(names)}", remedy)
        return distances_from_words(graph, source, words)

    def complete(
        self,
        result: Distances,
        cell: Any,
        resident: ResidentView | None,
        device: Device,
        progress: Callable[[str], None],
    ) -> tuple[Distances, float] | None:
        """Return the distances with their canonical predecessors, where those are asked for.

        A GPU on which the graph lies finds them itself if it can.

        Raises:
            InputError: the algorithm's result has none.
        """
        if not cell.predecessors:
            return None
        progress("predecessors")
        # What a peer printed is no Distances.
        if resident is not None and device.kind == "cuda" and isinstance(result, Distances):
            from gpugraph.problems.sssp.gpu_tight_arcs import load_kernels

            load_kernels(resident, device)
            start = working_seconds()
            return result.with_predecessors(resident, device), working_seconds() - start
        start = working_seconds()
        return result.with_predecessors(), working_seconds() - start

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Distances, by: str = "") -> Verdict:
        """Check a result against the oracle (see ``verify.py``)."""
        from gpugraph.problems.sssp.verify import check_against_reference

        return check_against_reference(graph, int(query[0]), result, by)

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: Distances) -> Verdict:
        """Check a result by itself (see ``verify.py``)."""
        from gpugraph.problems.sssp.verify import check_certificate

        return check_certificate(graph, int(query[0]), result)

    def certificate_on_device(
        self, view: ResidentView, device: Device, query: tuple[Any, ...], result: Distances
    ) -> Verdict | None:
        """Make the same checks on the device; None if the view holds other arcs or weights, or there is no room."""
        from gpugraph.problems.sssp.gpu_verify import certify

        if view.host.preparations:
            return None
        try:
            return certify(view, device, int(query[0]), result)
        except OutOfMemory:
            return None


PROBLEM: Problem = ShortestPaths()
