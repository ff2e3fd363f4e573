"""The roofline: throughput over intensity under the slope that the memory's bandwidth sets."""

from __future__ import annotations

from collections.abc import Sequence

from gpugraph.measure.columns import Labelled
from gpugraph.quantities import percent, rate
from gpugraph.report.charts.chart import Chart, Ink, Spec
from gpugraph.report.charts.series import ordered


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
