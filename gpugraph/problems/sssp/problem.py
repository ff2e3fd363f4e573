"""``ShortestPaths``, the problem ``sssp``: its input, work counted, oracle and certificate."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import working_seconds
from gpugraph.base.errors import GpuGraphWarning, InputError, OutOfMemory
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import ASSUMED, CSRGraph
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.on_graphs import OnGraphs
from gpugraph.problems.sources import resolve_sources
from gpugraph.problems.sssp import COMMAND, verify
from gpugraph.problems.sssp.distances import DistanceMatrix, Distances, check_each

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.graph.view import ResidentView


AnyDistances = Distances | DistanceMatrix


class ShortestPaths(OnGraphs):
    """The problem ``sssp``: least distances from one source along the arcs as they are directed."""

    result: type[Any] | tuple[type[Any], ...] = (Distances, DistanceMatrix)
    recorded: tuple[str, ...] = ("graph.directed", "result.source", "result.distance_sum")
    recorded_of_ours: tuple[str, ...] = ("result.reached", "result.distance_max", "result.distances_sha256")
    name = "sssp"
    certifier = "gpugraph.problems.sssp.gpu_verify"
    query_fields: tuple[str, ...] = ("source",)
    command = COMMAND
    counter_examples = "gpugraph.ext.counter_examples.sssp"
    counted = "edges with an endpoint in the reached set"
    definition = (
        "MTEPS = undirected edges with an endpoint in the reached set (directed graphs: arcs whose tail is reached) "
        "/ kernel time / 10^6"
    )

    def admit(self, graph: Any) -> Any:
        """Return the graph; raise InputError naming the first negative arc or self loop."""
        if (fault := negative(graph)) is not None:
            raise InputError(fault, where=graph.source or graph.name, remedy="use --reweight abs, or --reweight unit")
        return graph

    def queries(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> Sequence[tuple[int]]:
        """Return a (source,) for each run asked for (see ``problems/sources.py``); InputError if there is none."""
        return [(source,) for source in resolve_sources(graph, parameters)]

    def batch(self, queries: Sequence[tuple[int]]) -> tuple[tuple[int, ...]]:
        """Return (sources,), the query of an algorithm that answers with a ``DistanceMatrix``."""
        return (tuple(source for (source,) in queries),)

    def query_of(self, result: AnyDistances) -> tuple[Any]:
        """Return (source,), or (sources,)."""
        return (tuple(result.sources.tolist()),) if isinstance(result, DistanceMatrix) else (result.source,)

    def work(self, graph: CSRGraph, result: AnyDistances) -> int:
        """Return the edges with a reached endpoint, or the directed arcs with a reached tail, over all sources."""
        if isinstance(result, DistanceMatrix):
            return sum(self.work(graph, row) for row in result)
        both = arcs_reached(graph, result.reached, result.reached)
        return both if graph.directed else both // 2

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the algorithm measured fastest, on every family tried (docs/results.md)."""
        return "delta-stepping"

    def add_optional_outputs(
        self,
        result: AnyDistances,
        cell: Any,
        resident: ResidentView | None,
        device: Device,
        progress: Callable[[str], None],
    ) -> tuple[AnyDistances, float] | None:
        """Return the distances with their canonical predecessors, where those are asked for.

        A GPU on which the graph lies finds them itself if it can.  Raises InputError if the algorithm's result has
        none.
        """
        _tell_reached(result)
        if not cell.predecessors:
            return None
        progress("predecessors")
        # What a peer printed is no Distances.
        ours = isinstance(result, Distances | DistanceMatrix)
        there = (resident, device) if ours and resident is not None and device.kind == "cuda" else ()
        if there:
            from gpugraph.problems.sssp.gpu_tight_arcs import load_kernels

            load_kernels(*there, result.raw.dtype)
        start = working_seconds()
        return result.with_predecessors(*there), working_seconds() - start

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: AnyDistances, by: str = "") -> Verdict:
        """Check a result against the oracle (see ``verify.py``)."""
        if isinstance(result, DistanceMatrix):
            return check_each(result, query[0], lambda row: self.reference(graph, (row.source,), row, by))
        source = int(query[0])
        return _with_rounding(graph, result, verify.check_against_reference(graph, source, result, by))

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: AnyDistances) -> Verdict:
        """Check a result by itself (see ``verify.py``)."""
        if isinstance(result, DistanceMatrix):
            return check_each(result, query[0], lambda row: self.certificate(graph, (row.source,), row))
        return _with_rounding(graph, result, verify.check_certificate(graph, int(query[0]), result))

    def certificate_on_device(
        self, view: ResidentView, device: Device, query: tuple[Any, ...], result: AnyDistances
    ) -> Verdict | None:
        """Make the same checks on the device; None if the view holds other arcs or weights, or there is no room."""
        if not isinstance(result, DistanceMatrix):
            found = super().certificate_on_device(view, device, query, result)
            return found and _with_rounding(view.host.graph, result, found)
        check = self.certificate_on_device
        return check_each(result, query[0], lambda row: check(view, device, (row.source,), row))


