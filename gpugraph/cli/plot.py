"""``gpugraph plot``."""

from __future__ import annotations

import json
import os

import click

from gpugraph.cli.options import command
from gpugraph.errors import InputError, unknown_name

_ENDINGS = (".svg", ".pdf", ".png", ".json")
_VALUES = "mteps, end-to-end, kernel, transfer, speedup, roof, energy or memory."


@command
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...")
@click.option("-o", "--output", required=True, metavar="FIGURE", help="File to write: .svg, .pdf, .png, or .json.")
@click.option("--x", default="scale", show_default=True, metavar="NAME", help="scale, vertices, graph, an axis ….")
@click.option("--y", default="mteps", show_default=True, metavar="NAME", help=_VALUES)
@click.option("--by", metavar="NAME,...", help="What makes a series [default: algorithm,device].")
@click.option("--where", multiple=True, metavar="NAME=VALUE", help="Only these records; repeatable, * matches.")
@click.option("--title", metavar="TEXT", help="Title above the figure.")
@click.option("--width", type=int, default=640, show_default=True, help="Of the plot, in pixels.")
@click.option("--height", type=int, default=360, show_default=True, help="Of the plot, in pixels.")
@click.option("--log/--linear", default=None, help="Scale of the ordinate [default: by the values].")
@click.option("--dark", is_flag=True, help="Light lines on a dark ground.")
def plot(
    results: tuple[str, ...],
    output: str,
    x: str,
    y: str,
    by: str | None,
    where: tuple[str, ...],
    title: str | None,
    width: int,
    height: int,
    log: bool | None,
    dark: bool,
    quiet: bool,
) -> None:
    """Draw one figure from files of records.

    A .json file is the figure as Vega-Lite, to be changed by hand.

    Example:
      gpugraph plot results.jsonl -o throughput.svg --where problem=mst
    """
    from gpugraph.cli.output import check_destination, show_written, tell
    from gpugraph.cli.progress import Progress
    from gpugraph.files import atomic_write
    from gpugraph.measure.record_file import read_records
    from gpugraph.report.charts.chart import DARK, LIGHT
    from gpugraph.report.engine import check_engine, draw
    from gpugraph.report.figure import figure

    ending = os.path.splitext(output)[1].lower()
    if ending not in _ENDINGS:
        raise unknown_name("ending of a figure", ending or output, _ENDINGS)
    for name, pixels in (("width", width), ("height", height)):
        if not 50 <= pixels <= 10_000:
            raise InputError(f"--{name} {pixels} is out of range", remedy="give 50 to 10000 pixels")
    check_destination(output)
    if ending != ".json":
        check_engine()
    with Progress(quiet=quiet) as progress:
        progress("reading the results")
        rows, notices = read_records(results)
        tell(notices, quiet=quiet)
        progress("drawing")
        names = [name.strip() for name in by.split(",") if name.strip()] if by else []
        spec = figure(
            rows, DARK if dark else LIGHT, x=x, y=y, by=names, where=where, title=title, width=width, height=height,
            log=log,
        )  # fmt: skip
        content = json.dumps(spec, ensure_ascii=False, indent=1).encode() if ending == ".json" else draw(spec, ending)
        with atomic_write(output) as stream:
            stream.write(content)
    show_written(output, f"{y} over {x}")
