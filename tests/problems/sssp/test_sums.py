"""float32 weights are summed in float64 everywhere; sums in float32 are a choice, with the error that they make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array, save_npz
from scipy.sparse.csgraph import dijkstra

import gpugraph
from gpugraph import csgraph
from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError
from gpugraph.bench.expand import expand_sweep
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.devices.cpu import CpuDevice
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.peers.sssp import BY_PEERS, distances_of
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.registry import algorithms, find_algorithm
from gpugraph.problems.sssp.arcs import SUMS
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.problem import PROBLEM
from gpugraph.problems.sssp.rounded_sums import rounded_up
from tests.cli.runner import refuse, succeed
from tests.problems.sssp.small_graphs import expected_distances, graphs
from tests.tiers import drawn
from tests.zoo import directed, undirected, zoo

OURS = [
    (algorithm.name, kind)
    for algorithm in algorithms("sssp")
    for kind in algorithm.devices
    if kind != "cuda" and algorithm.trusted and not algorithm.ranks
]
ABSORBED = [0, 16777216, 16777217, 16777218, 16777219, 16777220]
REALS = {"float32": st.floats(0, 2.0**100, width=32, allow_subnormal=True)}


def absorbing_path() -> CSRGraph:
    """Return a path whose light arcs vanish in sums of float32."""
    return directed(6, [(0, 1, 2.0**24), *((i, i + 1, 1.0) for i in range(1, 5))], "float32")


def by_scipy(graph: CSRGraph, source: int) -> NDArray[np.float64]:
    """Return SciPy's distances; its matrices leave no room for arcs of weight 0."""
    matrix = csr_array((graph.weights, graph.targets, graph.offsets), (graph.vertices, graph.vertices))
    distance: NDArray[np.float64] = dijkstra(matrix, indices=source)
    return distance


def saved(graph: CSRGraph, path: Path) -> None:
    """Write a graph as a matrix of SciPy's."""
    save_npz(path, csr_array((graph.weights, graph.targets, graph.offsets), (graph.vertices, graph.vertices)))


def solved(name: str, kind: str, graph: CSRGraph, source: int = 0, **options: str) -> Distances:
    """Return the distances by an algorithm of ours on a device."""
    device: Any = CpuDevice() if kind == "cpu" else EmulatedDevice(seed=1)
    algorithm = find_algorithm("sssp", name, kind)
    query: tuple[Any, ...] = ((source,),) if algorithm.batched else (source,)
    view: Any = GraphView.of(graph) if kind == "cpu" else make_resident(GraphView.of(graph), device)[0]
    state = algorithm.prepare(view, device, **options)
    result = algorithm.finish(state, algorithm.fetch(state, algorithm.run(state, NullClock(), *query)), *query)
    found: Distances = result[0] if algorithm.batched else result
    return found


@pytest.mark.parametrize(("name", "kind"), OURS)
def test_every_algorithm_sums_float32_weights_in_float64(name: str, kind: str) -> None:
    found = solved(name, kind, absorbing_path())
    assert found.raw.dtype == np.float64
    assert found.raw.tolist() == ABSORBED
    assert PROBLEM.certificate(found.graph, (0,), found).sums_error is None


@pytest.mark.parametrize(("name", "kind"), OURS)
def test_every_algorithm_of_ours_sums_in_float32_where_that_is_requested(name: str, kind: str) -> None:
    if SUMS not in find_algorithm("sssp", name, kind).options:
        assert name == "dijkstra-fibonacci"  # SciPy's own
        return
    found = solved(name, kind, absorbing_path(), sums="float32")
    assert found.raw.dtype == np.float32
    assert found.raw.tolist() == [0, *[2**24] * 5]
    for method in ("certificate", "reference"):
        verdict = getattr(PROBLEM, method)(found.graph, (0,), found)
        assert verdict.passed
        assert verdict.sums_error == 4 / 16777220
        assert "no distance differs from its sum in float64 by more than 2.39e-7" in verdict.detail


@pytest.mark.parametrize(("name", "kind"), [one for one in OURS if not one[0].startswith("matrix")])
def test_many_arcs_of_a_tenth_end_where_scipy_ends(name: str, kind: str) -> None:
    n = 2_001 if kind == "cpu" else 301
    path = directed(n, [(i, i + 1, 0.1) for i in range(n - 1)], "float32")
    np.testing.assert_array_equal(solved(name, kind, path).raw, by_scipy(path, 0))


