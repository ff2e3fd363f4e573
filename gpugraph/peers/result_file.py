"""The file that a command writes its whole answer to, so that every edge and every distance is checked.

Text, numbers separated by spaces, tabs, commas, colons or semicolons; lines that begin with ``#`` or ``%`` and a header
of words are passed over.

========  =====================================================================================================
``mst``   an edge of the forest a line: ``u v``, whatever follows
``sssp``  the distance of each vertex in order, a line each; or ``vertex distance`` a line.  What is not listed
          has no path, nor has what is called ``inf`` or ``-1``, or as the table's ``unreached`` says
========  =====================================================================================================
"""

from __future__ import annotations

import io
import re
from collections.abc import Set
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.answers import PeerDistances, PeerForest, distances_of, forest_of_pairs
from gpugraph.peers.command import CommandPeer
from gpugraph.peers.errors import PeerThrew
from gpugraph.problems.sssp.arcs import distance_dtype, unreached

_NO_PATH = ("inf", "infinity", "-1")


def read_forest(path: Path, peer: CommandPeer, graph: CSRGraph, by: str, first: list[PeerForest]) -> PeerForest:
    """Return the forest that a file lists; ``first`` as for ``forest_of_pairs``.

    Raises:
        PeerThrew: there is no such file, or it holds no edges.
    """
    columns = _columns(path, by)
    if len(columns) < 2 and len(columns[0] if columns else ()):
        raise PeerThrew("its result file has one number a line; an edge is 'u v'", where=by)
    u, v = (
        (_whole(column, by) - peer.first_vertex for column in columns[:2]) if columns else (np.empty(0, np.int64),) * 2
    )
    return forest_of_pairs(graph, u, v, by, first)


def read_distances(path: Path, peer: CommandPeer, graph: CSRGraph, source: int, by: str) -> PeerDistances:
    """Return the distances that a file lists, as the problem holds them.

    Raises:
        PeerThrew: there is no such file, or it does not hold a distance for each vertex at most.
    """
    no_path = {*_NO_PATH, peer.unreached.lower()} - {""}
    columns = _columns(path, by, no_path)
    vertices = np.arange(len(columns[0]) if columns else 0)
    if len(columns) > 1:
        vertices = _whole(columns[0], by) - peer.first_vertex
    outside = (vertices < 0) | (vertices >= graph.vertices)
    if outside.any():
        what = f"its result file has a distance for vertex {vertices[np.argmax(outside)]}, of {graph.vertices} vertices"
        raise PeerThrew(what, where=by)
    if len(np.unique(vertices)) < len(vertices):
        raise PeerThrew("its result file has two distances for one vertex", where=by)
    own = distance_dtype(graph.weights.dtype)
    found = _distances(columns[min(1, len(columns) - 1)], no_path, own, by) if columns else np.empty(0, own)
    values = np.full(graph.vertices, unreached(found.dtype), found.dtype)
    values[vertices] = found
    return distances_of(graph, source, values, by, printed=True)


def _columns(path: Path, by: str, known: Set[str] = frozenset()) -> list[Any]:
    """Return the columns of a file as Arrow arrays of text; none of an empty one.  ``known`` words are no header."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise PeerThrew(f"it wrote no result file: {reason}", where=by, remedy="see {result} in its command") from None
    content = re.sub(rb"(?m)^[#%].*$", b"", content)
    content = re.sub(rb"(?m)^ +| +$", b"", re.sub(rb"[ \t,;:\r]+", b" ", content)).lstrip(b"\n")
    head = content.split(b"\n", 1)[0]
    if re.match(rb"[A-Za-z_\"]", head) and head.decode("utf-8", "replace").split(" ")[-1].lower() not in known:
        content = content[len(head) :].lstrip(b"\n")
    words = content.split(b"\n", 1)[0].split(b" ")
    if words == [b""]:
        return []
    names = [f"c{i}" for i in range(len(words))]
    try:
        table = csv.read_csv(
            io.BytesIO(content),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except pa.ArrowInvalid as error:
        raise PeerThrew(f"its result file cannot be read: {' '.join(str(error).split())[:200]}", where=by) from None
    return [table[name].combine_chunks() for name in names]


def _whole(column: Any, by: str) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = _cast(column, np.dtype(np.int64), by)
    return numbers


def _distances(column: Any, no_path: Set[str], own: np.dtype[Any], by: str) -> NDArray[Any]:
    """Return texts as distances of the graph's own type, or as float64 where that is how integers were printed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = pc.is_in(pc.utf8_lower(column), pa.array(sorted(no_path)))
    plain = pc.if_else(absent, "0", column)
    try:
        numbers = _cast(plain, own, by)
    except PeerThrew:
        numbers = _cast(plain, np.dtype(np.float64), by)
    numbers[absent.to_numpy(zero_copy_only=False)] = unreached(numbers.dtype)
    return numbers


def _cast(column: Any, dtype: np.dtype[Any], by: str) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return np.array(pc.cast(column, pa.from_numpy_dtype(dtype)))
    except pa.ArrowInvalid as error:
        raise PeerThrew(f"its result file holds no numbers: {' '.join(str(error).split())[:200]}", where=by) from None
