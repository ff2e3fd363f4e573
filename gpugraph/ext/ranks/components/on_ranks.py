"""Components of graphs that no rank holds as a whole, certified.

Labels are right if both ends of every arc have the same, each is the smallest vertex that has it, and there are as many
as components.  For the last, every rank reduces its own arcs to a forest, at most an edge a vertex, and the components
of all these forests together are counted: on devices a rank hands its trees to another, which joins them with its own,
until one has them all.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.ext.components.labels import Components
from gpugraph.ext.components.problem import ConnectedComponents
from gpugraph.ext.components.verify import Trees, count_joins, join_edges, verdict_on
from gpugraph.ext.ranks.comm import to_lower_ranks
from gpugraph.ext.ranks.part import GraphPart, UndirectedParts
from gpugraph.ext.ranks.transports import comm_for
from gpugraph.problems.contract import Verdict


class ComponentsOnRanks(UndirectedParts, ConnectedComponents):
    """The problem where each rank has its part of the graph; all call it at once, and it answers them alike."""

    def certificate(self, part: Any, query: tuple[Any, ...], result: Any) -> Verdict:
        """Check that no arc leaves a component and that each is connected."""
        return certify_part(part, result)


PROBLEM = ComponentsOnRanks()


def certify_part(part: GraphPart, result: Components) -> Verdict:
    """Check that no arc leaves a component and that each is connected; a collective."""
    own = part.disagreement(result.fingerprint()) or _wrong_label(part, result.labels)
    faults = [fault for fault in part.comm.all_gather_object(own) if fault]
    if not faults:
        on_device = part.vertices and all(part.comm.all_gather_object(part.on_device is not None))
        fault, counted = (_counted_on_device if on_device else _counted)(part, result.labels)
        faults = [fault for fault in part.comm.all_gather_object(fault) if fault]
        if not faults and counted != result.components:
            faults = [f"there are {counted} components, not {result.components}"]
    return verdict_on(result, next(iter(faults), None), f"; checked by {part.comm.size} ranks")


def _wrong_label(part: GraphPart, labels: NDArray[np.int64]) -> str | None:
    """Return which label of its rows' vertices this rank finds to be none, or None."""
    n, (first, last) = part.vertices, (part.first, part.first + part.rows)
    if labels.shape != (n,):
        return f"the labels have the shape {labels.shape}, not ({n},)"
    vertices = np.arange(first, last)
    own = labels[first:last]
    wrong = (own < 0) | (own > vertices)
    if not ((labels >= 0) & (labels < n)).all():
        return "a label is no vertex"
    if not wrong.any():
        wrong = labels[own] != own
    for v in np.flatnonzero(wrong)[:1]:
        return f"vertex {v + first} has the label {own[v]}, which is not the smallest vertex of its component"
    return None


def _between(part: GraphPart, labels: NDArray[np.int64], arc: int) -> str:
    (u,), (v,), _ = part.arcs_at(np.array([arc]))
    return f"the ends of the arc {u} → {v} have the labels {labels[u]} and {labels[v]}"


def _counted_on_device(part: GraphPart, labels: NDArray[np.int64]) -> tuple[str | None, int]:
    """Return which own arc has ends of two labels, and the number of components of the graph; a collective."""
    rows: Any = part.on_device
    comm, trees = comm_for(part.comm, rows.device), Trees(rows, rows.device, labels)
    trees.wrong_label()
    arc = trees.wrong_arc()
    for others in to_lower_ranks(comm, trees.up):
        trees.join(others)
    joins = part.comm.all_gather_object(trees.count())[0]
    return None if arc is None else _between(part, labels, arc), part.vertices - joins


def _counted(part: GraphPart, labels: NDArray[np.int64]) -> tuple[str | None, int]:
    """Return the same, found on the hosts; a collective."""
    tails = part.tails(np.arange(len(part.targets)))
    wrong = np.flatnonzero(labels[tails] != labels[part.targets])
    return _between(part, labels, int(wrong[0])) if len(wrong) else None, _components(part)


def _components(part: GraphPart) -> int:
    """Return the number of components of the graph, found without the labels; a collective."""
    up = np.arange(part.vertices, dtype=part.targets.dtype)
    count_joins(part.offsets, part.targets, up, part.first)
    moved = np.flatnonzero(up != np.arange(part.vertices)).astype(up.dtype)
    tails, heads = (np.concatenate(part.comm.all_gather_v(ends)) for ends in (moved, up[moved]))
    return part.vertices - int(join_edges(tails, heads, np.arange(part.vertices, dtype=up.dtype)))
