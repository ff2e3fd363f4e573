"""The page's colours as variables: light, dark by the system's wish or the switch, light on paper."""

from __future__ import annotations

from gpugraph.report.charts.chart import DARK, LIGHT, SERIES, Ink

LIGHT_ONLY = {"raised": "#f6f7f9", "accent": "#2451ab", "good": "#14694c", "bad": "#a32a1f"}
DARK_ONLY = {"raised": "#1c222b", "accent": "#9dbcff", "good": "#7fdcb6", "bad": "#ff9d90"}
"""What the page has beside the colours of its charts."""


def colours(series: int = SERIES) -> str:
    """Return the rules that come before ``style.css``, with the colours of so many series."""
    light = _variables(LIGHT, LIGHT_ONLY, series) + "color-scheme:light;"
    dark = _variables(DARK, DARK_ONLY, series) + "color-scheme:dark;"
    return (
        f":root {{{light}}}\n"
        f'@media screen and (prefers-color-scheme: dark) {{:root:not([data-theme="light"]) {{{dark}}}}}\n'
        f'@media screen {{:root[data-theme="dark"] {{{dark}}}}}\n'
    )


def _variables(ink: Ink, more: dict[str, str], series: int) -> str:
    """Return declarations; ``PAGE`` of ``chart.py`` refers to them."""
    named = {"paper": ink.paper, "text": ink.text, "faint": ink.faint, "grid": ink.grid, **more}
    named |= {f"series-{i}": ink.colour(i) for i in range(max(series, SERIES))}
    return "".join(f"--{name}:{value};" for name, value in named.items())
