"""The report as one page of HTML that needs nothing but itself: words, figures, table, and the script to draw them."""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from gpugraph import __version__
from gpugraph.measure.columns import COLUMNS, Labelled, columns_of
from gpugraph.measure.record import Record
from gpugraph.measure.record_shape import json_text
from gpugraph.problems import PAGE as BY_PAGE
from gpugraph.problems import Column
from gpugraph.report.cells import label, ordered
from gpugraph.report.cells import speedups as find_speedups
from gpugraph.report.charts.chart import (
    DARK,
    LIGHT,
    PAGE,
    SERIES,
    Chart,
    Ink,
    Spec,
    colors,
    config,
    entries,
    paint,
    vega_bundle,
    vega_license,
)
from gpugraph.report.charts.rates import bandwidth, energy, roofline, speedups, strong, throughput, weak
from gpugraph.report.charts.times import PARTS, answers, inner_shares, samples, shares, transfers
from gpugraph.report.counter_example import drawing, listed
from gpugraph.report.markdown_csv import csv
from gpugraph.report.page_text import definitions, details, environments, headlines, lead
from gpugraph.report.versus import COLUMNS as PAPER_COLUMNS
from gpugraph.report.versus import Gain, gains, matrices, published

TITLE = "gpugraph benchmark report"

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
"""What the browser lets the page do: run what is in it, and fetch nothing."""


LIGHT_ONLY = {"raised": "#f6f7f9", "accent": "#2451ab", "good": "#14694c", "bad": "#a32a1f"}
DARK_ONLY = {"raised": "#1c222b", "accent": "#9dbcff", "good": "#7fdcb6", "bad": "#ff9d90"}
"""What the page has in addition to the colours of its charts."""


_HEADINGS = {
    "answer": "From the command to the answer",
    "phases": "Shares of the phases on the device",
    "inside": "Inside the kernel",
    "transfer": "Kernel against transfer",
    "strong": "Strong scaling",
    "weak": "Weak scaling",
    "roof": "Share of the bandwidth roof",
    "roofline": "Below the roof",
    "energy": "Energy",
}
"""Headings of the groups of charts in a section that has several."""


MOST_OPEN = 12
"""Of more figures than this on a page, those that explain the times are folded away, and so are papers."""

_FOLDED = ("scaling", "time", "hardware", "samples")


@dataclass
class Section:
    """A section of figures: groups of them; ``name`` is its link in the bar above the page; one may be folded."""

    key: str
    name: str
    title: str
    intro: str
    groups: list[Group]
    folded: bool = False

    @property
    def figures(self) -> int:
        """How many there are."""
        return sum(len(group.figures) for group in self.groups)


@dataclass
class Group:
    """Figures that belong together, each with its number, by which the script finds it, and its caption."""

    heading: str
    caption: str
    small: bool
    figures: list[tuple[int, Chart, str]] = field(default_factory=list)


