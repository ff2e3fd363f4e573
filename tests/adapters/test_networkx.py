"""The NetworkX backend against NetworkX itself: the same edges, paths and numbers in the same order."""

from __future__ import annotations

import copy
import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.utils import backends

import gpugraph
from gpugraph.base.errors import VerificationFailed
from gpugraph.ext.networkx import backend, graph
from gpugraph.ext.networkx import paths as paths_module
from gpugraph.ext.networkx.backend import can_run, convert_from_nx, convert_to_nx, should_run
from gpugraph.ext.networkx.graph import Declined
from gpugraph.ext.networkx.info import FUNCTIONS
from gpugraph.ext.networkx.paths import Paths
from tests.tiers import drawn

KINDS = (nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph)
NODES = st.sampled_from(["a", "b", 3, 4.5, (1, 2), frozenset({7}), None.__class__, "h", -1, True])


def here(name: str, G: Any, *arguments: Any, **named: Any) -> Any:
    return getattr(backend, name)(convert_from_nx(G), *arguments, **named)


def there(name: str, G: Any, *arguments: Any, **named: Any) -> Any:
    return getattr(nx, name).orig_func(G, *arguments, **named)


def outcome(function: Any, *arguments: Any, **named: Any) -> Any:
    """Return what came back, generators as lists, lengths with their order; or the error."""
    try:
        return told(function(*arguments, **named))
    except (nx.NetworkXException, ValueError) as error:
        return type(error), str(error)


def told(value: Any) -> Any:
    if isinstance(value, nx.Graph):
        return type(value), value.graph, dict(value.nodes(data=True)), value._adj, list(value.edges)
    if isinstance(value, dict):
        lists = any(isinstance(one, list) for one in value.values())  # NetworkX orders those by when they were begun
        return dict(value) if lists else [(key, told(one)) for key, one in value.items()]
    if isinstance(value, tuple):
        return tuple(map(told, value))
    return [told(one) for one in value] if hasattr(value, "__next__") else value


@st.composite
def graphs(draw: st.DrawFn, kinds: tuple[type, ...] = KINDS, low: int = 0) -> nx.Graph:
    G = draw(st.sampled_from(kinds))()
    G.graph["name"] = "any"
    weights = draw(st.sampled_from([st.integers(low, 6), st.floats(low, 3, width=16), st.sampled_from([1, 2.5])]))
    for node in draw(st.lists(NODES, max_size=4)):
        G.add_node(node, seen=True)
    for u, v, w, has in draw(st.lists(st.tuples(NODES, NODES, weights, st.booleans()), max_size=16)):
        G.add_edge(u, v, **({"weight": w, "kept": [w]} if has else {"kept": []}))
    return G


@drawn(60)
@given(graphs((nx.Graph, nx.MultiGraph)), st.booleans(), st.booleans())
def test_forests_are_kruskal_s_to_the_last_tie(G, keys, data):
    for name in ("minimum_spanning_edges", "maximum_spanning_edges"):
        named = {"algorithm": "kruskal", "keys": keys, "data": data}
        assert outcome(here, name, G, **named) == outcome(there, name, G, **named)
    for name in ("minimum_spanning_tree", "maximum_spanning_tree"):
        assert outcome(here, name, G) == outcome(there, name, G)
        assert outcome(here, name, G, weight="missing") == outcome(there, name, G, weight="missing")


@settings(deadline=None, max_examples=40)
@given(graphs((nx.Graph, nx.MultiGraph)), st.data())
def test_a_partition_is_respected(G, data):
    marks = [nx.EdgePartition.OPEN, nx.EdgePartition.INCLUDED, nx.EdgePartition.EXCLUDED]
    for *_, attributes in G.edges(data=True):
        attributes["partition"] = data.draw(st.sampled_from(marks))
    for minimum in (True, False):
        mine, yours = (outcome(how, "partition_spanning_tree", G, minimum) for how in (here, there))
        assert mine == yours


