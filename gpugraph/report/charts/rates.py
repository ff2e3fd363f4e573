"""Throughput and what it is held against: the CPU, the memory's bandwidth and roofline, energy, and more ranks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from gpugraph.measure.columns import Labelled, kernel_time
from gpugraph.measure.record import Record
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import load_problem
from gpugraph.quantities import in_units, percent, rate
from gpugraph.report.charts.chart import Chart, Ink, Spec, row_height
from gpugraph.report.charts.curves import Mark, Point, curves, describe, log_axis, log_domain
from gpugraph.report.charts.panels import Panel, chart, failures, panels, point, problem_name, rate_title, times
from gpugraph.report.versus import Gain, Stated, machine, stated, times_as_fast


def throughput(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return throughput over scale or graph, with failed cells and what papers state."""
    charts = []
    for panel in panels(cells):
        members = [m for m in panel.members if m.record.mteps is not None]
        points = [_throughput_point(panel, m) for m in members]
        papers = _papers(panel, _stated_rate)
        failed = failures(panel)
        if not points and not papers:
            continue
        caption = "Higher is better. Marks are medians, bars their 95 % confidence intervals."
        if failed:
            caption += " × marks a cell that gave no number."
        if papers:
            caption += " " + _hardware(papers, members)
        charts.append(
            chart(
                "throughput", panel, points, ink, y_title=rate_title(panel.problem), caption=caption, show=rate,
                unit="MTEPS", failed=failed, papers=papers,
            )
        )  # fmt: skip
    return charts


def _throughput_point(panel: Panel, cell: Labelled) -> Point:
    row = cell.record
    mteps = row.mteps or 0.0
    tip = {"MTEPS": rate(mteps)}
    if row.transfers and row.end_to_end is not None:
        tip["end to end"] = f"{rate(row.end_to_end)} MTEPS"
    low, high = row.mteps_interval
    return point(panel, cell, mteps, {**tip, **times(row)}, low=low, high=high)


def stated_marks(cells: Sequence[Labelled], what: str = "mteps") -> list[Mark]:
    """Return what papers state over scale: ``what`` is ``"mteps"`` or ``"speedup"``."""
    of = _stated_speedup if what == "speedup" else _stated_rate
    return [mark for panel in panels(cells) if not panel.names for mark in _papers(panel, of)]


def _papers(panel: Panel, of: Callable[[Stated, Record], float | None]) -> list[Mark]:
    marks: dict[tuple[str, str, object, float], Mark] = {}
    for member in panel.members:
        for value in stated(member.record):
            y = of(value, member.record)
            own = value.is_of(member.record.scale)
            if y is None or (panel.names and not own):
                continue
            x = panel.x(member.record) if own or value.scale is None else value.scale
            name = ", ".join(part for part in (value.name, value.label) if part)
            tip = {"stated by": name, "where": value.where or "-", "hardware": value.hardware}
            tip |= {"speed-up": f"{y:g} times", "over": value.over or "-"} if value.speedup else {"MTEPS": rate(y)}
            marks[name, value.hardware, x, y] = Mark(x, y, f"{name}, {value.hardware}", tip)
    return list(marks.values())


def _stated_speedup(value: Stated, row: Record) -> float | None:
    return value.speedup


def _stated_rate(value: Stated, row: Record) -> float | None:
    """Return a stated value in MTEPS; a time is turned into one where it is of this very cell's work."""
    if value.mteps is not None:
        return value.mteps
    if value.kernel_s is None or not value.is_of(row.scale) or len(row.counts) != 1:
        return None
    return row.counts[0] / value.kernel_s / 1e6


def _hardware(papers: Sequence[Mark], members: Sequence[Labelled]) -> str:
    stated = "; ".join(dict.fromkeys(mark.text for mark in papers))
    ours = ", ".join(dict.fromkeys(m.record.device for m in members)) or "-"
    return f"Open diamonds are a paper's own numbers ({stated}), as it states them; ours are of {ours}."


