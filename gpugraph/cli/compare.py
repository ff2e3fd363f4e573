"""``gpugraph compare``."""

from __future__ import annotations

import click

from gpugraph.cli.options import command, named
from gpugraph.errors import InputError, Regression
from gpugraph.quantities import parse_share

_STYLES = ("text", "json", "markdown")


@command
@click.argument("base")
@click.argument("new")
@click.option("--threshold", metavar="SHARE", default="5%", show_default=True, help="Change that matters: 5% or 0.05.")
@named("--format", "style", kind="output format", names=_STYLES, default="text", help="How to print it.")
def compare(base: str, new: str, threshold: str, style: str, quiet: bool) -> None:
    """Compare two files of records, cell by cell: faster, slower, same or unclear.

    Exits with 4 if a cell of NEW is slower than in BASE beyond the threshold, no longer succeeds, or gives
    another result.

    Example:
      gpugraph compare base.jsonl new.jsonl --threshold 10%
    """
    from gpugraph.cli.output import show, show_lines, tell
    from gpugraph.measure.compare import compare as compare_rows
    from gpugraph.measure.record_file import read_records
    from gpugraph.measure.record_shape import json_text
    from gpugraph.quantities import counted
    from gpugraph.report.comparison import comparison_json, comparison_lines, comparison_markdown, describe_cell
    from gpugraph.report.terminal import page_width

    share = parse_share("--threshold", threshold, remedy="write 5% or 0.05")
    if not 0 < share < 100:
        raise InputError(f"--threshold '{threshold}' is no share above 0", remedy="write 5% or 0.05")
    (first, told), (second, told_too) = read_records([base]), read_records([new])
    tell([*told, *told_too], quiet=quiet)
    comparison = compare_rows(first, second, threshold=share)
    try:
        if style == "json":
            show(json_text(comparison_json(comparison)))
        elif style == "markdown":
            show(comparison_markdown(comparison))
        else:
            show_lines(comparison_lines(comparison, width=page_width()))
    finally:  # whoever stopped reading must still get the exit code
        if found := comparison.regressions:
            worst = max(found, key=lambda cell: cell.ratio or 0.0)
            by = f"{worst.ratio:.3f} times the time" if worst.ratio else worst.reason
            what = f"{counted(len(found), 'cell')} regressed; {describe_cell(worst.base)}: {worst.verdict}, {by}"
            raise Regression(what, where=new, remedy="measure again to be sure, then look at what changed")
