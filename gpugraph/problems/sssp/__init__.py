"""Single-source shortest paths: the problem, its algorithms, its oracle and its certificate."""

import click

from gpugraph.problems import Command

COMMAND = Command(
    help="""Find the shortest distances of GRAPH from a source, time them and verify them.

    GRAPH is a file or a spec such as rmat:20; without one, the default graph is taken. SOURCE is a 0-based vertex,
    or name:17 for the file's own id; random:K takes K vertices that have arcs and reports the harmonic mean.

    Example:
      gpugraph sssp grid:64x64 --source 0 --predecessors -o distances.csv
    """,
    options=(
        click.option(
            "--source", metavar="SOURCE", help="Vertex, name:ID, max-degree or random:K [default: max-degree]."
        ),
        click.option("--predecessors", is_flag=True, help="Also return the canonical predecessors."),
    ),
)
