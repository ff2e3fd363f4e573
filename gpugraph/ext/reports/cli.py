"""``gpugraph report`` and ``compare``: records as tables and pages, and how they compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gpugraph.base.errors import InputError, check_name
from gpugraph.base.files import atomic_write, ending_of
from gpugraph.base.quantities import counted
from gpugraph.cli.options import LateHelp, command
from gpugraph.cli.output import Progress, check_destination, show, show_lines, show_written, tell
from gpugraph.ext.reports import render, styles
from gpugraph.report.exporters import EXPORTERS, Results, exporter
from gpugraph.report.terminal import Line, page_width, plain

if TYPE_CHECKING:
    from gpugraph.bench.sweep import Sweep
    from gpugraph.records.record import Record


_STYLES = ("text", *EXPORTERS)


@command
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...")
@click.option(
    "-o", "--output", metavar="FILE", cls=LateHelp, help=lambda: f"Write it to a file: {', '.join(styles())}."
)
@click.option("--format", "style", metavar="|".join(_STYLES), help="Output format [default: by FILE].")
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option("--sweep", metavar="NAME|FILE", help="Show the tables of a sweep and the verdicts of its expectations.")
@click.option("--template", metavar="FILE", help="Fill a Markdown page of your own from the records.")
def report(results: tuple[str, ...], output: str | None, style: str | None, quiet: bool, **asked: str | None) -> None:
    """Show files of records: a summary, a table, or a page of HTML.

    The page is self-contained and works without a network. --template fills a Markdown page of your own with tables
    and verdicts of sweeps (docs/report.md).

    Example:
      gpugraph report results.jsonl -o report.html
    """
    from gpugraph.ext.comparing.versions import read_records

    output = None if output == "-" else output  # standard output is where it goes without a file
    style = _checked_style(output, style, asked)
    with Progress(quiet=quiet) as progress:
        progress("reading the results")
        rows, notices = read_records(results)
        tell(notices, quiet=quiet)
        progress("making the report")
        lines = _lines(rows, asked["sweep"], output) if style == "text" else []
        text = plain(lines) if style == "text" else _text(rows, notices, style, asked)
    if output is not None:
        with atomic_write(output, "w") as stream:
            stream.write(text + "\n")
        show_written(output, f"{style}, {counted(len(rows), 'cell')}")
    elif style == "text":
        show_lines(lines)
    else:
        show(text)


def _checked_style(output: str | None, style: str | None, asked: Mapping[str, str | None]) -> str:
    """Return the format asked for, by its name or that of the file, if such a report can be written there."""
    if asked["template"] and (asked["sweep"] or style):
        raise InputError("--template says all that is shown", remedy="leave --format and --sweep out")
    if style is not None:
        check_name("output format", style, _STYLES)
    elif output is not None and not asked["template"]:
        style = styles()[ending_of(output, "a report", styles())]
    style = "template" if asked["template"] else style or "text"
    if asked["sweep"] is not None and style not in ("text", "markdown"):
        remedy = "-o FILE.md, or --format markdown"
        raise InputError(f"--sweep is shown as text or Markdown, not {style}", remedy=remedy)
    if output is not None:
        check_destination(output)
    if style != "text":
        exporter(style).check()
    return style


_NOTHING = "no record of these files fits a table of {} or settles an expectation; without --sweep all are shown"


def _lines(rows: Sequence[Record], sweep: str | None, output: str | None) -> list[Line]:
    """Return a report for the terminal, or for a file of text."""
    from gpugraph.ext.findings.shown import finding_lines, finding_markdown
    from gpugraph.ext.reports.summary import summary

    if sweep is not None:
        asked = _questions(sweep)
        some = finding_markdown(asked, rows)
        return finding_lines(asked, rows, width=page_width()) if some else [[(_NOTHING.format(sweep), "dim")]]
    return summary(rows, page_width(), unicode=None if output is None else True)


def _text(rows: Sequence[Record], notices: Sequence[str], style: str, asked: Mapping[str, str | None]) -> str:
    """Return a report in any other format."""
    if template := asked["template"]:
        return exporter("template").load()(Results(rows, template=template))
    if asked["sweep"] is None:
        return render(rows, style, title=asked["title"], notices=notices)
    from gpugraph.ext.findings.shown import finding_markdown

    return finding_markdown(_questions(asked["sweep"]), rows) or _NOTHING.format(asked["sweep"])


def _questions(name: str) -> Sweep:
    """Return a sweep that has tables or expectations."""
    from gpugraph.bench.sweep_file import read_sweep

    sweep = read_sweep(name)
    if not (sweep.tables or sweep.expectations):
        raise InputError("has neither [[table]] nor [[expect]]", where=sweep.path, remedy="see docs/bench.md")
    return sweep
