"""What the tests of spanning forests share."""

from __future__ import annotations

import numpy as np

from gpugraph.base.clock import NullClock
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.registry import find_algorithm
from tests.zoo import undirected

CPU_ALGORITHMS = ("boruvka", "boruvka-lists", "kruskal", "prim")


def forest_by(name: str, graph: CSRGraph, index_bits: int | None = None, clock: NullClock | None = None) -> Forest:
    """Return the forest that a CPU algorithm finds."""
    algorithm = find_algorithm("mst", name, "cpu")
    state = algorithm.prepare(GraphView.of(graph, index_bits=index_bits), None)
    result = algorithm.finish(state, algorithm.fetch(state, algorithm.run(state, clock or NullClock())))
    assert isinstance(result, Forest)
    return result


def random_graph(n: int, m: int, heaviest: int, seed: int, dtype: str = "uint32") -> CSRGraph:
    """Return a graph of up to m random edges with weights in 0..heaviest."""
    rng = np.random.default_rng(seed)
    ends, weights = rng.integers(0, n, (m, 2)).tolist(), rng.integers(0, heaviest + 1, m).tolist()
    return undirected(n, [(u, v, w) for (u, v), w in zip(ends, weights, strict=True)], dtype)
