"""Graph500's kernels 1 and 3 and its validation, on the CPU and on the emulated device."""

from __future__ import annotations

import heapq
import mmap
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpugraph.base.errors import InputError
from gpugraph.devices import kernel_file
from gpugraph.devices.discovery import select_device
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.graph500 import on_device
from gpugraph.ext.graph500.benchmark import Place, draw_roots
from gpugraph.ext.graph500.checked import RULES
from gpugraph.ext.graph500.generator import Tuples, generate
from gpugraph.ext.graph500.on_device import possible_positions
from gpugraph.graph.device_rows import DeviceRows
from tests.tiers import drawn

Lines = list[tuple[int, int, float]]
Machine = Any

TINY = float(np.float32(1e-9))
"""So little that a distance of 1 absorbs it."""


def listed(lines: Lines) -> Tuples:
    edges = np.array([(u, v, 0) for u, v, _ in lines], np.uint32).ravel()
    return Tuples(edges, np.array([w for *_, w in lines], np.float32))


def machine_on(device: Any, lines: Lines | Tuples, index: np.dtype[Any] | None = None) -> Machine:
    """Return the benchmark on a device, kernel 1 done."""
    tuples = lines if isinstance(lines, Tuples) else listed(lines)
    if device.kind != "cpu":
        tuples = Tuples(device.upload(tuples.edges), device.upload(tuples.weights))
    made = Place(device).machine(tuples, index)
    made.construct()
    return made


@pytest.fixture(scope="module", params=["cpu", "emulated"])
def device(request: pytest.FixtureRequest) -> Any:
    opened, _ = select_device(request.param)
    yield opened
    opened.close()


def dijkstra(lines: Lines, n: int, root: int) -> np.ndarray[Any, Any]:
    """Return float32 distances by a heap, each sum rounded; −1 where not reached."""
    rows: list[list[tuple[int, np.float32]]] = [[] for _ in range(n)]
    for u, v, w in lines:
        rows[u].append((v, np.float32(w)))
        rows[v].append((u, np.float32(w)))
    far = np.full(n, np.inf, np.float32)
    far[root] = 0
    heap = [(np.float32(0), root)]
    while heap:
        near, u = heapq.heappop(heap)
        if near > far[u]:
            continue
        for v, w in rows[u]:
            if near + w < far[v]:
                far[v] = near + w
                heapq.heappush(heap, (far[v], v))
    return np.where(np.isinf(far), np.float32(-1), far)


def some_lines() -> st.SearchStrategy[Lines]:
    weight = st.sampled_from([0.0, TINY, 0.125, 0.5, 1.0])
    return st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), weight), min_size=1, max_size=30)


@pytest.mark.parametrize("kind", ["cpu", "emulated"])
@drawn(60)
@given(lines=some_lines(), data=st.data())
@example(lines=[(0, 1, 1.0), (1, 2, TINY), (2, 3, 0.0), (3, 1, 0.0), (3, 4, TINY)], data=None)
def test_searches_are_right_and_valid_with_loops_duplicates_and_weights_that_rounding_absorbs(
    kind: str, lines: Lines, data: Any
) -> None:
    made = machine_on(select_device(kind)[0], lines)
    n = max(max(u, v) for u, v, _ in lines) + 1
    assert made.vertices == n
    root = 0 if data is None else data.draw(st.integers(0, n - 1))
    made.search(root)
    parents, distances = made.result()
    right = dijkstra(lines, n, root)
    np.testing.assert_array_equal(distances, right)
    assert ((parents == -1) == (right == -1)).all()
    found = made.validate(root)
    assert found.fault is None
    assert found.tuples == sum(right[u] != -1 for u, _, _ in lines)


def test_a_clique_of_zero_weights_hangs_on_the_root_without_a_cycle(device: Any) -> None:
    lines = [(0, 1, 1.0), *((u, v, 0.0) for u in range(1, 40) for v in range(u))]
    made = machine_on(device, lines)
    made.search(39)
    assert made.validate(39).fault is None
    assert not made.result()[1].any()


