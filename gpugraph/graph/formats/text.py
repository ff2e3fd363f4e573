"""Lines of numbers: the fast path through pyarrow, and the slow one that finds the bad line.

Blocks of whole lines are normalised (one space between fields) and handed to pyarrow's CSV parser.  A block
it cannot take goes line by line through Python, which either reads it after all or names the line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import GraphFormatError
from gpugraph.graph.formats.columns import Columns, wide_weights
from gpugraph.graph.formats.source import Block

_TO_SPACE = bytes.maketrans(b"\t,\v\f", b"    ")
_INTEGER = re.compile(rb"[+-]?\d+\Z")
_INT64 = 2**63
ANY_ID = _INT64 - 1


@dataclass(frozen=True)
class Rows:
    """What the lines of a format look like.

    Attributes:
        weighted: a weight follows the two vertex ids.
        prefix: the word before them (``b"a"`` in DIMACS), or empty.
        comments: bytes that begin a line to be skipped.
        real: weights load as float64 even if all are integers.
        low, high: the vertex ids allowed.
    """

    weighted: bool
    prefix: bytes = b""
    comments: bytes = b"#%"
    real: bool = False
    low: int = 0
    high: int = ANY_ID

    @property
    def fields(self) -> int:
        """Fields on a line, the prefix included."""
        return 2 + self.weighted + bool(self.prefix)


def read_rows(blocks: Iterable[Block], rows: Rows, path: str) -> Columns:
    """Parse blocks of lines.

    Raises:
        GraphFormatError: a line that is not as ``rows`` says, with its number.
    """
    columns = Columns()
    for number, block in blocks:
        parsed = _fast(block, rows)
        if parsed is None:
            parsed = _slow(block, number, rows, path)
        columns.add(*parsed)
    return columns


def tidy(block: bytes, comments: bytes) -> bytes:
    """Return the lines with one space between fields, none around them, and without comment lines."""
    if any(byte in block for byte in (b"\t", b",", b"\r", b"\v", b"\f")):
        block = block.translate(_TO_SPACE, b"\r")
    if any(byte in block for byte in (comments[i : i + 1] for i in range(len(comments)))):
        block = re.sub(rb"(?m)^ *[" + re.escape(comments) + rb"][^\n]*\n?", b"", block)
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    if b" \n" in block:
        block = block.replace(b" \n", b"\n")
    if b"\n " in block:
        block = block.replace(b"\n ", b"\n")
    return block.strip(b" ")


def _delimiter(block: bytes, rows: Rows) -> str | None:
    """Return what separates the fields of a block that needs no tidying: one byte, as often as there are gaps."""
    found = [byte for byte in (b" ", b"\t", b",") if byte in block]
    if len(found) != 1 or b"\r" in block or any(rows.comments[i : i + 1] in block for i in range(len(rows.comments))):
        return None
    lines = block.count(b"\n") + (not block.endswith(b"\n"))
    return found[0].decode() if block.count(found[0]) == lines * (rows.fields - 1) else None


def _fast(block: bytes, rows: Rows) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None] | None:
    """Parse a regular block, or return None."""
    import pyarrow as pa
    from pyarrow import csv

    delimiter = _delimiter(block, rows)
    if delimiter is None:
        block, delimiter = tidy(block, rows.comments), " "
    if not block or block.isspace():
        empty = np.zeros(0, np.int64)
        return empty, empty, np.zeros(0, np.uint32) if rows.weighted else None
    names = ["prefix"] * bool(rows.prefix) + ["tail", "head"] + ["weight"] * rows.weighted
    # The prefix is a truth value whose one spelling is the word it has to be.
    types = {"tail": pa.int64(), "head": pa.int64(), "prefix": pa.bool_()}

    def parse(types: dict[str, Any]) -> Any:
        return csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(column_names=names),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(
                check_utf8=False,
                null_values=[],
                true_values=[rows.prefix.decode()],
                false_values=[],
                column_types=types,
            ),
        )

    try:
        table = parse(types | ({"weight": pa.float64()} if rows.real else {}))
        if rows.weighted and not rows.real and _holds_wide_integers(block, table):
            table = parse(types | {"weight": pa.uint64()})
    except pa.ArrowInvalid:
        return None
    tails, heads = table["tail"].to_numpy(), table["head"].to_numpy()
    if any(int(ids.min()) < rows.low or int(ids.max()) > rows.high for ids in (tails, heads)):
        return None
    if not rows.weighted:
        return tails, heads, None
    if str(table["weight"].type) not in ("int64", "uint64", "double"):
        return None
    weights = table["weight"].to_numpy()
    return None if weights.dtype.kind == "f" and np.isnan(weights).any() else (tails, heads, weights)


def _holds_wide_integers(block: bytes, table: Any) -> bool:
    """True if weights taken for reals are in truth integers beyond int64, which a double would round."""
    return str(table["weight"].type) == "double" and not any(sign in block for sign in (b".", b"e", b"E", b"n", b"N"))


def _slow(block: bytes, first: int, rows: Rows, path: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Parse a block line by line.

    Raises:
        GraphFormatError: the first line that cannot be taken.
    """
    tails: list[int] = []
    heads: list[int] = []
    weights: list[int | float] = []
    for number, fields in numbered_lines([(first, block)], rows.comments):
        try:
            if rows.prefix:
                if fields[0] != rows.prefix:
                    raise ValueError(
                        f"a line of arcs begins with '{rows.prefix.decode()}', not with {shown(fields[0])}"
                    )
                fields = fields[1:]
            if len(fields) != 2 + rows.weighted:
                expected = "tail, head and weight" if rows.weighted else "tail and head"
                raise ValueError(f"expected {expected}, found {len(fields)} fields")
            u, v = (integer(f, "vertex id") for f in fields[:2])
            for x in (u, v):
                if not rows.low <= x <= rows.high:
                    raise ValueError(_out_of_range(x, rows))
            if rows.weighted:
                weights.append(_weight(fields[2], rows.real))
        except ValueError as error:
            raise GraphFormatError(str(error), path=path, line=number, remedy="mend that line") from None
        tails.append(u)
        heads.append(v)
    column: NDArray[Any] | None = None
    if rows.weighted:
        real = rows.real or any(isinstance(w, float) for w in weights)
        wide = not real and max(weights, default=0) >= _INT64
        if wide and min(weights) < 0:
            raise wide_weights(path, first)
        column = np.array(weights, np.float64 if real else np.uint64 if wide else np.int64)
    return np.array(tails, np.int64), np.array(heads, np.int64), column


