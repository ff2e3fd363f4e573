"""Files of records, one JSON object a line: the one place where a stored record is read and checked.

``Shape`` is the table of all fields that anything reads again.  Whoever reads a stored record, a report, a comparison
or a bench that goes on, gets one that has passed it, and need not ask again.  Fields that the table does not name are
kept as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec

from gpugraph.compression import codec_of_content, open_reader
from gpugraph.errors import InputError
from gpugraph.measure.outcome import Outcome
from gpugraph.measure.record import SCHEMA, encodable, jsonable

REMEDY = "give a file that --save or `gpugraph bench` wrote"

HEAD = f'{{"schema": {SCHEMA}, "problem": "'.encode()
"""What every record begins with: a line that was torn is known by it."""

MOST_DEEP = 16
"""Objects and lists within one another that a record may have; ours have five."""

_ESCAPES = re.compile(rb"\\u00[01]|\\[bf]|\\uff|\xef\xbf[\xbe\xbf]", re.IGNORECASE)
"""Lines with an escape may hold what no figure and no terminal takes."""

LARGEST = 10.0**300
"""No number of a record is further from 0; sums and products of a few of them may be formed as floats."""

Table = dict[str, Any]
Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Amount(float):
    """A figure that is drawn and divided by: 0, or from 1e-18 to 1e18, so that no product or ratio overflows."""


class Positive(Amount):
    """An amount above 0."""


def _amount(kind: type, value: object) -> Any:
    """Return a number as the kind of amount that the table asks for."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{_shown(value)} is no number")
    if not (1e-18 <= value <= 1e18 or (value == 0 and kind is Amount)):
        words = ("no number above 0" if kind is Positive else "below 0") if value <= 0 else "out of range"
        raise ValueError(f"{_shown(value)} is {words}")
    return kind(value)


class _Part(msgspec.Struct, kw_only=True, frozen=True):
    """An object of a record; any field may be absent or null."""


class DeviceShape(_Part, frozen=True, kw_only=True):
    """``device``."""

    kind: str | None = None
    name: str | None = None


class GraphShape(_Part, frozen=True, kw_only=True):
    """``graph``."""

    name: str | None = None
    digest: str | None = None
    vertices: Whole | None = None
    arcs: Whole | None = None
    edges: Whole | None = None


class ParametersShape(_Part, frozen=True, kw_only=True):
    """``parameters``: beside the algorithm's own."""

    preparations: list[str] | None = None


class CellShape(_Part, frozen=True, kw_only=True):
    """``cell``: its ids, and where it lies in its sweep."""

    id: str | None = None
    name: str | None = None
    series: str | None = None
    sweep: str | None = None
    axes: Table | None = None
    input: Table | None = None


class SamplesShape(_Part, frozen=True, kw_only=True):
    """``samples_s``."""

    kernel: list[Amount] | None = None
    h2d: list[Amount] | None = None
    d2h: list[Amount] | None = None


class IntervalsShape(_Part, frozen=True, kw_only=True):
    """``confidence_s``: of each phase the ends of its interval."""

    kernel: tuple[Amount, Amount] | None = None


class SamplingShape(_Part, frozen=True, kw_only=True):
    """``sampling``."""

    target: float | None = None
    min_samples: Whole | None = None
    max_samples: Whole | None = None
    warmup: Whole | None = None
    cold: bool | None = None
    processes: list[Whole] | None = None
    outliers: list[Whole] | None = None
    spent_s: Amount | None = None


class RatesShape(_Part, frozen=True, kw_only=True):
    """``mteps``."""

    kernel: Amount | None = None
    end_to_end: Amount | None = None
    count: Whole | list[Whole] | None = None
    counted: str | None = None
    definition: str | None = None


class EnergyShape(_Part, frozen=True, kw_only=True):
    """``energy``."""

    joules_per_run: Amount | None = None
    nanojoules_per_edge: Amount | None = None
    absent: str | None = None


class TrafficShape(_Part, frozen=True, kw_only=True):
    """``traffic``."""

    minimum_bytes: Amount | None = None
    copy_bytes_per_s: Amount | None = None
    share: Amount | None = None
    absent: str | None = None


class VerificationShape(_Part, frozen=True, kw_only=True):
    """``verification``."""

    status: str | None = None
    method: str | None = None
    detail: str | None = None


class PointShape(_Part, frozen=True, kw_only=True):
    """One value that a paper states."""

    scale: Positive | None = None
    vertices: Positive | None = None
    mteps: Positive | None = None
    kernel_s: Positive | None = None
    speedup: Positive | None = None
    label: str | None = None
    where: str | None = None
    over: str | None = None


class PaperShape(PointShape, frozen=True, kw_only=True):
    """``paper``; without ``points`` it states one value itself."""

    name: str | None = None
    hardware: str | None = None
    points: list[PointShape] | None = None
    claims: list[str] | None = None


