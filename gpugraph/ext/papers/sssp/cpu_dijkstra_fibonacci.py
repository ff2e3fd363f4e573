"""Dijkstra's algorithm with a Fibonacci heap, as SciPy has it: the baseline of the papers' speed-ups.

Source: Fredman & Tarjan, Fibonacci heaps and their uses in improved network optimization algorithms (1987),
§3; called "FH" in Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009).
"""

from gpugraph.base.clock import Clock
from gpugraph.base.errors import InputError
from gpugraph.graph.view import GraphView
from gpugraph.problems.registry import cpu_algorithm
from gpugraph.problems.sssp.arcs import Arcs
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.verify import fits_scipy, in_own_type, is_exact, scipy_distances

_REMEDY = "use --algo dijkstra, which adds whole numbers exactly"


@cpu_algorithm(
    "sssp",
    "dijkstra-fibonacci",
    summary="Dijkstra with a Fibonacci heap in float64 (SciPy's), sequential: the papers' baseline",
    authors="Fredman, Tarjan",
    year=1987,
    section="§3",
)
def dijkstra_fibonacci(view: GraphView, clock: Clock, source: int) -> Distances:
    """Return the distances by SciPy; raise InputError if float64 is not exact, or it cannot hold so many arcs."""
    arcs = Arcs.of(view)
    where = view.graph.name
    if len(arcs.targets) >= 2**31:
        raise InputError(f"SciPy holds less than 2^31 arcs, not {len(arcs.targets)}", where=where, remedy=_REMEDY)
    if not fits_scipy(arcs):
        what = f"SciPy cannot hold targets of {arcs.targets.dtype}"
        raise InputError(what, where=where, remedy=_REMEDY)
    with clock.phase("search"):
        distance = scipy_distances(arcs, source)
    if not is_exact(arcs, distance):
        what = "distances reach 2^53, beyond which SciPy's float64 is not exact"
        raise InputError(what, where=where, remedy=_REMEDY)
    return Distances(view.graph, source, in_own_type(arcs, distance))
