"""filter-boruvka beyond the zoo: with its filter forced to work on small graphs, hubs, long chains, many schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import gpugraph.problems.mst.gpu_filter_boruvka as filter_boruvka
from gpugraph.base.clock import NullClock
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.mst.gpu_forest import fetch_forest
from gpugraph.problems.mst.gpu_verify import certify
from tests.problems.gpu_cases import expected, run_on
from tests.tiers import also, extended, first, only
from tests.zoo import Edge, undirected


def edges_at_random(n: int, m: int, high: int, seed: int) -> list[Edge]:
    rng = np.random.default_rng(seed)
    ends, weights = rng.integers(0, n, (m, 2)), rng.integers(1, high + 1, m)
    return [(int(u), int(v), int(w)) for (u, v), w in zip(ends, weights, strict=True)]


def assert_same_forest(graph: CSRGraph, seed: int = 0, index_bits: int | None = None) -> dict[str, int]:
    device = EmulatedDevice(seed=seed)
    result, counters = run_on(device, "mst", "filter-boruvka", graph, index_bits=index_bits)
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)
    return counters


@pytest.fixture
def filtering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold heavy edges back on graphs far smaller than it pays for."""
    monkeypatch.setattr(filter_boruvka, "FILTER_ARCS", 512)


@pytest.mark.usefixtures("filtering")
@pytest.mark.parametrize("light", [1, 2.4])
@pytest.mark.parametrize(
    ("n", "m", "high"), [(100, 300, 50), (300, 3000, 3), (500, 6000, 1000), (2000, 6000, 1), (5000, 30000, 7)]
)
def test_holding_heavy_edges_back_does_not_change_the_forest(
    monkeypatch: pytest.MonkeyPatch, light: float, n: int, m: int, high: int
) -> None:
    monkeypatch.setattr(filter_boruvka, "LIGHT_ARCS", light)
    for seed in range(3):
        assert_same_forest(undirected(n, edges_at_random(n, m, high, seed)), seed)


@pytest.mark.parametrize("m", [60, 223, 224, 319, 320, 330])
def test_a_graph_of_fewer_arcs_than_are_sampled_has_no_filter(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_boruvka, "FILTER_ARCS", 1)
    for dtype in ("uint32", "float64"):
        assert_same_forest(undirected(40, edges_at_random(40, m, 1000, 4), dtype))


@pytest.mark.usefixtures("filtering")
@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
@pytest.mark.parametrize("dtype", first(2, ["float64", "int32", "int64", "uint64", "float32"]))
def test_the_filter_works_for_every_type_of_weight(dtype: str, index_bits: int) -> None:
    low = 0 if dtype == "uint64" else 500
    edges = [(u, v, w - low) for u, v, w in edges_at_random(400, 3000, 1000, 4)]
    assert_same_forest(undirected(400, edges, dtype), 2, index_bits)


@pytest.mark.usefixtures("filtering")
def test_a_hub_beside_a_long_path_and_random_edges_is_cut_into_block_sized_work() -> None:
    hub = [(0, i, (i * 7919) % 1000) for i in range(1, 6000)]
    path = [(i, i + 1, i % 17) for i in range(1, 5999)]
    graph = undirected(6000, hub + path + edges_at_random(6000, 12000, 2000, 3))
    for seed in range(2):
        assert_same_forest(graph, seed)


@pytest.mark.parametrize("rising", [True, False])
def test_a_chain_longer_than_one_chase_is_followed_to_its_end(rising: bool) -> None:
    n = 3000
    assert_same_forest(undirected(n, [(i, i + 1, i + 1 if rising else n - i) for i in range(n - 1)]))


def solved(graph: CSRGraph, seed: int = 0, room: int | None = None) -> tuple[filter_boruvka.State, set[str]]:
    """Check the forest; return the state of the run and the phases entered.  ``room``: pages that may be taken."""
    device = EmulatedDevice(seed=seed)
    view = make_resident(GraphView.of(graph), device)[0]
    state, clock = filter_boruvka.State(view, device), device.phase_clock()
    state.room = state.room if room is None else room
    raw = fetch_forest(state, filter_boruvka.run(state, clock))
    np.testing.assert_array_equal(filter_boruvka.finish(state, raw).edges, expected("mst", graph, ()).edges)
    return state, set(clock.seconds)


