"""``gpugraph verify``."""

from __future__ import annotations

import os
from typing import Any

import click

from gpugraph.cli.options import command, input_options, named
from gpugraph.errors import InputError, VerificationFailed
from gpugraph.problems.contract import METHODS


@command
@click.argument("graph")
@click.argument("result")
@input_options
@named("--method", kind="verification method", names=METHODS, default="auto", help="How to check it.")
def verify(graph: str, result: str, method: str, quiet: bool, **changes: Any) -> None:
    """Check a RESULT file, as -o writes it, against its GRAPH.

    The file tells the problem. Give the options that changed the graph when the result was made. The exit code is
    1 if the result does not hold.

    Example:
      gpugraph verify rmat:12 forest.npz --method both
    """
    from gpugraph.cli.output import show, tell
    from gpugraph.cli.progress import Progress
    from gpugraph.graph.sources import open_graph
    from gpugraph.measure.check import check_result
    from gpugraph.report.table import METHOD_NAMES

    if not os.path.exists(result):
        raise InputError("there is no such file", where=result, remedy="give a file that -o wrote")
    with Progress(quiet=quiet) as progress:
        progress(f"loading {graph}")
        loaded = open_graph(graph, progress=progress, **changes)
        progress(f"checking {result}")
        verdict = check_result(loaded, result, method)
    tell(loaded.notes, quiet=quiet)
    if not verdict.passed:
        raise VerificationFailed(verdict.detail, where=result)
    show(f"{result}: {verdict.status} by {METHOD_NAMES.get(verdict.method, verdict.method)}: {verdict.detail}")
