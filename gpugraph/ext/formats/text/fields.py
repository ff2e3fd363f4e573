"""Tables of text: rows of fields, and columns of words, split by Python or, where a text is large, by Arrow.

Arrow splits only what it splits as Python does: a text without quotes.  What it refuses is split by Python, which names
the line.
"""

import csv
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.quantities import counted
from gpugraph.ext.formats.text.lines import tidy
from gpugraph.ext.formats.text.rows import arrow_reader
from gpugraph.graph.build import ARC_BYTES
from gpugraph.graph.input_file import Source

_COMMENT = re.compile(rb"(?m)^[ \t]*[#%][^\n]*\n?")
_GAPS = str.maketrans("\t\v\f", "   ")
CUT = {" ": re.compile(r".*[,;]"), "\t": re.compile(r"\d+[,;]")}
"""What, between these separators, is no name but a field of a line with others."""
_LARGE = 1 << 22
"""Bytes from which on Arrow splits a text."""
_ROWS_BETWEEN = 1 << 18
"""Rows after which it is asked whether there is memory for more."""


@dataclass(frozen=True, eq=False)
class Words:
    """A column of text: its distinct words, and the (rows,) positions of each row's word among them.

    ``place`` returns a row, counted from 0, as a message names it, and its line in the file where it has one.
    """

    words: list[str]
    codes: NDArray[np.int64]
    place: Callable[[int], tuple[str, int | None]]

    def first_row(self, word: str) -> int:
        """Return the first row, from 0, that has a word."""
        return int(np.argmax(self.codes == self.words.index(word)))


def text_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line.  Raises GraphFormatError at the first that is not UTF-8."""
    for first, block in source.blocks():
        try:
            lines = block.decode().split("\n")
        except UnicodeDecodeError as error:
            line = first + block.count(b"\n", 0, error.start)
            raise source.error("is not UTF-8 text", "save it in UTF-8", line=line) from None
        yield from enumerate(lines[: len(lines) - (not lines[-1])], first)


def records(
    source: Source, lines: Iterable[tuple[int, str]], delimiter: str, width: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each row, without blanks around them.

    Comments and rows without a single value are passed over.  Of a table of words a line with a name that begins with #
    is no comment if it has ``width`` fields.  A field in quotes may hold delimiters, and line ends.  Raises
    GraphFormatError where quotes do not match.
    """
    number, begins = 0, True

    def fed() -> Iterator[str]:
        nonlocal number, begins
        for at, line in lines:
            if begins:
                if line.lstrip()[:1] in ("#", "%") and not is_named(line, delimiter, width):
                    continue
                number, begins = at, False
            if "\r" in line and '"' not in line:  # the whole line end of some old files stays part of a field
                line = line.rstrip("\r").replace("\r", "↵")
            yield (line.translate(_GAPS).strip() if delimiter == " " else line) + "\n"

    reader = csv.reader(fed(), delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise source.error(f"is damaged: {error}", "mend that line", line=number) from None
        if fields is None:
            return
        begins = True
        cells = [field.strip() for field in fields]
        if any(cells):
            yield number, cells


def is_named(line: str, delimiter: str, width: int) -> bool:
    """Tell whether a line that begins with # or % has ``width`` fields, of which the first begins with a name."""
    if not width or delimiter == " " or line.lstrip()[1:2].isspace():
        return False
    bare = re.sub(r'"[^"]*"', "", line)
    return bare.count(delimiter) == width - 1


@dataclass(frozen=True)
class Shape:
    """Rows of a table: what separates their fields, the line above the first, how many fields, and whether of words."""

    delimiter: str
    behind: int
    width: int
    named: bool

    def rows(self, source: Source) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each row."""
        lines = (line for line in text_lines(source) if line[0] > self.behind)
        return records(source, lines, self.delimiter, self.width if self.named else 0)


def split(source: Source, shape: Shape, at: Sequence[int]) -> list[Words]:
    """Return the columns ``at`` of a table.  Raises GraphFormatError where a row has another number of fields."""

    def place(row: int) -> tuple[str, int | None]:
        return f"row {row + 1}", next(number for i, (number, _) in enumerate(shape.rows(source)) if i == row)

    columns = [Words(*column, place) for column in _by_arrow(source, shape, at) or _by_python(source, shape, at)]
    if (cut := CUT.get(shape.delimiter)) is not None:
        for column in columns:
            for word in filter(cut.fullmatch, column.words):
                row, line = column.place(column.first_row(word))
                what = f"{row}: {word!r} ends in another separator than that of the first line"
                raise source.error(what, "separate the fields of all lines alike", line=line)
    return columns


_Coded = tuple[list[str], NDArray[np.int64]]


def _by_python(source: Source, shape: Shape, at: Sequence[int]) -> list[_Coded]:
    tables: list[dict[str, int]] = [{} for _ in at]
    codes = [array("q") for _ in at]
    columns = list(zip(at, tables, codes, strict=True))
    for row, (number, fields) in enumerate(shape.rows(source), 1):
        if len(fields) != shape.width:
            what = f"expected {counted(shape.width, 'field')}, found {len(fields)}"
            raise source.error(what, "mend that line; a name that holds the separator needs quotes", line=number)
        for k, table, column in columns:
            word = fields[k]
            column.append(table.setdefault(word, len(table)))
        if row % _ROWS_BETWEEN == 0:
            source.require(ARC_BYTES * row)
    return [(list(table), np.frombuffer(column, np.int64)) for _, table, column in columns]


def _by_arrow(source: Source, shape: Shape, at: Sequence[int]) -> list[_Coded] | None:
    """Return the same by Arrow; None where it is not installed, or might split otherwise."""
    if len(source.data) < _LARGE:
        return None
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ModuleNotFoundError:
        return None
    text = source.data.tobytes().removeprefix(b"\xef\xbb\xbf")
    for _ in range(shape.behind):
        text = text.partition(b"\n")[2]
    if shape.named and re.search(rb"(?m)^[ \t]*[#%]\S", text):
        return None
    text = _COMMENT.sub(b"", text)
    if b'"' in text or re.search(rb"\r(?!\n)", text) or not text.strip():
        return None
    if shape.delimiter == " ":
        if b"," in text:  # which is no gap
            return None
        text = tidy(text, b"")
    names = [str(i) for i in range(shape.width)]
    wanted = [names[i] for i in at]
    try:
        table = arrow_csv.read_csv(
            arrow_reader(text, part=True),
            arrow_csv.ReadOptions(column_names=names),
            arrow_csv.ParseOptions(delimiter=shape.delimiter, quote_char=False),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=wanted),
        )
    except pa.ArrowInvalid:
        return None
    columns = [_decoded(table[name]) for name in wanted]
    empty = np.ones(len(table), bool)
    for words, codes in columns:
        empty &= np.array([not word for word in words] or [False])[codes]
    return None if empty.any() else columns  # a row without a value among those taken may be none


def _decoded(column: Any) -> _Coded:
    """Return distinct words, without blanks around them, and the codes of a column of Arrow's."""
    coded = column.combine_chunks().dictionary_encode()
    table: dict[str, int] = {}
    codes = [table.setdefault(word.strip(), len(table)) for word in coded.dictionary.to_pylist()]
    return list(table), np.array(codes, np.int64)[coded.indices.to_numpy()]
