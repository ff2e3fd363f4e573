"""``gpugraph compare`` and ``history``: two runs of the same cells, or any records that did the same work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gpugraph.base.errors import InputError, Regression
from gpugraph.base.quantities import counted, parse_target
from gpugraph.cli.options import command, export_option, named, reference_option
from gpugraph.cli.output import show, show_lines, tell
from gpugraph.report.terminal import indented, page_width, plain, table_width

if TYPE_CHECKING:
    from gpugraph.records.record import Record

BY = ("algorithm", "device", "peer")
_COMPARED = ("text", "json", "markdown")


@command
@click.argument("files", nargs=-1, required=True, metavar="BASE NEW | FILE...")
@named(
    "--by", kind="way to compare", names=("run", *BY), default="run",
    help="Compare two runs of the same cells, or rank algorithms, devices or peers.",
)  # fmt: skip
@click.option("--threshold", metavar="SHARE", default="5%", show_default=True, help="Relevant change: 5%, 0.05 or 5.")
@named("--format", "style", kind="output format", names=_COMPARED, default="text", help="Output format.")
@reference_option
@export_option
def compare(
    files: tuple[str, ...],
    by: str,
    threshold: str,
    style: str,
    reference: str,
    exports: tuple[str, ...],
    quiet: bool,
) -> None:
    """Compare two files of records, cell by cell: faster, slower, same or unclear.

    Exits with 4 if a cell of NEW is slower than in BASE beyond the threshold, no longer succeeds, or gives
    another result. Emulated runs are compared by their work, if it was counted (--counters).

    With --by the records of all FILEs that did the same work are ranked: which is fastest, and by how much. What
    cannot be compared is refused with the reason.

    Example:
      gpugraph compare base.jsonl new.jsonl --threshold 10%
    """
    from gpugraph.cli.exports import check_exports
    from gpugraph.ext.comparing.versions import read_records

    check_exports(exports)
    if by != "run":
        if click.get_current_context().get_parameter_source("threshold") is click.core.ParameterSource.COMMANDLINE:
            raise InputError("--threshold is for two runs, BASE and NEW", remedy="leave it out, or leave out --by")
        records, notices = read_records(files)
        tell(notices, quiet=quiet)
        _rank(records, by, style, reference, exports, quiet=quiet)
        return
    if len(files) != 2:
        remedy = "or --by algorithm, device or peer, which takes any number"
        raise InputError(f"two runs are compared, BASE and NEW, not {len(files)}", remedy=remedy)
    if exports or reference:
        what = "--export" if exports else "--reference"
        raise InputError(f"{what} is for records that are ranked", remedy="add --by algorithm, device or peer")
    _compare_runs(*files, threshold, style, quiet=quiet)


def _rank(
    records: Sequence[Record], by: str, style: str, reference: str, exports: Sequence[str], *, quiet: bool
) -> None:
    """Print how records rank, and which of them cannot be compared."""
    from gpugraph.cli.exports import export, show_records
    from gpugraph.ext.comparing.ranked import alone_lines, rank
    from gpugraph.ext.comparing.ranking import check_ranked
    from gpugraph.ext.comparing.versions import explanation

    rankings, alone = rank(records, by, reference)
    check_ranked(rankings, alone, by)
    left_out = alone_lines(alone, width=page_width())
    show_records(records, {"text": "table"}.get(style, style), rankings)
    if style == "text" and (stale := explanation(records)):
        show_lines([[], *indented(stale, width=page_width())])
    if left_out and style == "text":
        show_lines([[], *left_out])
    elif left_out:
        tell([plain([line]) for line in left_out])
    export(records, exports, rankings, quiet=quiet)


def _share(threshold: str) -> float:
    """Return what ``--threshold`` means; a bare ``5`` is 5 %, as it is for ``--target``."""
    share = parse_target("--threshold", threshold, remedy="write 5% or 0.05")
    if not 0 < share < 100:
        raise InputError(f"--threshold '{threshold}' is no share above 0", remedy="write 5% or 0.05")
    return share


def _compare_runs(base: str, new: str, threshold: str, style: str, *, quiet: bool) -> None:
    """Print how one run compares with another."""
    from gpugraph.ext.comparing.compare import compare as compare_rows
    from gpugraph.ext.comparing.comparison import comparison_json, comparison_sheet, describe_cell
    from gpugraph.records.json_text import json_text
    from gpugraph.records.record_file import read_records

    share = _share(threshold)
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
            raise Regression(what, where=new, remedy="measure again to be sure, then look at the changes")


@command
@click.argument("folder", metavar="FOLDER")
@click.option("--threshold", metavar="SHARE", default="5%", show_default=True, help="Relevant change: 5%, 0.05 or 5.")
def history(folder: str, threshold: str, quiet: bool) -> None:
    """Show how times changed over commits: FOLDER has a file of records for each.

    Each run is compared with the one before it, as by gpugraph compare. Exits with 4 if a cell became slower, and
    names the first such commit.

    Example:
      gpugraph history runs/
    """
    from gpugraph.ext.comparing.history import check_steps, find_steps, history_lines, read_runs

    share = _share(threshold)
    runs, notices = read_runs(folder)
    tell(notices, quiet=quiet)
    steps = find_steps(runs, share)
    show_lines(history_lines(runs, steps))
    check_steps(steps, folder)
