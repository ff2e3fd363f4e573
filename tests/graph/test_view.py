from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.base.errors import InputError
from gpugraph.ext.changes import preparations
from gpugraph.ext.changes.preparations import breadth_first_order, rank_weights
from gpugraph.graph import chunks
from gpugraph.graph.build import ArcList, arc_tails, build
from gpugraph.graph.canonical import canonical_ids
from gpugraph.graph.read_options import PREPARATIONS
from gpugraph.graph.view import GraphView
from tests.zoo import ZOO, zoo

COMBINATIONS = [chosen for count in range(4) for chosen in combinations(PREPARATIONS, count)]


def forest_of(view):
    """Canonical edge ids of the minimum spanning forest, from the view's arrays alone."""
    tails = np.repeat(np.arange(view.vertices), np.diff(view.offsets))
    ids = view.canonical_edges(np.arange(view.arcs))
    parent = list(range(view.vertices))

    def root(v):
        while parent[v] != v:
            v = parent[v]
        return v

    forest = set()
    for i in sorted(range(view.arcs), key=lambda i: (view.weights[i], ids[i])):
        a, b = root(tails[i]), root(view.targets[i])
        if a != b:
            parent[a] = b
            forest.add(int(ids[i]))
    return sorted(forest)


@st.composite
def small_graphs(draw):
    n = draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, st.integers(-2, 3)), max_size=25))
    dtype = draw(st.sampled_from(["int32", "float64"]))
    u, v, w = (np.array([edge[i] for edge in edges], np.int64) for i in range(3))
    return build(ArcList(u, v, w.astype(dtype), n, one_sided=True))


@settings(deadline=None, max_examples=40)
@given(small_graphs())
def test_the_forest_is_the_same_under_every_combination_of_preparations(graph):
    forests = [forest_of(GraphView.of(graph, chosen, bits)) for chosen in COMBINATIONS for bits in (32, 64)]
    assert all(forest == forests[0] for forest in forests)


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("chosen", COMBINATIONS, ids="+".join)
def test_every_arc_of_a_view_leads_back_to_its_own(name, chosen):
    graph = zoo(name)
    view = GraphView.of(graph, chosen)
    assert view.preparations == chosen
    arcs = np.arange(graph.arcs) if view.arc_origin is None else view.arc_origin
    vertices = np.arange(graph.vertices) if view.vertex_origin is None else view.vertex_origin
    assert sorted(arcs) == list(range(graph.arcs))
    assert sorted(vertices) == list(range(graph.vertices))
    tails = np.repeat(np.arange(view.vertices), np.diff(view.offsets))
    assert np.array_equal(vertices[tails], arc_tails(graph)[arcs])
    assert np.array_equal(vertices[view.targets], graph.targets[arcs])
    weights = rank_weights(graph.weights) if "rank-weights" in chosen else graph.weights
    assert np.array_equal(view.weights, weights[arcs])
    assert view.weights.dtype == weights.dtype
    ids = canonical_ids(graph)[arcs]
    assert np.array_equal(view.canonical_edges(np.arange(graph.arcs)), ids)
    reordered = "sort-adjacency" in chosen or "renumber" in chosen
    assert (view.edge_ids is not None) == reordered
    for row in range(view.vertices):
        start, stop = view.offsets[row], view.offsets[row + 1]
        if "sort-adjacency" in chosen:
            keys = list(zip(view.weights[start:stop].tolist(), ids[start:stop].tolist(), strict=True))
        else:
            keys = view.targets[start:stop].tolist()
        assert keys == sorted(keys)


