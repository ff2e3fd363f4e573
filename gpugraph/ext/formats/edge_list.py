"""Edge lists: a line per arc, ``u v`` or ``u v weight``.

Fields are separated by spaces, tabs or commas; lines that begin with ``#`` or ``%`` are comments.  The numbers
of vertices and edges may come first: ``n m``, ``n``, or ``n`` and ``m`` on lines of their own, or as SNAP
writes them, ``# Nodes: n Edges: m``.  If n is given, ids are 0..n−1 or 1..n; otherwise any non-negative integers,
which are compacted in ascending order and kept as vertex names, or kept as they are if the source says so.

In a list without weights ``n m`` looks like any edge.  Where m lines with such ids follow, either reading would be
sound, and the wrong one lose an edge or invent one: such a file is refused unless its ending (.el, .snap), a line of
column names or the name of the format (``el``, ``counted``) says which it is, or m is a large number beyond all ids,
which no edge has by chance; a note tells what it was taken for.
"""

import re
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import IO, Any

import numpy as np

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.base.quantities import counted as counted_
from gpugraph.ext.device_graphs.device_columns import DeviceColumn
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import base_note, check_vertices, is_unit, numbered_from_one
from gpugraph.ext.formats.text.columns import Columns
from gpugraph.ext.formats.text.fields import CUT
from gpugraph.ext.formats.text.lines import INTEGER, after, count_of, data_lines, header_count, peek, shown
from gpugraph.ext.formats.text.list_head import (
    Statement,
    broken_promises,
    declared,
    look,
    no_edges,
    numbered_apart,
    on_times,
    on_titles,
    statement,
    title,
)
from gpugraph.ext.formats.text.number_lines import ANY_ID, Rows
from gpugraph.ext.formats.text.rows import check_filled, check_lines, read_rows, write_rows
from gpugraph.graph.build import ArcList, arc_tails
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import PEEK_BYTES, Source

_COMMENTS = b"#%"
_PLAIN = (".el", ".snap")
"""Endings of lists that by their definition begin with an edge."""
_BY_CHANCE = 1000
"""Above so many lines no edge ends by chance in their number, and that beyond all other ids."""
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_WORD = re.compile(
    r"""\d+|(?![#%])(?!(?:nan|na|n/a|null|none|<na>|[+-]?inf(?:inity)?|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$)[^()\[\]{}"]+""",
    re.IGNORECASE,
)
"""Names that are read again as they are: no comments, no reals, none for what is missing, and no brackets."""


def looks_numeric(head: bytes) -> bool:
    """True if the first line that is no comment begins with a number: good enough for an unknown name."""
    found = peek(iter([(1, head)]), _COMMENTS, 1)
    return bool(found) and re.match(rb"[+-]?\d+\Z", found[0][1][0]) is not None


