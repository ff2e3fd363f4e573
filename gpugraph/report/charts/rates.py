"""Throughput and what it is held against: the CPU, the memory's bandwidth and its roofline, the energy it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpugraph.measure.columns import Labelled
from gpugraph.measure.record import Record
from gpugraph.quantities import in_units, percent, rate
from gpugraph.report.cells import Speedup, ordered
from gpugraph.report.charts.chart import Chart, Ink, Spec
from gpugraph.report.charts.curves import Mark, Point, curves, describe
from gpugraph.report.charts.panels import Panel, failures, panels, point, rate_title, times
from gpugraph.report.papers import Stated, stated


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
        spec = curves(
            points,
            ink,
            x_title=panel.x_title,
            y_title=rate_title(panel.problem),
            names=panel.names,
            failed=failed,
            papers=papers,
        )
        caption = "Higher is better. Marks are medians, bars their 95 % confidence intervals."
        if failed:
            caption += " × marks a cell that gave no number."
        if papers:
            caption += " " + _hardware(papers, members)
        charts.append(
            Chart(f"throughput-{panel.key}", panel.title, caption, describe(points, panel.x_title, "MTEPS"), spec)
        )
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


def speedups(cells: Sequence[Labelled], found: Sequence[Speedup], ink: Ink) -> list[Chart]:
    """Return the speed-up over the fastest verified run of a CPU on the same graph, and those that papers state."""
    by_row = {id(one.record): one for one in found}
    charts = []
    for panel in panels(cells):
        points = []
        for member in panel.members:
            if (one := by_row.get(id(member.record))) is not None:
                total = {} if one.end_to_end is None else {"end to end": f"{one.end_to_end:.2f} times"}
                tip = {
                    "kernel only": f"{one.kernel:.2f} times",
                    **total,
                    "over": f"{one.base.algorithm}, {one.base.device}",
                }
                points.append(point(panel, member, one.kernel, tip))
        papers = _papers(panel, _stated_speedup)
        if points or papers:
            title = "times as fast as the CPU, kernel only"
            level = (1.0, "as fast as the CPU")
            spec = curves(
                points, ink, x_title=panel.x_title, y_title=title, names=panel.names, papers=papers, level=level
            )
            caption = "Kernel time of the fastest verified CPU run of the same graph over ours; above 1 the GPU wins."
            caption += " Transfers are not in it: the pointer shows the speed-up end to end, the figures above both."
            if papers:
                over = "; ".join(dict.fromkeys(mark.tip["over"] for mark in papers))
                caption += f" {_hardware(papers, panel.members)} Theirs are over {over}."
            charts.append(
                Chart(f"speedup-{panel.key}", panel.title, caption, describe(points, panel.x_title, title), spec)
            )
    return charts


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
            spec = curves(
                points, ink, x_title=panel.x_title, y_title=title, names=panel.names, log=False, percent=True,
                level=(1.0, "the roof: least traffic at copy bandwidth") if max(p.y for p in points) > 0.5 else None,
            )  # fmt: skip
            caption = (
                "How much of the measured copy bandwidth the kernel would use if it moved only the bytes that its "
                "algorithm must move; 100 % is the roof that the memory sets."
            )
            charts.append(
                Chart(f"roof-{panel.key}", panel.title, caption, describe(points, panel.x_title, title), spec)
            )
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
            spec = curves(points, ink, x_title=panel.x_title, y_title=title, names=panel.names)
            caption = "Lower is better. The device's own meter, read over windows long enough for its counter."
            charts.append(
                Chart(f"energy-{panel.key}", panel.title, caption, describe(points, panel.x_title, title), spec)
            )
    return charts


def roofline(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return one figure of all cells whose least traffic and whose device's copy bandwidth are known.

    Source: S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model, 2009.
    """
    values = []
    bandwidths: dict[str, float] = {}
    for cell in cells:
        row, traffic = cell.record, cell.record.shape.traffic
        if row.mteps is None or not traffic.minimum_bytes or not traffic.copy_bytes_per_s or len(row.counts) != 1:
            continue
        bandwidths[cell.device] = traffic.copy_bytes_per_s
        intensity = row.counts[0] / traffic.minimum_bytes
        share = row.mteps * 1e6 / (intensity * traffic.copy_bytes_per_s)
        values.append(
            {
                "x": intensity,
                "y": row.mteps,
                "variant": cell.variant,
                "device": cell.device,
                "graph": row.graph_name,
                "mteps": rate(row.mteps),
                "share": percent(share),
            }
        )
    if not values:
        return []
    low = min(float(v["x"]) for v in values) / 1.6  # type: ignore[arg-type]
    high = max(float(v["x"]) for v in values) * 1.6  # type: ignore[arg-type]
    roofs: list[Spec] = [
        {"x": x, "y": x * bandwidth / 1e6, "roof": f"{device}: {bandwidth / 1e9:,.0f} GB/s, measured"}
        for device, bandwidth in bandwidths.items()
        for x in (low, high)
    ]
    x = {
        "field": "x",
        "type": "quantitative",
        "title": "edges per byte of least traffic",
        "scale": {"type": "log", "nice": False},
        "axis": {"format": ".3~g", "tickCount": 5},
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "title": "MTEPS (log scale)",
        "scale": {"type": "log"},
        "axis": {"format": "~s", "tickCount": 6},
    }
    names = {
        "graph": "graph",
        "variant": "algorithm",
        "device": "device",
        "mteps": "MTEPS",
        "share": "share of the roof",
    }
    tooltip = [{"field": field, "type": "nominal", "title": title} for field, title in names.items()]
    color = {
        "field": "variant",
        "type": "nominal",
        "title": "algorithm",
        "sort": ordered(str(v["variant"]) for v in values),
    }
    shape = {"field": "device", "type": "nominal", "title": "device", "sort": None}
    several = len({v["device"] for v in values}) > 1
    spec: Spec = {
        "layer": [
            {
                "data": {"values": roofs},
                "mark": {"type": "line", "color": ink.faint, "strokeWidth": 1.5},
                "encoding": {"x": x, "y": y, "detail": {"field": "roof"}},
            },
            {
                "data": {"values": [roof for roof in roofs if roof["x"] == high]},
                "mark": {"type": "text", "align": "right", "baseline": "bottom", "dy": -6},
                "encoding": {"x": x, "y": y, "text": {"field": "roof"}},
            },
            {
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "size": 64},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": color,
                    **({"shape": shape} if several else {}),
                    "tooltip": tooltip,
                },
            },
        ]
    }
    caption = (
        "Each mark is a cell. The line is the most that the device's measured copy bandwidth allows a kernel that "
        "moves no byte more than its algorithm must; the distance below it is what is left to gain."
    )
    described = "; ".join(f"{v['variant']} on {v['graph']}, {v['device']}: {v['share']} of the roof" for v in values)
    return [Chart("roofline", "Roofline", caption, f"MTEPS over edges per byte. {described}.", spec)]
