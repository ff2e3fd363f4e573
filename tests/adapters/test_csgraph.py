"""``gpugraph.csgraph`` against ``scipy.sparse.csgraph``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph as scipys

import gpugraph
from gpugraph import csgraph
from gpugraph.base.errors import VerificationFailed

ENTRIES = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, 2.5, 7.0])


@pytest.fixture(autouse=True, params=["cpu"])
def on_the_cpu(request, monkeypatch):
    monkeypatch.setattr(csgraph, "DEVICE", request.param)


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    n = draw(st.integers(1, 7))
    return np.array(draw(st.lists(st.lists(ENTRIES, min_size=n, max_size=n), min_size=n, max_size=n)))


@settings(deadline=None, max_examples=40)
@given(matrices(), st.booleans())
def test_a_dense_or_sparse_graph_gives_scipy_s_results(dense, as_sparse):
    graph = sparse.csr_array(dense) if as_sparse else dense
    assert csgraph.minimum_spanning_tree(graph).sum() == scipys.minimum_spanning_tree(graph).sum()
    for directed in (True, False):
        number, labels = csgraph.connected_components(graph, directed)
        assert number == scipys.connected_components(graph, directed, return_labels=False)
        np.testing.assert_array_equal(labels, scipys.connected_components(graph, directed)[1])
        for named in ({}, {"unweighted": True}, {"indices": 0}, {"indices": [-1, 0]}, {"limit": 3.0}):
            expected = scipys.dijkstra(graph, directed, **named)
            found, before = csgraph.dijkstra(graph, directed, return_predecessors=True, **named)
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(
                before == -9999, scipys.dijkstra(graph, directed, return_predecessors=True, **named)[1] == -9999
            )
            assert found.dtype == expected.dtype
            assert before.dtype == np.int32
        np.testing.assert_array_equal(
            csgraph.shortest_path(graph, directed=directed), scipys.shortest_path(graph, directed=directed)
        )


def test_edges_stay_where_the_input_has_them():
    graph = sparse.csr_array(np.array([[0, 0, 3.0], [2.0, 0, 0], [1.0, 2.0, 0]]))
    tree = csgraph.minimum_spanning_tree(graph)
    np.testing.assert_array_equal(tree.toarray(), [[0, 0, 0], [2.0, 0, 0], [1.0, 0, 0]])
    assert type(tree) is type(graph)
    assert type(csgraph.minimum_spanning_tree(sparse.csr_matrix(graph))) is sparse.csr_matrix


def test_zeros_that_fill_the_blocks_of_a_bsr_array_are_no_edges():
    dense = np.zeros((4, 4))
    dense[0, 1], dense[1, 0] = 3.0, 2.0
    blocks, rows = sparse.bsr_array(dense, blocksize=(2, 2)), sparse.csr_array(dense)
    assert csgraph.connected_components(blocks, return_labels=False) == 3
    assert csgraph.connected_components(blocks, connection="strong", return_labels=False) == 3
    assert csgraph.minimum_spanning_tree(blocks).toarray()[1, 0] == 2
    for named in ({}, {"min_only": True}, {"directed": False}):
        np.testing.assert_array_equal(csgraph.dijkstra(blocks, **named), scipys.dijkstra(rows, **named))
    np.testing.assert_array_equal(csgraph.shortest_path(blocks), scipys.shortest_path(rows))
    assert gpugraph.load(blocks).arcs == 2


def test_what_is_not_ours_scipy_does():
    negative = sparse.csr_array(np.array([[0, 1.0, 0], [0, 0, -2.0], [0, 0, 0]]))
    np.testing.assert_array_equal(csgraph.shortest_path(negative, "BF"), scipys.shortest_path(negative, "BF"))
    assert csgraph.connected_components(negative, connection="strong")[0] == 3
    nearest = csgraph.dijkstra(abs(negative), indices=[0, 2], min_only=True)
    np.testing.assert_array_equal(nearest, [0, 1, 0])
    with pytest.raises(ValueError, match="unrecognized method"):
        csgraph.shortest_path(negative, "quick")


@pytest.mark.parametrize("form", ["csr", "csc", "lil"])
def test_negative_weights_go_to_scipy_in_every_form_that_it_takes(form):
    negative = sparse.csr_array([[0, -1, 0], [0, 0, 2], [0, 0, 0]], dtype=float).asformat(form)
    for method in ("auto", "FW", "BF", "J"):
        found = csgraph.shortest_path(negative, method)
        np.testing.assert_array_equal(found, scipys.shortest_path(negative, method))


@pytest.mark.parametrize("is_directed", [True, False])
def test_a_connection_that_is_none_is_refused(is_directed):
    with pytest.raises(ValueError, match="must be 'weak' or 'strong'"):
        csgraph.connected_components(sparse.csr_array((3, 3)), is_directed, "week")
    assert csgraph.connected_components(sparse.csr_array((3, 3)), is_directed, "Strong")[0] == 3


def test_what_scipy_refuses_is_refused():
    with pytest.raises(ValueError, match="shape"):
        csgraph.dijkstra(sparse.csr_array((2, 3)))
    with pytest.raises(ValueError, match="out of range"):
        csgraph.dijkstra(sparse.csr_array((2, 2)), indices=2)


def test_a_masked_graph_is_read_as_scipy_reads_it():
    masked = np.ma.masked_array(np.array([[0, 0.0], [5.0, 0]]), mask=[[True, False], [False, True]])
    np.testing.assert_array_equal(csgraph.dijkstra(masked), scipys.dijkstra(masked))


@pytest.mark.parametrize("on_the_cpu", ["emulated"], indirect=True)
def test_a_gpu_gives_the_same_distances():
    graph = sparse.random_array((12, 12), density=0.2, rng=np.random.default_rng(1))
    for directed in (True, False):
        found, before = csgraph.dijkstra(graph, directed, return_predecessors=True, indices=[0, 5])
        np.testing.assert_array_equal(found, scipys.dijkstra(graph, directed, indices=[0, 5]))
        reached = before >= 0
        assert reached.sum() == np.isfinite(found).sum() - 2
    assert gpugraph.last_call().function == "csgraph.dijkstra"


def test_a_matrix_that_scipy_has_overwritten_is_read_up_to_its_last_offset():
    dense = np.array([[0, 4, 10.0], [4, 0, 5], [10, 5, 0]])
    matrix = sparse.csr_array(dense)
    tree = scipys.minimum_spanning_tree(matrix, overwrite=True)
    assert len(matrix.indices) > matrix.indptr[-1]
    assert csgraph.minimum_spanning_tree(matrix).sum() == tree.sum() == 9
    assert csgraph.connected_components(matrix)[0] == 1


@pytest.mark.parametrize("name", ["indices", "data", "indptr"])
def test_a_matrix_with_too_short_an_array_is_refused(name):
    matrix = sparse.csr_array(np.array([[0, 4, 10.0], [4, 0, 5], [10, 5, 0]]))
    setattr(matrix, name, getattr(matrix, name)[:2])
    for function in (csgraph.minimum_spanning_tree, csgraph.connected_components, csgraph.dijkstra):
        with pytest.raises(ValueError, match="offsets"):
            function(matrix)


def spoiled(name):
    """Return a function of ``csgraph`` by its name, and one whose answer is wrong though sums of unit weights agree."""
    forest, search = csgraph._forest_on_cpu, csgraph.search

    def cyclic(matrix):  # as many edges of the same weight, which close a cycle
        return np.arange(len(forest(matrix)))

    def astray(*given, **more):
        found = search(*given, **more)
        links = found.links.copy()
        links[found.order[-1]] = found.order[-1] + 1
        return replace(found, links=links)

    return {"forest": ("_forest_on_cpu", cyclic), "predecessors": ("search", astray)}[name]


TRIANGLE_AND_TAIL = sparse.csr_array(np.array([[0, 1.0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]))


def test_a_forest_with_a_cycle_of_the_right_weight_is_refused(monkeypatch):
    monkeypatch.setattr(csgraph, *spoiled("forest"))
    with pytest.raises(VerificationFailed, match="number of trees"):
        csgraph.minimum_spanning_tree(TRIANGLE_AND_TAIL.copy())


def test_a_predecessor_that_leads_nowhere_is_refused(monkeypatch):
    monkeypatch.setattr(csgraph, *spoiled("predecessors"))
    graph = TRIANGLE_AND_TAIL.copy()
    assert csgraph.dijkstra(graph, indices=0).tolist() == [0, 1, 1, 2]
    with pytest.raises(VerificationFailed, match="have a predecessor"):  # another kind of answer than the one before
        csgraph.dijkstra(graph, indices=0, return_predecessors=True)


@pytest.mark.parametrize(
    ("function", "before"),
    [
        (csgraph.dijkstra, {"indices": [0], "min_only": True}),
        (csgraph.dijkstra, {"indices": 99}),
        (csgraph.shortest_path, {"indices": [0], "method": "FW"}),
    ],
)
def test_an_answer_of_scipy_s_or_an_error_is_no_first_answer(function, before, monkeypatch):
    graph = TRIANGLE_AND_TAIL.copy()
    with suppress(ValueError):
        function(graph, **before)
    search = csgraph.search
    monkeypatch.setattr(csgraph, "search", lambda rows, sources, *rest: search(rows, [2], *rest))
    with pytest.raises(VerificationFailed, match="distances from 0"):
        function(graph, indices=0)


def test_components_after_strong_ones_of_scipy_s_are_compared(monkeypatch):
    graph = TRIANGLE_AND_TAIL.copy()
    csgraph.connected_components(graph, connection="strong")
    monkeypatch.setattr(csgraph, "label_components", lambda *arrays: 2)
    with pytest.raises(VerificationFailed, match="number of components"):
        csgraph.connected_components(graph)


@pytest.mark.parametrize("indices", [2**32, np.array([2**32]), np.uint64(2**63), [0, 2**31], -5])
def test_a_source_beyond_32_bits_is_not_wrapped_round(indices):
    with pytest.raises(ValueError, match="out of range"):
        csgraph.dijkstra(TRIANGLE_AND_TAIL, indices=indices)


def test_distances_beyond_floats_and_predecessors_there_pass():
    graph = sparse.csr_array(np.array([[0, 1e308, 0], [0, 0, 1e308], [0, 0, 0]]))
    found, before = csgraph.dijkstra(graph, indices=0, return_predecessors=True)
    assert found.tolist() == [0, 1e308, np.inf]
    assert before.tolist() == scipys.dijkstra(graph, indices=0, return_predecessors=True)[1].tolist()


def test_a_device_that_is_no_name_is_refused(monkeypatch):
    monkeypatch.setattr(csgraph, "DEVICE", None)
    with pytest.raises(ValueError, match="device is None"):
        csgraph.minimum_spanning_tree(TRIANGLE_AND_TAIL)
