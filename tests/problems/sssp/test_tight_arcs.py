"""Canonical predecessors are what their definition says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp import tight_arcs
from gpugraph.problems.sssp.tight_arcs import canonical_predecessors
from tests.problems.sssp.small_graphs import (
    SEARCHABLE,
    expected_distances,
    expected_predecessors,
    graphs,
    some_sources,
)
from tests.tiers import drawn
from tests.zoo import directed, undirected, zoo


@pytest.mark.parametrize("name", [name for name in SEARCHABLE if zoo(name).arcs < 1000])
def test_predecessors_are_the_canonical_ones(name: str) -> None:
    graph = zoo(name)
    for source in some_sources(graph):
        found = canonical_predecessors(graph, expected_distances(graph, source), source)
        assert found.tolist() == expected_predecessors(graph, source)


def pieces_of(rows: int, most: int) -> list[tuple[int, int]]:
    """Return [0, rows) in ranges of ``most`` rows, for as many threads."""
    return [(start, min(start + most, rows)) for start in range(0, rows, most)]


@drawn(150)
@given(graph=graphs(), data=st.data())
def test_predecessors_of_drawn_graphs_are_the_canonical_ones(graph: CSRGraph, data: st.DataObject) -> None:
    source = data.draw(st.integers(0, graph.vertices - 1))
    rows = data.draw(st.sampled_from([1, 3, 1 << 24]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tight_arcs, "balanced_ranges", lambda starts: pieces_of(len(starts) - 1, rows))
        found = canonical_predecessors(graph, expected_distances(graph, source), source)
    assert found.tolist() == expected_predecessors(graph, source)


def test_the_smallest_of_several_nearer_vertices_is_taken() -> None:
    graph = directed(4, [(0, 2, 1), (0, 1, 1), (2, 3, 1), (1, 3, 1)])
    assert canonical_predecessors(graph, expected_distances(graph, 0), 0).tolist() == [-1, 0, 0, 1]


def test_among_zero_weights_the_fewest_arcs_win_before_the_smallest_number() -> None:
    graph = directed(5, [(4, 3, 0), (3, 2, 0), (2, 1, 0), (1, 0, 0), (4, 2, 0), (3, 0, 0)])
    assert canonical_predecessors(graph, expected_distances(graph, 4), 4).tolist() == [3, 2, 4, 4, -1]


def test_sums_absorbed_by_rounding_are_followed_level_by_level() -> None:
    graph = undirected(4, [(0, 1, 1e20), (1, 2, 1.0), (2, 3, 1.0)], "float64")
    distance = expected_distances(graph, 0)
    assert distance.tolist() == [0, 1e20, 1e20, 1e20]
    assert canonical_predecessors(graph, distance, 0).tolist() == [-1, 0, 1, 2]


def test_a_long_path_of_zero_weights_takes_linear_time() -> None:
    n = 200_000
    graph = undirected(n, [], "uint32")
    ends = np.arange(n - 1)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(np.concatenate([ends, ends + 1])))]).astype(np.int64)
    targets = np.stack([np.arange(n) - 1, np.arange(n) + 1], axis=1).ravel()[1:-1].astype(np.int32)
    graph = CSRGraph(offsets, targets, np.zeros(len(targets), np.uint32), directed=False)
    found = canonical_predecessors(graph, np.zeros(n, np.uint64), 0)
    np.testing.assert_array_equal(found, np.arange(n) - 1)
