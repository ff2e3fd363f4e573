"""Connected components: both algorithms, their certificate on host and device, files, peers and the command."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpugraph
from gpugraph.base.clock import NullClock
from gpugraph.ext.components import cpu_afforest, gpu_hook, verify
from gpugraph.ext.components.labels import Components
from gpugraph.ext.components.verify import check_against_reference, check_certificate, reference_labels
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.peers.components import canonical
from gpugraph.ext.ranks.components import boruvka_distributed
from gpugraph.ext.results.files import check_result, write_result
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.registry import find_algorithm, load_problem
from tests.cli.runner import refuse, succeed
from tests.emulator.compiler import needs_compiler
from tests.tiers import drawn
from tests.zoo import ZOO, undirected, zoo

PROBLEM = load_problem("components")
CHAINS = {
    "a-path-that-is-one-chain": undirected(5000, [(i, i + 1, 1) for i in range(4999)]),
    "a-path-backwards": undirected(3000, [(i, (i * 7 + 1) % 3000, 1) for i in range(3000)]),
    "a-hub-outside-of-the-giant": undirected(
        20_000, [(i, i + 1, 1) for i in range(9000)] + [(9500, i, 1) for i in range(9501, 20_000)]
    ),
}


def solved(graph: CSRGraph, device: Any, index_bits: int | None = None) -> Components:
    view = make_resident(GraphView.of(graph, index_bits=index_bits), device)[0]
    hook = find_algorithm("components", "hook", device.kind)
    state = hook.prepare(view, device)
    return hook.finish(state, hook.fetch(state, hook.run(state, NullClock())))


def afforest(graph: CSRGraph, size: int | None = None) -> Components:
    state = cpu_afforest.prepare(GraphView.of(graph), None, size=size)
    return cpu_afforest.ALGORITHM.finish(state, cpu_afforest.run(state, NullClock()))


def admitted(name: str) -> CSRGraph:
    return PROBLEM.admit(CHAINS[name] if name in CHAINS else zoo(name))


@pytest.mark.parametrize("name", [*ZOO, *CHAINS])
def test_afforest_labels_every_vertex_by_the_smallest_of_its_component(name):
    graph = admitted(name)
    for size in (1, 2, 5):
        found = afforest(graph, size)
        assert found.labels.tolist() == reference_labels(graph).tolist()
    assert check_certificate(graph, found).passed


@given(
    st.integers(1, 60), st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=80), st.integers(0, 2**31)
)
@drawn(60)
def test_any_graph_falls_into_the_components_that_networkx_finds(n, pairs, seed):
    import networkx

    edges = [(u % n, v % n) for u, v in pairs]
    ends = np.array(edges, np.int64).reshape(-1, 2)
    graph = build(ArcList(ends[:, 0], ends[:, 1], None, n, False, one_sided=True))
    other = networkx.Graph(edges)
    other.add_nodes_from(range(n))
    expected = np.empty(n, np.int64)
    for members in networkx.connected_components(other):
        expected[list(members)] = min(members)
    assert afforest(graph).labels.tolist() == expected.tolist()


@needs_compiler
@pytest.mark.parametrize("index_bits", [32, 64])
def test_hooking_gives_the_same_labels_under_many_schedules(index_bits):
    for seed in range(8):
        device = EmulatedDevice(seed=seed)
        for name in ZOO if seed == 0 else [*ZOO[seed::7], *CHAINS][:8]:
            graph = admitted(name)
            assert solved(graph, device, index_bits).labels.tolist() == reference_labels(graph).tolist(), (name, seed)


@needs_compiler
def test_a_row_too_long_for_a_warp_is_read_by_a_block():
    graph = admitted("a-hub-outside-of-the-giant")
    assert solved(graph, EmulatedDevice()).labels.tolist() == reference_labels(graph).tolist()


@needs_compiler
def test_there_is_no_race_beyond_those_explained_in_the_kernels():
    device = EmulatedDevice(seed=3, races=True)
    for name in ("random-ties", "star", "path-decreasing", "complete", "many-tiny", "grid"):
        graph = admitted(name)
        view = make_resident(GraphView.of(graph), device)[0]
        assert verify.certify(view, device, solved(graph, device)).passed
    assert device.races() == []


@needs_compiler
def test_altered_labels_are_refused_on_host_and_device_alike_and_right_ones_never():
    random, device, refused = np.random.default_rng(1), EmulatedDevice(), 0
    for name in ZOO:
        graph = admitted(name)
        right = reference_labels(graph)
        view, n = make_resident(GraphView.of(graph), device)[0], graph.vertices
        for kind in range(5) if n > 1 else ():
            labels = right.copy()
            a, b = random.integers(n, size=2)
            if kind == 1:
                labels[a] = random.integers(-2, n + 2)
            elif kind == 2:  # two components under one name
                labels[np.isin(labels, [right[a], right[b]])] = min(right[a], right[b])
            elif kind == 3:  # one component under two names
                labels[a] = a
            elif kind == 4:
                labels[right == right[a]] += 1
            found, same = Components.of(graph, labels), bool(np.array_equal(labels, right))
            verdicts = [check_certificate(graph, found), verify.certify(view, device, found)]
            assert [verdict.passed for verdict in verdicts] == [same, same], (name, kind)
            assert check_against_reference(graph, found).passed == same
            if not same:
                told = verdicts[1].detail.removesuffix("; checked on the device")
                assert told.split()[0] == verdicts[0].detail.split()[0]
                refused += 1
    assert refused > 50


def test_the_wrong_number_of_labels_is_reported():
    graph = zoo("path")
    assert check_certificate(graph, Components.of(graph, np.zeros(3))).detail == "3 labels for 40 vertices"


def test_a_directed_graph_has_the_components_that_hang_together_whichever_way_arcs_point():
    record = run_cell(Cell("components", zoo("directed-sink"), "auto", "cpu", repeat=1, verify="both"))
    assert record.status == "passed"
    assert record.data["result"]["components"] == 1
    assert record.data["result"]["largest"] == 5


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_a_written_result_is_read_back_and_an_altered_one_refused(tmp_path, ending):
    graph = zoo("two-components")
    found, path = afforest(graph), tmp_path / f"labels.{ending}"
    write_result(found, path)
    assert check_result(graph, path).passed
    write_result(Components.of(graph, np.arange(9)), path)
    assert not check_result(graph, path).passed
    write_result(afforest(zoo("path")), path)
    assert "vertices" in check_result(graph, path).detail


def test_networkx_gets_the_component_of_every_node():
    graph = zoo("two-components")
    made = gpugraph.to_networkx(afforest(graph))
    assert made.nodes(data="component")[7] == 5


def test_labels_of_any_kind_become_those_by_the_smallest_vertex():
    assert canonical(np.array([7, 3, 7, 3, 9])).tolist() == [0, 1, 0, 1, 4]


@pytest.mark.parametrize("library", ["scipy", "networkx", "igraph", "networkit"])
def test_a_library_finds_the_same_components(library):
    pytest.importorskip({"scipy": "scipy", "igraph": "igraph", "networkit": "networkit"}.get(library, library))
    record = run_cell(Cell("components", zoo("random-sparse"), f"peer:{library}", "cpu", repeat=1, verify="both"))
    assert record.status == "passed"


def test_the_command_finds_writes_and_verifies(tmp_path):
    out = succeed("components", "grid:9x9", "--device", "cpu", "--repeat", 1, "-o", tmp_path / "l.csv").out
    assert "passed by certificate: no arc leaves the component, and it is connected" in " ".join(out.split())
    assert "passed" in succeed("verify", "grid:9x9", tmp_path / "l.csv").out
    assert "a .mtx file holds a forest" in refuse(2, "components", "grid:9x9", "-o", tmp_path / "l.mtx")


@pytest.mark.gpu
@pytest.mark.parametrize("spec", ["rmat:20", "road:1024x1024", "ssca2:16", "path:1000000", "random:n=1000000,deg=1"])
def test_on_a_gpu_the_components_are_those_of_the_oracle_and_the_certificate(spec):
    record = run_cell(Cell("components", spec, "auto", "cuda", repeat=5, verify="both"))
    assert record.status == "passed"
    assert set(gpu_hook.FILE.phases) >= record.data["kernel_phases_s"].keys() - {"other"}


@pytest.mark.parametrize("labels", [[0] * 9, [0, 1, 2, 2, 2, 5, 5], [0, 1, 2, 3], [0, -7, 99], [], [9, 9, -1, 0]])
def test_the_largest_component_is_counted_whether_or_not_it_holds_half(labels: list[int]) -> None:
    inside = [label for label in labels if 0 <= label < len(labels)]
    graph = undirected(len(labels), [])
    found = Components(graph, np.array(labels, np.int64))
    assert found.largest == max(map(inside.count, inside), default=0)
    assert found.components == len(found.roots) == sum(v == label for v, label in enumerate(labels))
    many = np.repeat(np.arange(3000), 100) * 100
    assert Components(graph, many).largest == 100


def test_the_kernels_that_find_a_giant_and_those_that_compare_giants_mean_the_same_by_none() -> None:
    assert boruvka_distributed.FILE["NO_GIANT"] == gpu_hook.FILE["NO_GIANT"]
