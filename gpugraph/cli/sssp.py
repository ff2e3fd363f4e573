"""``gpugraph sssp``."""

from __future__ import annotations

from typing import Any

import click

from gpugraph.cli.options import command, graph_options, output_options, run_options


@command
@graph_options
@click.option("--source", metavar="SOURCE", help="Vertex, name:ID, max-degree or random:K [default: max-degree].")
@click.option("--predecessors", is_flag=True, help="Also return the canonical predecessors.")
@run_options
@output_options
def sssp(**options: Any) -> None:
    """Find the shortest distances of GRAPH from a source, time them and verify them.

    GRAPH is a file or a spec such as rmat:20; without one, the default graph is taken. SOURCE is a 0-based vertex,
    or name:17 for the file's own id; random:K takes K vertices that have arcs and reports the harmonic mean.

    Example:
      gpugraph sssp grid:64x64 --source 0 --predecessors -o distances.csv
    """
    from gpugraph.cli.measure import measure

    measure("sssp", **options)
