"""delta-stepping on a GPU beyond the zoo: graphs that lead down each of its paths, under many schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError
from gpugraph.devices.kernel_source import load_source
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.digest import array_digest
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.sources import resolve_sources
from gpugraph.problems.sssp.distances import Distances
from tests.emulator.compiler import needs_compiler
from tests.problems.gpu_cases import expected
from tests.problems.sssp.delta_stepping_graphs import (
    HUBS,
    PATHS,
    assert_same,
    both_ways,
    bursts_along_paths,
    caterpillar,
    dense,
    edges_at_random,
    fan,
    far_leaves,
    few_within,
    layers,
    lone_outsiders,
    lost_hubs,
    of_hubs,
    outsiders,
    outsiders_with_long_rows,
    path,
    search,
    sparse,
    star,
    thinning_star,
    wide_range,
    wide_star,
)
from tests.problems.sssp.small_graphs import graphs, some_sources
from tests.tiers import drawn, extended, first, only
from tests.zoo import Edge, directed, undirected

pytestmark = needs_compiler
SEEDS = pytest.mark.parametrize("seed", [*first(1, range(3)), pytest.param(3, marks=pytest.mark.thorough)])


@pytest.mark.parametrize("seeds", first(1, [(1, 2), (3, 4)]))
@pytest.mark.parametrize("name", only([*PATHS][::2], PATHS))
def test_a_graph_that_leads_down_each_path_is_solved_there(name: str, seeds: Sequence[int]) -> None:
    make, phases, counters = PATHS[name]
    graph = make()
    result = search(graph)
    assert result.ran(*phases), result.seconds
    assert all(result.counters.get(counter) for counter in counters), result.counters
    for seed in seeds:
        search(graph, seed=seed, index_bits=64 if seed % 2 else 32)


@extended
def test_blocks_of_the_size_that_older_gpus_have_lead_down_the_paths_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulated device has blocks of the newest GPUs: a copy of the kernel file has the others."""
    file, text = delta_stepping.FILE, load_source("delta_stepping.cu").text
    choice = "constexpr int BLOCK = MIXED ? sizeof(weight_t) == 4 ? MIXED_BLOCK : AMPERE_BLOCK : MOST_BLOCK;"
    assert choice in text
    (tmp_path / file.name).write_text(
        text.replace(choice, choice.replace(": MOST_BLOCK", ": NARROW ? AMPERE_BLOCK : MOST_BLOCK"))
    )
    monkeypatch.setattr(file, "name", str(tmp_path / file.name))
    for name in [*PATHS][::4]:
        make, phases, _ = PATHS[name]
        assert search(make(), seed=1).ran(*phases), name


