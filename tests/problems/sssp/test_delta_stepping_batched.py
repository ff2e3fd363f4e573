"""Searches from many sources together: on the emulated device and on the CPU, row for row what each gives alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpugraph
import gpugraph.ext.batched.sssp.gpu_delta_stepping_batched as batched
import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.devices.kernel_file import needs
from gpugraph.ext.batched.sssp import side_by_side
from gpugraph.ext.batched.sssp.side_by_side import Apart
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.python.sources import source_list
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems import SourceList
from gpugraph.problems.registry import find_algorithm
from gpugraph.problems.sssp import BATCHED
from gpugraph.problems.sssp.distances import DistanceMatrix, matrix_from_words
from tests.cli.runner import refuse, run, succeed
from tests.emulator.compiler import needs_compiler
from tests.problems.extreme_weights import shrunk
from tests.problems.gpu_cases import expected
from tests.problems.sssp.small_graphs import SEARCHABLE, expected_distances, graphs
from tests.tiers import drawn, first, only
from tests.zoo import directed, undirected, zoo

FEW = ("star-equal", "complete", "grid", "many-tiny", "zero-weights", "random-ties", "directed-random")


def hub() -> CSRGraph:
    """Return a graph with a row of several pieces beside short ones."""
    spokes = [(0, i, (i * 7919) % 100) for i in range(1, 600)]
    return undirected(600, spokes + [(i, i + 1, i % 17) for i in range(1, 599, 3)])


def some(graph: CSRGraph, count: int = 9) -> tuple[int, ...]:
    """Return sources spread over the vertices, some of them twice where there are few."""
    return tuple(np.linspace(0, graph.vertices - 1, count).astype(int).tolist())


def search(
    device: Any, graph: CSRGraph, bits: int = 32, sources: tuple[int, ...] = ()
) -> tuple[DistanceMatrix, HostClock]:
    """Return what the kernel finds from some sources, and the clock it told its phases."""
    view = make_resident(GraphView.of(graph, index_bits=bits), device)[0]
    state, clock, sources = batched.State(view, device), HostClock(), sources or some(graph)
    return batched.finish(state, device.download(batched.run(state, clock, sources)), sources), clock


def assert_right(matrix: DistanceMatrix, sources: Sequence[int]) -> None:
    assert matrix.sources.tolist() == list(sources)
    for row, source in zip(matrix, sources, strict=True):
        right = expected("sssp", matrix.graph, (source,))
        np.testing.assert_array_equal(row.raw, right.raw, err_msg=f"{matrix.graph.name} from {source}")
        assert row.fingerprint() == right.fingerprint()


# ------------------------------------------------------------------ on a GPU


@needs_compiler
@pytest.mark.parametrize("seed", first(1, [0, 5]))
def test_every_row_is_what_a_search_alone_gives(seed: int) -> None:
    device = EmulatedDevice(seed=seed)
    for name in FEW:
        assert_right(search(device, zoo(name))[0], some(zoo(name)))


@pytest.mark.gpu
@pytest.mark.parametrize("count", [1, 17, 70])
def test_every_row_is_what_a_search_alone_gives_on_a_gpu(count: int) -> None:
    from gpugraph.devices.cuda import CudaDevice

    device = CudaDevice(0)
    for graph in (*(zoo(name) for name in SEARCHABLE), hub(), generate("complete:60"), generate("rmat:12,w=1..255")):
        for bits in (32, 64):
            assert_right(search(device, graph, bits, some(graph, count))[0], some(graph, count))
    device.close()


@needs_compiler
def test_floats_and_wide_weights_are_added_as_one_search_does() -> None:
    for name, bits in (("float64", 64), ("float-infinite", 64), ("huge-weights", 32)):
        assert_right(search(EmulatedDevice(seed=1), zoo(name), bits)[0], some(zoo(name)))


@needs_compiler
@pytest.mark.parametrize("count", first(2, [1, 17, 9, 70]))
def test_lines_and_groups_of_any_size_give_the_same(count: int) -> None:
    graph = zoo("random-ties")
    assert_right(search(EmulatedDevice(seed=count), graph, sources=some(graph, count))[0], some(graph, count))


@needs_compiler
def test_long_rows_are_cut_and_seldom_changes_are_listed() -> None:
    for graph, counter in ((hub(), "sweeps"), (generate("path:300,w=1..9"), "lists")):
        matrix, clock = search(EmulatedDevice(seed=2), graph)
        assert_right(matrix, some(graph))
        assert clock.counters[counter] > 0
        assert clock.seconds["sweep"] > 0


@needs_compiler
def test_all_searches_restart_in_wider_words_where_one_does_not_fit() -> None:
    graph = directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5)])
    matrix, clock = search(EmulatedDevice(), graph)
    assert clock.counters["restarts"] == 2
    assert_right(matrix, some(graph))
    far = generate("path:300,w=200..255")
    matrix, clock = search(EmulatedDevice(), far)
    assert clock.counters["restarts"] == 1
    assert_right(matrix, some(far))


@needs_compiler
@pytest.mark.parametrize("seed", first(1, range(3)))
def test_a_sum_beyond_64_bits_matters_only_where_nothing_else_leads(seed: int) -> None:
    """The vertex that it would reach has another way, which is found later; the search goes on until then."""
    half = 2**63
    short = directed(5, [(0, 1, half), (1, 2, half), (0, 3, 1), (3, 4, 1), (4, 2, 1)], "uint64")
    rows = [(202, 0, half), (202, 151, 5), (203, 0, half), (203, 151, 1)]
    rows += [(203, leaf, 1) for leaf in range(1, 202) if leaf != 151]
    for graph, sources in ((short, (0,)), (undirected(204, rows, "uint64"), (202,))):
        matrix, _ = search(EmulatedDevice(seed=seed), graph, sources=sources)
        assert_right(matrix, sources)
    beyond = directed(4, [(0, 1, half), (1, 2, half), (2, 3, 1)], "uint64")
    with pytest.raises(InputError, match="does not fit in 64 bits"):
        search(EmulatedDevice(seed=seed), beyond, sources=(0,))


@needs_compiler
def test_searches_that_gain_nothing_by_sharing_are_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for limits in ((2, 2**32 - 1), (2**64 - 1, 2)):
        monkeypatch.setattr(batched.State, "limits", lambda state, limits=limits: limits_of(*limits))
        for graph in (zoo("grid"), zoo("float64"), generate("path:300,w=1..9")):
            matrix, clock = search(EmulatedDevice(), graph)
            assert clock.counters["alone"] == 9
            assert clock.counters["sweeps"] <= 2
            assert_right(matrix, some(graph))


def limits_of(falls: int, sweeps: int) -> tuple[np.uint64, np.uint32]:
    return np.uint64(falls), np.uint32(sweeps)


@needs_compiler
def test_searches_that_end_within_the_limit_are_not_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the last sweep nothing falls, and it counts."""
    graph = zoo("grid")
    needed = search(EmulatedDevice(), graph)[1].counters["sweeps"]
    for sweeps in (needed, needed - 1):
        monkeypatch.setattr(batched.State, "limits", lambda state, most=sweeps: limits_of(2**64 - 1, most))
        matrix, clock = search(EmulatedDevice(), graph)
        assert ("alone" in clock.counters) is (sweeps < needed)
        assert_right(matrix, some(graph))


