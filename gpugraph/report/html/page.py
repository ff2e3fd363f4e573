"""The page itself: words, figures, table, and the script that draws them, in one file that asks no network."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

from gpugraph import __version__
from gpugraph.measure.record import Record
from gpugraph.report.charts.chart import PAGE, Chart, config
from gpugraph.report.charts.phases import inner_shares, shares, transfers
from gpugraph.report.charts.rates import bandwidth, energy, speedups, throughput
from gpugraph.report.charts.roofline import roofline
from gpugraph.report.charts.samples import samples
from gpugraph.report.charts.series import colors, entries, label, paint
from gpugraph.report.engine import vega_bundle, vega_license
from gpugraph.report.html.cells import details, filters, table
from gpugraph.report.html.colours import colours
from gpugraph.report.html.environments import environments
from gpugraph.report.html.published import papers_section
from gpugraph.report.html.words import definitions, headlines, lead
from gpugraph.report.published import published
from gpugraph.report.speedup import speedups as find_speedups

TITLE = "gpugraph benchmark report"

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
"""What the browser lets the page do: run what is in it, and fetch nothing."""


def page(rows: Sequence[Record], *, title: str = TITLE, notices: Sequence[str] = ()) -> str:
    """Return the report as HTML.

    Args:
        rows: what is reported, at least one.
        title: of the page.
        notices: what a reader should know of the files.

    Raises:
        InputError: the library that draws is not installed.
    """
    cells = label(rows)
    palette = colors(cells, PAGE)
    over = find_speedups(rows)
    charts: list[Chart] = []
    reasons = _reasons(rows)
    sections = [
        _section(
            "throughput", "Throughput", "How many edges a second each algorithm gets through as the graphs grow.",
            [throughput(cells, PAGE)], charts, "No cell has a verified throughput.",
        ),
        _section(
            "cpu", "Against the CPU", "What the GPU gains over the best that a CPU did on the same graph.",
            [speedups(cells, over, PAGE)], charts, "No graph was run on both a GPU and a CPU.",
        ),
        _section(
            "time", "Where the time goes",
            "The phases around the kernel, the kernel against the transfers, and the phases inside it.",
            [shares(cells, PAGE), transfers(cells, PAGE), inner_shares(cells, PAGE)], charts, "No cell has phases.",
        ),
        _section(
            "hardware", "Against the hardware",
            "How near the kernels come to what the memory's bandwidth allows, and the energy they take.",
            [bandwidth(cells, PAGE), roofline(cells, PAGE), energy(cells, PAGE)], charts,
            f"No cell has these figures{reasons}.",
        ),
        _section(
            "samples", "Every sample", "How steady the times are: each run of each kernel, against its cell's median.",
            [samples(cells, PAGE)], charts, "No cell has more than one sample.",
        ),
    ]  # fmt: skip
    if papers := published(cells, over):
        sections.append(papers_section(papers))
    data = {
        "config": config(PAGE),
        "charts": [
            {
                "spec": {**paint(chart.spec, palette), "description": chart.description},
                "small": chart.small,
                "entry": _entry_width(chart),
            }
            for chart in charts
        ],
        "cells": [details(cell) for cell in cells],
        "filters": filters(),
    }
    best = "".join(
        f'<li><span class="subject">{escape(h.subject)}</span><strong>{escape(h.figure)}'
        f"{f' <small>{escape(h.unit)}</small>' if h.unit else ''}</strong>"
        f"{f'<span class=beside>{escape(h.beside)}</span>' if h.beside else ''}"
        f'<span class="detail">{escape(h.detail)}</span></li>'
        for h in headlines(cells, over)
    )
    told = "".join(f"<p class=notice>{escape(notice)}.</p>" for notice in notices)
    files = ", ".join(dict.fromkeys(os.path.basename(row.file) for row in rows if row.file))
    return _fill(
        "page.html",
        {
            "title": escape(title),
            "policy": POLICY,
            "style": colours(len(palette)) + _asset("style.css"),
            "lead": escape(lead(cells)),
            "headlines": f'<ul class="headlines">{best}</ul>' if best else "",
            "notices": told,
            "papers": '<a href="#papers">Papers</a>' if papers else "",
            "sections": "".join(sections),
            "table": table(cells, over),
            "environment": _lists(environments(rows)),
            "definitions": _list(definitions(rows)),
            "origin": escape(f"Made by gpugraph {__version__}" + (f" from {files}" if files else "")),
            "data": _json(data),
            "license": vega_license().replace("--", "- -"),
            "vega": vega_bundle().replace("</script", "<\\/script"),
            "script": _asset("page.js"),
        },
    )


def _section(
    key: str, title: str, intro: str, groups: Sequence[Sequence[Chart]], charts: list[Chart], nothing: str
) -> str:
    """Return a section of figures, adding them to ``charts``, where the script finds them by number."""
    figures = ""
    for group in filter(None, groups):
        names = {
            "phases": "Shares of the phases",
            "inside": "Inside the kernel",
            "transfer": "Kernel against transfer",
            "roof": "Share of the bandwidth roof",
            "roofline": "",
            "energy": "Energy",
        }
        heading = names.get(group[0].key.partition("-")[0], "") if len(groups) > 1 else ""
        figures += f'<h3 class="group">{escape(heading)}</h3>' if heading else ""
        shared = {chart.caption for chart in group} if len(group) > 1 else set()
        caption = shared.pop() if len(shared) == 1 else ""
        figures += f'<p class="shared">{escape(caption)}</p>' if caption else ""
        figures += f'<div class="figures{" small" if group[0].small else ""}">'
        for chart in group:
            figures += _figure(chart, len(charts), "" if caption else chart.caption)
            charts.append(chart)
        figures += "</div>"
    body = figures or f'<p class="nothing">{escape(nothing)}</p>'
    return (
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{escape(title)}</h2>'
        f'<p class="intro">{escape(intro)}</p>{body}</section>'
    )


def _figure(chart: Chart, number: int, caption: str) -> str:
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure id="{escape(chart.key)}" aria-labelledby="figure-{number}"><h4 id="figure-{number}">'
        f'{escape(chart.title)}</h4><div class="chart" role="img" data-chart="{number}" '
        f'aria-label="{escape(chart.description)}"></div>{words}</figure>'
    )


def _entry_width(chart: Chart) -> int:
    """Return the pixels that an entry of the figure's legend takes, about."""
    field = "part" if chart.small else "variant"
    return 34 + 7 * max((len(name) for name in entries(chart.spec, field)), default=10)


def _reasons(rows: Sequence[Record]) -> str:
    told = list(dict.fromkeys(reason for row in rows if row.ok for reason in row.absent.values()))
    return f": {'; '.join(told[:3])}" if told else ""


def _lists(groups: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    parts = (f'<div class="facts"><h3>{escape(title)}</h3>{_list(facts)}</div>' for title, facts in groups)
    return "".join(parts) or '<p class="nothing">The records do not tell it.</p>'


def _list(facts: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts) + "</dl>"


def _json(data: Any) -> str:
    """Return data as JSON that cannot end the script element it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _fill(name: str, parts: dict[str, str]) -> str:
    """Return a template with each ``{{name}}`` replaced, in one pass, so that no content is taken for a name."""
    pieces = _asset(name).split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        key, _, rest = piece.partition("}}")
        filled += [parts[key], rest]
    return "".join(filled)
