"""A comparison of two runs for people, as Markdown, and as JSON."""

import math
from collections import Counter
from typing import Any

from gpugraph.base.quantities import counted, duration, percent
from gpugraph.ext.comparing.compare import VERDICTS, Compared, Comparison
from gpugraph.ext.comparing.sheet import ALARM, Note, Sheet, Table
from gpugraph.records.json_text import jsonable
from gpugraph.records.record import Record

HEADER = ("problem", "graph", "algorithm", "device", "base", "new", "new/base", "detectable", "verdict")
_RIGHT = (4, 5, 6, 7)
_STYLES = {
    "slower": ALARM,
    "more work": ALARM,
    "broken": ALARM,
    "different result": ALARM,
    "faster": "bold green",
    "less work": "bold green",
    "same work": "",
    "repaired": "green",
    "same": "",
    "unclear": "yellow",
    "not compared": "dim",
}
_MEANING = (
    "new/base: the ratio of the median kernel times with its 95 % interval, above 1 if NEW is slower. Detectable: the "
    "smallest change that four of five such comparisons find. The verdicts: gpugraph help report"
)


def comparison_sheet(comparison: Comparison) -> Sheet:
    """Return a comparison, to be shown in a terminal or as Markdown."""
    cells = sorted(comparison.cells, key=lambda cell: cell.base.problem)  # else as they came
    rows = [_cells(cell) for cell in cells]
    table = Table(HEADER, rows, _RIGHT, [_STYLES[cell.verdict] for cell in cells], [cell.reason for cell in cells])
    notes = [Note("cells", tally(comparison), "bold red" if comparison.regressions else "bold")]
    if comparison.geometric_mean is not None:
        low, high = comparison.mean_interval or (None, None)
        known = "" if low is None else f" ({low:.3f}..{high:.3f})"
        notes.append(Note("mean", f"{comparison.geometric_mean:.3f}{known}, geometric"))
    notes.append(Note("threshold", percent(comparison.threshold)))
    if seen := comparison.visible:
        ends = " to ".join(dict.fromkeys(map(_change, seen)))
        notes.append(Note("detectable", f"{ends}: the smallest change that would have been found in a cell"))
    notes += [Note("not paired", f"{describe_cell(one.record)}: {one.reason}", "yellow") for one in comparison.unpaired]
    notes += [Note("note", text, "yellow") for text in comparison.notices]
    return Sheet([table, *notes, Note("meaning", _MEANING, "dim")])


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """Return a comparison as one JSON object."""
    content = {
        "schema": 1,
        "threshold": comparison.threshold,
        "regressions": len(comparison.regressions),
        "geometric_mean": comparison.geometric_mean,
        "geometric_mean_interval": comparison.mean_interval,
        "smallest_change_seen": comparison.visible,
        "unseen": comparison.unseen,
        "cells": [
            {
                **_names(cell.new if cell.new.ok else cell.base),
                "cell": cell.new.shape.cell.id,
                "verdict": cell.verdict,
                "reason": cell.reason,
                "base_s": cell.base.kernel_s,
                "new_s": cell.new.kernel_s,
                **({} if not cell.base.shape.work.total else {"base_work": cell.base.shape.work.total}),
                **({} if not cell.new.shape.work.total else {"new_work": cell.new.shape.work.total}),
                "ratio": cell.claim.ratio,
                "interval": cell.claim.interval,
                "p_value": cell.claim.p_value,
                "smallest_change_seen": cell.visible,
                "samples": [len(cell.base.samples), len(cell.new.samples)],
                "processes": [len(cell.base.processes), len(cell.new.processes)],
            }
            for cell in comparison.cells
        ],
        "unpaired": [{**_names(one.record), "side": one.side, "reason": one.reason} for one in comparison.unpaired],
        "notices": comparison.notices,
    }
    plain: dict[str, Any] = jsonable(content)
    return plain


def tally(comparison: Comparison) -> str:
    """Return how many cells met which verdict, in a few words."""
    counts = Counter(cell.verdict for cell in comparison.cells)
    parts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
    return f"{counted(len(comparison.cells), 'cell')}: {', '.join(parts)}"


def describe_cell(row: Record) -> str:
    """Return a cell in a few words."""
    return f"{row.problem} {row.graph_name} by {row.marked} on {row.device}"


def _cells(cell: Compared) -> list[str]:
    row, claim = cell.new if cell.new.ok else cell.base, cell.claim
    if cell.verdict.endswith(" work"):
        sectors = [one.shape.work.total.get("sectors", 0) for one in (cell.base, cell.new)]
        grown = f"{sectors[1] / sectors[0]:.3f}" if sectors[0] else "-"
        amounts = [counted(number, "sector") for number in sectors]
        return [row.problem, row.graph_name, row.marked, row.device, *amounts, grown, "-", cell.verdict]
    ratio = "-" if claim.ratio is None else f"{claim.ratio:.3f}"
    ratio += "" if claim.interval is None else f" ({claim.interval[0]:.3f}..{claim.interval[1]:.3f})"
    times = [_time(one) for one in (cell.base, cell.new)]
    names = [row.problem, row.graph_name, row.marked, row.device]
    return [*names, *times, ratio, "-" if cell.visible is None else _change(cell.visible), cell.verdict]


def _change(share: float) -> str:
    return percent(share) if math.isfinite(share) else "none"


def _time(row: Record) -> str:
    return "-" if row.kernel_s is None else duration(row.kernel_s) + (f" ({row.few})" if row.few else "")


def _names(row: Record) -> dict[str, object]:
    return {"problem": row.problem, "graph": row.graph_name, "algorithm": row.algorithm, "device": row.device}