def test_blocks_are_given_no_more_than_they_hold_whatever_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread brings one near entry, and one that is due; beyond the room of a queue lies that of the next step."""
    monkeypatch.setattr(delta_stepping, "LOCAL_SHARE", 4096)
    for graph in ("random:n=20000,deg=8,w=1..20", "random:n=20000,deg=8,w=7..7"):
        search(generate(graph), seed=2)


RACED = ("local steps", "hubs pull", "a queue that overflows")


@pytest.mark.parametrize("name", only(RACED, PATHS))
def test_no_path_has_a_race_beyond_those_explained_in_the_kernel(name: str) -> None:
    device = EmulatedDevice(seed=3, races=True)
    search(PATHS[name][0](), device=device)
    assert device.races() == []


# ------------------------------------------------------------------ what each path promises


@SEEDS
def test_a_long_path_takes_a_barrier_for_many_hops(seed: int) -> None:
    result = search(path(), seed=seed)
    assert result.counters["rounds"] + result.counters["buckets"] < 1500 / 20


@SEEDS
@pytest.mark.parametrize("dtype", ["uint32", "float64"])
def test_a_search_that_meets_few_vertices_is_over_after_the_round_of_one_block(seed: int, dtype: str) -> None:
    """It moves the threshold by itself: the weights of the path differ, and most of the graph is not reached."""
    rows = [(i, i + 1, 1 + i * i % 97 * 40) for i in range(60)]
    result = search(undirected(5000, rows, dtype=dtype), source=20, seed=seed)
    assert result.counters["rounds"] == 1
    assert result.counters["buckets"] > 2
    assert result.counters["settled"] >= 61


@SEEDS
def test_one_launch_makes_every_entry_once_where_nothing_is_lowered_twice(seed: int) -> None:
    """The centre and each leaf but those without arcs to go on; a leaf knows its distance at once."""
    result = search(star(), seed=seed)
    assert result.counters["pushes"] == 2999
    assert result.counters["repeats"] == 0


@SEEDS
@pytest.mark.parametrize(
    ("graph", "phases"),
    [("regular:n=4000,in=7,w=1..255", ("local", "wide")), ("regular:n=1500,in=14,w=1..255", ("local",))],
)
def test_what_is_lowered_and_relaxed_is_counted_in_every_phase(graph: str, phases: tuple[str, ...], seed: int) -> None:
    """In a directed graph nothing is pulled: each vertex but the source has been lowered, and then relaxed."""
    result = search(generate(graph), seed=seed)
    reached = int(result.found.reached.sum())
    assert result.ran(*phases)
    assert result.counters["settled"] >= reached
    assert result.counters["pushes"] - result.counters["repeats"] >= reached - 1 > 1000


@SEEDS
@pytest.mark.parametrize("make", [outsiders, outsiders_with_long_rows])
def test_vertices_within_the_horizon_are_relaxed_again_only_where_nothing_can_pull(
    make: Callable[[], list[Edge]], seed: int
) -> None:
    """An undirected graph pulls; the same arcs in a directed one have to be pushed along once more."""
    n = 1 + max(v for _, v, _ in make())
    pulled = search(undirected(n, make()), seed=seed)
    pushed = search(directed(n, both_ways(make())), seed=seed)
    assert pulled.ran("pull")
    assert pushed.ran("pull")
    assert pushed.counters["settled"] >= pulled.counters["settled"] + 200


@SEEDS
def test_vertices_beyond_the_horizon_that_come_no_nearer_through_each_other_are_not_relaxed(seed: int) -> None:
    """The 400 vertices within are settled, the 200 beyond are not; rows put aside as hubs are not counted."""
    result = search(lone_outsiders(), seed=seed)
    assert result.ran("pull")
    assert 380 < result.counters["settled"] < 450


@pytest.mark.parametrize("seed", first(2, range(8)))
@pytest.mark.parametrize("far", [1000, 6000])
def test_what_a_large_round_leaves_is_relaxed_with_the_next_bucket(far: int, seed: int) -> None:
    """Whether the others wait in a list or among all distances; all blocks must have seen how little is left."""
    result = search(thinning_star(far=far), seed=seed)
    assert (result.counters["scans"] > 1) == (far > 1000)
    assert result.counters["early"] > 0


@SEEDS
def test_few_vertices_within_the_horizon_push_across_it(seed: int) -> None:
    """A source that only the heaviest edges leave is alone within: the vertices beyond must not all pull."""
    edges = [(u, v, 10_000 if u == 0 else w) for u, v, w in of_hubs()]
    result, twin = search(undirected(500, edges), seed=seed), search(directed(500, both_ways(edges)), seed=seed)
    assert result.ran("pull")
    for counter, value in result.counters.items():  # those of the twin but for chance, where half a warp has a row
        assert value == pytest.approx(twin.counters[counter], rel=0.1, abs=2), counter


def test_a_survey_of_a_part_that_finds_none_pending_is_made_of_the_whole() -> None:
    assert search(wide_star()).counters["scans"] == 2


@pytest.mark.parametrize("seed", first(2, range(8)))
def test_entries_that_find_no_room_are_collected_again(seed: int) -> None:
    """All blocks must have seen the queue empty before one fills it again."""
    assert search(fan(30, 300, 700), seed=seed).counters["rescans"] == 1


@pytest.mark.parametrize("seed", first(2, range(12)))
@pytest.mark.parametrize("dtype", ["uint32", "float64"])
def test_pieces_of_hubs_that_found_no_room_are_not_dealt_out(dtype: str, seed: int) -> None:
    """Who takes them for pieces of the last hub in the list relaxes rows of other vertices with its distance."""
    result = search(lost_hubs(dtype), seed=seed)
    assert result.counters["rescans"] > 0
    assert result.found.reached.sum() == 236


@SEEDS
def test_a_block_that_finds_more_far_vertices_than_it_holds_back_enters_the_others_at_once(seed: int) -> None:
    chain, leaves = 42, 30
    graph, found = far_leaves(chain, leaves), chain * leaves
    room = delta_stepping.rooms(GraphView.of(graph))[1]
    constants = delta_stepping.FILE
    assert constants.constant("FAR_ROOM", {"BLOCK": constants["MOST_BLOCK"]}) < found < room
    result = search(graph, seed=seed)
    assert result.counters["scans"] == 0
    assert result.counters["settled"] == chain + found  # and so were those behind them found


@pytest.mark.parametrize("dtype", ["uint32", "int32"])
def test_rows_of_few_arcs_are_packed_once_a_search_has_taken_many_steps(dtype: str) -> None:
    """A word for each arc, its head below and its weight above; where a row is too long all tell where it is."""
    graph = caterpillar().renamed(weights=caterpillar().weights.astype(dtype))
    device = EmulatedDevice(seed=1)
    state = delta_stepping.State(make_resident(GraphView.of(graph), device)[0], device)
    delta_stepping.run(state, device.phase_clock(), 0)
    rows = np.asarray(state.width.arrays["packed_rows"]).reshape(graph.vertices, 4)
    for v in (1, 40, 300, graph.vertices - 1):
        first, last = int(graph.offsets[v]), int(graph.offsets[v + 1])
        heads, weights = rows[v].astype(np.uint32).view(np.int32), rows[v] >> np.uint64(32)
        if last - first > 4:
            assert heads.tolist() == [-2 - (last - first)] * 4
            assert weights.tolist() == [first] * 4
        else:
            assert heads.tolist() == [*graph.targets[first:last].tolist(), *[-1] * (4 - last + first)]
            assert weights[: last - first].tolist() == graph.weights[first:last].tolist()


@pytest.mark.parametrize(("neighbours", "packed"), [(3, True), (4, False)])
def test_rows_are_packed_unless_most_arcs_lead_to_longer_ones(neighbours: int, packed: bool) -> None:
    graph, device = generate(f"knn:n=4000,k={neighbours}"), EmulatedDevice(seed=1)
    state = delta_stepping.State(make_resident(GraphView.of(graph), device)[0], device)
    state.width.arrays["packed_rows"][:] = 0
    delta_stepping.run(state, device.phase_clock(), 0)
    assert np.any(state.width.arrays["packed_rows"]) == packed


def test_denser_graphs_and_wider_words_have_no_packed_rows() -> None:
    device = EmulatedDevice()
    for graph in (sparse(), path().renamed(weights=path().weights.astype("uint64"))):
        state = delta_stepping.State(make_resident(GraphView.of(graph), device)[0], device)
        assert len(state.width.arrays["packed_rows"]) == 0


@SEEDS
@pytest.mark.parametrize(
    ("n", "degree", "share"),
    [(5000, 8, 0.9), (8000, 40, 0.55)],  # 40 arcs a vertex: 0.91 without a horizon, 0.66 with nine tenths within it
    ids=["sparse", "dense"],
)
def test_a_random_graph_has_a_horizon_late_and_only_where_vertices_can_pull(
    n: int, degree: int, share: float, seed: int
) -> None:
    """What is left alone then need not be lowered: fewer distances fall than in the same graph without it."""
    edges = edges_at_random(n, n * degree // 2, 1, 100)
    pulled, pushed = search(undirected(n, edges), seed=seed), search(directed(n, both_ways(edges)), seed=seed)
    assert pulled.ran("pull")
    assert not pushed.ran("pull")
    assert pulled.counters["pushes"] < share * pushed.counters["pushes"]


@SEEDS
def test_a_small_graph_that_expands_takes_few_buckets(seed: int) -> None:
    """No horizon is set late, and once many vertices are pending beside those settled one bucket takes the rest."""
    result = search(generate("random:n=8000,m=12000,w=1..255"), seed=seed)
    assert not result.counters["scans"]
    assert result.counters["buckets"] < 5  # 7 without


@SEEDS
def test_cliques_whose_frontier_does_not_multiply_have_no_late_horizon(seed: int) -> None:
    """More than a tenth of the vertices is pending here, but the last bucket settled less than those before it."""
    result = search(generate("ssca2:12,clique=60,inter=0.8,w=1..1000"), seed=seed)
    assert result.counters["scans"] > 1
    assert not result.ran("pull")


@SEEDS
def test_thresholds_move_early_again_where_no_late_horizon_will_be_set(seed: int) -> None:
    """As long as one may be set, each bucket that is surveyed has to be settled."""
    result = search(generate("ssca2:12,clique=100,inter=0.5,w=1..255"), seed=seed)
    assert result.counters["early"] > 0.33 * result.counters["buckets"]  # 1 to 3 of 10


@SEEDS
def test_a_source_that_is_put_aside_as_a_hub_has_a_late_horizon_too(seed: int) -> None:
    """Hubs are not counted: at the first survey of a complete graph nothing seems to be settled, now or before.

    The vertices without arcs keep the mean row too short to be cut.
    """
    graph = undirected(1400, [(u, v, 50 + (31 * u + v * v) % 997) for u in range(400) for v in range(u)])
    result, twin = search(graph, seed=seed), search(replace(graph, directed=True), seed=seed)
    assert result.ran("hubs", "pull")
    assert not twin.ran("pull")


@SEEDS
def test_where_few_lie_within_a_late_horizon_these_are_relaxed_again(seed: int) -> None:
    """In a tree nothing falls twice: what is relaxed twice is a leaf of the star, nine tenths of which are within."""
    result = search(few_within(), seed=seed)
    reached = int(result.found.reached.sum())
    assert result.ran("pull")
    assert reached + 300 < result.counters["settled"] < reached + 700


# ------------------------------------------------------------------ weights and distances


@SEEDS
@pytest.mark.parametrize("pulls", [False, True])
def test_it_restarts_in_64_bits_across_the_horizon(pulls: bool, seed: int) -> None:
    """Two arcs in a row are too heavy for those that are pushed along; what pulls finds no sum at all that fits."""
    if pulls:
        edges = [(u, v, 2**32 - 2 if w > 10**6 else w) for u, v, w in outsiders() if w < 10**6 or u >= HUBS]
    else:
        edges = [(u, v, 2**31 + 100_000 * w) for u, v, w in of_hubs() if u >= HUBS or v < 400]
    result = search(undirected(500, edges), seed=seed)
    assert result.counters["restarts"] == 1
    assert result.found.raw.max() >= 2**32 - 1
    assert result.ran("pull")


@pytest.mark.parametrize(
    ("graph", "source"), [("ssca2:10,w=1..255", 346), ("ssca2:10,w=1..255", 74), ("rmat:11,w=1..255", 0)]
)
def test_a_block_that_looks_late_counts_what_the_others_count(graph: str, source: int) -> None:
    """Blocks that count differently choose different widths, and what is near to one is far to another."""
    for seed in (0, 1):
        result = search(generate(graph), source, seed=seed)
        assert result.counters["buckets"] >= 4


@pytest.mark.parametrize("dtype", first(1, ["uint32", "float64", "float32", "uint64"]))
def test_all_blocks_go_by_the_same_thresholds_whatever_the_schedule(dtype: str) -> None:
    """A vertex at the threshold that is far to one block and settled to another would never be relaxed."""
    graphs = [layers(dtype) if dtype.startswith("float") else layers(dtype, 1, 3), wide_range(dtype, 30)]
    for seed in range(1, 5 if dtype == "float64" else 2):
        for graph in graphs:
            search(graph, seed=seed)


def test_the_two_words_that_are_read_together_share_eight_bytes() -> None:
    overflow, leaving = delta_stepping.FILE["OVERFLOW"], delta_stepping.FILE["LEAVING"]
    assert overflow % 2 == 0
    assert leaving == overflow + 1


def test_a_search_that_nobody_awaits_does_not_restart_and_leaves_the_next_as_it_is() -> None:
    graph = PATHS["a restart"][0]()
    device = EmulatedDevice()
    view, _, _ = make_resident(GraphView.of(graph), device)
    state, unread, read = delta_stepping.State(view, device), NullClock(awaited=False), NullClock()
    delta_stepping.run(state, unread, 5)
    assert not unread.counters
    raw = device.download(delta_stepping.run(state, read, 0))
    assert_same(delta_stepping.finish(state, raw, 0), expected("sssp", graph, (0,)), graph.name)
    assert read.counters == {"restarts": 1}


@SEEDS
def test_it_does_not_restart_for_a_sum_that_nobody_needs(seed: int) -> None:
    graph = directed(4, [(0, 1, 2**32 - 2), (1, 2, 5), (0, 2, 1), (2, 3, 1)])
    result = search(graph, seed=seed)
    assert "restarts" not in result.counters
    assert result.found.raw.tolist() == [0, 2**32 - 2, 1, 2]


def test_the_longest_distance_of_32_bits_needs_no_restart() -> None:
    result = search(directed(3, [(0, 1, 2**32 - 3), (1, 2, 1)]))
    assert "restarts" not in result.counters
    assert search(directed(3, [(0, 1, 2**32 - 3), (1, 2, 2)])).counters["restarts"] == 1


@pytest.mark.parametrize(("dtype", "weight"), [("uint64", 2**63), ("int64", 2**62)])
def test_it_refuses_distances_beyond_64_bits(dtype: str, weight: int) -> None:
    arcs = [(i, i + 1, weight) for i in range(4)]
    with pytest.raises(InputError, match="does not fit in 64 bits"):
        search_alone(directed(5, arcs, dtype))
    search(directed(5, [*arcs, (0, 2, 1), (0, 3, 1), (0, 4, 1)], dtype))


def search_alone(graph: CSRGraph) -> Distances:
    """Return the distances from vertex 0, without the CPU's."""
    device = EmulatedDevice()
    view, _, _ = make_resident(GraphView.of(graph), device)
    state = delta_stepping.State(view, device)
    raw = state.device.download(delta_stepping.run(state, device.phase_clock(), 0))
    return delta_stepping.finish(state, raw, 0)


