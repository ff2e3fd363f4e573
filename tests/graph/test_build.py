from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.graph import chunks, sort_arcs
from gpugraph.graph.build import ArcList, RowTails, arc_tails, build, narrow_weights
from gpugraph.graph.canonical import canonical_ids
from gpugraph.graph.check import is_symmetric
from gpugraph.graph.csr import WEIGHT_DTYPES
from gpugraph.graph.symmetrize import symmetrize
from gpugraph.graph.view import GraphView
from tests.tiers import drawn
from tests.zoo import UNDIRECTED, ZOO, directed, undirected, zoo

VALUES = {
    "u": [0, 1, 2, 2**31, 2**32 - 1],
    "i": [-(2**31), -5, -1, 0, 1, 2**31 - 1],
    "f": [-np.inf, -2.5, -0.0, 0.0, 1e-40, 1.0, 7.25, np.inf],
}


@st.composite
def multigraphs(draw):
    vertices = draw(st.integers(1, 12))
    dtype = np.dtype(draw(st.sampled_from(WEIGHT_DTYPES)))
    vertex = st.integers(0, vertices - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, st.sampled_from(VALUES[dtype.kind])), max_size=40))
    return vertices, arcs, dtype


def arc_list(vertices, arcs, dtype, **kwargs):
    tails, heads, weights = ([a[i] for a in arcs] for i in range(3))
    return ArcList(np.array(tails, np.int64), np.array(heads, np.int64), np.array(weights, dtype), vertices, **kwargs)


def as_dict(graph):
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    assert len(set(zip(tails, graph.targets, strict=True))) == graph.arcs
    return {(int(u), int(v)): w.item() for u, v, w in zip(tails, graph.targets, graph.weights, strict=True)}


def lightest(arcs, dtype, mirrored):
    kept = {}
    for u, v, w in arcs:
        value = np.array(w, dtype).item()
        for pair in [(u, v), (v, u)] if mirrored else [(u, v)]:
            if u != v:
                kept[pair] = min(kept.get(pair, value), value)
    return kept


def as_rows(arcs):
    """Return the same list, row by row in the order given, without its tails."""
    order = np.argsort(arcs.tails, kind="stable")
    offsets = np.searchsorted(arcs.tails[order], np.arange(arcs.vertices + 1)).astype(np.int64)
    weights = None if arcs.weights is None else arcs.weights[order]
    return replace(arcs, tails=RowTails(offsets), heads=arcs.heads[order].astype(np.int32), weights=weights)


@drawn(80)
@given(multigraphs(), st.sampled_from([None, True]), st.booleans())
def test_arcs_listed_row_by_row_give_the_graph_of_the_list(multigraph, directed, one_sided):
    arcs = arc_list(*multigraph, directed=None if one_sided else directed, one_sided=one_sided)
    expected, found = build(arcs), build(as_rows(arcs))
    assert found.digest == expected.digest
    assert (found.directed, found.notes) == (expected.directed, expected.notes)
    assert np.array_equal(found.weights, expected.weights)


@pytest.mark.parametrize("name", UNDIRECTED)
def test_rows_that_are_in_order_are_taken_as_they_are(name):
    graph = zoo(name)
    listed = ArcList(RowTails(graph.offsets), graph.targets, graph.weights, graph.vertices)
    made = build(listed)
    assert made.digest == graph.digest
    assert made.targets is graph.targets
    assert listed.on_host().tails.tolist() == arc_tails(graph).tolist()


@drawn(80)
@given(multigraphs(), st.booleans())
def test_the_builder_equals_a_dictionary_of_the_lightest_arcs(multigraph, mirrored):
    vertices, arcs, dtype = multigraph
    graph = build(arc_list(*multigraph, directed=None if mirrored else True, one_sided=mirrored))
    assert as_dict(graph) == lightest(arcs, dtype, mirrored)
    assert graph.weights.dtype == dtype
    assert graph.targets.dtype == np.int32
    assert graph.offsets.dtype == np.int64
    assert len(graph.offsets) == vertices + 1
    assert graph.directed is not mirrored
    for v in range(vertices):
        row = graph.targets[graph.offsets[v] : graph.offsets[v + 1]]
        assert (np.diff(row) > 0).all()


