"""Borůvka on GPU and CPU together: the same forest whatever the share, and no more memory than allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpugraph.ext.papers.mst.gpu_boruvka_hybrid as hybrid
from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.papers.mst import gpu_boruvka_hybrid
from gpugraph.ext.papers.mst.gpu_boruvka_streamed import limit_bytes
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst.gpu_forest import fetch_forest, finish_forest
from gpugraph.problems.registry import find_algorithm
from tests.emulator.compiler import needs_compiler
from tests.problems.gpu_cases import expected, run_on
from tests.problems.mst.helpers import random_graph
from tests.tiers import first
from tests.zoo import undirected, zoo

pytestmark = needs_compiler

GRAPH = random_graph(300, 3000, 500, 5)


def state_of(device: EmulatedDevice, view: GraphView, share: str = "auto", limit: str = "") -> Any:
    algorithm = find_algorithm("mst", "boruvka-hybrid", "emulated")
    return algorithm.prepare(view, device, **{"cpu-share": share, "memory-limit": limit})


def hub(n: int = 2600) -> CSRGraph:
    """Return a star and a path: rows beyond one segment, and one that spreads beyond what compress takes."""
    return undirected(
        n, [(0, i, (i * 7919) % 1000) for i in range(1, n)] + [(i, i + 1, i % 7) for i in range(1, n - 1)]
    )


@pytest.mark.parametrize("share", ["0", "0.01", "50%", "0.9", "1"])
@pytest.mark.parametrize("preparations", first(1, [(), ("sort-adjacency",), ("renumber", "rank-weights", "compress")]))
def test_the_forest_is_the_same_whatever_the_cpu_takes(share: str, preparations: tuple[str, ...]) -> None:
    for graph in (GRAPH, hub(), zoo("float64"), zoo("two-components")):
        found, counters = run_on(
            EmulatedDevice(), "mst", "boruvka-hybrid", graph, preparations=preparations, options={"cpu-share": share}
        )
        assert np.array_equal(found.edges, expected("mst", graph, ()).edges)
        if share in ("0", "50%"):
            assert (counters["copied_bytes"] > 0) == (share != "0")


@pytest.mark.parametrize("preparations", [(), ("sort-adjacency",), ("renumber", "compress")])
def test_a_run_can_be_made_again_while_the_split_moves(preparations: tuple[str, ...]) -> None:
    device = EmulatedDevice()
    state = state_of(device, GraphView.of(GRAPH, preparations))
    right = expected("mst", GRAPH, ()).edges
    splits, start = set(), state.start

    def started() -> None:
        start()
        splits.add(state.split)

    state.start = started
    for share in (0.5, 0.3, 0.05, 0.2):
        state.share = share
        raw = fetch_forest(state, hybrid.run(state, NullClock()))
        assert np.array_equal(finish_forest(state, raw).edges, right)
    assert len(splits) > 1


def test_rows_go_to_the_gpu_when_the_cpu_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    device = EmulatedDevice()
    state = state_of(device, GraphView.of(GRAPH))
    slow = gpu_boruvka_hybrid.CpuRows.find_min

    def late(self: Any, round_: int) -> Any:
        mark = slow(self, round_)
        self.seconds = 1e6
        return mark

    monkeypatch.setattr(gpu_boruvka_hybrid.CpuRows, "find_min", late)
    raw = fetch_forest(state, hybrid.run(state, NullClock()))
    assert np.array_equal(finish_forest(state, raw).edges, expected("mst", GRAPH, ()).edges)
    assert state.share == 0
    assert state.split == GRAPH.vertices
    clock = NullClock()
    hybrid.run(state, clock)
    assert clock.counters["cpu_percent"] == clock.counters["copied_bytes"] == 0


def test_the_next_run_gives_the_cpu_less_if_it_took_longer_over_all_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    state = state_of(EmulatedDevice(), GraphView.of(GRAPH))
    monkeypatch.setattr(hybrid.State, "gpu_seconds", lambda self: 1.0)
    for spent, least, most in ((0.5, 0.2, 0.2), (4.0, 0.04, 0.06), (1e6, 0.0, 0.0)):
        state.share, state.cpu.all_seconds = 0.2, spent
        state.settle_share()
        assert least <= state.share <= most


@pytest.mark.parametrize("preparations", [(), ("renumber", "compress"), ("sort-adjacency",)])
@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_within_any_limit_the_forest_is_right_and_the_limit_is_kept(
    preparations: tuple[str, ...], index_bits: int
) -> None:
    view = GraphView.of(GRAPH, preparations, index_bits)
    least = hybrid.device_bytes(view, 0, hybrid.row_at(view, 1 - hybrid.MOST_SHARE))
    most = hybrid.device_bytes(view, view.vertices, 0)
    shares = []
    for limit in np.linspace(least, most, 5).astype(int).tolist():
        device = EmulatedDevice()
        state = state_of(device, view, "auto", str(limit))
        clock = NullClock()
        raw = fetch_forest(state, hybrid.run(state, clock))
        assert np.array_equal(finish_forest(state, raw).edges, expected("mst", GRAPH, ()).edges)
        assert device.peak_bytes() <= limit
        shares.append(1 - int(view.offsets[state.most_rows]) / view.arcs)
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.9
    assert shares[-1] == 0


def test_too_small_a_limit_is_refused_with_both_figures() -> None:
    with pytest.raises(OutOfMemory, match=r"boruvka-hybrid: needs [\d,]+ bytes .* may take 1,000 ") as refused:
        state_of(EmulatedDevice(), GraphView.of(GRAPH), "0.2", "1KB")
    assert refused.value.exit_code == 3


@pytest.mark.parametrize("share", ["-0.1", "1.5", "120%", "half", "nan"])
def test_a_share_outside_0_to_1_is_refused(share: str) -> None:
    with pytest.raises(InputError, match=r"cpu-share.*(is no share|from 0 to 1)"):
        state_of(EmulatedDevice(), GraphView.of(GRAPH), share)


@pytest.mark.parametrize(
    ("text", "size"), [("5000", 5000), ("2KB", 2000), ("2KiB", 2048), ("1.5k", 1500), ("25%", 250), ("3 MB", 3000000)]
)
def test_a_limit_is_a_size_or_a_share_of_the_graph(text: str, size: int) -> None:
    assert limit_bytes(text, 1000, EmulatedDevice()) == size


@pytest.mark.parametrize("text", ["0", "much", "-5GB", "5 parsecs", "%"])
def test_what_is_no_size_of_memory_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="takes a size of memory"):
        limit_bytes(text, 1000, EmulatedDevice())


def test_the_phases_tell_of_both_sides() -> None:
    clock = HostClock()
    state = state_of(EmulatedDevice(), GraphView.of(GRAPH), "0.3")
    hybrid.run(state, clock)
    both = {"gpu_find_min", "cpu_find_min", "wait_for_cpu", "copy_trees_to_cpu", "copy_minima_to_gpu"}
    assert both < clock.seconds.keys()
    assert clock.counters["cpu_percent"] == pytest.approx(30, abs=3)