def _out_of_range(vertex: int, rows: Rows) -> str:
    if vertex < 0:
        return f"a negative vertex id: {vertex}"
    if rows.high == ANY_ID:
        return f"the vertex id {vertex} needs more than 64 bits"
    return f"the vertex id {vertex} is out of range {rows.low}..{rows.high}"


def _weight(word: bytes, real: bool) -> int | float:
    if not real and _INTEGER.match(word):
        value = int(word)
        if not -_INT64 <= value < 2 * _INT64:
            raise ValueError(f"the weight {shown(word)} needs more than 64 bits")
        return value
    try:
        if b"_" in word:
            raise ValueError
        number = float(word)
    except ValueError:
        raise ValueError(f"the weight {shown(word)} is not a number") from None
    if number != number:
        raise ValueError("a weight that is not a number (NaN)")
    return number


def integer(word: bytes, what: str) -> int:
    """Return the integer that ``word`` spells.

    Raises:
        ValueError: it spells none; the message says so.
    """
    if not _INTEGER.match(word):
        raise ValueError(f"the {what} {shown(word)} is not an integer")
    return int(word[:40])


def shown(word: bytes) -> str:
    """Return a field as an error message shows it."""
    text = word[:32].decode("utf-8", "replace") + ("…" if len(word) > 32 else "")
    return repr(text)


def numbered_lines(
    blocks: Iterable[Block], comments: bytes, *, blank: bool = False
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the fields of every line that is no comment, blank ones only if asked for."""
    for first, block in blocks:
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines, first):
            fields = line.translate(_TO_SPACE, b"\r").split()
            if fields[:1] and fields[0][0] in comments:
                continue
            if fields or blank:
                yield number, fields


def peek(blocks: Iterator[Block], comments: bytes, lines: int) -> tuple[list[tuple[int, list[bytes]]], Iterator[Block]]:
    """Return the first ``lines`` lines that are no comment (or all there are), and all blocks.

    Returns:
        (number, fields) of each line, and an iterator over the blocks including those looked at.
    """
    found: list[tuple[int, list[bytes]]] = []
    seen: list[Block] = []
    for first, block in blocks:
        seen.append((first, block))
        found.extend(itertools.islice(numbered_lines(_slices(first, block), comments), lines - len(found)))
        if len(found) == lines:
            break
    return found, itertools.chain(seen, blocks)


def _slices(first: int, block: bytes) -> Iterator[Block]:
    """Yield the lines one by one, so that looking at the first few costs nothing for the rest."""
    start = 0
    while start < len(block):
        end = block.find(b"\n", start) + 1 or len(block)
        yield first, block[start:end]
        first, start = first + 1, end


def after(blocks: Iterator[Block], line: int) -> Iterator[Block]:
    """Yield the blocks without the lines up to and including number ``line``."""
    for first, block in blocks:
        number, start = first, 0
        while number <= line and start < len(block):
            number, start = number + 1, block.find(b"\n", start) + 1 or len(block)
        if start < len(block):
            yield number, block[start:]


def header_count(word: bytes, what: str, path: str, line: int) -> int:
    """Return a count out of a header.

    Raises:
        GraphFormatError: it is no integer, or negative.
    """
    try:
        value = integer(word, what)
    except ValueError as error:
        raise GraphFormatError(str(error), path=path, line=line, remedy="mend the header") from None
    if value < 0:
        raise GraphFormatError(f"a negative {what}: {value}", path=path, line=line, remedy="mend the header")
    return value
