"""``gpugraph algos``."""

from __future__ import annotations

import click

from gpugraph.cli.options import command, named

_STYLES = ("table", "json", "markdown")


@command
@click.option("--problem", metavar="PROBLEM", help="Only those of mst, sssp or scan.")
@click.option("--peers", is_flag=True, help="Other people's programs instead, installed or not; see docs/peers.md.")
@named("--format", "style", kind="output format", names=_STYLES, default="table", help="How to print them.")
def algos(problem: str | None, peers: bool, style: str, quiet: bool) -> None:
    """List the algorithms with their sources, devices and parameters.

    Example:
      gpugraph algos --problem mst
    """
    import json

    from gpugraph.cli.output import show, show_lines
    from gpugraph.problems.registry import algorithms
    from gpugraph.report.catalogue import catalogue, catalogue_markdown, peer_catalogue, peer_catalogue_markdown

    if peers:
        from gpugraph.bench.peers import describe_peers

        listed = describe_peers(problem)
        if style == "json":
            show(json.dumps(listed, ensure_ascii=False))
        elif style == "markdown":
            show(peer_catalogue_markdown(listed))
        else:
            show_lines(peer_catalogue(listed))
        return
    found = [algorithm.describe() for algorithm in algorithms(problem)]
    if style == "json":
        show(json.dumps(found, ensure_ascii=False))
    elif style == "markdown":
        show(catalogue_markdown(found))
    else:
        show_lines(catalogue(found))
