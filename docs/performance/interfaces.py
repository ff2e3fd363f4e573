"""What the interfaces cost: ``python docs/performance/interfaces.py [--device cuda] [rmat:16] [csgraph] [calls] …``.

A graph is one that NetworkX and its backend are compared on, the others are the keys of ``PARTS``; without arguments
everything is measured, without a device on the CPU.
Every figure is the least of several runs, those of the libraries that are compared taken in turns; needs networkx, and
igraph for ``many``. On a CPU processor time is told where the number of cores would tell more than the library; beside
a GPU, which a processor waits for, the time on the clock, and cuGraph is asked too where it is installed.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse
from scipy.sparse import csgraph as scipys

import gpugraph
import gpugraph.csgraph
from gpugraph.ext.networkx import backend
from gpugraph.ext.peers import LIBRARIES
from gpugraph.ext.python.graph_batch import GraphBatch
from gpugraph.graph.csr import CSRGraph

DEVICE = "cpu"
"""What ours run on; ``--device`` sets it."""


def seconds(*runs: Callable[[], Any], times: int = 3, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Return the least seconds of each, taken in turns."""
    least = [float("inf")] * len(runs)
    for _ in range(times):
        for i, run in enumerate(runs):
            gc.collect()
            start = clock()
            run()
            least[i] = min(least[i], clock() - start)
    return least


def honest_clock() -> Callable[[], float]:
    """Return the processor's time on a CPU, which other work does not lengthen, and that of the clock beside a GPU."""
    return time.process_time if DEVICE == "cpu" else time.perf_counter


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
            theirs, lambda run=run: run(backend.convert_from_nx(whole)), lambda run=run, c=converted: run(c), times=2
        )
        run(backend.convert_from_nx(whole))
        call = gpugraph.last_call()
        assert call is not None
        each = call.seconds["convert"] / whole.number_of_edges() * 1e6
        ratio = f"{first:.3f} s ({own / first:.1f}×) | {later:.4f} s ({own / later:.0f}×)"
        print(f"| `{name}` | {own:.3f} s | {ratio} | {each:.2f} |")


def measure_csgraph(specs: tuple[str, ...]) -> None:
    """Print the processor time that SciPy takes and ours, on all cores, of small graphs and of large ones."""
    print("\n| csgraph, processor time | graph | SciPy | gpugraph |\n|---|---|---|---|")
    for spec in specs:
        graph = gpugraph.generate(spec)
        arrays = graph.weights.astype(float), graph.targets, graph.offsets.astype(np.int32)
        matrix = sparse.csr_array(arrays, shape=(graph.vertices,) * 2)
        for name, named in (
            ("minimum_spanning_tree", {}),
            ("connected_components", {}),
            ("dijkstra", {"indices": 0}),
            ("dijkstra", {"indices": list(range(8))}),
        ):
            theirs, ours = (
                lambda home=home, name=name, named=named, m=matrix: getattr(home, name)(m, **named)
                for home in (scipys, gpugraph.csgraph)
            )
            ours()
            times = 50 if graph.arcs < 100_000 else 7
            own, mine = seconds(theirs, ours, times=times, clock=honest_clock())
            sources = f" of {len(np.atleast_1d(named['indices']))}" if named else ""
            print(f"| `{name}`{sources} | {spec} | {1e3 * own:.3g} ms | {1e3 * mine:.3g} ms ({own / mine:.1f}×) |")


