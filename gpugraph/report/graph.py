"""A graph in figures, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from gpugraph.graph.properties import Degrees, GraphProperties
from gpugraph.quantities import count, counted, in_units
from gpugraph.report.terminal import Line, field

BAR_WIDTH = 30


def graph_json(graph: Mapping[str, Any], figures: GraphProperties) -> dict[str, Any]:
    """Return the ``graph`` object of a record, with all figures besides."""
    return {**graph, **asdict(figures)}


def graph_figures(graph: Mapping[str, Any], figures: GraphProperties, *, width: int = 80) -> list[Line]:
    """Return the lines of a graph.

    Args:
        graph: the ``graph`` object of a record.
        figures: what was counted.
        width: columns to wrap at.
    """
    kind = "directed" if figures.directed else "undirected"
    source = f" ({graph['source']})" if graph["source"] not in ("", graph["name"]) else ""
    edges = f"{count(figures.arcs)} arcs" if figures.directed else f"{counted(figures.edges, 'edge')}"
    parts = count(figures.components)
    if figures.components > 1:
        parts += f", the largest of {counted(figures.largest_component, 'vertex')}; {count(figures.isolated)} isolated"
    rows = [
        ("graph", f"{graph['name']}{source}, {kind}"),
        ("size", f"{counted(figures.vertices, 'vertex')}, {edges}"),
        ("components", parts + (" (weakly connected)" if figures.directed else "")),
        ("weights", _weights(figures)),
        ("memory", _memory(figures)),
        ("digest", str(graph["digest"])),
    ]
    lines = [line for label, text in rows for line in field(label, text, width=width)]
    names = ("out-degrees", "in-degrees") if figures.directed else ("degrees", "")
    lines += _distribution(names[0], figures.degrees, width)
    return lines + (_distribution(names[1], figures.in_degrees, width) if figures.in_degrees else [])


def _weights(figures: GraphProperties) -> str:
    if figures.least_weight is None:
        return figures.weight_dtype
    text = f"{figures.weight_dtype}, {figures.least_weight} to {figures.greatest_weight}"
    if figures.distinct_weights is not None:
        text += f", {count(figures.distinct_weights)} distinct"
    counts = {"zero": figures.zero_weights, "negative": figures.negative_weights, "infinite": figures.infinite_weights}
    return text + "".join(f", {count(number)} {name}" for name, number in counts.items() if number)


def _memory(figures: GraphProperties) -> str:
    wide = f"{in_units(figures.device_bytes_64)} with 64-bit arc indices"
    narrow = figures.device_bytes_32
    device = wide if narrow is None else f"{in_units(narrow)} (32-bit arc indices) or {wide}"
    return f"{in_units(figures.host_bytes)} on the host; on a device {device}, algorithms need more on top"


def _distribution(label: str, degrees: Degrees, width: int) -> list[Line]:
    text = f"{degrees.least} to {count(degrees.greatest)}, median {degrees.median:g}, mean {degrees.mean:.4g}"
    lines: list[Line] = [[("", "")], *field(label, text, width=width)]
    most = max((vertices for _, _, vertices in degrees.histogram), default=0)
    for low, high, vertices in degrees.histogram:
        span = f"{low}" if low == high else f"{low}..{high}"
        bar = "█" * round(vertices / max(most, 1) * BAR_WIDTH)
        lines.append([(f"{span:>24}{count(vertices):>14}  ", ""), (bar, "cyan")])
    return lines
