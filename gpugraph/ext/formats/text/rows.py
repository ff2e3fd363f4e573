"""Lines of numbers: read in parts by compiled code, line by line to find the bad one, and written.

Most parts are taken by ``number_lines.py``.  What it cannot take goes line by line through Python, which either reads
it after all or names the line.

Of a text that lies uncompressed in a file threads read and parse parts by themselves, and nothing of it is any one
thread's work but to take the parts in order.  A compressed one comes from its one stream in blocks.
"""

import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import threads
from gpugraph.base.errors import GraphFormatError
from gpugraph.base.host import require_memory
from gpugraph.devices.base import Device
from gpugraph.ext.formats.checks import IdsAreNamesError
from gpugraph.ext.formats.text.columns import Columns, rounded_weights, wide_weights
from gpugraph.ext.formats.text.lines import INTEGER, after, count_of, data_lines, integer, shown, words_of
from gpugraph.ext.formats.text.number_lines import ANY_ID, LineParser, Rows
from gpugraph.ext.formats.text.plain_text import PlainText
from gpugraph.graph.build import ARC_BYTES
from gpugraph.graph.chunks import in_order
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import Source

_INT64 = 2**63
_NAME = re.compile(rb"\+\d+\Z|0\d+\Z|\d{1,16}\.0+\Z")
"""An id that is a number but is not written as one: with a sign, leading zeros or a point."""
_WORD = re.compile(rb"(?!.*\xef\xbb\xbf)[^\r]*[A-Za-z\x80-\xff][^\r]*\Z")
"""An id that is a word, and no numbers of lines that end in another way, nor the top of a second file."""
_ARCS_BETWEEN = 1 << 20
"""Arcs after which it is asked whether there is memory for more."""
_AHEAD = 2
"""Parts for each thread, of a text whose arcs go to a device, that are parsed or being parsed and not on their way."""


def read_rows(source: Source, rows: Rows, behind: int = 0, device: Device | None = None) -> Columns:
    """Parse the lines of a file behind line number ``behind``; ``device``: where the arcs go meanwhile.

    Raises:
        GraphFormatError: a line that is not as ``rows`` says, with its number.
        IdsAreNamesError: ``rows`` lets ids be names, and one is.
        OutOfMemory: there are more arcs than memory for a graph of them.
    """
    columns, asked = Columns(source.path, rows.weighted, device), 0
    parser = LineParser(rows, kept=device is None)

    def check_room(between: int) -> int:
        """Ask whether there is memory, if ``between`` arcs were added since; asking takes as long as some 1000 arcs."""
        if columns.count - asked < between or columns.device is not None:
            return asked
        require_memory(ARC_BYTES * columns.count, f"{source.path}: {columns.count} arcs so far")
        return columns.count

    with PlainText.of(source) as text:
        if text is None:
            for number, block in after(source.blocks(), behind):
                pieces = parser.block(block)
                for listed in pieces or []:
                    columns.take(listed)
                if pieces is None:
                    columns.add(*_slow(block, number, rows, source.path))
                asked = check_room(1)
            return columns
        begin = text.behind(behind)
        line, counted = behind + 1, begin
        parts = text.parts(begin, small=device is not None)
        ahead = None if device is None else _AHEAD * threads()
        with closing(in_order(lambda start, stop: parser.part(text, start, stop), parts, ahead)) as found:
            for (start, stop), piece in zip(parts, found, strict=True):
                if piece is not None:
                    columns.take(piece)
                else:
                    letters, first, _ = text.lines(start, stop, bytearray())
                    line, counted = line + text.ends(counted, first), first
                    columns.add(*_slow(letters.tobytes(), line, rows, source.path))
                asked = check_room(_ARCS_BETWEEN if stop < text.size else 1)
                if source.progress is not None:
                    source.progress(stop, text.size)
    return columns


def check_lines(
    source: Source, columns: Columns, promised: int | None, noun: str, line: int | None, header: str
) -> None:
    """Refuse a file that lists another number of arcs than its header, in ``line``, promises."""
    if promised not in (None, columns.count):
        what = f"the {header} promises {promised} {noun}, the file lists {columns.count}"
        raise source.error(what, f"fetch the file again or mend the {header}", line=line)


