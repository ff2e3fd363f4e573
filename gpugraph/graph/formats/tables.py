"""Tables with named columns, and lists whose ids are words.

``--columns src,dst,weight`` picks the columns of a CSV, of a list of any width or of a Parquet file, by their names or
by their numbers from 1 on.  Ids are whole numbers or any text; vertices are numbered in the ascending order of their
ids, which stay their names.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import GraphFormatError, InputError, check_name, errors_at, reading
from gpugraph.graph.build import ArcList, narrow_weights
from gpugraph.graph.formats.base import Format, check_vertices, refuse_nan
from gpugraph.graph.formats.columns import rounded_weights
from gpugraph.graph.formats.input_file import AGAIN, HEAD_BYTES, Source
from gpugraph.graph.formats.lines import tidy
from gpugraph.graph.formats.text import arrow_reader

_COMMENTS = b"#%"
_COMMENT = re.compile(rb"(?m)^[ \t]*[#%][^\n]*\n?")
_SAMPLE = 100
"""Lines that are looked at to tell words from numbers."""
_HEADERS = re.compile(
    r"(src|source|from|tail|u|start|node_?1|id_?1)[\W_]*(id|node)?[,\s]+(dst|dest|destination|target|to|head|v|end|node_?2|id_?2)\b",
    re.IGNORECASE,
)
_USUAL = (
    ("source", "src", "from", "tail", "start"),
    ("target", "dst", "dest", "to", "head", "end"),
    ("weight", "w", "length", "distance", "cost", "km", "count"),
)
"""Names of the columns of tails, heads and weights."""
_REMEDY = "give two or three columns: --columns src,dst,weight"


def is_table(source: Source) -> bool:
    """Tell whether an edge list is a table: with semicolons, known names of columns, or words for vertices."""
    text = _COMMENT.sub(b"", source.head).lstrip()
    first = text.split(b"\n", 1)[0]
    between = r"[\t,]" if source.extension in (".csv", ".tsv") else r"[\s,]+"
    names = re.split(between, first.decode("utf-8", "replace").strip())
    usual = _columns_by_name(names)
    if b";" in first or (usual and (usual != names or source.extension != ".csv")):
        return True
    text = tidy(text, b"")
    lines = [line.split() for line in text.split(b"\n")[: _SAMPLE + 1] if line]
    if len(source.head) >= HEAD_BYTES:
        lines = lines[:-1]  # which may be cut
    if len(lines) > 1 and all(re.match(rb"[A-Za-z_]", word) for word in lines[0]):
        lines = lines[1:]
    words = [[re.search(rb"[^\W\d_]", word) is not None for word in line[:2]] for line in lines if len(line) in (2, 3)]
    return bool(words) and len(words) == len(lines) and all(map(any, words))


def read_table(source: Source) -> ArcList:
    """Read a table of text: the columns that ``--columns`` names, else the first two or three."""
    import pyarrow.compute as pc

    text = _COMMENT.sub(b"", source.data.tobytes().removeprefix(b"\xef\xbb\xbf")).lstrip(b"\r\n")
    first = text.split(b"\n", 1)[0]
    delimiter = next((mark for mark in "\t;," if mark.encode() in first), " ")
    if delimiter == " ":
        text = tidy(text, b"").lstrip(b"\n")
        first = text.split(b"\n", 1)[0]
    if not first.strip():
        raise source.error("lists no edges")
    with reading(source.path, "mend its first line"):
        fields = next(csv.reader([first.decode("utf-8", "replace").strip()], delimiter=delimiter))
    point = "," if delimiter == ";" else "."  # as Excel writes where the decimal point is a comma
    names, wanted = _header(source, [field.strip().replace(point, ".") for field in fields])
    if names is None:
        names = [str(i + 1) for i in range(len(fields))]
    else:
        text = text.partition(b"\n")[2]
    wanted = _chosen(source, names, wanted)
    try:
        table = _read_text(source, text, delimiter, names, wanted)
    except GraphFormatError:
        _require_utf8(source)  # which Arrow reports of any column that its threads reach first
        raise
    columns = [table[name] for name in wanted]
    if len(columns) == 3:
        columns[2] = pc.replace_substring(columns[2], point, ".")
    return _arcs_of_columns(source, columns)


def _read_text(source: Source, text: bytes, delimiter: str, names: list[str], wanted: list[str]) -> Any:
    """Return Arrow's table of the wanted columns, as text."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if not text.strip():
        return pa.table({name: pa.array([], pa.string()) for name in wanted})
    with reading(source.path, "mend that line; a row counts from the first below the names"):
        return arrow_csv.read_csv(
            arrow_reader(text, part=True),
            arrow_csv.ReadOptions(column_names=names),
            arrow_csv.ParseOptions(delimiter=delimiter),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=wanted),
        )


