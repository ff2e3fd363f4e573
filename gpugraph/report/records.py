"""Read files of records: one JSON object a line, as ``--save`` and the bench write them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from gpugraph.compression import codec_of_content, open_reader
from gpugraph.errors import InputError
from gpugraph.measure.record import SCHEMA
from gpugraph.report.rows import Row

_REMEDY = "give a file that --save or `gpugraph bench` wrote"


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
    lines = _lines(path)
    rows: dict[Any, Row] = {}
    notices: list[str] = []
    repeated = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = Row.of(_parse(line), file=path, line=number)
        except ValueError as error:
            if number == len(lines) and number > 1 and not line.endswith(b"\n"):
                notices.append(f"{path} line {number} is cut off and left out: its run was stopped while writing")
                break
            raise InputError(f"is no record: {error}", where=f"{path} line {number}", remedy=_REMEDY) from None
        key = row.cell_id if row.cell_id is not None else number
        repeated += key in rows
        rows.pop(key, None)
        rows[key] = row
    if not rows:
        raise InputError("holds no record", where=path, remedy=_REMEDY)
    if repeated:
        notices.append(f"{path} has {repeated} cells more than once: the latest record of each counts")
    return list(rows.values()), notices


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as raw:
            codec = codec_of_content(raw.read(16), path)
            raw.seek(0)
            content: bytes = open_reader(raw, codec).read()
    except (OSError, EOFError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot be read: {reason}", where=path, remedy=_REMEDY) from error
    return content.splitlines(keepends=True)


def _parse(line: bytes) -> dict[str, Any]:
    """Return a line's object; every complaint is a ValueError."""
    try:
        data = json.loads(line.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    schema = data.get("schema", SCHEMA)
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema!r}, this gpugraph reads {SCHEMA}")
    return data
