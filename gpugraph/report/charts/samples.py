"""Every sample: how far each lies from its cell's median."""

from __future__ import annotations

from collections.abc import Sequence

from gpugraph.measure.columns import Labelled
from gpugraph.measure.record import Record
from gpugraph.measure.statistics import median
from gpugraph.quantities import duration
from gpugraph.report.charts.chart import Chart, Ink, Spec
from gpugraph.report.charts.curves import SOLID, label_angle
from gpugraph.report.charts.panels import Panel, panels
from gpugraph.report.charts.series import ordered

MOST = 6000
"""More samples than this on one figure are thinned evenly, extremes kept; the table's rows still have them all."""

WIDE = 0.5
"""Deviations beyond this share of the median make the ordinate grow by the logarithm away from 0."""


def samples(cells: Sequence[Labelled], ink: Ink) -> list[Chart]:
    """Return the spread of the kernel's samples over scale or graph."""
    charts = []
    for panel in panels(cells):
        members = [
            m for m in panel.members if m.record.ok and m.record.device_kind != "emulated" and len(m.record.samples) > 1
        ]
        total = sum(len(m.record.samples) for m in members)
        if not members:
            continue
        most = max(2, MOST // len(members)) if total > MOST else total
        values = [value for member in members for value in _values(panel, member, most)]
        caption = f"{total:,} samples, each beside the median of its cell; of several sources each beside its own."
        if len(values) < total:
            caption += f" {len(values):,} are drawn, the extremes among them; the table below has all of each cell."
        words = "; ".join(
            f"{cell.series} on {cell.record.graph_name}: {duration(min(times))} to {duration(max(times))}"
            for cell in members
            for times in [cell.record.samples]
        )
        words = f"Deviation of every kernel sample from its median. {words}."
        charts.append(Chart(f"samples-{panel.key}", panel.title, caption, words, _spec(panel, values)))
    return charts


def deviations(row: Record) -> list[float]:
    """Return every sample over the median of its source's, less 1; samples stand source by source."""
    each = len(row.samples) // row.sources
    groups = [row.samples[i * each : (i + 1) * each] for i in range(row.sources)]
    middles = [median(group) if group else 0.0 for group in groups]
    return [s / m - 1 if m > 0 else 0.0 for group, m in zip(groups, middles, strict=True) for s in group]


def _values(panel: Panel, cell: Labelled, most: int) -> list[Spec]:
    row = cell.record
    numbered = list(zip(deviations(row), row.samples, range(1, len(row.samples) + 1), strict=True))
    if len(numbered) > most:
        ordered = sorted(numbered)
        numbered = [ordered[round(i * (len(ordered) - 1) / (most - 1))] for i in range(most)]
    outliers = set(row.shape.sampling.outliers or ())
    x = panel.x(row)
    return [
        {
            "x": x if isinstance(x, str) else f"{x:g}",
            "y": round(y, 6),
            "series": cell.series,
            "variant": cell.variant,
            "device": cell.device,
            "sample": f"{i} of {len(row.samples)}: {duration(seconds)}" + (", an outlier" if i - 1 in outliers else ""),
            "graph": row.graph_name,
        }
        for y, seconds, i in numbered
    ]


def _spec(panel: Panel, values: list[Spec]) -> Spec:
    wide = max(abs(value["y"]) for value in values) > WIDE
    names = {"graph": "graph", "variant": "algorithm", "device": "device", "sample": "sample"}
    return {
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 22, "opacity": 0.55},
        "encoding": {
            "x": {
                "field": "x",
                "type": "ordinal",
                "sort": None,
                "title": panel.x_title,
                "axis": {"labelAngle": label_angle(value["x"] for value in values) if panel.names else 0},
            },
            "xOffset": {"field": "series", "type": "nominal", "sort": ordered(value["series"] for value in values)},
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": "from the median",
                "scale": {"type": "symlog", "constant": 0.1} if wide else {"zero": True},
                "axis": {"format": "+.3~%", "tickCount": 6},
            },
            "color": {
                "field": "variant",
                "type": "nominal",
                "title": "algorithm",
                "sort": ordered(value["variant"] for value in values),
                "legend": SOLID,
            },
            "tooltip": [{"field": field, "type": "nominal", "title": title} for field, title in names.items()],
        },
    }