def measure_questions() -> None:
    """Print the time that one pair, one source, several and all of them take; on a CPU run it on one thread."""
    print("\n| question | graph | time |\n|---|---|---|")
    for spec in ("rmat:16", "road:1024x1024,w=1..1000", "rmat:20,w=1..255"):
        with gpugraph.on(spec, DEVICE) as g:
            source, near, far = _places(g)
            asked: dict[str, Callable[[], Any]] = {
                "one pair, near": lambda g=g, s=source, t=near: g.path(s, t),
                "one pair, far": lambda g=g, s=source, t=far: g.path(s, t),
                "one pair, near, by `sssp(target=…)`": lambda g=g, s=source, t=near: g.sssp(s, target=t),
                "one source": lambda g=g, s=source: g.sssp(s),
                "eight sources, one by one": lambda g=g, s=source: g.sssp([s] * 8),
                "eight sources together": lambda g=g, s=source: g.sssp(sources=[s] * 8),
            }
            for question, ask in asked.items():
                ask()
                (least,) = seconds(ask, times=3, clock=honest_clock())
                call = gpugraph.last_call()
                assert call is not None
                beside = f" (kernel {1e3 * call.seconds['kernel']:.3g} ms)" if DEVICE != "cpu" else ""
                print(f"| {question} | {spec} | {1e3 * least:.3g} ms{beside} |", flush=True)


PAIRS = ("random:n=1024,deg=16", "random:n=4096,deg=16", "rmat:12,w=1..255")
"""Graphs that all pairs are asked of."""


def cugraph_of(graph: CSRGraph, problem: str, *, brought: bool) -> Callable[..., Any] | None:
    """Return cuGraph's function for a problem on a graph that it holds ready, or None where it is not to be had.

    Its answer is ``brought`` to the host, or left on the device and in cuGraph's own form.
    """
    peer = LIBRARIES["cugraph"]
    if DEVICE == "cpu" or peer.version() is None or problem not in peer.adapters:
        return None
    adapter = peer.adapters[problem]
    prepared = adapter.prepare(graph, 1, adapter.methods[0])
    if not brought:
        return lambda *query: adapter.run(prepared, *query)
    return lambda *query: adapter.answer(prepared, adapter.fetch(prepared, adapter.run(prepared, *query)))


def measure_pairs() -> None:
    """Print the time that all pairs of a small graph take, SciPy's and cuGraph's, which find the same distances."""
    print("\n| all pairs | SciPy | cuGraph, a search from each vertex | gpugraph | times as fast as SciPy |")
    print("|---|---|---|---|---|")
    for spec in PAIRS:
        with gpugraph.on(spec, DEVICE) as g:
            graph, found = g.graph, g.sssp(sources="all")
            arrays = graph.weights.astype(float), graph.targets, graph.offsets.astype(np.int32)
            matrix = sparse.csr_array(arrays, shape=(graph.vertices,) * 2)
            by_scipy: list[Any] = []
            (own,) = seconds(
                lambda m=matrix, kept=by_scipy: kept.append(scipys.dijkstra(m)), times=1, clock=honest_clock()
            )
            (mine,) = seconds(lambda g=g: g.sssp(sources="all"), times=5, clock=honest_clock())
            call = gpugraph.last_call()
            assert call is not None
            distances = np.where(found.reached, found.raw, np.inf)
            assert np.array_equal(distances, by_scipy[0])
        search, theirs = cugraph_of(graph, "sssp", brought=True), "–"
        if search is not None:
            assert all(np.array_equal(search(v), distances[v]) for v in range(8))
            (rest,) = seconds(lambda f=search, n=graph.vertices: [f(v) for v in range(n)], times=1)
            theirs = f"{1e3 * rest:.4g} ms"
        beside = f" (kernel {1e3 * call.seconds['kernel']:.3g} ms)" if DEVICE != "cpu" else ""
        print(
            f"| {spec} | {1e3 * own:.4g} ms | {theirs} | {1e3 * mine:.3g} ms{beside} | {own / mine:.0f} |", flush=True
        )


