"""``gpugraph report``, ``plot``, ``compare`` and ``check-record``: what becomes of records, and are they plausible?"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gpugraph.base.errors import InputError, Regression, VerificationFailed, check_name
from gpugraph.base.files import atomic_write, ending_of
from gpugraph.base.quantities import counted, parse_share
from gpugraph.cli.options import command, export_option, named
from gpugraph.cli.output import Progress, check_destination, show, show_lines, show_written, tell
from gpugraph.report import STYLES, render
from gpugraph.report.terminal import Line, page_width, plain, table_width

if TYPE_CHECKING:
    from gpugraph.bench.sweep import Sweep
    from gpugraph.ext.check_record.plausibility import Finding
    from gpugraph.records.record import Record
    from gpugraph.records.record_file import BadLine


@command
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...")
@click.option("-o", "--output", metavar="FILE", help="Write it to a file: .html, .md, .csv, .tex or .txt.")
@click.option("--format", "style", metavar="text|html|markdown|csv|latex", help="How to show it [default: by FILE].")
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
        check_name("output format", style, STYLES.values())
    elif output is not None and not asked["template"]:
        style = STYLES[ending_of(output, "a report", STYLES)]
    style = "template" if asked["template"] else style or "text"
    if asked["sweep"] is not None and style not in ("text", "markdown"):
        remedy = "-o FILE.md, or --format markdown"
        raise InputError(f"--sweep is shown as text or Markdown, not {style}", remedy=remedy)
    if output is not None:
        check_destination(output)
        if any(os.path.exists(output) and os.path.exists(p) and os.path.samefile(output, p) for p in results):
            raise InputError("is one of the results and would be overwritten", where=output, remedy="name another file")
    if style == "html":
        from gpugraph.ext.charts.chart import check_engine

        check_engine()
    return style


def _lines(rows: Sequence[Record], sweep: str | None, output: str | None) -> list[Line]:
    """Return a report for the terminal, or for a file of text."""
    from gpugraph.report.sweep import finding_lines, summary

    if sweep is not None:
        return finding_lines(_questions(sweep), rows, width=page_width())
    return summary(rows, page_width(), unicode=None if output is None else True)


def _text(rows: Sequence[Record], notices: Sequence[str], style: str, asked: Mapping[str, str | None]) -> str:
    """Return a report in any other format."""
    if template := asked["template"]:
        from gpugraph.ext.charts.template import fill

        return fill(template, rows)
    if asked["sweep"] is None:
        return render(rows, style, title=asked["title"], notices=notices)
    from gpugraph.report.sweep import finding_markdown

    return finding_markdown(_questions(asked["sweep"]), rows)


def _questions(name: str) -> Sweep:
    """Return a sweep that has tables or expectations."""
    from gpugraph.bench.sweep_file import read_sweep

    sweep = read_sweep(name)
    if not (sweep.tables or sweep.expectations):
        raise InputError("has neither [[table]] nor [[expect]]", where=sweep.path, remedy="see docs/bench.md")
    return sweep


# ------------------------------------------------------------------ plot

_VALUES = "mteps, end-to-end, kernel, transfer, answer, speedup, scaling, roof, energy or memory."
_SIZES = "Of the whole figure: pixels, 84mm, 3.5in, or column (84mm, of a paper in two columns)."
_UNITS = {"": 1.0, "px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "pt": 96 / 72}


@command
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...")
@click.option("-o", "--output", metavar="FIGURE", help="Write it: .svg, .pdf, .png, or .json [default: shown here].")
@click.option("--x", metavar="NAME", help="scale, vertices, graph, algorithm, an axis … [default: what differs].")
@click.option("--y", default="mteps", show_default=True, metavar="NAME", help=_VALUES)
@click.option("--by", metavar="NAME,...", help="What makes a series [default: what differs].")
@click.option("--where", multiple=True, metavar="NAME=VALUE", help="Only these records; repeatable, * matches.")
@click.option("--title", metavar="TEXT", help="Title above the figure [default: the graph, or what all share].")
@click.option("--width", metavar="SIZE", default="640", show_default=True, help=_SIZES)
@click.option("--height", metavar="SIZE", help="Of the plot, likewise [default: as the content asks].")
@click.option("--log/--linear", default=None, help="Scale of the ordinate [default: by the values].")
@click.option("--dark", is_flag=True, help="Light lines on a dark ground.")
def plot(
    results: tuple[str, ...], output: str | None, width: str, height: str | None, dark: bool, quiet: bool, **asked: Any
) -> None:
    """Draw one figure from files of records: here in letters, or into a file.

    Without options it shows what the records are: bars by algorithm for one graph, bars by graph for several, curves
    where graphs grow. A .json file is the figure as Vega-Lite, to be changed by hand.

    Example:
      gpugraph plot results.jsonl --where problem=mst
      gpugraph plot results.jsonl -o throughput.pdf --width column
    """
    from gpugraph.ext.charts.chart import DARK, LIGHT, check_figure, draw
    from gpugraph.ext.charts.figure import Choice, figure, sketch
    from gpugraph.records.record_file import read_records

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
        choice = Choice(by=by, **asked)
        if output is None or ending is None:
            lines = sketch(rows, choice, width=page_width())
        else:
            spec = figure(rows, DARK if dark else LIGHT, choice, width=wide, height=high)
            content = draw(spec, ending)
            with atomic_write(output) as stream:
                stream.write(content)
    if output is None:
        show_lines(lines)
    else:
        show_written(output, f"{choice.y}, {round(wide / 96 * 25.4)} mm wide")


def _pixels(name: str, text: str) -> int:
    """Return the pixels of a size in words, 96 to an inch; raise InputError for what is none or cannot be drawn."""
    found = re.fullmatch(r"([0-9.]{1,9})\s*([a-z]*)", "84mm" if text == "column" else text)
    with contextlib.suppress(ValueError, KeyError, TypeError):
        if 50 <= (pixels := round(float(found[1]) * _UNITS[found[2]])) <= 10_000:  # type: ignore[index]
            return pixels
    raise InputError(f"--{name} {text} is no size to draw in", remedy="give 50 to 10000 pixels, or say 84mm, or 3.5in")


BY = ("algorithm", "device", "peer")
_STYLES = ("text", "json", "markdown")


@command
@click.argument("files", nargs=-1, required=True, metavar="BASE NEW | FILE...")
@named(
    "--by", kind="way to compare", names=("run", *BY), default="run",
    help="What may differ: two runs of the same cells, or algorithms, devices, peers in any files.",
)  # fmt: skip
@click.option("--threshold", metavar="SHARE", default="5%", show_default=True, help="Change that matters: 5% or 0.05.")
@named("--format", "style", kind="output format", names=_STYLES, default="text", help="How to print it.")
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
    from gpugraph.cli.bench import check_exports
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
    from gpugraph.cli.bench import export, show_records
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


def _on_lines(lines: Sequence[int]) -> str:
    """Return ``"line 3"``, or how many lines there are, with the first of them."""
    shown = ", ".join(map(str, lines[:3]))
    return f"line {shown}" if len(lines) == 1 else f"{len(lines):,} lines ({shown}{', …' if len(lines) > 3 else ''})"


@command
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--edges",
    default=2**20,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Make graphs of at most so many edges from their specs, and compute their answers here.",
)
def check_record(files: tuple[str, ...], edges: int, quiet: bool) -> None:
    """Check records for what cannot be: changed times, answers, devices and counts.

    Each line is checked: its types, its times against the bandwidth of the device, its counts against each other, its
    answer against one that is computed here, a clean commit, and the versions of other programs. Exit code 1 if
    anything is found, 2 if a line is no record; the other lines are checked all the same.

    Example:
      gpugraph check-record results.jsonl
    """
    from gpugraph.ext.check_record.plausibility import conflicts, findings
    from gpugraph.records.record_file import read_record_file

    records: list[Record] = []
    lines: list[str] = []
    unread: list[BadLine] = []
    for file in files:
        stored = read_record_file(file, strict=False)
        if not (stored.records or stored.bad):
            raise InputError("holds no records", where=file, remedy="give a file that --save or `gpugraph bench` wrote")
        records += stored.records
        lines += [f"{bad.file} line {bad.line}: type: {bad.why}" for bad in stored.bad]
        unread += stored.bad
        if stored.torn is not None:
            lines.append(f"{file} line {stored.torn}: is cut off, and was left out")
    found = [(record, one) for record in records for one in findings(record, edges)] + conflicts(records)
    places: dict[tuple[str | None, Finding], list[int]] = {}
    for record, one in found:
        places.setdefault((record.file, one), []).append(record.line or 0)
    lines += [f"{file} {_on_lines(at)}: {one.kind}: {one.what}" for (file, one), at in places.items()]
    wrong = len(unread) + len({(record.file, record.line) for record, _ in found})
    total = len(unread) + len(records)
    if not quiet or wrong:
        show("\n".join([*lines, f"{counted(total, 'record')} checked, {wrong} with findings"]))
    if unread:
        raise unread[0].error()
    if wrong:
        what = f"{counted(wrong, 'record')} of {total} cannot be shown beside others"
        raise VerificationFailed(what, remedy="docs/submit.md says what a record needs")
