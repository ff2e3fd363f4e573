"""Matrix Market ``.mtx``: a square sparse matrix, its entry (i, j) the arc i→j.

::

    %%MatrixMarket matrix coordinate real symmetric
    % a comment
    3 3 2
    2 1 0.5
    …

Source: Boisvert, Pozo & Remington 1996, The Matrix Market Exchange Formats, NISTIR 5935, section 3.
"""

from itertools import islice
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.quantities import counted
from gpugraph.ext.device_graphs.device_columns import DeviceColumn
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import check_vertices
from gpugraph.ext.formats.text.lines import data_lines, header_count, peek, shown
from gpugraph.ext.formats.text.number_lines import Rows
from gpugraph.ext.formats.text.rows import check_lines, read_rows, write_rows
from gpugraph.graph.build import ArcList
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import PEEK_BYTES, Source

_BANNER = b"%%matrixmarket"
_FIELDS = (b"pattern", b"integer", b"unsigned-integer", b"real", b"double")


def sniff(head: bytes) -> bool:
    """True if the file begins with the banner."""
    return head[: len(_BANNER)].lower() == _BANNER


def read(source: Source) -> ArcList:
    """Read a coordinate matrix: pattern, integer or real; general or symmetric.

    Raises:
        GraphFormatError: another kind of matrix, a rectangular one, a bad line, or a wrong number of entries;
            a symmetric matrix whose entries (i, j) and (j, i) are both listed and differ.
    """
    kind, symmetric = _banner(source)
    found = peek(source.blocks(PEEK_BYTES), b"%", 1)
    if not found:
        raise source.error("ends before its size line", "fetch the file again")
    line, fields = found[0]
    if len(fields) != 3:
        what = f"the size line has {counted(len(fields), 'field')} instead of rows, columns and entries"
        raise source.error(what, "mend the size line", line)
    n, columns_, entries = (
        header_count(source, word, f"number of {what}", line)
        for word, what in zip(fields, ("rows", "columns", "entries"), strict=True)
    )
    if n != columns_:
        what = f"a matrix of {counted(n, 'row')} and {counted(columns_, 'column')} is no graph"
        raise source.error(what, "only square matrices are", line)
    check_vertices(source, n, line)
    rows = Rows(kind != b"pattern", comments=b"%", real=kind in (b"real", b"double"), low=1, high=n)
    columns = read_rows(source, rows, line, source.device)
    check_lines(source, columns, entries, "entries", line, "size line")
    arcs = columns.arcs(n, 1, directed=False if symmetric else None, one_sided=symmetric)
    if symmetric and rows.weighted:
        tails, heads = arcs.tails, arcs.heads  # in most symmetric matrices no entry lies above the diagonal

        def above(low: int, high: int) -> bool:
            return bool((heads[low:high] > tails[low:high]).any())

        if columns.upper if isinstance(tails, DeviceColumn) else any(in_threads(above, even_ranges(len(tails)))):
            _refuse_contradiction(source, arcs.on_host())
    return arcs


def _banner(source: Source) -> tuple[bytes, bool]:
    """Return the field of the matrix and whether it is symmetric."""
    first = source.head.split(b"\n", 1)[0].rstrip(b"\r")
    line = first.lower()
    words = line.split()
    remedy = "it should read like '%%MatrixMarket matrix coordinate real general'"
    if not sniff(source.head) and sniff(line.lstrip()):
        gap = len(line) - len(line.lstrip())
        raise source.error(
            f"the first line begins with {counted(gap, 'blank')} before '%%MatrixMarket'", remedy, line=1
        )
    if not sniff(source.head) or len(words) < 5:
        raise source.error(f"the first line {shown(first.strip())} is no Matrix Market banner", remedy, line=1)
    if len(words) > 5:
        rest = b" ".join(first.split()[5:])
        raise source.error(
            f"the banner is followed by {shown(rest)}", "move that to a line of its own that begins with %", 1
        )
    matrix, layout, kind, symmetry = words[1:]
    for word, known, remedy in (
        (matrix, (b"matrix",), "only matrices are graphs"),
        (layout, (b"coordinate",), "convert the dense matrix to coordinates"),
        (kind, _FIELDS, "edges weigh integers or reals: convert, e.g. to absolute values"),
        (symmetry, (b"general", b"symmetric"), "store it as general, with the weights that are meant"),
    ):
        if word not in known:
            raise source.error(f"a Matrix Market file of kind {shown(word)} is not supported", remedy, line=1)
    return kind, symmetry == b"symmetric"


def _refuse_contradiction(source: Source, arcs: ArcList) -> None:
    """Refuse a symmetric matrix with unequal (i, j) and (j, i); the same entry twice is a parallel edge."""
    tails, heads, weights = arcs.tails, arcs.heads, arcs.weights
    upper = heads > tails
    small, large = np.minimum(tails, heads), np.maximum(tails, heads)
    order = np.lexsort((upper, large, small))
    same = (small[order][1:] == small[order][:-1]) & (large[order][1:] == large[order][:-1])
    turned = upper[order][1:] & ~upper[order][:-1]
    unequal = weights[order][1:] != weights[order][:-1]
    bad = np.flatnonzero(same & turned & unequal)
    if not len(bad):
        return
    first, second = sorted((int(order[bad[0]]), int(order[bad[0] + 1])))
    raise source.error(
        f"declared symmetric, but ({tails[second] + 1}, {heads[second] + 1}) is {weights[second]} "
        f"and ({tails[first] + 1}, {heads[first] + 1}) is {weights[first]}",
        "mend the entry, or declare the matrix general and convert it with --symmetrize",
        line=next(islice(data_lines(source.blocks(), b"%"), second + 1, None))[0],
    )


def field_of(weights: NDArray[Any]) -> str:
    """Return what a banner calls weights: SciPy takes an ``integer`` for one of int64."""
    if weights.dtype.kind == "f":
        return "real"
    return "unsigned-integer" if int(weights.max(initial=0)) >= 2**63 else "integer"


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write an undirected graph as a symmetric matrix, a directed one as a general matrix."""
    symmetry = "general" if graph.directed else "symmetric"
    stream.write(f"%%MatrixMarket matrix coordinate {field_of(graph.weights)} {symmetry}\n".encode())
    stream.write(f"{graph.vertices} {graph.vertices} {graph.edges}\n".encode())
    write_rows(stream, graph, base=1, lower=not graph.directed)


FORMAT = Format(
    name="mtx",
    title="Matrix Market .mtx",
    extensions=(".mtx", ".mm"),
    read=read,
    write=write,
    hint=rb"(?i)\A%%matrixmarket",
    ids="from 1",
)
