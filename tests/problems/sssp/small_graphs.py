"""Small graphs, drawn and from the zoo, and shortest paths by the book to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from tests.tiers import FULL
from tests.zoo import ZOO, has_negative_weights, zoo

SEARCHABLE = tuple(name for name in ZOO if zoo(name).vertices and not has_negative_weights(zoo(name)))

WEIGHTS: dict[str, st.SearchStrategy[Any]] = {
    "uint32": st.sampled_from([0, 0, 1, 1, 2, 3, 7, 2**32 - 1]),
    "int64": st.sampled_from([0, 1, 2, 5, 2**40, 2**40 + 1, 2**55]),
    "float32": st.sampled_from([0.0, 1e-9, 0.1, 0.2, 0.3, 1.0, 1e8, 3e38, np.inf]),
    "float64": st.sampled_from([0.0, 1e-300, 0.1, 0.2, 0.3, 1.0, 1e17, 1e308, np.inf]),
}


@st.composite
def graphs(draw: st.DrawFn, weights: dict[str, st.SearchStrategy[Any]] | None = None) -> CSRGraph:
    """Draw a graph of up to 12 vertices: sparse or dense, directed or not, of any kind of weight."""
    choices = weights or (WEIGHTS if FULL else {t: WEIGHTS[t] for t in ("uint32", "float32", "float64")})
    dtype = draw(st.sampled_from(sorted(choices)))
    n = draw(st.integers(1, 12))
    arcs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), choices[dtype]), max_size=40))
    directed = draw(st.booleans())
    u, v = (np.array([arc[i] for arc in arcs], np.int64) for i in (0, 1))
    w = np.array([arc[2] for arc in arcs], dtype)
    return build(ArcList(u, v, w, n, directed, one_sided=not directed))


def some_sources(graph: CSRGraph) -> list[int]:
    """Return the first, the last and the busiest vertex."""
    return sorted({0, graph.vertices - 1, int(np.argmax(graph.degrees))})


def terms_of(graph: CSRGraph, sums: str = "float64") -> list[Any]:
    """Return the weights as they are added up: Python ints, or floats of the type of sums."""
    return graph.weights.tolist() if graph.weights.dtype.kind in "iu" else list(graph.weights.astype(sums))


def exact_distances(graph: CSRGraph, source: int, sums: str = "float64") -> list[Any]:
    """Return the distances by Bellman and Ford's algorithm: Python ints, or floats of the type of sums."""
    integers = graph.weights.dtype.kind in "iu"
    weights = terms_of(graph, sums)
    distance: list[Any] = [np.inf] * graph.vertices
    distance[source] = 0 if integers else np.dtype(sums).type(0)
    changed = True
    while changed:
        changed = False
        for u in range(graph.vertices):
            for arc in range(graph.offsets[u], graph.offsets[u + 1]):
                v = int(graph.targets[arc])
                with np.errstate(over="ignore"):
                    far = distance[u] + weights[arc]
                if far < distance[v]:
                    distance[v] = far
                    changed = True
    return distance


def expected_distances(graph: CSRGraph, source: int, sums: str = "float64") -> Any:
    """Return ``exact_distances`` as gpugraph stores them."""
    dtype = distance_dtype(graph.weights.dtype, sums)
    return np.array([unreached(dtype) if d == np.inf else d for d in exact_distances(graph, source, sums)], dtype)


def expected_predecessors(graph: CSRGraph, source: int) -> list[int]:
    """Return the canonical predecessors, word for word as they are defined."""
    d, weights = exact_distances(graph, source), terms_of(graph)
    tight = []
    for u in range(graph.vertices):
        for arc in range(graph.offsets[u], graph.offsets[u + 1]):
            v = int(graph.targets[arc])
            with np.errstate(over="ignore"):
                if d[v] != np.inf and d[u] + weights[arc] == d[v]:
                    tight.append((u, v))
    predecessor = [-1] * graph.vertices
    level = [np.inf] * graph.vertices
    level[source] = 0
    for v in range(graph.vertices):
        nearer = [u for u, head in tight if head == v and d[u] < d[v]]
        if nearer:
            predecessor[v], level[v] = min(nearer), 0
    for depth in range(1, graph.vertices):
        for v in range(graph.vertices):
            one_nearer = [u for u, head in tight if head == v and d[u] == d[v] and level[u] == depth - 1]
            if level[v] > depth and one_nearer:
                predecessor[v], level[v] = min(one_nearer), depth
    return predecessor
