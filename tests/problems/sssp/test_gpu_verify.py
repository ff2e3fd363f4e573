"""The certificate on the device agrees with the host's, verdict and counter-example, whatever distances it is given;
and the device's predecessors are the host's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base.errors import OutOfMemory
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.measure.cell import Cell
from gpugraph.measure.check import check
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp import gpu_tight_arcs
from gpugraph.problems.sssp.arcs import unreached
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.gpu_verify import certify
from gpugraph.problems.sssp.problem import PROBLEM
from gpugraph.problems.sssp.tight_arcs import canonical_predecessors
from gpugraph.problems.sssp.verify import check_certificate
from tests.emulator.compiler import needs_compiler
from tests.problems.sssp.small_graphs import SEARCHABLE, expected_distances, graphs, some_sources
from tests.tiers import drawn, first
from tests.zoo import directed, undirected, zoo

LEVELS = ("zero-weights", "all-zero", "caterpillar", "float-tiny-and-huge", "directed-sink")
"""Graphs of the zoo with tight arcs between equal distances."""


@cache
def right_on_zoo(name: str, source: int) -> Distances:
    return Distances(zoo(name), source, expected_distances(zoo(name), source))


def right(graph: CSRGraph, source: int = 0) -> Distances:
    return Distances(graph, source, expected_distances(graph, source))


def resident(device: Any, graph: CSRGraph, index_bits: int | None = None) -> Any:
    return make_resident(GraphView.of(graph, index_bits=index_bits), device)[0]


def certified(device: Any, result: Distances, index_bits: int | None = None) -> Verdict:
    """Return the device's verdict."""
    return certify(resident(device, result.graph, index_bits), device, result.source, result)


def with_distance(result: Distances, vertex: int, distance: Any) -> Distances:
    changed = result.raw.copy()
    changed[vertex] = distance
    return replace(result, raw=changed)