@pytest.mark.parametrize("dtype", first(2, ["float64", "uint64", "int32", "int64", "float32"]))
@pytest.mark.parametrize("degree", [5, 12])
def test_every_type_of_weight_is_exact(dtype: str, degree: int) -> None:
    """Floats are summed in their own type, along the shortest path from its source on, as Dijkstra's algorithm does."""
    divisor = 7 if dtype.startswith("float") else 1
    edges = [(u, v, w / divisor) for u, v, w in edges_at_random(500, degree * 500, 0, 1000)]
    graph = undirected(500, edges, dtype)
    for seed, bits in ((0, 32), (5, 64)):
        assert search(graph, seed=seed, index_bits=bits).ran("pull")


REALS = [name for name in PATHS if "restart" not in name]


@pytest.mark.parametrize("name", only(REALS[::4], REALS))
def test_sums_of_float32_weights_are_exact_on_every_path(name: str) -> None:
    """Blocks have another size there than for integers; the sums need all bits of a float64."""
    graph = PATHS[name][0]()
    search(graph.renamed(weights=(graph.weights / 7).astype(np.float32)), seed=2)


@pytest.mark.parametrize("make", [sparse, star, lambda: undirected(400, dense())], ids=["sparse", "star", "dense"])
@pytest.mark.parametrize("dtype", ["uint32", "float32"])
def test_scaled_weights_give_scaled_distances(make: Callable[[], CSRGraph], dtype: str) -> None:
    graph = make()
    plain = graph.renamed(weights=graph.weights.astype(dtype))
    scaled = graph.renamed(weights=(graph.weights * 2**10).astype(dtype))
    reached = search(plain).found
    np.testing.assert_array_equal(search(scaled).found.raw[reached.reached], reached.raw[reached.reached] * 2**10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", first(1, [1.0, 2.0**-140, 2.0**90]))
@pytest.mark.parametrize(("n", "hubs"), [(10_000, False), (6000, True)], ids=["late", "from the start"])
def test_whole_numbers_as_floats_go_by_the_thresholds_of_integers(n: int, hubs: bool, dtype: str, scale: float) -> None:
    """The words of floats grow with their logarithm; thresholds and a horizon, whenever it is set, must not."""
    whole = undirected(n, of_hubs(n) if hubs else edges_at_random(n, 12 * n, 1, 255))
    floats = whole.renamed(weights=(whole.weights * np.float64(scale)).astype(dtype))
    result, other = search(whole), search(floats)
    assert result.ran("pull")
    assert result.counters["buckets"] > 2
    assert 0.5 <= other.counters["buckets"] / result.counters["buckets"] <= 2
    assert other.counters["pushes"] == pytest.approx(result.counters["pushes"], rel=0.1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_at_the_ends_of_their_range_are_no_obstacle(dtype: str) -> None:
    kind = np.finfo(dtype)
    rows = edges_at_random(300, 6000, 1, 4)
    for unit in (float(kind.smallest_subnormal), float(kind.max) / 8):
        search(undirected(300, [(u, v, w * unit) for u, v, w in rows], dtype))


WEIGHTS: dict[str, Callable[[int], int]] = {
    "all zero": lambda i: 0,
    "zero and one": lambda i: i % 2,
    "equal": lambda i: 7,
    "1 and 2^31": lambda i: 2**31 if i % 3 else 1,
    "mostly zero": lambda i: 1000 if i % 100 == 0 else 0,
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("degree", [2, 12])
@pytest.mark.parametrize("make", [undirected, directed])
def test_odd_weights_are_no_obstacle(make: Callable[..., CSRGraph], degree: int, weights: str) -> None:
    """Zero weights lie on cycles here: a vertex is not entered again for a sum that is no shorter."""
    rows = edges_at_random(600, degree * 600, 0, 0)
    graph = make(600, [(u, v, WEIGHTS[weights](i)) for i, (u, v, _) in enumerate(rows)])
    for seed in (0, 6):
        search(graph, seed=seed)


def test_a_source_without_arcs_reaches_itself_alone() -> None:
    graph = undirected(2000, [(u + 1, v + 1, w) for u, v, w in edges_at_random(1999, 30_000, 1, 9)])
    assert search(graph).found.reached.nonzero()[0].tolist() == [0]
    assert search(directed(50, [(1, 0, 3), (2, 0, 4)])).found.reached.nonzero()[0].tolist() == [0]


@SEEDS
def test_parts_that_cannot_be_reached_stay_so(seed: int) -> None:
    parts = [(u + first, v + first, w) for first in (0, 400) for u, v, w in dense()]
    result = search(undirected(900, parts), 450, seed=seed)
    assert result.ran("pull")
    assert result.found.reached.nonzero()[0].tolist() == list(range(400, 800))


@SEEDS
@pytest.mark.parametrize(
    ("degree", "children", "rounds"),
    [(1, 30, 28), (28, 20, 11)],  # at most 21 where no block requests one, and 8 where only a full queue does
    ids=["short rows", "a warp for each row"],
)
def test_a_block_with_too_much_to_do_requests_a_redistribution(
    degree: int, children: int, rounds: int, seed: int
) -> None:
    """Weights of 0 leave all of it in the first bucket; without requests a round would last for 128 steps."""
    assert search(bursts_along_paths(degree, children), seed=seed).counters["rounds"] > rounds


@pytest.mark.parametrize("weights", ["1..255", "1..15", "1.0..255.0,dtype=float32"])
def test_far_sources_of_a_power_law_graph_relax_hubs_with_distances_that_hold(weights: str) -> None:
    """The horizon counts from the first large hubs; counted from the source, half of what is lowered falls again."""
    graph = generate(f"rmat:13,w={weights}")
    for source in resolve_sources(graph, {"source": "random:4"}):
        assert graph.degrees[source] < 100
        result = search(graph, source)
        assert result.counters["settled"] < 7000  # 8000 to 14000
        assert result.counters["repeats"] < 0.2 * result.counters["pushes"]


@SEEDS
@pytest.mark.parametrize(
    ("graph", "hops"),
    [
        ("lollipop:1x800,scale=9,w=1..255", 800),
        ("lollipop:1x800,scale=9,w=1..1000000", 800),
        ("lollipop:1x800,scale=9,w=1.0..255.0,dtype=float64", 800),
        ("lollipop:1x1500,clique=60,w=1..255", 1500),
        ("lollipop:20x60,scale=9,w=1..255", 78),
    ],
)
def test_a_long_way_to_the_first_hubs_takes_few_rounds(graph: str, hops: int, seed: int) -> None:
    """The first width is that of a core of hubs; from their end of the way it is met at once, or never."""
    there, back = search(generate(graph), seed=seed), search(generate(graph), generate(graph).vertices - 1, seed=seed)
    for result in (there, back):
        assert result.counters["rounds"] < 24 + hops / 16, result.counters
        assert result.counters["buckets"] < 48, result.counters


def test_a_power_law_graph_of_few_arcs_a_vertex_has_a_horizon_too() -> None:
    graph = generate("rmat:13,ef=4,w=1..255")
    for source in (int(graph.degrees.argmax()), *resolve_sources(graph, {"source": "random:2"})):
        assert search(graph, source).counters["settled"] < 4000  # 9000 to 11000


def test_a_horizon_lies_some_hops_away_where_weights_are_few() -> None:
    """With weights of 1 to 15 most arcs that matter have the least; one hop from a hub is not enough to cross there."""
    graph = generate("rmat:13,w=1..15")
    result = search(graph, int(graph.degrees.argmax()))
    assert result.counters["pushes"] < 5000  # 14000
    assert result.counters["repeats"] < 100


@pytest.mark.parametrize("seed", first(1, [1, 2, 3]))
def test_a_bucket_is_no_wider_than_keeps_a_small_device_busy(seed: int) -> None:
    """What keeps all blocks of a large GPU busy would let the distances of four blocks fall again and again."""
    assert search(generate("knn:n=8192,k=8"), seed=seed).counters["settled"] < 1.2 * 8192


@SEEDS
@pytest.mark.parametrize("graph", ["road:96x96,w=1..1000", "knn:n=8000,k=8"])
def test_the_threshold_moves_before_the_last_block_is_done(graph: str, seed: int) -> None:
    result = search(generate(graph), seed=seed)
    assert 0 < result.counters["early"] < result.counters["buckets"]


@SEEDS
def test_a_block_with_more_than_it_relaxes_at_once_takes_the_nearest_first(seed: int) -> None:
    """In the order in which they were found 2048 vertices of cliques are settled more than 3700 times."""
    result = search(generate("ssca2:11,clique=60,inter=0.3,w=1..100000"), seed=seed)
    assert result.counters["settled"] < 3600


# ------------------------------------------------------------------ an early end

NOT_COUNTED = ("hubs that find no room", "a queue that overflows")
"""Graphs of rows that local steps put aside for all warps, which do not count what they settle."""
NOT_COUNTED_AT_LAST = ("hubs pull",)
"""And one of which only what the last round settles is not counted: that it is not made tells of the end."""


@pytest.mark.parametrize("name", only([*PATHS][::3], PATHS))
def test_a_search_with_an_end_knows_all_up_to_it_and_settles_no_more(name: str) -> None:
    graph = PATHS[name][0]()
    whole = expected("sssp", graph, (0,))
    near = np.argsort(whole.raw)[: int(whole.reached.sum())]
    device = EmulatedDevice(seed=2)
    state = delta_stepping.State(make_resident(GraphView.of(graph), device)[0], device)
    _, all_of_it = until(state)
    for goal, kind in ((near[1], "goal"), (near[len(near) // 2], "goal"), (near[len(near) // 3], "cutoff")):
        limit = whole.raw[goal].item()
        found, result = until(state, **{kind: int(goal) if kind == "goal" else limit})
        within = whole.raw <= limit
        np.testing.assert_array_equal(found[within], whole.raw[within])
        assert (found[~within] > limit).all()
        if name in NOT_COUNTED:
            continue
        assert result["settled"] <= 1.5 * all_of_it["settled"]
        fewer = "rounds" if name in NOT_COUNTED_AT_LAST else "settled"
        assert goal != near[1] or result[fewer] < all_of_it[fewer]


def until(state: delta_stepping.State, **end: Any) -> tuple[np.ndarray[Any, Any], dict[str, int]]:
    """Return the distances from vertex 0 that a search with an end result, and its counters."""
    clock = state.device.phase_clock()
    raw = state.device.download(delta_stepping.run(state, clock, 0, **end))
    return delta_stepping.finish(state, raw, 0).raw, dict(clock.counters)


def test_a_goal_that_nothing_leads_to_is_looked_for_everywhere() -> None:
    device = EmulatedDevice()
    graph = directed(900, [(i, i + 1, 1) for i in range(800)])
    state = delta_stepping.State(make_resident(GraphView.of(graph), device)[0], device)
    assert until(state, goal=850)[0].tolist() == expected("sssp", graph, (0,)).raw.tolist()


def test_sums_beyond_the_end_ask_for_no_wider_words() -> None:
    device = EmulatedDevice()
    graph = PATHS["a restart"][0]()
    state, clock = delta_stepping.State(make_resident(GraphView.of(graph), device)[0], device), device.phase_clock()
    delta_stepping.run(state, clock, 0, 1)
    assert "restarts" not in clock.counters
    assert delta_stepping.run(state, clock, 0, 2)[:3].tolist() == [0, 2**31, 2**32]
    assert clock.counters["restarts"] == 1
    widest = directed(4, [(0, 1, 1), (1, 2, 2**63), (2, 3, 2**63)], "uint64")
    state = delta_stepping.State(make_resident(GraphView.of(widest), device)[0], device)
    assert until(state, goal=2)[0][:3].tolist() == [0, 1, 2**63 + 1]


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "int64", "float32", "float64"])
@pytest.mark.parametrize("cutoff", [None, -1, -0.0, 0.1, 0.5, 2.5, 7, 2**24 + 1, 2**32 - 2, 2**33, 2**53 + 1, 1e300])
def test_the_word_of_a_cutoff_parts_what_is_farther_from_what_is_not(dtype: str, cutoff: float | None) -> None:
    weights = np.dtype(dtype)
    bits = 8 * weights.itemsize
    word = int(delta_stepping.first_beyond(cutoff, weights, bits))
    most = 2**bits - 1

    def value(word: int) -> Any:
        return word if weights.kind != "f" else np.array(word, f"u{bits // 8}").view(weights).item()

    assert word == 0 or cutoff is None or value(word - 1) <= cutoff or value(word - 1) != value(word - 1)
    assert word == most or value(word) > cutoff


# ------------------------------------------------------------------ one state, many runs


def test_repeated_runs_and_other_sources_on_one_state_give_the_same() -> None:
    """Also after a restart, whose wider words leave no trace in the next search."""
    heavy = [(i, i + 1, 2**31) for i in range(60)]
    graph = undirected(400, heavy + [(u + 61, v + 61, w) for u, v, w in edges_at_random(339, 3000, 1, 100)])
    device = EmulatedDevice(seed=9)
    view, _, _ = make_resident(GraphView.of(graph), device)
    state, clock = delta_stepping.State(view, device), device.phase_clock()
    digests: dict[int, set[str]] = {}
    for source in (0, 70, 0, 30, 399, 70, 30, 399):
        raw = state.device.download(delta_stepping.run(state, clock, source))
        digests.setdefault(source, set()).add(array_digest(raw))
        found = delta_stepping.finish(state, raw, source)
        assert_same(found, expected("sssp", graph, (source,)), graph.name)
    assert clock.counters["restarts"] == 4
    assert {len(same) for same in digests.values()} == {1}


def test_a_restart_prepares_its_launches_once_for_all_searches() -> None:
    """To prepare them takes the host as long as a search of a million vertices takes the GPU."""
    device = EmulatedDevice()
    state = delta_stepping.State(make_resident(GraphView.of(PATHS["a restart"][0]()), device)[0], device)
    clock, wide = device.phase_clock(), []
    for _ in range(3):
        delta_stepping.run(state, clock, 0)
        wide.append(state.width)
        state.use_width(32)
        wide.append(state.width)
    assert clock.counters["restarts"] == 3
    assert [width.bits for width in wide] == [64, 32] * 3
    assert wide[:2] == wide[2:4] == wide[4:]


@drawn(60)
@given(graph=graphs(), seed=st.integers(0, 5), data=st.data())
def test_drawn_graphs_are_solved_under_any_schedule(graph: CSRGraph, seed: int, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(some_sources(graph)))
    search(graph, source, device=EmulatedDevice(seed=seed), index_bits=data.draw(st.sampled_from([32, 64])))


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(20, 700),
    degree=st.sampled_from([1, 3, 9, 20]),
    high=st.sampled_from([1, 10, 1000, 2**31]),
    one_way=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_larger_random_graphs_are_solved_under_any_schedule(
    n: int, degree: int, high: int, one_way: bool, seed: int
) -> None:
    edges = edges_at_random(n, n * degree, 0, high, seed)
    edges += [(0, v, high) for v in range(1, n, 1 + seed % 7)]  # a hub
    search((directed if one_way else undirected)(n, edges), seed % n, seed=seed)
