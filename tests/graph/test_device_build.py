"""Rows built on a device are those that the host builds, and what is said of them too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.devices.discovery import select_device
from gpugraph.emulator.device import EmulatedDevice
from gpugraph.errors import InputError
from gpugraph.graph.build import ArcList, build, symmetrize
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.device_build import build_on_device, can_build
from gpugraph.graph.device_rows import DeviceRows
from tests.emulator.compiler import needs_compiler
from tests.graph.test_device_generate import Small, assert_same
from tests.zoo import UNDIRECTED, zoo

KINDS = [{"directed": False, "one_sided": True}, {"directed": True}, {"directed": None}]


def generate_nothing() -> CSRGraph:
    raise AssertionError("nobody asks for it")


def listed(n: int, ends: list[tuple[int, int]], dtype: str | None, seed: int, **kind: bool | None) -> ArcList:
    """Return arcs with a few different weights, zeros of both signs among the reals."""
    tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
    weights = None
    if dtype is not None:
        weights = np.random.default_rng(seed).integers(0 if dtype[0] == "u" else -3, 4, len(tails)).astype(dtype)
        if dtype[0] == "f":
            weights[weights == 1] = -0.0
            weights[weights == 2] = np.inf
    return ArcList(tails, heads, weights, n, **kind)  # type: ignore[arg-type]


@needs_compiler
@settings(deadline=None, max_examples=80)
@given(st.data())
def test_any_list_of_arcs_gives_the_rows_of_the_host(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))
    vertex = st.integers(0, n - 1)
    ends = data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=80))
    dtype = data.draw(st.sampled_from([None, *WEIGHT_DTYPES]))
    arcs = listed(n, ends, dtype, data.draw(st.integers(0, 9)), **data.draw(st.sampled_from(KINDS)))
    assert_same(build_on_device(arcs, EmulatedDevice()), build(arcs))


@needs_compiler
@pytest.mark.parametrize("dtype", [None, "float32", "int64"])
def test_tiles_long_runs_and_ranges_of_vertices_are_put_together(dtype: str | None) -> None:
    rng = np.random.default_rng(4)
    for n, k in ((3, 5000), (20_000, 300), (300, 4400)):
        arcs = listed(n, rng.integers(0, n, (k, 2)).tolist(), dtype, 1, directed=False, one_sided=True)
        for device in (EmulatedDevice(), Small()):
            made = build_on_device(arcs, device) if n * 8 < device.memory()[0] / 2 else None
            if made is not None:
                assert_same(made, build(arcs))


@needs_compiler
@pytest.mark.parametrize("weight", [4, None])
def test_an_edge_whose_arcs_differ_is_refused_in_the_words_of_the_host(weight: int | None) -> None:
    tails, heads, weights = [0, 1, 1, 2], [1, 0, 2, 1], [7, 7, 9, weight]
    arcs = ArcList(*(np.array(a[: 4 if weight else 3]) for a in (tails, heads, weights)), 3, directed=False)
    said = []
    for make in (lambda: build(arcs, name="a"), lambda: build_on_device(arcs, EmulatedDevice(), name="a")):
        with pytest.raises(InputError) as caught:
            make()
        said.append(str(caught.value))
    assert said[0] == said[1]


@needs_compiler
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_any_directed_graph_becomes_the_undirected_one_of_the_host(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 30))
    vertex = st.integers(0, n - 1)
    ends = data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=60))
    arcs = listed(n, ends, data.draw(st.sampled_from([None, *WEIGHT_DTYPES])), 1, directed=True)
    host = symmetrize(build(arcs))
    if not host.arcs:
        return
    device = EmulatedDevice()
    assert_same(symmetrize(build_on_device(arcs, device)), host)
    later = symmetrize(build_on_device(arcs, device))
    device.close()
    assert np.array_equal(later.targets, host.targets)
    assert np.array_equal(later.weights, host.weights)


@needs_compiler
def test_no_kernel_that_builds_has_a_race() -> None:
    device, rng = EmulatedDevice(seed=5, races=True), np.random.default_rng(2)
    for dtype in ("int32", "float64"):
        arcs = listed(40, rng.integers(0, 40, (3000, 2)).tolist(), dtype, 3, directed=None)
        assert_same(symmetrize(build_on_device(arcs, device)), symmetrize(build(arcs)))
    assert device.races() == []


def test_a_list_without_arcs_or_with_numbers_of_64_bits_is_left_to_the_host() -> None:
    nothing = np.zeros(0, np.int64)
    assert not can_build(ArcList(nothing, nothing, None, 5))
    assert not can_build(ArcList(nothing[:1], nothing[:1], None, 2**31))


@needs_compiler
@pytest.mark.parametrize("bits", [32, 64])
def test_what_is_looked_up_on_a_device_is_what_the_host_has(bits: int) -> None:
    device = EmulatedDevice(races=True)
    for name in UNDIRECTED:
        graph = zoo(name)
        if not graph.arcs:
            continue
        offsets = device.upload(graph.offsets.astype(f"int{bits}"))
        targets, weights = device.upload(graph.targets), device.upload(graph.weights)
        rows = DeviceRows(device, offsets, targets, weights, generate_nothing)
        at = np.random.default_rng(1).permutation(graph.arcs)
        tails = np.repeat(np.arange(graph.vertices), graph.degrees)
        u, v, w = rows.ends_and_weights(at)
        assert (u.tolist(), v.tolist()) == (tails[at].tolist(), graph.targets[at].tolist())
        assert w.tolist() == graph.weights[at].tolist()
        ids = rows.canonical_ids(at)
        assert np.array_equal(np.minimum(u, v), tails[ids])
        assert np.array_equal(np.maximum(u, v), graph.targets[ids])
        assert np.array_equal(rows.canonical_ids(at.astype(np.uint32)), ids)
        assert rows.ascending(ids).tolist() == sorted(ids.tolist())
        assert np.concatenate(list(rows.pairs(at))).tolist() == list(
            map(list, zip(u.tolist(), v.tolist(), strict=True))
        )
        if graph.weight_dtype.kind != "f":
            assert rows.total(at) == sum(graph.weights.tolist())
    assert device.races() == []


@needs_compiler
@pytest.mark.parametrize("dtype", [dtype for dtype in WEIGHT_DTYPES if np.dtype(dtype).kind != "f"])
def test_a_device_sums_the_greatest_and_the_least_weights_exactly(dtype: str) -> None:
    device, kind = EmulatedDevice(), np.iinfo(dtype)
    weights = np.array([kind.max] * 70 + [kind.min] * 69 + [7], dtype)
    offsets, targets = device.upload(np.array([0, 140], np.int32)), device.upload(np.zeros(140, np.int32))
    rows = DeviceRows(device, offsets, targets, device.upload(weights), generate_nothing)
    for at in (np.arange(140), np.arange(70), np.arange(70, 140), np.zeros(0, np.int64)):
        assert rows.total(at) == sum(weights[at].tolist())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [None, *WEIGHT_DTYPES])
def test_a_gpu_builds_the_rows_of_the_host(dtype: str | None) -> None:
    ends = np.random.default_rng(1).integers(0, 5000, (200_000, 2)).tolist()
    device, _ = select_device("cuda")
    try:
        for kind in KINDS:
            arcs = listed(5000, ends, dtype, 1, **kind)
            assert_same(build_on_device(arcs, device), build(arcs))
    finally:
        device.close()
