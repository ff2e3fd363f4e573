"""``gpugraph plot``: one figure from files of records."""

import contextlib
import re
from typing import Any

import click

from gpugraph.base.errors import InputError
from gpugraph.base.files import atomic_write
from gpugraph.cli.options import command
from gpugraph.cli.output import Progress, check_destination, show_lines, show_written, tell
from gpugraph.records.fields import VALUES
from gpugraph.report.terminal import page_width

_VALUES = f"One of {', '.join(VALUES)}."
_SIZES = "Width of the figure: pixels, 84mm, 3.5in, or column (84mm)."
_UNITS = {"": 1.0, "px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "pt": 96 / 72}


@command
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...")
@click.option("-o", "--output", metavar="FIGURE", help="File: .svg, .pdf, .png or .json [default: the terminal].")
@click.option(
    "--x", metavar="NAME", help="scale, vertices, graph, algorithm, an axis … [default: the field that differs]."
)
@click.option("--y", metavar="NAME", help=f"{_VALUES} [default: mteps; sectors of emulated records]")
@click.option("--by", metavar="NAME,...", help="Fields that make a series [default: those that differ].")
@click.option(
    "--where",
    multiple=True,
    metavar="NAME=VALUE",
    help="Select records; * is a wildcard, NAME=~REGEX a regular expression.",
)
@click.option("--title", metavar="TEXT", help="Title of the figure, '' for none [default: shared fields].")
@click.option("--width", metavar="SIZE", default="640", show_default=True, help=_SIZES)
@click.option("--height", metavar="SIZE", help="Height of the plot, likewise [default: by the content].")
@click.option("--log/--linear", default=None, help="Scale of the y axis [default: by the values].")
@click.option("--dark", is_flag=True, help="Use a dark background.")
def plot(
    results: tuple[str, ...], output: str | None, width: str, height: str | None, dark: bool, quiet: bool, **asked: Any
) -> None:
    """Draw one figure from files of records, in the terminal or into a file.

    By default, one graph gives bars by algorithm, several graphs give bars by graph, and growing graphs give curves.
    A .json file is the figure as Vega-Lite, which you can edit.

    Example:
      gpugraph plot results.jsonl --where problem=mst
      gpugraph plot results.jsonl -o throughput.pdf --width column
    """
    from gpugraph.ext.charts.chart import DARK, LIGHT, check_figure, draw
    from gpugraph.ext.charts.figure import Choice, figure, one_axis, sketch
    from gpugraph.ext.comparing.versions import read_records

    wide, high = _pixels("width", width), _pixels("height", height) if height else None
    ending = None if output is None else check_figure(output)
    if output is not None:
        check_destination(output)
    with Progress(quiet=quiet) as progress:
        progress("reading the results")
        rows, notices = read_records(results)
        tell(notices, quiet=quiet)
        progress("drawing")
        by = [name.strip() for name in (asked.pop("by") or "").split(",") if name.strip()]
        counted = not any(row.mteps for row in rows) and any(VALUES["sectors"].of(row) for row in rows)
        choice = Choice(by=by, **asked | {"y": asked["y"] or ("sectors" if counted else "mteps")})
        choice, *others = choices = one_axis(rows, choice)
        if output is None or ending is None:
            lines = [line for one in choices for line in [*sketch(rows, one, width=page_width()), []]][:-1]
        else:
            spec = figure(rows, DARK if dark else LIGHT, choice, width=wide, height=high)
            content = draw(spec, ending)
            with atomic_write(output) as stream:
                stream.write(content)
    if output is None:
        show_lines(lines)
    else:
        if others:
            tell([f"not drawn, for it has an axis of its own: {one.where[-1]}" for one in others], quiet=quiet)
        show_written(output, f"{choice.y}, {round(wide / 96 * 25.4)} mm wide")


def _pixels(name: str, text: str) -> int:
    """Return the pixels of a size in words, 96 to an inch; raise InputError for what is none or cannot be drawn."""
    found = re.fullmatch(r"([0-9.]{1,9})\s*([a-z]*)", "84mm" if text == "column" else text)
    with contextlib.suppress(ValueError, KeyError, TypeError):
        if 50 <= (pixels := round(float(found[1]) * _UNITS[found[2]])) <= 10_000:  # type: ignore[index]
            return pixels
    raise InputError(f"--{name} {text} is no size to draw in", remedy="give 50 to 10000 pixels, or say 84mm, or 3.5in")
