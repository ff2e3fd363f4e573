"""Write arcs as lines of numbers, by pyarrow's CSV writer, about a million at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph

_CHUNK = 1 << 20


def arc_chunks(graph: CSRGraph) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]]:
    """Yield tails, heads and weights of the arcs in order, in pieces of up to 2^20."""
    for start in range(0, graph.arcs, _CHUNK):
        stop = min(start + _CHUNK, graph.arcs)
        first = int(np.searchsorted(graph.offsets, start, "right")) - 1
        last = int(np.searchsorted(graph.offsets, stop, "left"))
        bounds = np.clip(graph.offsets[first : last + 1], start, stop)
        tails = np.repeat(np.arange(first, last, dtype=np.int64), np.diff(bounds))
        yield tails, graph.targets[start:stop].astype(np.int64), graph.weights[start:stop]


def write_rows(
    stream: IO[bytes],
    graph: CSRGraph,
    *,
    base: int = 0,
    names: NDArray[np.int64] | None = None,
    prefix: str = "",
    delimiter: str = " ",
    weights: bool = True,
    lower: bool = False,
) -> None:
    """Write a line per arc: [prefix] tail head [weight].

    Args:
        stream: where to.
        graph: the graph.
        base: the number of the first vertex.
        names: (n,) what to call the vertices instead, ascending, or None.
        prefix: a word to begin each line with.
        delimiter: what separates fields.
        weights: write them.
        lower: write only arcs to a smaller vertex, that is each edge of an undirected graph once.
    """
    import pyarrow as pa
    from pyarrow import csv

    options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    for tails, heads, values in arc_chunks(graph):
        if lower:
            keep = heads < tails
            tails, heads, values = tails[keep], heads[keep], values[keep]
        columns = (
            {"tail": tails + base, "head": heads + base}
            if names is None
            else {"tail": names[tails], "head": names[heads]}
        )
        if weights:
            # A float32 is written as the float64 it equals, so that reading gives the same number back.
            columns["weight"] = values.astype(np.float64) if values.dtype.kind == "f" else values
        if prefix:
            columns = {"prefix": pa.repeat(prefix, len(tails)), **columns}
        csv.write_csv(pa.table(columns), stream, options)
