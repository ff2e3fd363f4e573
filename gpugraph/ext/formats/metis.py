"""METIS ``.graph``: a line per vertex with its neighbours.

::

    % a comment
    3 2 001          vertices, edges, format: vertex sizes | vertex weights | edge weights
    2 5 3 7          vertex 1: neighbour 2 by an edge of weight 5, neighbour 3 by one of weight 7
    1 5
    1 7

Ids count from 1, an edge is in the lines of both its ends, and an empty line is an isolated vertex.

Source: Karypis & Kumar 1998, METIS: A Software Package for Partitioning Unstructured Graphs, section 4.1.
"""

import itertools
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import check_vertices, numbered_from_one
from gpugraph.ext.formats.text.lines import after, data_lines, header_count, integer, peek
from gpugraph.ext.formats.whole_numbers import whole_numbers
from gpugraph.graph.build import ARC_BYTES, ArcList, narrow_weights
from gpugraph.graph.input_file import Block, Source

_FORMAT = re.compile(rb"[01]{1,3}\Z")
_WORD = re.compile(rb"[^ \t,\v\f]+")


def read(source: Source) -> ArcList:
    """Read an undirected graph; vertex sizes and vertex weights are passed over."""
    line, vertices, edges, before, weighted = _header(source)
    blocks = after(source.blocks(), line)
    try:
        lengths, numbers = _numbers(source, blocks)
        tails, heads, weights = _columns(lengths, numbers, vertices, before, weighted)
    except InputError:
        raise
    except ValueError:
        _diagnose(source, line, vertices, before, weighted)
        raise source.error("cannot be read as METIS", "name its format with --input-format, or correct it") from None
    loops = int((tails == heads).sum())
    if len(tails) not in (2 * edges, 2 * edges - loops, 2 * edges + loops):
        noun = "edge" if edges == 1 else "edges"
        what = f"the header promises {edges} {noun}, so {2 * edges} neighbours; the lines hold {len(tails)}"
        raise source.error(what, "fetch the file again or mend the header", line=line)
    weights = None if weights is None else narrow_weights(weights)
    return ArcList(tails, heads, weights, vertices, directed=False, vertex_names=numbered_from_one(vertices))


def _header(source: Source) -> tuple[int, int, int, int, bool]:
    """Return header line, vertices, edges, numbers before the neighbours, whether edges have weights."""
    found = peek(source.blocks(), b"%", 1)
    if not found:
        raise source.error("ends before its header", "fetch the file again")
    line, fields = found[0]
    if not 2 <= len(fields) <= 4 or (len(fields) > 2 and not _FORMAT.match(fields[2])):
        what = "the header is not 'vertices edges [format [weights a vertex]]'"
        raise source.error(what, "mend the header, or name the format with --input-format", line=line)
    vertices = header_count(source, fields[0], "number of vertices", line)
    edges = header_count(source, fields[1], "number of edges", line)
    check_vertices(source, vertices, line)
    sizes, vertex_weights, edge_weights = (fields[2] if len(fields) > 2 else b"0").zfill(3)
    per_vertex = header_count(source, fields[3], "number of weights a vertex", line) if len(fields) > 3 else 1
    before = (sizes == ord("1")) + (per_vertex if vertex_weights == ord("1") else 0)
    return line, vertices, edges, before, edge_weights == ord("1")


def _numbers(source: Source, blocks: Iterator[Block]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many numbers each line holds, and all the numbers; raise ValueError if one is no integer."""
    lengths, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for _, block in blocks:
        found = whole_numbers(block, b"%")
        if found is None:
            raise ValueError
        lengths.append(found[0])
        numbers.append(found[1])
        source.require(ARC_BYTES * sum(map(len, numbers)))
    return np.concatenate(lengths), np.concatenate(numbers)


def _columns(
    lengths: NDArray[np.int64], numbers: NDArray[np.int64], vertices: int, before: int, weighted: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
    """Return tails, heads and weights, 0-based; raise ValueError if they do not fit the header."""
    if (lengths[vertices:] != 0).any() or len(lengths) < vertices:
        raise ValueError
    lengths = lengths[:vertices]
    ends = np.cumsum(lengths)
    if before and vertices:
        if (lengths < before).any():
            raise ValueError
        keep = np.ones(len(numbers), bool)
        for i in range(before):
            keep[ends - lengths + i] = False
        numbers, lengths = numbers[keep], lengths - before
    weights = None
    if weighted:
        if (lengths % 2).any():
            raise ValueError
        numbers, weights, lengths = numbers[::2], numbers[1::2], lengths // 2
    if len(numbers) and (int(numbers.min()) < 1 or int(numbers.max()) > vertices):
        raise ValueError
    return np.repeat(np.arange(vertices), lengths), numbers - 1, weights


def _vertex_lines(source: Source, header: int) -> Iterator[tuple[int, bytes]]:
    return data_lines(after(source.blocks(), header), b"%", blank=True)


def _diagnose(source: Source, header: int, vertices: int, before: int, weighted: bool) -> None:
    """Raise the error of the first line that cannot be taken."""
    lines = number = 0
    for number, line in _vertex_lines(source, header):
        lines += 1
        try:
            _check_line(line, lines, vertices, before, weighted)
        except ValueError as error:
            raise source.error(str(error), "mend that line", line=number) from None
    if lines < vertices:
        what = f"ends after the lines of {lines} of {counted(vertices, 'vertex')}"
        raise source.error(what, "fetch the file again; an isolated vertex has an empty line", max(number, header))


def _check_line(line: bytes, lines: int, vertices: int, before: int, weighted: bool) -> None:
    """Check the ``lines``-th vertex's line word by word: it may be as long as the file.  Raises ValueError."""
    count = 0
    for count, match in enumerate(_WORD.finditer(line.rstrip(b"\r")), 1):
        if lines > vertices:
            raise ValueError(f"more lines than the {counted(vertices, 'vertex')} of the header")
        value = integer(match[0], "number")
        if count > before and (count - before - 1) % (1 + weighted) == 0 and not 1 <= value <= vertices:
            raise ValueError(f"the neighbour {value} is out of range 1..{vertices}")
        if abs(value) >= 2**63:
            raise ValueError(f"the number {value} needs more than 64 bits")
    if lines <= vertices and count < before:
        raise ValueError(f"{before} sizes and weights of the vertex are expected, found {counted(count, 'number')}")
    if lines <= vertices and weighted and (count - before) % 2:
        raise ValueError("a neighbour without the weight of its edge")


def line_of_vertex(source: Source, vertex: int) -> int:
    """Return the 1-based line with the neighbours of a 0-based vertex."""
    return next(itertools.islice(_vertex_lines(source, _header(source)[0]), vertex, None))[0]


FORMAT = Format(
    name="metis", title="METIS .graph", extensions=(".graph", ".metis"), read=read, line_of_vertex=line_of_vertex
)
