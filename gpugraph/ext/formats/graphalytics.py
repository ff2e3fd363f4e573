"""LDBC Graphalytics: vertices in ``NAME.v``, edges in ``NAME.e``, and in ``NAME.properties`` what they are.

::

    graph.NAME.vertex-file = NAME.v                 a vertex id a line
    graph.NAME.edge-file = NAME.e                   u v, or u v weight, a line; each undirected edge once
    graph.NAME.meta.vertices = 10
    graph.NAME.meta.edges = 17
    graph.NAME.directed = true
    graph.NAME.edge-properties.names = weight       none: all weigh 1
    graph.NAME.edge-properties.types = real         or integer
    graph.NAME.sssp.source-vertex = 6

Any of the three names the graph; without the properties it is not known whether it is directed.  Ids are any whole
numbers of 64 bits from 0 on.  Reference outputs beside it, ``NAME-SSSP`` and ``NAME-WCC``, go with the graph.

Source: Iosup et al. 2016, LDBC Graphalytics, and its specification, section 2.2.2.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compression import SUFFIXES
from gpugraph.base.errors import GraphFormatError
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import check_vertices
from gpugraph.ext.formats.text.lines import data_lines, integer, peek, words_of
from gpugraph.ext.formats.text.number_lines import Rows
from gpugraph.ext.formats.text.rows import read_rows
from gpugraph.ext.formats.whole_numbers import whole_numbers
from gpugraph.graph.build import ArcList
from gpugraph.graph.csr import Answer, CSRGraph, target_dtype
from gpugraph.graph.input_file import PEEK_BYTES, Source

T = TypeVar("T")
_ANSWERS = {"SSSP": "sssp.source-vertex", "WCC": None}
"""Algorithm of Graphalytics → the property that says where it starts."""
_LINE = re.compile(
    rb"graph\.(.+?)\.((?:vertex-file|edge-file|meta|directed|edge-properties|\w+\.source-vertex)[\w.-]*)$"
)
_MOST_DENSE = 8
"""So many times as many ids as vertices are looked up in a table; sparser ones are searched for."""


@dataclass(frozen=True)
class _Said:
    """What the properties say, each with its line."""

    values: dict[str, tuple[str, int]]
    path: str

    def text(self, key: str) -> str | None:
        return self.values[key][0] if key in self.values else None

    def count(self, key: str) -> int | None:
        return self._parsed(key, int, "a whole number")

    def flag(self, key: str) -> bool | None:
        known = {"true": True, "false": False}
        return self._parsed(key, lambda text: known[text.lower()], "true or false")

    def _parsed(self, key: str, parse: Callable[[str], T], noun: str) -> T | None:
        if key not in self.values:
            return None
        text, line = self.values[key]
        try:
            return parse(text)
        except (ValueError, KeyError):
            raise GraphFormatError(
                f"{key} is '{text[:50]}', not {noun}", path=self.path, line=line, remedy="mend that line"
            ) from None


def belongs(source: Source) -> bool:
    """True if a file of edges or vertices has the other beside it."""
    other = {".e": ".v", ".v": ".e"}.get(source.extension)
    return other is not None and _beside(source.path, other) is not None


def read(source: Source) -> ArcList:
    """Read a graph by any of its files.  Raises GraphFormatError if one is missing, or they contradict each other."""
    path = _beside(source.path, ".properties")
    said = _properties(source if source.extension == ".properties" else Source(path) if path else None)
    files = {kind: _file(source, said, kind) for kind in ("vertex-file", "edge-file")}
    with Source(files["vertex-file"]) as vertices:
        ids = _ids(vertices, said)
    directed, weighted = said.flag("directed"), bool(said.text("edge-properties.names"))
    with Source(files["edge-file"], source.progress) as edges:
        tails, heads, weights = _edges(edges, said, ids, weighted if said.values else None)
    names = None if len(ids) and ids[0] == 0 and ids[-1] == len(ids) - 1 else ids
    answers = {}  # one that starts somewhere only where the properties say where
    for name, start in _ANSWERS.items():
        output = Path(f"{_stem(source.path)}-{name}")
        if output.is_file() and (start is None or start in said.values):
            answers[name] = Answer(output, None if start is None else said.count(start))
    undirected = directed is False
    return ArcList(tails, heads, weights, len(ids), directed, undirected, vertex_names=names, answers=answers)


def published_values(graph: CSRGraph, answer: Answer, dtype: str) -> NDArray[Any]:
    """Return what a reference output of LDBC Graphalytics says of each vertex, (n,) of ``"int64"`` or ``"float64"``.

    Its lines are ``ID VALUE``, in any order.  Raises GraphFormatError for a bad line, or if it has not each of the
    graph's ids once.
    """
    ids, values = [np.zeros(0, np.int64)], [np.zeros(0, dtype)]
    with Source(answer.path) as source:
        for first, block in source.blocks():
            rows = [line.split() for line in block.splitlines() if line.strip()]
            try:
                if b"_" in block or any(len(row) != 2 for row in rows):
                    raise ValueError
                ids.append(np.array([row[0] for row in rows], "S").astype(np.int64))
                values.append(np.array([row[1] for row in rows], "S").astype(dtype))
            except (ValueError, OverflowError):
                what = f"the lines from {first} on are not all 'ID VALUE' with whole ids and {dtype} values"
                raise GraphFormatError(what, path=answer.path, remedy="fetch it again") from None
    names = np.arange(graph.vertices) if graph.vertex_names is None else graph.vertex_names
    found = np.concatenate(ids)
    order = np.argsort(found, kind="stable")
    if not np.array_equal(found[order], names):
        what = f"its {len(found)} ids are not those of the graph's {graph.vertices} vertices"
        raise GraphFormatError(what, path=answer.path, remedy="fetch it again")
    ordered: NDArray[Any] = np.concatenate(values)[order]
    return ordered


def _stem(path: str) -> str:
    """Return a path without the endings of its compression and its kind."""
    stem, suffix = os.path.splitext(path)
    return os.path.splitext(stem)[0] if suffix.lower() in SUFFIXES else stem


def _beside(path: str, ending: str) -> str | None:
    """Return the file of the same graph with another ending, compressed or not, or None."""
    names = (f"{_stem(path)}{ending}{suffix}" for suffix in ("", *SUFFIXES))
    return next((name for name in names if os.path.isfile(name)), None)


def _properties(source: Source | None) -> _Said:
    """Return what the properties say of the one graph that they describe; nothing where there are none."""
    if source is None:
        return _Said({}, "")
    values: dict[str, tuple[str, int]] = {}
    named: set[bytes] = set()
    with source:
        for number, line in data_lines(source.blocks(), b"#!"):
            key, equals, value = line.partition(b"=")
            if equals and (match := _LINE.match(key.strip())):
                named.add(match[1])
                values[match[2].decode("utf-8", "replace")] = value.strip().decode("utf-8", "replace"), number
    if len(named) != 1:
        what = "describes several graphs" if named else "describes no graph: it lacks lines of graph.NAME.…"
        raise source.error(what, "give the properties of one Graphalytics graph")
    return _Said(values, source.path)


def _file(source: Source, said: _Said, kind: str) -> str:
    """Return the path of the file of vertices or of edges: the one that is named, else the one beside."""
    ending = {"vertex-file": ".v", "edge-file": ".e"}[kind]
    if source.extension == ending:
        return source.path
    name = said.text(kind)
    folder = os.path.dirname(source.path)
    if name and os.path.isfile(os.path.join(folder, os.path.basename(name))):
        return os.path.join(folder, os.path.basename(name))
    found = _beside(source.path, ending)
    if found is None:
        missing = os.path.basename(name or f"{_stem(source.path)}{ending}")
        raise source.error(f"its file {missing} is not beside it", "put it there")
    return found


def _ids(source: Source, said: _Said) -> NDArray[np.int64]:
    """Return the vertex ids, ascending."""
    parts = []
    for first, block in source.blocks():
        found = whole_numbers(block, b"#")
        if found is not None and (found[0] <= 1).all():
            parts.append(found[1])
            continue
        numbers = []
        for number, line in data_lines([(first, block)], b"#"):
            try:
                one = integer(words_of(line)[0], "vertex id")  # what follows is the vertex' properties
            except ValueError as error:
                raise source.error(str(error), "mend that line", line=number) from None
            if not 0 <= one < 2**63:
                what = f"a negative vertex id: {one}" if one < 0 else f"the vertex id {one} needs more than 63 bits"
                raise source.error(what, "renumber them", line=number)
            numbers.append(one)
        parts.append(np.array(numbers, np.int64))
        source.require(16 * sum(map(len, parts)))
    ids = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    if len(ids) and int(ids.min()) < 0:
        least = int(ids.min())
        raise source.error(f"a negative vertex id: {least}", "renumber them", line=_lines_of(source, least)[0])
    if (ids[1:] <= ids[:-1]).any():
        ids = np.sort(ids)
        twice = ids[1:][ids[1:] == ids[:-1]]
        if len(twice):
            second = _lines_of(source, int(twice[0]))[1]
            raise source.error(f"lists the vertex {twice[0]} twice", "leave that line out", line=second)
    _check_count(said, "meta.vertices", len(ids), "vertices", source.path)
    check_vertices(source, len(ids), remedy="use a machine with more")
    return ids


def _lines_of(source: Source, wanted: int) -> list[int]:
    """Return the lines of a vertex."""
    lines = data_lines(source.blocks(), b"#")
    return [number for number, line in lines if integer(words_of(line)[0], "vertex id") == wanted]


def _edges(
    source: Source, said: _Said, ids: NDArray[np.int64], weighted: bool | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Return tails and heads as vertex numbers, and the weights."""
    found = peek(source.blocks(PEEK_BYTES), b"#", 1)
    width = len(found[0][1]) if found else 2
    if weighted is None:
        weighted = width == 3
    types = (said.text("edge-properties.types") or "").lower()
    rows = Rows(weighted, comments=b"#", real=types == "real")
    columns = read_rows(source, rows)
    _check_count(said, "meta.edges", columns.count, "edges", source.path)
    weights = columns.all_weights()
    tails, heads = columns.ids()
    dtype = target_dtype(len(ids))
    table = None
    if len(ids) and int(ids[-1]) < _MOST_DENSE * len(ids) + 1024:
        table = np.full(int(ids[-1]) + 1, -1, dtype)
        table[ids] = np.arange(len(ids), dtype=dtype)
    numbers = [_numbered(source, side, ids, table, dtype) for side in (tails, heads)]
    return numbers[0], numbers[1], weights


def _numbered(
    source: Source, named: NDArray[Any], ids: NDArray[np.int64], table: NDArray[Any] | None, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return the vertex numbers of ids."""
    if table is not None:
        inside = named < len(table)
        numbers = table[np.where(inside, named, 0)] if not inside.all() else table[named]
        bad = np.flatnonzero(~inside | (numbers < 0))
    else:
        numbers = np.searchsorted(ids, named).astype(dtype)
        bad = np.flatnonzero(np.append(ids, -1)[numbers] != named)
    if len(bad):
        lines = [number for number, _ in data_lines(source.blocks(), b"#")]
        what = f"the vertex {named[bad[0]]} is not in the file of vertices"
        raise source.error(what, "mend that line", lines[int(bad[0])])
    return numbers


def _check_count(said: _Said, key: str, found: int, noun: str, path: str) -> None:
    promised = said.count(key)
    if promised not in (None, found):
        what = f"lists {found} {noun}, the properties promise {promised}"
        raise GraphFormatError(what, path=path, remedy="fetch it again")


FORMAT = Format(
    name="graphalytics",
    title="LDBC Graphalytics",
    extensions=(".properties", ".v"),
    read=read,
    shared=(".e", ".v"),
    fits=belongs,
    ids="any",
)
