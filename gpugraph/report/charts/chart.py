"""``Chart``, a figure with its words, and ``Ink``, the colours that it is drawn in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]

SERIES = 8
"""Colours that tell series apart; more series share them and differ by dashes and shapes."""

PHASES = ("stage", "h2d", "prepare", "kernel", "d2h")
"""Phases whose shares are shown: what a device has to do with; loading and checking are the host's."""


@dataclass(frozen=True)
class Chart:
    """A figure.

    Attributes:
        key: its name in a page's addresses.
        title: what it shows, in a few words.
        caption: how to read it.
        description: what a listener is told instead of the picture.
        spec: Vega-Lite.
        small: one of several that stand side by side.
    """

    key: str
    title: str
    caption: str
    description: str
    spec: Spec
    small: bool = False


@dataclass(frozen=True)
class Ink:
    """Colours of a figure: text, faint text, grid lines, background and series."""

    text: str
    faint: str
    grid: str
    paper: str
    series: tuple[str, ...]
    font: str


LIGHT = Ink(
    "#1c2330",
    "#5a6375",
    "#e3e6ec",
    "#ffffff",
    ("#2f63c9", "#c8501c", "#1c8a66", "#a83a88", "#7d6300", "#6a58c4", "#0b7ea3", "#646b78"),
    "Helvetica, Arial, sans-serif",
)
DARK = Ink(
    "#e6e9ef",
    "#a2abbb",
    "#2d3441",
    "#14181f",
    ("#7ea8ff", "#ff9a66", "#5ed2a7", "#ea90d0", "#dcc05a", "#b0a5ff", "#5fc9ec", "#b4bac6"),
    "Helvetica, Arial, sans-serif",
)
PAGE = Ink(
    "var(--text)",
    "var(--faint)",
    "var(--grid)",
    "transparent",
    tuple(f"var(--series-{i})" for i in range(SERIES)),
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
)
"""The page's own colours: its style sheet gives them, so that they follow light, dark and print."""


def config(ink: Ink) -> Spec:
    """Return the Vega-Lite configuration that all figures share."""
    return {
        "background": ink.paper,
        "font": ink.font,
        "view": {"stroke": None},
        "padding": 4,
        "axis": {
            "labelColor": ink.faint,
            "titleColor": ink.text,
            "titleFontWeight": 500,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titlePadding": 8,
            "gridColor": ink.grid,
            "domain": False,
            "tickColor": ink.grid,
            "labelLimit": 220,
        },
        "axisX": {"grid": False, "domain": True, "domainColor": ink.grid},
        "legend": {
            "orient": "top",
            "labelColor": ink.text,
            "titleColor": ink.faint,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": 400,
            "labelLimit": 280,
            "symbolStrokeWidth": 2,
            "symbolSize": 90,
            "columns": 3,
        },
        "title": {"color": ink.text, "fontSize": 14, "fontWeight": 600, "anchor": "start", "offset": 10},
        "range": {"category": list(ink.series)},
        "rule": {"color": ink.faint},
        "text": {"color": ink.faint, "fontSize": 11},
    }