@needs_compiler
def test_a_graph_that_keeps_a_device_busy_is_swept_in_16_bits_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a distance does not fit, the searches are made apart at once; where weights do not, nothing is swept."""
    monkeypatch.setattr(batched, "SATURATING", 4)
    far, wide = generate("path:300,w=200..255"), directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5)])
    swept = {"grid": (zoo("grid"), True, False), "far": (far, True, True), "wide": (wide, False, True)}
    swept |= {name: (zoo(name), False, True) for name in ("float64", "huge-weights")}
    for name, (graph, sweeps, apart) in swept.items():
        matrix, clock = search(EmulatedDevice(), graph)
        assert (clock.counters.get("sweeps", 0) > 0, "alone" in clock.counters) == (sweeps, apart), name
        assert_right(matrix, some(graph))


@needs_compiler
@pytest.mark.parametrize("dtype", ["uint32", "float32"])
def test_the_need_foretold_covers_searches_made_apart_between_sweeps(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batched, "SATURATING", 4)
    monkeypatch.setattr(batched, "MOST_SWEEPS", 2)
    monkeypatch.setattr(side_by_side, "GROUPS", 4)  # that an emulated device has room for
    device, graph = EmulatedDevice(), chains(dtype)
    view = make_resident(GraphView.of(graph), device)[0]
    state = batched.State(view, device)
    for _ in range(2):
        batched.run(state, NullClock(), tuple(range(64)))
    taken, foretold = device.peak_bytes() - view.nbytes, batched.state_bytes(view)
    assert taken <= foretold <= 1.03 * taken


@needs_compiler
def test_searches_made_apart_give_their_memory_up_where_the_next_batch_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each batch has as much room as the first, which sweeps before there is anything to give up."""
    monkeypatch.setattr(batched, "SATURATING", 4)
    monkeypatch.setattr(batched, "MOST_SWEEPS", 2)
    device, graph, sources = EmulatedDevice(), chains(), tuple(range(64))
    view = make_resident(GraphView.of(graph), device)[0]
    room = device.peak_bytes() + needs(batched.arrays(view, 16, 64)) * 5 // 4
    device.require = lambda needed: require_at_most(device._used + needed, room)  # type: ignore[method-assign]
    state = batched.State(view, device)
    for _ in range(3):
        raw = device.download(batched.run(state, NullClock(), sources))
        assert_right(batched.finish(state, raw, sources), sources)


