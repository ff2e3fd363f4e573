"""What more ranks bring: the same graph on more of them, and graphs that grow with them, each beside the ideal."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from gpugraph.measure.columns import Labelled, kernel_time
from gpugraph.measure.record import Record
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import load_problem
from gpugraph.report.charts.chart import Chart, Ink
from gpugraph.report.charts.curves import Point, curves, describe
from gpugraph.report.charts.panels import problem_name

IDEAL = "ideal"

_Times = dict[int, Record]
"""The fastest verified run on so many ranks."""


def strong(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return for each problem how many times as fast as one device several are, on the same graph.

    A graph that one device has no run of begins on the ideal with the fewest ranks that it has.
    """
    times = _fastest(cells, lambda row: row.graph_name)
    charts = []
    for problem, series in times.items():
        points = []
        for (graph, device), runs in series.items():
            least = min(runs)
            base = runs[least]
            points += [_point(n, least * _ratio(base, row), graph, device, row, base) for n, row in runs.items()]
        counts = sorted({int(point.x) for point in points} | {1})
        points += [Point(count, float(count), IDEAL, points[0].device) for count in counts]
        spec = curves(
            points,
            ink,
            x_title="ranks",
            y_title="times as fast as one",
            titles=("graph", "device"),
            log=False,
        )
        caption = "The fastest verified algorithm on each number of ranks, against the fastest on one device."
        name = f"{problem_name(problem)}, the same graph on more ranks"
        said = describe(points, "ranks", "times as fast")
        charts.append(Chart(f"strong-{problem}", name, caption, said, spec, *_table(points, "graph", "times as fast")))
    return charts


def weak(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return for each problem what is left of one device's speed where graphs grow as ranks do."""
    grown = [cell for cell in cells if cell.record.scale is not None]
    times = _fastest(grown, _share)
    charts = []
    for problem, series in times.items():
        points = []
        for (share, device), runs in series.items():
            base = runs[min(runs)]
            points += [_point(n, _ratio(base, row), share, device, row, base) for n, row in runs.items()]
        spec = curves(
            points,
            ink,
            x_title="ranks",
            y_title="efficiency",
            titles=("graph of each rank", "device"),
            level=(1.0, IDEAL),
            log=False,
            percent=True,
        )
        caption = "Graphs with twice the vertices on twice the ranks: the time on the fewest over the time on so many."
        name = f"{problem_name(problem)}, graphs that grow with the ranks"
        said = describe(points, "ranks", "efficiency")
        charts.append(
            Chart(f"weak-{problem}", name, caption, said, spec, *_table(points, "graph of each", "efficiency"))
        )
    return charts


def _table(points: Sequence[Point], variant: str, gain: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the header and the rows of what a figure shows, the ideal left out."""
    shown = [point for point in points if point.variant != IDEAL]
    rows = tuple((p.variant, p.device, f"{p.x:g}", f"{p.y:.3g}", p.tip["kernel"], p.tip["against"]) for p in shown)
    return (variant, "device", "ranks", gain, "kernel", "against"), rows


def _share(row: Record) -> str:
    """Return the graph that one rank has a share of the size of: equal where graphs grow as ranks do."""
    series = load_problem(row.problem).series(row.graph_name) if row.problem in PROBLEMS else row.family
    return f"{series}, {(row.scale or 0.0) - math.log2(_ranks(row)):.3g} each"


def _ranks(row: Record) -> int:
    return row.shape.device.ranks or 1


def _fastest(cells: Sequence[Labelled], of: Callable[[Record], str]) -> dict[str, dict[tuple[str, str], _Times]]:
    """Return by problem, and by what ``of`` says of a record and the kind of device, those that ran on several."""
    found: dict[str, dict[tuple[str, str], _Times]] = defaultdict(lambda: defaultdict(dict))
    for row in (cell.record for cell in cells):
        if row.mteps is None or not row.kernel_s or row.device_kind == "emulated":
            continue
        runs = found[row.problem][of(row), row.device.removeprefix(f"{_ranks(row)} × ")]
        before = runs.get(_ranks(row))
        if before is None or row.kernel_s < (before.kernel_s or math.inf):
            runs[_ranks(row)] = row
    kept = {
        problem: {key: dict(sorted(runs.items())) for key, runs in series.items() if len(runs) > 1}
        for problem, series in found.items()
    }
    return {problem: series for problem, series in kept.items() if series}


def _ratio(base: Record, row: Record) -> float:
    return (base.kernel_s or 0.0) / (row.kernel_s or math.inf)


def _point(ranks: int, y: float, variant: str, device: str, row: Record, base: Record) -> Point:
    tip = {"graph": row.graph_name, "ranks": str(ranks), "algorithm": row.algorithm, "kernel": kernel_time(row)}
    return Point(ranks, y, variant, device, {**tip, "against": f"{base.graph_name}, {kernel_time(base)}"})
