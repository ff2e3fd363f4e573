"""Records and what they say of each other as one file to publish: JSON, CSV with a line for each sample, Markdown."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence

from gpugraph.errors import unknown_name
from gpugraph.measure.columns import Labelled, columns_of, plain
from gpugraph.measure.ranking import Ranking
from gpugraph.measure.record import Record
from gpugraph.measure.record_shape import SCHEMA, json_text
from gpugraph.problems import CSV
from gpugraph.quantities import duration
from gpugraph.report.markdown_csv import grid, markdown
from gpugraph.report.ranking import ranking_json, ranking_markdown

ENDINGS = (".json", ".csv", ".md")


def check_ending(path: str) -> str:
    """Return the ending of a file to export to.

    Raises:
        InputError: it is none of ``ENDINGS``.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending not in ENDINGS:
        raise unknown_name("ending of an export", ending or path, ENDINGS)
    return ending


def exported(records: Sequence[Record], rankings: Sequence[Ranking], ending: str) -> str:
    """Return the content of such a file.

    Args:
        records: all of them; every sample is in the file.
        rankings: of those that did the same work, if any.
        ending: one of ``ENDINGS``.
    """
    if ending == ".json":
        content = {
            "schema": SCHEMA,
            "records": [record.data for record in records],
            "rankings": [ranking_json(ranking) for ranking in rankings],
        }
        return json_text(content, indent=1) + "\n"
    if ending == ".csv":
        return _samples_csv(records)
    parts = [ranking_markdown(ranking) for ranking in rankings if len(ranking.records) > 1]
    return "\n\n".join([*parts, markdown(records), _samples_markdown(records)]) + "\n"


def _samples_csv(records: Sequence[Record]) -> str:
    """Return a line for each sample: the columns of its record, which of its samples it is, and its seconds.

    A record without samples has one line, and nothing there.
    """
    cells = [Labelled.alone(record) for record in records]
    columns = columns_of(CSV, cells)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(column.name for column in columns), "sample", "sample_s"])
    for cell in cells:
        shared = [plain(column.value(cell)) for column in columns]
        for number, seconds in enumerate(cell.record.samples, 1):
            writer.writerow([*shared, number, seconds])
        if not cell.record.samples:
            writer.writerow([*shared, None, None])
    return text.getvalue()


def _samples_markdown(records: Sequence[Record]) -> str:
    rows = [
        (one.algorithm, one.device, one.graph_name, ", ".join(map(duration, one.samples)))
        for one in records
        if one.samples
    ]
    table = "\n".join(grid(("algorithm", "device", "graph", "every sample of the kernel"), rows))
    return f"<details><summary>Samples</summary>\n\n{table}\n\n</details>"
