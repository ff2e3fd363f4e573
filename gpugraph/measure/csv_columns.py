"""Columns as text, a line a row: written in chunks by Arrow, so that millions of rows take a second.

Masked numbers are written as ``inf``; text is quoted where it has to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_ROWS = 1 << 20
"""Rows a chunk: the text of a chunk stays far below Arrow's 2 GiB a string array."""


def write_csv(columns: Mapping[str, Any], stream: IO[bytes], *, separator: str = ",", header: bool = True) -> None:
    """Write columns of equal length as lines of text.

    Args:
        columns: name → (rows,) array of numbers or text; a masked array's masked numbers become ``inf``.
        stream: opened for bytes.
        separator: between the cells of a line.
        header: begin with a line of names.
    """
    if header:
        stream.write((separator.join(columns) + "\n").encode())
    rows = len(next(iter(columns.values())))
    for start in range(0, rows, _ROWS):
        cells = [_text(column[start : start + _ROWS], separator) for column in columns.values()]
        lines = pc.binary_join_element_wise(pc.binary_join_element_wise(*cells, separator), "", "\n")
        end = lines.offset + len(lines)
        stops = np.frombuffer(lines.buffers()[1], np.int32)
        stream.write(memoryview(lines.buffers()[2])[stops[lines.offset] : stops[end]])


def _text(column: Any, separator: str) -> Any:
    """Return a column as an Arrow array of strings."""
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
