"""What the ranks of ``test_parts.py`` run: the parts of graphs, held against the whole."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gpugraph.graph.build import symmetrize
from gpugraph.graph.load import open_graph
from gpugraph.ranks.comm import LoneComm
from gpugraph.ranks.source import open_part
from gpugraph.ranks.world import enter, world


def complaint(comm: Any, source: str) -> str | None:
    """Return how the parts of a graph differ from the whole, or None."""
    whole = open_graph(source)
    part = open_part(source, comm)
    for graph, own in ((whole, part), (symmetrize(whole), part.symmetrized())):
        if own.describe() != graph.describe():
            return f"{own.describe()}, not {graph.describe()}"
        if own.notes != graph.notes or own.negative_loop != graph.negative_loop:
            return f"{own.notes} {own.negative_loop}, not {graph.notes} {graph.negative_loop}"
        for array, mine in (
            (graph.targets, own.targets),
            (graph.weights, own.weights),
            (graph.degrees, own.degrees),
        ):
            if not np.array_equal(np.concatenate(comm.all_gather_v(mine)), array):
                return "its rows differ"
        own.check()
        if comm.size > 1 and graph.arcs > 100 and max(own.arcs_of_ranks) == graph.arcs:
            return "one rank holds the whole"
    return None


if __name__ == "__main__":
    enter()
    ranks = world() or LoneComm()
    wrong = [f"{source}: {fault}" for source in sys.argv[1:] if (fault := complaint(ranks, source))]
    if ranks.rank == 0:
        print("\n".join([*wrong, f"tried {len(sys.argv) - 1}, wrong {len(wrong)}"]))
