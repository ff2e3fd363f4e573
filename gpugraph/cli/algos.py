"""``gpugraph algos``."""

from __future__ import annotations

import click

from gpugraph.cli.options import command, named

_STYLES = ("table", "json", "markdown")


@command
@click.option("--problem", metavar="PROBLEM", help="Only those of mst or sssp.")
@named("--format", "style", kind="output format", names=_STYLES, default="table", help="How to print them.")
def algos(problem: str | None, style: str, quiet: bool) -> None:
    """List the algorithms with their sources, devices and parameters.

    Example:
      gpugraph algos --problem mst
    """
    import json

    from gpugraph.cli.output import show, show_lines
    from gpugraph.problems.registry import algorithms
    from gpugraph.report.catalogue import catalogue, catalogue_markdown

    found = [algorithm.describe() for algorithm in algorithms(problem)]
    if style == "json":
        show(json.dumps(found, ensure_ascii=False))
    elif style == "markdown":
        show(catalogue_markdown(found))
    else:
        show_lines(catalogue(found))
