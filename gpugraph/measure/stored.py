"""Read result files back: the arrays as the file has them, not yet believed.

The formats are those of ``results.py``; the problem is told by the content.
"""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compression import codec_of_content, open_reader
from gpugraph.errors import GraphFormatError, InputError

_REMEDY = "give a file that -o wrote"


@dataclass(frozen=True, eq=False)
class StoredForest:
    """A forest as a file has it.

    Attributes:
        u, v: (k,) int64 endpoints, any values.
        weight: (k,) numbers, or texts from a file of text.
        vertices: of the graph, or None where the file does not tell.
        total_weight: its text, or None.
        components: or None.
    """

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    weight: NDArray[Any]
    vertices: int | None = None
    total_weight: str | None = None
    components: int | None = None


@dataclass(frozen=True, eq=False)
class StoredDistances:
    """Distances as a file has them.

    Attributes:
        vertex: (k,) int64, any values, or None where they are 0, 1, 2, ….
        distance: (k,) numbers, or texts from a file of text.
        predecessor: (k,) int64, any values, or None.
        source: or None where the file does not tell.
    """

    vertex: NDArray[np.int64] | None
    distance: NDArray[Any]
    predecessor: NDArray[np.int64] | None = None
    source: int | None = None


Stored = StoredForest | StoredDistances


def read_stored(path: str | os.PathLike[str]) -> Stored:
    """Return the content of a result file, compressed or not.

    Raises:
        InputError: there is no such file, or it may not be read.
        GraphFormatError: it is no result file, or damaged.
    """
    try:
        with open(path, "rb") as raw:
            codec = codec_of_content(raw.read(16), path)
            raw.seek(0)
            content = open_reader(raw, codec).read()
    except (OSError, EOFError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot be read: {reason}", where=path, remedy=_REMEDY) from error
    if content.startswith(b"PK\x03\x04"):
        return _read_npz(io.BytesIO(content), path)
    if content.startswith(b"%%MatrixMarket"):
        return _read_mtx(content, path)
    return _read_csv(content, path)


def _read_npz(stream: IO[bytes], path: str | os.PathLike[str]) -> Stored:
    try:
        with np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if name != "names"}
        problem = str(arrays["problem"])
        if problem == "mst":
            return StoredForest(
                _whole(arrays["u"]),
                _whole(arrays["v"]),
                _numbers(arrays["weight"]),
                int(arrays["vertices"]),
                str(arrays["total_weight"]),
                int(arrays["components"]),
            )
        if problem == "sssp":
            predecessor = _whole(arrays["predecessor"]) if "predecessor" in arrays else None
            return StoredDistances(None, _numbers(arrays["distance"]), predecessor, int(arrays["source"]))
        raise ValueError(f"the problem '{problem}' is not known")
    except KeyError as error:
        raise GraphFormatError(f"is no result file: it lacks {error}", path=path, remedy=_REMEDY) from error
    except (ValueError, TypeError, OSError, EOFError, zipfile.BadZipFile, NotImplementedError) as error:
        raise GraphFormatError(f"is damaged: {error}", path=path, remedy=_REMEDY) from error


def _whole(array: NDArray[Any]) -> NDArray[np.int64]:
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("an array of vertices is not one-dimensional or not of integers")
    return array.astype(np.int64)


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ValueError("an array is not one-dimensional or not of numbers")
    return array


def _read_mtx(content: bytes, path: str | os.PathLike[str]) -> StoredForest:
    lines = content.decode("utf-8", "replace").splitlines()
    first = next((i for i, line in enumerate(lines) if not line.startswith("%")), len(lines))
    rows = [line.split() for line in lines[first:]]
    for number, row in enumerate(rows, first + 1):
        if len(row) != 3:
            raise GraphFormatError(f"{len(row)} values where 3 are due", path=path, line=number, remedy=_REMEDY)
    if not rows:
        raise GraphFormatError("is cut off before the sizes", path=path, remedy=_REMEDY)
    cells = np.array(rows, str)
    numbers = np.stack([parse_integers(cells[:, i], path, first + 1) for i in (0, 1)])
    if cells[0, 2] != str(len(rows) - 1):
        raise GraphFormatError(f"{len(rows) - 1} entries where {cells[0, 2]} are promised", path=path, remedy=_REMEDY)
    return StoredForest(numbers[0, 1:] - 1, numbers[1, 1:] - 1, cells[1:, 2], int(numbers[0, 0]))


def _read_csv(content: bytes, path: str | os.PathLike[str]) -> Stored:
    import pyarrow as pa
    from pyarrow import csv

    from gpugraph.graph.formats.text import arrow_reader

    head = content.split(b"\n", 1)[0].decode("utf-8", "replace").strip().split(",")
    if head[:3] != ["u", "v", "weight"] and head[:2] != ["vertex", "distance"]:
        raise GraphFormatError("is no result file: its first line is none of ours", path=path, remedy=_REMEDY)
    wanted = [name for name in head if not name.endswith("name")]
    try:
        table = csv.read_csv(
            arrow_reader(content),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(head, pa.string()), include_columns=wanted),
        )
    except pa.ArrowInvalid as error:
        raise GraphFormatError(f"is damaged: {error}", path=path, remedy=_REMEDY) from error
    text = {name: np.array(table[name].to_pylist(), str) for name in wanted}
    if head[0] == "u":
        return StoredForest(parse_integers(text["u"], path, 2), parse_integers(text["v"], path, 2), text["weight"])
    predecessor = parse_integers(text["predecessor"], path, 2) if "predecessor" in text else None
    return StoredDistances(parse_integers(text["vertex"], path, 2), text["distance"], predecessor)


def parse_integers(text: NDArray[Any], path: str | os.PathLike[str], first_line: int) -> NDArray[np.int64]:
    """Return texts as int64; the first that is not a whole number is named by its line."""
    return parse_numbers(text, np.dtype(np.int64), path, first_line)


def parse_numbers(
    text: NDArray[Any], dtype: np.dtype[Any], path: str | os.PathLike[str], first_line: int
) -> NDArray[Any]:
    """Return texts as numbers of ``dtype``, each exactly as Python reads it.

    Raises:
        GraphFormatError: one is no number of that type; the message names its line.
    """
    try:
        return text.astype(dtype)
    except (ValueError, OverflowError):
        pass
    for line, word in enumerate(text.tolist(), first_line):
        try:
            np.array([word]).astype(dtype)
        except (ValueError, OverflowError):
            raise GraphFormatError(f"'{word}' is no {dtype} number", path=path, line=line, remedy=_REMEDY) from None
    raise AssertionError("a column was refused, but none of its cells")
