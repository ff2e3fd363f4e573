"""Forest: the result of the minimum spanning forest problem.

A forest is the same edge for edge whatever computed it: edges compare by (weight, smaller endpoint, larger endpoint),
so the minimum spanning forest is unique.  An edge's id is the position of its arc u→v with u < v; ids ascend as (u,
v) does.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.exact import exact_sum
from gpugraph.graph.canonical import find_arc
from gpugraph.graph.chunks import even_ranges, in_order, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.answer import GraphAnswer

_PIECE = 1 << 16
"""Edges whose ends threads look up at a time, while those before are hashed."""
_FEW = 1 << 12
"""Fewer ids are sorted sooner than looked over, and summed sooner than distributed to threads."""


def edge_endpoints(graph: CSRGraph, edges: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return tails u and heads v, (k,) int64, of arcs by position, u < v for edge ids; clipped to the graph's."""
    if graph.arcs == 0:
        return np.zeros(len(edges), np.int64), np.zeros(len(edges), np.int64)
    inside = np.clip(edges, 0, graph.arcs - 1)
    if graph.on_device is not None and graph.on_device.usable:
        u, v, _ = graph.on_device.ends_and_weights(inside)
        return u.astype(np.int64), v.astype(np.int64)
    u, v = np.empty(len(inside), np.int64), np.empty(len(inside), np.int64)
    rows = graph.offsets, graph.targets

    def look_up(start: int, stop: int) -> None:
        u[start:stop], v[start:stop] = _ends(*rows, inside[start:stop])

    in_threads(look_up, even_ranges(len(inside)))
    return u, v


