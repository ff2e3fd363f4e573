"""Single-source shortest paths: the problem, its algorithms, its oracle and its certificate."""

from typing import Any

import click

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import duration
from gpugraph.problems import CSV, TABLE, Cell, Column, Command, SourceList, result_column

BATCHED = "delta-stepping-batched"
"""The algorithm that takes many sources at once, on every kind of device."""


def _arranged(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with those of several sources put into ``source`` and ``algos``."""
    sources, batch = options.pop("sources"), options.pop("batch")
    if sources is not None:
        if options["source"] is not None:
            raise InputError("both --source and --sources are given", remedy="give one of them")
        text = sources.strip()
        parts = [part.strip() for part in text.split(",") if part.strip()]
        options["source"] = f"random:{text}" if text.isdecimal() else text if len(parts) == 1 else SourceList(parts)
    if batch:
        if options["algos"] not in ((), (BATCHED,)):
            raise InputError("--batch is an algorithm of its own", remedy=f"leave out --algo, or name {BATCHED}")
        options["algos"] = (BATCHED,)
    return options


def _per_source(cell: Cell) -> float | None:
    """Return the kernel seconds that one of several sources took that were searched together."""
    shape = cell.record.shape
    sources, kernel_s = shape.result.get("sources"), shape.phases_s.get("kernel")
    return kernel_s / sources if sources and kernel_s else None


COMMAND = Command(
    title="Shortest paths",
    help="""Find the shortest distances of GRAPH from a source, time them and verify them.

    GRAPH is a file, a spec such as rmat:20 or a data set such as snap:roadNet-CA (default: `gpugraph config`).
    SOURCE is a 0-based vertex, or name:17 for the file's own id; random:K takes K vertices that have arcs and reports
    the harmonic mean. --sources 64 is the same as --source random:64; with --batch they are searched together.

    Example:
      gpugraph sssp grid:64x64 --source 0 --predecessors -o distances.csv
    """,
    options=(
        click.option(
            "--source",
            metavar="SOURCE",
            help="Vertex, name:ID, max-degree, random:K, wide:K or published [default: max-degree].",
        ),
        click.option("--sources", metavar="SOURCES", help="Several sources: a number of random ones, a list, or all."),
        click.option("--batch", is_flag=True, help=f"Search from all sources together: --algo {BATCHED}."),
        click.option(
            "--sums",
            metavar="TYPE",
            help="Type of sums of float32 weights: float64, or float32, which rounds.  [default: float64]",
        ),
        click.option("--predecessors", is_flag=True, help="Also return the canonical predecessors."),
    ),
    arrange=_arranged,
    columns=(
        result_column("source"),
        result_column("source_name"),
        result_column("sources"),
        Column("per_source_s", "per source", _per_source, duration, number=True, shown=(CSV, TABLE), optional=True),
        result_column("reached"),
        result_column("distance_sum"),
        result_column("distance_max"),
        result_column("distances_sha256", identifies=True),
    ),
)
