"""Files of records, one JSON object a line: the one place where a stored record is read and checked.

Whoever reads a stored record, a report, a comparison or a bench that goes on, gets a ``Record`` that has the types of
``record_shape.py``, and need not ask again.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gpugraph.base.compression import codec_of_content, unpacked
from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.base.files import check_ends
from gpugraph.base.host import require_memory
from gpugraph.base.quantities import counted
from gpugraph.records.json_text import encodable, jsonable
from gpugraph.records.record import Record
from gpugraph.records.record_shape import SCHEMA, shown

REMEDY = "give a file that --save or `gpugraph bench` wrote"

HEAD = f'{{"schema":{SCHEMA},"problem":"'.encode()
"""What every record begins with, but for blanks: a line that was torn is known by it."""

LONGEST = 1 << 24
"""Bytes of a record; ours have some ten thousand, and some million with every sample of a long run."""

MOST_DEEP = 16
"""Objects and lists within one another that a record may have; ours have five."""

MOST_NAMED = 10
"""Lines that are no records and are named one by one; a file that begins with more is none of records."""

MOST_BAD = 10_000
"""Lines of a file that may be no records."""

_ESCAPES = re.compile(
    rb"\\u(00[01789]|061c|20[026]|ff)|\\[bf]|[\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2(\x80[\x8e\x8f\xa8-\xae]|\x81[\xa6-\xa9])|\xef\xbf[\xbe\xbf]",
    re.IGNORECASE,
)
"""Lines with an escape may hold what no figure and no terminal takes."""

LARGEST = 10.0**300
"""No number of a record is further from 0; sums and products of a few of them may be formed as floats."""


class _NoJson(ValueError):
    """A line is no whole JSON text, as one that was torn."""


def parse_record(line: bytes, *, file: str | None = None, number: int | None = None) -> Record:
    """Return the record of a line, typed and every text ``encodable``; a ValueError says why a line is none."""
    if len(line) > LONGEST:
        raise ValueError(f"it has {len(line):,} bytes, and no record has more than {LONGEST:,}")
    try:
        data = msgspec.json.decode(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except msgspec.MsgspecError as error:
        raise _NoJson(str(error)) from None
    except UnicodeDecodeError:
        raise _NoJson("it is not UTF-8") from None
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    if not _is_once(line, _names(data, MOST_DEEP)):
        json.loads(line, object_pairs_hook=_once)
    return Record.of(jsonable(data, encodable) if _ESCAPES.search(line) else data, file=file, line=number)


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Return an object; a name that it has twice would mean one thing to one reader and another to the next."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"'{next(name for name in names if names.count(name) > 1)}' is given twice")
    return found


def _is_once(line: bytes, names: int) -> bool:
    """Tell whether a line surely gives each of its ``names`` once; a text or blanks may leave that open.

    A quote and a colon follow one another at the end of each name, if nothing lies between, and inside of texts.
    """
    return line.count(b'":') == names and not any(gap in line for gap in (b'" ', b'"\t', b'"\r'))


def _names(value: object, deep: int) -> int:
    """Return how many names the objects of a value have, after a check of its depth and of the size of its numbers."""
    if isinstance(value, dict | list):
        if deep == 0:
            raise ValueError("it is nested too deeply")
        parts, own = (value.values(), len(value)) if isinstance(value, dict) else (value, 0)
        return own + sum(_names(part, deep - 1) for part in parts if part.__class__ is not str)
    if isinstance(value, int | float) and not -LARGEST <= value <= LARGEST:
        raise ValueError(f"{shown(value)} is out of range")
    return 0


@dataclass(frozen=True)
class BadLine:
    """A line of a file of records that is none, and why."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file} line {self.line} is left out: it is no record: {self.why}"

    def error(self) -> InputError:
        """Return it as the error that ends a command."""
        remedy = f"take the line out, or {REMEDY}"
        return InputError(f"is no record: {self.why}", where=f"{self.file} line {self.line}", remedy=remedy)


@dataclass(frozen=True)
class StoredRecords:
    """What a file of records holds, each with its file and line, from 1.

    Attributes:
        torn: the line that a kill or a power cut left unfinished at the end of the file, or None.
        whole_bytes: of the file without that line.
        unended: the last line lacks only its line feed.
        bad: lines that are no records.
    """

    records: list[Record] = field(default_factory=list)
    torn: int | None = None
    whole_bytes: int = 0
    unended: bool = False
    bad: list[BadLine] = field(default_factory=list)