def test_only_on_a_graph_that_keeps_a_device_busy_searches_have_to_gain_by_sharing() -> None:
    device = EmulatedDevice()
    n = batched.SATURATING
    for spec in ("path:300", f"path:{n}", f"random:n={n},m={8 * n}"):
        graph = generate(spec)
        falls = 160 / (4 + len(graph.targets) / n) + 2.5 if graph.vertices == n else 0
        state = batched.State(make_resident(GraphView.of(graph), device)[0], device)
        state.threads, state.groups = 8, 2
        limits = (int(2 * n * falls), batched.MOST_SWEEPS) if falls else (2**64 - 1, 2**32 - 1)
        assert state.limits() == limits
        if falls:
            state.threads = 1  # whose lines have eight distances
            assert state.limits()[0] == 16 * n


@needs_compiler
def test_one_state_takes_batches_of_any_size_one_after_another() -> None:
    device, graph = EmulatedDevice(), zoo("grid")
    view = make_resident(GraphView.of(graph), device)[0]
    state = batched.State(view, device)
    for sources in ((3,), tuple(range(20)), (5, 5, 5), (3,)):
        raw = device.download(batched.run(state, NullClock(), sources))
        assert_right(batched.finish(state, raw, sources), sources)


@needs_compiler
def test_it_has_no_race_beyond_those_explained_in_the_kernel() -> None:
    device = EmulatedDevice(seed=3, races=True)
    for graph in (zoo("grid"), generate("complete:40")):
        assert_right(search(device, graph)[0], some(graph))
    assert device.races() == []


