"""Renderers: from records to text; they know nothing of devices or files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpugraph.report.exporters import Results, endings, exporter

if TYPE_CHECKING:
    from gpugraph.records.record import Record


def styles() -> dict[str, str]:
    """Return how a report is written, by the ending of its file: in a format, or as the text of the terminal."""
    return {**endings(), ".txt": "text"}


def render(rows: Sequence[Record], style: str, *, title: str | None = None, notices: Sequence[str] = ()) -> str:
    """Return a report of records in one of the ``styles``; for a page an InputError where nothing can draw."""
    from gpugraph.ext.comparing.versions import explanation
    from gpugraph.records.record import with_distinct_names

    rows = with_distinct_names(rows)
    if style != "text":
        stale = explanation(rows)
        if stale and style == "html":
            notices = [*notices, stale.removesuffix(".")]
        text = exporter(style).load()(Results(rows, title=title, notices=notices))
        return f"{text}\n\n{stale}" if stale and style == "markdown" else text
    from gpugraph.ext.reports.summary import summary
    from gpugraph.report.terminal import plain

    return plain(summary(rows, unicode=True))