def phases_and_lists(graph: CSRGraph, seed: int = 0, room: int | None = None) -> tuple[set[str], int, int]:
    """Check the forest; return the phases that were entered, the pages of the last list in order, and the edges of one
    that is in none.  ``room``: pages that may be taken."""
    state, phases = solved(graph, seed, room)
    pages, entries = (int(state.device.read(state.control, filter_boruvka.FILE[word])) for word in ("PAGES", "ENTRIES"))
    return phases, pages, entries


def links_above(parent: np.ndarray) -> np.ndarray:
    """Return for each entry how many others lie on its way to one that is negative."""
    links, at = np.zeros(len(parent), int), parent
    while (at >= 0).any():
        links += at >= 0
        at = np.where(at >= 0, parent[at], at)
    return links


@pytest.mark.parametrize("text", ["path:3000,w=unit", "ramp:3000", "ramp:3000,falling=yes", "ramp:3000,shuffled=yes"])
def test_who_climbs_a_long_chain_shortens_the_way_of_those_below(text: str) -> None:
    """Every vertex of a path hangs on its neighbour; in the end none has more than a few links above it."""
    graph = generate(text)
    for seed in range(2):
        state, _ = solved(graph, seed)
        assert links_above(state.device.download(state.up)).max() <= filter_boruvka.FILE["LONG_WAY"]


def cliques_in_a_chain(cliques: int, size: int) -> CSRGraph:
    """Return cliques that are joined before the edges between each and the next, which rise, make a chain of them."""
    edges = [(c, c + size, 1000 + c) for c in range(0, (cliques - 1) * size, size)]
    for c in range(0, cliques * size, size):
        edges += [(c, c + 1, 1), *((c, c + i, 10**5) for i in range(2, size))]
        edges += [(c + i, c + j, 10**6) for i in range(1, size) for j in range(1, i)]
    return undirected(cliques * size, edges)


