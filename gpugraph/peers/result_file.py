"""The file that a command writes its whole answer to, so that all of it is checked.

Text, numbers separated by spaces, tabs, commas, colons or semicolons; lines that begin with ``#`` or ``%`` and a header
of words are passed over.  What a line says is the problem's: an edge of the forest, ``u v``, whatever follows; or the
distance of each vertex in order, or ``vertex distance``.  A vertex that is not listed has no path, nor has one whose
distance is called ``inf`` or ``-1``, or as the table's ``unreached`` says.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.peers.peer import PeerThrew


@dataclass(frozen=True)
class ResultFile:
    """A file as a program wrote it.

    Attributes:
        path: where it lies.
        first_vertex: the number of the first vertex in it, 0 or 1.
        unreached: what it has for a vertex without a path, besides ``inf`` and ``-1``.
        by: the peer's name.
    """

    path: Path
    first_vertex: int
    unreached: str
    by: str

    def vertices(self, column: Any) -> NDArray[np.int64]:
        """Return a column as 0-based vertices, (k,) int64."""
        numbers: NDArray[np.int64] = as_numbers(column, np.dtype(np.int64), self.by) - self.first_vertex
        return numbers

    def columns(self, known: Set[str] = frozenset()) -> list[Any]:
        """Return the columns as Arrow arrays of text; none of an empty file.  ``known`` words are no header.

        Raises:
            PeerThrew: there is no such file, or its lines are no table.
        """
        import pyarrow as pa
        from pyarrow import csv

        from gpugraph.graph.formats.text import arrow_reader

        try:
            content = self.path.read_bytes()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise PeerThrew(
                f"it wrote no result file: {reason}", where=self.by, remedy="see {result} in its command"
            ) from None
        content = re.sub(rb"(?m)^[#%].*$", b"", content)
        content = re.sub(rb"(?m)^ +| +$", b"", re.sub(rb"[ \t,;:\r]+", b" ", content)).lstrip(b"\n")
        head = content.split(b"\n", 1)[0]
        if re.match(rb"[A-Za-z_\"]", head) and head.decode("utf-8", "replace").split(" ")[-1].lower() not in known:
            content = content[len(head) :].lstrip(b"\n")
        words = content.split(b"\n", 1)[0].split(b" ")
        if words == [b""]:
            return []
        names = [f"c{i}" for i in range(len(words))]
        try:
            table = csv.read_csv(
                arrow_reader(content),
                read_options=csv.ReadOptions(column_names=names),
                parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
                convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
            )
        except pa.ArrowInvalid as error:
            raise PeerThrew(
                f"its result file cannot be read: {' '.join(str(error).split())[:200]}",
                where=self.by,
                remedy="see docs/peers.md for what such a file holds",
            ) from None
        return [table[name].combine_chunks() for name in names]


def as_numbers(column: Any, dtype: np.dtype[Any], by: str) -> NDArray[Any]:
    """Return a column of texts as an array.

    Raises:
        PeerThrew: one of them is no such number.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return np.array(pc.cast(column, pa.from_numpy_dtype(dtype)))
    except pa.ArrowInvalid as error:
        raise PeerThrew(
            f"its result file holds no numbers: {' '.join(str(error).split())[:200]}",
            where=by,
            remedy="see docs/peers.md for what such a file holds",
        ) from None
