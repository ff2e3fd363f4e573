"""Files of records as the rows of a report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from gpugraph.errors import InputError
from gpugraph.measure.record import encodable
from gpugraph.measure.record_file import REMEDY, read_record_file
from gpugraph.report.rows import Row


def read_rows(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Row], list[str]]:
    """Return the records of several files in their order, and what a reader should be told about them.

    Of a cell that a file has twice (one that was run again), the later record counts.

    Raises:
        InputError: a file cannot be read, is empty, or a line of it is no record; file and line are named.
    """
    rows: list[Row] = []
    notices: list[str] = []
    for path in paths:
        found, told = _read_file(os.fspath(path))
        rows += found
        notices += told
    return rows, notices


def _read_file(path: str) -> tuple[list[Row], list[str]]:
    shown, stored = encodable(path), read_record_file(path)
    if not stored.records:
        raise InputError("holds no record", where=path, remedy=REMEDY)
    rows: dict[Any, Row] = {}
    notices: list[str] = []
    repeated = 0
    for number, data in zip(stored.lines, stored.records, strict=True):
        row = Row.of(data, file=shown, line=number)
        key = row.cell_id if row.cell_id is not None else number
        repeated += key in rows
        rows.pop(key, None)
        rows[key] = row
    if stored.torn is not None:
        notices.append(f"{shown} line {stored.torn} is cut off and left out: its run was stopped while writing")
    if repeated:
        notices.append(f"{shown} has {repeated} cells more than once: the latest record of each counts")
    return list(rows.values()), notices
