"""Records as CSV: a line each, the columns named as the JSON's fields are, ``phases_s.kernel`` for instance."""

from __future__ import annotations

import csv as _csv
import io
from collections.abc import Sequence

from gpugraph.measure.columns import Labelled, columns_of, plain
from gpugraph.measure.record import Record
from gpugraph.problems.column import CSV


def csv(records: Sequence[Record]) -> str:
    """Return the records as CSV with a header; columns of results, axes and parameters are those of all together.

    A cell that gave no number has its outcome and its message, and nothing in the columns of numbers.
    """
    cells = [Labelled.alone(record) for record in records]
    columns = columns_of(CSV, cells)
    text = io.StringIO()
    writer = _csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    writer.writerows([plain(column.value(cell)) for column in columns] for cell in cells)
    return text.getvalue().rstrip("\n")
