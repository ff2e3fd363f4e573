"""``gpugraph history``: the same cells measured at many commits, and the commit at which a time changed."""

import os
from collections.abc import Sequence
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path

from gpugraph.base.errors import InputError, Regression, unreadable
from gpugraph.base.quantities import duration
from gpugraph.ext.comparing.compare import REGRESSIONS, Compared, compare, pair
from gpugraph.ext.comparing.comparison import describe_cell
from gpugraph.ext.comparing.versions import explanation, version
from gpugraph.records.record import STALE, Record
from gpugraph.records.record_file import read_records
from gpugraph.report.terminal import Line, can_draw

_STEPS = (*REGRESSIONS, "faster", "less work", "repaired")
_LEVELS = "▁▂▃▄▅▆▇█"


def read_runs(folder: str) -> tuple[list[list[Record]], list[str]]:
    """Return the records of every file of a folder, the earliest first, and notices; InputError if it has no two."""
    runs, notices = [], list[str]()
    if os.path.isfile(folder):
        raise InputError("is a file", where=folder, remedy="name the folder that has a file of records for each commit")
    try:
        names = sorted(name for name in os.listdir(folder) if fnmatch(name, "*.jsonl*"))
    except (OSError, ValueError) as error:
        raise unreadable(folder, error) from None
    files = [os.path.join(folder, name) for name in names]
    for path in {os.path.realpath(file): file for file in files}.values():  # a link to the latest is no run of its own
        if not os.path.isfile(path):  # of a pipe there would be no end
            raise InputError("is no file of records", where=path, remedy="take it out of the folder")
        rows, more = read_records([path])
        runs.append(rows)
        notices += more
    if len(runs) < 2:
        raise InputError(
            "has fewer than two files of records", where=folder, remedy="save a .jsonl of each commit there"
        )
    return sorted(runs, key=lambda rows: min(row.shape.time for row in rows)), notices


def find_steps(runs: Sequence[Sequence[Record]], threshold: float) -> list[Compared]:
    """Return the cells that changed from one run to the next, in their order; InputError if two have none in common."""
    for base, new in pairwise(runs):
        if not pair(base, new)[0]:
            what = f"{base[0].file} and {new[0].file} have no cell in common"
            raise InputError(what, remedy="keep only the files of one sweep in the folder")
    compared = [compare(*pair, threshold=threshold) for pair in pairwise(runs)]
    return [cell for one in compared for cell in one.cells if cell.verdict in _STEPS]


def check_steps(steps: Sequence[Compared], folder: str) -> None:
    """Raise Regression if a cell became slower; it names the first commit at which one did."""
    if bad := [one for one in steps if one.verdict in REGRESSIONS]:
        what = f"{describe_cell(bad[0].new)}: {bad[0].verdict} since commit {commit(bad[0].new)}"
        raise Regression(what, where=folder, remedy="measure again to be sure, then look at the changes")


def commit(row: Record) -> str:
    """Return the commit that a record was measured at, else its file."""
    return (row.shape.provenance.commit or "")[:10] or Path(row.file or "-").name


def history_lines(runs: Sequence[Sequence[Record]], steps: Sequence[Compared]) -> list[Line]:
    """Return of each cell a chart of its times, the first and the last of them, and its steps."""
    cells: dict[str, list[Record]] = {}
    for rows in runs:
        for row in rows:
            cells.setdefault(describe_cell(row), []).append(row)
    lines, ends = list[Line](), list[Record]()
    longest = max(map(len, cells), default=0)
    for name, members in cells.items():
        timed = [row for row in members if row.kernel_s]
        if not timed:
            why = "no time" if members[-1].ok else members[-1].message or members[-1].outcome
            lines.append([(f"{name:<{longest}}  ", "bold"), (why, "dim")])
            continue
        times, last = [row.kernel_s or 0.0 for row in timed], timed[-1]
        ends.append(last)
        most = max(times)
        drawn = "".join(_LEVELS[round((len(_LEVELS) - 1) * seconds / most)] for seconds in times) if can_draw() else ""
        first_and_last = f"  {duration(times[0])} to {duration(times[-1])}{STALE if version(last) else ''}"
        lines.append([(f"{name:<{longest}}  ", "bold"), (drawn, "cyan"), (first_and_last, "")])
        for one in (one for one in steps if describe_cell(one.new) == name):
            ratio = f", {one.claim.ratio:.3f} times the time" if one.claim.ratio else ""
            style = "bold red" if one.verdict in REGRESSIONS else "green"
            lines.append([(f"  {one.verdict} at commit {commit(one.new)}{ratio}", style)])
    return [*lines, [], [(stale, "")]] if (stale := explanation(ends, version)) else lines