@pytest.mark.parametrize("kind", ["cpu", "emulated"])
@pytest.mark.parametrize("width", [64, 1])
def test_dense_and_wide_graphs_of_float32_weights_equal_scipys(kind: str, width: int) -> None:
    rng = np.random.default_rng(width)
    n = 150
    ends = [(u, v, w) for u, v, w in zip(*rng.integers(0, n, (2, 20 * n)), rng.random(20 * n), strict=True) if u != v]
    graph = directed(n, [(int(u), int(v), float(np.float32(w * width + 0.01))) for u, v, w in ends], "float32")
    found = solved("delta-stepping", kind, graph).raw
    np.testing.assert_array_equal(found, by_scipy(graph, 0))


@drawn(120)
@given(graph=graphs(REALS), data=st.data())
def test_drawn_float32_graphs_have_scipys_distances_bit_for_bit(graph: CSRGraph, data: st.DataObject) -> None:
    source = data.draw(st.integers(0, graph.vertices - 1))
    due = by_scipy(graph, source) if graph.weights.all() else expected_distances(graph, source)
    for name in ("delta-stepping", "dijkstra", "u-cpu", "matrix-f-cpu"):
        np.testing.assert_array_equal(solved(name, "cpu", graph, source).raw, due)
    if graph.weights.all():
        np.testing.assert_array_equal(solved("dijkstra-fibonacci", "cpu", graph, source).raw, due)


@drawn(15)
@given(graph=graphs(REALS))
def test_drawn_float32_graphs_have_the_same_distances_on_a_device(graph: CSRGraph) -> None:
    for name in ("delta-stepping", "dijkstra", "delta-stepping-batched"):
        np.testing.assert_array_equal(solved(name, "emulated", graph).raw, expected_distances(graph, 0))


def greatest_error(rounded: NDArray[np.float32], exact: NDArray[np.float64]) -> float:
    """Return the greatest relative difference, by the book."""
    pairs = [(float(a), float(b)) for a, b in zip(rounded, exact, strict=True) if a != b]
    return max((abs(a - b) / b if a != np.inf else np.inf for a, b in pairs), default=0.0)


@drawn(150)
@given(graph=graphs(REALS | {"float32": st.sampled_from([0.0, 1e-9, 0.1, 0.2, 0.3, 1.0, 1e8, 3e38, np.inf])}))
def test_the_error_in_the_verdict_is_the_greatest_there_is(graph: CSRGraph) -> None:
    rounded, exact = expected_distances(graph, 0, "float32"), expected_distances(graph, 0)
    verdict = PROBLEM.certificate(graph, (0,), Distances(graph, 0, rounded))
    assert verdict.passed
    assert verdict.sums_error == greatest_error(rounded, exact)


def test_the_error_is_that_of_the_shortest_path_in_float64_not_of_the_one_in_float32() -> None:
    # In float32 all ways are equal; the canonical one, 0 → 1 → 5, is not the shortest of them.
    big = 2.0**24
    graph = directed(6, [(0, 1, big), (1, 5, 1.0), (0, 2, big), (2, 5, 0.25), (0, 3, 1.0), (3, 4, 1.0)], "float32")
    found = solved("dijkstra", "cpu", graph, sums="float32").with_predecessors()
    assert found.predecessor is not None
    assert found.predecessor[5] == 1
    assert PROBLEM.certificate(graph, (0,), found).sums_error == 0.25 / (big + 0.25)


def test_a_distance_beyond_float32_has_no_bound_and_the_verdict_says_so() -> None:
    graph = directed(3, [(0, 1, 3e38), (1, 2, 3e38)], "float32")
    found = solved("dijkstra", "cpu", graph, sums="float32")
    verdict = PROBLEM.certificate(graph, (0,), found)
    assert verdict.sums_error == np.inf
    assert "vertex 2" in verdict.detail
    assert "beyond the range of float32" in verdict.detail
    assert solved("dijkstra", "cpu", graph).raw.tolist() == [0, float(np.float32(3e38)), 2 * float(np.float32(3e38))]


