"""``gpugraph matrix``: a table of distances between two lists of vertices."""

from typing import Any

import click

from gpugraph.base.errors import missing_packages_named
from gpugraph.base.files import atomic_write, ending_of
from gpugraph.cli.options import command, device_option, input_options
from gpugraph.cli.output import Progress, check_destination, show_written, tell
from gpugraph.graph.read_options import ReadOptions


@command
@click.argument("graph")
@click.option("--from", "sources", required=True, metavar="FILE", help="The vertices to start from, one a line.")
@click.option("--to", "goals", required=True, metavar="FILE", help="The vertices to reach, one a line.")
@click.option("-o", "--output", default="-", metavar="FILE", help="A .csv, .npz or .parquet file; - shows a .csv.")
@device_option("auto, cuda[:i], cpu[/THREADS] or emulated.")
@input_options
def matrix(graph: str, sources: str, goals: str, output: str, device: str, quiet: bool, **changes: Any) -> None:
    """Find the shortest distances between two lists of vertices, all of them certified.

    A line of a list has the id that the graph's file gives a vertex, or its number from 0 where there are no ids.
    On a CPU a search ends once its goals are settled, and is certified up to the farthest; on a GPU every search is
    whole.

    Example:
      gpugraph matrix road.gr --from depots.txt --to shops.txt -o distances.csv
    """
    from gpugraph.ext.matrix.files import read_list, vertices_of, write_table
    from gpugraph.ext.matrix.table import distances_between
    from gpugraph.ext.python.resident_graph import ResidentGraph
    from gpugraph.graph.csr import notices_of
    from gpugraph.graph.open import open_graph
    from gpugraph.problems.registry import load_problem

    ending = ".csv" if output == "-" else ending_of(output, "a table", (".csv", ".npz", ".parquet"))
    check_destination(output)
    with missing_packages_named(), Progress(quiet=quiet) as progress:
        if ending == ".parquet":
            import pyarrow.parquet  # noqa: F401  if it is missing, nothing is searched
        lines = {path: read_list(path) for path in (sources, goals)}
        progress(f"loading {graph}")
        loaded = load_problem("sssp").admit(open_graph(graph, ReadOptions(**changes), progress=progress))
        starts, ends = (vertices_of(loaded, path, lines[path]) for path in (sources, goals))
        tell(notices_of(loaded), quiet=quiet)
        with ResidentGraph(loaded, device) as held:
            distance, searches, early = distances_between(held, starts, ends, progress)
        progress(f"writing {output}")
        with atomic_write(output, "wb") as stream:
            write_table(loaded, starts, ends, distance, ending, stream)
    ended = f", {early:,} of them up to the farthest goal" if early else ""
    size = f"{len(starts):,} × {len(ends):,} distances of {loaded.name}"
    show_written(output, f"{size}; searches certified: {searches:,}{ended}")