@settings(deadline=None, max_examples=40)
@given(multigraphs())
def test_an_unknown_kind_is_undirected_exactly_if_every_arc_has_its_equal_reverse(multigraph):
    _, arcs, dtype = multigraph
    kept = lightest(arcs, dtype, mirrored=False)
    symmetric = all(kept.get((v, u)) == w for (u, v), w in kept.items())
    assert build(arc_list(*multigraph)).directed is not symmetric
    assert not build(arc_list(multigraph[0], arcs + [(v, u, w) for u, v, w in arcs], dtype)).directed


def test_many_buckets_and_threads_give_the_same_rows_as_one(monkeypatch):
    rng = np.random.default_rng(5)
    tails, heads = (rng.integers(0, 3000, 20000) ** 2 // 3000 for _ in range(2))
    arcs = ArcList(tails, heads, rng.integers(0, 50, 20000).astype(np.uint32), 3000, one_sided=True)
    plain = build(arcs)
    monkeypatch.setattr(sort_arcs, "_BUCKET_ARCS", 64)
    monkeypatch.setattr(chunks, "_LEAST", 512)
    monkeypatch.setattr(chunks, "_MOST", 1024)
    fractions = []
    cut = build(arcs, report=fractions.append)
    assert plain.digest == cut.digest
    assert np.array_equal(plain.targets, cut.targets)
    assert plain.notes == cut.notes
    assert fractions == sorted(fractions)
    assert 0.8 < fractions[-1] <= 1


def test_what_was_dropped_and_merged_is_said():
    arcs = [(0, 0, 1), (1, 1, 1), (2, 2, 4), (0, 1, 5), (0, 1, 3), (1, 2, 1)]
    graph = build(arc_list(3, arcs, np.uint32, directed=True, notes=("read from somewhere",)))
    assert graph.notes == ("read from somewhere", "dropped 3 self loops", "merged 1 parallel arc")
    graph = build(arc_list(3, [*arcs, (1, 0, 9)], np.uint32, one_sided=True))
    assert graph.notes == ("dropped 3 self loops", "merged 2 parallel edges")


def test_arcs_in_order_are_taken_as_they_are_and_copied():
    weights = np.array([-0.0, 2.0, 1.5])
    heads = np.array([1, 2, 0], np.int32)
    graph = build(ArcList(np.array([0, 0, 2], np.int32), heads, weights, 4, directed=True))
    assert graph.notes == ()
    assert list(graph.offsets) == [0, 2, 2, 3, 3]
    assert not np.signbit(graph.weights).any()
    assert not np.shares_memory(graph.targets, heads)


def test_negative_zero_is_stored_as_positive_zero():
    for dtype in (np.float32, np.float64):
        graph = build(arc_list(3, [(2, 1, -0.0), (0, 1, 0.0), (0, 1, -0.0)], dtype, one_sided=True))
        assert not np.signbit(graph.weights).any()
        assert (graph.weights == 0).all()


def test_no_weights_are_unit_weights():
    graph = build(ArcList(np.array([1]), np.array([0]), None, 2, one_sided=True))
    assert graph.weights.dtype == np.uint32
    assert list(graph.weights) == [1, 1]


def test_a_graph_without_vertices_or_arcs_is_undirected():
    for vertices in (0, 1, 7):
        graph = build(arc_list(vertices, [], np.float64))
        assert (graph.vertices, graph.arcs, graph.directed) == (vertices, 0, False)


def test_unequal_arcs_of_a_declared_undirected_graph_are_refused_by_the_ids_of_the_file():
    arcs = ArcList(
        np.array([0, 1, 1, 2]),
        np.array([1, 0, 2, 1]),
        np.array([1.5, 1.5, 2.0, 3.0]),
        3,
        directed=False,
        vertex_names=np.array(["a", "b", "c"]),
    )
    said = r"roads\.mtx: .*edge b - c weighs 2\.0 one way and 3\.0 the other — list both arcs of each edge"
    with pytest.raises(InputError, match=said):
        build(arcs, source="roads.mtx")


def test_a_missing_arc_of_a_declared_undirected_graph_is_refused():
    with pytest.raises(InputError, match="the edge 3 - 1 has the arc 3 → 1 only"):
        build(arc_list(5, [(0, 2, 1), (2, 0, 1), (3, 1, 4)], np.uint32, directed=False))


def test_symmetrize_says_what_it_did():
    graph = symmetrize(zoo("directed-unequal"))
    assert graph.notes == ("symmetrised: 3 edges had one arc only, 1 had unequal arcs (the lighter won)",)
    assert not graph.directed
    assert as_dict(graph)[1, 0] == as_dict(graph)[0, 1] == 3
    assert symmetrize(graph) is graph


@settings(deadline=None, max_examples=40)
@given(multigraphs())
def test_symmetrize_takes_the_lighter_arc(multigraph):
    _, arcs, dtype = multigraph
    graph = symmetrize(build(arc_list(*multigraph, directed=True)))
    assert as_dict(graph) == lightest(arcs, dtype, mirrored=True)
    assert is_symmetric(graph)


@pytest.mark.parametrize("name", ZOO)
def test_a_graph_of_the_zoo_survives_being_taken_apart_and_rebuilt(name):
    graph = zoo(name)
    order = np.random.default_rng(0).permutation(graph.arcs)
    arcs = ArcList(arc_tails(graph)[order], graph.targets[order], graph.weights[order], graph.vertices)
    again = build(arcs)
    assert again.digest == graph.digest
    assert is_symmetric(graph) is not graph.directed


@pytest.mark.parametrize("name", ZOO)
def test_a_canonical_id_is_the_position_of_the_arc_from_the_smaller_endpoint(name):
    graph = zoo(name)
    tails = arc_tails(graph)
    at = {(int(u), int(v)): i for i, (u, v) in enumerate(zip(tails, graph.targets, strict=True))}
    expected = [
        i if graph.directed else at[min(u, v), max(u, v)]
        for i, (u, v) in enumerate(zip(tails.tolist(), graph.targets.tolist(), strict=True))
    ]
    assert canonical_ids(graph).tolist() == expected
    back = np.arange(graph.arcs)[::-1]
    assert GraphView.of(graph).canonical_edges(back).tolist() == expected[::-1]


def test_canonical_ids_are_the_same_whatever_the_ranges(monkeypatch):
    graph = zoo("random-dense")
    whole = canonical_ids(graph)
    monkeypatch.setattr(chunks, "_LEAST", 64)
    assert np.array_equal(canonical_ids(graph), whole)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([], "uint32"), ([0, 2**32 - 1], "uint32"), ([-1, 5], "int32"), ([-1, 2**31], "int64"), ([1, 2**63], "uint64")],
)
def test_integer_weights_are_narrowed(values, dtype):
    array = np.array(values, object) if values else np.zeros(0, np.int64)
    assert narrow_weights(array).dtype == dtype


