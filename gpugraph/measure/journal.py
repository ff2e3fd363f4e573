"""A file of records: one JSON object a line, each on disk before the next measurement begins."""

from __future__ import annotations

import contextlib
import os

from gpugraph.errors import InputError
from gpugraph.measure.record import Record


def append_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Append a record to a file as one line, whole or not at all.

    Raises:
        InputError: the file cannot be written, or the disk is full.
    """
    line = record.to_json().encode() + b"\n"
    try:
        with open(path, "ab", buffering=0) as file:
            end = file.seek(0, os.SEEK_END) if file.seekable() else 0
            try:
                written = file.write(line)
                while written < len(line):  # a nearly full disk takes a part, then says why
                    written += file.write(line[written:])
                if file.seekable():
                    os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(end)
                raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"the record cannot be appended: {reason}", where=path, remedy="write elsewhere") from error
