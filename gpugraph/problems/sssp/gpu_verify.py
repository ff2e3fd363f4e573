"""The certificate of ``verify.py`` on a GPU, for a graph that lies there: the same checks in the same words.

The kernels and why they suffice are in ``cuda_kernels/verify_distances.cu``; the host looks at the graph only to name a
counter-example.

Source: the optimality conditions of Ford, Network flow theory (1956), with tight arcs for the lower side.
"""

from __future__ import annotations

from gpugraph.devices.base import Device
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import ResidentView
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.gpu_tight_arcs import TightArcs
from gpugraph.problems.sssp.tight_arcs import ends_of
from gpugraph.problems.sssp.verify import (
    arc_fault,
    describe_loose,
    describe_right,
    differing_predecessor,
    malformed,
    source_fault,
)


def certify(view: ResidentView, device: Device, source: int, result: Distances) -> Verdict:
    """Check distances on the device and without an oracle; takes at most 24 bytes for each vertex (see ``TightArcs``).

    Args:
        view: the graph without preparations.
        device: the device that holds it.
        source: 0-based vertex.
        result: distances in ``view.host.graph``.

    Returns:
        A verdict whose detail, where a check fails, names the counter-example that ``check_certificate`` names.

    Raises:
        OutOfMemory: the device has no room for it.
    """
    graph = view.host.graph
    fault = malformed(graph, source, result) or source_fault(graph, source, result.raw)
    fault = fault or _first_fault(TightArcs(view, device, result.raw, source), graph, result)
    if fault:
        return Verdict("failed", "certificate", fault)
    return Verdict("passed", "certificate", f"{describe_right(result)}; checked on the device")


def _first_fault(tight: TightArcs, graph: CSRGraph, result: Distances) -> str | None:
    """Return the first condition that does not hold, with its counter-example, or None."""
    relaxable, wraps = (ends_of(graph, arc) for arc in tight.check_arcs())
    fault = arc_fault(graph, result.raw, relaxable, wraps)
    if fault:
        return fault
    loose = tight.follow_levels()
    if loose is not None:
        return describe_loose(graph, result.raw, loose)
    if result.predecessor is not None:
        return differing_predecessor(graph, result.predecessor, tight.predecessors())
    return None
