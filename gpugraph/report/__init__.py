"""Renderers: from records to text; they know nothing of devices or files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpugraph.records.record import Record

STYLES = {".html": "html", ".htm": "html", ".md": "markdown", ".csv": "csv", ".tex": "latex", ".txt": "text"}
"""How a report is written, by the ending of its file."""


def render(rows: Sequence[Record], style: str, *, title: str | None = None, notices: Sequence[str] = ()) -> str:
    """Return a report of records in one of the ``STYLES``; for a page an InputError where nothing can draw."""
    from gpugraph.records.record import with_distinct_names

    rows = with_distinct_names(rows)
    if style == "html":
        from gpugraph.ext.charts.page import page

        return page(rows, title=title, notices=notices)
    if style == "markdown":
        from gpugraph.report.markdown_csv import markdown

        return markdown(rows)
    if style == "csv":
        from gpugraph.report.markdown_csv import csv

        return csv(rows)
    if style == "latex":
        from gpugraph.records.ranking import rank
        from gpugraph.report.ranking import exported

        return exported(rows, rank(rows)[0], ".tex").rstrip("\n")
    from gpugraph.report.sweep import summary
    from gpugraph.report.terminal import plain

    return plain(summary(rows, unicode=True))
