"""Read result files back: the arrays as the file has them, not yet believed.

The formats are those of ``results.py``; the problem is told by the content.  A file holds the parts that its format has
and no others: whatever is in it will be checked.
"""

from __future__ import annotations

import io
import os
import re
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compression import codec_of_content, open_reader
from gpugraph.errors import GraphFormatError, placed, reading, unknown_name
from gpugraph.graph.formats.npz import read_array

_REMEDY = "give a file that -o wrote"
_TOTAL = re.compile(rb"% minimum spanning forest of .*, total weight (\S+)\s*")
_COUNT = re.compile(rb"\d{1,18}")

Named = tuple[tuple[NDArray[np.int64], Any], ...]
"""Vertices and the names that a file gives them, (k,) each; the names as an array of NumPy's or texts of Arrow's."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Stored:
    """What both kinds of results have.

    Attributes:
        vertices: of the graph, or None where the file does not tell.
        digest: of the graph, or None where the file does not tell.
        named: the graph's own ids.
        first_line: where the rows of a file of text begin, 1-based.
    """

    vertices: int | None = None
    digest: str | None = None
    named: Named = ()
    first_line: int = 2


@dataclass(frozen=True, eq=False)
class StoredForest(_Stored):
    """A forest as a file has it.

    Attributes:
        u, v: (k,) int64 endpoints, any values.
        weight: (k,) numbers, or Arrow's texts from a file of text.
        total_weight: its text, or None.
        components: or None.
    """

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    weight: Any
    total_weight: str | None = None
    components: int | None = None


@dataclass(frozen=True, eq=False)
class StoredDistances(_Stored):
    """Distances as a file has them.

    Attributes:
        vertex: (k,) int64, any values, or None where they are 0, 1, 2, ….
        distance: (k,) numbers, or Arrow's texts from a file of text.
        predecessor: (k,) int64, any values, or None.
        source: or None where the file does not tell.
    """

    vertex: NDArray[np.int64] | None
    distance: Any
    predecessor: NDArray[np.int64] | None = None
    source: int | None = None


Stored = StoredForest | StoredDistances


def read_stored(path: str | os.PathLike[str]) -> Stored:
    """Return the content of a result file, compressed or not.

    Raises:
        InputError: there is no such file, or it may not be read.
        GraphFormatError: it is no result file, or damaged.
    """
    with reading(path, _REMEDY):
        packed = Path(path).read_bytes()
        content = open_reader(io.BytesIO(packed), codec_of_content(packed[:16], path)).read()
        if content.startswith(b"PK\x03\x04"):
            return _read_npz(content, path)
        if content.startswith(b"%%MatrixMarket"):
            return _read_mtx(content, path)
        return _read_csv(content, path)


_ALWAYS = ("problem", "vertices", "graph_digest")
_ARRAYS = {
    "mst": ((*_ALWAYS, "u", "v", "weight", "total_weight", "components"), ("names",)),
    "sssp": ((*_ALWAYS, "source", "distance"), ("predecessor", "names")),
}
_COLUMNS = {
    "mst": (("u", "v", "weight"), ("u_name", "v_name")),
    "sssp": (("vertex", "distance"), ("predecessor", "name")),
}


def _check_parts(kind: str, found: Sequence[str], parts: tuple[Sequence[str], Sequence[str]], path: Any) -> None:
    """Refuse a file that lacks a part, has one twice, or has one that would not be checked.

    Args:
        kind: what the parts are called.
        found: their names in the file.
        parts: those that are due, and those that may be there.
        path: the file.
    """
    due, optional = parts
    for name in found:
        if name not in (*due, *optional):
            raise placed(unknown_name(kind, name[:50], (*due, *optional)), os.fspath(path))
        if found.count(name) > 1:
            raise GraphFormatError(f"holds the {kind} '{name}' twice", path=path, remedy=_REMEDY)
    for name in due:
        if name not in found:
            raise GraphFormatError(f"is no whole result: it lacks the {kind} '{name}'", path=path, remedy=_REMEDY)


def _read_npz(content: bytes, path: str | os.PathLike[str]) -> Stored:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = [name.removesuffix(".npy") for name in archive.namelist()]
        if "problem" not in found:
            raise GraphFormatError("is no result file: it lacks the array 'problem'", path=path, remedy=_REMEDY)
        problem = str(_single(read_array(archive, "problem"), "U"))
        if problem not in _ARRAYS:
            raise ValueError(f"the problem '{problem}' is not known")
        _check_parts("array", found, _ARRAYS[problem], path)
        arrays = {name: read_array(archive, name) for name in found}
    vertices = int(_single(arrays["vertices"], "iu"))
    digest = str(_single(arrays["graph_digest"], "U"))
    named: Named = ()
    if "names" in arrays:
        if arrays["names"].shape != (vertices,):
            raise ValueError(f"{arrays['names'].size} names for {vertices} vertices")
        if arrays["names"].dtype.kind == "U" and (arrays["names"].view(np.uint32) > sys.maxunicode).any():
            raise ValueError("a name holds what is no letter")
        named = ((np.arange(vertices), arrays["names"]),)
    if problem == "mst":
        u, v, weight = _row(arrays["u"], "i"), _row(arrays["v"], "i"), _row(arrays["weight"], "iuf")
        if not len(u) == len(v) == len(weight):
            raise ValueError("its arrays differ in length")
        total, components = str(_single(arrays["total_weight"], "U")), int(_single(arrays["components"], "iu"))
        return StoredForest(u, v, weight, total, components, vertices=vertices, digest=digest, named=named)
    predecessor = _row(arrays["predecessor"], "i") if "predecessor" in arrays else None
    source = int(_single(arrays["source"], "iu"))
    distance = _row(arrays["distance"], "iuf")
    return StoredDistances(None, distance, predecessor, source, vertices=vertices, digest=digest, named=named)


def _row(array: NDArray[Any], kinds: str) -> NDArray[Any]:
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise ValueError("an array is not one-dimensional or not of " + ("integers" if kinds == "i" else "numbers"))
    return array.astype(np.int64) if kinds == "i" else array


def _single(array: NDArray[Any], kinds: str) -> Any:
    if array.ndim or array.dtype.kind not in kinds:
        raise ValueError("something that is one number or one text is not")
    return array.item()


def _read_mtx(content: bytes, path: str | os.PathLike[str]) -> StoredForest:
    def refuse(what: str, line: int) -> GraphFormatError:
        return GraphFormatError(what, path=path, line=line, remedy=_REMEDY)

    stream = io.BytesIO(content)
    banner = stream.readline().split()
    words = [b"%%MatrixMarket", b"matrix", b"coordinate"]
    if banner not in ([*words, kind, b"symmetric"] for kind in (b"real", b"integer")):
        raise refuse("is no symmetric matrix of integers or reals in coordinates", 1)
    number, total, line = 2, None, stream.readline()
    while line.startswith(b"%"):
        if said := _TOTAL.fullmatch(line):
            total = said[1].decode()
        number, line = number + 1, stream.readline()
    sizes = line.split()
    if len(sizes) != 3 or not all(_COUNT.fullmatch(word) for word in sizes):
        raise refuse("is cut off before the sizes, or they are no three numbers", number)
    rows, columns, entries = map(int, sizes)
    if rows != columns:
        raise refuse(f"a matrix of {rows} rows and {columns} columns is no graph", number)
    table = _table(stream.read(), ["row", "column", "weight"], " ")
    if len(table) != entries:
        raise refuse(f"{len(table)} entries where {entries} are promised", number)
    u, v = (parse_numbers(table[name], np.dtype(np.int64), path, number + 1) - 1 for name in ("row", "column"))
    return StoredForest(u, v, table["weight"], total, vertices=rows, first_line=number + 1)


def _read_csv(content: bytes, path: str | os.PathLike[str]) -> Stored:
    first, _, rest = content.partition(b"\n")
    head = first.decode("utf-8", "replace").strip().split(",")
    problem = next((problem for problem, (due, _) in _COLUMNS.items() if set(due) & set(head)), None)
    if problem is None:
        raise GraphFormatError("is no result file: its first line is none of ours", path=path, remedy=_REMEDY)
    _check_parts("column", head, _COLUMNS[problem], path)
    table = _table(rest, head, ",")

    def whole(name: str) -> NDArray[np.int64]:
        return parse_numbers(table[name], np.dtype(np.int64), path, 2)

    if problem == "mst":
        u, v = whole("u"), whole("v")
        named = tuple((ids, table[name]) for ids, name in ((u, "u_name"), (v, "v_name")) if name in head)
        return StoredForest(u, v, table["weight"], named=named)
    vertex = whole("vertex")
    predecessor = whole("predecessor") if "predecessor" in head else None
    named = ((vertex, table["name"]),) if "name" in head else ()
    return StoredDistances(vertex, table["distance"], predecessor, named=named)


def _table(content: bytes, names: list[str], separator: str) -> Any:
    """Return lines of text as an Arrow table of texts."""
    import pyarrow as pa
    from pyarrow import csv

    from gpugraph.graph.formats.text import arrow_reader

    if not content.strip():
        return pa.table({name: pa.array([], pa.string()) for name in names})
    return csv.read_csv(
        arrow_reader(content),
        csv.ReadOptions(column_names=names),
        csv.ParseOptions(delimiter=separator, quote_char='"' if separator == "," else False, newlines_in_values=True),
        csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )


def parse_numbers(text: Any, dtype: np.dtype[Any], path: str | os.PathLike[str], first_line: int) -> NDArray[Any]:
    """Return Arrow's texts as numbers of ``dtype``, each rounded once.

    Raises:
        GraphFormatError: one is no number of that type; the message names its line.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    def parsed(part: Any) -> NDArray[Any] | None:
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
    word = text[low].as_py()[:50]
    raise GraphFormatError(f"'{word}' is no {dtype} number", path=path, line=first_line + low, remedy=_REMEDY)
