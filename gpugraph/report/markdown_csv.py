"""Records as tables in Markdown, with the definition of MTEPS beneath, and in CSV."""

import csv as _csv
import io
from collections.abc import Sequence
from importlib import import_module

from gpugraph.problems import CSV, MARKDOWN
from gpugraph.records.columns import Labelled, columns_of, plain
from gpugraph.records.record import EMULATED, Record
from gpugraph.report.exporters import rankings

PUBLISHED = "gpugraph.ext.reports.published"
"""The module that compares records with what their papers state."""

FEW = "A time with its number of samples in brackets has fewer than were asked for, or than six: it proves little"


def markdown(rows: Sequence[Record]) -> str:
    """Return the records as a table, a line each; MTEPS only where the result is verified."""
    shown = [Labelled(one.record, one.name, one.record.device) for one in rankings().label(rows)]
    columns = columns_of(MARKDOWN, shown)
    texts = [[column.show(one) for column in columns] for one in shown]
    lines = grid([column.title for column in columns], texts, [i for i, one in enumerate(columns) if one.number])
    notes = sorted({(one.shape.mteps.definition or "") for one in rows} - {""})
    if notes and any(one.transfers for one in rows):
        notes.append("End to end: the same count / (transfer + kernel + d2h)")
    if any(one.answer_s for one in rows):
        notes.append("Time to answer: from the command to its end, without the runs that only repeat")
    if any(one.interval_s for one in rows):
        notes.append("Kernel: median ± half the width of its 95 % confidence interval")
    if any(one.few for one in rows):
        notes.append(FEW)
    if any(one.device_kind == "emulated" for one in rows):
        notes.append(EMULATED[0].upper() + EMULATED[1:])
    lines += [f"\n{note}." for note in notes]
    if any(one.field("paper") is not None for one in rows):
        lines += import_module(PUBLISHED).markdown(rows)
    return "\n".join(lines)


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a Markdown table; the columns in ``right`` are set flush right."""
    return [row(header), row(["---:" if i in right else "---" for i in range(len(header))]), *map(row, rows)]


def row(cells: Sequence[str]) -> str:
    """Return cells as one row of a Markdown table, whatever they contain."""
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def escaped(text: str) -> str:
    """Return a text on one line, with what Markdown would take for a table or for HTML escaped."""
    return " ".join(text.replace("|", "\\|").replace("<", "\\<").split())


def csv(records: Sequence[Record]) -> str:
    """Return the records as CSV with a header and the columns of all together; what is not known is empty."""
    cells = [Labelled.alone(record) for record in records]
    columns = columns_of(CSV, cells)
    text = io.StringIO()
    writer = _csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    writer.writerows([plain(column.value(cell)) for column in columns] for cell in cells)
    return text.getvalue().rstrip("\n")
