"""Result files of text: columns written and read, by Arrow or without it."""

import csv
import io
import os
from collections.abc import Mapping, Sequence, Set
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GraphFormatError, placed, unknown_name
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.text.rows import arrow_reader, weight_of

REMEDY = "give a file that -o wrote"
_ROWS = 1 << 20
"""Rows of text made at once: they stay far below Arrow's 2 GiB a string array."""
ZIP = b"PK\x03\x04"
PathLike = str | os.PathLike[str]


def check_parts(kind: str, found: Sequence[str], due: Sequence[str], optional: Sequence[str], path: PathLike) -> None:
    """Refuse a file that lacks a part of the kind, has one twice, or has one that nobody would check."""
    for name in found:
        if name not in (*due, *optional):
            raise placed(unknown_name(kind, name[:50], (*due, *optional)), os.fspath(path))
        if found.count(name) > 1:
            raise GraphFormatError(f"holds the {kind} '{name}' twice", path=path, remedy=REMEDY)
    for name in due:
        if name not in found:
            raise GraphFormatError(f"is no whole result: it lacks the {kind} '{name}'", path=path, remedy=REMEDY)


def write_csv(columns: Mapping[str, Any], stream: IO[bytes], *, separator: str = ",", header: bool = True) -> None:
    """Write columns, (rows,) arrays by name, as lines of text: by Arrow, millions of rows in a second, or by Python.

    A masked array's masked numbers become ``inf``, and text is quoted where it has to be.
    """
    if header:
        stream.write((separator.join(columns) + "\n").encode())
    try:
        import pyarrow.compute as pc
    except ModuleNotFoundError:
        parts = (["inf" if x is None else _shortest(x) for x in column.tolist()] for column in columns.values())
        text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
        csv.writer(text, delimiter=separator, lineterminator="\n").writerows(zip(*parts, strict=True))
        text.detach()
        return
    rows = len(next(iter(columns.values())))
    for start in range(0, rows, _ROWS):
        cells = [_text(column[start : start + _ROWS], separator) for column in columns.values()]
        lines = pc.binary_join_element_wise(pc.binary_join_element_wise(*cells, separator), "", "\n")
        end = lines.offset + len(lines)
        stops = np.frombuffer(lines.buffers()[1], np.int32)
        stream.write(memoryview(lines.buffers()[2])[stops[lines.offset] : stops[end]])


def _shortest(cell: object) -> Any:
    """Return the shortest decimal number that is read as a real, a whole one without a point; other cells unchanged."""
    return repr(cell).removesuffix(".0") if isinstance(cell, float) else cell


def _text(column: Any, separator: str) -> Any:
    """Return a column as an Arrow array of strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.dtype.kind == "U":
        text = pa.array(column.tolist(), pa.string())
        special = pc.match_substring_regex(text, rf'["\r\n{separator}]')
        doubled = pc.replace_substring(text, '"', '""')
        return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), text)
    values = np.ma.getdata(column)
    text = pc.cast(pa.array(np.ascontiguousarray(values)), pa.string())
    if np.ma.is_masked(column):
        text = pc.if_else(pa.array(np.ma.getmaskarray(column)), "inf", text)
    return text


def titles_of(content: bytes) -> list[str]:
    """Return the names in the first line of a .csv file."""
    return content[: content.find(b"\n") + 1 or None].decode("utf-8", "replace").strip().split(",")


def read_csv(content: bytes, due: Sequence[str], optional: Sequence[str], path: PathLike) -> dict[str, Any] | None:
    """Return the columns of a .csv file as texts; None for a file of which none is due."""
    if content.startswith(ZIP):
        return None
    head = titles_of(content)
    if not set(due) & set(head):
        return None
    check_parts("column", head, due, optional, path)
    table = text_table(content.partition(b"\n")[2], head, ",")
    return {name: table[name] for name in head}


class Texts(list[str]):
    """A column of texts as Arrow would return it, where Arrow is not installed."""

    def to_pylist(self) -> list[str]:
        """Return the texts."""
        return list(self)


def text_table(content: bytes, names: list[str], separator: str) -> Any:
    """Return lines of text as an Arrow table of texts; without Arrow as ``Texts`` by name."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ModuleNotFoundError:
        return _plain_table(content, names, separator)

    if not content.strip():
        return pa.table({name: pa.array([], pa.string()) for name in names})
    return arrow_csv.read_csv(
        arrow_reader(content, part=True),
        arrow_csv.ReadOptions(column_names=names),
        arrow_csv.ParseOptions(
            delimiter=separator, quote_char='"' if separator == "," else False, newlines_in_values=True
        ),
        arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )


