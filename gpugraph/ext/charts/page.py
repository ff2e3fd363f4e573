"""The report as one page of HTML that needs nothing but itself: words, figures, table, and the script to draw them."""

import base64
import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from gpugraph import __version__
from gpugraph.ext.charts.assets import asset, template
from gpugraph.ext.charts.chart import (
    DARK,
    LIGHT,
    PAGE,
    SERIES,
    Chart,
    Ink,
    Spec,
    can_draw_all,
    colors,
    config,
    entries,
    paint,
    vega_bundle,
    vega_license,
)
from gpugraph.ext.charts.counter_example import listed, shape_to_draw, svg
from gpugraph.ext.charts.page_text import definitions, details, environments
from gpugraph.ext.charts.plain_svg import plain_svg
from gpugraph.ext.charts.rates import bandwidth, energy, roofline, speedups, strong, throughput, weak
from gpugraph.ext.charts.times import PARTS, answers, inner_shares, samples, shares, transfers
from gpugraph.ext.comparing.cells import APART, label, ordered
from gpugraph.ext.comparing.cells import speedups as find_speedups
from gpugraph.ext.reports.headlines import headlines, lead
from gpugraph.ext.reports.published import COLUMNS as PAPER_COLUMNS
from gpugraph.ext.reports.published import published
from gpugraph.ext.reports.versus import gains, matrices
from gpugraph.problems import PAGE as BY_PAGE
from gpugraph.problems import Column
from gpugraph.records.columns import COLUMNS, Labelled, columns_of
from gpugraph.records.json_text import json_text
from gpugraph.records.record import Record
from gpugraph.report.markdown_csv import csv

TITLE = "gpugraph benchmark report"

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
"""What the browser lets the page do: run what is in it, and fetch nothing."""

LIGHT_ONLY = {"raised": "#f6f7f9", "accent": "#2451ab", "good": "#14694c", "bad": "#a32a1f"}
DARK_ONLY = {"raised": "#1c222b", "accent": "#9dbcff", "good": "#7fdcb6", "bad": "#ff9d90"}
"""What the page has in addition to the colours of its charts."""

MOST_OPEN = 12
"""Of more figures than this on a page, those that explain the times are folded away, and so are papers."""


def page(rows: Sequence[Record], *, title: str | None = None, notices: Sequence[str] = ()) -> str:
    """Return the report of at least one record as HTML; ``notices`` are what a reader should know of the files.

    Without a ``title`` it has that of the one sweep that all records are part of, or ``TITLE``.  Without the library
    that draws its figures are plain: no roofs, marks of papers or legends to click.
    """
    titles = {row.title for row in rows}
    title = title or (titles.pop() if len(titles) == 1 else "") or TITLE
    over = find_speedups(rows)
    cells = [
        replace(cell, over_cpu=one.kernel, answers_over_cpu=one.answer) if (one := over.get(id(cell.record))) else cell
        for cell in label(rows)
    ]
    gained = gains(cells)
    groups = {
        "throughput": [throughput(cells)],
        "cpu": [speedups(cells, gained)],
        "scaling": [strong(cells), weak(cells)],
        "time": [answers(cells), shares(cells), transfers(cells), inner_shares(cells)],
        "hardware": [bandwidth(cells), roofline(cells), energy(cells)],
        "samples": [samples(cells)],
    }
    charts = [chart for several in groups.values() for group in several for chart in group]
    number = count()  # by which the script finds a figure
    numbered = {
        key: [[(next(number), chart) for chart in group] for group in several if group]
        for key, several in groups.items()
    }
    painted, palette = _painted(cells, charts)
    by_script, look = can_draw_all(), config(PAGE)
    drawings = [
        "" if by_script else _safe(plain_svg(spec, look, width=380 if chart.small else 640, height=chart.height))
        for chart, spec in zip(charts, painted, strict=True)
    ]
    shown = columns_of(BY_PAGE, cells)
    data = {
        "config": look,
        "charts": [
            {"spec": {**spec, "description": chart.description}, "height": chart.height, "entry": _entry_width(chart)}
            for chart, spec in zip(charts, painted, strict=True)
            if by_script
        ],
        "cells": [details(cell) for cell in cells],
        "filters": [header(column) for column in COLUMNS if column.filter and BY_PAGE in column.shown],
    }
    files = ", ".join(dict.fromkeys(os.path.basename(row.file) for row in rows if row.file))
    return template("page.html").render(
        title=title,
        policy=POLICY,
        style=_safe(colours(palette) + asset("style.css")),
        lead=lead(cells),
        headlines=headlines(cells, gained),
        wrong=[(c, _safe(svg(shape, PAGE)), listed(shape)) for c in cells if (shape := shape_to_draw(c.record))],
        matrices=matrices(cells),
        apart=APART,
        notices=notices,
        papers=published(cells),
        paper_columns=[name.capitalize() for name in PAPER_COLUMNS],
        sections={key: several for key, several in numbered.items() if several},
        folded=len(charts) > MOST_OPEN,
        cells_csv=_base64(csv(rows).encode()),
        records=_base64(gzip.compress("".join(json_text(row.data) + "\n" for row in rows).encode(), mtime=0)),
        columns=shown,
        header=header,
        MAJOR=("kernel_short", "mteps"),
        cells=cells,
        tone=tone,
        environments=environments(rows),
        definitions=definitions(rows),
        origin=f"Made by gpugraph {__version__}" + (f" from {files}" if files else ""),
        data=_safe(_json(data)),
        license=_safe(vega_license().replace("--", "- -")),
        drawings=drawings,
        vega=_safe(vega_bundle().replace("</script", "<\\/script")) if by_script else "",
        script=_safe(asset("page.js")),
    )


def header(column: Column) -> str:
    """Return the title of a column as its heading."""
    return column.title.capitalize() if column.title.islower() else column.title


def tone(record: Record) -> str:
    """Return how the verdict on a cell is coloured."""
    if not record.ok:
        return "bad" if record.outcome != "skipped" else "dull"
    return "good" if record.status == "passed" else "dull"


def _painted(cells: Sequence[Labelled], charts: Sequence[Chart]) -> tuple[list[Spec], int]:
    """Return the figures, each series in one colour on all of them, and how many colours that takes."""
    shown = [name for chart in charts for name in entries(chart.spec, "variant")]
    parts = [name for chart in charts for name in entries(chart.spec, "part")]
    palette = colors(cells, PAGE, [*ordered(shown), *(part for part in PARTS if part in parts), *parts])
    return [paint(paint(chart.spec, palette), palette, "part") for chart in charts], len(palette)


def _entry_width(chart: Chart) -> int:
    """Return the pixels that an entry of the figure's legend takes, about."""
    field = "part" if chart.small else "variant"
    return 34 + 7 * max((len(name) for name in entries(chart.spec, field)), default=10)


def _json(data: object) -> str:
    """Return data as JSON that cannot end the script element around it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


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


def _safe(text: str) -> object:
    """Return a text that is HTML, script or style of our own, and not to be escaped."""
    from markupsafe import Markup

    return Markup(text)
