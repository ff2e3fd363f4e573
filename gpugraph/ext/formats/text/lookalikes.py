"""Texts that only look like a list of edges, as matrices and adjacency lists do, refused by their name."""

import re

from gpugraph.ext.formats.text.list_head import WHOLE, ListHead, is_number, statement
from gpugraph.graph.input_file import Source


def refuse_lookalike(source: Source, head: ListHead) -> None:
    """Raise GraphFormatError for a matrix or an adjacency list that would be taken for a list of edges."""
    rows = [list(head.titles), *head.rows] if head.titles else head.rows
    if source.extension != ".wel" and statement(source).edges is None:  # which say that it is a list
        _refuse_matrix(source, rows, head)
    broken = [next((word for word in row if _is_open(word)), "") for row in head.rows]
    if broken and all(broken):
        remedy = "write 'u v' or 'u v weight' a line, without brackets; --columns takes them as names"
        raise source.error(
            f"each line has a bracket that does not close in its field: {broken[0]!r}", remedy, head.line
        )
    _refuse_tgf(source, head)
    if source.head.lstrip()[:1] != b"#":
        return
    text = source.head.decode("utf-8", "replace")
    lines = [line.split() for line in text.split("\n") if line.strip()]
    named = [len(line) == 2 and line[0] == "#" for line in lines]
    between = [is_named for is_named, line in zip(named, lines, strict=True) if line[0][:1] == "#"]
    numbered = bool(lines) and named[0] and WHOLE.fullmatch(lines[0][1]) is not None
    if lines and named[0] and all(between) and (numbered or sum(named) > 1) and all(len(line) <= 2 for line in lines):
        remedy = (
            "write its edges, 'u v weight' a line (igraph: write_ncol); --input-format edgelist if '#' is a comment"
        )
        raise source.error("looks like LGL, where '# u' goes before the neighbours of u", remedy, line=1)


def _is_open(word: str) -> bool:
    return any(word.count(begin) != word.count(end) for begin, end in ("()", "[]", "{}"))


def _refuse_tgf(source: Source, head: ListHead) -> None:
    """Refuse a list of vertices, a line ``#``, and edges between them."""
    above, *below = re.split(rb"(?m)^#[ \t\r]*$", source.head, maxsplit=1)
    vertices, edges = (
        [line.split() for line in part.split(b"\n") if line.strip()] for part in (above, *(below or [b""]))
    )
    if below and vertices and {end for line in edges for end in line[:2]} <= {line[0] for line in vertices}:
        remedy = "write the lines behind '#' alone; --input-format edgelist if '#' is a comment"
        raise source.error("looks like TGF, where '#' goes between vertices and edges", remedy, head.line)


def _refuse_matrix(source: Source, rows: list[list[str]], head: ListHead) -> None:
    """Refuse rows that are a square of numbers, or have the same names on top and at the left."""
    remedy = "make a sparse matrix of it and save that: scipy.sparse.save_npz('m.npz', matrix), or scipy.io.mmwrite"
    if len(rows) > 2 and len(rows[0]) > 2:
        top = rows[0][1:] if len(rows[0]) == len(rows[1]) else rows[0]
        left = [row[0] for row in rows[1:]]
        cells = [word for row in rows[1:] for word in row[1:] if word]
        same = (
            (top is rows[0] or not is_number(rows[0][0]))
            and left == top[: len(left)]
            and (not head.whole or len(left) == len(top))
        )
        if same and len(set(top)) == len(top) and all(map(is_number, cells)):
            raise source.error("looks like a matrix with the names of its rows and columns", remedy, line=head.line)
    size = len(head.rows)
    if head.titles or not head.whole or size < 3 or any(len(row) != size for row in head.rows):
        return
    if not all(is_number(word) for row in head.rows for word in row):
        return
    square = [[float(word) for word in row] for row in head.rows]
    diagonal = any(square[i][i] for i in range(size))
    if size > 3 or (not diagonal and all(square[i][j] == square[j][i] for i in range(size) for j in range(i))):
        way = "" if size > 3 else "; --input-format edgelist if its lines are edges"
        raise source.error(f"looks like a matrix of {size} rows and columns", remedy + way, line=head.line)