def corruptions(result: Distances, vertex: int) -> list[Distances]:
    """Return the result with one distance raised, lowered, made reached or unreached, or another vertex's."""
    dtype, held = result.raw.dtype, result.raw[vertex]
    none, finite = unreached(dtype), result.raw[result.reached]
    values = {dtype.type(0), dtype.type(1), none, *finite[:2]}
    if held != none:
        values.add(held + dtype.type(1) if dtype.kind == "u" else np.nextafter(held, none))
    if held not in (0, none):
        values.add(held - dtype.type(1) if dtype.kind == "u" else np.nextafter(held, dtype.type(0)))
        values.add(held // dtype.type(2))
    return [with_distance(result, vertex, value) for value in sorted(values) if value != held]


def agree(device: Any, view: Any, result: Distances) -> Verdict:
    """Return the device's verdict, which is the host's word for word."""
    expected = check_certificate(result.graph, result.source, result)
    found = certify(view, device, result.source, result)
    said = f"{expected.detail}; checked on the device" if expected.passed else expected.detail
    assert found == replace(expected, detail=said), result.graph.name
    return found


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "emulated":
        yield EmulatedDevice()
        return
    from gpugraph.devices.cuda import CudaDevice

    made = CudaDevice(0)
    yield made
    made.close()


pytestmark = needs_compiler


# ------------------------------------------------------------------ the certificate


@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_right_distances_on_every_graph_of_the_zoo_pass_with_and_without_predecessors(
    device: Any, index_bits: int
) -> None:
    for name in SEARCHABLE:
        view = resident(device, zoo(name), index_bits)
        for source in some_sources(zoo(name)):
            for result in (right_on_zoo(name, source), right_on_zoo(name, source).with_predecessors()):
                assert agree(device, view, result).passed, name


def test_every_single_word_that_makes_an_answer_wrong_is_refused_with_the_hosts_counter_example(device: Any) -> None:
    refused = 0
    for turn, name in enumerate(SEARCHABLE):
        graph, view = zoo(name), resident(device, zoo(name))
        result = right_on_zoo(name, 0)
        rng = np.random.default_rng(turn)
        for vertex in rng.permutation(graph.vertices)[:6]:
            for wrong in corruptions(result, int(vertex)):
                assert not agree(device, view, wrong).passed, (name, vertex)
                refused += 1
    assert refused > 500


@pytest.mark.parametrize("seed", first(2, range(1, 7)))
def test_the_verdict_and_the_predecessors_are_the_same_under_any_schedule(seed: int) -> None:
    device, rng = EmulatedDevice(seed=seed), np.random.default_rng(seed)
    for name in (*LEVELS, "grid-equal", "float32", "directed-random", "star-equal"):
        view = resident(device, zoo(name))
        result = right_on_zoo(name, 0)
        assert agree(device, view, result.with_predecessors()).passed
        for wrong in corruptions(result, int(rng.integers(zoo(name).vertices))):
            assert not agree(device, view, wrong).passed, name


def test_there_is_no_race_beyond_those_explained_in_the_kernels() -> None:
    device = EmulatedDevice(seed=3, races=True)
    for name in (*LEVELS, "random-ties", "float32", "uint64"):
        result = right_on_zoo(name, 0)
        assert certified(device, result.with_predecessors()).passed
        assert not certified(device, corruptions(result, 1)[0]).passed
    for graph in (wide_levels(), zero_layers()):
        assert certified(device, right(graph)).passed
    assert device.races() == []


def test_cycles_of_zero_weights_that_hold_each_other_up_are_refused(device: Any) -> None:
    cut_off = directed(5, [(0, 1, 4), (2, 3, 0), (3, 4, 0), (4, 2, 0)])
    lowered = undirected(4, [(0, 1, 4), (1, 2, 0), (2, 3, 0), (1, 3, 0)])
    two = directed(7, [(0, 1, 4), (2, 3, 0), (3, 2, 0), (4, 5, 0), (5, 4, 0), (3, 4, 1), (1, 6, 0)])
    for graph, distance, vertex in (
        (cut_off, [0, 4, 3, 3, 3], 2),
        (lowered, [0, 3, 3, 3], 1),
        (two, [0, 4, 7, 7, 8, 8, 4], 2),
    ):
        verdict = agree(device, resident(device, graph), Distances(graph, 0, np.array(distance, np.uint64)))
        assert f"vertex {vertex} has distance" in verdict.detail


def test_a_sum_beyond_64_bits_is_no_path_and_a_distance_left_out_for_it_is_reported(device: Any) -> None:
    graph = directed(4, [(0, 1, 2**63), (1, 2, 2**63), (0, 3, 5), (3, 2, 2**63)], "uint64")
    view = resident(device, graph)
    assert agree(device, view, Distances(graph, 0, np.array([0, 2**63, 2**63 + 5, 5], np.uint64))).passed
    left_out = Distances(graph, 0, np.array([0, 2**63, 2**64 - 1, 5], np.uint64))
    assert "can be relaxed" in agree(device, view, left_out).detail
    graph = directed(3, [(0, 1, 2**63), (1, 2, 2**63)], "uint64")
    left_out = Distances(graph, 0, np.array([0, 2**63, 2**64 - 1], np.uint64))
    assert "does not fit in 64 bits" in agree(device, resident(device, graph), left_out).detail


def test_distances_of_narrow_weights_may_take_64_bits(device: Any) -> None:
    graph = undirected(9, [(i, i + 1, 2**32 - 1 - i) for i in range(8)])
    view = resident(device, graph)
    result = right(graph)
    assert result.raw.max() > 2**34
    assert agree(device, view, result.with_predecessors()).passed
    assert not agree(device, view, with_distance(result, 8, result.raw[8] & np.uint64(2**32 - 1))).passed


def test_float32_sums_are_rounded_in_float32_and_infinite_ones_lead_nowhere(device: Any) -> None:
    graph = undirected(5, [(0, 1, 1.0), (1, 2, 1e-8), (2, 3, 3e38), (3, 4, 3e38)], "float32")
    view = resident(device, graph)
    result = Distances(graph, 0, expected_distances(graph, 0, "float32"))
    assert result.raw.tolist()[1:3] == [1, 1]
    assert not result.reached[4]
    assert agree(device, view, result.with_predecessors()).passed
    higher = np.nextafter(np.float32(1), np.float32(2))
    assert "can be relaxed" in agree(device, view, with_distance(result, 2, higher)).detail


def test_a_negative_distance_and_one_that_is_no_number_are_refused(device: Any) -> None:
    for name in ("float32", "float64"):
        view, result = resident(device, zoo(name)), right_on_zoo(name, 0)
        for nonsense in (-1.0, np.nan):
            assert not agree(device, view, with_distance(result, 5, nonsense)).passed
        every_bit = result.raw.copy().view(f"u{result.raw.itemsize}")
        every_bit[7] = np.iinfo(every_bit.dtype).max
        assert not agree(device, view, replace(result, raw=every_bit.view(result.raw.dtype))).passed


def test_what_is_no_answer_to_the_question_is_refused(device: Any) -> None:
    result = right_on_zoo("grid", 0)
    view = resident(device, result.graph)
    for wrong in (
        replace(result, source=1),
        replace(result, raw=result.raw[:-1]),
        replace(result, raw=result.raw.astype(float)),
        replace(result, raw=result.raw.astype(np.float32)),
        with_distance(result, 0, 5),
    ):
        assert not agree(device, view, wrong).passed
    assert certify(view, device, 1, result) == check_certificate(result.graph, 1, result)


def test_a_vertex_hung_elsewhere_is_refused(device: Any) -> None:
    result = right_on_zoo("grid-equal", 0).with_predecessors()
    assert result.predecessor is not None
    rehung = result.predecessor.copy()
    rehung[9] = 8
    verdict = agree(device, resident(device, result.graph), replace(result, predecessor=rehung))
    assert "vertex 9 has predecessor 8, the canonical one is 1" in verdict.detail


@drawn(40)
@given(graph=graphs(), data=st.data())
def test_drawn_graphs_get_the_hosts_verdict_and_predecessors(graph: CSRGraph, data: st.DataObject) -> None:
    device = EmulatedDevice(seed=data.draw(st.integers(0, 9)))
    view, result = resident(device, graph), right(graph)
    assert agree(device, view, result.with_predecessors()).passed
    vertex = data.draw(st.integers(0, graph.vertices - 1))
    for wrong in corruptions(result, vertex):
        assert not agree(device, view, wrong).passed


# ------------------------------------------------------------------ predecessors


def wide_levels(n: int = 5000) -> CSRGraph:
    """Return a graph whose hub, found at level 1, has a row of several tiles, all of zero weight."""
    return undirected(n, [(0, n - 1, 0)] + [(n - 1, i, 0) for i in range(2, n - 1)] + [(2, 1, 0), (3, 1, 0), (1, 0, 9)])


def zero_layers(width: int = 30) -> CSRGraph:
    """Return layers of vertices with every arc from one to the next: vertices are offered many tails in a level."""
    arcs = [(0, 1 + i, 0) for i in range(width)]
    arcs += [(1 + i, 1 + width + j, 0) for i in range(width) for j in range(width)]
    arcs += [(1 + width + i, 1 + 2 * width, 0) for i in range(width)]
    return directed(2 + 2 * width, arcs)


@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_predecessors_on_every_graph_of_the_zoo_are_the_hosts(device: Any, index_bits: int) -> None:
    for name in SEARCHABLE:
        view = resident(device, zoo(name), index_bits)
        for source in some_sources(zoo(name)):
            distance = right_on_zoo(name, source).raw
            found = gpu_tight_arcs.canonical_predecessors(view, device, distance, source)
            assert found.dtype == np.int64
            np.testing.assert_array_equal(found, canonical_predecessors(zoo(name), distance, source), err_msg=name)


def test_a_hub_of_many_tiles_and_a_long_path_without_weights_are_followed(device: Any) -> None:
    path = undirected(700, [(i, i + 1, 0) for i in range(699)])
    for graph, source in ((wide_levels(), 0), (wide_levels(), 1), (path, 0), (path, 350)):
        view, n = resident(device, graph), graph.vertices
        zero = Distances(graph, source, np.zeros(n, np.uint64))
        assert agree(device, view, zero.with_predecessors()).passed
        found = zero.with_predecessors(view, device).predecessor
        np.testing.assert_array_equal(found, canonical_predecessors(graph, zero.raw, source))


# ------------------------------------------------------------------ who does it where


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> EmulatedDevice:
    """An emulated device that the measurement takes for a GPU."""
    monkeypatch.setattr(EmulatedDevice, "kind", "cuda")
    return EmulatedDevice()


def full(needed: int) -> None:
    raise OutOfMemory("no room")


def test_a_gpu_that_holds_the_graph_certifies_it_unless_it_has_no_room(
    gpu: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = right_on_zoo("random", 0)
    graph, view = result.graph, resident(gpu, result.graph)
    assert check(PROBLEM, graph, (0,), result, "certificate", view, gpu).detail.endswith("; checked on the device")
    wrong = with_distance(result, 5, 1)
    assert not check(PROBLEM, graph, (0,), wrong, "both", view, gpu).passed
    monkeypatch.setattr(gpu, "require", full)
    for claimed in (result, wrong):
        assert check(PROBLEM, graph, (0,), claimed, "certificate", view, gpu) == check_certificate(graph, 0, claimed)


@pytest.mark.parametrize("preparation", first(1, ["sort-adjacency", "rank-weights"]))
def test_other_arcs_or_weights_on_the_device_leave_it_to_the_host(gpu: EmulatedDevice, preparation: str) -> None:
    result = right_on_zoo("random", 0)
    view, _, _ = make_resident(GraphView.of(result.graph, (preparation,)), gpu)
    assert check(PROBLEM, result.graph, (0,), result, "certificate", view, gpu) == check_certificate(
        result.graph, 0, result
    )
    np.testing.assert_array_equal(
        result.with_predecessors(view, gpu).predecessor, result.with_predecessors().predecessor
    )


def test_a_device_without_room_and_one_with_another_graph_leave_the_predecessors_to_the_host(
    gpu: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, other = right_on_zoo("grid", 0), resident(gpu, zoo("random"))
    expected = result.with_predecessors().predecessor
    np.testing.assert_array_equal(result.with_predecessors(other, gpu).predecessor, expected)
    view = resident(gpu, result.graph)
    monkeypatch.setattr(gpu, "require", full)
    np.testing.assert_array_equal(result.with_predecessors(view, gpu).predecessor, expected)


def test_the_check_takes_24_bytes_a_vertex_at_most_and_nothing_stays_on_the_device(device: Any) -> None:
    for graph in (undirected(3000, [(i, i + 1, 0) for i in range(2999)]), wide_levels(3000)):
        view, zero = resident(device, graph), np.zeros(3000, np.uint64)
        device.reset_peak()
        before = device.peak_bytes()
        assert certify(view, device, 0, Distances(graph, 0, zero)).passed
        assert before < device.peak_bytes() <= before + 24 * 3000 + 2048
        device.reset_peak()
        assert device.peak_bytes() == before


@pytest.mark.parametrize("kind", ["cuda", "emulated"])
def test_a_record_tells_the_time_of_the_predecessors_apart(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(EmulatedDevice, "kind", kind)
    monkeypatch.setattr("gpugraph.devices.bandwidth.copy_bandwidth", lambda device: 1e12)  # not through the emulator
    on_device, original = list[int](), gpu_tight_arcs.canonical_predecessors

    def noted(view: Any, device: Any, distance: Any, source: int) -> Any:
        on_device.append(source)
        return original(view, device, distance, source)

    monkeypatch.setattr(gpu_tight_arcs, "canonical_predecessors", noted)
    cell = Cell("sssp", zoo("grid"), "dijkstra", "emulated", repeat=1, verify="certificate", predecessors=True)
    record = run_cell(cell)
    assert record.data["predecessors_s"] > 0
    assert len(on_device) == (kind == "cuda")
    assert record.data["verification"]["detail"].endswith("on the device") == (kind == "cuda")
    expected = canonical_predecessors(zoo("grid"), record.result.raw, record.result.source)
    np.testing.assert_array_equal(record.result.predecessor, expected)
    assert "predecessors_s" not in run_cell(replace(cell, predecessors=False)).data
