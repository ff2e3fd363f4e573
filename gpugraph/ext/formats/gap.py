"""The GAP benchmark suite's ``.sg`` and ``.wsg``: serialised rows, without and with int32 weights.

Layout, little-endian and unaligned::

     0  directed                      1 byte
     1  arcs                          int64
     9  vertices n                    int64
    17  offsets                       int64 (n+1,)
        .sg: target int32 — .wsg: target int32, weight int32 — for every arc
    if directed, offsets and arcs again, of the reversed graph

Source: Beamer, Asanović & Patterson 2015, The GAP Benchmark Suite (its reference code's serialised graphs).
"""

from typing import IO

import numpy as np

from gpugraph.base.errors import InputError
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import arcs_of_rows, integer_weights, is_unit
from gpugraph.ext.formats.text.rows import arc_chunks
from gpugraph.graph.build import ArcList, arc_tails
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import Source
from gpugraph.graph.sort_arcs import row_starts

_HEADER = 17


def _size(directed: int, vertices: int, arcs: int, weighted: bool) -> int:
    return _HEADER + (1 + directed) * (8 * (vertices + 1) + (8 if weighted else 4) * arcs)


def _counts(source: Source) -> tuple[int, int, int]:
    """Return directed, vertices, arcs."""
    directed = source.field(0, "u1", "the mark of a directed graph")
    return directed, source.field(9, "<i8", "the number of vertices"), source.field(1, "<i8", "the number of arcs")


def fits(source: Source) -> bool:
    """True if the header's counts ask for exactly the file's size, with or without weights."""
    if len(source.data) < _HEADER:
        return False
    directed, n, arcs = _counts(source)
    sizes = [_size(directed, n, arcs, weighted) for weighted in (False, True)]
    return directed <= 1 and n >= 0 and arcs >= 0 and len(source.data) in sizes


def read(source: Source) -> ArcList:
    """Read a serialised graph; its mark says whether it is directed.  Raises GraphFormatError if it is damaged."""
    directed, n, arcs = _counts(source)
    if directed > 1 or n < 0 or arcs < 0:
        raise source.error(f"damaged: a header of {n} vertices, {arcs} arcs and the mark {directed}")
    known = {".sg": (False,), ".wsg": (True,)}.get(source.extension, (False, True))
    sizes = tuple(_size(directed, n, arcs, weighted) for weighted in known)
    source.check_size(sizes, f"{n} vertices and {arcs} arcs")
    weighted = len(source.data) == _size(directed, n, arcs, True) and True in known
    offsets = source.section(_HEADER, n + 1, "<i8")
    start = _HEADER + 8 * (n + 1)
    if weighted:
        pairs = source.section(start, 2 * arcs, "<i4").reshape(-1, 2)
        targets, weights = pairs[:, 0], pairs[:, 1]
    else:
        targets, weights = source.section(start, arcs, "<i4"), None
    return arcs_of_rows(source, offsets, targets, weights, directed=bool(directed))


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write .wsg, or .sg if all weights are 1.  Raises InputError if the file cannot hold the weights or vertices."""
    if graph.vertices >= 2**31:
        raise InputError("a GAP file holds fewer than 2^31 vertices", remedy="write a .csr")
    weighted = extension != ".sg"
    if not weighted and not is_unit(graph):
        raise InputError("a .sg file holds no weights", remedy="write a .wsg, or drop the weights with --reweight unit")
    if weighted:
        integer_weights(graph, "GAP .wsg", 32)
    stream.write(np.uint8(graph.directed).tobytes())
    stream.write(np.array([graph.arcs, graph.vertices], "<i8").tobytes())
    _write_rows(graph, stream, weighted)
    if graph.directed:  # and with every arc turned round
        order = np.argsort(graph.targets, kind="stable")
        starts, heads = row_starts(graph.targets, graph.vertices), arc_tails(graph)[order]
        _write_rows(CSRGraph(starts, heads, graph.weights[order], directed=True), stream, weighted)


def _write_rows(graph: CSRGraph, stream: IO[bytes], weighted: bool) -> None:
    stream.write(graph.offsets.astype("<i8").tobytes())
    for _, heads, weights in arc_chunks(graph):
        columns = [heads.astype("<i4")] + [weights.astype("<i4")] * weighted
        stream.write(np.column_stack(columns).tobytes())


FORMAT = Format(
    name="gap", title="GAP .sg/.wsg", extensions=(".sg", ".wsg"), read=read, write=write, fits=fits, binary=True
)