@pytest.mark.parametrize("error", [2.3841858e-07, 1e-7, 0.5, 1.0049, 3.0000001e-9])
def test_the_error_is_printed_rounded_up(error: float) -> None:
    assert error <= float(rounded_up(error)) <= error * 1.01


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_the_command_says_that_sums_were_rounded_and_by_how_much(tmp_path: Path, device: str) -> None:
    graph, records = tmp_path / "path.npz", tmp_path / "records.jsonl"
    saved(absorbing_path(), graph)
    words = ("sssp", graph, "--source", 0, "--device", device, "--repeat", 1, "--save", records)
    plain, rounded = succeed(*words).out, succeed(*words, "--sums", "float32").out
    assert "summed in float32" not in plain
    assert "sums=float32" in rounded
    assert "summed in float32" in " ".join(rounded.split())
    assert "2.39e-7" in rounded
    first, second = map(json.loads, records.read_text().splitlines())
    assert first["result"]["distance_max"] == 16777220
    assert "sums_error" not in first["verification"]
    assert "sums" not in first["result"]
    assert first["parameters"]["sums"] == "float64"
    assert second["result"]["distance_max"] == 16777216
    assert second["result"]["sums"] == second["parameters"]["sums"] == "float32"
    assert second["verification"]["sums_error"] == 4 / 16777220
    assert first["cell"]["id"] != second["cell"]["id"]
    assert "summed in float32" in second["verification"]["detail"]


def test_without_a_check_the_result_still_says_that_it_was_summed_in_float32(tmp_path: Path) -> None:
    saved(absorbing_path(), tmp_path / "path.npz")
    words = ("--source", 0, "--device", "cpu", "--repeat", 1, "--verify", "none", "--sums", "float32")
    assert "sums float32" in succeed("sssp", tmp_path / "path.npz", *words).out


def test_converting_a_graph_does_not_change_its_distances(tmp_path: Path) -> None:
    saved(absorbing_path(), tmp_path / "path.npz")
    succeed("convert", tmp_path / "path.npz", tmp_path / "path.wel")
    found = [gpugraph.sssp(str(tmp_path / f"path.{end}"), 0, device="cpu").raw for end in ("npz", "wel")]
    assert [one.tolist() for one in found] == [ABSORBED, ABSORBED]


