"""Gunrock's binary ``.csr``, which has no magic: its size tells.

Layout, little-endian: int32 rows, int32 columns, int32 arcs, int32 offsets (rows+1,), int32 targets (arcs,),
float32 weights (arcs,).

Source: Wang et al. 2016, Gunrock (the essentials library's binary CSR).
"""

from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import arcs_of_rows
from gpugraph.graph.build import ArcList
from gpugraph.graph.input_file import Source


def _misfit(source: Source) -> str:
    """Return why the header's counts do not ask for exactly the file's size; empty if they do."""
    if len(source.data) < 12:
        return f"{len(source.data)} bytes are no header"
    rows, columns, arcs = (int(x) for x in source.section(0, 3, "<i4"))
    if rows != columns or rows < 0 or arcs < 0:
        return f"{rows} rows, {columns} columns and {arcs} arcs make no graph"
    size = 12 + 4 * (rows + 1) + 8 * arcs
    if len(source.data) != size:
        return f"{rows} rows and {arcs} arcs would take {size} bytes, the file has {len(source.data)}"
    return ""


def read(source: Source) -> ArcList:
    """Read a binary CSR.  Raises GraphFormatError if the size does not fit, or the rows are damaged."""
    if why := _misfit(source):
        what = f"a .csr file, but neither gpugraph's (it does not begin with GPUGRAPH) nor Gunrock's ({why})"
        raise source.error(what, "fetch or write it again, or name its format with --input-format")
    rows, arcs = source.field(0, "<i4", "rows"), source.field(8, "<i4", "arcs")
    offsets = source.section(12, rows + 1, "<i4")
    targets = source.section(12 + 4 * (rows + 1), arcs, "<i4")
    weights = source.section(12 + 4 * (rows + 1 + arcs), arcs, "<f4")
    return arcs_of_rows(source, offsets, targets, weights)


FORMAT = Format(
    name="gunrock",
    title="Gunrock .csr",
    extensions=(".csr",),
    read=read,
    fits=lambda source: not _misfit(source),
    binary=True,
)
