"""Shortest paths in graphs that no rank holds as a whole: sources, certified distances.

Every rank has all distances, a word a vertex, and looks at the arcs of its own rows.  The certificate is that of
``verify.py``: the source at 0, no arc to be relaxed, and every reached vertex on the source by tight arcs.  Tight arcs
from nearer vertices show themselves; those between equal distances are followed round by round, all ranks together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.ext.ranks.part import GraphPart
from gpugraph.ext.ranks.transports import comm_for
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sources import DEFAULT
from gpugraph.problems.sssp import checked_arcs
from gpugraph.problems.sssp.arcs import Arcs, unreached
from gpugraph.problems.sssp.distances import Distances, refuse_wide
from gpugraph.problems.sssp.gpu_tight_arcs import TightArcs
from gpugraph.problems.sssp.problem import ShortestPaths, arcs_reached, negative
from gpugraph.problems.sssp.tight_arcs import look_at_rows
from gpugraph.problems.sssp.verify import verdict_on

_NO_TAIL = np.uint64(2**64 - 1)


class PathsOnRanks(ShortestPaths):
    """The problem where each rank has its part of the graph; all call it at once, and it answers them alike."""

    counter_examples = ""  # no rank has the graph to draw it

    def admit(self, part: Any) -> GraphPart:
        """Return the part; raise InputError, on all ranks, naming a negative arc or self loop."""
        checked: GraphPart = part
        fault = next(filter(None, checked.comm.all_gather_object(negative(checked, checked.first))), None)
        if fault is not None:
            remedy = "use --reweight unit, or weights of 0 or more"
            raise InputError(fault, where=checked.source or checked.name, remedy=remedy)
        return checked

    def queries(self, part: Any, parameters: Mapping[str, Any]) -> Sequence[tuple[int]]:
        """Return a (source,) for each run asked for."""
        if parameters.get("source") in (None, DEFAULT) and part.vertices:
            return [(of_greatest_degree(part),)]
        whole: Any = Degrees(part)
        return super().queries(whole, parameters)

    def work(self, part: Any, result: Any) -> int:
        """Return the edges with a reached endpoint, or the directed arcs with a reached tail."""
        own = result.reached[part.first : part.first + part.rows]
        both: int = sum(part.comm.all_gather_object(arcs_reached(part, own, result.reached)))
        return both if part.directed else both // 2

    def auto(self, part: Any, device_kind: str) -> str:
        """Return the one algorithm that there is."""
        return "delta-stepping-distributed"

    def certificate(self, part: Any, query: tuple[Any, ...], result: Any) -> Verdict:
        """Check distances by themselves."""
        return certify_part(part, int(query[0]), result)


PROBLEM = PathsOnRanks()


class Degrees:
    """What sources are chosen from: the vertices of all ranks, and their degrees; the first look is a collective."""

    vertex_names = None

    def __init__(self, part: GraphPart):
        self.vertices, self.name, self._part = part.vertices, part.name, part

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """(n,) out-degrees of all vertices."""
        return np.concatenate(self._part.comm.all_gather_v(self._part.degrees))


def of_greatest_degree(part: GraphPart) -> int:
    """Return the first vertex of greatest out-degree; a collective, for which no rank needs all degrees."""
    v = int(np.argmax(part.degrees)) if part.rows else 0
    greatest = part.comm.all_gather_object((int(part.degrees[v]), -v - part.first) if part.rows else (-1, 0))
    return -int(max(greatest)[1])


def certify_part(part: GraphPart, source: int, result: Distances) -> Verdict:
    """Check distances by themselves; a collective."""
    fault = part.disagreement(result.fingerprint()) or _fault(part, source, result)
    return verdict_on(result, fault, f"; checked by {part.comm.size} ranks")


_LOOSE = "vertices not yet linked"


def _fault(part: GraphPart, source: int, result: Distances) -> str | None:
    """Return what is wrong with distances, the same on all ranks, or None; a collective."""
    distance, n = result.raw, part.vertices
    if result.source != source or distance.shape != (n,):
        return f"the result is {len(distance)} distances from {result.source}, not {n} from {source}"
    if distance[source] != 0:
        return f"the source {source} has the distance {distance[source]}"
    if all(part.comm.all_gather_object(part.on_device is not None)):
        return _fault_on_device(part, source, distance)
    arcs, linked = Arcs.of(part), np.zeros(n, np.uint8)
    of_vertices = distance, unreached(distance.dtype), linked, np.zeros(n, np.uint8)
    found = checked_arcs.look_at_rows(arcs, of_vertices, part.first, 0, part.rows)
    if (fault := _bad_arc(part, distance, *found)) is not None:
        return fault
    linked[source] = 1
    part.comm.all_reduce(linked, "max")
    while part.comm.agreed(bool((loose := (linked == 0) & result.reached).any()), "as to vertices not yet linked"):
        grown = linked.copy()
        _follow(arcs, part.first, distance, linked, grown)
        part.comm.all_reduce(grown, "max")
        if np.array_equal(grown, linked):
            return _loose(int(np.argmax(loose)), distance)
        linked = grown
    return None


def _bad_arc(part: GraphPart, distance: NDArray[Any], relaxable: int, wraps: int) -> str | None:
    """Return what the first of all ranks' bad arcs refutes, this rank's given, or −1; a collective.

    One can be relaxed, or its sum, of integers, has no place in 64 bits and its head is unreached.
    """
    fault, arc = None, relaxable
    if arc < 0 and distance.dtype == np.uint64:
        arc = wraps
    if arc >= 0:
        (tail,), (head,), (weight,) = part.arcs_at(np.array([arc]))
        how = f"shorter than {distance[head]}" if arc == relaxable else "by a distance that does not fit in 64 bits"
        fault = f"the arc {tail} → {head} of weight {weight} leads to {head} {how}"
    return next((one for one in part.comm.all_gather_object(fault) if one is not None), None)


def _loose(v: int, distance: NDArray[Any]) -> str:
    return f"vertex {v} at distance {distance[v]} is not reached from the source by tight arcs"


def _fault_on_device(part: GraphPart, source: int, distance: NDArray[Any]) -> str | None:
    """Return what is wrong with distances, found where the rows lie; a collective."""
    rows: Any = part.on_device
    comm = comm_for(part.comm, rows.device)
    tight = TightArcs(rows, rows.device, distance, source)
    if (fault := _bad_arc(part, distance, *tight.check_arcs())) is not None:
        return fault
    comm.all_reduce(tight.hold, "min")
    count = part.comm.agreed(tight.find_loose()[0], _LOOSE)
    while count:
        tight.follow_levels()
        comm.all_reduce(tight.hold, "min")
        tight.ground()
        left, first = tight.find_loose()
        part.comm.agreed(left, _LOOSE)
        if left == count:
            return _loose(first, distance)
        count = left
    return None


def refuse_wrapped_sums(part: GraphPart, source: int, distance: NDArray[Any]) -> None:
    """Raise InputError, on all ranks, for a vertex unreached only because 64 bits are too few; a collective."""
    if distance.dtype != np.uint64:
        return
    of_vertices = (
        distance,
        unreached(distance.dtype),
        np.full(part.vertices, _NO_TAIL),
        np.zeros(part.vertices, np.bool_),
    )
    arc = look_at_rows(Arcs.of(part), of_vertices, part.first, 0, part.rows)
    for head in part.comm.all_gather_object(None if arc < 0 else int(part.targets[arc])):
        if head is not None:
            refuse_wide(part.name, source, head)


@njit
def _follow(arcs: Arcs, first: int, distance: Any, linked: Any, grown: Any) -> None:
    """Mark the heads of tight arcs between equal distances whose tails are reached from the source."""
    offsets, targets, weights = arcs
    for row in range(len(offsets) - 1):
        near = distance[first + row]
        if linked[first + row]:
            for arc in range(offsets[row], offsets[row + 1]):
                v = targets[arc]
                if distance[v] == near and near + weights[arc] == near:
                    grown[v] = 1
