"""``gpugraph convert``."""

from __future__ import annotations

from typing import Any

import click

from gpugraph.cli.options import command, input_options


@command
@click.argument("source", metavar="IN")
@click.argument("output", metavar="OUT")
@input_options
@click.option("--output-format", metavar="FORMAT", help="Format of OUT, where its name does not tell.")
@click.option("--renumber", is_flag=True, help="Leave out ids that OUT cannot hold: its vertices are numbered.")
def convert(source: str, output: str, output_format: str | None, renumber: bool, quiet: bool, **changes: Any) -> None:
    """Convert the graph IN, a file or a spec, to the file OUT.

    Ids of IN other than 1, 2, 3, … are kept by edge lists alone; for other formats --renumber leaves them out. Both
    files may be compressed: a name that ends in .gz, .bz2, .xz or .zst says so.

    Example:
      gpugraph convert rmat12.csr rmat12.gr.gz --weights hash:1..255
    """
    from gpugraph.cli.output import check_destination, show_written, tell
    from gpugraph.cli.progress import Progress
    from gpugraph.graph.load import save_file, writable_format
    from gpugraph.graph.sources import open_graph
    from gpugraph.report.table import describe_graph

    writable_format(output, output_format)
    check_destination(output)
    with Progress(quiet=quiet) as progress:
        progress(f"loading {source}")
        graph = open_graph(source, progress=progress, **changes)
        progress(f"writing {output}")
        notices = save_file(graph, output, output_format, renumber=renumber)
    tell([*graph.notes, *notices], quiet=quiet)
    show_written(output, describe_graph(graph.describe()))
