"""Positions of arcs without a sign, as graphs of 2^31 to 2^32 arcs have them on a GPU.

No machine of ours emulates so many arcs.  So positions of 16 bits, which wrap around where those of 32 do, stand for
them (``wrapping_positions.h``): a graph of 2^15 to 2^16 arcs then meets whatever a larger one does, and a smaller one
what comes of having no sign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpugraph.base.errors import GraphFormatError, InputError
from gpugraph.devices import kernel_file
from gpugraph.devices.cpu import CpuDevice
from gpugraph.devices.kernel_file import index_dtype
from gpugraph.ext.components.labels import Components
from gpugraph.ext.device_graphs.device_build import build_on_device
from gpugraph.ext.emulator import toolchain
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.emulator.module import library_of
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.graph500.generator import Tuples
from gpugraph.ext.graph500.on_cpu import CpuMachine
from gpugraph.ext.graph500.on_device import DeviceMachine
from gpugraph.graph.build import ArcList, arc_tails, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.graph.load import load_file
from gpugraph.graph.symmetrize import symmetrize
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.mst import gpu_filter_boruvka
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.registry import algorithms, load_problem
from tests.problems.gpu_cases import VALUES, cases, expected, expected_on_zoo, run_on
from tests.tiers import drawn, extended
from tests.zoo import undirected, zoo

HEADER = Path(__file__).with_name("wrapping_positions.h").read_text()
MOST = 2**16 - 2**12
UNSIGNED = [
    (one.problem, one.name) for problem in ("mst", "sssp", "components") for one in algorithms(problem) if one.unsigned
]
define_lines = toolchain.define_lines


def wrapping_lines(defines: Any) -> str:
    unsigned = "INDEX" in defines
    return HEADER * unsigned + define_lines({**defines, "INDEX": "Wrapping"} if unsigned else defines)


@pytest.fixture
def wrapping(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give every graph positions without a sign, of 16 bits, and hold heavy edges back on small graphs."""
    library_of.cache_clear()  # what is loaded is known by its source alone, which is the same with these positions
    monkeypatch.setattr(toolchain, "define_lines", wrapping_lines)
    monkeypatch.setattr(kernel_file, "MAX_NARROW_ARCS", 0)
    monkeypatch.setattr(kernel_file, "MAX_UNSIGNED_ARCS", MOST)
    monkeypatch.setattr(gpu_filter_boruvka, "FILTER_ARCS", 512)
    yield
    library_of.cache_clear()


def assert_right(problem: str, name: str, graph: CSRGraph, query: tuple[Any, ...], seed: int = 0) -> dict[str, int]:
    """Check an algorithm against the CPU, and the certificate of its result on the device; return its counters."""
    device = EmulatedDevice(seed=seed)
    found, counters = run_on(device, problem, name, graph, query=query)
    right = expected(problem, graph, query)
    np.testing.assert_array_equal(getattr(found, VALUES[problem]), getattr(right, VALUES[problem]))
    verdict = verdict_on_device(device, problem, graph, query, found)
    assert verdict.status == "passed", verdict.detail
    return counters


def verdict_on_device(device: Any, problem: str, graph: CSRGraph, query: tuple[Any, ...], result: Any) -> Any:
    view = make_resident(GraphView.of(graph, unsigned=True), device)[0]
    assert view.offsets.dtype == np.uint32
    return load_problem(problem).certificate_on_device(view, device, query, result)  # type: ignore[attr-defined]


def query_of(problem: str, graph: CSRGraph) -> tuple[Any, ...]:
    return (int(graph.degrees.argmax()),) if problem == "sssp" else ()


LARGE = [
    "random:n=2000,deg=28,w=1..1000",
    "rmat:11,ef=18,w=1..255",
    "star:20000,w=1..100000",
    "road:130x130,w=1..50",
    "complete:220,w=1..9",
]
"""Graphs of 2^15 to 2^16 arcs: one giant component, hubs, a row of a block, long ways, a clique."""


@pytest.mark.usefixtures("wrapping")
@pytest.mark.parametrize("spec", LARGE)
@pytest.mark.parametrize(("problem", "name"), UNSIGNED)
def test_results_on_graphs_beyond_the_sign_bit_are_those_of_the_cpu(problem: str, name: str, spec: str) -> None:
    graph = generate(spec)
    assert 2**15 < graph.arcs < MOST
    for seed in range(2):
        assert_right(problem, name, graph, query_of(problem, graph), seed)


@pytest.mark.usefixtures("wrapping")
@pytest.mark.parametrize("schedule", [1, 7])
def test_the_forest_is_right_where_the_list_of_light_edges_has_no_room(
    schedule: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_filter_boruvka, "ROOM_PER_VERTEX", 0.2)
    monkeypatch.setattr(gpu_filter_boruvka, "ALL_LISTED", 0)
    assert_right("mst", "filter-boruvka", generate("random:n=4000,deg=14,w=1..3"), (), schedule)


