"""DIMACS ``.gr``: shortest paths (9th challenge) and the undirected graphs of PACE.

::

    c a comment                     c a comment
    p sp 3 4                        p tw 3 2
    a 1 2 17                        1 2
    …                               …

``p sp`` lists arcs, ``p tw`` undirected edges once each; ids count from 1.  Some files leave the problem line
out or count from 0: a vertex 0 says so.

Source: Demetrescu, Goldberg & Johnson 2009, The Shortest Path Problem: Ninth DIMACS Implementation Challenge;
Dell et al. 2017, The First Parameterized Algorithms and Computational Experiments Challenge (``tw``).
"""

import re
from dataclasses import replace
from typing import IO

from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import check_vertices, integer_weights
from gpugraph.ext.formats.text.columns import Columns
from gpugraph.ext.formats.text.lines import after, data_lines, header_count, integer, peek, shown, words_of
from gpugraph.ext.formats.text.number_lines import ANY_ID, Rows
from gpugraph.ext.formats.text.rows import check_lines, read_rows, write_rows
from gpugraph.graph.build import ArcList
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import PEEK_BYTES, Source

_LOOKED_AT = 16
"""Lines that are looked at to tell arcs with weights from arcs without."""
_FIRST_LINE = re.compile(rb"(?>\s*c(?:[ \t][^\n]*)?\r?\n)*+\s*(?:p\s+(?:sp|tw)\b|p\s+\S+\s+\d+\s+\d|a\s+\d)")
"""A problem or an arc behind any number of comments; an edge of vertices called ``a``, ``c`` or ``p`` is neither."""


def sniff(head: bytes) -> bool:
    """True if what follows the comments is a problem or an arc."""
    return bool(_FIRST_LINE.match(head)) and b"\0" not in head


def read(source: Source) -> ArcList:
    """Read arcs (``p sp``, or no problem line) or edges (``p tw``), or raise GraphFormatError."""
    found = peek(source.blocks(PEEK_BYTES), b"c", _LOOKED_AT)
    if found and found[0][1][0] == b"p":
        line, fields = found[0]
        kind, vertices, promised = _problem(source, line, fields)
        found = peek(after(source.blocks(PEEK_BYTES), line), b"c", _LOOKED_AT)
    else:
        kind, vertices, promised, line = b"sp", None, None, None

    high = ANY_ID if vertices is None else vertices
    if kind == b"tw":
        rows = Rows(weighted=False, comments=b"c", low=1, high=high)
    else:
        weighted = not found or any(len(fields) > 3 for _, fields in found)
        rows = Rows(weighted, prefix=b"a", comments=b"c", high=high, either_base=vertices is not None)
    columns = read_rows(source, rows, line or 0, source.device)
    if vertices is None and not columns.count:
        raise source.error("has neither a problem line nor an arc")
    check_lines(source, columns, promised, "edges" if kind == b"tw" else "arcs", line, "problem line")
    return _arcs(source, columns, rows, vertices, edges=kind == b"tw")


def _problem(source: Source, line: int, fields: list[bytes]) -> tuple[bytes, int, int]:
    """Return kind, vertices and lines promised by a problem line."""
    if len(fields) != 4 or fields[1] not in (b"sp", b"tw"):
        what = shown(b" ".join(fields))
        raise source.error(f"the problem line {what} is neither 'p sp N M' nor 'p tw N M'", "convert it", line)
    vertices = header_count(source, fields[2], "number of vertices", line)
    check_vertices(source, vertices, line)
    return fields[1], vertices, header_count(source, fields[3], "number of arcs", line)


def _arcs(source: Source, columns: Columns, rows: Rows, vertices: int | None, *, edges: bool) -> ArcList:
    base = 0 if columns.low == 0 else 1
    if vertices is None:
        vertices = columns.high + 1 - base
        check_vertices(source, vertices)
    elif columns.high - base >= vertices:
        # Both 0 and n occur: say at which line.
        found = peek(source.blocks(PEEK_BYTES), b"c", 1)
        read_rows(source, replace(rows, low=base, high=vertices - 1 + base, either_base=False), found[0][0])
    return columns.arcs(vertices, base, directed=False if edges else None, one_sided=edges)


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write ``p sp`` and a line for every arc, both arcs of an undirected edge; InputError on real weights."""
    integer_weights(graph, "DIMACS .gr")
    stream.write(f"p sp {graph.vertices} {graph.arcs}\n".encode())
    write_rows(stream, graph, base=1, prefix="a")


def read_sources(path: str) -> list[int]:
    """Return the vertices, as the graph's file calls them, from which a ``.ss`` or ``.p2p`` file asks for paths.

    The lines are ``s ID`` or ``q SOURCE TARGET``, of which each source counts once; GraphFormatError on any other.
    """
    with Source(path) as source:
        found: dict[int, None] = {}
        promised, lines = None, 0
        for number, line in data_lines(source.blocks(), b"c"):
            words = words_of(line)
            if words[0] == b"p":
                if words[1:2] == [b"aux"]:
                    promised = header_count(source, words[-1], "number of lines", number)
                continue
            lines += 1
            if len(words) != {b"s": 2, b"q": 3}.get(words[0]):
                what = f"{shown(b' '.join(words))} is neither 's ID' nor 'q SOURCE TARGET'"
                raise source.error(what, "mend that line", line=number)
            try:
                found.setdefault(integer(words[1], "vertex id"))
            except ValueError as error:
                raise source.error(str(error), "mend that line", line=number) from None
        if promised not in (None, lines):
            raise source.error(f"promises {promised} lines, and has {lines}")
        if not found:
            raise source.error("names no source", "give lines of the form 's ID'")
        return list(found)


FORMAT = Format(
    name="dimacs",
    title="DIMACS or PACE .gr",
    extensions=(".gr", ".dimacs"),
    read=read,
    write=write,
    hint=rb"\A\s*[acp]\s",
    sniff=sniff,
    ids="from 1",
)
