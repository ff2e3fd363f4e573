"""What the interfaces for other libraries cost on a CPU: ``python docs/measure/adapters.py [rmat:16]``.

Every figure is the least of several runs, those of the libraries that are compared taken in turns; needs networkx and
igraph.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import igraph
import networkx as nx
import numpy as np
from scipy import sparse
from scipy.sparse import csgraph as scipys

import gpugraph
from gpugraph.adapters.batch import GraphBatch
from gpugraph.adapters.networkx import backend
from gpugraph.graph.csr import CSRGraph


def seconds(*runs: Callable[[], Any], times: int = 3) -> list[float]:
    """Return the least seconds of each, taken in turns."""
    least = [float("inf")] * len(runs)
    for _ in range(times):
        for i, run in enumerate(runs):
            gc.collect()
            start = time.perf_counter()
            run()
            least[i] = min(least[i], time.perf_counter() - start)
    return least


def networkx_graph(graph: CSRGraph) -> nx.Graph:
    """Return the graph as NetworkX has it."""
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    once = tails < graph.targets
    made = nx.Graph()
    made.add_nodes_from(range(graph.vertices))
    edges = (tails[once], graph.targets[once], graph.weights[once])
    made.add_weighted_edges_from(zip(*(ends.tolist() for ends in edges), strict=True))
    return made


def measure_networkx(graph: CSRGraph) -> None:
    """Print NetworkX's seconds, ours with the conversion and ours without."""
    whole = networkx_graph(graph)
    functions: dict[str, tuple[str, tuple[Any, ...]]] = {
        "minimum_spanning_tree": ("minimum_spanning_tree", ()),
        "minimum_spanning_edges": ("minimum_spanning_edges", ()),
        "single_source_dijkstra": ("single_source_dijkstra", (0,)),
        "single_source_dijkstra_path_length": ("single_source_dijkstra_path_length", (0,)),
        "connected_components": ("connected_components", ()),
    }
    print(f"| {whole.number_of_edges()} edges | NetworkX | gpugraph, converting | converted | µs an edge to convert |")
    print("|---|---|---|---|---|")
    for name, (function, given) in functions.items():

        def run(ours: Any, function: str = function, given: tuple[Any, ...] = given) -> None:
            result = getattr(backend, function)(ours, *given)
            list(result) if hasattr(result, "__next__") else result

        def theirs(function: str = function, given: tuple[Any, ...] = given) -> None:
            result = getattr(nx, function).orig_func(whole, *given)
            list(result) if hasattr(result, "__next__") else result

        converted = backend.convert_from_nx(whole)
        run(converted)
        own, first, later = seconds(
            theirs, lambda run=run: run(backend.convert_from_nx(whole)), lambda run=run, c=converted: run(c)
        )
        run(backend.convert_from_nx(whole))
        call = gpugraph.last_call()
        assert call is not None
        each = call.seconds["convert"] / whole.number_of_edges() * 1e6
        ratio = f"{first:.3f} s ({own / first:.1f}×) | {later:.4f} s ({own / later:.0f}×)"
        print(f"| `{name}` | {own:.3f} s | {ratio} | {each:.2f} |")


def measure_csgraph(graph: CSRGraph) -> None:
    """Print SciPy's seconds and ours."""
    matrix = sparse.csr_array((graph.weights.astype(float), graph.targets, graph.offsets), shape=(graph.vertices,) * 2)
    print("\n| csgraph | SciPy | gpugraph |\n|---|---|---|")
    for name, named in (
        ("minimum_spanning_tree", {}),
        ("connected_components", {}),
        ("dijkstra", {"indices": 0}),
        ("dijkstra", {"indices": list(range(8))}),
    ):
        theirs, ours = (
            lambda home=home, name=name, named=named: getattr(home, name)(matrix, **named)
            for home in (scipys, gpugraph.csgraph)
        )
        own, mine = seconds(theirs, ours)
        print(f"| `{name}` {named or ''} | {own:.3f} s | {mine:.3f} s ({own / mine:.1f}×) |")


def measure_calls() -> None:
    """Print what a call costs beside its kernel."""
    print("\n| a call on a graph held ready | in all | beside the kernel |\n|---|---|---|")
    with gpugraph.on("rmat:8", "cpu") as g:
        for name, ask in {"mst()": g.mst, "sssp(17)": lambda: g.sssp(17), "components()": g.components}.items():
            ask()
            costs = []
            for _ in range(300):
                start = time.perf_counter()
                ask()
                whole = time.perf_counter() - start
                call = gpugraph.last_call()
                assert call is not None
                costs.append((whole, whole - call.seconds["kernel"]))
            whole, beside = np.median(costs, axis=0) * 1e6
            print(f"| `{name}` on rmat:8 | {whole:.0f} µs | {beside:.0f} µs |")


def measure_many() -> None:
    """Print igraph's seconds and ours for 10,000 graphs of 100 vertices."""
    rows, theirs = [], []
    for seed in range(10_000):
        graph = gpugraph.generate(f"random:n=100,m=500,seed={seed}")
        rows.append((graph.offsets, graph.targets, graph.weights))
        if seed < 1000:
            tails = np.repeat(np.arange(100), graph.degrees)
            once = tails < graph.targets
            theirs.append(igraph.Graph(n=100, edges=np.stack((tails[once], graph.targets[once]), 1).tolist()))
            theirs[-1].es["weight"] = graph.weights[once].tolist()
    batch = GraphBatch.of(rows)
    whole, edges, ours, rows_s = seconds(
        lambda: [graph.spanning_tree(weights="weight") for graph in theirs],
        lambda: [graph.spanning_tree(weights="weight", return_tree=False) for graph in theirs],
        lambda: gpugraph.mst_many(batch, device="cpu"),
        lambda: gpugraph.mst_many(rows, device="cpu"),
        times=5,
    )
    print("\n| 10,000 graphs of 100 vertices and about 470 edges | seconds |\n|---|---|")
    print(f"| igraph's loop, trees | {10 * whole:.3f} |\n| igraph's loop, `return_tree=False` | {10 * edges:.3f} |")
    print(f"| `mst_many` of rows | {rows_s:.3f} |\n| `mst_many` of a `GraphBatch` | {ours:.3f} |")


if __name__ == "__main__":
    spec = gpugraph.generate(sys.argv[1] if len(sys.argv) > 1 else "rmat:16")
    measure_networkx(spec)
    measure_csgraph(spec)
    measure_calls()
    measure_many()
