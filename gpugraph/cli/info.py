"""``gpugraph info``."""

from __future__ import annotations

import click

from gpugraph.cli.options import command, input_options, table_or_json


@command
@click.argument("graph")
@input_options
@table_or_json
def info(graph: str, input_format: str | None, symmetrize: bool, style: str, quiet: bool) -> None:
    """Show what GRAPH is: counts, degrees, components, weights, and the memory it needs on a device.

    Example:
      gpugraph info rmat:12
    """
    import json

    from gpugraph.cli.output import show, show_lines, tell
    from gpugraph.cli.progress import Progress
    from gpugraph.graph.build import symmetrize as symmetrized
    from gpugraph.graph.properties import properties
    from gpugraph.graph.sources import open_graph
    from gpugraph.measure.record import jsonable
    from gpugraph.report.graph import graph_figures, graph_json

    with Progress(quiet=quiet) as progress:
        loaded = open_graph(graph, input_format=input_format, progress=progress)
        loaded = symmetrized(loaded) if symmetrize else loaded
        progress("counting")
        figures = properties(loaded)
        described = loaded.describe()
    tell(loaded.notes, quiet=quiet)
    if style == "json":
        show(json.dumps(jsonable(graph_json(described, figures)), ensure_ascii=False))
    else:
        show_lines(graph_figures(described, figures))
