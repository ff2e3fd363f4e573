"""Which cells share a figure: those of one problem and one family of graphs over its scale, the rest by graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.measure.columns import Labelled
from gpugraph.measure.record import Record
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import load_problem
from gpugraph.quantities import duration, percent
from gpugraph.report.charts.chart import HEIGHT, Chart, Ink, row_height
from gpugraph.report.charts.curves import Mark, Point, curves, describe, listed

SCALE = "scale (log2 of the number of vertices)"


@dataclass(frozen=True, eq=False)
class Panel:
    """The cells of one figure.

    Attributes:
        problem, family: what they have in common; no family where each cell is a graph by itself.
        members: the cells, by scale.
        names: the abscissa is the graph's name.
    """

    problem: str
    family: str | None
    members: list[Labelled]
    names: bool

    @property
    def key(self) -> str:
        """The panel's name in addresses."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.problem} {self.family or 'graphs'}".lower()).strip("-")

    @property
    def title(self) -> str:
        """The panel's name for people."""
        return f"{problem_name(self.problem)}, {self.family or 'by graph'}"

    @property
    def x_title(self) -> str:
        """The title of its abscissa."""
        return "graph" if self.names else SCALE

    def x(self, row: Record) -> str | float:
        """Return where a cell stands on the abscissa."""
        return row.graph_name if self.names else float(row.scale or 0.0)


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
    families: dict[tuple[str, str | None], str]
    families = {
        (c.record.problem, c.record.shape.cell.series): c.record.family
        for c in cells
        if c.record.shape.cell.series and c.record.data.get("graph")
    }
    for cell in cells:  # a cell that never opened its graph belongs where its series does
        family = cell.record.family
        if not cell.record.data.get("graph"):
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
    found += [Panel(problem, None, members, names=True) for problem, members in single.items()]
    return found


def chart(
    kind: str,
    panel: Panel,
    points: Sequence[Point],
    ink: Ink,
    *,
    y_title: str,
    caption: str,
    show: Callable[[float], str],
    unit: str = "",
    failed: Sequence[Mark] = (),
    papers: Sequence[Mark] = (),
    titles: tuple[str, str] = ("algorithm", "device"),
    **more: Any,
) -> Chart:
    """Return the figure of a panel's points over its abscissa, in words and as a table besides.

    ``kind`` is what it is called by in addresses, before the panel's name; ``show`` gives a value as text, and ``unit``
    is the head of its column, if not the title of the ordinate.  All else is as ``Chart`` and ``curves`` take it.
    """
    spec = curves(
        points, ink, x_title=panel.x_title, y_title=y_title, names=panel.names, failed=failed, papers=papers,
        titles=titles, **more,
    )  # fmt: skip
    header, rows = listed(points, ("graph" if panel.names else "scale", *titles, unit or y_title), show, failed, papers)
    height = row_height(len({p.x for p in points} | {m.x for m in (*failed, *papers)})) if panel.names else HEIGHT
    words = describe(points, panel.x_title, unit or y_title)
    return Chart(f"{kind}-{panel.key}", panel.title, caption, words, spec, header, rows, height=height)


def point(panel: Panel, cell: Labelled, y: float, tip: dict[str, str], **more: object) -> Point:
    """Return a cell's value as a point that says what it is of."""
    subject = {"graph": cell.record.graph_name, "algorithm": cell.variant, "device": cell.record.device}
    return Point(panel.x(cell.record), y, cell.variant, cell.device, {**subject, **tip}, **more)  # type: ignore[arg-type]


def times(row: Record) -> dict[str, str]:
    """Return what hovering tells of a cell's kernel time."""
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
    return [
        Mark(
            panel.x(m.record),
            None,
            m.record.outcome,
            {
                "graph": m.record.graph_name,
                "algorithm": m.variant,
                "device": m.record.device,
                "outcome": m.record.outcome,
                "why": m.record.message or "-",
            },
        )
        for m in panel.members
        if not m.record.ok
    ]