class Shape(msgspec.Struct, kw_only=True, frozen=True):
    """A record: the types of all fields that are read again.

    A field that is absent or null has the value given here; infinities are the text "inf" where they may stand.
    """

    problem: str
    algorithm: str
    outcome: Outcome | None = None
    message: str = ""
    algorithm_source: Table = {}
    device: DeviceShape = DeviceShape()
    graph: GraphShape = GraphShape()
    parameters: ParametersShape = ParametersShape()
    cell: CellShape = CellShape()
    phases_s: dict[str, Amount | None] = {}
    samples_s: SamplesShape = SamplesShape()
    confidence_s: IntervalsShape = IntervalsShape()
    sampling: SamplingShape = SamplingShape()
    kernel_phases_s: dict[str, Amount | None] = {}
    kernel_phases_run_s: Amount | None = None
    counters: Table = {}
    peak_device_bytes: Whole | None = None
    mteps: RatesShape = RatesShape()
    energy: EnergyShape = EnergyShape()
    traffic: TrafficShape = TrafficShape()
    result: Table = {}
    per_source: list[Table] = []
    verification: VerificationShape = VerificationShape()
    environment: Table = {}
    paper: PaperShape | list[PaperShape] | None = None
    time: str = ""


def shape_of(data: Mapping[str, Any]) -> Shape:
    """Return what is read again of a record's JSON object.

    Raises:
        ValueError: a field is missing or not of its type; the message names it.
    """
    if (schema := data.get("schema", SCHEMA)) != SCHEMA:
        raise ValueError(f"its schema is {_shown(schema)}, this gpugraph reads {SCHEMA}")
    try:
        return msgspec.convert({k: v for k, v in data.items() if v is not None}, Shape, dec_hook=_amount)
    except msgspec.ValidationError as error:
        what, _, path = str(error).replace("`", "'").partition(" - at '$")
        named = path.rstrip("'").lstrip(".")
        for theirs, ours in (("Expected", "expected"), ("Object ", "it is "), ("Invalid enum", "unknown")):
            what = what.replace(theirs, ours, 1) if what.startswith(theirs) else what
        raise ValueError(f"'{named}': {what}" if named else what) from None


def parse_record(line: bytes) -> dict[str, Any]:
    """Return the record of a line, every field that is read again of its type, every text ``encodable``.

    Raises:
        ValueError: it is none; the message says why.
    """
    try:
        data = msgspec.json.decode(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    _check_plain(data, MOST_DEEP)
    shape_of(data)
    return jsonable(data, encodable) if _ESCAPES.search(line) else data


def _check_plain(value: object, deep: int) -> None:
    """Check what holds of every field, named in the table or not: its depth, and the size of its numbers."""
    if isinstance(value, dict | list):
        if deep == 0:
            raise ValueError("it is nested too deeply")
        for part in value.values() if isinstance(value, dict) else value:
            _check_plain(part, deep - 1)
    elif isinstance(value, int | float) and not -LARGEST <= value <= LARGEST:
        raise ValueError(f"{_shown(value)} is out of range")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


@dataclass(frozen=True)
class StoredRecords:
    """What a file of records holds.

    Attributes:
        records: the JSON objects.
        lines: the line of each, from 1.
        torn: the line that a kill or a power cut left unfinished at the end of the file, or None.
        whole_bytes: of the file without that line.
        unended: the last line lacks only its line feed.
    """

    records: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    torn: int | None = None
    whole_bytes: int = 0
    unended: bool = False


def read_record_file(path: str | os.PathLike[str], *, compressed: bool = True) -> StoredRecords:
    """Return the records of a file; a last line that was torn is left out.

    Args:
        path: the file.
        compressed: it may be.

    Raises:
        InputError: it cannot be read, or a line of it is no record; the message names file, line and field.
    """
    content = _content(path, compressed)
    found = StoredRecords()
    records, numbers = found.records, found.lines
    lines = content.split(b"\n")
    ends = 0
    for number, line in enumerate(lines, 1):
        start, ends = ends, ends + len(line) + 1
        if not line.strip():
            continue
        try:
            records.append(parse_record(line))
        except ValueError as error:
            if not b"".join(lines[number:]).strip() and _is_torn(line, number < len(lines), bool(records)):
                return StoredRecords(records, numbers, number, start)
            remedy = "take the line out, the others can be read" if records else REMEDY
            raise InputError(
                f"is no record: {error}", where=f"{os.fspath(path)} line {number}", remedy=remedy
            ) from None
        numbers.append(number)
    return StoredRecords(records, numbers, None, len(content), bool(lines[-1].strip()))


def _is_torn(line: bytes, ended: bool, follows: bool) -> bool:
    """Tell whether the last line of a file is the rest of a record, or the zeros that a power cut leaves.

    A file is ours if it begins like a record; a line that follows one need only begin like JSON.
    """
    text = line.rstrip(b"\0\r")
    if not text:
        return True
    if ended and text == line.rstrip(b"\r"):
        return False
    return text.startswith(b"{" if follows else HEAD) or HEAD.startswith(text)


def _content(path: str | os.PathLike[str], compressed: bool) -> bytes:
    try:
        with open(path, "rb") as raw:
            codec = codec_of_content(raw.read(16), path)
            if codec is not None and not compressed:
                remedy = "decompress it first, or name another file"
                raise InputError(f"is compressed by {codec}: nothing can be appended", where=path, remedy=remedy)
            raw.seek(0)
            content: bytes = open_reader(raw, codec).read()
    except InputError:
        raise
    except Exception as error:  # whatever a decompressor says of damaged data
        reason = (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
        raise InputError(f"cannot be read: {reason}", where=path, remedy=REMEDY) from error
    return content