def _plain_table(content: bytes, names: list[str], separator: str) -> dict[str, Texts]:
    """Return lines of text as texts by name; raise ValueError for a line of another length."""
    lines = io.StringIO(content.decode(), newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if separator == "," else csv.QUOTE_NONE
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator, quoting=quoting, strict=True) if row]
    except csv.Error as error:
        raise ValueError(str(error)) from None
    for i, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise ValueError(f"row {i} has {counted(len(row), 'field')}, not {len(names)}")
    return {name: Texts(row[k] for row in rows) for k, name in enumerate(names)}


def replaced(texts: Any, old: str, new: str) -> Any:
    """Return a column of texts with one text in place of another."""
    if isinstance(texts, Texts):
        return Texts(new if text == old else text for text in texts)
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(texts, old), new, texts)


def without(texts: Any, words: Set[str], new: str) -> tuple[NDArray[np.bool_], Any]:
    """Return which texts of a column, in small letters, are among ``words``, (k,), and the column with others there."""
    if isinstance(texts, Texts):
        found = np.array([text.lower() in words for text in texts], bool)
        return found, Texts(new if one else text for one, text in zip(found, texts, strict=True))
    import pyarrow as pa
    import pyarrow.compute as pc

    among = pc.is_in(pc.utf8_lower(texts), pa.array(sorted(words)))
    return among.to_numpy(), pc.if_else(among, new, texts)


def parse_numbers(text: Any, dtype: Any, path: PathLike, first_line: int = 2) -> NDArray[Any]:
    """Return texts as numbers, each rounded once; GraphFormatError, with its line, for one that is none."""
    dtype = np.dtype(dtype)
    if isinstance(text, Texts):
        return _plain_numbers(text, dtype, path, first_line)
    import pyarrow as pa
    import pyarrow.compute as pc

    def parsed(part: object) -> NDArray[Any] | None:
        if pc.any(pc.match_substring(part, "x", ignore_case=True)).as_py():  # Arrow reads hexadecimal numbers too
            return None
        try:
            numbers: NDArray[Any] = pc.cast(part, pa.from_numpy_dtype(dtype)).to_numpy()
        except pa.ArrowInvalid:
            return None
        return numbers

    if (numbers := parsed(text)) is not None:
        return numbers
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if parsed(text[low:middle]) is None else (middle, high)
    raise _no_number(text[low].as_py(), dtype, path, first_line + low)


def _no_number(word: str, dtype: np.dtype[Any], path: PathLike, line: int) -> GraphFormatError:
    return GraphFormatError(f"'{word[:50]}' is no {dtype} number", path=path, line=line, remedy=REMEDY)


def _plain_numbers(texts: Texts, dtype: np.dtype[Any], path: PathLike, first_line: int) -> NDArray[Any]:
    """Return texts as numbers without Arrow."""
    numbers = np.empty(len(texts), dtype)
    least, most = (0, 0) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for i, text in enumerate(texts):
        try:
            value = weight_of(text.encode(), dtype.kind == "f")
        except ValueError:
            raise _no_number(text, dtype, path, first_line + i) from None
        if dtype.kind != "f" and not (isinstance(value, int) and least <= value <= most):
            raise _no_number(text, dtype, path, first_line + i)
        numbers[i] = value
    return numbers
