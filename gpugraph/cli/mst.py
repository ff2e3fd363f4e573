"""``gpugraph mst``."""

from __future__ import annotations

from typing import Any

import click

from gpugraph.cli.options import command, graph_options, output_options, run_options


@command
@graph_options
@run_options
@click.option("--switch-after", metavar="ROUNDS", help="boruvka-prim: rounds before Prim's begins; -1: log2 log2 V.")
@click.option("--cpu-share", metavar="SHARE", help="boruvka-hybrid: the CPU's share of the arcs, 0.2, 20% or auto.")
@click.option("--memory-limit", metavar="SIZE", help="Device memory a larger-than-memory algorithm takes: 8GB or 25%.")
@output_options
def mst(switch_after: str | None, cpu_share: str | None, memory_limit: str | None, **options: Any) -> None:
    """Find the minimum spanning forest of GRAPH, time it and verify it.

    GRAPH is a file or a spec such as rmat:20; without one, the default graph is taken. A directed graph is made
    undirected: the lighter arc of a pair wins.

    Example:
      gpugraph mst rmat:12 --algo boruvka --repeat 10 -o forest.npz
    """
    from gpugraph.cli.measure import measure

    for name, value in (("switch-after", switch_after), ("cpu-share", cpu_share), ("memory-limit", memory_limit)):
        if value is not None:
            options["settings"] += (f"{name}={value}",)
    measure("mst", **options)