def test_several_sources_report_the_greatest_error_of_all() -> None:
    graph = absorbing_path()
    for more in ({"sources": [0, 5, 1]}, {"source": "random:3", "sums": "float64"}):
        gpugraph.sssp(graph, device="cpu", **more)
    record = gpugraph.sssp(graph, sources=[5, 0, 1], device="cpu", sums="float32", time=True)
    assert record.data["verification"]["sums_error"] == 4 / 16777220


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_handle_sums_in_float64_whatever_ends_the_search(device: str) -> None:
    with gpugraph.on(absorbing_path(), device) as held:
        assert held.sssp(0).raw.tolist() == ABSORBED
        assert held.sssp(0, target=5).raw.tolist() == ABSORBED
        assert held.sssp(0, cutoff=16777218.5).raw.tolist() == [*ABSORBED[:4], np.inf, np.inf]
        assert held.sssp(sources=[0, 1]).raw[0].tolist() == ABSORBED
        assert held.path(0, 5) == (16777220.0, [0, 1, 2, 3, 4, 5])
        rounded = held.sssp(0, sums="float32", target=5)
        assert rounded.raw.dtype == np.float32
        assert rounded.raw.max() == 2**24
        on_device = held.sssp(0, on_device=True)
        assert on_device.dtype == np.float64


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_csgraph_sums_in_float64(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    monkeypatch.setattr(csgraph, "DEVICE", device)
    graph = absorbing_path()
    matrix = csr_array((graph.weights, graph.targets, graph.offsets), (6, 6))
    assert csgraph.dijkstra(matrix, indices=0).tolist() == ABSORBED


def test_the_type_of_sums_is_an_axis_of_sweeps(tmp_path: Path) -> None:
    saved(absorbing_path(), tmp_path / "path.npz")
    sweep = tmp_path / "sums.toml"
    sweep.write_text(
        f'[axes]\nproblem = "sssp"\ngraph = "{tmp_path / "path.npz"}"\nsource = 0\ndevice = "cpu"\n'
        'algorithm = "dijkstra"\nsums = ["float64", "float32"]\n'
    )
    cells = [planned.cell for planned in expand_sweep(read_sweep(str(sweep)), {"cpu": "cpu"}).cells]
    farthest = {cell.axes["sums"]: run_cell(cell).data["result"]["distance_max"] for cell in cells}
    assert farthest == {"float64": 16777220, "float32": 16777216}
    assert len({cell.series for cell in cells}) == 2
    sweep.write_text('[axes]\nproblem = "sssp"\ngraph = "path:5"\nsums = "float16"\n')
    with pytest.raises(InputError, match="unknown type of sums 'float16'"):
        read_sweep(str(sweep))


def test_what_cannot_be_summed_so_is_refused_in_one_line() -> None:
    assert "unknown type of sums 'float16'" in refuse(2, "sssp", "path:5", "--sums", "float16", "--device", "cpu")
    words = ("sssp", "path:5,w=0..1,dtype=float32", "--device", "cpu", "--sums", "float32")
    assert "does not sum in float32" in refuse(2, *words, "--algo", "dijkstra-fibonacci")
    assert "in float64 and in float32" in refuse(2, *words, "--algo", "delta-stepping", "--set", "sums=float64")


def test_whole_weights_have_one_sum_whatever_is_requested() -> None:
    plain, rounded = (gpugraph.sssp("grid:9x9", 0, device="cpu", sums=sums) for sums in ("float64", "float32"))
    assert plain.fingerprint() == rounded.fingerprint()


@pytest.mark.parametrize("ending", ["npz", "csv"])
@pytest.mark.parametrize("sums", ["float64", "float32"])
def test_a_file_of_distances_is_checked_in_the_type_that_it_was_summed_in(
    tmp_path: Path, ending: str, sums: str
) -> None:
    graph, path = tmp_path / "path.npz", tmp_path / f"distances.{ending}"
    saved(absorbing_path(), graph)
    succeed("sssp", graph, "--source", 0, "--device", "cpu", "--repeat", 1, "--sums", sums, "-o", path)
    verdict = gpugraph.verify(str(graph), str(path))
    assert verdict.passed
    assert verdict.sums_error == (4 / 16777220 if sums == "float32" else None)


# ------------------------------------------------------------------ peers


def judged(values: Any, *, printed: bool, graph: CSRGraph | None = None) -> Any:
    """Return the verdict on what a peer returned, or printed."""
    answer = distances_of(graph or absorbing_path(), 0, np.asarray(values), "peer:somebody", printed=printed)
    return answer.judge((0,), "reference")


def test_a_peer_that_sums_in_float64_agrees_with_us() -> None:
    assert judged(np.array(ABSORBED, np.float64), printed=False).sums_error is None
    assert judged(np.array(ABSORBED, np.float64), printed=False).passed


@pytest.mark.parametrize("printed", [False, True])
def test_a_peer_that_sums_in_float32_is_right_within_its_rounding_and_the_verdict_says_so(printed: bool) -> None:
    rounded = expected_distances(absorbing_path(), 0, "float32")
    verdict = judged(rounded.astype(np.float64) if printed else rounded, printed=printed)
    assert verdict.passed
    assert verdict.sums_error == 4 / 16777220
    assert "summed in float32" in verdict.detail


def test_a_peer_that_prints_few_digits_of_float32_sums_is_not_called_wrong() -> None:
    n = 3000
    graph = undirected(n, [(i, i + 1, 0.1) for i in range(n - 1)], "float32")
    rounded = expected_distances(graph, 0, "float32")
    assert not np.allclose(rounded, by_scipy(graph, 0), rtol=1e-5)
    verdict = judged([float(f"{d:.6g}") for d in rounded], printed=True, graph=graph)
    assert verdict.status == "skipped"
    assert "summed in float32" in verdict.detail
    wrong = [float(f"{d * 1.001:.6g}") for d in rounded]
    assert judged(wrong, printed=True, graph=graph).status == "failed"


def test_a_peer_that_returns_numbers_of_no_sum_is_wrong() -> None:
    wrong = np.array([0, *[2**24] * 4, 2**24 + 2], np.float32)
    assert judged(wrong, printed=False).status == "failed"
    assert (
        judged(expected_distances(absorbing_path(), 0, "float32").astype(np.float64), printed=False).status == "failed"
    )


def test_the_printed_sum_of_float32_distances_may_be_off_by_what_float32_rounds() -> None:
    graph = absorbing_path()
    figure = BY_PEERS.truth(graph, (0,), "reference")
    rounded = float(expected_distances(graph, 0, "float32").sum(dtype=np.float32))
    assert figure.value == sum(ABSORBED)
    assert abs(rounded - figure.value) <= figure.slack


def test_the_zoo_of_reals_has_sums_of_float32_that_are_certified_on_a_device() -> None:
    graph = zoo("float32")
    found = solved("delta-stepping", "emulated", graph, sums="float32")
    np.testing.assert_array_equal(found.raw, expected_distances(graph, 0, "float32"))
