"""Figures of panels: a figure for each, its points, and marks for the cells that have none."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gpugraph.base.quantities import duration, percent
from gpugraph.ext.charts.chart import HEIGHT, PAGE, Chart, row_height
from gpugraph.ext.charts.curves import Look, Mark, Point, curves, describe, listed
from gpugraph.ext.reports.panels import Panel, panels
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import load_problem
from gpugraph.records.columns import Labelled
from gpugraph.records.record import Record


def rate_title(problem: str) -> str:
    """Return the title of an axis of throughput."""
    counted = load_problem(problem).counted if problem in PROBLEMS else "edges"
    return f"million {'edges' if 'edges' in counted else counted} per second (MTEPS)"


def charts(kind: str, cells: Sequence[Labelled], drawn: Callable[[Panel], tuple[list[Point], Look]]) -> list[Chart]:
    """Return a figure for each panel that has anything to show, in words and as a table besides.

    ``kind`` begins its name in addresses; ``drawn`` gives the values of a panel and how they are drawn, all but axes.
    """
    found = []
    for panel in panels(cells):
        points, look = drawn(panel)
        look = replace(look, x_title=panel.x_title, names=panel.names, bars=bool(panel.alone))
        if points or look.papers:
            header, rows = listed(points, look)
            places = {p.x for p in points} | {m.x for m in (*look.failed, *look.papers)}
            height = row_height(len(places)) if panel.names else HEIGHT
            spec, words, key = curves(points, PAGE, look), describe(points, look), f"{kind}-{panel.key}"
            found.append(Chart(key, panel.title, look.caption, words, spec, header, rows, height=height))
    return found


def point(panel: Panel, cell: Labelled, y: float, tip: dict[str, str], **more: object) -> Point:
    """Return a cell's value as a point that says what it is of."""
    subject = {"graph": cell.record.graph_name, "algorithm": cell.variant, "device": cell.record.device}
    return Point(panel.x(cell), y, cell.variant, cell.device, {**subject, **tip}, **more)  # type: ignore[arg-type]


def times(row: Record) -> dict[str, str]:
    """Return what hovering shows of a cell's kernel time."""
    if row.kernel_s is None:
        return {}
    few = ", too few to prove much" if row.few else ""
    tip = {"kernel": f"{duration(row.kernel_s)}, median of {len(row.samples)}{few}"}
    if row.samples:
        tip["samples"] = f"{duration(min(row.samples))} to {duration(max(row.samples))}"
    if row.interval_s:
        low, high = row.interval_s
        half = "" if row.half_width is None else f" (±{percent(row.half_width)})"
        tip["95 % interval"] = f"{duration(low)} to {duration(high)}{half}"
    return tip


def failures(panel: Panel) -> list[Mark]:
    """Return the cells of a panel that have no value, as marks at its foot."""
    marks = []
    for cell in panel.members:
        row = cell.record
        if not row.ok:
            tip = {"graph": row.graph_name, "algorithm": cell.variant, "device": row.device}
            tip |= {"outcome": row.outcome, "why": row.message or "-"}
            marks.append(Mark(panel.x(cell), None, row.outcome, tip))
    return marks
