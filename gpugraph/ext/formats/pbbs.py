"""PBBS adjacency graph ``.adj``: text, a number a line, with or without weights.

Layout: the word ``AdjacencyGraph`` or ``WeightedAdjacencyGraph``, vertices n, arcs, the *first* arc of each vertex
(n,), targets (arcs,), then the weights (arcs,) of a weighted one.

Source: Shun, Blelloch et al. 2012, The Problem Based Benchmark Suite; its page on file formats.
"""

from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GraphFormatError
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import arcs_of_rows, check_vertices
from gpugraph.ext.formats.text.columns import rounded_weights, wide_weights
from gpugraph.ext.formats.text.lines import INTEGER
from gpugraph.ext.formats.text.rows import weight_of
from gpugraph.graph.build import ArcList, narrow_weights
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import Source

_HEADS = {b"AdjacencyGraph": False, b"WeightedAdjacencyGraph": True}
_CHUNK = 1 << 20
_REMEDY = "correct the word, or write the file again"


def sniff(head: bytes) -> bool:
    """True if the first word is one of the format's."""
    return head[:64].split(None, 1)[:1] in [[word] for word in _HEADS]


def read(source: Source) -> ArcList:
    """Read either variant; real weights are float64.  Raises GraphFormatError if it is damaged."""
    content = b"".join(source.chunks()).removeprefix(b"\xef\xbb\xbf")
    words = content.split()
    if not words or words[0] not in _HEADS:
        raise source.error("does not begin with AdjacencyGraph or WeightedAdjacencyGraph", line=1)
    for mark in (b"_", b"\0"):  # which NumPy passes over, between digits and at the end
        if mark in content:
            raise _no_number(source, words, next(i for i, word in enumerate(words) if mark in word), "number")
    weighted = _HEADS[words[0]]
    if len(words) < 3:
        raise source.error("ends before its numbers of vertices and arcs")
    n, arcs = _numbers(source, words, 1, 3).tolist()
    if arcs < 0:
        raise source.error(f"a negative number of arcs: {arcs}", "correct the number")
    check_vertices(source, n)
    expected = 3 + n + arcs * (1 + weighted)
    if len(words) != expected:
        raise source.error(f"{n} vertices and {arcs} arcs take {expected} words, the file has {len(words)}")
    offsets = np.append(_numbers(source, words, 3, 3 + n), arcs)
    targets = _numbers(source, words, 3 + n, 3 + n + arcs)
    weights = _numbers(source, words, 3 + n + arcs, expected, reals=True) if weighted else None
    if weights is not None and weights.dtype.kind != "f":
        weights = narrow_weights(weights)
    return arcs_of_rows(source, offsets, targets, weights)


def _numbers(source: Source, words: list[bytes], start: int, stop: int, *, reals: bool = False) -> NDArray[Any]:
    """Return words as int64, or as uint64 or float64 where they may be and have to."""
    part = np.array(words[start:stop] or [], "S")
    for dtype in (np.int64, np.uint64, np.float64) if reals else (np.int64,):
        try:
            numbers: NDArray[Any] = part.astype(dtype)
        except (ValueError, OverflowError):
            continue
        if dtype is np.float64:
            _check_large(source, words, start, numbers)
        return numbers
    for place in range(start, stop):
        try:
            part[place - start : place - start + 1].astype(np.float64 if reals else np.int64)
        except (ValueError, OverflowError):
            break
    raise _no_number(source, words, place, "number" if reals else "integer")


def _no_number(source: Source, words: list[bytes], place: int, kind: str) -> GraphFormatError:
    """Return the error for a word that does not spell a number."""
    word = words[place][:40].decode("utf-8", "replace")
    return source.error(f"word {place + 1}, '{word}', is no {kind}", _REMEDY)


def _check_large(source: Source, words: list[bytes], start: int, numbers: NDArray[np.float64]) -> None:
    """Refuse weights that a double rounds though they are whole, or cannot hold."""
    rounded = False
    for i in np.flatnonzero(~(np.abs(numbers) < 2.0**53)):
        try:
            value = weight_of(words[start + i])
        except ValueError as error:
            raise source.error(f"word {start + i + 1}: {error}", _REMEDY) from None
        rounded |= isinstance(value, int) and int(float(value)) != value
    if all(map(INTEGER.match, words[start : start + len(numbers)])):
        raise wide_weights(source.path)
    if rounded:
        raise rounded_weights(source.path)


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write the weighted variant."""
    stream.write(f"WeightedAdjacencyGraph\n{graph.vertices}\n{graph.arcs}\n".encode())
    for array in (graph.offsets[:-1], graph.targets, graph.weights):
        if array.dtype == np.float32:
            array = array.astype(np.float64)  # so that reading gives the same number back
        for start in range(0, len(array), _CHUNK):
            stream.write(("\n".join(map(str, array[start : start + _CHUNK].tolist())) + "\n").encode())


FORMAT = Format(
    name="pbbs",
    title="PBBS adjacency graph",
    extensions=(".adj",),
    read=read,
    write=write,
    hint=rb"\A\s*(?:Weighted)?AdjacencyGraph",
    sniff=sniff,
)
