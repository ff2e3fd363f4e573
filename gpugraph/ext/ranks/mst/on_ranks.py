"""Forests of graphs that no rank holds as a whole: gathered, certified.

Every rank has the whole forest, which is no larger than the labels of the vertices, and the rows of its own.  The
certificate is that of ``verify.py``: all ranks build the same merge forest, and each looks at the edges that lie on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.exact import exact_sum
from gpugraph.ext.ranks.part import GraphPart, UndirectedParts
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.forest import Forest, find_arcs
from gpugraph.problems.mst.gpu_verify import Certificate
from gpugraph.problems.mst.problem import MinimumSpanningForest
from gpugraph.problems.mst.verify import check_totals, first_violation, unite_by_size, verdict_on, words_in_order
from gpugraph.problems.oracle_sums import certified_sum


@dataclass(frozen=True, eq=False, repr=False)
class GatheredForest(Forest):
    """A forest with its edges' endpoints and weights, for the graph is not here; ``graph`` is a rank's part of it.

    Attributes:
        u, v: (tree_edges,) int64 endpoints, u < v.
        weight: (tree_edges,).
    """

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    weight: NDArray[Any]

    @property
    def weights(self) -> NDArray[Any]:
        """(tree_edges,) the edges' weights."""
        return self.weight

    def endpoints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the edges' endpoints (u, v)."""
        return self.u, self.v

    def _pairs(self) -> Iterable[NDArray[Any]]:
        return [np.stack(self.endpoints(), axis=1)]


class ForestOnRanks(UndirectedParts, MinimumSpanningForest):
    """The problem where each rank has its part of the graph; all call it at once, and it answers them alike."""

    def certificate(self, part: Any, query: tuple[Any, ...], result: Any) -> Verdict:
        """Check that the forest spans, has no cycle, and that every other edge is heaviest on its cycle."""
        return certify_part(part, result)


PROBLEM = ForestOnRanks()


def gathered_forest(part: GraphPart, u: NDArray[Any], v: NDArray[Any], weight: NDArray[Any]) -> GatheredForest:
    """Return the forest of all ranks' edges {u, v}, u < v, in canonical order over ranks; a collective."""
    columns = (u.astype(np.int64), v.astype(np.int64), weight)
    u, v, weight = (np.concatenate(part.comm.all_gather_v(column)) for column in columns)
    low, high = np.searchsorted(u, [part.first, part.first + part.rows])  # whose rows are here
    edges = np.zeros(len(u), np.int64)
    find_arcs((part.offsets, part.targets), (u[low:high] - part.first, v[low:high]), edges[low:high], 0, high - low)
    edges[low:high] += part.first_arc
    part.comm.all_reduce(edges, "sum")
    return forest_of(part, edges, u, v, weight)


def forest_of(
    part: GraphPart, edges: NDArray[np.int64], u: NDArray[Any], v: NDArray[Any], weight: NDArray[Any]
) -> GatheredForest:
    """Return the forest of edges {u, v} of these ids and weights, in canonical order."""
    graph: Any = part
    ends = u.astype(np.int64, copy=False), v.astype(np.int64, copy=False)
    return GatheredForest(graph, edges, exact_sum(weight), part.vertices - len(edges), *ends, weight)


def certify_part(part: GraphPart, result: GatheredForest) -> Verdict:
    """Check that the forest spans, has no cycle, and that every other edge is the last of its cycle; a collective."""
    own = part.disagreement(result.fingerprint()) or _fault(part, result)
    fault = next((one for one in part.comm.all_gather_object(own) if one is not None), None)
    return verdict_on(result, fault, f"; checked by {part.comm.size} ranks")


def _fault(part: GraphPart, forest: GatheredForest) -> str | None:
    """Return what this rank finds wrong with a forest, or None."""
    if (fault := _false_edge(part, forest)) is not None:
        return fault
    totals = check_totals(forest, certified_sum(forest.weight))
    if part.on_device is not None and part.on_device.usable:
        return _refuted_on_device(part, forest) or totals
    keys = words_in_order(forest.weight)
    order = np.argsort(keys, kind="stable")  # ids ascend
    u, v = forest.u[order], forest.v[order]
    up = np.empty((part.vertices, 2), np.int64)
    up[:, 0], up[:, 1] = np.arange(part.vertices), np.iinfo(np.int64).max
    closing = unite_by_size(u, v, up, np.ones(part.vertices, np.int64))
    if closing >= 0:
        return f"edge ({u[closing]}, {v[closing]}) of weight {forest.weight[order][closing]} closes a cycle"
    rows = part.offsets, part.targets, words_in_order(part.weights), part.first, part.first_arc
    own, last = first_violation(rows, up, (forest.edges[order], keys[order]), 0, part.rows)
    if own >= 0:
        return _violation(part, forest, own, int(order[last]) if last >= 0 else None)
    return totals


def _refuted_on_device(part: GraphPart, forest: GatheredForest) -> str | None:
    """Return what the forest's edges and this rank's own refute, found where the rows lie, or None."""
    rows: Any = part.on_device
    ends = np.stack([forest.u, forest.v], axis=1).astype(np.int32)
    certificate = Certificate(rows, rows.device, forest.edges - part.first_arc, (ends, forest.weight))
    closing = certificate.build_hierarchy()
    if closing is not None:
        u, v, weight = forest.u[closing], forest.v[closing], forest.weight[closing]
        return f"edge ({u}, {v}) of weight {weight} closes a cycle"
    found = certificate.first_violation()
    if found is None:
        return None
    (u,), (v,), _ = part.arcs_at(np.array([found]))
    return _violation(part, forest, found, certificate.heaviest_between(int(u), int(v)))


def _violation(part: GraphPart, forest: GatheredForest, own: int, last: int | None) -> str:
    """Return how an arc that is here refutes a forest; ``last`` is the last of its edges on the cycle, if there is."""
    (tail,), (head,), (weight,) = part.arcs_at(np.array([own]))
    edge = f"edge ({tail}, {head}) of weight {weight}"
    if last is None:
        return f"{edge} joins two trees: the forest does not span the graph"
    tie = " (equal weight, smaller endpoints)" if weight == forest.weight[last] else ""
    return f"{edge} comes before forest edge ({forest.u[last]}, {forest.v[last]}) on its cycle{tie}"


def _false_edge(part: GraphPart, forest: GatheredForest) -> str | None:
    """Return the first edge that is none of the graph, of those whose ids lie here; or that ids do not ascend."""
    edges = forest.edges
    if len(edges) and (edges[0] < 0 or edges[-1] >= part.arcs or (np.diff(edges) <= 0).any()):
        return "the edge ids do not ascend, or leave the graph"
    low, high = np.searchsorted(edges, [part.first_arc, part.first_arc + part.own_arcs])
    at = edges[low:high] - part.first_arc
    u, v, w = forest.u[low:high], forest.v[low:high], forest.weight[low:high]
    tails, heads, weights = part.arcs_at(at)
    wrong = (tails != u) | (heads != v) | (weights != w) | (u >= v)
    for k in np.flatnonzero(wrong)[:1]:
        return f"edge ({u[k]}, {v[k]}) of weight {w[k]} is not the graph's edge of the id {edges[low + k]}"
    return None
