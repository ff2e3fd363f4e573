"""The single-source shortest paths problem: input, result, work counted.

Distances are unique, and so are the canonical predecessors (``tight.py``): whatever computed them, two right
results are equal bit for bit.  A float distance is the least, over all paths, of the sum taken from the source
on in the weights' own type.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import InputError, OutOfMemory
from gpugraph.exact import exact_sum
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.on_graphs import OnGraphs

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.devices.resident import ResidentView


def distance_dtype(weight_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of distances on the host: uint64 for integer weights, else the weights' own float."""
    return np.dtype(np.uint64) if weight_dtype.kind in "iu" else weight_dtype


def unreached(dtype: np.dtype[Any]) -> Any:
    """Return the value that marks a vertex as not reached: 2^64−1 for integers, infinity for floats."""
    return dtype.type(np.iinfo(dtype).max if dtype.kind == "u" else np.inf)


def vertex_label(graph: CSRGraph, vertex: int) -> str:
    """Return a vertex for a message: its number, and its name where the file had one."""
    return f"{vertex}" if graph.vertex_names is None else f"{vertex} (named {graph.vertex_names[vertex]})"


@dataclass(frozen=True, eq=False)
class Distances:
    """Shortest distances from one source.

    Attributes:
        graph: the graph.
        source: 0-based source vertex.
        distance: (n,) uint64 for integer weights, float32 or float64 for theirs; ``unreached(dtype)`` where
            there is no path of finite length.
        predecessor: (n,) int64, −1 for the source and unreached vertices, or None where not asked for.
    """

    graph: CSRGraph
    source: int
    distance: NDArray[Any]
    predecessor: NDArray[np.int64] | None = None

    @cached_property
    def reached(self) -> NDArray[np.bool_]:
        """(n,) bool: which vertices a path of finite length leads to; the source is one."""
        mask: NDArray[np.bool_] = self.distance != unreached(self.distance.dtype)
        return mask

    def with_predecessors(self, view: ResidentView | None = None, device: Device | None = None) -> Distances:
        """Return the same distances with their canonical predecessors.

        Args:
            view: the graph on a device that is to find them, or None for the host, which also steps in where the view
                holds another graph or there is no room.
            device: the device that holds it.
        """
        from gpugraph.problems.sssp import gpu_tight, tight

        if self.predecessor is not None:
            return self
        if view is not None and device is not None and gpu_tight.suits(view, self):
            try:
                return replace(
                    self, predecessor=gpu_tight.canonical_predecessors(view, device, self.distance, self.source)
                )
            except OutOfMemory:
                pass  # the host has room
        return replace(self, predecessor=tight.canonical_predecessors(self.graph, self.distance, self.source))

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record.

        ``source_name`` is there where the file had its own ids.  ``distance_sum`` over the reached vertices is an
        exact int or the correctly rounded float; ``distances_sha256`` is over the distances in vertex order as
        little-endian float64, unreached = inf.
        """
        finite = self.distance[self.reached]
        wide = self.distance.astype("<f8")
        wide[~self.reached] = np.inf
        names = self.graph.vertex_names
        return {
            "source": self.source,
            **({} if names is None else {"source_name": names[self.source].item()}),
            "reached": len(finite),
            "distance_sum": exact_sum(finite),
            "distance_max": finite.max(initial=0).item(),
            "distances_sha256": hashlib.sha256(wide.data).hexdigest(),
        }

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if source, distances and predecessors do."""
        digest = hashlib.sha256(f"{self.source} {self.distance.dtype} {self.predecessor is not None}".encode())
        digest.update(np.ascontiguousarray(self.distance).data)
        if self.predecessor is not None:
            digest.update(np.ascontiguousarray(self.predecessor, np.int64).data)
        return digest.hexdigest()


class ShortestPaths(OnGraphs):
    """The problem ``sssp``: least distances from one source along the arcs as they are directed."""

    name = "sssp"
    title = "Single-source shortest paths"
    counted = "edges with an endpoint in the reached set"
    definition = (
        "MTEPS = undirected edges with an endpoint in the reached set (directed graphs: arcs whose tail is reached) "
        "/ kernel time / 10^6"
    )

    def admit(self, graph: CSRGraph) -> CSRGraph:
        """Return the graph unchanged.

        Raises:
            InputError: it has a negative weight; the message names the first such arc.
        """
        if graph.weights.dtype.kind == "u" or not graph.arcs or not graph.weights.min() < 0:
            return graph
        arc = int(np.argmax(graph.weights < 0))
        tail = int(np.searchsorted(graph.offsets, arc, side="right")) - 1
        names = np.arange(graph.vertices) if graph.vertex_names is None else graph.vertex_names
        raise InputError(
            f"the arc {names[tail]} → {names[graph.targets[arc]]} has the negative weight {graph.weights[arc]}; "
            "shortest paths need weights of 0 or more",
            where=graph.source or graph.name,
            remedy="use --weights abs, or --weights unit",
        )

    def queries(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> Sequence[tuple[int]]:
        """Return a (source,) for each run that ``parameters`` ask for (see ``source.py``).

        Raises:
            InputError: there is no such source.
        """
        from gpugraph.problems.sssp.source import resolve_sources

        return [(source,) for source in resolve_sources(graph, parameters)]

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

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Distances, by: str = "") -> Verdict:
        """Check a result against the oracle (see ``reference.py``)."""
        from gpugraph.problems.sssp.reference import check_against_reference

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