def test_the_zoo_builders_agree_on_symmetric_input():
    both = [(0, 1, 4), (1, 0, 4), (1, 2, 6), (2, 1, 6)]
    assert undirected(3, both).notes == ("merged 2 parallel edges",)
    assert undirected(3, both[::2]).digest == undirected(3, both).digest != directed(3, both).digest


def test_every_undirected_graph_of_the_zoo_holds_both_arcs():
    assert all(is_symmetric(zoo(name)) and not zoo(name).directed for name in UNDIRECTED)


@pytest.mark.parametrize("one_sided", [False, True])
def test_an_arc_that_is_lost_on_the_way_is_a_defect_and_no_graph(
    monkeypatch: pytest.MonkeyPatch, one_sided: bool
) -> None:
    listed = ArcList(np.array([0, 1, 1]), np.array([1, 2, 1]), None, 3, one_sided=one_sided)
    assert build(listed).arcs == 2 * (1 + one_sided)
    whole = sort_arcs.sort_arcs

    def losing(*columns: Any, **options: Any) -> Any:
        return replace(whole(*columns, **options), loops=0)

    monkeypatch.setattr(sort_arcs, "sort_arcs", losing)
    with pytest.raises(GpuGraphError, match=r"3 arcs were listed.* 0 loops dropped and 0 arcs merged"):
        build(listed)
