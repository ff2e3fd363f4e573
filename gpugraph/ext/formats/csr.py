"""gpugraph's own ``.csr``, as ``gpugraph/graph/load.py`` lays it out and reads it."""

from typing import IO

import numpy as np

from gpugraph.ext.formats.base import Format
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.load import CODES, HEADER, MAGIC, VERSION, layout, read_csr


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write a graph with its digest."""
    codes = {np.dtype(dtype): code for code, dtype in CODES.items()}
    arrays = [np.ascontiguousarray(a) for a in (graph.offsets, graph.targets, graph.weights)]
    places = layout(graph.vertices, graph.arcs, graph.targets.itemsize, graph.weights.itemsize)
    stream.write(
        HEADER.pack(
            MAGIC,
            VERSION,
            int(graph.directed),
            *(codes[a.dtype] for a in arrays),
            graph.vertices,
            graph.arcs,
            bytes.fromhex(graph.digest),
        )
    )
    position = HEADER.size
    for array, start in zip(arrays, places[:3], strict=True):
        stream.write(bytes(start - position))
        stream.write(array.view(np.uint8).data)
        position = start + array.nbytes


FORMAT = Format(
    name="csr",
    title="gpugraph .csr",
    extensions=(".csr",),
    read=read_csr,
    write=write,
    hint=rb"\AGPUGRAPH",
    binary=True,
)