@pytest.mark.usefixtures("wrapping")
@pytest.mark.parametrize(("problem", "name"), UNSIGNED)
def test_results_on_the_zoo_are_those_of_the_cpu(problem: str, name: str) -> None:
    device = EmulatedDevice()
    for graph_name, query in cases(problem):
        graph = load_problem(problem).admit(zoo(graph_name))
        if graph.weight_dtype != np.uint32:  # others would be compiled for
            continue
        found, _ = run_on(device, problem, name, graph, query=query)
        right = expected_on_zoo(problem, graph_name, query)
        assert found.fingerprint() == right.fingerprint(), graph_name
        if graph.arcs:
            assert verdict_on_device(device, problem, graph, query, found).status == "passed", graph_name


@st.composite
def graphs(draw: Any) -> CSRGraph:
    """Random graphs of 2^15 to 2^16 arcs: some with a hub, some in many parts, with few weights or many."""
    n, m = draw(st.integers(300, 12000)), draw(st.integers(18500, 21000))
    low, high = draw(st.sampled_from([(1, 2), (0, 7), (1, 1000), (0, 2**32)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    ends = rng.integers(0, draw(st.integers(280, n)), (m, 2))
    hub = rng.integers(1, n, draw(st.sampled_from([0, 0, 7000])))
    ends = np.concatenate([ends, np.stack([np.zeros_like(hub), hub], 1)])
    weights = rng.integers(low, high, len(ends))
    return undirected(n, [(*pair, w) for pair, w in zip(ends.tolist(), weights.tolist(), strict=True)])


@pytest.mark.usefixtures("wrapping")
@pytest.mark.parametrize(("problem", "name"), UNSIGNED)
def test_results_on_graphs_drawn_at_random_are_those_of_the_cpu(problem: str, name: str) -> None:
    @drawn(60)
    @given(graphs(), st.integers(0, 9))
    def is_right(graph: CSRGraph, seed: int) -> None:
        assume(2**15 < graph.arcs < MOST)
        assert_right(problem, name, graph, query_of(problem, graph), seed)

    is_right()


@extended
@pytest.mark.parametrize(("problem", "name"), UNSIGNED)
@pytest.mark.parametrize("spec", ["random:n=300,deg=14,w=1..9", "star:5000,w=1..99"])
def test_kernels_have_no_race_but_those_that_are_meant(
    problem: str, name: str, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_file, "MAX_NARROW_ARCS", 0)
    monkeypatch.setattr(gpu_filter_boruvka, "FILTER_ARCS", 512)
    graph, device = generate(spec), EmulatedDevice(seed=3, races=True)
    query = query_of(problem, graph)
    found, _ = run_on(device, problem, name, graph, query=query)
    assert verdict_on_device(device, problem, graph, query, found).status == "passed"
    assert device.races() == []


# ------------------------------------------------------------------ certificates


@pytest.mark.usefixtures("wrapping")
def test_the_certificates_name_the_wrong_arc_behind_the_sign_bit_that_they_name_on_the_host() -> None:
    graph = generate("random:n=2000,deg=28,w=1..1000")
    device, late = EmulatedDevice(), graph.arcs - 1
    assert late >= 2**15
    forest = expected("mst", graph, ())
    ids = np.setdiff1d(np.flatnonzero(arc_tails(graph) < graph.targets), forest.edges)
    heavier = Forest.of(graph, np.sort(np.append(forest.edges[:-1], ids[ids >= 2**15][-1])))
    far = expected("sssp", graph, (0,))
    wrong = far.raw.copy()
    wrong[graph.targets[late]] += 1
    farther = replace(far, raw=wrong)
    for problem, query, result in (("mst", (), heavier), ("sssp", (0,), farther)):
        host = load_problem(problem).certificate(graph, query, result)
        there = verdict_on_device(device, problem, graph, query, result)
        assert (there.status, host.status) == ("failed", "failed")
        assert there.detail.removesuffix("; checked on the device") == host.detail
    labels = np.append(expected("components", graph, ()).labels[:-1], 1999)
    there = verdict_on_device(device, "components", graph, (), Components.of(graph, labels))
    first = graph.targets[graph.offsets[1999]]
    assert there.detail.startswith(f"the edge 1999-{first} joins vertices labelled 1999 and 0")


# ------------------------------------------------------------------ graphs made and read on a device


@pytest.mark.usefixtures("wrapping")
@pytest.mark.parametrize("spec", LARGE)
def test_graphs_made_on_a_device_are_those_of_the_host(spec: str) -> None:
    made, host = generate(spec, device=EmulatedDevice()), generate(spec)
    assert made.on_device is not None
    assert made.on_device.index_dtype == np.uint32
    assert made.digest == host.digest
    for name in ("offsets", "targets", "weights"):
        np.testing.assert_array_equal(getattr(made, name), getattr(host, name))
    positions = np.array([0, 2**15 - 1, 2**15, host.arcs - 1])
    ids = make_resident(GraphView.of(host), EmulatedDevice())[0].host.canonical_edges(positions)
    np.testing.assert_array_equal(made.on_device.canonical_ids(positions.astype(np.uint32)), ids)
    np.testing.assert_array_equal(made.on_device.ends_and_weights(positions)[1], host.targets[positions])


@pytest.mark.usefixtures("wrapping")
def test_a_directed_graph_is_made_undirected_on_a_device_as_on_the_host() -> None:
    ends, rng = np.random.default_rng(5).integers(0, 300, (2, 20000)), np.random.default_rng(6)
    arcs = ArcList(*ends, rng.integers(1, 9, 20000).astype(np.uint32), 300, True)  # some both ways
    made, host = symmetrize(build_on_device(arcs, EmulatedDevice())), symmetrize(build(arcs))
    assert made.on_device is not None
    assert (made.digest, made.notes, made.on_device.index_dtype) == (host.digest, host.notes, np.uint32)


@pytest.mark.usefixtures("wrapping")
def test_a_graph_file_is_read_and_checked_on_a_device(tmp_path: Path) -> None:
    host = generate(LARGE[0])
    save_file(host, tmp_path / "g.csr")
    read = load_file(tmp_path / "g.csr", device=EmulatedDevice())
    assert read.on_device is not None
    assert read.on_device.index_dtype == np.uint32
    np.testing.assert_array_equal(read.on_device.on_host("offsets"), host.offsets)


@pytest.mark.usefixtures("wrapping")
@pytest.mark.parametrize("vertex", [1, 1000, 2000])
def test_a_file_whose_offsets_leave_the_graph_is_refused_by_a_device_as_by_the_host(
    tmp_path: Path, vertex: int
) -> None:
    host = generate(LARGE[0])
    offsets = host.offsets.copy()
    offsets[vertex] = -1
    save_file(replace(host, offsets=offsets), tmp_path / "g.csr")
    said = []
    for device in (None, EmulatedDevice()):
        with pytest.raises(GraphFormatError) as caught:
            load_file(tmp_path / "g.csr", device=device)
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.usefixtures("wrapping")
def test_the_rows_and_searches_of_graph500_are_those_of_the_cpu() -> None:
    rng = np.random.default_rng(4)
    edges, weights = rng.integers(0, 1500, (28000, 3), dtype=np.uint32), rng.random(28000, np.float32)
    edges[:, 2], edges[:9000, 0] = 0, 7  # a hub, whose row is cut into pieces
    device = EmulatedDevice()
    made = DeviceMachine(Tuples(device.upload(edges.ravel()), device.upload(weights)), device)
    right = CpuMachine(Tuples(edges.ravel(), weights), CpuDevice())
    for machine in (made, right):
        machine.construct()
    assert made.rows.index_dtype == np.uint32
    assert made.arcs > 2**15
    for root in (7, 1000):
        made.search(root)
        right.search(root)
        np.testing.assert_array_equal(made.result()[1], right.result()[1])
        assert made.validate(root).fault is None


# ------------------------------------------------------------------ which graphs have them


def test_positions_are_as_wide_as_the_arcs_of_a_graph_need() -> None:
    counts = [2**31 - 2**12 - 1, 2**31 - 2**12, 2**32 - 2**12 - 1, 2**32 - 2**12]
    assert [index_dtype(arcs, unsigned=True).name for arcs in counts] == ["int32", "uint32", "uint32", "int64"]
    assert [index_dtype(arcs).name for arcs in counts] == ["int32", "int64", "int64", "int64"]
    assert index_dtype(counts[1], 32, unsigned=True) == np.uint32
    assert index_dtype(counts[1], 64, unsigned=True) == np.int64
    for arcs, unsigned in ((counts[1], False), (counts[3], True)):
        with pytest.raises(InputError, match=f"{arcs} arcs do not fit in 32-bit arc indices"):
            index_dtype(arcs, 32, unsigned=unsigned)


@pytest.mark.parametrize(("algorithm", "bits"), [("filter-boruvka", 32), ("boruvka", 64)])
def test_a_session_gives_them_to_the_algorithms_that_take_them(
    algorithm: str, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_file, "MAX_NARROW_ARCS", 0)
    record = run_cell(Cell("mst", "random:n=500,deg=6,w=1..9", algorithm, "emulated", repeat=1, warmup=0))
    assert record.data["verification"]["status"] == "passed"
    assert record.data["parameters"]["index_bits"] == bits