def arrow_reader(content: bytes, part: bool = False) -> Any:
    """Return bytes as a file for Arrow, in memory of Arrow's own; ``part``: it is the later part of one.

    Arrow's threads may hold on to what they were given for a moment after its parser has returned.  An object of
    Python's they would let go of under Python's lock, which ends the process by signal 6 if the interpreter has
    ended meanwhile.
    """
    import pyarrow as pa

    if part and content.startswith(BOM_UTF8):  # Arrow passes over one, with which no line but a first begins
        content = BOM_UTF8 + content
    held = pa.allocate_buffer(len(content))
    memoryview(held).cast("B")[:] = content
    return pa.BufferReader(held)


def _slow(block: bytes, first: int, rows: Rows, path: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Parse a block line by line.  Raises GraphFormatError at the first line that cannot be taken."""
    tails: list[int] = []
    heads: list[int] = []
    weights: list[int | float] = []
    numbers: list[int] = []
    for number, line in data_lines([(first, block)], rows.comments):
        if rows.names and b'"' in line:
            raise IdsAreNamesError
        fields: list[bytes] = []
        try:
            fields = _fields(line, rows)
            if rows.names and any(_is_name(word, rows.words) for word in fields[:2]):
                raise IdsAreNamesError
            u, v = (integer(f, "vertex id") for f in fields[:2])
            for x in (u, v):
                if not rows.low <= x <= rows.high:
                    raise ValueError(_out_of_range(x, rows))
            if rows.weighted:
                weights.append(weight_of(fields[2], rows.real))
        except ValueError as error:
            may_be_names = rows.names and not all(map(INTEGER.match, fields[:2]))
            remedy = "mend that line" + ("; --input-format table takes ids as names" if may_be_names else "")
            raise GraphFormatError(str(error), path=path, line=number, remedy=remedy) from None
        tails.append(u)
        heads.append(v)
        numbers.append(number)
    ends = np.array(tails, np.int64), np.array(heads, np.int64)
    return *ends, _weight_column(weights, numbers, rows, path) if rows.weighted else None


def _is_name(word: bytes, words: bool) -> bool:
    """Tell whether an id that may be a name is one: a number, but no plain whole one below 2^63, or one of words."""
    if words and _WORD.match(word):
        return True
    number = int(word[:21]) if INTEGER.match(word) else 0
    return _NAME.match(word) is not None or (number >= _INT64 and (words or number < 2 * _INT64))


def _fields(line: bytes, rows: Rows) -> list[bytes]:
    """Return the two ids, and the weight, of a line.  Raises ValueError if it has other fields."""
    check_filled(line, rows.separators)
    fields = words_of(line)
    if rows.prefix:
        if fields[0] != rows.prefix:
            raise ValueError(f"a line of arcs begins with '{rows.prefix.decode()}', not with {shown(fields[0])}")
        fields = fields[1:]
    if len(fields) != 2 + rows.weighted:
        expected = "tail, head and weight" if rows.weighted else "tail and head"
        raise ValueError(f"expected {expected}, found {count_of(fields)}")
    return fields


def check_filled(line: bytes, separators: bytes) -> None:
    """Raise ValueError if a field between separators is empty."""
    for separator in (separators[i : i + 1] for i in range(len(separators))):
        cells = line.split(separator) if separator in line else []
        if empty := [i for i, cell in enumerate(cells, 1) if not cell.strip()]:
            raise ValueError(f"the field {empty[0]} of {len(cells)} is empty")


def _weight_column(weights: list[int | float], lines: list[int], rows: Rows, path: str) -> NDArray[Any]:
    """Return the weights of one block, reals if any is, or raise GraphFormatError if no type holds them all."""
    real = rows.real or any(isinstance(w, float) for w in weights)
    if real and not rows.real:
        for line, w in zip(lines, weights, strict=True):
            if isinstance(w, int) and int(float(w)) != w:
                raise rounded_weights(path, line)
    wide = not real and max(weights, default=0) >= _INT64
    if wide and min(weights) < 0:
        raise wide_weights(path, lines[0])
    return np.array(weights, np.float64 if real else np.uint64 if wide else np.int64)


def _out_of_range(vertex: int, rows: Rows) -> str:
    if vertex < 0:
        return f"a negative vertex id: {vertex}"
    if rows.high == ANY_ID:
        bits = "63 bits, the most for a numbered vertex" if vertex < 2 * _INT64 else "64 bits"
        return f"the vertex id {vertex} needs more than {bits}"
    if rows.either_base:
        range_ = f"1..{rows.high}, or 0..{rows.high - 1} where ids count from 0"
        return f"the vertex id {vertex} is out of range {range_}"
    return f"the vertex id {vertex} is out of range {rows.low}..{rows.high}"


def plain_numbers(words: list[str]) -> NDArray[Any] | None:
    """Return what words spell as int64 or float64; None where one is for ``weight_of``: no number, or a large one."""
    together = "\n".join(words)
    if not words or not together.isascii() or "_" in together:
        return None
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        try:
            numbers = np.array([*map(kind, words)], dtype)
        except (ValueError, OverflowError):
            continue
        return numbers if dtype is np.int64 or (np.abs(numbers) < 2.0**53).all() else None
    return None


def weight_of(word: bytes, real: bool = False) -> int | float:
    """Return the number that a word spells, ``real`` or whole where it is so.  Raises ValueError if it spells none."""
    if not real and INTEGER.match(word):
        value = integer(word, "weight")
        if not -_INT64 <= value < 2 * _INT64:
            raise ValueError(f"the weight {shown(word)} needs more than 64 bits")
        return value
    try:
        if b"_" in word:
            raise ValueError
        number = float(word)
    except ValueError:
        raise ValueError(f"the weight {shown(word)} is not a number") from None
    if math.isnan(number):
        raise ValueError("a weight that is not a number (NaN)")
    if abs(number) == math.inf and b"inf" not in word.lower():
        raise ValueError(f"the weight {shown(word)} is beyond what a double holds")
    return number


# ------------------------------------------------------------------ writing
# Arcs become lines of numbers by pyarrow's CSV writer where it is installed, about a million at a time.

_CHUNK = 1 << 20


def arc_chunks(graph: CSRGraph) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]]:
    """Yield tails, heads and weights of the arcs in order, in pieces of up to 2^20."""
    for start in range(0, graph.arcs, _CHUNK):
        stop = min(start + _CHUNK, graph.arcs)
        first = int(np.searchsorted(graph.offsets, start, "right")) - 1
        last = int(np.searchsorted(graph.offsets, stop, "left"))
        bounds = np.clip(graph.offsets[first : last + 1], start, stop)
        tails = np.repeat(np.arange(first, last, dtype=np.int64), np.diff(bounds))
        yield tails, graph.targets[start:stop].astype(np.int64), graph.weights[start:stop]


def write_rows(
    stream: IO[bytes],
    graph: CSRGraph,
    *,
    base: int = 0,
    names: NDArray[np.int64] | None = None,
    prefix: str = "",
    delimiter: str = " ",
    weights: bool = True,
    lower: bool = False,
) -> None:
    """Write a line per arc: [prefix] tail head [weight], the first vertex being ``base``, or by (n,) ``names``.

    ``lower`` writes only arcs to a smaller vertex, that is each edge of an undirected graph once.
    """
    for tails, heads, values in arc_chunks(graph):
        if lower:
            keep = heads < tails
            tails, heads, values = tails[keep], heads[keep], values[keep]
        if names is None:
            columns = {"tail": tails + base, "head": heads + base}
        else:
            columns = {"tail": names[tails], "head": names[heads]}
        if weights:
            # A float32 is written as the float64 it equals, so that reading gives the same number back.
            columns["weight"] = values.astype(np.float64) if values.dtype.kind == "f" else values
        write_lines(stream, columns, prefix, delimiter)


def write_lines(stream: IO[bytes], columns: dict[str, NDArray[Any]], prefix: str, delimiter: str) -> None:
    """Write numbers as lines: by Arrow, or by Python, ten times as slow, where Arrow is not installed."""
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ModuleNotFoundError:
        head = [prefix] if prefix else []
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        # The shortest decimal number that is read as the same, a whole real without a point.
        texts = ([*head, *(repr(number).removesuffix(".0") for number in row)] for row in rows)
        stream.writelines((delimiter.join(text) + "\n").encode() for text in texts)
        return
    if prefix:
        columns = {"prefix": pa.repeat(prefix, len(columns["tail"])), **columns}
    csv.write_csv(
        pa.table(columns), stream, csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    )