def read_record_file(path: str | os.PathLike[str], *, compressed: bool = True, strict: bool = True) -> StoredRecords:
    """Return the records of a file but for a torn last line; an InputError names file, line and field.

    Unless ``strict``, a bad line does not end the reading: it is listed, and the others are read, while ``MOST_BAD``
    and ``MOST_NAMED`` allow it.
    """
    content, shown_path = _content(path, compressed), encodable(os.fspath(path))
    records: list[Record] = []
    bad: list[BadLine] = []
    require_memory(4 * len(content), os.fspath(path), "give fewer records at once")
    lines = content.split(b"\n")
    ends, last = 0, max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)
    for number, line in enumerate(lines, 1):
        start, ends = ends, ends + len(line) + 1
        if not line.strip():
            continue
        try:
            records.append(parse_record(line, file=shown_path, number=number))
        except ValueError as error:
            torn = isinstance(error, _NoJson) and number == last
            if torn and _is_torn(line, number < len(lines), bool(records)):
                return StoredRecords(records, number, start, bad=bad)
            bad.append(BadLine(shown_path, number, str(error)))
            if strict or len(bad) > (MOST_BAD if records else MOST_NAMED):
                raise bad[0].error() from None
    return StoredRecords(records, None, len(content), bool(lines[-1].strip()), bad)


def _is_torn(line: bytes, ended: bool, follows: bool) -> bool:
    """Tell whether the last line of a file is the rest of a record, or the zeros that a power cut leaves.

    A file is ours if it begins like a record; a line that follows one need only begin like JSON.
    """
    text = line.rstrip(b"\0\r")
    if not text:
        return True
    if ended and text == line.rstrip(b"\r"):
        return False
    text = text[: 2 * len(HEAD)].replace(b" ", b"")
    return text.startswith(b"{" if follows else HEAD) or HEAD.startswith(text)


def _content(path: str | os.PathLike[str], compressed: bool) -> bytes:
    check_ends(path)
    try:
        with open(path, "rb") as raw:
            codec = codec_of_content(raw.peek(16)[:16], path)  # a pipe cannot be read again
            if codec is not None and not compressed:
                remedy = "decompress it first, or name another file"
                raise InputError(f"is compressed by {codec}: nothing can be appended", where=path, remedy=remedy)
            content = unpacked(raw, codec, path, 4 * LONGEST)
    except (GpuGraphError, MemoryError):
        raise
    except Exception as error:  # whatever a decompressor says of damaged data
        reason = (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
        raise InputError(f"cannot be read: {reason}", where=path, remedy=REMEDY) from error
    return content


def read_records(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Record], list[str]]:
    """Return the records of several files in their order, and the notices about them.

    A file that is named twice, also by a link, is read once.  Of a cell that a file has twice (one that was run again),
    the later record counts.  A line that is no record is left out, with a notice of file, line and field.
    Raises InputError for a file that cannot be read, or holds no record.
    """
    records: list[Record] = []
    notices: list[str] = []
    for path in {os.path.realpath(str(path).replace("\0", "")): os.fspath(path) for path in paths}.values():
        stored, shown_path = read_record_file(path, strict=False), encodable(path)
        if not stored.records:
            raise stored.bad[0].error() if stored.bad else InputError("holds no record", where=path, remedy=REMEDY)
        notices += map(str, stored.bad[:MOST_NAMED])
        if (more := len(stored.bad) - MOST_NAMED) > 0:
            notices.append(f"{shown_path}: {counted(more, 'more line')} are left out: check-record names them all")
        latest: dict[Any, Record] = {}
        for record in stored.records:
            key = record.line if record.shape.cell.id is None else record.shape.cell.id
            latest.pop(key, None)
            latest[key] = record
        records += latest.values()
        if stored.torn is not None:
            notices.append(
                f"{shown_path} line {stored.torn} is cut off and left out: its run was stopped while writing"
            )
        if repeated := len(stored.records) - len(latest):
            notices.append(
                f"{shown_path} has {counted(repeated, 'cell')} more than once: the latest record of each counts"
            )
    return records, notices
