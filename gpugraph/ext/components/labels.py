"""Components: the result of the connected components problem, and the columns of its files.

The label of a vertex is the smallest vertex of its component, so that two right results are equal bit for bit.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.answer import GraphAnswer


@dataclass(frozen=True, eq=False, repr=False)
class Components(GraphAnswer):
    """The components of an undirected CSRGraph; ``labels``, (n,) int64: the smallest vertex of each vertex's own."""

    graph: CSRGraph
    labels: NDArray[np.int64]

    @classmethod
    def of(cls, graph: CSRGraph, labels: NDArray[Any]) -> "Components":
        """Return the components of labels of any width; nothing is checked."""
        if labels.dtype == np.int64 and labels.flags.c_contiguous:
            return cls(graph, labels)
        wide = np.empty(len(labels), np.int64)

        def widen(start: int, stop: int) -> None:
            wide[start:stop] = labels[start:stop]

        in_threads(widen, even_ranges(len(labels)))
        return cls(graph, wide)

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        """(components,) int64: the smallest vertex of each component, ascending."""

        def roots_of(start: int, stop: int) -> NDArray[np.int64]:
            return np.flatnonzero(self.labels[start:stop] == np.arange(start, stop)) + start

        return np.concatenate(in_threads(roots_of, even_ranges(len(self.labels))))

    @property
    def components(self) -> int:
        """The number of components; an isolated vertex is one."""
        return len(self.roots)

    @cached_property
    def largest(self) -> int:
        """The number of vertices of the largest component, 0 in a graph without vertices."""
        inside = self.labels if self.in_range else self.labels[(self.labels >= 0) & (self.labels < len(self.labels))]
        if not len(inside):
            return 0
        # One that holds half of all is the largest, and among a few hundred vertices most are then of it.
        few, times = np.unique(inside[:: max(len(inside) // 512, 1)], return_counts=True)
        likely = few[np.argmax(times)]
        ranges = even_ranges(len(inside))
        size = sum(in_threads(lambda low, high: int(np.count_nonzero(inside[low:high] == likely)), ranges))
        return size if 2 * size >= len(inside) else int(np.bincount(inside).max())

    @cached_property
    def in_range(self) -> bool:
        """Whether every label is a vertex."""
        n = len(self.labels)

        def inside(start: int, stop: int) -> bool:
            part = self.labels[start:stop]
            return bool(part.min(initial=0) >= 0 and part.max(initial=-1) < n)

        return all(in_threads(inside, even_ranges(n)))

    @cached_property
    def labels_sha256(self) -> str:
        """SHA-256 of the labels in vertex order as little-endian int64."""
        return hashlib.sha256(np.ascontiguousarray(self.labels, "<i8").data).hexdigest()

    def _title(self) -> str:
        return f"Components of {self.graph.name}"

    def _facts(self) -> list[tuple[str, Any]]:
        return [("components", self.components), ("vertices of the largest", self.largest)]

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record."""
        return {"components": self.components, "largest": self.largest, "labels_sha256": self.labels_sha256}

    def fingerprint(self) -> str:
        """Return a digest that equals another's of the same graph exactly if the labels are equal."""
        return self.labels_sha256


def label_bytes(sizes: InputSizes) -> int:
    """Return the bytes that no algorithm can do without: the rows' bounds, one arc of every vertex, one label each."""
    return sizes.index_bits // 8 * (sizes.vertices + 1) + 4 * min(sizes.vertices, sizes.arcs) + 4 * sizes.vertices