@drawn(60)
@given(graphs(), st.data())
def test_paths_predecessors_and_their_order_are_networkx_s(G, data):
    nodes = [*G, "no node"]
    source, target = data.draw(st.sampled_from(nodes)), data.draw(st.sampled_from([None, *nodes]))
    cutoff = data.draw(st.sampled_from([None, 0, 1.5, 3, math.inf]))

    def hide(u: Any, v: Any, attributes: Any) -> float | None:
        return None if v == "b" else len(repr((u, v)))

    weight = data.draw(st.sampled_from(["weight", "missing", None, hide]))
    asked = [
        ("single_source_dijkstra", (source,), {"target": target, "cutoff": cutoff, "weight": weight}),
        ("single_source_dijkstra_path", (source,), {"cutoff": cutoff, "weight": weight}),
        ("multi_source_dijkstra_path_length", (list(G)[:3],), {"cutoff": cutoff, "weight": weight}),
        ("dijkstra_predecessor_and_distance", (source,), {"cutoff": cutoff, "weight": weight}),
        ("dijkstra_path_length", (source, "no node" if target is None else target), {"weight": weight}),
    ]
    for name, given_, named in asked:
        assert outcome(here, name, G, *given_, **named) == outcome(there, name, G, *given_, **named), name


@settings(deadline=None, max_examples=30)
@given(graphs(low=-1), st.data())
def test_negative_weights_are_noticed_as_networkx_notices_them(G, data):
    source = data.draw(st.sampled_from([*G, "no node"]))
    mine, yours = (outcome(how, "single_source_dijkstra", G, source) for how in (here, there))
    assert mine == yours


@settings(deadline=None, max_examples=40)
@given(graphs())
def test_components_come_in_the_order_of_their_first_nodes(G):
    weakly = "weakly_" if G.is_directed() else ""
    mine, yours = (outcome(how, f"{weakly}connected_components", G) for how in (here, there))
    assert mine == yours
    assert here(f"number_{weakly}connected_components", G) == len(yours)
    assert outcome(here, f"is_{weakly}connected", G) == outcome(there, f"is_{weakly}connected", G)


def test_paths_are_a_dictionary_whose_values_are_made_when_they_are_looked_up():
    G = nx.path_graph(4)
    expected = {0: [0], 1: [0, 1], 2: [0, 1, 2], 3: [0, 1, 2, 3]}

    def paths() -> Paths:
        return here("single_source_dijkstra", G, 0)[1]

    looked_up = paths()
    assert looked_up[3] == looked_up.get(3) == [0, 1, 2, 3]
    assert [dict.__getitem__(looked_up, node) for node in (1, 3)] == [None, [0, 1, 2, 3]]
    with pytest.raises(KeyError):
        looked_up[1000]
    for whole in (
        lambda one: dict(one),
        lambda one: {**one},
        lambda one: one.copy(),
        lambda one: one | {},
        lambda one: {} | one,
        lambda one: dict(one.items()),
        lambda one: dict(zip(one, one.values(), strict=True)),
        lambda one: pickle.loads(pickle.dumps(one)),
        lambda one: copy.deepcopy(one),
        lambda one: copy.copy(one),
        lambda one: {int(node): path for node, path in json.loads(json.dumps(one)).items()},
    ):
        assert whole(paths()) == expected
    other: dict = {}
    other.update(paths())
    assert other == expected == paths()
    assert repr(paths()) == repr(expected)
    assert paths().pop(2) == [0, 1, 2]
    changed = paths()
    changed.update({9: []})
    assert changed[9] == []


@pytest.mark.parametrize("name", ["minimum_spanning_tree", "number_connected_components"])
def test_threads_that_share_a_graph_take_turns(name):
    G = nx.gnm_random_graph(300, 900, seed=1)
    converted = convert_from_nx(G)
    expected = outcome(there, name, G)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: outcome(getattr(backend, name), converted), range(100), timeout=300))
    assert all(one == expected for one in found)


def test_a_graph_that_was_solved_can_be_pickled_and_copied():
    G = nx.path_graph(4)
    converted = convert_from_nx(G)
    backend.minimum_spanning_tree(converted)
    for copied in (pickle.loads(pickle.dumps(converted)), copy.deepcopy(converted)):
        assert backend.number_connected_components(copied) == 1


@pytest.mark.parametrize("weight", [np.float32(0.1), np.float16(0.1), np.longdouble(0.1), math.inf])
def test_weights_whose_sums_would_differ_are_left_to_networkx(weight):
    G = nx.Graph([(0, 1, {"weight": weight}), (1, 2, {"weight": weight})])
    for name, given_ in (("single_source_dijkstra", (0,)), ("all_pairs_dijkstra", ())):
        with pytest.raises(Declined):
            here(name, G, *given_)
    if isinstance(weight, np.longdouble):
        for name in ("minimum_spanning_tree", "minimum_spanning_edges"):
            with pytest.raises(Declined):
                here(name, G)
    else:
        assert outcome(here, "minimum_spanning_tree", G) == outcome(there, "minimum_spanning_tree", G)


