"""Kruskal, Borůvka and Prim find the same forest, edge for edge, on everything."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import InputError
from gpugraph.ext.papers.mst.cpu_boruvka_lists import Lists, longest_cycle
from gpugraph.ext.tuned.mst import cpu_boruvka
from gpugraph.ext.tuned.mst import cpu_boruvka_steps as steps
from gpugraph.graph import chunks
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst import cpu_kruskal
from gpugraph.problems.mst.problem import PROBLEM
from gpugraph.problems.mst.verify import reference_forest
from gpugraph.problems.registry import algorithms, find_algorithm
from tests.memory import with_peak
from tests.problems.mst.helpers import CPU_ALGORITHMS, forest_by, random_graph
from tests.tiers import by_width, drawn, only
from tests.zoo import COMMON, ZOO, undirected, zoo


@pytest.fixture
def many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even small graphs be worked on in many ranges, and their edges be filtered."""
    monkeypatch.setattr(chunks, "_LEAST", 2)
    monkeypatch.setattr(chunks, "threads", lambda: 3)
    monkeypatch.setattr(cpu_boruvka, "thread_count", lambda _: 3)
    monkeypatch.setattr(cpu_boruvka, "LIGHT_PER_VERTEX", 0.3)
    monkeypatch.setattr(cpu_kruskal, "_SORTED_OUTRIGHT", 4)


@pytest.mark.parametrize(("name", "index_bits"), by_width(ZOO))
@pytest.mark.parametrize("algorithm", CPU_ALGORITHMS)
def test_every_algorithm_finds_the_forest_of_the_zoo(name: str, algorithm: str, index_bits: int) -> None:
    graph = PROBLEM.admit(zoo(name))
    forest = forest_by(algorithm, graph, index_bits)
    for verdict in (PROBLEM.reference(graph, (), forest), PROBLEM.certificate(graph, (), forest)):
        assert verdict.passed, verdict.detail


@pytest.mark.usefixtures("many_threads")
@pytest.mark.parametrize("algorithm", CPU_ALGORITHMS)
@pytest.mark.parametrize("name", only(COMMON, ZOO))
def test_the_forest_does_not_depend_on_threads_and_filters(name: str, algorithm: str) -> None:
    graph = PROBLEM.admit(zoo(name))
    forest = forest_by(algorithm, graph)
    assert np.array_equal(forest.edges, reference_forest(graph))
    assert PROBLEM.certificate(graph, (), forest).passed


@pytest.mark.parametrize("name", only(COMMON, ZOO))
def test_all_algorithms_give_one_digest(name: str) -> None:
    graph = PROBLEM.admit(zoo(name))
    forests = [forest_by(algorithm, graph) for algorithm in CPU_ALGORITHMS]
    assert len({forest.edges_sha256 for forest in forests}) == 1
    assert len({forest.fingerprint() for forest in forests}) == 1


@pytest.mark.parametrize(("heaviest", "dtype"), [(3, "uint32"), (2**20, "float64"), (0, "int32")])
def test_a_graph_of_many_ranges_is_spanned_alike(heaviest: int, dtype: str) -> None:
    graph = random_graph(9_000, 150_000, heaviest, 5, dtype)
    expected = reference_forest(graph)
    for algorithm in CPU_ALGORITHMS:
        forest = forest_by(algorithm, graph)
        assert np.array_equal(forest.edges, expected), algorithm
    assert PROBLEM.certificate(graph, (), forest).passed


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(
    ("heaviest", "dtype"),
    [(0, "uint32"), (1, "float32"), (3, "int64"), (2**20, "uint64"), (2**20, "float64"), (2**20, "int32")],
)
def test_boruvka_breaks_ties_alike_by_any_number_of_threads(heaviest: int, dtype: str, size: int) -> None:
    # Isolated vertices, a hub, and negative weights where there are some; most edges are heavy and wait.
    graph = random_graph(3_000, 40_000, heaviest, 9, dtype)
    hub = np.repeat(np.arange(graph.vertices), graph.degrees) < graph.targets
    tails, heads = np.repeat(np.arange(graph.vertices), graph.degrees)[hub], graph.targets[hub]
    weights = graph.weights[hub] - (heaviest // 2 if dtype[0] != "u" else 0)
    spokes = np.arange(2_000)
    arcs = ArcList(
        np.concatenate([tails, np.full(2_000, 3_500)]),
        np.concatenate([heads, spokes]),
        np.concatenate([weights, weights[:2_000]]).astype(dtype),
        4_000,
        False,
        one_sided=True,
    )
    graph = build(arcs)
    state = cpu_boruvka.prepare(GraphView.of(graph), None, size=size)
    for _ in range(2):  # a state is good for many runs
        forest = cpu_boruvka.ALGORITHM.finish(state, cpu_boruvka.run(state, NullClock()))
        assert np.array_equal(forest.edges, reference_forest(graph))


def test_a_graph_of_too_many_edges_for_boruvka_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "BLOCK", 2**32)
    with pytest.raises(InputError, match="fewer than 2\\^32 edges, not 13 — use --algo kruskal"):
        forest_by("boruvka", undirected(14, [(i, i + 1, 1) for i in range(13)]))


