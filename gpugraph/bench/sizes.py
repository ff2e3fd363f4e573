"""How large a graph or an array will be, before it is made or read: for order, memory, prices, names of series."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache

from gpugraph.errors import InputError

TEXT_BYTES_PER_ARC = 12
"""About what a line of an edge list takes: two ids and a weight."""

COMPRESSED = 4
"""About how much smaller a compressed list of edges is."""


@dataclass(frozen=True)
class GraphSize:
    """What is known of a graph beforehand.

    Attributes:
        vertices, arcs: exact for a spec's vertices and a .csr, else about.
        weight_bytes: of one weight, or of one element.
        exact: both counts are those of the graph, or an upper bound.
        making_bytes: of host memory at the peak of making or reading it.
        is_array: it is an array to be scanned: vertices and arcs are both its elements.
        head_bytes: of an array, what the head of a segment takes for each element.
    """

    vertices: int
    arcs: int
    weight_bytes: int
    exact: bool
    making_bytes: int
    is_array: bool = False
    head_bytes: int = 0

    @property
    def graph_bytes(self) -> int:
        """Bytes of the graph's arrays on the host, or of the array's."""
        if self.is_array:
            return self.arcs * (self.weight_bytes + self.head_bytes)
        return 8 * (self.vertices + 1) + self.arcs * ((4 if self.vertices < 2**31 else 8) + self.weight_bytes)


@lru_cache(maxsize=4096)
def size_of(graph: str, weights: str = "file") -> GraphSize:
    """Return the size of what a file or a spec will give.

    Raises:
        InputError: a bad spec, no such file, or a damaged .csr.
    """
    from gpugraph.graph.spec import is_spec, parse_spec

    if is_array(graph):
        return _size_of_array(graph)
    if not os.path.exists(graph) and is_spec(graph):
        import numpy as np

        spec = parse_spec(graph)
        word = 4 if weights == "unit" else np.dtype(spec.weights.dtype).itemsize
        return GraphSize(spec.vertices, spec.arcs, word, True, spec.estimate_bytes())
    from gpugraph.graph.load import is_graph_file, load_file

    if not os.path.isfile(graph):
        what = "there is no such file" if is_graph_file(graph) else "is neither a file nor a graph spec"
        raise InputError(what, where=graph, remedy="name a file or a spec such as rmat:20")
    size = os.path.getsize(graph)
    if graph.endswith(".csr"):
        csr = load_file(graph, check=False)  # only mapped
        arrays = csr.offsets.nbytes + csr.targets.nbytes + csr.weights.nbytes
        return GraphSize(csr.vertices, csr.arcs, csr.weights.itemsize, True, arrays)
    arcs = size // TEXT_BYTES_PER_ARC * (COMPRESSED if re.search(r"\.(gz|bz2|xz|zst)$", graph) else 1)
    return GraphSize(max(arcs // 16, 1), arcs, 4, False, arcs * 32)


def is_array(text: str) -> bool:
    """Tell whether a text names an array to be scanned, and no graph."""
    return text.startswith("array:") or text.endswith(".npy")


def _size_of_array(text: str) -> GraphSize:
    from gpugraph.problems.scan.array import shape_of

    elements, dtype, segmented = shape_of(text)
    making = elements * (dtype.itemsize + segmented)
    return GraphSize(elements, elements, dtype.itemsize, True, making, is_array=True, head_bytes=int(segmented))


@lru_cache(maxsize=4096)
def series_of(graph: str) -> str:
    """Return the graph with what makes it large left open: ``rmat:{scale},ef=8``; a file's own name."""
    if graph.startswith("array:") and "file=" not in graph:
        return re.sub(r"(?<=[:,])(n|size)=[^,]+", r"\1={\1}", graph)
    from gpugraph.graph.families import FAMILIES
    from gpugraph.graph.spec import is_spec, parse_spec

    if os.path.exists(graph) or not is_spec(graph):
        return os.path.basename(graph)
    text = parse_spec(graph).text
    family = FAMILIES[text.partition(":")[0]]
    if family.positional:
        open_ = "x".join(f"{{{key}}}" for key in family.positional)
        head, _, tail = text.partition(":")
        first, comma, rest = tail.partition(",")
        kept = f"{comma}{rest}" if "=" not in first else f",{tail}"
        return f"{head}:{open_}{kept}"
    return re.sub(r"(?<=[:,])n=\d+", "n={n}", text)
