"""What the ranks of ``test_parts.py`` run: the parts of graphs, held against the whole."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gpugraph.devices.discovery import select_device
from gpugraph.ext.ranks.comm import LoneComm
from gpugraph.ext.ranks.source import open_part
from gpugraph.ext.ranks.world import enter, world
from gpugraph.graph.generate import can_generate
from gpugraph.graph.open import open_graph
from gpugraph.graph.spec import parse_spec
from gpugraph.graph.symmetrize import symmetrize


def complaint(comm: Any, device: Any, source: str) -> str | None:
    """Return how the parts of a graph, on a device or on the hosts, differ from the whole, or None."""
    whole = open_graph(source)
    part = open_part(source, comm, device=device)
    made_there = device.kind != "cpu" and (source.endswith(".csr") or can_generate(parse_spec(source)))
    if made_there != (part.on_device is not None) or (made_there and "targets" in part.__dict__):
        return "the rows are not where they should be"
    part.check()
    if part.describe() != whole.describe() or (made_there and "targets" in part.__dict__):
        return f"{part.describe()}, not {whole.describe()}; or the host was asked"
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
    here = select_device(sys.argv[1])[0]
    wrong = [f"{source}: {fault}" for source in sys.argv[2:] if (fault := complaint(ranks, here, source))]
    if ranks.rank == 0:
        print("\n".join([*wrong, f"tried {len(sys.argv) - 2}, wrong {len(wrong)}"]))