def negative(graph: Any, first: int = 0) -> str | None:
    """Return what has a negative weight, the first self loop or arc, or None; the first row is that of ``first``."""
    if graph.negative_loop is not None:
        loop = f"the self loop of the vertex {graph.name_of(graph.negative_loop)} has a negative weight"
        return f"{loop}: paths through it have no least length"
    if not graph.has_negative_weight:
        return None
    arc = int(np.argmax(graph.weights < 0))
    tail = int(np.searchsorted(graph.offsets, arc, side="right")) - 1 + first
    named = f"the arc {graph.name_of(tail)} → {graph.name_of(int(graph.targets[arc]))}"
    return f"{named} has the negative weight {graph.weights[arc]}; shortest paths need weights of 0 or more"


def arcs_reached(graph: Any, own: NDArray[np.bool_], reached: NDArray[np.bool_]) -> int:
    """Return the arcs whose tail is reached; of an undirected graph, twice an edge of which one end alone is.

    ``own`` is (rows,) of the vertices whose rows the graph holds, ``reached`` (n,) of all.
    """
    degrees = graph.degrees

    def arcs_of(start: int, stop: int) -> int:
        return int(degrees[start:stop][own[start:stop]].sum())

    count = sum(in_threads(arcs_of, even_ranges(len(own))))
    # Only an infinite edge, or a sum beyond the floats, leads from reached to unreached; it has one arc here.
    if not graph.directed and graph.weight_dtype.kind == "f" and not reached.all():
        # Both sides of such edges have as many arcs; all ranks must look from the same.
        many = np.count_nonzero(reached) >= len(reached) // 16
        rows, beyond = (~own, reached) if many else (own, ~reached)
        count += sum(int(np.count_nonzero(beyond[heads])) for heads in _heads_of(graph, np.flatnonzero(rows)))
    return count


_AT_ONCE = 1 << 24  # arcs


def _heads_of(graph: Any, rows: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
    """Yield the heads of the arcs of some rows, looked up where the graph lies: few of many need not be copied."""
    upto = np.cumsum(graph.degrees[rows])
    arcs, first = int(upto[-1]) if len(rows) else 0, graph.offsets[rows] - (upto - graph.degrees[rows])
    for start in range(0, arcs, _AT_ONCE):
        numbers = np.arange(start, min(start + _AT_ONCE, arcs))
        at = first[np.searchsorted(upto, numbers, side="right")] + numbers
        if graph.on_device is not None and graph.on_device.usable:
            with suppress(OutOfMemory):  # the host has room
                yield graph.on_device.ends_and_weights(at)[1]
                continue
        yield graph.targets[at]


def _with_rounding(graph: CSRGraph, result: Distances, verdict: Verdict) -> Verdict:
    """Return a verdict with the error of sums that were rounded, if they were."""
    if result.raw.dtype != np.float32:
        return verdict
    from gpugraph.problems.sssp.rounded_sums import with_rounding

    return with_rounding(graph, result, verdict)


def _tell_reached(result: object) -> None:
    """Warn where few vertices may be reached because a file's lines were taken for arcs."""
    if isinstance(result, Distances) and ASSUMED in result.graph.notes and not result.reached.all():
        counts = f"{np.count_nonzero(result.reached)} of {result.graph.vertices} vertices"
        warnings.warn(f"{counts} were reached along the arcs", GpuGraphWarning, stacklevel=2)


PROBLEM: Problem = ShortestPaths()