def test_the_room_for_pieces_holds_all_and_lines_are_no_longer_than_needed() -> None:
    graph, piece = hub(), batched.FILE["PIECE"]
    pieces = -(-graph.degrees // piece)
    assert pieces[graph.degrees > piece].sum() <= batched.arrays(GraphView.of(graph), 32, 1)["piece_vertex"][0]
    shapes = {count: batched.shape(16, count) for count in (1, 8, 9, 64, 65)}
    assert shapes == {1: (1, 1), 8: (1, 1), 9: (2, 1), 64: (8, 1), 65: (8, 2)}


# ------------------------------------------------------------------ on the CPU


@pytest.mark.parametrize("name", SEARCHABLE)
def test_the_cpu_gives_each_row_as_alone(name: str) -> None:
    graph, algorithm = zoo(name), find_algorithm("sssp", BATCHED, "cpu")
    state = algorithm.prepare(GraphView.of(graph), None)
    raw = algorithm.fetch(state, algorithm.run(state, NullClock(), some(graph, 5)))
    assert_right(algorithm.finish(state, raw, some(graph, 5)), some(graph, 5))


# ------------------------------------------------------------------ as users ask for it


def test_all_pairs_are_those_of_scipy() -> None:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    graph = zoo("random-sparse")
    n, weights = graph.vertices, graph.weights.astype(np.float64)
    right = dijkstra(csr_array((weights, graph.targets, graph.offsets.astype(np.int32)), shape=(n, n)))
    matrix = gpugraph.sssp(graph, sources="all", device="cpu")
    assert matrix.raw.shape == (n, n)
    np.testing.assert_array_equal(np.where(matrix.reached, matrix.raw, np.inf), right)
    with gpugraph.on(graph, device="cpu") as g:
        np.testing.assert_array_equal(g.sssp(sources="all").raw, matrix.raw)


def test_a_matrix_is_verified_row_by_row() -> None:
    graph = zoo("grid")
    matrix = gpugraph.sssp(graph, sources=[1, 2], device="cpu", verify="both", predecessors=True)
    assert matrix.predecessor is not None
    assert matrix[1].predecessor is not None
    assert gpugraph.verify(graph, matrix).passed
    matrix.raw[1, 5] += 1
    verdict = gpugraph.verify(graph, matrix)
    assert not verdict.passed
    assert verdict.detail.startswith("from source 2: ")
    assert not gpugraph.verify(graph, DistanceMatrix(graph, matrix.sources[:0], matrix.raw[:0])).passed


def test_a_graph_on_a_device_is_asked_for_a_matrix_with_all_that_one_source_has() -> None:
    graph = zoo("grid")
    with gpugraph.on(graph, device="cpu") as g:
        whole = g.sssp(sources=np.array([3, 5]), verify="certificate", predecessors=True)
        assert [row.source for row in whole] == [3, 5]
        assert g.sssp(sources=[3, 5], algo="dijkstra").fingerprint() == g.sssp(sources=[3, 5]).fingerprint()
        limit = int(np.median(whole.raw))
        near = g.sssp(sources=[3, 5], cutoff=limit)
        np.testing.assert_array_equal(near.reached, whole.raw <= limit)
        for wrong in ({"source": 1}, {"on_device": True}):
            with pytest.raises(InputError):
                g.sssp(sources=[3], **wrong)


def test_more_pairs_than_the_host_has_room_for_are_refused_with_both_figures() -> None:
    with pytest.raises(OutOfMemory, match=r"distances from 400,000 sources take 1.16 TiB, and .* are free"):
        gpugraph.sssp("path:400000", sources="all", device="cpu")


@pytest.mark.parametrize("sources", [[], 3, None, {1}, [99999], ["no-such"], [np.timedelta64(1, "s")]])
def test_what_are_no_sources_is_refused_in_one_line(sources: Any) -> None:
    with pytest.raises(InputError) as refused:
        source_list(sources) if sources is None else gpugraph.sssp(zoo("grid"), sources=sources, device="cpu")
    assert "\n" not in str(refused.value)


def test_a_tuple_of_sources_is_no_node_that_is_a_tuple() -> None:
    import networkx as nx

    named = nx.grid_2d_graph(3, 3)
    matrix = gpugraph.sssp(named, sources=[(0, 1), (2, 2)], device="cpu")
    assert matrix.sources.tolist() == [gpugraph.sssp(named, node, device="cpu").source for node in ((0, 1), (2, 2))]
    assert source_list((1, 2)) == SourceList((1, 2))


def test_the_command_line_takes_counts_lists_and_all(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.npz")
    grid = ("sssp", "grid:9x9", "--device", "cpu", "--repeat", "1", "--quiet", "--format", "json")
    batch = json.loads(succeed(*grid, "--sources", "20", "--batch", "-o", path).out)
    alone = json.loads(succeed(*grid, "--sources", "20").out)
    assert batch["algorithm"] == BATCHED
    assert batch["result"]["sources"] == len(alone["per_source"]) == 20
    assert batch["result"]["reached"] == sum(one["reached"] for one in alone["per_source"])
    assert batch["mteps"]["count"] == 20 * 144
    assert run("verify", "grid:9x9", path).code == 0
    assert run("verify", "grid:9x9,seed=2", path).code == 1
    named = json.loads(succeed(*grid, "--sources", "3,5", "--batch").out)
    assert (named["result"]["source"], named["result"]["sources"]) == (3, 2)
    assert json.loads(succeed(*grid, "--sources", "all", "--batch").out)["result"]["sources"] == 81


@pytest.mark.parametrize(
    "wrong",
    [
        ("--sources", "3", "--source", "1"),
        ("--batch", "--algo", "dijkstra"),
        ("--sources", "no-such", "--batch"),
        ("--sources", ","),
    ],
)
def test_sources_that_contradict_each_other_are_refused(wrong: tuple[str, ...]) -> None:
    refuse(2, "sssp", "grid:9x9", "--device", "cpu", *wrong)


# ------------------------------------------------------------------ side by side


def beside(
    device: Any, graph: CSRGraph, groups: int, sources: tuple[int, ...] = ()
) -> tuple[DistanceMatrix, HostClock]:
    """Return what searches in so many groups of blocks find, 0 to let them choose, and their clock."""
    view, clock, sources = make_resident(GraphView.of(graph), device)[0], HostClock(), sources or some(graph)
    rows, overflow = Apart(view, device, "float64", groups).run(clock, sources)
    return matrix_from_words(graph, sources, device.download(rows), overflow), clock


def chains(dtype: str = "uint32") -> CSRGraph:
    """Return a graph of long ways and few arcs, whose rows are packed where weights and distances are narrow."""
    return undirected(500, [(i, (i + step) % 500, 1 + i * step % 9) for i in range(500) for step in (1, 37)], dtype)


@needs_compiler
@pytest.mark.parametrize("groups", first(2, [3, 1, 2, 4, 90]))
def test_searches_side_by_side_give_each_row_as_alone(groups: int) -> None:
    for seed, graph in enumerate((zoo("directed-random"), chains(), generate("rmat:7"), hub())):
        matrix, clock = beside(EmulatedDevice(seed=seed), graph, groups)
        assert_right(matrix, some(graph))
        assert clock.counters["alone" if groups == 1 else "beside"] == 9
        assert min(clock.counters[name] for name in side_by_side.COUNTERS) > 0


@needs_compiler
@pytest.mark.parametrize("name", only(("float64", "huge-weights"), SEARCHABLE))
def test_searches_side_by_side_take_every_kind_of_weight(name: str) -> None:
    assert_right(beside(EmulatedDevice(seed=2), zoo(name), 3)[0], some(zoo(name)))


@needs_compiler
@drawn(60)
@given(graphs(), st.data())
def test_any_sources_of_any_graph_side_by_side(graph: CSRGraph, data: Any) -> None:
    sources = tuple(data.draw(st.lists(st.integers(0, graph.vertices - 1), min_size=1, max_size=6)))
    matrix, _ = beside(EmulatedDevice(seed=data.draw(st.integers(0, 99))), graph, data.draw(st.integers(2, 4)), sources)
    for row, source in zip(matrix, sources, strict=True):
        np.testing.assert_array_equal(row.raw, expected_distances(graph, source))


@needs_compiler
@pytest.mark.parametrize("groups", [2, 1])
def test_searches_side_by_side_restart_together_where_one_does_not_fit(groups: int) -> None:
    graph = directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5)])
    assert_right(beside(EmulatedDevice(), graph, groups)[0], some(graph))
    half = directed(4, [(0, 1, 2**63), (1, 2, 2**63), (2, 3, 1)], "uint64")
    with pytest.raises(InputError, match="does not fit in 64 bits"):
        beside(EmulatedDevice(), half, groups, (0, 1))