def _require_utf8(source: Source) -> None:
    """Refuse a file that is not UTF-8 text, with its first line that is not."""
    data = source.data.tobytes()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise source.error("is not UTF-8 text", "save it in UTF-8", line=line) from None


def read_parquet(source: Source) -> ArcList:
    """Read a Parquet file: the columns that ``--columns`` names, else the first two or three."""
    from pyarrow import parquet

    with reading(source.path, AGAIN):
        file = parquet.ParquetFile(arrow_reader(source.data.tobytes()))
        names = [field.name for field in file.schema_arrow]
    wanted = _chosen(source, names, [name for name in source.columns.split(",") if name])
    source.require(sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)))
    with reading(source.path, AGAIN):
        table = file.read(columns=wanted)
    return _arcs_of_columns(source, [table[name] for name in wanted])


def _header(source: Source, fields: Sequence[str]) -> tuple[list[str] | None, list[str]]:
    """Return the names of the columns, None where the first line is an edge, and those that were asked for."""
    wanted = [name.strip() for name in source.columns.split(",")] if source.columns else []
    titled = _HEADERS.match(",".join(fields)) is not None
    if wanted and all(name.isdecimal() for name in wanted):
        at = [int(name) - 1 for name in wanted if 0 < int(name) <= len(fields)]
        titled |= len(at) == 3 and not _is_number(fields[at[2]])
        return (list(fields), [fields[i] for i in at]) if titled and len(at) == len(wanted) else (None, wanted)
    if wanted:
        return list(fields), wanted
    if titled or (len(fields) > 2 and not _is_number(fields[2])):
        return list(fields), []
    if source.extension in (".csv", ".tsv") and len(fields) == 2:
        said = ",".join(fields)
        remedy = f"say which: --columns 1,2 if it is an edge, --columns {said} if not"
        raise source.error(f"'{said}' may be an edge, or the names of the columns", remedy, line=1)
    return None, []


