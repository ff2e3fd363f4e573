"""``gpugraph verify``."""

from __future__ import annotations

import os

import click

from gpugraph.cli.options import METHODS, command, input_options, named
from gpugraph.errors import InputError, VerificationFailed


@command
@click.argument("graph")
@click.argument("result")
@input_options
@named("--method", kind="verification method", names=METHODS[:-1], default="auto", help="How to check it.")
def verify(graph: str, result: str, input_format: str | None, symmetrize: bool, method: str, quiet: bool) -> None:
    """Check a RESULT file, as -o writes it, against its GRAPH.

    The file tells the problem. The exit code is 1 if the result does not hold.

    Example:
      gpugraph verify rmat:12 forest.npz --method both
    """
    from gpugraph.cli.output import show, tell
    from gpugraph.cli.progress import Progress
    from gpugraph.graph.build import symmetrize as symmetrized
    from gpugraph.graph.sources import open_graph
    from gpugraph.measure.check import check_result
    from gpugraph.report.table import METHOD_NAMES

    if not os.path.exists(result):
        raise InputError("there is no such file", where=result, remedy="give a file that -o wrote")
    with Progress(quiet=quiet) as progress:
        progress(f"loading {graph}")
        loaded = open_graph(graph, input_format=input_format, progress=progress)
        progress(f"checking {result}")
        verdict = check_result(symmetrized(loaded) if symmetrize else loaded, result, method)
    tell(loaded.notes, quiet=quiet)
    if not verdict.passed:
        raise VerificationFailed(verdict.detail, where=result)
    show(f"{result}: {verdict.status} by {METHOD_NAMES.get(verdict.method, verdict.method)}: {verdict.detail}")
