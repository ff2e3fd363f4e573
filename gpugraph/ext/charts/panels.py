"""Which cells share a figure: those of a problem and a family over its scale, the rest by graph or by algorithm."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gpugraph.base.quantities import duration, percent
from gpugraph.ext.charts.chart import HEIGHT, PAGE, Chart, row_height
from gpugraph.ext.charts.curves import Look, Mark, Point, curves, describe, listed
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import load_problem
from gpugraph.records.columns import Labelled
from gpugraph.records.record import Record

SCALE = "scale (log2 of the number of vertices)"


@dataclass(frozen=True, eq=False)
class Panel:
    """The cells of one figure, by scale: of one family of graphs, or, with ``names``, each of a graph by itself.

    Where all cells are of one graph, that is ``alone``, and the abscissa is the algorithm.
    """

    problem: str
    family: str | None
    members: list[Labelled]
    names: bool
    alone: str = ""

    @property
    def key(self) -> str:
        """The panel's name in addresses."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.problem} {self.family or 'graphs'}".lower()).strip("-")

    @property
    def title(self) -> str:
        """The panel's name for people."""
        return f"{problem_name(self.problem)}, {self.family or self.alone or 'by graph'}"

    @property
    def x_title(self) -> str:
        """The title of its abscissa."""
        return "algorithm" if self.alone else "graph" if self.names else SCALE

    def x(self, cell: Labelled) -> str | float:
        """Return the place of a cell on the abscissa."""
        if self.alone:
            return cell.series if len({one.device for one in self.members}) > 1 else cell.variant
        return cell.record.graph_name if self.names else float(cell.record.scale or 0.0)


def problem_name(problem: str) -> str:
    """Return a problem's name for people."""
    return load_problem(problem).title if problem in PROBLEMS else problem


def rate_title(problem: str) -> str:
    """Return the title of an axis of throughput."""
    counted = load_problem(problem).counted if problem in PROBLEMS else "edges"
    return f"million {'edges' if 'edges' in counted else counted} per second (MTEPS)"


def panels(cells: Sequence[Labelled]) -> list[Panel]:
    """Return the figures that cells fall into, in the order of their first cells."""
    groups: dict[tuple[str, str], list[Labelled]] = {}
    families: dict[tuple[str, str | None], str] = {
        (c.record.problem, c.record.shape.cell.series): c.record.family
        for c in cells
        if c.record.shape.cell.series and c.record.graph_facts
    }
    for cell in cells:  # a cell that never opened its graph belongs where its series does
        family = cell.record.family
        if not cell.record.graph_facts:
            family = families.get((cell.record.problem, cell.record.shape.cell.series), family)
        groups.setdefault((cell.record.problem, family), []).append(cell)
    found: list[Panel] = []
    single: dict[str, list[Labelled]] = {}
    for (problem, family), members in groups.items():
        scales = {member.record.scale for member in members} - {None}
        if len(scales) > 1:
            placed = [member for member in members if member.record.scale is not None]
            found.append(Panel(problem, family, sorted(placed, key=lambda m: m.record.scale or 0.0), names=False))
        else:
            single.setdefault(problem, []).extend(members)
    for problem, members in single.items():
        graphs = list(dict.fromkeys(member.record.graph_name for member in members))
        alone = graphs[0] if len(graphs) == 1 < len(members) else ""
        found.append(Panel(problem, None, members, names=True, alone=alone))
    return found


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
