"""Single-source shortest paths: the problem, its algorithms, its oracle and its certificate."""

import click

from gpugraph.problems import Command

COMMAND = Command(
    help="""Find the shortest distances of GRAPH from a source, time them and verify them.

    GRAPH is a file, a spec such as rmat:20 or a data set such as snap:roadNet-CA; without one, the default is taken.
    SOURCE is a 0-based vertex, or name:17 for the file's own id; random:K takes K vertices that have arcs and reports
    the harmonic mean.

    Example:
      gpugraph sssp grid:64x64 --source 0 --predecessors -o distances.csv
    """,
    options=(
        click.option(
            "--source",
            metavar="SOURCE",
            help="Vertex, name:ID, max-degree, random:K or published [default: max-degree].",
        ),
        click.option("--predecessors", is_flag=True, help="Also return the canonical predecessors."),
    ),
)
