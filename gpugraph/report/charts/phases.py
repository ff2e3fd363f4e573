"""Where the time goes: shares of the phases, phases inside the kernel, and the kernel against the transfers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpugraph.measure.columns import Labelled
from gpugraph.quantities import duration, percent
from gpugraph.report.charts.chart import PHASES, Chart, Ink, Spec
from gpugraph.report.charts.curves import curves, describe, label_angle
from gpugraph.report.charts.panels import Panel, panels, point
from gpugraph.report.charts.series import ordered

MOST_PANELS = 12
"""More small figures than this tire a reader; the table has every phase of every cell."""

_COLORS = {"stage": 7, "h2d": 1, "prepare": 4, "kernel": 0, "d2h": 3}


def shares(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return the phases' shares, a small figure for each algorithm and device."""
    charts = []
    for panel, series, members in _by_series(cells):
        values = [
            _part(panel, m, name, m.record.phases.get(name, 0.0), sum(m.record.phases.get(p, 0.0) for p in PHASES), i)
            for m in members
            for i, name in enumerate(PHASES)
            if m.record.phases.get(name)
        ]
        if not values:
            continue
        order = [name for name in PHASES if any(value["part"] == name for value in values)]
        colors = [ink.series[_COLORS[name]] for name in order]
        spec = _stack(panel, values, order, colors, "phase")
        charts.append(_small("phases", panel, series, values, spec))
    return charts


def inner_shares(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return the shares of the phases inside the kernel, a small figure for each algorithm and device."""
    charts = []
    for panel, series, members in _by_series(cells):
        order = list(dict.fromkeys(name for m in members for name in m.record.inner))
        values = [
            _part(panel, m, name, m.record.inner[name], sum(m.record.inner.values()), order.index(name))
            for m in members
            for name in m.record.inner
        ]
        if values and len(order) > 1:
            colors = [ink.series[i % len(ink.series)] for i in range(len(order))]
            charts.append(_small("inside", panel, series, values, _stack(panel, values, order, colors, "phase")))
    return charts


def transfers(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return the time of the kernel and of the transfers, where there are transfers."""
    charts = []
    alone = len({cell.device for cell in cells if cell.record.device_kind not in ("cpu", "emulated")}) == 1
    for panel in panels(cells):
        points = []
        for member in panel.members:
            row = member.record
            if row.device_kind in ("cpu", "emulated") or row.kernel_s is None or not row.transfer_s:
                continue
            for kind, seconds in (("kernel", row.kernel_s), ("transfer", row.transfer_s)):
                tip = {kind: duration(seconds), "device": row.device}
                points.append(
                    replace(
                        point(panel, member, seconds * 1e3, tip),
                        variant=member.variant if alone else member.series,
                        device=kind,
                    )
                )
        if points:
            titles = ("algorithm" if alone else "algorithm, device", "time of")
            spec = curves(points, ink, x_title=panel.x_title, y_title="milliseconds", names=panel.names, titles=titles)
            caption = "Lower is better. The transfer is stage + h2d + d2h: the graph to the device, the result back."
            words = describe(points, panel.x_title, "milliseconds")
            charts.append(Chart(f"transfer-{panel.key}", panel.title, caption, words, spec))
    return charts


def _by_series(cells: Sequence[Labelled]) -> list[tuple[Panel, str, list[Labelled]]]:
    """Return the cells of each small figure; the fullest come through where there are too many."""
    found = []
    for panel in panels(cells):
        groups: dict[str, list[Labelled]] = {}
        for member in panel.members:
            if member.record.ok and member.record.device_kind != "emulated":
                groups.setdefault(member.series, []).append(member)
        found += [(panel, series, groups[series]) for series in ordered(groups)]
    kept = sorted(range(len(found)), key=lambda i: -len(found[i][2]))[:MOST_PANELS]
    return [found[i] for i in sorted(kept)]


def _part(panel: Panel, cell: Labelled, name: str, seconds: float, total: float, order: int) -> Spec:
    x = panel.x(cell.record)
    return {
        "x": x if isinstance(x, str) else f"{x:g}" if float(x).is_integer() else f"{x:.1f}",
        "part": name,
        "y": seconds,
        "order": order,
        "graph": cell.record.graph_name,
        "time": duration(seconds),
        "share": percent(seconds / total if total else 0.0),
    }


def _stack(panel: Panel, values: list[Spec], order: list[str], colors: list[str], title: str) -> Spec:
    names = {"graph": "graph", "part": title, "time": "time", "share": "share"}
    return {
        "data": {"values": values},
        "mark": {"type": "bar", "cornerRadius": 1},
        "encoding": {
            "x": {
                "field": "x",
                "type": "ordinal",
                "sort": None,
                "title": "graph" if panel.names else "scale",
                "axis": {"labelAngle": label_angle((v["x"] for v in values), 26), "labelLimit": 90},
                "scale": {"paddingInner": 0.15},
            },
            "y": {
                "field": "y",
                "type": "quantitative",
                "stack": "normalize",
                "title": None,
                "axis": {"format": "%", "tickCount": 3},
            },
            "color": {
                "field": "part",
                "type": "nominal",
                "title": None,
                "scale": {"domain": order, "range": colors},
                "legend": {"symbolType": "square"},
            },
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [{"field": f, "type": "nominal", "title": t} for f, t in names.items()],
        },
    }


def _small(kind: str, panel: Panel, series: str, values: list[Spec], spec: Spec) -> Chart:
    last = values[-1]["graph"]
    parts = ", ".join(f"{value['part']} {value['share']}" for value in values if value["graph"] == last)
    key = f"{kind}-{panel.key}-{''.join(c if c.isalnum() else '-' for c in series.lower())}"
    return Chart(key, series, panel.title, f"{series}, {panel.title}; on {last}: {parts}.", spec, small=True)
