"""Gunrock's binary ``.csr``, which has no magic: its size tells.

Layout, little-endian: int32 rows, int32 columns, int32 arcs, int32 offsets (rows+1,), int32 targets (arcs,),
float32 weights (arcs,).

Source: Wang et al. 2016, Gunrock (the essentials library's binary CSR).
"""

from __future__ import annotations

from gpugraph.graph.build import ArcList
from gpugraph.graph.formats.base import Format, arcs_of_rows
from gpugraph.graph.formats.input_file import Source


def _size(rows: int, arcs: int) -> int:
    return 12 + 4 * (rows + 1) + 8 * arcs


def fits(source: Source) -> bool:
    """True if the header's counts ask for exactly the file's size."""
    if len(source.data) < 12:
        return False
    rows, columns, arcs = (int(x) for x in source.section(0, 3, "<i4"))
    return rows >= 0 and arcs >= 0 and rows == columns and len(source.data) == _size(rows, arcs)


def read(source: Source) -> ArcList:
    """Read a binary CSR.  Raises GraphFormatError if the size does not fit, or the rows are damaged."""
    if not fits(source):
        raise source.error(
            f"a .csr file, but neither gpugraph's (it does not begin with GPUGRAPH) nor Gunrock's ({_seen(source)})",
            "fetch or write it again, or name its format with --input-format",
        )
    rows, arcs = source.field(0, "<i4", "rows"), source.field(8, "<i4", "arcs")
    offsets = source.section(12, rows + 1, "<i4")
    targets = source.section(12 + 4 * (rows + 1), arcs, "<i4")
    weights = source.section(12 + 4 * (rows + 1 + arcs), arcs, "<f4")
    return arcs_of_rows(source, offsets, targets, weights)


def _seen(source: Source) -> str:
    if len(source.data) < 12:
        return f"{len(source.data)} bytes are no header"
    rows, columns, arcs = (int(x) for x in source.section(0, 3, "<i4"))
    if rows != columns or rows < 0 or arcs < 0:
        return f"{rows} rows, {columns} columns and {arcs} arcs make no graph"
    return f"{rows} rows and {arcs} arcs would take {_size(rows, arcs)} bytes, the file has {len(source.data)}"


FORMAT = Format(name="gunrock", title="Gunrock .csr", extensions=(".csr",), read=read, fits=fits, binary=True)
