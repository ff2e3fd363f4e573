"""ECL ``.egr``, in its 32- and its 64-bit variant; no magic, the size tells which, and whether there are weights.

Layout, little-endian: vertices n, arcs, offsets (n+1,) — int32 each, or int64 each — then int32 targets (arcs,)
and, if weighted, int32 weights (arcs,).

Source: Burtscher, ECL-MST and ECL-CC distributions, ``ECLgraph.h``.
"""

from typing import IO

import numpy as np

from gpugraph.base.errors import InputError
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import arcs_of_rows, integer_weights
from gpugraph.graph.build import ArcList
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import Source


def _sizes(width: int, vertices: int, arcs: int) -> tuple[int, int]:
    """Return the file's bytes without and with weights."""
    bare = 2 * width + width * (vertices + 1) + 4 * arcs
    return bare, bare + 4 * arcs


def _variant(source: Source) -> tuple[int, int, int] | str:
    """Return width, vertices and arcs of the variant whose size fits, no file fits both; or why neither does."""
    size, why = len(source.data), []
    for width in (4, 8):
        if size < 3 * width:
            why.append(f"{size} bytes are no {8 * width}-bit header")
            continue
        n, arcs = (int(x) for x in source.section(0, 2, f"<i{width}"))
        plain, weighted = _sizes(width, n, arcs)
        if n >= 0 and arcs >= 0 and size in (plain, weighted):
            return width, n, arcs
        why.append(f"in {8 * width} bits, {n} vertices and {arcs} arcs take {plain} or {weighted} bytes")
    return f"cut short or no .egr: it has {size} bytes; {'; '.join(why)}"


def read(source: Source) -> ArcList:
    """Read either variant.  Raises GraphFormatError if the size fits neither, or the rows are damaged."""
    variant = _variant(source)
    if isinstance(variant, str):
        raise source.error(variant)
    width, n, arcs = variant
    offsets = source.section(2 * width, n + 1, f"<i{width}")
    start = (n + 3) * width
    targets = source.section(start, arcs, "<i4")
    weighted = len(source.data) == _sizes(width, n, arcs)[1] and arcs > 0
    weights = source.section(start + 4 * arcs, arcs, "<i4") if weighted else None
    return arcs_of_rows(source, offsets, targets, weights)


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write the 32-bit variant, or the 64-bit one where the arcs need it.  Raises InputError if neither holds it."""
    if graph.vertices >= 2**31:
        raise InputError("an .egr file holds fewer than 2^31 vertices", remedy="write a .csr")
    weights = integer_weights(graph, "ECL .egr", 32)
    index = "<i4" if graph.arcs < 2**31 else "<i8"
    stream.write(np.array([graph.vertices, graph.arcs], index).tobytes())
    for array, dtype in ((graph.offsets, index), (graph.targets, "<i4"), (weights, "<i4")):
        stream.write(np.ascontiguousarray(array, dtype).data)


FORMAT = Format(
    name="ecl",
    title="ECL .egr",
    extensions=(".egr",),
    read=read,
    write=write,
    fits=lambda source: not isinstance(_variant(source), str),
    binary=True,
)
