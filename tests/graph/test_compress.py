"""The compressed form holds every neighbour, in any row order, and tells what it saves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpugraph
from gpugraph.base.errors import InputError
from gpugraph.ext.changes.preparations import WIDEST_SPREAD, CompressedTargets, compress
from gpugraph.graph import chunks
from gpugraph.graph.view import GraphView
from tests.tiers import drawn
from tests.zoo import ZOO, zoo

INT32 = np.dtype(np.int32)


def rows_of(*rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    return offsets, np.array([v for row in rows for v in row], np.int32)


def expanded(made: CompressedTargets, offsets: np.ndarray) -> np.ndarray:
    """Return the (arcs,) targets, as the docstring of ``preparations.py`` has the form; rows begin at ``offsets``."""
    position = np.arange(made.arcs, dtype=np.int64)
    base = np.repeat(made.base, np.diff(offsets))
    k = (made.k[position >> 2] >> ((position & 3) * 2).astype(np.uint8)) & 3
    targets = base + 256 * k.astype(np.int32) + made.short
    kept = base < 0
    targets[kept] = made.kept[made.kept_shift[~base[kept]] + position[kept]]
    return targets.astype(np.int32)


@pytest.mark.parametrize(
    "chosen", [(), ("renumber",), ("sort-adjacency",), ("renumber", "sort-adjacency")], ids="+".join
)
@pytest.mark.parametrize("name", ZOO)
def test_every_neighbour_of_the_zoo_comes_back(name: str, chosen: tuple[str, ...]) -> None:
    view = GraphView.of(zoo(name), (*chosen, "compress"))
    assert view.compressed is not None
    assert np.array_equal(expanded(view.compressed, view.offsets), view.targets)
    assert np.array_equal(view.targets, GraphView.of(zoo(name), chosen).targets)


@drawn(60)
@given(st.lists(st.lists(st.integers(0, 4000), max_size=12), min_size=1, max_size=12), st.sampled_from(["i4", "i8"]))
def test_any_rows_in_any_order_come_back_and_so_do_their_first_ones(rows: list[list[int]], index: str) -> None:
    offsets, targets = rows_of(*rows)
    made = compress(offsets, targets, np.dtype(index))
    assert made.kept_shift.dtype == np.dtype(index)
    assert np.array_equal(expanded(made, offsets), targets)
    for count in range(len(rows) + 1):
        part = made.first_rows(offsets, count)
        assert np.array_equal(expanded(part, offsets[: count + 1]), targets[: offsets[count]])
        assert part.nbytes <= made.nbytes


@pytest.mark.parametrize(("spread", "kept"), [(WIDEST_SPREAD, 0), (WIDEST_SPREAD + 1, 2)])
def test_a_row_is_kept_as_it_is_only_where_it_spreads_too_far(spread: int, kept: int) -> None:
    offsets, targets = rows_of([7 + spread, 7], [], [3, 5, 4])
    made = compress(offsets, targets, INT32)
    assert len(made.kept) == kept
    assert made.base.tolist() == [-1 if kept else 7, 0, 3]
    assert np.array_equal(expanded(made, offsets), targets)


def test_threads_share_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = gpugraph.load("ssca2:12")
    whole = GraphView.of(graph, ("compress",)).compressed
    monkeypatch.setattr(chunks, "_LEAST", 64)
    cut = GraphView.of(graph, ("compress",)).compressed
    assert whole is not None
    assert cut is not None
    for one, other in zip(whole.arrays, cut.arrays, strict=True):
        assert np.array_equal(one, other)


def test_the_papers_graphs_reach_the_papers_factor_after_renumbering() -> None:
    graph = gpugraph.load("ssca2:14")
    view = GraphView.of(graph, ("renumber", "compress"))
    assert view.compressed is not None
    assert view.compressed.factor == pytest.approx(2.9, abs=0.05)
    assert view.nbytes == view.offsets.nbytes + view.compressed.nbytes + view.weights.nbytes + view.edge_ids.nbytes


def test_where_rows_spread_far_the_factor_says_that_nothing_is_saved() -> None:
    compressed = GraphView.of(gpugraph.load("random:n=20000,deg=8"), ("compress",)).compressed
    assert compressed is not None
    assert compressed.factor < 1


def test_vertex_numbers_of_64_bits_are_refused() -> None:
    with pytest.raises(InputError, match="64 bits cannot be compressed"):
        compress(np.array([0, 1]), np.array([0], np.int64), INT32)