@pytest.mark.parametrize("weight", [2**63, 10**30, "4", None, 1j, [1], np.timedelta64(4, "s")])
def test_weights_that_no_64_bits_hold_are_left_to_networkx(weight):
    G = nx.Graph([(0, 1, {"weight": weight})])
    with pytest.raises(Declined):
        here("minimum_spanning_tree", G)
    with pytest.raises(Declined):
        here("single_source_dijkstra", G, 0)


@pytest.mark.parametrize("weight", ["weight", lambda u, v, data: min(one["weight"] for one in data.values())])
def test_weights_of_edges_that_no_path_comes_to_are_left_to_networkx(weight):
    G = nx.MultiGraph([(0, 1, {"weight": 2}), (2, 3, {"weight": None}), (2, 3, {"weight": 1})])
    with pytest.raises(Declined, match="TypeError"):
        here("single_source_dijkstra_path_length", G, 0, weight=weight)
    G = nx.MultiGraph([(0, 1, {"weight": 2}), (2, 3, {})])
    if callable(weight):
        with pytest.raises(Declined, match="KeyError"):
            here("single_source_dijkstra_path_length", G, 0, weight=weight)


def test_integers_beside_floats_must_be_exact():
    G = nx.Graph([(0, 1, {"weight": 2**53 + 1}), (1, 2, {"weight": 0.5})])
    with pytest.raises(Declined):
        here("single_source_dijkstra", G, 0)


def test_every_function_of_the_list_is_there_and_none_else_can_run():
    for name in FUNCTIONS:
        assert callable(getattr(backend, name))
        assert name in backends._registered_algorithms
        assert can_run(name, (), {}) is True
    assert can_run("pagerank", (), {}) == "gpugraph has no pagerank"
    assert can_run("johnson", (), {}) == "gpugraph has no johnson"


def test_small_graphs_and_single_pairs_stay_with_networkx():
    small, large = nx.path_graph(20), nx.complete_graph(200)
    assert "19 edges" in should_run("minimum_spanning_tree", (small,), {})
    assert should_run("minimum_spanning_tree", (large,), {}) is True
    assert "one pair" in should_run("dijkstra_path", (large, 0, 1), {})
    large.__networkx_cache__["backends"] = {"gpugraph": {"any": convert_from_nx(large)}}
    assert should_run("dijkstra_path", (large, 0, 1), {}) is True


def test_a_converted_graph_leads_back_to_its_own():
    G = nx.Graph()
    converted = convert_from_nx(G)
    assert convert_to_nx(converted) is G
    assert convert_from_nx(converted) is converted
    assert convert_to_nx({1: 2}) == {1: 2}


def test_a_gpu_finds_the_same_lengths_and_forests(monkeypatch):
    G = nx.gnm_random_graph(40, 90, seed=3)
    for i, (u, v) in enumerate(G.edges):
        G[u][v]["weight"] = (i * 7) % 11 + 1
    expected = there("single_source_dijkstra_path_length", G, 0)
    forest = outcome(there, "minimum_spanning_tree", G)
    monkeypatch.setattr(graph, "device", lambda: "emulated")
    monkeypatch.setattr(paths_module, "device", lambda: "emulated")
    monkeypatch.setattr(backend.trees, "device", lambda: "emulated")
    lengths, paths = here("single_source_dijkstra", G, 0)
    assert lengths == expected
    assert gpugraph.last_call().device == "emulated"
    assert all(nx.path_weight(G, paths[node], "weight") == expected[node] for node in expected)
    assert outcome(here, "minimum_spanning_tree", G) == forest


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("single_source_dijkstra", ([1],)),
        ("single_source_dijkstra", (0, [1])),
        ("dijkstra_path_length", (0, [1])),
        ("dijkstra_path_length", ([1], 0)),
        ("dijkstra_predecessor_and_distance", ([1],)),
    ],
)
def test_what_is_no_node_raises_what_networkx_raises(name: str, arguments: tuple[object, ...]) -> None:
    graph, raised = nx.path_graph(4), []
    for where in (None, "gpugraph"):
        with pytest.raises((TypeError, nx.NodeNotFound)) as found:
            getattr(nx, name)(graph.copy(), *arguments, backend=where)
        raised.append((found.type, str(found.value).rpartition("(")[2].rstrip(")")))  # Python 3.14 says more before it
    assert raised[0] == raised[1]


def test_the_length_of_a_path_to_none_is_no_path() -> None:
    graph = nx.path_graph(4)
    assert outcome(here, "dijkstra_path_length", graph, 0, None) == outcome(
        there, "dijkstra_path_length", graph, 0, None
    )


