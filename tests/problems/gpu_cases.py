"""What a GPU algorithm must satisfy, whatever device runs it; used by the emulated and the GPU tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gpugraph.base.clock import NullClock
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import algorithms, find_algorithm, load_problem
from tests.zoo import ZOO, has_negative_weights, zoo

Variant = tuple[str, str, tuple[str, ...], dict[str, Any]]
"""A problem, an algorithm, preparations and options."""


def registered() -> list[Variant]:
    """Return every algorithm that runs kernels on a graph and is meant to be right, as it is by default."""
    of_graphs = [one for problem in PROBLEMS if problem != "scan" for one in algorithms(problem)]
    return [(one.problem, one.name, (), {}) for one in of_graphs if "emulated" in one.devices and one.trusted]


VARIANTS: list[Variant] = [
    *registered(),
    ("mst", "boruvka", ("sort-adjacency",), {}),
    ("mst", "boruvka", (), {"exchange": "shared-memory"}),
    ("mst", "boruvka", ("sort-adjacency",), {"exchange": "shared-memory"}),
    ("mst", "boruvka", ("renumber",), {}),
    ("mst", "boruvka", ("rank-weights",), {}),
    ("mst", "boruvka", ("renumber", "rank-weights", "sort-adjacency"), {}),
    ("mst", "boruvka", ("compress",), {}),
    ("mst", "boruvka", ("renumber", "sort-adjacency", "compress"), {}),
    ("mst", "boruvka-hybrid", ("sort-adjacency",), {"cpu-share": "0.5"}),
    ("mst", "boruvka-hybrid", ("renumber", "compress"), {"cpu-share": "25%", "memory-limit": "25KB"}),
    ("mst", "boruvka-streamed", (), {"stream": "all", "chunk": 40}),
    ("mst", "boruvka-streamed", ("rank-weights",), {"stream": "all", "chunk": 64, "light": 0.3}),
    ("mst", "boruvka-streamed", (), {"memory-limit": "33KB", "stream": "all", "chunk": 100, "light": 0.0}),
    ("mst", "prim", (), {"threads": 8, "blocks": 3}),
    ("mst", "prim", (), {"layout": "int2"}),
    ("mst", "prim", (), {"look": "n-to-c"}),
    ("mst", "prim", (), {"layout": "int2", "look": "n-to-c"}),
    ("mst", "prim-naive", (), {"threads": 32}),
    ("mst", "prim-persistent", (), {"blocks": 3, "threads": 64}),
    ("mst", "boruvka-scan", ("renumber", "rank-weights", "sort-adjacency"), {}),
    ("mst", "boruvka-scan", (), {"others": "cpu"}),
    ("mst", "boruvka-scan", ("renumber", "rank-weights"), {"others": "cpu"}),
    ("mst", "boruvka-prim", (), {"switch-after": 0}),
    ("mst", "boruvka-prim", ("renumber",), {"switch-after": 1}),
]

AT_WORK = (
    *({"stream": "all", "chunk": 40}, {"switch-after": 0}, {"blocks": 3, "threads": 64}),
    *({"others": "cpu"}, {"look": "n-to-c"}),
)
"""Options without which an algorithm does on a small graph nothing of its own."""


def is_default(variant: Variant) -> bool:
    """Tell whether an algorithm is as it is by default."""
    return variant[2:] == ((), {})


def is_common(variant: Variant) -> bool:
    """Tell whether ``make test`` tries a variant: an algorithm as it is by default, or at work on a small graph."""
    return is_default(variant) or (not variant[2] and variant[3] in AT_WORK)


def variant_id(variant: Variant) -> str:
    """Return the variant's name in test reports."""
    problem, name, preparations, options = variant
    of = [problem] if problem == "components" else []  # where two problems have an algorithm of one name
    return "-".join([*of, name, *preparations, *(f"{k}={v}" for k, v in options.items())])


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
    host = GraphView.of(graph, preparations, index_bits, unsigned=algorithm.unsigned)
    view = make_resident(host, device)[0] if algorithm.resident and device.kind != "cpu" else host
    chosen = {**{o.name: o.default for o in algorithm.options}, **(options or {})}
    state = algorithm.prepare(view, device, **chosen)
    clock = NullClock()
    raw = algorithm.fetch(state, algorithm.run(state, clock, *query))
    return algorithm.finish(state, raw, *query), clock.counters


ON_CPU = {"mst": "kruskal", "sssp": "dijkstra", "components": "afforest"}
"""The algorithm whose results are the right ones."""
VALUES = {"mst": "edges", "sssp": "raw", "components": "labels"}
"""The array of a result that two right ones have alike."""


def expected(problem: str, graph: CSRGraph, query: tuple[Any, ...]) -> Any:
    """Return the CPU's result."""
    algorithm = find_algorithm(problem, ON_CPU[problem], "cpu")
    state = algorithm.prepare(GraphView.of(graph), None)
    return algorithm.finish(state, algorithm.run(state, NullClock(), *query), *query)


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
        if problem != "sssp":
            found.append((name, ()))
        elif graph.vertices and not has_negative_weights(graph):
            found += [(name, (source,)) for source in {0, graph.vertices // 2}]
    return found


def result_of(device: Any, variant: Variant, graph: CSRGraph, query: tuple[Any, ...], index_bits: int = 32) -> Any:
    """Return the result of one run of a variant; of one that takes many queries at once, that of the only one."""
    problem, name, preparations, options = variant
    more: dict[str, Any] = {"preparations": preparations, "options": options, "index_bits": index_bits}
    if find_algorithm(problem, name, device.kind).batched:
        return run_on(device, problem, name, graph, query=(query,), **more)[0][0]
    return run_on(device, problem, name, graph, query=query, **more)[0]


def assert_right(device: Any, variant: Variant, graph_name: str, query: tuple[Any, ...], index_bits: int) -> None:
    """Check one variant on one graph of the zoo against the CPU: the same result, bit for bit."""
    problem = variant[0]
    found = result_of(device, variant, load_problem(problem).admit(zoo(graph_name)), query, index_bits)
    right = expected_on_zoo(problem, graph_name, query)
    values, right_values = getattr(found, VALUES[problem]), getattr(right, VALUES[problem])
    np.testing.assert_array_equal(values, right_values, err_msg=graph_name)
    assert values.dtype == right_values.dtype
    assert found.fingerprint() == right.fingerprint(), graph_name


def layout_fits(variant: Any, graph: CSRGraph, index_bits: int) -> bool:
    """False where layout int2 must refuse: 64-bit weights or indices."""
    return variant[3].get("layout") != "int2" or (index_bits == 32 and graph.weights.dtype.itemsize == 4)