def speedups(cells: Sequence[Labelled], found: Sequence[Sequence[Gain]], ink: Ink) -> list[Chart]:
    """Return how much faster the best GPU algorithm is than the best of a CPU, and the speed-ups that papers state."""
    by_row = {id(group[0].gpu): group for group in found}
    charts = []
    for panel in panels(cells):
        points = []
        for member in panel.members:
            for one in by_row.get(id(member.record), ()):
                tip = {one.by: times_as_fast(one.factor), "GPU": _who(one.gpu), "CPU": _who(one.cpu)}
                points.append(Point(panel.x(one.gpu), one.factor, one.by, "", {"graph": one.gpu.graph_name, **tip}))
        papers = _papers(panel, _stated_speedup)
        if points or papers:
            caption = (
                "The fastest GPU algorithm over the fastest CPU algorithm on each graph, other people's programs in "
                "the records included; above 1 the GPU wins. Each time has its own fastest two; the pointer names them."
            )
            if papers:
                over = "; ".join(dict.fromkeys(mark.tip["over"] for mark in papers))
                caption += f" {_hardware(papers, panel.members)} Theirs are over {over}."
            charts.append(
                chart(
                    "speedup", panel, points, ink, y_title="times as fast as the CPU", caption=caption,
                    show=times_as_fast, papers=papers, level=(1.0, "as fast as the CPU"), titles=("time", "device"),
                )
            )  # fmt: skip
    return charts


def _who(row: Record) -> str:
    return f"{row.algorithm}, {machine(row)}"