def _places(g: Any) -> tuple[int, int, int]:
    """Return a vertex, one that a thousandth of the others are nearer to it than, and the one farthest from it."""
    source = int(np.argmax(g.graph.degrees))
    found = g.sssp(source)
    order = np.argsort(found.raw)[: int(found.reached.sum())]
    return source, int(order[len(order) // 1000]), int(order[-1])


def measure_calls() -> None:
    """Print what a call costs, and how much of it beside the kernel.

    That is beside the time from before the launch until its end is seen, and a small result with it, and beside what
    a measurement says that the kernel alone takes, on a GPU by its own clock.
    """
    print("\n| a call on a graph held ready | in all | beside launch and kernel | beside the kernel alone |")
    print("|---|---|---|---|")
    asked: dict[str, dict[str, Callable[[Any], Any]]] = {
        "rmat:8": {"mst": lambda g: g.mst(), "sssp": lambda g: g.sssp(17), "components": lambda g: g.components()}
    }
    if DEVICE != "cpu":
        asked["rmat:16"] = {"mst": lambda g: g.mst(on_device=True), "sssp": lambda g: g.sssp(17, on_device=True)}
    for spec, questions in asked.items():
        with gpugraph.on(spec, DEVICE) as g:
            for problem, ask in questions.items():
                ask(g)
                costs = []
                for _ in range(300):
                    start = time.perf_counter()
                    found = ask(g)
                    whole = time.perf_counter() - start
                    del found
                    call = gpugraph.last_call()
                    assert call is not None
                    costs.append((whole, whole - call.seconds["kernel"]))
                whole, beside = np.median(costs, axis=0) * 1e6
                named = {"source": 17} if problem == "sssp" else {}
                record = getattr(gpugraph, problem)(g.graph, device=DEVICE, time=True, **named)
                alone = whole - 1e6 * record.kernel_s
                kept = "" if spec == "rmat:8" else ", result left on the device"
                print(
                    f"| `{problem}` on {spec}{kept} | {whole:.0f} µs | {beside:.0f} µs | {alone:.0f} µs |", flush=True
                )
                _print_cugraph_call(g.graph, problem, spec)


def _print_cugraph_call(graph: CSRGraph, problem: str, spec: str) -> None:
    """Print what the same call costs with cuGraph, its answer left on the device."""
    call = cugraph_of(graph, problem, brought=False)
    if call is None:
        return
    query = (17,) if problem == "sssp" else ()
    costs = []
    for _ in range(100):
        start = time.perf_counter()
        call(*query)
        costs.append(time.perf_counter() - start)
    print(f"| cuGraph's `{problem}` on {spec} | {1e6 * np.median(costs):.0f} µs | – | – |", flush=True)


def measure_many() -> None:
    """Print igraph's seconds and ours for 10,000 graphs of 100 vertices."""
    import igraph

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
    gpugraph.mst_many(batch, device=DEVICE)
    whole, edges, ours, rows_s = seconds(
        lambda: [graph.spanning_tree(weights="weight") for graph in theirs],
        lambda: [graph.spanning_tree(weights="weight", return_tree=False) for graph in theirs],
        lambda: gpugraph.mst_many(batch, device=DEVICE),
        lambda: gpugraph.mst_many(rows, device=DEVICE),
        times=5,
    )
    print("\n| 10,000 graphs of 100 vertices and about 470 edges | seconds |\n|---|---|")
    print(f"| igraph's loop, trees | {10 * whole:.3f} |\n| igraph's loop, `return_tree=False` | {10 * edges:.3f} |")
    print(f"| `mst_many` of rows | {rows_s:.4f} |\n| `mst_many` of a `GraphBatch` | {ours:.4f} |")
    call = gpugraph.last_call()
    print(f"\n{call}")


PARTS: dict[str, Callable[[], None]] = {
    "csgraph": lambda: measure_csgraph(("rmat:8", "rmat:12", "rmat:16", "grid:300x300", "random:n=100000,deg=4")),
    "calls": measure_calls,
    "many": measure_many,
    "questions": measure_questions,
    "pairs": measure_pairs,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("parts", nargs="*", default=["rmat:16", *PARTS])
    given = parser.parse_args()
    DEVICE = gpugraph.csgraph.DEVICE = given.device
    if "gpugraph" in nx.config.backends:  # installed, not only on the path
        nx.config.backends.gpugraph.device = given.device
    for part in given.parts:
        PARTS[part]() if part in PARTS else measure_networkx(gpugraph.generate(part))
