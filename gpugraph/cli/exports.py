"""Records as the commands print and export them: how they rank, in one of the styles, and files of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpugraph.base.files import atomic_write
from gpugraph.base.quantities import counted
from gpugraph.cli.output import check_destination, show, show_lines, tell
from gpugraph.report.exporters import Ranking, Results, exporter, exporter_of, rankings
from gpugraph.report.terminal import page_width, table_width

if TYPE_CHECKING:
    from gpugraph.records.record import Record


def check_exports(paths: Sequence[str], style: str = "table") -> None:
    """Raise InputError before the work for an export, or a ``style`` to print, that could not be written after it."""
    if style != "table":
        exporter(style).check()
    for path in paths:
        exporter_of(path).check()
        check_destination(path)


def export(
    records: Sequence[Record], paths: Sequence[str], found: Sequence[Ranking] | None = None, *, quiet: bool = False
) -> None:
    """Write records and how they rank to files, each whole or not at all."""
    if not paths:
        return
    results = Results(records, Results(records, found).ranked())
    for path in paths:
        content = exporter_of(path).load()(results)
        with atomic_write(path, "w") as stream:
            stream.write(content + "\n")
        samples = sum(len(record.samples) for record in records)
        tell([f"{path}: {counted(len(records), 'record')}, {counted(samples, 'sample')}"], quiet=quiet)


def show_records(records: Sequence[Record], style: str, ranked: Sequence[Ranking] | None = None) -> None:
    """Print records and how they rank, in one of the styles of ``--format``."""
    found = Results(records, ranked).ranked()
    if style == "table":
        show_rankings(found)
    else:
        show(exporter(style).load()(Results(records, found)))


def show_rankings(found: Sequence[Ranking]) -> None:
    """Print rankings, an empty line between two."""
    for turn, ranking in enumerate(found):
        lines = rankings().ranking_sheet(ranking, width=page_width()).lines(page_width(), table_width())
        show_lines([[], *lines] if turn else lines)
