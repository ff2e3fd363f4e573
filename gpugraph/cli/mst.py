"""``gpugraph mst``."""

from __future__ import annotations

from typing import Any

from gpugraph.cli.options import command, graph_options, output_options, run_options


@command
@graph_options
@run_options
@output_options
def mst(**options: Any) -> None:
    """Find the minimum spanning forest of GRAPH, time it and verify it.

    GRAPH is a file or a spec such as rmat:20; without one, the default graph is taken. A directed graph is made
    undirected: the lighter arc of a pair wins.

    Example:
      gpugraph mst rmat:12 --algo boruvka --repeat 10 -o forest.npz
    """
    from gpugraph.cli.measure import measure

    measure("mst", **options)