@needs_compiler
def test_searches_side_by_side_put_hubs_aside_each_in_its_own_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They meet hubs of unequal size in different orders, some of them together."""
    monkeypatch.setattr(delta_stepping, "LOCAL_SHARE", 6)
    for driver in (delta_stepping, side_by_side):
        shrunk(monkeypatch, tmp_path, driver, HUB_ROW=24, LOCAL_ROW=12, LOCAL_STEPS=5, LARGE=64)
    sizes = (520, 40, 300, 140)
    begins = [4 + sum(sizes[:i]) for i in range(4)]
    spokes = [(i, begins[i] + j, j * 7919 % 100 + 1) for i in range(4) for j in range(sizes[i])]
    graph = undirected(4 + sum(sizes), [*spokes, *((i, j, 1) for i in range(4) for j in range(i))])
    sources = (*begins, *range(4))
    for seed in range(3):
        assert_right(beside(EmulatedDevice(seed=seed), graph, 3, sources)[0], sources)


@needs_compiler
@pytest.mark.parametrize("groups", first(2, [2, 1, 0]))
def test_a_sum_beyond_64_bits_ends_no_other_search(groups: int) -> None:
    """It is of an arc that no path takes, and no words are wider: all searches are made all the same."""
    graph = undirected(30, [*((i, i + 1, 2**12) for i in range(29)), (0, 29, 2**64 - 2**11)], "uint64")
    sources = (5, *range(30))
    assert_right(beside(EmulatedDevice(seed=4), graph, groups, sources)[0], sources)


@needs_compiler
def test_what_is_faster_for_each_search_makes_the_rest() -> None:
    graph = generate("grid:6x6")
    matrix, clock = beside(EmulatedDevice(seed=1), graph, 0, tuple(range(30)))
    assert_right(matrix, range(30))
    counted = {name: clock.counters[name] for name in ("alone", "beside")}
    assert counted in ({"alone": 1, "beside": 29}, {"alone": 22, "beside": 8})
    few = beside(EmulatedDevice(seed=1), graph, 0, tuple(range(24)))[1]
    assert (few.counters["alone"], "beside" in few.counters) == (24, False)


@needs_compiler
def test_where_memory_is_short_fewer_searches_are_made_at_once() -> None:
    device, graph = EmulatedDevice(), chains()
    view = make_resident(GraphView.of(graph), device)[0]
    apart = Apart(view, device, "float64", 4)
    for room, groups in ((4, 4), (2, 2), (1, None)):
        most = needs(side_by_side.arrays(view, 32, room))
        device.require = lambda needed, most=most: require_at_most(needed, most)  # type: ignore[method-assign]
        apart._beside.clear()
        found = apart._side_by_side(32, 4)
        assert (found and found.groups) == groups


def require_at_most(needed: int, most: int) -> None:
    if needed > most:
        raise OutOfMemory("no room", remedy="none")


@needs_compiler
def test_searches_side_by_side_have_no_race_beyond_those_explained_in_the_kernels() -> None:
    device = EmulatedDevice(seed=3, races=True)
    for graph in (zoo("grid"), chains()):
        assert_right(beside(device, graph, 2)[0], some(graph))
    assert device.races() == []


@needs_compiler
def test_a_list_of_many_sources_is_searched_together_and_one_row_is_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, ran = zoo("grid"), []
    with gpugraph.on(graph, device="emulated") as g:
        monkeypatch.setattr(type(g), "_matrix", counted(ran, type(g)._matrix))
        rows = g.sssp([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], predecessors=True)
        alone = g.sssp([9, 0])
    assert len(ran) == 1
    assert [row.source for row in rows] == list(range(10))
    assert [rows[9].raw.tolist(), rows[0].raw.tolist()] == [row.raw.tolist() for row in alone]


def counted(ran: list[int], method: Any) -> Any:
    def call(*arguments: Any) -> Any:
        ran.append(1)
        return method(*arguments)

    return call


def test_a_negative_number_of_groups_is_refused() -> None:
    words = ("sssp", "grid:3x3", "--device", "emulated", "--sources", "3", "--batch", "--set", "groups=-1")
    assert "option 'groups' is -1" in refuse(2, *words)
