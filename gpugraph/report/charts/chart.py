"""``Chart``, a figure with its words, and ``Ink``, the colours that it is drawn in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]

SERIES = 8
"""Colours chosen by hand; more series take computed ones, so that no two on a page are alike."""

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
    """Colours of a figure: text, faint text, grid lines, background and series.

    Attributes:
        lightness: of computed colours, two in turns; None for a page, whose style sheet has them.
    """

    text: str
    faint: str
    grid: str
    paper: str
    series: tuple[str, ...]
    font: str
    lightness: tuple[float, float] | None = (0.5, 0.6)

    def colour(self, number: int) -> str:
        """Return the colour of a series: one chosen by hand, then computed ones; of a page the name of its variable."""
        if self.lightness is None:
            return f"var(--series-{number})"
        if number < len(self.series):
            return self.series[number]
        return _oklch(self.lightness[number % 2], 0.12, (number * _GOLDEN_ANGLE) % 360)


_GOLDEN_ANGLE = 137.508
"""Degrees between the hues of two computed colours: no hue comes near an earlier one for long."""


def _oklch(lightness: float, chroma: float, hue: float) -> str:
    """Return a colour as ``#rrggbb``; what sRGB cannot show is cut off.

    Source: B. Ottosson, A perceptual color space for image processing, 2020 (Oklab).
    """
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    kept = [min(max(x, 0.0), 1.0) for x in linear]
    shown = [12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055 for x in kept]
    return "#" + "".join(f"{round(255 * x):02x}" for x in shown)


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
    (0.74, 0.84),
)
PAGE = Ink(
    "var(--text)",
    "var(--faint)",
    "var(--grid)",
    "transparent",
    tuple(f"var(--series-{i})" for i in range(SERIES)),
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    None,
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
