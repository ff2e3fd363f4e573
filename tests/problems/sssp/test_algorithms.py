"""Every CPU algorithm finds the right distances, of integers, and of reals in float64, or refuses."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import InputError
from gpugraph.ext.papers.sssp import frontier_dijkstra_cpu
from gpugraph.ext.tuned import thread_pool
from gpugraph.ext.tuned.sssp import buckets, cpu_delta_stepping
from gpugraph.ext.tuned.sssp.cpu_delta_stepping import chosen_delta, prepare, run
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.registry import algorithms, find_algorithm, load_problem
from gpugraph.problems.sssp import cpu_dijkstra
from gpugraph.problems.sssp.arcs import Arcs
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.verify import reference_distances
from tests.problems.sssp.small_graphs import (
    SEARCHABLE,
    exact_distances,
    expected_distances,
    graphs,
    some_sources,
)
from tests.tiers import by_width, drawn, first
from tests.zoo import directed, undirected, zoo

FRONTIER = ("f-cpu", "u-cpu", "matrix-f-cpu", "matrix-u-cpu")
EXACT = ("delta-stepping", "dijkstra", *FRONTIER)
MODULES = (buckets, cpu_dijkstra, frontier_dijkstra_cpu)
ALGORITHMS = (*EXACT, "dijkstra-fibonacci")


def solve(name: str, graph: CSRGraph, source: int, index_bits: int | None = None, **options: Any) -> Distances:
    algorithm = find_algorithm("sssp", name, "cpu")
    state = algorithm.prepare(GraphView.of(graph, index_bits=index_bits), None, **options)
    raw = algorithm.fetch(state, algorithm.run(state, NullClock(), source))
    result: Distances = algorithm.finish(state, raw, source)
    return result


def scipy_refuses(graph: CSRGraph, source: int) -> bool:
    finite = [d for d in exact_distances(graph, source) if d != np.inf]
    return graph.weights.dtype.kind in "iu" and max(finite) >= 2**53


def test_the_algorithms_are_registered_for_the_cpu() -> None:
    # Those of several ranks are tried in tests/ranks, that of several sources in test_delta_stepping_batched.py.
    alone = {a.name for a in algorithms("sssp") if "cpu" in a.devices and not (a.ranks or a.batched)}
    assert alone == set(ALGORITHMS)


@pytest.mark.parametrize(("name", "index_bits"), by_width(SEARCHABLE))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_algorithm_agrees_with_the_oracle_bit_for_bit(algorithm: str, index_bits: int, name: str) -> None:
    graph = zoo(name)
    problem = load_problem("sssp")
    for source in some_sources(graph):
        if algorithm == "dijkstra-fibonacci" and scipy_refuses(graph, source):
            with pytest.raises(InputError, match="use --algo dijkstra"):
                solve(algorithm, graph, source, index_bits)
            continue
        result = solve(algorithm, graph, source, index_bits).with_predecessors()
        right, _ = reference_distances(graph, source)
        np.testing.assert_array_equal(result.raw, right)
        assert result.raw.dtype == right.dtype
        assert problem.reference(graph, (source,), result).passed
        assert problem.certificate(graph, (source,), result).passed


@pytest.mark.parametrize("name", ["random-ties", "two-components", "zero-weights", "float64", "directed-random"])
def test_the_oracle_agrees_with_networkx(name: str) -> None:
    graph = zoo(name)
    other = nx.DiGraph()
    other.add_nodes_from(range(graph.vertices))
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    other.add_weighted_edges_from(zip(tails.tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True))
    lengths = nx.single_source_dijkstra_path_length(other, 3)
    result = Distances(graph, 3, reference_distances(graph, 3)[0])
    assert np.flatnonzero(result.reached).tolist() == sorted(lengths)
    assert all(result.raw[v] == length for v, length in lengths.items())


@drawn(150)
@given(graph=graphs(), data=st.data())
def test_drawn_graphs_are_solved_exactly(graph: CSRGraph, data: st.DataObject) -> None:
    source = data.draw(st.integers(0, graph.vertices - 1))
    right = expected_distances(graph, source)
    for algorithm in EXACT:
        np.testing.assert_array_equal(solve(algorithm, graph, source).raw, right)
    np.testing.assert_array_equal(reference_distances(graph, source)[0], right)
    if not scipy_refuses(graph, source):
        np.testing.assert_array_equal(solve("dijkstra-fibonacci", graph, source).raw, right)


@drawn(100)
@given(
    graph=graphs(),
    delta=st.sampled_from([1e-310, 1e-9, 0.1, 1.0, 3.0, 2.0**40, 1e300, 1.7e308]),
    size=st.integers(1, 3),
)
def test_delta_stepping_is_right_for_any_width_and_any_number_of_threads(
    graph: CSRGraph, delta: float, size: int
) -> None:
    right = expected_distances(graph, 0)
    state = prepare(GraphView.of(graph), None, delta=delta, size=size)
    for _ in range(2):  # a state is good for many runs
        np.testing.assert_array_equal(cpu_delta_stepping.finish(state, run(state, NullClock(), 0), 0).raw, right)


def by_threads(graph: CSRGraph, source: int, size: int, delta: float = 0.0) -> tuple[NDArray[Any], dict[str, int]]:
    clock = NullClock()
    state = prepare(GraphView.of(graph), None, delta=delta, size=size)
    return cpu_delta_stepping.finish(state, run(state, clock, source), source).raw, clock.counters


@pytest.mark.parametrize("dtype", first(2, ["uint32", "float64", "int64", "float32"]))
@pytest.mark.parametrize("size", [1, 2, 5])
def test_threads_share_what_is_wide_and_rows_that_are_long(size: int, dtype: str) -> None:
    n, hub = 30_000, 12_345  # a row of more arcs than one thread takes, beside many short ones
    rng = np.random.default_rng(3)
    ends, weights = rng.integers(0, n, (60_000, 2)), rng.integers(0, 1000, 60_000)
    spokes = np.stack([np.full(n, hub), np.arange(n)], axis=1)
    u, v = np.concatenate([ends, spokes]).T
    w = np.concatenate([weights, rng.integers(300, 2000, n)]).astype(dtype)
    graph = build(ArcList(u, v, w, n, False, one_sided=True))
    assert graph.degrees[hub] > buckets.HUB
    for source in (7, hub):
        found, _ = by_threads(graph, source, size)
        np.testing.assert_array_equal(found, reference_distances(graph, source)[0])


@pytest.mark.parametrize("size", [1, 3])
def test_a_pool_that_runs_dry_costs_time_and_no_distance(size: int) -> None:
    # Every vertex of the path lowers all leaves once more: far more pairs than vertices wait beyond the window.
    path, leaves = 150, 1500
    tails = np.concatenate([np.arange(path - 1), np.repeat(np.arange(path), leaves)])
    heads = np.concatenate([np.arange(1, path), np.tile(np.arange(path, path + leaves), path)])
    weights = np.concatenate([np.ones(path - 1), np.repeat(10_000 - 2 * np.arange(path), leaves)])
    graph = build(ArcList(tails, heads, weights.astype(np.uint32), path + leaves, True))
    found, counters = by_threads(graph, 0, size, delta=1.0)
    np.testing.assert_array_equal(found, reference_distances(graph, 0)[0])
    assert found[path:].tolist() == [10_000 - path + 1] * leaves
    assert counters["relaxations"] >= graph.arcs


@pytest.mark.parametrize("size", [2, 5])
def test_a_search_that_was_interrupted_leaves_its_state_good(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = zoo("grid")
    state = prepare(GraphView.of(graph), None, size=size)
    real = thread_pool._hear

    def interrupted_once(*args: object) -> None:
        monkeypatch.setattr(thread_pool, "_hear", real)
        raise KeyboardInterrupt

    run(state, NullClock(), 0)  # the threads are there
    for _ in range(10):
        monkeypatch.setattr(thread_pool, "_hear", interrupted_once)
        with pytest.raises(KeyboardInterrupt):
            run(state, NullClock(), 0)
        raw = run(state, NullClock(), 0)
        np.testing.assert_array_equal(cpu_delta_stepping.finish(state, raw, 0).raw, reference_distances(graph, 0)[0])


def test_sums_beyond_32_bits_of_light_arcs_are_exact_too() -> None:
    n, weight = 40, 2**28 - 1
    graph = undirected(n, [(i, i + 1, weight) for i in range(n - 1)])
    assert by_threads(graph, 0, 1)[0].tolist() == [i * weight for i in range(n)]
    edge = 2**32 - 1  # the word that stands for none is a distance of this graph
    graph = undirected(17, [(i, i + 1, weight) for i in range(16)] + [(16, 0, 2**28 - 1)])
    assert by_threads(graph, 0, 2)[0].max() == 8 * weight
    graph = undirected(18, [(i, i + 1, weight) for i in range(16)] + [(16, 17, edge - 16 * weight)])
    assert by_threads(graph, 0, 2)[0][17] == edge


@pytest.mark.parametrize("delta", [-1.0, float("nan"), float("inf")])
def test_a_width_that_is_none_is_refused(delta: float) -> None:
    with pytest.raises(InputError, match="'delta'"):
        prepare(GraphView.of(zoo("path")), None, delta=delta)


def test_the_chosen_width_is_positive_and_finite_whatever_the_weights() -> None:
    for graph in (zoo("all-zero"), zoo("isolated-vertices"), undirected(2, [(0, 1, np.inf)], "float64")):
        assert chosen_delta(Arcs.of(graph)) > 0
    largest = undirected(3, [(0, 1, 1.7e308), (1, 2, 1.7e308), (0, 2, np.inf)], "float64")
    assert np.isfinite(chosen_delta(Arcs.of(largest)))


def test_rounds_relaxations_and_phases_are_reported() -> None:
    clock = HostClock()
    run(prepare(GraphView.of(zoo("grid")), None, size=2), clock, 0)
    assert clock.counters["rounds"] > 0
    assert clock.counters["relaxations"] >= zoo("grid").arcs
    assert "relax" in clock.seconds
    assert set(clock.seconds) <= {"relax", "move_window"}


def test_weights_spread_over_sixty_orders_of_magnitude_do_not_slow_delta_stepping_down() -> None:
    n = 3000
    edges = [(i, i + 1, 1.0) for i in range(n - 1)]
    edges += [(0, n + i, 10.0 ** (i % 60 + 1)) for i in range(n)]
    graph = undirected(2 * n, edges, "float64")
    found, counters = by_threads(graph, 0, 2, delta=0.25)
    np.testing.assert_array_equal(found, reference_distances(graph, 0)[0])
    assert counters["relaxations"] < 4 * graph.arcs


@pytest.mark.parametrize("algorithm", EXACT)
def test_sums_beyond_2_to_32_and_2_to_53_are_exact(algorithm: str) -> None:
    beyond_32 = undirected(4, [(0, 1, 2**32 - 1), (1, 2, 2**32 - 1), (2, 3, 2**32 - 1)])
    assert solve(algorithm, beyond_32, 0).raw.tolist() == [0, 2**32 - 1, 2**33 - 2, 3 * 2**32 - 3]
    beyond_53 = directed(3, [(0, 1, 2**53), (1, 2, 1)], "int64")
    assert solve(algorithm, beyond_53, 0).raw.tolist() == [0, 2**53, 2**53 + 1]
    assert load_problem("sssp").reference(beyond_53, (0,), solve(algorithm, beyond_53, 0)).passed


def near_the_end(last: int) -> CSRGraph:
    """A path whose end lies at distance 2^64 − 1 + last."""
    graph = directed(4, [(0, 1, 0), (1, 2, 0), (2, 3, 0)], "uint64")
    weights = np.array([2**63, 2**63 - 1, 0], np.uint64)
    weights[1] = 2**63 - 1 + min(last, 0)
    weights[2] = max(last, 0)
    return CSRGraph(graph.offsets, graph.targets, weights, True, name="near-the-end")


@pytest.mark.parametrize("algorithm", EXACT)
def test_the_largest_distance_of_64_bits_is_kept(algorithm: str) -> None:
    assert solve(algorithm, near_the_end(-1), 0).raw.tolist() == [0, 2**63, 2**64 - 2, 2**64 - 2]


@pytest.mark.parametrize("last", [0, 1, 2**64 - 1])
@pytest.mark.parametrize("algorithm", EXACT)
def test_a_distance_beyond_64_bits_is_refused_with_the_vertex_named(algorithm: str, last: int) -> None:
    with pytest.raises(InputError, match="to vertex 2 does not fit in 64 bits"):
        solve(algorithm, near_the_end(last), 0)
    with pytest.raises(InputError, match="does not fit in 64 bits"):
        reference_distances(near_the_end(last), 0)


@pytest.mark.parametrize("algorithm", EXACT)
def test_a_sum_beyond_64_bits_does_no_harm_where_another_path_fits(algorithm: str) -> None:
    graph = directed(3, [(0, 1, 2**63), (1, 2, 2**63), (0, 2, 5)], "uint64")
    assert solve(algorithm, graph, 0).raw.tolist() == [0, 2**63, 5]


@pytest.mark.parametrize("name", ["grid", "float32"])
@pytest.mark.parametrize("algorithm", EXACT)
def test_nothing_is_left_to_compile_in_a_run_even_on_a_graph_mapped_from_a_file(algorithm: str, name: str) -> None:
    graph = zoo(name)
    arrays = [array.copy() for array in (graph.offsets, graph.targets, graph.weights)]
    for array in arrays:
        array.flags.writeable = False
    mapped = CSRGraph(*arrays, directed=False)
    compile_ = find_algorithm("sssp", algorithm, "cpu").compile
    assert compile_ is not None
    compile_(GraphView.of(graph), None)
    functions = [f for module in MODULES for f in vars(module).values() if hasattr(f, "signatures")]
    before = [len(f.signatures) for f in functions]
    assert sum(before) > 0
    solve(algorithm, mapped, 0)
    assert [len(f.signatures) for f in functions] == before
