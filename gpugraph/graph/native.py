"""gpugraph's own ``.csr``: arrays that are mapped, not read.

Layout, little-endian::

      0  magic "GPUGRAPH"          8 bytes
      8  version = 1               uint32
     12  flags: bit 0 directed     uint32
     16  offset dtype code         uint8     (2 = int64)
     17  target dtype code         uint8     (1 = int32, 2 = int64)
     18  weight dtype code         uint8     (1 int32, 2 int64, 3 uint32, 4 uint64, 5 float32, 6 float64)
     19  zero                      5 bytes
     24  vertices n                uint64
     32  arcs                      uint64
     40  digest (see digest.py)    16 bytes
     56  zero                      8 bytes
     64  offsets (n+1,), targets (arcs,), weights (arcs,), each from the next multiple of 64 on

The file ends with the last weight's byte.  Opening checks the header and the size; ``check_structure`` checks
the rest, in parallel, before any algorithm runs.
"""

from __future__ import annotations

import struct

import numpy as np

from gpugraph.graph.csr import CSRGraph, target_dtype
from gpugraph.graph.input_file import Source

TITLE = "gpugraph .csr"
MAGIC = b"GPUGRAPH"
VERSION = 1
HEADER = struct.Struct("<8sIIBBB5xQQ16s8x")
CODES = {1: "<i4", 2: "<i8", 3: "<u4", 4: "<u8", 5: "<f4", 6: "<f8"}


def _aligned(offset: int) -> int:
    return -(-offset // 64) * 64


def layout(vertices: int, arcs: int, target_size: int, weight_size: int) -> tuple[int, int, int, int]:
    """Return where offsets, targets and weights begin and where the file ends."""
    offsets = HEADER.size
    targets = _aligned(offsets + 8 * (vertices + 1))
    weights = _aligned(targets + arcs * target_size)
    return offsets, targets, weights, weights + arcs * weight_size


def read(source: Source) -> CSRGraph:
    """Map a ``.csr`` file.  Raises GraphFormatError if header and size do not fit; no more is checked."""
    data = source.data
    if len(data) < HEADER.size:
        raise source.error(f"cut short in its header: {len(data)} of {HEADER.size} bytes")
    header = data[: HEADER.size].tobytes()
    magic, version, flags, offset_code, target_code, weight_code, vertices, arcs, digest = HEADER.unpack(header)
    if magic != MAGIC:
        raise source.error("does not begin with GPUGRAPH, so it is no .csr of gpugraph")
    if version != VERSION:
        raise source.error(f"is a .csr of version {version}; this gpugraph reads version {VERSION}", "update gpugraph")
    if flags > 1 or offset_code != 2 or target_code not in (1, 2) or weight_code not in CODES:
        raise source.error("damaged: unknown flags or dtypes in the header")
    if np.dtype(CODES[target_code]) != target_dtype(vertices):
        raise source.error(f"damaged: targets of {CODES[target_code][1:]} do not belong to {vertices} vertices")
    sizes = np.dtype(CODES[target_code]).itemsize, np.dtype(CODES[weight_code]).itemsize
    at_offsets, at_targets, at_weights, end = layout(vertices, arcs, *sizes)
    source.check_size(end, f"{vertices} vertices and {arcs} arcs")
    directed = bool(flags & 1)
    if not directed and arcs % 2:
        raise source.error(f"damaged: undirected, but with an odd number of arcs, {arcs}")
    return CSRGraph(
        offsets=source.section(at_offsets, vertices + 1, "<i8"),
        targets=source.section(at_targets, arcs, CODES[target_code]),
        weights=source.section(at_weights, arcs, CODES[weight_code]),
        directed=directed,
        source=source.path,
        stored_digest=digest.hex(),
        mapped=source.mapped,
    )
