"""``gpugraph generate``."""

from __future__ import annotations

import click

from gpugraph.cli.options import command
from gpugraph.graph.families import FAMILIES


@command
@click.argument("spec")
@click.option("-o", "--output", required=True, metavar="FILE", help="The file to write; its name tells the format.")
@click.option("--output-format", metavar="FORMAT", help="Its format, where the name does not tell.")
def generate(spec: str, output: str, output_format: str | None, quiet: bool) -> None:
    """Generate the graph of SPEC and write it to a file.

    The same spec gives the same graph, bit for bit, on every machine.

    Example:
      gpugraph generate rmat:12,seed=7,w=1..255 -o rmat12.csr
    """
    from gpugraph.cli.output import check_destination, show_written
    from gpugraph.cli.progress import Progress
    from gpugraph.graph.generate import generate as generate_graph
    from gpugraph.graph.load import save_file, writable_format
    from gpugraph.graph.spec import parse_spec
    from gpugraph.report.table import describe_graph

    parsed = parse_spec(spec)
    writable_format(output, output_format)
    check_destination(output)
    with Progress(quiet=quiet) as progress:
        graph = generate_graph(parsed, progress.step)
        progress(f"writing {output}")
        save_file(graph, output, output_format)
    show_written(output, describe_graph(graph.describe()))


generate.epilog = (
    f"Families of graphs, by example: {'; '.join(family.example for family in FAMILIES.values())}. "
    "Their options are separated by commas; all take seed=N, w=LO..HI and dtype=NAME."
)
