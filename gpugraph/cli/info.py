"""``gpugraph info``."""

from __future__ import annotations

from typing import Any

import click

from gpugraph.cli.options import command, input_options, table_or_json


@command
@click.argument("graph")
@input_options
@table_or_json
def info(graph: str, style: str, quiet: bool, **changes: Any) -> None:
    """Show what GRAPH is: counts, degrees, components, weights, and the memory it needs on a device.

    Example:
      gpugraph info rmat:12
    """
    from gpugraph.cli.output import show, show_lines, tell
    from gpugraph.cli.progress import Progress
    from gpugraph.graph.properties import properties
    from gpugraph.graph.sources import open_graph
    from gpugraph.measure.record_shape import json_text
    from gpugraph.report.graph import graph_figures, graph_json

    with Progress(quiet=quiet) as progress:
        loaded = open_graph(graph, progress=progress, **changes)
        progress("counting")
        figures = properties(loaded)
        described = loaded.describe()
    tell(loaded.notes, quiet=quiet)
    if style == "json":
        show(json_text(graph_json(described, figures)))
    else:
        show_lines(graph_figures(described, figures))
