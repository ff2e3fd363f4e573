"""What a GPU algorithm must satisfy, whatever device runs it; used by the emulated and the GPU tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gpugraph.clock import NullClock
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.registry import find_algorithm, load_problem
from tests.zoo import ZOO, has_negative_weights, zoo

VARIANTS: list[tuple[str, str, tuple[str, ...], dict[str, Any]]] = [
    ("mst", "boruvka", (), {}),
    ("mst", "boruvka", ("sort-adjacency",), {}),
    ("mst", "boruvka", (), {"exchange": "shared-memory"}),
    ("mst", "boruvka", ("sort-adjacency",), {"exchange": "shared-memory"}),
    ("mst", "boruvka", ("renumber",), {}),
    ("mst", "boruvka", ("rank-weights",), {}),
    ("mst", "boruvka", ("renumber", "rank-weights", "sort-adjacency"), {}),
    ("mst", "boruvka", ("compress",), {}),
    ("mst", "boruvka", ("renumber", "sort-adjacency", "compress"), {}),
    ("mst", "boruvka-hybrid", (), {}),
    ("mst", "boruvka-hybrid", ("sort-adjacency",), {"cpu-share": "0.5"}),
    ("mst", "boruvka-hybrid", ("renumber", "compress"), {"cpu-share": "25%", "memory-limit": "25KB"}),
    ("mst", "boruvka-streamed", (), {}),
    ("mst", "boruvka-streamed", (), {"stream": "all", "chunk": 40}),
    ("mst", "boruvka-streamed", ("rank-weights",), {"stream": "all", "chunk": 64, "light": 0.3}),
    ("mst", "boruvka-streamed", (), {"memory-limit": "33KB", "stream": "all", "chunk": 100, "light": 0.0}),
    ("mst", "prim", (), {}),
    ("mst", "prim", (), {"threads": 8, "blocks": 3}),
    ("mst", "prim", (), {"layout": "int2"}),
    ("mst", "prim-naive", (), {"threads": 32}),
    ("mst", "prim-persistent", (), {}),
    ("mst", "prim-persistent", (), {"blocks": 3, "threads": 64}),
    ("mst", "filter-boruvka", (), {}),
    ("mst", "boruvka-distributed", (), {}),
    ("mst", "boruvka-scan", (), {}),
    ("mst", "boruvka-scan", ("renumber", "rank-weights", "sort-adjacency"), {}),
    ("mst", "boruvka-prim", (), {"switch-after": 0}),
    ("mst", "boruvka-prim", ("renumber",), {"switch-after": 1}),
    ("sssp", "dijkstra", (), {}),
    ("sssp", "delta-stepping", (), {}),
    ("sssp", "delta-stepping-distributed", (), {}),
    *(("sssp", f"u-{rest}", (), {}) for rest in ("hybrid-1", "hybrid-2", "hybrid-3", "gpu", "gpu-2min", "gpu-plus")),
    *(("sssp", f"matrix-{rest}-gpu", (), {}) for rest in ("u", "f")),
]


def variant_id(variant: tuple[str, str, tuple[str, ...], dict[str, Any]]) -> str:
    """Return the variant's name in test reports."""
    _, name, preparations, options = variant
    return "-".join([name, *preparations, *(f"{k}={v}" for k, v in options.items())])


def run_on(
    device: Any,
    problem: str,
    name: str,
    graph: CSRGraph,
    *,
    query: tuple[Any, ...] = (),
    preparations: tuple[str, ...] = (),
    options: dict[str, Any] | None = None,
    index_bits: int | None = None,
) -> tuple[Any, dict[str, int]]:
    """Return the result of one run on a device, and its counters."""
    algorithm = find_algorithm(problem, name, device.kind)
    host = GraphView.of(graph, preparations, index_bits)
    view = make_resident(host, device)[0] if algorithm.resident and device.kind != "cpu" else host
    chosen = {**{o.name: o.default for o in algorithm.options}, **(options or {})}
    state = algorithm.prepare(view, device, **chosen)
    clock = NullClock()
    raw = algorithm.fetch(state, algorithm.run(state, clock, *query))
    return algorithm.finish(state, raw, *query), clock.counters


def expected(problem: str, graph: CSRGraph, query: tuple[Any, ...]) -> Any:
    """Return the CPU's result."""
    name = "kruskal" if problem == "mst" else "dijkstra"
    algorithm = find_algorithm(problem, name, "cpu")
    state = algorithm.prepare(GraphView.of(graph), None)
    return algorithm.run(state, NullClock(), *query)


@cache
def expected_on_zoo(problem: str, name: str, query: tuple[Any, ...]) -> Any:
    """Return the CPU's result on a graph of the zoo."""
    return expected(problem, load_problem(problem).admit(zoo(name)), query)


@cache
def cases(problem: str) -> list[tuple[str, tuple[Any, ...]]]:
    """Return (graph of the zoo, query) for every graph the problem is defined on."""
    found: list[tuple[str, tuple[Any, ...]]] = []
    for name in ZOO:
        graph = zoo(name)
        if problem == "mst":
            found.append((name, ()))
        elif graph.vertices and not has_negative_weights(graph):
            found += [(name, (source,)) for source in {0, graph.vertices // 2}]
    return found


def assert_right(device: Any, variant: Any, graph_name: str, query: tuple[Any, ...], index_bits: int) -> None:
    """Check one variant on one graph of the zoo against the CPU: the same result, bit for bit."""
    problem_name, name, preparations, options = variant
    problem = load_problem(problem_name)
    graph = problem.admit(zoo(graph_name))
    result, _ = run_on(
        device,
        problem_name,
        name,
        graph,
        query=query,
        preparations=preparations,
        options=options,
        index_bits=index_bits,
    )
    reference = expected_on_zoo(problem_name, graph_name, query)
    if problem_name == "mst":
        np.testing.assert_array_equal(result.edges, reference.edges, err_msg=graph_name)
    else:
        np.testing.assert_array_equal(result.raw, reference.raw, err_msg=graph_name)
        assert result.raw.dtype == reference.raw.dtype
    assert result.fingerprint() == reference.fingerprint(), graph_name


def layout_fits(variant: Any, graph: CSRGraph, index_bits: int) -> bool:
    """False where layout int2 must refuse: 64-bit weights or indices."""
    return variant[3].get("layout") != "int2" or (index_bits == 32 and graph.weights.dtype.itemsize == 4)
