"""The certificate of distances on a GPU, for a graph that lies there: the checks of ``verify.py`` in the same words.

The kernels and why they suffice are in ``cuda_kernels/verify_distances.cu``; the host looks at the graph only to name a
counter-example.

Source: the optimality conditions of Ford, Network flow theory (1956), with tight arcs for the lower side.
"""

from gpugraph.devices.base import Device
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import ResidentView
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.checked_arcs import look
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.gpu_tight_arcs import TightArcs
from gpugraph.problems.sssp.verify import (
    arc_fault,
    describe_loose,
    malformed,
    predecessor_fault,
    source_fault,
    verdict_on,
)


def certify(view: ResidentView, device: Device, source: int, result: Distances) -> Verdict:
    """Check distances on the device and without an oracle; takes at most 24 bytes for each vertex (see ``TightArcs``).

    The view has no preparations.  A failed verdict names the counter-example that ``check_certificate`` names.
    Raises OutOfMemory if the device has no room for it.
    """
    graph = view.host.graph
    fault = malformed(graph, source, result) or source_fault(graph, source, result.raw)
    fault = fault or _fault_there(TightArcs(view, device, result.raw, source), graph, result)
    return verdict_on(result, fault, "; checked on the device")


def _fault_there(tight: TightArcs, graph: CSRGraph, result: Distances) -> str | None:
    """Return the first condition that does not hold, with its counter-example, or None."""
    fault = arc_fault(graph, result.raw, *tight.check_arcs())
    if fault:
        return fault
    loose = tight.follow_levels()
    if loose is not None:
        return describe_loose(graph, result.raw, loose)
    if result.predecessor is None:
        return None
    # The device's kernels also find predecessors: the host, which shares no code with them, looks at those given.
    return predecessor_fault(graph, result, look(graph, result.raw, result.source).level)
