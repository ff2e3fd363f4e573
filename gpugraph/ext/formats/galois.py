"""Galois binary ``.gr``, versions 1 and 2.

Layout, little-endian: uint64 version, uint64 bytes of a weight (0 for none), uint64 vertices n, uint64 arcs, uint64
*end* offsets (n,) — vertex 0 begins at 0 —, targets (arcs,) of uint32 (version 1, padded to 8 bytes) or uint64
(version 2, padded by some writers), then the weights.

Source: Nguyen, Lenharth & Pingali 2013, A Lightweight Infrastructure for Graph Analytics (its FileGraph).
"""

from typing import IO

import numpy as np

from gpugraph.base.errors import InputError
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import arcs_of_rows, integer_weights
from gpugraph.graph.build import ArcList
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import Source

_HEADER = 32
_WEIGHTS = {4: "<u4", 8: "<u8"}


def _counts(source: Source) -> tuple[int, int, int, int]:
    """Return version, bytes of a weight, vertices, arcs."""
    names = ("the version", "the size of a weight", "the number of vertices", "the number of arcs")
    version, size, vertices, arcs = (source.field(8 * i, "<u8", name) for i, name in enumerate(names))
    return version, size, vertices, arcs


def _sizes(version: int, weight: int, vertices: int, arcs: int) -> tuple[int, ...]:
    """Return the sizes the file may have: exact, and with the padding after an odd number of targets."""
    targets = (4 if version == 1 else 8) * arcs
    fixed = _HEADER + 8 * vertices + targets + weight * arcs
    if arcs % 2 == 0:
        return (fixed,)
    return (fixed + 4,) if version == 1 else (fixed, fixed + 8)


def fits(source: Source) -> bool:
    """True if the header makes sense and asks for exactly the file's size."""
    if len(source.data) < _HEADER:
        return False
    version, *counts = _counts(source)
    return version in (1, 2) and len(source.data) in _sizes(version, *counts)


def read(source: Source) -> ArcList:
    """Read version 1 or 2, without weights or with unsigned integers.  Raises GraphFormatError if it is damaged."""
    version, size, n, arcs = _counts(source)
    if version not in (1, 2):
        raise source.error(f"a Galois .gr of version {version}; versions 1 and 2 are known", "convert it")
    if size and size not in _WEIGHTS:
        raise source.error(f"weights of {size} bytes; 0, 4 and 8 are known", "convert the weights to uint32")
    source.check_size(_sizes(version, size, n, arcs), f"{n} vertices and {arcs} arcs")
    ends = source.section(_HEADER, n, "<u8")
    if n and int(ends.max()) > arcs:
        v = int(np.argmax(ends > arcs))
        raise source.error(f"damaged: the row of vertex {v} ends at {ends[v]}, but there are {arcs} arcs")
    start = _HEADER + 8 * n
    targets = source.section(start, arcs, "<u4" if version == 1 else "<u8")
    weights = None
    if size and arcs:
        at = len(source.data) - size * arcs
        weights = source.section(at, arcs, _WEIGHTS[size])
    offsets = np.concatenate([[0], ends.astype(np.int64)])
    return arcs_of_rows(source, offsets, targets, weights)


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write version 1, weights of 4 bytes, or of 8 if one needs them.  Raises InputError if it cannot hold them."""
    if graph.vertices >= 2**32:
        raise InputError("a Galois .gr file of version 1 holds fewer than 2^32 vertices", remedy="write a .csr")
    weights = integer_weights(graph, "Galois .gr")
    if len(weights) and int(weights.min()) < 0:
        raise InputError("Galois .gr holds no negative weights", remedy="change them with --reweight abs")
    size = 4 if not len(weights) or int(weights.max()) < 2**32 else 8
    stream.write(np.array([1, size, graph.vertices, graph.arcs], "<u8").tobytes())
    stream.write(graph.offsets[1:].astype("<u8").tobytes())
    stream.write(graph.targets.astype("<u4").tobytes() + b"\0\0\0\0" * (graph.arcs % 2))
    stream.write(weights.astype(_WEIGHTS[size]).tobytes())


FORMAT = Format(name="galois", title="Galois .gr", extensions=(".gr",), read=read, write=write, fits=fits, binary=True)
