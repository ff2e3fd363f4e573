"""``gpugraph report`` and ``compare``: records as tables and pages, and how they compare."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gpugraph.base.errors import InputError, Regression, check_name
from gpugraph.base.files import atomic_write, ending_of
from gpugraph.base.quantities import counted, parse_share
from gpugraph.cli.options import LateHelp, command, export_option, named
from gpugraph.cli.output import Progress, check_destination, show, show_lines, show_written, tell
from gpugraph.report import render, styles
from gpugraph.report.exporters import EXPORTERS, Results, exporter
from gpugraph.report.terminal import Line, page_width, plain, table_width

if TYPE_CHECKING:
    from gpugraph.bench.sweep import Sweep
    from gpugraph.records.record import Record


_STYLES = ("text", *EXPORTERS)


@command
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...")
@click.option(
    "-o", "--output", metavar="FILE", cls=LateHelp, help=lambda: f"Write it to a file: {', '.join(styles())}."
)
@click.option("--format", "style", metavar="|".join(_STYLES), help="How to show it [default: by FILE].")
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option("--sweep", metavar="NAME|FILE", help="Show the tables of a sweep, and what comes of its expectations.")
@click.option("--template", metavar="FILE", help="Fill the records into a Markdown text of your own.")
def report(results: tuple[str, ...], output: str | None, style: str | None, quiet: bool, **asked: str | None) -> None:
    """Show files of records: a summary, a table, or a page of HTML.

    The page needs nothing but itself and opens without a network. With --template, what is shown is a page of your own
    with tables and verdicts of sweeps in it (docs/report.md).

    Example:
      gpugraph report results.jsonl -o report.html
    """
    from gpugraph.records.record_file import read_records

    style = _checked_style(results, output, style, asked)
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


def _checked_style(
    results: Sequence[str], output: str | None, style: str | None, asked: Mapping[str, str | None]
) -> str:
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
        if any(os.path.exists(output) and os.path.exists(p) and os.path.samefile(output, p) for p in results):
            raise InputError("is one of the results and would be overwritten", where=output, remedy="name another file")
    if style != "text":
        exporter(style).check()
    return style


def _lines(rows: Sequence[Record], sweep: str | None, output: str | None) -> list[Line]:
    """Return a report for the terminal, or for a file of text."""
    from gpugraph.ext.findings.shown import finding_lines
    from gpugraph.report.summary import summary

    if sweep is not None:
        return finding_lines(_questions(sweep), rows, width=page_width())
    return summary(rows, page_width(), unicode=None if output is None else True)


def _text(rows: Sequence[Record], notices: Sequence[str], style: str, asked: Mapping[str, str | None]) -> str:
    """Return a report in any other format."""
    if template := asked["template"]:
        return exporter("template").load()(Results(rows, template=template))
    if asked["sweep"] is None:
        return render(rows, style, title=asked["title"], notices=notices)
    from gpugraph.ext.findings.shown import finding_markdown

    return finding_markdown(_questions(asked["sweep"]), rows)


def _questions(name: str) -> Sweep:
    """Return a sweep that has tables or expectations."""
    from gpugraph.bench.sweep_file import read_sweep

    sweep = read_sweep(name)
    if not (sweep.tables or sweep.expectations):
        raise InputError("has neither [[table]] nor [[expect]]", where=sweep.path, remedy="see docs/bench.md")
    return sweep


BY = ("algorithm", "device", "peer")
_COMPARED = ("text", "json", "markdown")


@command
@click.argument("files", nargs=-1, required=True, metavar="BASE NEW | FILE...")
@named(
    "--by", kind="way to compare", names=("run", *BY), default="run",
    help="What may differ: two runs of the same cells, or algorithms, devices, peers in any files.",
)  # fmt: skip
@click.option("--threshold", metavar="SHARE", default="5%", show_default=True, help="Change that matters: 5% or 0.05.")
@named("--format", "style", kind="output format", names=_COMPARED, default="text", help="How to print it.")
@export_option
def compare(files: tuple[str, ...], by: str, threshold: str, style: str, exports: tuple[str, ...], quiet: bool) -> None:
    """Compare two files of records, cell by cell: faster, slower, same or unclear.

    Exits with 4 if a cell of NEW is slower than in BASE beyond the threshold, no longer succeeds, or gives
    another result.

    With --by the records of all FILEs that did the same work are ranked: which is fastest, and by how much. What
    cannot be compared is refused with the reason.

    Example:
      gpugraph compare base.jsonl new.jsonl --threshold 10%
    """
    from gpugraph.cli.exports import check_exports
    from gpugraph.records.record_file import read_records

    check_exports(exports)
    if by != "run":
        records, notices = read_records(files)
        tell(notices, quiet=quiet)
        _rank(records, by, style, exports, quiet=quiet)
        return
    if len(files) != 2:
        remedy = "or --by algorithm, device or peer, which takes any number"
        raise InputError(f"two runs are compared, BASE and NEW, not {len(files)}", remedy=remedy)
    if exports:
        raise InputError("--export is for records that are ranked", remedy="add --by algorithm, device or peer")
    _compare_runs(*files, threshold, style, quiet=quiet)


def _rank(records: Sequence[Record], by: str, style: str, exports: Sequence[str], *, quiet: bool) -> None:
    """Print how records rank, and which of them cannot be compared."""
    from gpugraph.cli.exports import export, show_records
    from gpugraph.records.ranking import check_ranked, rank
    from gpugraph.report.ranking import alone_lines

    rankings, alone = rank(records, by)
    check_ranked(rankings, alone, by)
    left_out = alone_lines(alone, width=page_width())
    show_records(records, {"text": "table"}.get(style, style), rankings)
    if left_out and style == "text":
        show_lines([[], *left_out])
    elif left_out:
        tell([plain([line]) for line in left_out])
    export(records, exports, rankings, quiet=quiet)


def _compare_runs(base: str, new: str, threshold: str, style: str, *, quiet: bool) -> None:
    """Print how one run compares with another."""
    from gpugraph.records.compare import compare as compare_rows
    from gpugraph.records.record_file import read_records
    from gpugraph.records.record_shape import json_text
    from gpugraph.report.comparison import comparison_json, comparison_sheet, describe_cell

    share = parse_share("--threshold", threshold, remedy="write 5% or 0.05")
    if not 0 < share < 100:
        raise InputError(f"--threshold '{threshold}' is no share above 0", remedy="write 5% or 0.05")
    (first, notices), (second, more) = read_records([base]), read_records([new])
    tell([*notices, *more], quiet=quiet)
    comparison = compare_rows(first, second, threshold=share)
    try:
        if style == "json":
            show(json_text(comparison_json(comparison)))
        elif style == "markdown":
            show(comparison_sheet(comparison).markdown())
        else:
            show_lines(comparison_sheet(comparison).lines(page_width(), table_width()))
    finally:  # whoever stopped reading must still get the exit code
        if unseen := comparison.unseen:
            tell([unseen], quiet=quiet)
        if found := comparison.regressions:
            worst = max(found, key=lambda cell: cell.claim.ratio or 0.0)
            by = f"{worst.claim.ratio:.3f} times the time" if worst.claim.ratio else worst.reason
            what = f"{counted(len(found), 'cell')} regressed; {describe_cell(worst.base)}: {worst.verdict}, {by}"
            raise Regression(what, where=new, remedy="measure again to be sure, then look at what changed")
