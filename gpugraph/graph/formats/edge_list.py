"""Edge lists: a line per arc, ``u v`` or ``u v weight``.

Fields are separated by spaces, tabs or commas; lines that begin with ``#`` or ``%`` are comments.  The numbers
of vertices and edges may stand on top: ``n m``, ``n``, or ``n`` and ``m`` on lines of their own, or as SNAP
writes them, ``# Nodes: n Edges: m``.  With n told, ids are 0..n−1 or 1..n; otherwise any non-negative integers,
which are compacted in ascending order and kept as vertex names.
"""

from __future__ import annotations

import re
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import GraphFormatError, InputError
from gpugraph.graph.build import ArcList
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.formats.base import Format, check_vertices, is_unit, numbered_from_one
from gpugraph.graph.formats.columns import Columns
from gpugraph.graph.formats.source import Source
from gpugraph.graph.formats.text import ANY_ID, Rows, after, header_count, peek, read_rows
from gpugraph.graph.formats.write_text import write_rows

_COMMENTS = b"#%"
_SNAP = re.compile(rb"(?m)^[#%][^\n]*?\bNodes:\s*(\d{1,18})\s+Edges:\s*(\d{1,18})")
_NAME = re.compile(rb"[A-Za-z_]\w*\Z")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def looks_numeric(head: bytes) -> bool:
    """True if the first line that is no comment begins with a number: good enough for an unknown name."""
    found, _ = peek(iter([(1, head)]), _COMMENTS, 1)
    return bool(found) and re.match(rb"[+-]?\d+\Z", found[0][1][0]) is not None


def read(source: Source) -> ArcList:
    """Read an edge list.

    Raises:
        GraphFormatError: a bad line, an id out of range, or a wrong number of lines.
    """
    found, blocks = peek(source.blocks(), _COMMENTS, 1)
    if found and source.extension == ".csv" and all(_NAME.match(word) for word in found[0][1]):
        blocks = after(blocks, found[0][0])
    found, blocks = peek(blocks, _COMMENTS, 3)
    vertices, promised, skip = _counts_on_top(source.path, found)
    blocks = after(blocks, skip)
    data = [(number, fields) for number, fields in found if number > skip]
    width = len(data[0][1]) if data else 2
    if width not in (2, 3):
        raise GraphFormatError(
            f"{width} fields; an edge list has 'u v' or 'u v weight'",
            path=source.path,
            line=data[0][0],
            remedy="keep two or three columns, or name the format with --input-format",
        )
    rows = Rows(weighted=width == 3, high=ANY_ID if vertices is None else vertices)
    columns = read_rows(blocks, rows, source.path)
    if promised is not None and columns.count != promised:
        raise GraphFormatError(
            f"promises {promised} edges, but {columns.count} follow",
            path=source.path,
            line=skip,
            remedy="fetch the file again or mend that line",
        )
    if vertices is not None:
        return _numbered(source, columns, rows, vertices, skip)
    return _named(source, columns, rows)


def _counts_on_top(path: str, found: list[tuple[int, list[bytes]]]) -> tuple[int | None, int | None, int]:
    """Return vertices and edges where the first lines plainly tell them, and the last of these lines."""
    widths = [len(fields) for _, fields in found] + [0, 0]
    if widths[0] == 1:
        top = 2 if widths[1] == 1 else 1
    elif widths[0] == 2 and widths[1] == 3 and found[0][1][0] != b"0":
        top = 1
    else:
        return None, None, 0
    words = [(number, word) for number, fields in found[:top] for word in fields]
    counts = [
        header_count(word, f"number of {what}", path, number)
        for (number, word), what in zip(words, ("vertices", "edges"), strict=False)
    ]
    check_vertices(path, counts[0], found[0][0])
    return counts[0], counts[1] if len(counts) == 2 else None, found[top - 1][0]