def read(source: Source, counted: bool | None = None) -> ArcList:
    """Read an edge list, ``counted`` whether its first line gives vertices and edges; None: where that is plain.

    Raises IdsAreNamesError where ids turn out to be names.
    """
    top, said = look(source), statement(source)
    if said.konect or top.titles:
        counted = False
    found = peek(after(source.blocks(PEEK_BYTES), top.behind), _COMMENTS, 3)
    separators = b",\t" if source.extension == ".tsv" else b","
    vertices, promised, skip = _counts_on_top(source, found, counted)
    if skip and counted is None:
        _refuse_unfilled(source, top.behind, skip, separators)
    named = vertices is None and source.vertices is None and not source.keep_ids
    on_top = vertices is not None or bool(said.vertices)
    if vertices is None and source.vertices is not None:
        vertices = source.vertices
        check_vertices(source, vertices, remedy="give a smaller --vertices")
    if vertices is not None and said.two_sides:
        raise source.error(f"{said.why}: two sides number their vertices apart", "leave --vertices out")
    skip = max(skip, top.behind)
    data = [(number, fields) for number, fields in found if number > skip]
    width = len(data[0][1]) if data else 2
    if width not in (2, 3):
        remedy = "say which columns to take, e.g. --columns 1,2,3, or name the format with --input-format"
        raise source.error(f"{count_of(data[0][1])}; an edge list has 'u v' or 'u v weight'", remedy, data[0][0])
    if width == 3 and counted is None and {len(row) for row in top.rows[1:]} == {2} and not skip:
        if len(top.rows[0]) == 2:
            marks = "tabs" if top.delimiter == "\t" else "commas"
            what = f"{shown(b' '.join(data[0][1]))} has blanks and {marks} between its fields"
            raise source.error(what, "separate the fields of all lines alike", data[0][0])
        remedy = "leave that line out if it counts vertices and edges; --vertices N says how many there are"
        raise source.error(f"{shown(b' '.join(data[0][1]))} is no edge 'u v' as the lines below it", remedy, data[0][0])
    high = ANY_ID if vertices is None else vertices
    rows = Rows(width == 3, high=high, separators=separators, names=named, either_base=vertices is not None)
    rows = replace(rows, words=named and bool(top.titles))
    columns = read_rows(source, rows, skip, None if said.two_sides else source.device)
    check_lines(source, columns, promised, "edges", skip, "first line")
    lines = counted_(columns.count, "line")
    on_head = (*on_titles(top), *on_times(top, 2 if width == 3 else None))
    weighs = f"column {title(top, 2)} weighs" if width == 3 else "no column weighs: every edge weighs 1"
    if not columns.count and not on_top and vertices is None:
        raise no_edges(source, bool(top.titles))
    plain = source.extension in _PLAIN or (width == 3 and source.extension == ".wel")
    plain = plain or on_top or counted is not None or vertices not in (None, columns.first[0])
    if columns.count and not plain and _looks_counted(columns, data[0][1]):
        first = shown(b" ".join(data[0][1]))
        n, others = columns.first[0], columns.count - 1
        if width == 3:
            remedy = "--input-format el if it is an edge; if not, leave that line out"
            raise source.error(f"{first} may be an edge, or numbers of vertices and edges", remedy, data[0][0])
        if others < _BY_CHANCE or not n < columns.high == others:
            remedy = "say which: --input-format el if it is an edge, --input-format counted if not"
            raise source.error(f"{first} may be an edge, or the numbers of vertices and edges", remedy, data[0][0])
        note = f"{first} on top is taken for the numbers of vertices and edges; --input-format el makes it an edge"
        arcs = read(source, counted=True)
        return replace(arcs, notes=(note, *arcs.notes))
    if vertices is None:
        arcs = _named(source, columns, said)
    else:
        arcs = _numbered(source, columns, rows, vertices, skip)
        arcs = replace(arcs, notes=(*broken_promises(replace(said, vertices=()), columns.count, 0), *arcs.notes))
    return declared(replace(arcs, listed=lines, weighs=weighs, notes=(*on_head, *arcs.notes)), said)


def _looks_counted(columns: Columns, first: list[bytes]) -> bool:
    """True if the first arc may be counts of vertices and edges: of all others, or half, with lower ids.

    With a third number, these are as well rows, columns and entries of a matrix.
    """
    n, m = columns.first
    others, low, high = columns.count - 1, columns.other_low, columns.other_high
    if len(first) == 3:
        entries = INTEGER.match(first[2]) and n == m and others == int(first[2][:20])
        if not others or not INTEGER.match(first[2]) or (others not in (m, 2 * m) and not entries):
            return False
    elif others not in (m, 2 * m):
        return False
    return high < n or (high == n and low >= 1)


def _counts_on_top(
    source: Source, found: list[tuple[int, list[bytes]]], counted: bool | None
) -> tuple[int | None, int | None, int]:
    """Return vertices and edges where the first lines tell them, and the last of these lines."""
    widths = [len(fields) for _, fields in found] + [0, 0]
    first = found[0][1][0] if found else b""
    plain = (widths[0] == 1 and not first[:1].isalpha()) or (widths[0] == 2 and widths[1] == 3 and first != b"0")
    if counted and not 1 <= widths[0] <= 2:
        line = found[0][0] if found else None
        what = "does not begin with the numbers of vertices and edges"
        raise source.error(what, "leave out --input-format counted", line)
    if counted or (counted is None and plain):
        top = 2 if widths[0] == widths[1] == 1 else 1
    else:
        return None, None, 0
    words = [(number, word) for number, fields in found[:top] for word in fields]
    counts = [
        header_count(source, word, f"number of {what}", number)
        for (number, word), what in zip(words, ("vertices", "edges"), strict=False)
    ]
    check_vertices(source, counts[0], found[0][0])
    return counts[0], counts[1] if len(counts) == 2 else None, found[top - 1][0]