@pytest.mark.parametrize("step", [1, -1])
def test_a_long_chain_of_picks_takes_one_round(step: int) -> None:
    n = 50_000
    graph = undirected(n, [(i, i + 1, step * i + n) for i in range(n - 1)])
    clock = NullClock()
    assert len(forest_by("boruvka", graph, clock=clock).edges) == n - 1
    assert clock.counters["rounds"] <= 2  # the second finds that no edge is left


@pytest.mark.parametrize("name", ["random", "random-ties", "two-components", "negative-int32", "float64", "grid-equal"])
def test_networkx_agrees_on_the_total_weight(name: str) -> None:
    graph = zoo(name)
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    other = nx.Graph()
    other.add_nodes_from(range(graph.vertices))
    other.add_weighted_edges_from(zip(tails.tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True))
    tree = nx.minimum_spanning_tree(other)
    forest = forest_by("kruskal", graph)
    assert forest.total_weight == pytest.approx(tree.size("weight"), rel=1e-12)
    assert len(forest.edges) == tree.number_of_edges()
    assert forest.components == nx.number_connected_components(other)


@st.composite
def tied_graphs(draw: st.DrawFn) -> CSRGraph:
    """Draw a small graph whose weights are nearly all equal."""
    n = draw(st.integers(1, 14))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, st.integers(0, 2)), max_size=50))
    return undirected(n, edges, draw(st.sampled_from(["uint32", "float64"])))


@drawn(60)
@given(tied_graphs())
def test_ties_are_broken_in_canonical_order(graph: CSRGraph) -> None:
    expected = reference_forest(graph)
    for algorithm in CPU_ALGORITHMS:
        forest = forest_by(algorithm, graph)
        assert forest.edges.tolist() == expected.tolist(), algorithm
    assert PROBLEM.certificate(graph, (), forest).passed


def test_equal_edges_are_taken_by_their_smaller_endpoints() -> None:
    forest = forest_by("boruvka", zoo("complete-equal"))
    assert [ends.tolist() for ends in forest.endpoints()] == [[0] * 19, list(range(1, 20))]


@pytest.mark.parametrize(
    ("algorithm", "phases"),
    [
        ("boruvka", {"find_min", "remove_cycles", "merge_trees", "filter"}),
        ("kruskal", {"partition", "sort", "unite", "filter"}),
        ("prim", {"grow", "edge_ids"}),
    ],
)
def test_the_phases_are_marked(algorithm: str, phases: set[str]) -> None:
    clock = HostClock()
    forest_by(algorithm, zoo("random-dense"), clock=clock)
    assert set(clock.seconds) == phases


@pytest.mark.parametrize(
    ("other", "longest"), [([1, 0, 1, -1], 2), ([3, 2, 4, 0, 1, 4], 3), ([1, 2, 3, 4, 0], 5), ([-1], 0)]
)
def test_trees_that_choose_each_other_in_a_circle_are_counted(other: list[int], longest: int) -> None:
    n = len(other)
    lists = Lists(np.arange(1, n + 1), np.array(other, np.int32), np.zeros(n, np.uint32), np.arange(n))
    best = np.where(lists.other < 0, -1, np.arange(n))
    assert longest_cycle(n, lists, best, np.empty(n, np.int32)) == longest


def test_a_run_of_the_papers_baseline_allocates_nothing() -> None:
    algorithm, view = find_algorithm("mst", "boruvka-lists", "cpu"), GraphView.of(generate("random:n=8192,deg=8"))
    state = algorithm.prepare(view, None)
    first = algorithm.run(state, NullClock())
    second, peak = with_peak(lambda: algorithm.run(state, NullClock()))
    assert peak < 50_000
    assert np.shares_memory(first, second)
    assert not np.shares_memory(algorithm.finish(state, second).edges, second)


def test_no_circle_of_boruvkas_is_of_more_than_two_trees() -> None:
    clock = HostClock()
    forest_by("boruvka-lists", zoo("complete-equal"), clock=clock)
    assert clock.counters["longest_cycle"] == 2


def test_the_algorithms_name_their_sources() -> None:
    by_name = {a.name: a for a in algorithms("mst") if a.devices == ("cpu",)}
    years = {"boruvka": 1926, "boruvka-lists": 2013, "kruskal": 2009, "prim": 1957}
    assert {name: by_name[name].year for name in CPU_ALGORITHMS} == years
    assert all(by_name[name].authors and by_name[name].section for name in CPU_ALGORITHMS)


def test_compilation_happens_ahead_of_a_run() -> None:
    from gpugraph.graph.view import GraphView

    for name in CPU_ALGORITHMS:
        algorithm = find_algorithm("mst", name, "cpu")
        assert algorithm.compile is not None
        algorithm.compile(GraphView.of(zoo("random-dense")), None)


def test_an_unknown_algorithm_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="did you mean 'kruskal'"):
        find_algorithm("mst", "kruskall", "cpu")