@pytest.mark.usefixtures("filtering")
def test_a_chain_of_components_on_the_matrix_is_followed_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most arcs lie inside a clique, and all others are listed at once; one round hangs each on the one before it."""
    monkeypatch.setattr(filter_boruvka, "dense", lambda _: 256)
    for seed in range(2):
        state, phases = solved(cliques_in_a_chain(200, 8), seed)
        assert "spread" not in phases
        assert int(state.device.read(state.control, filter_boruvka.FILE["ROUNDS"])) == 1


def sampled_arcs(graph: CSRGraph) -> np.ndarray:
    """Return the positions of the arcs from whose weights the kernel guesses what is light."""
    device = EmulatedDevice()
    state = filter_boruvka.State(make_resident(GraphView.of(graph), device)[0], device)
    thread = np.arange(state.grid * state.block, dtype=np.uint64)
    stratum = np.uint64(graph.arcs // state.block)
    hashed = (thread + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)
    return thread % np.uint64(state.block) * stratum + hashed % stratum


def misleading(n: int = 1664) -> CSRGraph:
    """Return a complete graph whose sampled arcs are its heaviest, so that nearly all others count as light.

    The lightest edges are those of a perfect matching, so that after the first round few lie inside a component.
    """
    plain = generate(f"complete:{n}")
    ends = np.sort(np.stack([np.repeat(np.arange(n), n - 1), plain.targets]), axis=0)
    weights = (ends[0] * 7919 + ends[1] * 104729) % 1000 + 100
    weights[(ends[0] % 2 == 0) & (ends[1] == ends[0] + 1)] = 1
    heavy = np.zeros((n, n), bool)
    heavy[tuple(ends[:, sampled_arcs(plain)])] = True
    weights[heavy[tuple(ends)]] += 10**6
    return plain.renamed(weights=weights.astype(np.uint32))


@extended
def test_a_sample_that_misleads_costs_time_and_no_edge() -> None:
    """Nearly all edges count as light, and have room: none that joins two components is left."""
    phases, _, entries = phases_and_lists(misleading())
    assert "heavy_edges" in phases
    assert entries == 0


@pytest.mark.usefixtures("filtering")
def test_where_no_component_is_giant_all_rows_are_listed() -> None:
    """Groups of light edges stay apart until the few heavy ones that join them; they are not quite cliques."""
    rng = np.random.default_rng(1)
    pairs = [(i, j) for i in range(40) for j in range(i) if rng.random() < 0.5]
    inside = [(c * 40 + i, c * 40 + j, int(rng.integers(1, 50))) for c in range(30) for i, j in pairs]
    between = [(int(u), int(v), int(rng.integers(10**6, 10**6 + 9))) for u, v in rng.integers(0, 1200, (400, 2))]
    for seed in range(3):
        phases, pages, entries = phases_and_lists(undirected(1200, inside + between), seed)
        assert {"light_edges", "heavy_edges", "heavy_rounds"} <= phases
        assert pages == 0 < entries


@pytest.mark.usefixtures("filtering")
@pytest.mark.parametrize(("high", "size"), [(2, 30), (10**6, 12)])
def test_all_edges_of_small_cliques_are_listed_at_once(high: int, size: int) -> None:
    """Whether few weights leave nearly all arcs inside components, or the graph is small."""
    rng, firsts = np.random.default_rng(2), range(0, 40 * size, size)
    inside = [(c + i, c + j, int(rng.integers(1, high + 1))) for c in firsts for i in range(size) for j in range(i)]
    between = [(c, c + size, high) for c in firsts[:-1]]
    phases, pages, entries = phases_and_lists(undirected(40 * size, inside + between))
    assert "heavy_edges" not in phases
    assert pages == entries == 0


@pytest.mark.usefixtures("filtering")
def test_where_one_component_is_giant_only_the_rows_outside_are_listed() -> None:
    phases, pages, entries = phases_and_lists(undirected(2000, edges_at_random(2000, 20000, 10**6, 4)))
    assert "heavy_edges" in phases
    assert pages == 0 < entries


@pytest.mark.parametrize("room", first(1, [9, 4, 30]))
@pytest.mark.parametrize(
    "make",
    [
        lambda: undirected(500, edges_at_random(500, 9000, 1000, 3)),
        lambda: undirected(300, edges_at_random(300, 6000, 1, 6)),
        also(lambda: generate("grid:48x48,w=1..5")),
    ],
    ids=["random", "equal weights", "not filtered"],
)
@pytest.mark.usefixtures("filtering")
def test_what_the_list_has_no_room_for_is_listed_in_steps(make: Callable[[], CSRGraph], room: int) -> None:
    """Only the edges below a threshold that the last try has shown are listed, until what is left fits."""
    graph = make()
    for seed in range(2):
        _, pages, entries = phases_and_lists(graph, seed, room)
        assert pages <= room
        assert entries <= room * filter_boruvka.FILE["PAGE"]


def test_rows_far_behind_each_other_are_found() -> None:
    """More empty rows lie between two arcs of one look than its windows reach."""
    n = 40000
    ends = np.sort(np.random.default_rng(2).choice(n, 300, replace=False))
    edges = [(int(ends[i]), int(ends[j]), (i * 7919 + j) % 97) for i in range(300) for j in (i + 1, i + 7) if j < 300]
    for seed in range(2):
        assert_same_forest(undirected(n, edges), seed)


def test_equal_weights_are_told_apart_by_their_order_across_pages_and_spans() -> None:
    """Slots must order edges as their ids do, whichever warp lists them and however many are dropped."""
    graph = generate("grid:96x96,w=1..2")
    for seed in range(3):
        assert_same_forest(graph, seed)


@pytest.mark.usefixtures("filtering")
@pytest.mark.parametrize("array", ["weights", "targets"])
def test_arrays_that_begin_anywhere_are_read_one_by_one(array: str) -> None:
    graph = undirected(700, edges_at_random(700, 5000, 300, 9))
    device = EmulatedDevice(seed=1)
    view = make_resident(GraphView.of(graph), device)[0]
    aligned = getattr(view, array)
    shifted = device.empty(graph.arcs + 1, aligned.dtype)[1:]
    device.copy(shifted, aligned)
    state = filter_boruvka.State(replace(view, **{array: shifted}), device)
    raw = fetch_forest(state, filter_boruvka.run(state, NullClock()))
    assert device.read(state.control, filter_boruvka.FILE["ENTRIES"]) > 0, "no heavy edge was listed"
    np.testing.assert_array_equal(filter_boruvka.finish(state, raw).edges, expected("mst", graph, ()).edges)


@pytest.mark.usefixtures("filtering")
@pytest.mark.parametrize("few", [1, 5, 60])
@pytest.mark.parametrize("text", ["grid:30x30,w=1..3", "random:n=900,m=5000", "rmat:9"])
def test_from_how_many_components_on_a_matrix_serves_does_not_change_the_forest(
    monkeypatch: pytest.MonkeyPatch, few: int, text: str
) -> None:
    monkeypatch.setattr(filter_boruvka, "dense", lambda _: few)
    for seed in range(2):
        solved(generate(text), seed)


@pytest.mark.parametrize("few", [1, 5, 60])
@pytest.mark.parametrize("text", ["grid:30x30,w=1..3", "path:700"])
def test_the_last_rounds_leave_bids_in_the_matrix_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, few: int, text: str
) -> None:
    monkeypatch.setattr(filter_boruvka, "dense", lambda _: few)
    device = EmulatedDevice()
    state = filter_boruvka.State(make_resident(GraphView.of(generate(text)), device)[0], device)
    device.fill(state.cells, 0)
    filter_boruvka.run(state, NullClock())
    bids = np.setdiff1d(device.download(state.cells), [0, 2**64 - 1])
    assert (len(bids) > 0) == (few > 1)


RACED = {
    "random": lambda: undirected(400, edges_at_random(400, 2000, 30, 5)),
    "equal weights": lambda: undirected(300, edges_at_random(300, 1500, 1, 6)),
    "sparse": lambda: undirected(900, edges_at_random(900, 1000, 100, 7)),
    "a hub": lambda: undirected(4300, [(0, i, (i * 7919) % 1000) for i in range(1, 4300)]),
    "a long path": lambda: undirected(1500, [(i, i + 1, i) for i in range(1499)]),
    "wide": lambda: undirected(400, edges_at_random(400, 2000, 30, 8), "float64"),
    "vertices and components for several turns": lambda: generate("grid:220x200,w=1..1000"),
}


@pytest.mark.usefixtures("filtering")
@pytest.mark.parametrize("few", first(1, [5, 1024]))
@pytest.mark.parametrize("name", only([*RACED][:4], RACED))
def test_it_has_no_race_beyond_those_explained_in_the_kernel(
    monkeypatch: pytest.MonkeyPatch, name: str, few: int
) -> None:
    monkeypatch.setattr(filter_boruvka, "dense", lambda sizes: min(few, sizes.vertices // 2))
    device = EmulatedDevice(seed=3, races=True)
    graph = RACED[name]()
    result, _ = run_on(device, "mst", "filter-boruvka", graph)
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)
    assert device.races() == []


def test_the_forest_of_a_graph_made_on_the_device_is_found_and_finished_without_a_copy_on_the_host() -> None:
    device = EmulatedDevice()
    graph = generate("rmat:8,w=1..9", device=device)
    result, _ = run_on(device, "mst", "filter-boruvka", graph)
    told = result.summary()
    assert not {"offsets", "targets", "weights"} & set(graph.__dict__)
    on_host = generate("rmat:8,w=1..9")
    assert told == expected("mst", on_host, ()).summary()
    assert result.fingerprint() == expected("mst", on_host, ()).fingerprint()
    assert certify(make_resident(GraphView.of(graph), device)[0], device, result).passed
    assert not {"offsets", "targets", "weights"} & set(graph.__dict__)