def test_the_order_in_which_preparations_are_named_does_not_matter():
    one = GraphView.of(zoo("random-ties"), ("renumber", "sort-adjacency", "rank-weights", "renumber"))
    other = GraphView.of(zoo("random-ties"), ("rank-weights", "sort-adjacency", "renumber"))
    assert one.preparations == ("renumber", "sort-adjacency", "rank-weights")
    for name in ("offsets", "targets", "weights", "arc_origin", "vertex_origin", "edge_ids"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_long_rows_are_sorted_too_and_by_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(3)
    leaves = np.arange(1, 3000)
    graph = build(ArcList(np.zeros_like(leaves), leaves, rng.integers(0, 40, 2999) / 8, 3000, one_sided=True))
    plain = GraphView.of(graph, ("sort-adjacency", "renumber"))
    hub = int(np.flatnonzero(plain.vertex_origin == 0)[0])
    row = slice(plain.offsets[hub], plain.offsets[hub + 1])
    assert list(zip(plain.weights[row], plain.edge_ids[row], strict=True)) == sorted(
        zip(plain.weights[row], plain.edge_ids[row], strict=True)
    )
    monkeypatch.setattr(chunks, "_LEAST", 256)
    cut = GraphView.of(graph, ("sort-adjacency", "renumber"))
    assert np.array_equal(plain.arc_origin, cut.arc_origin)


@pytest.mark.parametrize("bits", [32, 64])
def test_every_index_of_a_view_has_the_width_asked_for(bits):
    view = GraphView.of(zoo("random"), ("sort-adjacency",), bits)
    assert view.index_bits == bits
    assert {view.offsets.dtype, view.arc_origin.dtype, view.edge_ids.dtype} == {np.dtype(f"int{bits}")}
    assert view.nbytes == sum(a.nbytes for a in (view.offsets, view.targets, view.weights, view.edge_ids))


def test_narrow_indices_are_refused_for_two_thousand_million_arcs():
    huge = replace(zoo("triangle"), targets=np.broadcast_to(np.int32(0), 2**31))
    with pytest.raises(InputError, match="2147483648 arcs do not fit in 32-bit arc indices"):
        GraphView.of(huge, index_bits=32)
    with pytest.raises(InputError, match="16 bits do not exist"):
        GraphView.of(zoo("triangle"), index_bits=16)


def test_an_unknown_preparation_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'renumber'"):
        GraphView.of(zoo("triangle"), ("renumbr",))


def test_renumbering_brings_connected_vertices_close_and_isolated_ones_last():
    rng = np.random.default_rng(1)
    names = rng.permutation(1000)
    path = build(ArcList(names[:899], names[1:900], None, 1000, one_sided=True))
    view = GraphView.of(path, ("renumber",))
    tails = np.repeat(np.arange(1000), np.diff(view.offsets))
    assert np.abs(tails - view.targets).max() <= 2
    assert (np.diff(view.offsets)[900:] == 0).all()
    order = breadth_first_order(path.offsets, path.targets)
    assert sorted(order) == list(range(1000))


@pytest.mark.parametrize(
    "weights",
    [
        np.array([5, 3, 5, 2**32 - 1, 0], np.uint32),
        np.array([-(2**31), 2**31 - 1, 0, 0], np.int32),
        np.array([-(2**63), 2**63 - 1, 7], np.int64),
        np.array([2**64 - 1, 0, 2**63], np.uint64),
        np.array([np.inf, -np.inf, 0.5, -0.5, 0.0, 1e-300, 0.5]),
        np.array([3.5, 1.25, 3.5], np.float32),
        np.zeros(0, np.float64),
        np.full(4, 9, np.uint32),
    ],
)
def test_ranks_are_dense_and_keep_order_and_ties(weights):
    ranks = rank_weights(weights)
    assert ranks.dtype == np.uint32
    assert np.array_equal(ranks, np.unique(weights, return_inverse=True)[1])


def test_more_distinct_weights_than_ranks_are_refused(monkeypatch):
    monkeypatch.setattr(preparations, "MOST_RANKS", 3)
    assert rank_weights(np.array([1, 2, 3])).tolist() == [0, 1, 2]
    for weights in (np.arange(4), np.arange(4) * 1e-3, np.arange(4) << 40):
        with pytest.raises(InputError, match="4 distinct weights do not fit"):
            rank_weights(weights)
