"""The one set of small graphs that everything is tried on.

``ZOO`` maps a name to a function that builds the graph, so that a test can be parametrised over all of them
and reads ``zoo("two-components")``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph

Edge = tuple[int, int, float]


def undirected(n: int, edges: list[Edge], dtype: str = "uint32", name: str = "graph") -> CSRGraph:
    """Return the undirected graph of an edge list."""
    u, v, w = map(np.array, zip(*edges, strict=True)) if edges else (np.zeros(0, int),) * 3
    return build(ArcList(u.astype(np.int64), v.astype(np.int64), w.astype(dtype), n, False, one_sided=True), name=name)


def directed(n: int, edges: list[Edge], dtype: str = "uint32", name: str = "graph") -> CSRGraph:
    """Return the directed graph of an arc list."""
    u, v, w = map(np.array, zip(*edges, strict=True)) if edges else (np.zeros(0, int),) * 3
    return build(ArcList(u.astype(np.int64), v.astype(np.int64), w.astype(dtype), n, True), name=name)


def _path(n: int, weight: Callable[[int], float]) -> list[Edge]:
    return [(i, i + 1, weight(i)) for i in range(n - 1)]


def _grid(side: int, weight: Callable[[int], float]) -> list[Edge]:
    at = [(y * side + x, x, y) for y in range(side) for x in range(side)]
    across = [(i, i + 1, weight(2 * i)) for i, x, _ in at if x + 1 < side]
    down = [(i, i + side, weight(2 * i + 1)) for i, _, y in at if y + 1 < side]
    return across + down


def _giants_apart() -> list[Edge]:
    first, second = range(2, 22), range(22, 42)
    within = [(u, v, 1 + (u * v) % 5) for clique in (first, second) for u in clique for v in clique if u < v]
    return [*within, *((u, v, 2) for u in (0, 1) for v in second), (first[-1], second[-1], 9)]


def _random(n: int, m: int, high: int, seed: int) -> list[Edge]:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (m, 2))
    return [(int(u), int(v), int(w)) for (u, v), w in zip(ends, rng.integers(1, high + 1, m), strict=True)]


def _scrambled(i: int) -> int:
    return (i * 2654435761) % 1000 + 1


_GRAPHS: dict[str, Callable[[], CSRGraph]] = {
    "no-vertex": lambda: undirected(0, []),
    "one-vertex": lambda: undirected(1, []),
    "isolated-vertices": lambda: undirected(5, []),
    "one-edge": lambda: undirected(2, [(0, 1, 7)]),
    "one-edge-and-isolated": lambda: undirected(4, [(1, 3, 7)]),
    "triangle": lambda: undirected(3, [(0, 1, 1), (1, 2, 2), (0, 2, 3)]),
    "equal-triangle": lambda: undirected(3, [(0, 1, 5), (1, 2, 5), (0, 2, 5)]),
    "path": lambda: undirected(40, _path(40, _scrambled)),
    "path-increasing": lambda: undirected(65, _path(65, lambda i: i + 1)),
    "path-decreasing": lambda: undirected(65, _path(65, lambda i: 100 - i)),
    "cycle-equal": lambda: undirected(33, [(i, (i + 1) % 33, 4) for i in range(33)]),
    "star": lambda: undirected(70, [(0, i, _scrambled(i)) for i in range(1, 70)]),
    "star-equal": lambda: undirected(70, [(35, i, 2) for i in range(70) if i != 35]),
    "wheel": lambda: undirected(40, [(0, i, 9) for i in range(1, 40)] + [(i, i % 39 + 1, i) for i in range(1, 40)]),
    "complete": lambda: undirected(24, [(i, j, _scrambled(i * 24 + j)) for i in range(24) for j in range(i + 1, 24)]),
    "complete-equal": lambda: undirected(20, [(i, j, 3) for i in range(20) for j in range(i + 1, 20)]),
    "grid": lambda: undirected(81, _grid(9, _scrambled)),
    "grid-equal": lambda: undirected(64, _grid(8, lambda i: 1)),
    "grid-two-weights": lambda: undirected(64, _grid(8, lambda i: 1 + i % 2)),
    "caterpillar": lambda: undirected(60, _path(30, lambda i: 3) + [(i, 30 + i, i % 4) for i in range(30)]),
    "two-components": lambda: undirected(9, [(0, 1, 4), (1, 2, 8), (0, 2, 8), (5, 6, 1), (6, 7, 2), (5, 7, 2)]),
    # Two ranks each have a large component that takes in most of their rows, joined by the last arc of two of them.
    "giants-apart": lambda: undirected(42, _giants_apart()),
    "many-tiny": lambda: undirected(90, [(3 * i, 3 * i + 1, i % 5) for i in range(30)]),
    "zero-weights": lambda: undirected(6, [(0, 1, 0), (1, 2, 0), (2, 3, 5), (3, 4, 0), (4, 5, 0), (0, 5, 0)]),
    "all-zero": lambda: undirected(30, [*_path(30, lambda i: 0), (0, 29, 0), (3, 17, 0)]),
    "random": lambda: undirected(100, _random(100, 300, 50, 1)),
    "random-ties": lambda: undirected(120, _random(120, 500, 3, 2)),
    "random-dense": lambda: undirected(60, _random(60, 1500, 1000, 3)),
    "random-sparse": lambda: undirected(200, _random(200, 150, 20, 4)),
    "huge-weights": lambda: undirected(50, [(u, v, 2**32 - w) for u, v, w in _random(50, 120, 9, 5)]),
    "negative-int32": lambda: undirected(40, [(u, v, w - 25) for u, v, w in _random(40, 90, 50, 6)], "int32"),
    "int64": lambda: undirected(40, [(u, v, (w - 25) << 40) for u, v, w in _random(40, 90, 50, 7)], "int64"),
    "uint64": lambda: undirected(40, [(u, v, w << 55) for u, v, w in _random(40, 90, 50, 8)], "uint64"),
    "float32": lambda: undirected(60, [(u, v, w / 7) for u, v, w in _random(60, 200, 90, 9)], "float32"),
    "float64": lambda: undirected(60, [(u, v, w / 7) for u, v, w in _random(60, 200, 90, 10)], "float64"),
    "float-tiny-and-huge": lambda: undirected(
        40, [(u, v, 10.0 ** (w % 60 - 30)) for u, v, w in _random(40, 120, 1000, 11)], "float64"
    ),
    "float-infinite": lambda: undirected(5, [(0, 1, 1.5), (1, 2, np.inf), (2, 3, 0.25), (3, 4, np.inf)], "float64"),
    "directed-cycle": lambda: directed(12, [(i, (i + 1) % 12, i + 1) for i in range(12)]),
    "directed-unequal": lambda: directed(4, [(0, 1, 5), (1, 0, 3), (1, 2, 2), (2, 3, 1), (0, 3, 9)]),
    "directed-random": lambda: directed(80, _random(80, 300, 30, 12)),
    "directed-sink": lambda: directed(5, [(1, 0, 1), (2, 0, 1), (3, 2, 1), (2, 4, 0)]),
}

ZOO = tuple(_GRAPHS)
COMMON = tuple(name for name in ZOO if name not in ("negative-int32", "int64", "uint64"))
"""Those with weights of the types that most tests use: for each other type Numba compiles everything anew."""
UNDIRECTED = tuple(name for name in ZOO if not name.startswith("directed"))


@cache
def zoo(name: str) -> CSRGraph:
    """Return the zoo's graph called ``name``."""
    return _GRAPHS[name]().renamed(name=name, source=f"zoo:{name}")


def has_negative_weights(graph: CSRGraph) -> bool:
    """True if shortest paths are not defined on the graph."""
    return bool(graph.arcs) and bool(graph.weights.min() < 0)