def _ends(
    offsets: NDArray[np.int64], targets: NDArray[Any], positions: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return tails and heads of arcs by position, found by one thread on the host."""
    return np.searchsorted(offsets, positions, side="right") - 1, targets[positions]


def edge_weights(graph: CSRGraph, edges: NDArray[Any]) -> NDArray[Any]:
    """Return the (k,) weights of the arcs at the positions ``edges``, all inside the graph."""
    if graph.on_device is not None and graph.on_device.usable:
        return graph.on_device.ends_and_weights(edges)[2]
    weights: NDArray[Any] = graph.weights[edges]
    return weights


def total_weight(graph: CSRGraph, edges: NDArray[Any]) -> int | float:
    """Return the exact or correctly rounded sum of the weights of the arcs at the positions ``edges``, all inside."""
    if graph.weight_dtype.kind == "f":
        return exact_sum(edge_weights(graph, edges))
    if graph.on_device is not None and graph.on_device.usable:
        return graph.on_device.total(edges)
    weights = graph.weights
    if len(edges) < _FEW:
        return exact_sum(weights[edges])
    return sum(in_threads(lambda start, stop: exact_sum(weights[edges[start:stop]]), even_ranges(len(edges))))


def edge_ids(graph: CSRGraph, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.int64]:
    """Return the canonical ids, (k,) int64, of the edges {u, v} in either direction; −1 where the graph has none."""
    low = np.minimum(u, v).astype(np.int64, copy=False)
    high = np.maximum(u, v).astype(np.int64, copy=False)
    ids = np.empty(len(low), np.int64)
    in_threads(partial(find_arcs, (graph.offsets, graph.targets), (low, high), ids), even_ranges(len(low)))
    return ids


@njit
def find_arcs(rows: tuple[Any, ...], ends: tuple[Any, ...], ids: Any, start: int, stop: int) -> None:
    """Write the position of each arc tail→head of [start, stop), or −1."""
    (offsets, targets), (tails, heads) = rows, ends
    for k in range(start, stop):
        ids[k] = find_arc(offsets, targets, tails[k], heads[k])


def forest_bytes(sizes: InputSizes) -> int:
    """Return the least bytes of a forest: the graph once, an edge id for each vertex but one (many trees: too many)."""
    return sizes.nbytes + sizes.index_bits // 8 * max(min(sizes.vertices - 1, sizes.arcs // 2), 0)


@dataclass(frozen=True, eq=False, repr=False)
class Forest(GraphAnswer):
    """A spanning forest of an undirected CSRGraph.

    Attributes:
        edges: (tree_edges,) int64 canonical edge ids, ascending.
        total_weight: exact Python int, or the correctly rounded float.
        components: number of connected components, isolated vertices included.
    """

    graph: CSRGraph
    edges: NDArray[np.int64]
    total_weight: int | float
    components: int

    @classmethod
    def of(cls, graph: CSRGraph, edges: NDArray[Any]) -> "Forest":
        """Return the forest of the given canonical edge ids, in any order.

        Nothing is checked: ids outside the graph weigh nothing here, and the certificate names them.
        """
        if graph.on_device is not None and graph.on_device.usable and not (edges < 0).any():
            ascending = graph.on_device.sorted_ids(edges)
        else:
            ascending = edges.astype(np.int64)
            if len(ascending) < _FEW or (ascending[1:] < ascending[:-1]).any():
                ascending.sort()
        inside = ascending
        if len(ascending) and (ascending[0] < 0 or ascending[-1] >= graph.arcs):
            inside = ascending[np.searchsorted(ascending, 0) : np.searchsorted(ascending, graph.arcs)]
        return cls(graph, ascending, total_weight(graph, inside), graph.vertices - len(ascending))

    @property
    def weights(self) -> NDArray[Any]:
        """(tree_edges,) the edges' weights."""
        if self._kept is not None:
            return self._kept[2]
        weights: NDArray[Any] = self.graph.weights[self.edges]
        return weights

    def endpoints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the edges' endpoints (u, v): two (tree_edges,) int64 arrays, u < v, ascending by (u, v)."""
        return edge_endpoints(self.graph, self.edges) if self._kept is None else self._kept[:2]

    @property
    def _kept(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
        """Endpoints and weights, of a forest that was pickled without its graph."""
        return self.__dict__.get("_ends_and_weights")

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_ends_and_weights": (*self.endpoints(), self.weights)}

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """(n,) int64: of each vertex, the smallest vertex of its component."""
        return _labels_along(self.graph.vertices, *self.endpoints())

    @cached_property
    def edges_sha256(self) -> str:
        """SHA-256 of the pairs (u, v), u < v, ascending, as little-endian int64: u0, v0, u1, v1, …."""
        digest = hashlib.sha256()
        for part in self._pairs():
            digest.update(np.ascontiguousarray(part.astype("<i8", copy=False)).data)
        return digest.hexdigest()

    def _pairs(self) -> Iterable[NDArray[Any]]:
        """Return the pairs (u, v), (k, 2) piece by piece."""
        there, edges = self.graph.on_device, self.edges
        if self._kept is not None:
            return [np.stack(self._kept[:2], axis=1)]
        inside = not len(edges) or 0 <= edges[0] <= edges[-1] < self.graph.arcs
        if there is None or not there.usable or not inside:
            graph, places = self.graph, np.clip(edges, 0, max(self.graph.arcs - 1, 0))
            if not graph.arcs:
                return [np.zeros((len(edges), 2), np.int64)]
            rows = graph.offsets, graph.targets
            pieces = [(start, start + _PIECE) for start in range(0, len(edges), _PIECE)]
            return in_order(lambda start, stop: np.stack(_ends(*rows, places[start:stop]), axis=1), pieces)
        return there.pairs(edges)

    def _title(self) -> str:
        return f"Forest of {self.graph.name}"

    def _facts(self) -> list[tuple[str, Any]]:
        edges = ("tree edges", len(self.edges))
        return [edges, ("total weight", self.total_weight), ("components", self.components)]

    def _values(self) -> tuple[str, NDArray[Any]]:
        return "weights of the tree edges", self.weights

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record."""
        return {
            "total_weight": self.total_weight,
            "tree_edges": len(self.edges),
            "components": self.components,
            "edges_sha256": self.edges_sha256,
        }

    def fingerprint(self) -> str:
        """Return a digest that equals another forest's of the same graph exactly if the forests are equal."""
        digest = hashlib.sha256(np.ascontiguousarray(self.edges, "<i8").data)
        digest.update(f"{self.total_weight!r} {self.components}".encode())
        return digest.hexdigest()


def _labels_along(vertices: int, tails: NDArray[Any], heads: NDArray[Any]) -> NDArray[np.int64]:
    """Return (vertices,) the smallest vertex of each vertex's component, along edges {tail, head}; by SciPy."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if vertices == 0:
        return np.zeros(0, np.int64)
    ends = tails.astype(np.int32), heads.astype(np.int32)  # what SciPy before 1.16 takes
    edges = coo_array((np.ones(len(tails), bool), ends), (vertices, vertices))
    _, component = connected_components(edges, directed=False)
    _, smallest = np.unique(component, return_index=True)
    labels: NDArray[np.int64] = smallest[component].astype(np.int64, copy=False)
    return labels