def _refuse_unfilled(source: Source, behind: int, last: int, separators: bytes) -> None:
    """Refuse counts with an empty field among them, which may be an edge that lacks its weight."""
    lines = data_lines(after(source.blocks(PEEK_BYTES), behind), _COMMENTS)
    for number, line in takewhile(lambda one: one[0] <= last, lines):
        try:
            check_filled(line, separators)
        except ValueError as error:
            remedy = "mend that line; --input-format counted if it counts vertices and edges"
            raise source.error(str(error), remedy, number) from None


def _numbered(source: Source, columns: Columns, rows: Rows, vertices: int, skip: int) -> ArcList:
    """Return arcs whose ids are 0..n−1 or 1..n."""
    base = int(vertices > 0 and columns.high == vertices)
    if columns.low < base or columns.high - base >= vertices:
        # Both 0 and n occur: say at which line.
        read_rows(source, Rows(rows.weighted, low=0, high=vertices - 1), skip)
    return columns.arcs(vertices, base, notes=base_note(columns.low, columns.high, vertices))


def _named(source: Source, columns: Columns, said: Statement) -> ArcList:
    """Return arcs between ids that no first line numbers."""
    low, high, count = columns.low, columns.high, columns.count
    tails, heads = columns.ids()
    weights = columns.all_weights()
    promised = sum(said.vertices)
    notes = broken_promises(said, count, promised)
    if said.two_sides and count:
        tails, heads, note = numbered_apart(tails, heads, said)
        high, notes = int(heads.max()), (*notes, note)
    if said.konect and promised and low >= 1 and high <= promised:
        check_vertices(source, promised)
        for ids in (tails, heads):
            ids.subtract(1) if isinstance(ids, DeviceColumn) else np.subtract(ids, 1, out=ids)
        return ArcList(tails, heads, weights, promised, vertex_names=numbered_from_one(promised), notes=notes)
    vertices = promised if promised and high < promised else high + 1 if source.keep_ids else None
    if vertices is not None:
        check_vertices(source, vertices, remedy="check the ids, or use a machine with more")
        return ArcList(tails, heads, weights, vertices, notes=(*notes, *base_note(low, high, promised)))
    arcs = _compacted(tails, heads, weights, high)
    notes += broken_promises(replace(said, edges=None), count, arcs.vertices)
    absent = high + 1 - min(low, 1) - arcs.vertices
    if 0 < absent <= arcs.vertices and not said.two_sides:  # more are no numbers of vertices, but names
        notes += (
            f"{absent} of the ids {min(low, 1)} to {high} do not occur and are no vertices; --keep-ids keeps them",
        )
    return replace(arcs, notes=notes)


def _compacted(tails: Any, heads: Any, weights: Any, high: int) -> ArcList:
    """Renumber arbitrary ids in ascending order; the ids become the names unless they are 0..n−1 already."""
    if isinstance(tails, DeviceColumn):
        if high < 4 * len(tails) + (1 << 20):
            return _compacted_there(tails, heads, weights, high)
        tails, heads, weights = (column and column.on_host() for column in (tails, heads, weights))
    if high < 4 * len(tails) + (1 << 20):
        present = np.zeros(high + 1, bool)
        pieces = even_ranges(len(tails))
        for ids in (tails, heads):
            in_threads(partial(_mark, ids, present), pieces)
        if present.all():
            return ArcList(tails, heads, weights, high + 1)
        names = np.flatnonzero(present)
        number = np.cumsum(present, dtype=tails.dtype)
        for ids in (tails, heads):
            in_threads(partial(_renumber, ids, number), pieces)
        return ArcList(tails, heads, weights, len(names), vertex_names=names.astype(np.int64))
    names, numbers = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    tails, heads = numbers[: len(tails)], numbers[len(tails) :]
    return ArcList(tails, heads, weights, len(names), vertex_names=names.astype(np.int64))


