"""Components of graphs that no rank holds as a whole, certified.

Labels are right if both ends of every arc have the same, each is the smallest vertex that has it, and there are as many
as components.  For the last, every rank reduces its own arcs to a forest, at most an edge a vertex, and the first rank
counts the components of all these forests together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.problems.components.labels import Components
from gpugraph.problems.contract import Verdict
from gpugraph.problems.on_graphs import MergedOnRanks
from gpugraph.ranks.part import GraphPart


class LabelsOnRanks(MergedOnRanks):
    """The part of the problem that is for several ranks."""

    def certificate_on_ranks(self, part: GraphPart, query: tuple[Any, ...], result: Components) -> Verdict:
        """Check that no arc leaves a component and that each hangs together."""
        faults = [fault for fault in part.comm.share(_fault(part, result.labels)) if fault]
        if not faults:
            counted = _components(part)
            if counted != result.components:
                faults = [f"there are {counted} components, not {result.components}"]
        if faults:
            return Verdict("failed", "certificate", faults[0])
        detail = f"no arc leaves any of the {result.components} components, and each hangs together"
        return Verdict("passed", "certificate", f"{detail}; checked by {part.comm.size} ranks")


def _fault(part: GraphPart, labels: NDArray[np.int64]) -> str | None:
    """Return what this rank finds wrong with labels, or None."""
    n, (first, last) = part.vertices, (part.first, part.first + part.rows)
    if labels.shape != (n,):
        return f"the labels have the shape {labels.shape}, not ({n},)"
    vertices = np.arange(first, last)
    own = labels[first:last]
    wrong = (own < 0) | (own > vertices)
    if not wrong.any():
        wrong = labels[own] != own
    for v in np.flatnonzero(wrong)[:1]:
        return f"vertex {v + first} has the label {own[v]}, which is not the smallest vertex of its component"
    tails = part.tails(np.arange(len(part.targets)))
    for arc in np.flatnonzero(labels[tails] != labels[part.targets])[:1]:
        u, v = tails[arc], part.targets[arc]
        return f"the ends of the arc {u} → {v} have the labels {labels[u]} and {labels[v]}"
    return None


def _components(part: GraphPart) -> int:
    """Return the number of components of the graph, found without the labels; a collective."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    def united(tails: NDArray[Any], heads: NDArray[Any]) -> tuple[int, NDArray[Any]]:
        n = part.vertices
        if n == 0:
            return 0, np.zeros(0, np.int32)
        count, names = connected_components(
            coo_array((np.ones(len(tails), bool), (tails, heads)), (n, n)), directed=False
        )
        return int(count), names

    _, names = united(part.tails(np.arange(len(part.targets))), part.targets)
    _, firsts = np.unique(names, return_index=True)
    anchor = firsts[names] if len(names) else names
    moved = np.flatnonzero(anchor != np.arange(len(anchor)))
    tails = np.concatenate(part.comm.all_gather_v(moved))
    heads = np.concatenate(part.comm.all_gather_v(anchor[moved]))
    return united(tails, heads)[0]