def _numbered() -> nx.Graph:
    """Return a graph with ties, weights of zero, and nodes that a search comes across before it settles them."""
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 9), (0, 2, 1), (2, 1, 2), (2, 3, 0), (3, 4, 1), (0, 4, 7), (1, 5, 0)])
    return graph


@pytest.mark.parametrize("cutoff", [None, -1, -0.5, 0, 3, -math.inf, math.nan, Fraction(8, 3), Decimal("2.5"), 2**64])
@pytest.mark.parametrize("kind", [int, float, np.int64, np.float64, np.bool_])
def test_paths_are_networkxs_to_the_order_of_keys_and_the_type_of_numbers(kind: Any, cutoff: float | None) -> None:
    graph = _numbered()
    graph.add_edge(0, 0, weight=0)
    for _, _, attributes in graph.edges(data=True):
        attributes["weight"] = kind(attributes["weight"])
    for name in (
        "single_source_dijkstra",
        "single_source_dijkstra_path_length",
        "single_source_dijkstra_path",
        "dijkstra_predecessor_and_distance",
    ):
        answers = [
            [[(node, value, type(value)) for node, value in dict(part).items()] for part in parts]
            for backend in ("networkx", "gpugraph")
            for found in [getattr(nx, name)(graph, 0, cutoff=cutoff, backend=backend)]
            for parts in [found if isinstance(found, tuple) else (found,)]
        ]
        assert answers[0] == answers[1], name
    several = [
        list(nx.multi_source_dijkstra_path_length(graph, {0, 5}, cutoff=cutoff, backend=backend).items())
        for backend in ("networkx", "gpugraph")
    ]
    assert several[0] == several[1]


@pytest.mark.parametrize("cutoff", [None, 1e308, 10**400])
def test_lengths_beyond_every_float_are_networkxs(cutoff: float | None) -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 1e308), (1, 2, 1e308), (2, 3, 1.0)])
    lengths = [nx.single_source_dijkstra(graph, 0, cutoff=cutoff, backend=one) for one in ("networkx", "gpugraph")]
    assert [tuple(map(dict, both)) for both in lengths[:1]] == [tuple(map(dict, both)) for both in lengths[1:]]


def test_the_answer_for_every_function_that_weighs_edges_is_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.path_graph(4)
    nx.dijkstra_path_length(graph, 0, 3, weight=lambda u, v, data: 1, backend="gpugraph")
    search = paths_module.search

    def broken(*given: Any, **more: Any) -> Any:
        found = search(*given, **more)
        return replace(found, distance=found.distance + 1)

    monkeypatch.setattr(paths_module, "search", broken)
    with pytest.raises(VerificationFailed):
        nx.dijkstra_path_length(graph, 0, 3, weight=lambda u, v, data: 2, backend="gpugraph")


def test_several_sources_and_negative_weights_are_left_to_networkx() -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(6, 4, -1), (4, 5, 2)])
    with pytest.raises(NotImplementedError):
        nx.multi_source_dijkstra(graph, [6, 4], backend="gpugraph")
    assert dict(nx.multi_source_dijkstra_path_length(graph, [6], backend="gpugraph")) == {6: 0, 4: -1, 5: 1}


VIEWS = {
    "subgraph": lambda G: G.subgraph(list(G)),
    "subgraph_view": nx.subgraph_view,
    "edge_subgraph": lambda G: G.edge_subgraph(list(G.edges)),
    "reverse": lambda G: G.reverse(copy=False),
    "to_undirected": lambda G: G.to_undirected(as_view=True),
    "copy": lambda G: G.copy(as_view=True),
}


@pytest.mark.filterwarnings("ignore:Note")
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_shows_what_its_graph_has_become(view: str) -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 0, 4)])
    seen = VIEWS[view](G)
    first = nx.single_source_dijkstra_path_length(seen, 1, backend="gpugraph")
    G.remove_edge(2, 3)
    G.remove_edge(3, 0)
    now = nx.single_source_dijkstra_path_length(seen, 1, backend="gpugraph")
    assert now == nx.single_source_dijkstra_path_length(seen, 1, backend="networkx") != first


def test_a_graph_whose_conversions_are_not_to_be_kept_is_asked_about_all_the_same() -> None:
    large = nx.gnm_random_graph(300, 3000, seed=1)
    large.__networkx_cache__ = None
    assert should_run("minimum_spanning_tree", (large,), {}) is True
    assert should_run("dijkstra_path", (large, 0, 1), {}) is not True