def test_the_emulated_device_and_the_cpu_find_the_same_distances_at_either_width_of_indices() -> None:
    tuples = generate(10, None)
    cpu = machine_on(select_device("cpu")[0], tuples)
    roots = draw_roots(10, cpu, 3)
    for index in ("int32", "uint32", "int64"):
        emulated = machine_on(select_device("emulated")[0], tuples, np.dtype(index))
        assert draw_roots(10, emulated, 3) == roots
        for root in roots:
            cpu.search(root)
            emulated.search(root)
            np.testing.assert_array_equal(emulated.result()[1], cpu.result()[1])
            assert emulated.validate(root) == cpu.validate(root)


def test_nothing_is_carried_over_from_one_search_to_the_next(device: Any) -> None:
    made = machine_on(device, [(0, 1, 0.5), (2, 3, 0.25)])
    made.search(0)
    assert made.validate(0).tuples == 1
    made.search(2)
    assert made.result()[0].tolist() == [-1, -1, 2, 2]
    assert made.result()[1].tolist() == [-1, -1, 0, 0.25]


def test_rows_hold_every_tuple_both_ways_but_loops_whatever_ranges_they_are_made_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"WINDOW": 16, "FIRST_RANKS": 1, "GROWTH": 2, "RENAMED": 4}.items():
        monkeypatch.setattr(on_device, name, value)
    lines = [(5, 70, 0.5), (5, 70, 0.5), (70, 5, 0.25), (9, 9, 0.125), (0, 5, 1.0), (3, 41, 0.75)]
    made = machine_on(select_device("emulated")[0], lines)
    rows, label = made.rows, made.label
    tails = label[np.repeat(np.arange(rows.vertices), np.diff(rows.offsets))]
    arcs = sorted(zip(tails.tolist(), label[rows.targets].tolist(), rows.weights.tolist(), strict=True))
    both = [(u, v, w) for u, v, w in lines if u != v]
    assert arcs == sorted(both + [(v, u, w) for u, v, w in both])


def test_vertices_with_many_arcs_come_first_in_the_rows_and_those_without_any_are_left_out() -> None:
    made = machine_on(select_device("emulated")[0], generate(12, None))
    degree, ranks = np.diff(made.rows.offsets), np.sort(made.rank[made.rank >= 0])
    np.testing.assert_array_equal(ranks, np.arange(made.rows.vertices))
    np.testing.assert_array_equal(made.rank[made.label], ranks)
    assert degree.min() == 1
    assert (2 * degree[:-1] > degree[1:]).all()
    assert (np.minimum.accumulate(degree) * 1.5 > degree).all()


