"""A comparison of two runs for people, as Markdown, and as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gpugraph.measure.compare import VERDICTS, Compared, Comparison
from gpugraph.measure.record import Record
from gpugraph.measure.record_shape import jsonable
from gpugraph.quantities import counted, duration, percent
from gpugraph.report.markdown_csv import grid
from gpugraph.report.terminal import Line, field, row_lines

HEADER = ("problem", "graph", "algorithm", "device", "base", "new", "new/base", "95 % interval", "verdict")
_RIGHT = (4, 5, 6, 7)
_STYLES = {
    "slower": "bold red",
    "broken": "bold red",
    "different result": "bold red",
    "faster": "bold green",
    "repaired": "green",
    "same": "",
    "unclear": "yellow",
    "not compared": "dim",
}
_MEANING = (
    "Ratio of the median kernel times, above 1 where NEW is slower. Slower or faster: the 95 % bootstrap interval of "
    "the ratio lies wholly beyond the threshold, a Mann–Whitney test, corrected by Holm for the number of cells, is "
    "significant at 5 %, every quarter of both runs agrees, and the cell stands out of the scatter of all; where both "
    "ran the cell in several processes, Student's t over the medians of these, and every process agrees. Same: the "
    "interval lies wholly within the threshold. Unclear: anything else"
)


def comparison_lines(comparison: Comparison, *, width: int = 80, table_width: int | None = None) -> list[Line]:
    """Return the lines of a comparison: its table as wide as it must be or ``table_width``, the rest ``width``."""
    cells = sorted(comparison.cells, key=lambda cell: cell.base.problem)  # else as they came
    header, *rows = row_lines(HEADER, [_cells(cell) for cell in cells], right=_RIGHT, width=table_width)
    lines = list(header)
    for cell, row in zip(cells, rows, strict=True):
        lines += [[(text, style or _STYLES[cell.verdict]) for text, style in line] for line in row]
        if cell.reason:
            lines += [[("    ", ""), (part[1][0], "dim")] for part in field("", cell.reason, width=width)]
    lines.append([("", "")])
    lines += field("cells", tally(comparison), width=width, style="bold red" if comparison.regressions else "bold")
    if comparison.geometric_mean is not None:
        lines += field("mean", _mean(comparison) + ", geometric", width=width)
    lines += field("threshold", percent(comparison.threshold), width=width)
    for label, texts in (("not paired", _unpaired(comparison)), ("note", comparison.notices)):
        for i, text in enumerate(texts):
            lines += field("" if i else label, text, width=width, style="yellow")
    return [*lines, [("", "")], *field("", _MEANING, width=width, style="dim")]


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comparison as a Markdown table with its summary beneath."""
    rows = []
    for cell in comparison.cells:
        cells = _cells(cell)
        cells[-1] = f"**{cell.verdict}**" if cell in comparison.regressions else cell.verdict
        rows.append([*cells[:-1], cells[-1] + (f": {cell.reason}" if cell.reason else "")])
    notes = [f"{tally(comparison)}; threshold {percent(comparison.threshold)}"]
    if comparison.geometric_mean is not None:
        notes.append(f"Geometric mean of the ratios: {_mean(comparison)}")
    notes += [f"Not paired: {text}" for text in _unpaired(comparison)]
    notes += [text[0].upper() + text[1:] for text in comparison.notices]
    return "\n".join([*grid(HEADER, rows, _RIGHT), *(f"\n{note}." for note in [*notes, _MEANING])])


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as one JSON object."""
    content = {
        "schema": 1,
        "threshold": comparison.threshold,
        "regressions": len(comparison.regressions),
        "geometric_mean": comparison.geometric_mean,
        "geometric_mean_interval": comparison.mean_interval,
        "cells": [
            {
                **_names(cell.new if cell.new.ok else cell.base),
                "cell": cell.new.shape.cell.id,
                "verdict": cell.verdict,
                "reason": cell.reason,
                "base_s": cell.base.kernel_s,
                "new_s": cell.new.kernel_s,
                "ratio": cell.ratio,
                "interval": cell.interval,
                "p_value": cell.p_value,
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
    return f"{row.problem} {row.graph_name} by {row.algorithm} on {row.device}"


def _cells(cell: Compared) -> list[str]:
    row = cell.new if cell.new.ok else cell.base
    ratio = "-" if cell.ratio is None else f"{cell.ratio:.3f}"
    interval = "-" if cell.interval is None else f"{cell.interval[0]:.3f}..{cell.interval[1]:.3f}"
    times = [_time(one) for one in (cell.base, cell.new)]
    return [row.problem, row.graph_name, row.algorithm, row.device, *times, ratio, interval, cell.verdict]


def _time(row: Record) -> str:
    return "-" if row.kernel_s is None else duration(row.kernel_s) + (f" ({row.few})" if row.few else "")


def _names(row: Record) -> dict[str, Any]:
    return {"problem": row.problem, "graph": row.graph_name, "algorithm": row.algorithm, "device": row.device}


def _mean(comparison: Comparison) -> str:
    if comparison.geometric_mean is None or comparison.mean_interval is None:
        return "-"
    low, high = comparison.mean_interval
    return f"{comparison.geometric_mean:.3f} ({low:.3f}..{high:.3f})"


def _unpaired(comparison: Comparison) -> list[str]:
    return [f"{describe_cell(one.record)}: {one.reason}" for one in comparison.unpaired]