def bandwidth(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return how near to the roof each cell comes: its least traffic at the measured copy bandwidth."""
    charts = []
    for panel in panels(cells):
        points = []
        for member in panel.members:
            row = member.record
            if row.share is not None and row.mteps is not None:
                tip = {"share of the roof": percent(row.share)}
                if row.shape.traffic.minimum_bytes:
                    tip["least traffic"] = in_units(int(row.shape.traffic.minimum_bytes))
                if row.shape.traffic.copy_bytes_per_s:
                    tip["copy bandwidth"] = f"{row.shape.traffic.copy_bytes_per_s / 1e9:,.0f} GB/s, measured"
                if row.share > 0:
                    tip["at the roof"] = f"{rate(row.mteps / row.share)} MTEPS"
                points.append(point(panel, member, row.share, {**tip, **times(row)}))
        if points:
            title = "share of the bandwidth roof"
            caption = (
                "How much of the measured copy bandwidth the kernel would use if it moved only the bytes that its "
                "algorithm must move; 100 % is the roof that the memory sets."
            )
            high = max(p.y for p in points) > 0.5
            level = (1.0, "the roof: least traffic at copy bandwidth") if high else None
            charts.append(
                chart(
                    "roof", panel, points, ink, y_title=title, caption=caption, show=percent, log=False, percent=True,
                    level=level,
                )
            )  # fmt: skip
    return charts


def energy(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return the energy that an edge takes."""
    charts = []
    for panel in panels(cells):
        points = []
        for member in panel.members:
            row = member.record
            if row.nanojoules is not None and row.ok:
                joules = {} if row.joules is None else {"a run": f"{row.joules:.4g} J"}
                points.append(point(panel, member, row.nanojoules, {"an edge": f"{row.nanojoules:.4g} nJ", **joules}))
        if points:
            title = "nanojoules per edge"
            caption = "Lower is better. The device's own meter, read over windows long enough for its counter."
            charts.append(chart("energy", panel, points, ink, y_title=title, caption=caption, show="{:.4g} nJ".format))
    return charts


def roofline(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return one figure of all cells whose least traffic and whose device's copy bandwidth are known.

    A roofline has the edges per byte of least traffic for its abscissa.  These are nearly the same for all cells of an
    algorithm, so here each algorithm and kind of graph has a row instead, with its own roof at the end of it.

    Source: S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model, 2009.
    """
    rows: dict[str, list[Labelled]] = {}
    several = len({cell.device for cell in cells if cell.record.mteps and cell.record.share}) > 1
    for panel in panels(cells):
        for cell in panel.members:
            if cell.record.mteps and cell.record.share:
                graph = cell.record.graph_name if panel.names else panel.family
                rows.setdefault(f"{cell.series if several else cell.variant}: {graph}", []).append(cell)
    if not rows:
        return []
    values: list[Spec] = []
    roofs: list[Spec] = []
    table: list[tuple[str, ...]] = []
    for name, members in rows.items():
        best = max(members, key=lambda cell: cell.record.share or 0.0)
        share, mteps = best.record.share or 1.0, best.record.mteps or 0.0
        left = f"at {percent(share)}"
        roofs.append({"row": name, "best": mteps, "roof": mteps / share, "text": left, "variant": best.variant})
        for cell in members:
            row = cell.record
            reached, found = row.share or 1.0, row.mteps or 0.0
            told = (row.graph_name, cell.variant, cell.device, rate(found), rate(found / reached), percent(reached))
            values.append(
                dict(zip(_ROOF_FIELDS, told, strict=True)) | {"row": name, "x": found, "size": row.scale or 0.0}
            )
            table.append(told)
    high = max(roof["roof"] for roof in roofs)
    ends = [float(value["x"]) for value in values] + [high]
    x: Spec = {"type": "quantitative", "title": "MTEPS (log scale)"}
    x |= {"scale": {"type": "log", "nice": False, "domain": log_domain(ends)}, "axis": {**log_axis(ends), "grid": True}}
    y: Spec = {
        "field": "row", "type": "nominal", "title": None,
        "axis": {"grid": True, "labelExpr": "split(datum.value, ': ')"},
        "sort": [roof["row"] for roof in sorted(roofs, key=lambda roof: roof["best"] / roof["roof"], reverse=True)],
    }  # fmt: skip
    names = dict(zip(_ROOF_FIELDS, _ROOF_TITLES, strict=True))
    color = {"field": "variant", "type": "nominal", "title": "algorithm", "legend": None}
    size = {
        "field": "size", "type": "quantitative", "scale": {"range": [24, 160], "zero": False},
        "legend": {"title": "scale", "orient": "top", "tickCount": 3, "format": "d", "symbolFillColor": ink.faint},
    }  # fmt: skip
    at_best, at_roof = {**x, "field": "best"}, {**x, "field": "roof"}
    tick = {"type": "tick", "thickness": 3, "size": 16, "color": ink.text}
    layers: list[Spec] = [
        {
            "data": {"values": roofs},
            "mark": {"type": "rule", "strokeDash": [2, 3]},
            "encoding": {"x": at_best, "x2": {"field": "roof"}, "y": y},
        },
        {"data": {"values": roofs}, "mark": tick, "encoding": {"x": at_roof, "y": y}},
        {
            "data": {"values": roofs},
            "mark": {"type": "text", "align": "right", "dx": -9, "dy": -8, "color": ink.text},
            "encoding": {"x": at_roof, "y": y, "text": {"field": "text"}},
        },
        {
            "data": {"values": values},
            "mark": {"type": "point", "filled": True, "opacity": 0.7},
            "encoding": {
                "x": {**x, "field": "x"}, "y": y, "color": color, "size": size,
                "tooltip": [{"field": field, "type": "nominal", "title": title} for field, title in names.items()],
            },
        },
    ]  # fmt: skip
    caption = (
        "Each mark is a cell, the larger the larger its graph. The bar at the end of a row is its roof: the most that "
        "the device's measured copy bandwidth allows a kernel that moves no byte more than its algorithm must. Above "
        "the line stands how much of it the best cell has; what lies between is left to gain."
    )
    said = "; ".join(
        f"{variant} on {graph}, {device}: {share} of the roof" for graph, variant, device, _, _, share in table
    )
    height = row_height(len(roofs), 36)
    words = f"MTEPS of every cell below its roof. {said}."
    return [Chart("roofline", "Roofline", caption, words, {"layer": layers}, _ROOF_TITLES, table, height=height)]


_ROOF_FIELDS = ("graph", "variant", "device", "mteps", "at_roof", "share")
_ROOF_TITLES = ("graph", "algorithm", "device", "MTEPS", "at the roof", "share of it")


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