def _compacted_there(tails: DeviceColumn, heads: DeviceColumn, weights: Any, high: int) -> ArcList:
    """Renumber ids that lie on a device."""
    device = tails.device
    there = device.full(high + 1, 0, np.uint8)
    for ids in (tails, heads):
        ids.mark(there)
    present = device.download(there).view(bool)
    if present.all():
        return ArcList(tails, heads, weights, high + 1)
    names = np.flatnonzero(present)
    numbers = device.upload(np.cumsum(present, dtype=np.int32) - np.int32(1))
    for ids in (tails, heads):
        ids.renumber(numbers)
    return ArcList(tails, heads, weights, len(names), vertex_names=names.astype(np.int64))


@njit
def _mark(ids: Any, present: Any, start: int, stop: int) -> None:
    """Mark the ids of [start, stop) as present; threads write the same value over each other."""
    for i in range(start, stop):
        present[ids[i]] = True


@njit
def _renumber(ids: Any, number: Any, start: int, stop: int) -> None:
    """Replace the ids of [start, stop) by their number less one."""
    for i in range(start, stop):
        ids[i] = number[ids[i]] - 1


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write a line per arc, of an undirected graph both arcs of each edge; .el leaves the weights out.

    Vertices go by their names; texts are only in a .csv or .tsv, under a line of titles.  SNAP's comment with the
    number of vertices goes on top only where the arcs do not tell it, since not every program skips comments.  Raises
    InputError if a weight or a vertex without edges would be lost, or a name would be read as something else.
    """
    weighted = extension != ".el"
    if not weighted and not is_unit(graph):
        raise InputError("a .el file holds no weights", remedy="write a .wel, or drop the weights with --reweight unit")
    names = graph.vertex_names
    seen = graph.degrees > 0
    seen[graph.targets] = True
    if names is not None and not seen.all():
        alone = names[np.argmin(seen)]
        remedy = "accept 0, 1, 2, … instead of the ids with --renumber, or write another format"
        raise InputError(f"an edge list has no line for vertex {alone}, which has no edge", remedy=remedy)
    if names is not None and names.dtype.kind == "U":
        from gpugraph.ext.results.text import write_csv

        cut = CUT.get(_DELIMITERS[extension])
        for name in names.tolist():
            whole = name.isprintable() and name == name.strip() and not (cut and cut.fullmatch(name))
            if not (_WORD.fullmatch(name) and whole):
                remedy = "rename the vertex, or leave the names out with --renumber"
                raise InputError(f"a list of edges cannot hold the name {name!r}", remedy=remedy)
        ends = {"source": names[arc_tails(graph)], "target": names[graph.targets]}
        write_csv({**ends, "weight": graph.weights}, stream, separator=_DELIMITERS[extension])
        return
    if not seen.all() or not graph.vertices or _may_look_counted(graph, extension):
        stream.write(f"# Nodes: {graph.vertices} Edges: {graph.arcs}\n".encode())
    write_rows(stream, graph, names=names, delimiter=_DELIMITERS.get(extension, " "), weights=weighted)


def _may_look_counted(graph: CSRGraph, extension: str) -> bool:
    """Tell whether the first line might be taken for numbers of vertices and edges, or three lines for a matrix."""
    if not graph.arcs or extension == ".wel":
        return False
    names, others = graph.vertex_names, graph.arcs - 1
    head = int(graph.targets[0] if names is None else names[graph.targets[0]])
    return others in (head, 2 * head, graph.weights[0]) or (others == 2 and graph.weights[2] == 0)


FORMAT = Format(
    name="edgelist",
    title="edge list",
    extensions=(".el", ".wel", ".txt", ".tsv", ".csv", ".edges", ".edgelist", ".e", ".snap", ".ncol"),
    read=read,
    write=write,
    ids="any",
)

PLAIN = replace(FORMAT, name="el", title="edge list that begins with an edge", read=partial(read, counted=False))
COUNTED = replace(
    FORMAT,
    name="counted",
    title="edge list under its numbers of vertices and edges",
    read=partial(read, counted=True),
    write=None,
)