def page(rows: Sequence[Record], *, title: str | None = None, notices: Sequence[str] = ()) -> str:
    """Return the report of at least one record as HTML; ``notices`` are what a reader should know of the files.

    Without a ``title`` it has that of the one sweep that all records are part of, or ``TITLE``.

    Raises:
        InputError: the library that draws is not installed.
    """
    titles = {row.title for row in rows}
    title = title or (titles.pop() if len(titles) == 1 else "") or TITLE
    over = find_speedups(rows)
    cells = [
        replace(cell, over_cpu=one.kernel, answers_over_cpu=one.answer) if (one := over.get(id(cell.record))) else cell
        for cell in label(rows)
    ]
    gained = gains(cells)
    charts: list[Chart] = []
    sections = [_section(charts, parts) for parts in _figures(cells, gained)]
    for section in sections:
        section.folded = len(charts) > MOST_OPEN and section.key in _FOLDED
    painted, palette = _painted(cells, charts)
    shown = columns_of(BY_PAGE, cells)
    data = {
        "config": config(PAGE),
        "charts": [
            {"spec": {**spec, "description": chart.description}, "height": chart.height, "entry": _entry_width(chart)}
            for chart, spec in zip(charts, painted, strict=True)
        ],
        "cells": [details(cell) for cell in cells],
        "filters": [header(column) for column in COLUMNS if column.filter and BY_PAGE in column.shown],
    }
    files = ", ".join(dict.fromkeys(os.path.basename(row.file) for row in rows if row.file))
    rendered: str = _template().render(
        title=title,
        policy=POLICY,
        style=_safe(colours(palette) + _asset("style.css")),
        lead=lead(cells),
        headlines=headlines(cells, gained),
        wrong=[(cell, _safe(drawn), listed(cell.record)) for cell in cells if (drawn := drawing(cell.record, PAGE))],
        matrices=matrices(cells),
        notices=notices,
        papers=published(cells),
        paper_columns=[name.capitalize() for name in PAPER_COLUMNS],
        sections=[section for section in sections if section.groups],
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
        vega=_safe(vega_bundle().replace("</script", "<\\/script")),
        script=_safe(_asset("page.js")),
    )
    return rendered


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


def _figures(cells: Sequence[Labelled], gained: Sequence[Sequence[Gain]]) -> list[tuple[Any, ...]]:
    """Return of each section its key, names, introduction, and groups of figures."""
    return [
        (
            "throughput", "Throughput", "Throughput",
            "How many edges a second each algorithm gets through as the graphs grow.", [throughput(cells, PAGE)],
        ),
        (
            "cpu", "CPU", "GPU against CPU",
            "What the best GPU algorithm gains over the best CPU algorithm on the same graph.",
            [speedups(cells, gained, PAGE)],
        ),
        (
            "scaling", "Scaling", "Over several devices", "What more ranks bring, and what would be ideal.",
            [strong(cells, PAGE), weak(cells, PAGE)],
        ),
        (
            "time", "Time", "Where the time goes",
            "From the command to the answer, on the device, kernel against transfers, and inside the kernel.",
            [answers(cells, PAGE), shares(cells, PAGE), transfers(cells, PAGE), inner_shares(cells, PAGE)],
        ),
        (
            "hardware", "Hardware", "Against the hardware",
            "How near the kernels come to what the memory's bandwidth allows, and the energy they take.",
            [bandwidth(cells, PAGE), roofline(cells, PAGE), energy(cells, PAGE)],
        ),
        (
            "samples", "Samples", "Every sample",
            "How steady the times are: each run of each kernel, against its cell's median.", [samples(cells, PAGE)],
        ),
    ]  # fmt: skip


def _section(charts: list[Chart], parts: tuple[Any, ...]) -> Section:
    """Return a section of figures, adding them to ``charts``, where the script finds them by number."""
    key, name, title, intro, groups = parts
    found = []
    for group in filter(None, groups):
        heading = _HEADINGS.get(group[0].key.partition("-")[0], "") if len(groups) > 1 else ""
        shared = {chart.caption for chart in group} if len(group) > 1 else set()
        caption = shared.pop() if len(shared) == 1 else ""
        made = Group(heading, caption, group[0].small)
        for chart in group:
            made.figures.append((len(charts), chart, "" if caption else chart.caption))
            charts.append(chart)
        found.append(made)
    return Section(key, name, title, intro, found)


def _entry_width(chart: Chart) -> int:
    """Return the pixels that an entry of the figure's legend takes, about."""
    field = "part" if chart.small else "variant"
    return 34 + 7 * max((len(name) for name in entries(chart.spec, field)), default=10)


def _json(data: Any) -> str:
    """Return data as JSON that cannot end the script element around it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("html", name).read_text("utf-8")


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


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    known = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    known.filters["capitalize_first"] = lambda text: text[:1].upper() + text[1:]
    return known.from_string(_asset("page.html"))


def _safe(text: str) -> Any:
    """Return a text that is HTML, script or style of our own, and not to be escaped."""
    from markupsafe import Markup

    return Markup(text)