def _numbered(source: Source, columns: Columns, rows: Rows, vertices: int, skip: int) -> ArcList:
    """Return arcs whose ids are 0..n−1 or 1..n."""
    base = int(vertices > 0 and columns.high == vertices)
    if columns.low < base or columns.high - base >= vertices:
        # Both 0 and n occur: say at which line.
        again = Rows(rows.weighted, low=0, high=vertices - 1)
        read_rows(after(source.blocks(), skip), again, source.path)
    tails, heads = columns.ids(base)
    weights = columns.all_weights(source.path) if rows.weighted else None
    names = numbered_from_one(vertices) if base else None
    return ArcList(tails, heads, weights, vertices, vertex_names=names)


def _named(source: Source, columns: Columns, rows: Rows) -> ArcList:
    """Return arcs between ids that no header numbers."""
    low, high, count = columns.low, columns.high, columns.count
    tails, heads = columns.ids()
    weights = columns.all_weights(source.path) if rows.weighted else None
    if snap := _SNAP.search(source.head):
        vertices = int(snap[1])
        if high < vertices:
            check_vertices(source.path, vertices)
            return ArcList(tails, heads, weights, vertices)
    elif not count:
        raise GraphFormatError(
            "lists no edges", path=source.path, remedy="give the number of vertices on the first line if that is meant"
        )
    elif not rows.weighted and int(heads[0]) == count - 1:
        # 'n m' on top looks like an edge; it is a header if m lines follow, with ids up to n.
        vertices, ids = int(tails[0]), np.concatenate([tails[1:], heads[1:]])
        lowest, highest = (int(ids.min()), int(ids.max())) if count > 1 else (0, -1)
        if highest < vertices or (highest == vertices and lowest >= 1):
            check_vertices(source.path, vertices, 1)
            base = int(highest == vertices)
            names = numbered_from_one(vertices) if base else None
            return ArcList(tails[1:] - base, heads[1:] - base, None, vertices, vertex_names=names)
    return _compacted(tails, heads, weights, low, high)


def _compacted(tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any] | None, low: int, high: int) -> ArcList:
    """Renumber arbitrary ids in ascending order; the ids become the names unless they are 0..n−1 already."""
    if high < 4 * len(tails) + (1 << 20):
        present = np.zeros(high + 1, bool)
        present[tails] = True
        present[heads] = True
        names = np.flatnonzero(present)
        if len(names) == high + 1:
            return ArcList(tails, heads, weights, high + 1)
        number = np.cumsum(present, dtype=np.int64) - 1
        return ArcList(number[tails], number[heads], weights, len(names), vertex_names=names.astype(np.int64))
    names, numbers = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    return ArcList(
        numbers[: len(tails)], numbers[len(tails) :], weights, len(names), vertex_names=names.astype(np.int64)
    )


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write a line per arc, of an undirected graph both arcs of each edge; .el leaves the weights out.

    Vertices are called by their names where they have some.  SNAP's comment with the number of vertices goes on top
    only where the arcs do not tell it, since not every program skips comments.

    Raises:
        InputError: .el of a graph whose weights are not all 1; a vertex with a name and without an edge.
    """
    weighted = extension != ".el"
    if not weighted and not is_unit(graph):
        raise InputError("a .el file holds no weights", remedy="write a .wel, or drop the weights with --weights unit")
    names = graph.vertex_names
    seen = graph.degrees > 0
    seen[graph.targets] = True
    if names is not None and not seen.all():
        alone = names[np.argmin(seen)]
        remedy = "accept 0, 1, 2, … instead of the ids with --renumber, or write another format"
        raise InputError(f"an edge list has no line for vertex {alone}, which has no edge", remedy=remedy)
    first = graph.targets[:1] if names is None else names[graph.targets[:1]]
    looks_counted = not weighted and graph.arcs > 0 and int(first[0]) == graph.arcs - 1
    if not seen.all() or not graph.vertices or looks_counted:
        stream.write(f"# Nodes: {graph.vertices} Edges: {graph.arcs}\n".encode())
    write_rows(stream, graph, names=names, delimiter=_DELIMITERS.get(extension, " "), weights=weighted)


FORMAT = Format(
    name="edgelist",
    title="edge list",
    extensions=(".el", ".wel", ".txt", ".tsv", ".csv", ".edges", ".edgelist", ".e", ".snap"),
    read=read,
    write=write,
    ids="any",
)