def _columns_by_name(names: Sequence[str]) -> list[str]:
    """Return the columns of tails, heads and weights by their usual names, as Gephi has them; or none."""
    lower = [name.strip().strip('"').lower() for name in names]
    found = [next((names[lower.index(one)] for one in usual if one in lower), "") for usual in _USUAL]
    return [name for name in found if name] if found[0] and found[1] else []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _chosen(source: Source, names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the names of two or three columns."""
    if not wanted:
        if len(names) not in (2, 3):
            few = ", ".join(names[:8]) + ("…" if len(names) > 8 else "")
            columns = ",".join(_columns_by_name(names) or names[:3])
            raise source.error(f"has {len(names)} columns: {few}", f"say which of them: --columns {columns}")
        usual = _columns_by_name(names)
        wanted = usual if len(usual) == len(names) else names
    for name in wanted:
        with errors_at(source.path):
            check_name("column", name, names)
        if names.count(name) > 1:
            raise source.error(f"has two columns '{name}'", "give them different names")
    if len(wanted) not in (2, 3) or len(set(wanted)) < len(wanted):
        raise InputError(f"--columns {','.join(wanted)} makes no edges", where=source.path, remedy=_REMEDY)
    return list(wanted)


def _arcs_of_columns(source: Source, columns: Sequence[Any]) -> ArcList:
    """Return the arcs of Arrow's columns: two of ids, and one of weights where there is one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, column in enumerate(columns):
        absent = column.is_null()
        if pa.types.is_string(column.type):
            absent = pc.or_(absent, pc.fill_null(pc.equal(column, ""), True))
        if pc.any(absent).as_py():
            row = int(np.argmax(absent.to_numpy())) + 1
            what = f"row {row} has nothing in column {place + 1} of those taken"
            raise source.error(what, "fill it in, or leave the row out")
    weights = _weights(source, columns[2]) if len(columns) == 3 else None
    return _arcs(source, _ids(source, columns[:2]), weights)


def _ids(source: Source, columns: Sequence[Any]) -> NDArray[Any] | tuple[list[str], NDArray[np.int64]]:
    """Return ids, tails before heads, as (2k,) int64; of words those there are, ascending, and their (2k,) numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.int64() if all(pa.types.is_integer(column.type) for column in columns) else pa.string()
    both = pa.chunked_array([chunk for column in columns for chunk in column.cast(kind).chunks])
    if pa.types.is_string(both.type):
        both = pc.utf8_trim_whitespace(both)
        if len(both) and pc.all(pc.match_substring_regex(both, r"^\+?\d{1,18}$")).as_py():
            both = pc.cast(pc.utf8_ltrim(both, "+"), pa.int64())
    if not pa.types.is_string(both.type):
        numbers: NDArray[np.int64] = both.to_numpy()
        if len(numbers) and int(numbers.min()) < 0:
            raise source.error(f"a negative vertex id: {int(numbers.min())}", "mend it")
        return numbers
    coded = both.combine_chunks().dictionary_encode()
    words = np.array(coded.dictionary.to_pylist() or [""], str)[: len(coded.dictionary)]
    order = np.argsort(words)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return words[order].tolist(), place[coded.indices.to_numpy()]


def _weights(source: Source, column: Any) -> NDArray[Any]:
    """Return a column of weights: whole numbers in the narrowest type, reals as float64 (float32 as it is)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
        for kind in (pa.int64(), pa.uint64(), pa.float64()):
            try:
                cast = pc.cast(column, kind)
            except pa.ArrowInvalid:
                continue
            if kind == pa.float64():
                whole = pc.filter(column, pc.match_substring_regex(column, r"^[+-]?\d{16,}$"))
                if any(int(float(word)) != int(word) for word in whole.to_pylist()):
                    raise rounded_weights(source.path)
            column = cast
            break
        else:
            place, end = 0, len(column)
            while end - place > 1:  # Arrow itself says which half holds the first that it takes for no number
                middle = (place + end) // 2
                try:
                    pc.cast(column.slice(place, middle - place), pa.float64())
                    place = middle
                except pa.ArrowInvalid:
                    end = middle
            what = f"row {place + 1}: the weight '{column[place].as_py()[:32]}' is not a number"
            raise source.error(what, "mend it, or name another column with --columns")
    numbers = column.to_numpy()
    if numbers.dtype.kind not in "iuf":
        raise source.error(f"weights of type {column.type}", "name a column of numbers with --columns")
    if numbers.dtype.kind in "iu":
        return narrow_weights(numbers)
    weights: NDArray[Any] = numbers.astype(np.float32 if numbers.dtype == np.float32 else np.float64)
    refuse_nan(source, weights)
    return weights


def _arcs(
    source: Source, ids: NDArray[Any] | tuple[list[str], NDArray[np.int64]], weights: NDArray[Any] | None
) -> ArcList:
    """Return arcs of ids, tails before heads; those that are no numbers 0…n−1 stay the vertices' names."""
    names: NDArray[Any] | None
    if isinstance(ids, tuple):
        names, numbers = np.array(ids[0], str), ids[1]
        if source.keep_ids or source.vertices is not None:
            what = "--keep-ids and --vertices are for ids that are numbers, these are words"
            raise InputError(what, where=source.path, remedy="leave the option out")
    elif source.keep_ids or source.vertices is not None:
        names, numbers = None, ids
    else:
        names, numbers = np.unique(ids, return_inverse=True)
        names = None if np.array_equal(names, np.arange(len(names))) else names
    largest = int(numbers.max(initial=-1)) + 1
    vertices = largest if names is None else len(names)
    if names is None and source.vertices is not None:
        vertices, base = source.vertices, int(largest > source.vertices and int(numbers.min(initial=1)) > 0)
        if largest - base > vertices:
            what = f"has the id {largest - 1}, but --vertices is {vertices}"
            raise InputError(what, where=source.path, remedy="give a larger --vertices")
        numbers, names = numbers - base, np.arange(1, vertices + 1) if base else None
    check_vertices(source, vertices, remedy="check the ids, or use a machine with more")
    half = len(numbers) // 2
    return ArcList(numbers[:half], numbers[half:], weights, vertices, vertex_names=names)


TABLE = Format(name="table", title="table with named columns", extensions=(), read=read_table, ids="any")
PARQUET = Format(
    name="parquet",
    title="Parquet table",
    extensions=(".parquet", ".pq"),
    read=read_parquet,
    ids="any",
    sniff=lambda head: head.startswith(b"PAR1"),
    binary=True,
)
