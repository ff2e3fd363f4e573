"""How an object is shown in a notebook: a small table with a chart, styled within itself.

A notebook's page may be light or dark, and may be cleaned of scripts and style sheets: colours are the page's own, and
what is drawn is HTML and SVG with nothing but inline styles.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.convertible import fact_text

ACCENT = "#4a7fd6"
"""Colour of bars and charts: visible on a light and on a dark background."""

BINS = 32

_CELL = "padding:2px 10px 2px 0;border:0;background:none;"


def of_facts(title: str, facts: Sequence[tuple[str, object]], values: tuple[str, NDArray[Any]] | None) -> str:
    """Return an object of the core as a notebook shows it: its facts, and how its values are distributed."""
    return card(title, facts, "" if values is None else histogram(*values))


def card(title: str, facts: Sequence[tuple[str, object]], below: str = "") -> str:
    """Return facts as HTML: a line each under a title; ``below`` is HTML and follows them."""
    rows = "".join(
        f'<tr style="background:none"><th style="{_CELL}text-align:left;font-weight:400;opacity:.7;vertical-align:top">'
        f'{escape(name)}</th><td style="{_CELL}text-align:left">{escape(fact_text(value))}</td></tr>'
        for name, value in facts
    )
    return (
        f'<div style="font-variant-numeric:tabular-nums;max-width:60em"><strong>{escape(title)}</strong>'
        f'<table style="border:0;border-collapse:collapse;margin:2px 0">{rows}</table>{below}</div>'
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = (), bars: int = -1) -> str:
    """Return rows of texts, escaped, as an HTML table; ``right``: numbers; ``bars``: the column of HTML, −1: none."""

    def side(column: int) -> str:
        return f"{_CELL}text-align:{'right' if column in right else 'left'};"

    head = "".join(
        f'<th style="{side(i)}font-weight:600;border-bottom:1px solid">{escape(name)}</th>'
        for i, name in enumerate(header)
    )
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{side(i)}">{cell if i == bars else escape(cell)}</td>' for i, cell in enumerate(cells))
        + "</tr>"
        for cells in rows
    )
    return (
        '<table style="border:0;border-collapse:collapse;font-variant-numeric:tabular-nums;margin:2px 0">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def bar(share: float) -> str:
    """Return a bar that fills ``share`` of its column, 0 to 1."""
    width = max(1, round(160 * min(max(share, 0.0), 1.0)))
    return f'<div style="width:{width}px;height:.8em;background:{ACCENT};border-radius:2px"></div>'


def histogram(name: str, values: NDArray[Any]) -> str:
    """Return an SVG of how numbers are distributed, with the least and the greatest beneath; empty without two."""
    finite = np.asarray(values, np.float64)
    finite = finite[np.isfinite(finite)]
    least, span = (finite.min() / 2, finite.max() / 2 - finite.min() / 2) if len(finite) else (0.0, 0.0)
    if not span > 0:
        return ""
    counts, _ = np.histogram((finite / 2 - least) / span, BINS, (0, 1))  # halves, whose differences are never infinite
    width, height, top = 320, 56, int(counts.max())
    step = width / len(counts)
    parts = "".join(
        f'<rect x="{i * step:.1f}" y="{height - tall:.1f}" width="{step - 1:.1f}" height="{tall:.1f}" fill="{ACCENT}"/>'
        for i, number in enumerate(counts.tolist())
        if (tall := number / top * height)
    )
    words = f"{name}: {len(finite):,} values from {finite.min():g} to {finite.max():g}"
    return (
        f'<svg role="img" aria-label="{escape(words)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{parts}</svg><div style="opacity:.7;font-size:.85em">{escape(words)}</div>'
    )
