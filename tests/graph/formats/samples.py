"""Small graphs as bytes of every format, laid out by hand, so that readers and writers are tested apart."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.ext.formats.known import named
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.load import load_file
from gpugraph.graph.read_options import ReadOptions

ARCS = [(0, 1, 5), (0, 2, 7), (1, 0, 5), (2, 0, 7)]
"""The arcs of the two edges 0 - 1 (5) and 0 - 2 (7) among four vertices."""

OFFSETS, TARGETS, WEIGHTS = [0, 2, 3, 4, 4], [1, 2, 0, 0], [5, 7, 5, 7]


def arcs(graph: CSRGraph) -> list[tuple[int, int, float]]:
    """Return the arcs of a graph as (tail, head, weight)."""
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    return list(zip(tails.tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True))


def load_text(folder: Path, name: str, text: str | bytes, **options: Any) -> CSRGraph:
    """Return the graph of a file with this content."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    told = {name: options.pop(name) for name in ("keep_ids", "vertices", "directed", "input_format") if name in options}
    return load_file(path, options=ReadOptions(**told), **options)


def packed(dtype: str, *values: int | float) -> bytes:
    """Return values as little-endian bytes of a dtype."""
    return np.array(values, dtype).tobytes()


def gunrock() -> bytes:
    return packed("<i4", 4, 4, 4, *OFFSETS, *TARGETS) + packed("<f4", *WEIGHTS)


def egr(width: int = 4, weighted: bool = True) -> bytes:
    return packed(f"<i{width}", 4, 4, *OFFSETS) + packed("<i4", *TARGETS, *(WEIGHTS if weighted else []))


def galois(version: int = 1, weight: int = 4) -> bytes:
    index = "<u4" if version == 1 else "<u8"
    body = packed("<u8", version, weight, 4, 4, *OFFSETS[1:]) + packed(index, *TARGETS)
    return body + (packed(f"<u{weight}", *WEIGHTS) if weight else b"")


def wsg() -> bytes:
    pairs = [x for pair in zip(TARGETS, WEIGHTS, strict=True) for x in pair]
    return struct.pack("<?qq", False, 4, 4) + packed("<i8", *OFFSETS) + packed("<i4", *pairs)


def sg(directed: bool = False) -> bytes:
    half = packed("<i8", *OFFSETS) + packed("<i4", *TARGETS)
    return struct.pack("<?qq", directed, 4, 4) + half * (1 + directed)


def written(graph: CSRGraph, name: str, extension: str) -> bytes:
    """Return what a format's writer writes."""
    stream = io.BytesIO()
    form = named(name)
    assert form.write is not None
    form.write(graph, stream, extension)
    return stream.getvalue()