def test_loops_decide_with_the_other_tuples_how_wide_positions_are(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [(0, 1, 0.5), (1, 1, 0.5), (1, 2, 0.5)]
    device = select_device("emulated")[0]
    for limits, positions in (((4, 4), "int64"), ((4, 5), "uint32"), ((5, 5), "int32")):
        monkeypatch.setattr(kernel_file, "MAX_NARROW_ARCS", limits[0])
        monkeypatch.setattr(kernel_file, "MAX_UNSIGNED_ARCS", limits[1])
        assert machine_on(device, lines).rows.index_dtype == positions
    monkeypatch.undo()
    possible = [{dtype.name for dtype in possible_positions(16 << scale)} for scale in (25, 26, 27, 28)]
    assert possible == [{"int32"}, {"int32", "uint32"}, {"uint32", "int64"}, {"int64"}]


def reserved(words: int, dtype: Any) -> Any:
    """Return zeros that take memory only where they are touched."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE, which Python names from 3.13 on
    return np.frombuffer(mmap.mmap(-1, words * np.dtype(dtype).itemsize, flags=flags), dtype)


@pytest.mark.skipif(sys.platform != "linux", reason="reserves 34 GB of addresses as Linux does")
@pytest.mark.parametrize(("limit", "dtype"), [("MAX_NARROW_ARCS", np.int32), ("MAX_UNSIGNED_ARCS", np.uint32)])
def test_positions_of_32_bits_do_not_wrap_around_in_a_search_whose_rows_are_the_last_that_they_reach(
    limit: str, dtype: Any
) -> None:
    device = select_device("emulated")[0]
    made = machine_on(device, generate(10, None), np.dtype(dtype))
    low, (root,) = made.rows, draw_roots(10, made, 1)
    made.search(root)
    right, arcs = made.result()[1], getattr(kernel_file, limit) - 1
    targets, weights = reserved(arcs, np.int32), reserved(arcs, np.float32)
    targets[-low.arcs :], weights[-low.arcs :] = low.targets, low.weights
    made.use_rows(DeviceRows(device, low.offsets + dtype(arcs - low.arcs), targets, weights, low.remake))
    made.search(root)
    np.testing.assert_array_equal(made.result()[1], right)
    assert made.validate(root).fault is None
    device.close()


@pytest.mark.parametrize("line", [(0, 1, 1.5), (0, 1, -0.5), (0, 1, float("nan")), (2**31, 1, 0.5)])
def test_kernel_1_refuses_a_tuple_that_no_generator_makes(device: Any, line: tuple[int, int, float]) -> None:
    with pytest.raises(InputError, match=f"tuple 1 joins {line[0]} and 1 with weight"):
        machine_on(device, [(0, 1, 0.5), line])


def test_roots_are_those_of_the_reference_with_an_edge_to_another_vertex(device: Any) -> None:
    made = machine_on(device, generate(10, None))
    roots = draw_roots(10, made, 64)
    assert len(set(roots)) == 64
    assert all(made.degree(root) for root in roots)
    assert draw_roots(10, machine_on(device, [(0, 0, 0.5), (3, 4, 0.5)]), 64) in ([3, 4], [4, 3])


# ------------------------------------------------------------------ every rule is broken on purpose

LINES = [(0, 1, 0.25), (1, 2, 0.25), (0, 2, 0.75), (2, 3, 0.5), (3, 3, 0.5), (4, 5, 0.25), (1, 6, 0.0), (6, 7, 0.0)]
"""From vertex 0 the distances are 0, 0.25, 0.5, 1, none, none, 0.25 and 0.25."""


def broken(parents: Any, distances: Any, **changes: dict[int, float]) -> None:
    for array, name in ((parents, "parent"), (distances, "distance")):
        for v, value in changes.get(name, {}).items():
            array[v] = value


@pytest.mark.parametrize(
    ("rule", "changes", "said"),
    [
        ("RANGE", {"parent": {3: 8}}, "vertex 3 has parent 8 and distance 1, one of which is out of range"),
        ("RANGE", {"parent": {3: -2}}, "vertex 3 has parent -2"),
        ("RANGE", {"distance": {3: -0.5}}, "vertex 3 has parent 2 and distance -0.5, one of which is out of range"),
        ("RANGE", {"distance": {3: float("nan")}}, "vertex 3 has parent 2 and distance nan"),
        ("RANGE", {"distance": {3: float("inf")}}, "vertex 3 has parent 2 and distance inf"),
        ("UNLIKE", {"parent": {3: -1}}, "vertex 3 has parent -1 and distance 1, which do not agree"),
        ("UNLIKE", {"distance": {4: 0.5}}, "vertex 4 has parent -1 and distance 0.5, which do not agree"),
        ("ROOT", {"parent": {0: 1}}, "vertex 0 has parent 1 and distance 0, but is the root 0"),
        ("ROOT", {"distance": {0: 0.25}}, "vertex 0 has parent 0 and distance 0.25, but is the root 0"),
        ("CYCLE", {"parent": {6: 7, 7: 6}}, "vertex 6 has parent 7 and distance 0.25, and its parents lead round"),
        ("CYCLE", {"parent": {3: 3}}, "vertex 3 has parent 3 and distance 1, and its parents lead round"),
        ("SPLIT", {"parent": {3: -1}, "distance": {3: -1}}, "tuple 3 joins vertex 2 at distance 0.5 and vertex 3"),
        ("SPLIT", {"parent": {4: 1}, "distance": {4: 0.5}}, "tuple 5 joins vertex 4 at distance 0.5 and vertex 5"),
        ("TOO_FAR", {"parent": {2: 0}, "distance": {2: 0.75, 3: 1.25}}, "tuple 1 of weight 0.25 joins vertex 1"),
        ("TOO_FAR", {"distance": {3: 1.5}}, "tuple 3 of weight 0.5 joins vertex 2 at distance 0.5 and vertex 3"),
        ("UNCONFIRMED", {"parent": {3: 0}}, "vertex 3 has parent 0 and distance 1, which no tuple of the input"),
        ("UNCONFIRMED", {"distance": {3: 0.75}}, "vertex 3 has parent 2 and distance 0.75, which no tuple"),
        ("UNCONFIRMED", {"parent": {2: 0}}, "vertex 2 has parent 0 and distance 0.5, which no tuple"),
        (
            "UNCONFIRMED",
            {"parent": {4: 5, 5: 0}, "distance": {4: 0.5, 5: 0.5}},
            "vertex 4 has parent 5 and distance 0.5, which no tuple",
        ),
    ],
)
def test_the_validation_refuses_a_broken_rule_and_names_the_first_counter_example(
    device: Any, rule: str, changes: dict[str, Any], said: str
) -> None:
    assert rule in RULES
    made = machine_on(device, LINES)
    made.search(0)
    assert made.validate(0).fault is None
    broken(made.parent, made.distance, **changes)
    fault = made.validate(0).fault
    assert fault is not None
    assert fault.startswith(said)


def test_the_mutations_break_every_rule() -> None:
    marks: list[Any] = test_the_validation_refuses_a_broken_rule_and_names_the_first_counter_example.pytestmark  # type: ignore[attr-defined]
    assert {case[0] for case in marks[0].args[1]} == set(RULES)


@drawn(60)
@given(change=st.tuples(st.booleans(), st.integers(0, 2**16), st.integers(0, 2**16)))
def test_any_other_distance_or_a_parent_that_is_no_neighbour_is_refused(change: tuple[bool, int, int]) -> None:
    made = _scale_8()
    made.search(53)
    parents, distances = made.parent.copy(), made.distance.copy()
    of_parents, at, other = change
    v = at % made.vertices
    if distances[v] == -1:
        return
    if of_parents:
        row = made.rows.targets[made.rows.offsets[v] : made.rows.offsets[v + 1]]
        u = other % made.vertices
        if u in row or u == parents[v]:
            return
        made.parent[v] = u
    else:
        near = np.nextafter(distances[v], np.float32(np.inf if other % 2 else -np.inf))
        made.distance[v] = near
    assert made.validate(53).fault is not None


def _cached(make: Callable[[], Machine]) -> Callable[[], Machine]:
    held: list[Machine] = []

    def get() -> Machine:
        if not held:
            held.append(make())
        return held[0]

    return get


_scale_8 = _cached(lambda: machine_on(select_device("cpu")[0], generate(8, None)))


def test_kernels_have_no_race_but_those_that_are_meant() -> None:
    device = EmulatedDevice(seed=3, races=True)
    made = machine_on(device, generate(6, None))
    (root,) = draw_roots(6, made, 1)
    made.search(root)
    assert made.validate(root).fault is None
    zeros = machine_on(device, [(u, v, 0.0) for u in range(1, 12) for v in range(u)])
    zeros.search(11)
    assert zeros.validate(11).fault is None
    assert device.races() == []


@pytest.mark.gpu
def test_a_gpu_makes_the_same_edge_list_and_finds_the_distances_of_the_cpu() -> None:
    gpu, _ = select_device("cuda")
    tuples = generate(14, None)
    there = generate(14, gpu)
    np.testing.assert_array_equal(gpu.download(there.edges), tuples.edges)
    np.testing.assert_array_equal(gpu.download(there.weights), tuples.weights)
    cpu = machine_on(select_device("cpu")[0], tuples)
    for index in ("int32", "uint32", "int64"):
        made = machine_on(gpu, tuples, np.dtype(index))
        for root in draw_roots(14, cpu, 4):
            cpu.search(root)
            made.search(root)
            np.testing.assert_array_equal(made.result()[1], cpu.result()[1])
            assert made.validate(root) == cpu.validate(root)
    zeros = machine_on(gpu, [(u, v, 0.0) for u in range(1, 200) for v in range(u)])
    zeros.search(199)
    assert zeros.validate(199).fault is None
    gpu.fill(zeros.parent[3:4], 5)
    gpu.fill(zeros.parent[5:6], 3)
    fault = zeros.validate(199).fault
    assert fault is not None
    assert fault.startswith("vertex 3 has parent 5 and distance 0, and its parents lead round a cycle")
    gpu.close()
