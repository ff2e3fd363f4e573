"""What the problem admits, counts and reports."""

from __future__ import annotations

import hashlib
import math
import struct

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.problem import PROBLEM
from tests.problems.sssp.small_graphs import expected_distances
from tests.zoo import directed, undirected, zoo

NONE = 2**64 - 1


def distances(name: str, source: int = 0) -> Distances:
    return Distances(zoo(name), source, expected_distances(zoo(name), source))


def test_the_summary_of_integers_is_exact() -> None:
    graph = undirected(4, [(0, 1, 2**62), (1, 2, 2**63)], "uint64")
    result = Distances(graph, 0, np.array([0, 2**62, 2**62 + 2**63, NONE], np.uint64))
    summary = result.summary()
    assert summary["source"] == 0
    assert summary["reached"] == 3
    assert summary["distance_sum"] == 2 * 2**62 + 2**63
    assert summary["distance_max"] == 2**62 + 2**63
    assert isinstance(summary["distance_sum"], int)
    assert isinstance(summary["distance_max"], int)


def test_the_summary_is_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = np.random.default_rng(1).integers(0, 2**64 - 1, 2**17, np.uint64, endpoint=True)
    raw[::5] = NONE
    graph = undirected(len(raw), [])
    whole = Distances(graph, 0, raw).summary()
    monkeypatch.setattr("gpugraph.problems.sssp.distances._PIECE", 2**15)
    assert Distances(graph, 0, raw).summary() == whole
    wide = np.where(raw == NONE, np.inf, raw.astype("<f8"))
    assert whole["distances_sha256"] == hashlib.sha256(wide.tobytes()).hexdigest()
    assert whole["distance_sum"] == sum(raw[raw != NONE].tolist())


def test_the_summary_of_reals_is_correctly_rounded() -> None:
    result = distances("float64")
    finite = result.raw[result.reached].tolist()
    assert result.summary()["distance_sum"] == math.fsum(finite)
    assert result.summary()["distance_max"] == max(finite)


def test_the_hash_is_over_little_endian_float64_with_infinity_for_unreached() -> None:
    result = Distances(zoo("one-edge-and-isolated"), 1, np.array([NONE, 0, NONE, 7], np.uint64))
    text = struct.pack("<4d", math.inf, 0, math.inf, 7)
    assert result.summary()["distances_sha256"] == hashlib.sha256(text).hexdigest()


def test_fingerprints_are_equal_exactly_for_equal_results() -> None:
    result = distances("grid")
    assert result.fingerprint() == distances("grid").fingerprint()
    other = result.raw.copy()
    other[3] += 1
    different = [
        Distances(result.graph, 0, other),
        Distances(result.graph, 1, result.raw),
        result.with_predecessors(),
    ]
    assert len({result.fingerprint(), *(d.fingerprint() for d in different)}) == 4


def test_predecessors_are_found_once() -> None:
    result = distances("path").with_predecessors()
    assert result.predecessor is not None
    assert result.predecessor.tolist() == [-1, *range(39)]
    assert result.with_predecessors() is result


@pytest.mark.parametrize(("problem", "source"), [("mst", "grid:4x4"), ("scan", "array:n=9"), ("sssp", "grid:4x4")])
def test_predecessors_are_added_to_shortest_paths_and_to_nothing_else(problem: str, source: str) -> None:
    record = run_cell(Cell(problem, source, device="cpu", predecessors=True, repeat=1, warmup=0, phases=False))
    assert record.status == "passed"
    assert ("predecessors_s" in record.data) == (problem == "sssp") == hasattr(record.result, "predecessor")


def test_an_infinite_weight_leads_nowhere() -> None:
    assert distances("float-infinite").reached.tolist() == [True, True, False, False, False]


def test_a_graph_without_negative_weights_is_admitted_as_it_is() -> None:
    for name in ("no-vertex", "isolated-vertices", "grid", "float-infinite", "directed-random"):
        assert PROBLEM.admit(zoo(name)) is zoo(name)


def test_a_negative_weight_is_refused_with_the_arc_named() -> None:
    graph = directed(3, [(0, 1, 4), (1, 2, -3), (2, 0, -9)], "int32", name="small")
    with pytest.raises(InputError, match=r"small: the arc 1 → 2 has the negative weight -3.*--reweight abs"):
        PROBLEM.admit(graph.renamed(source="small"))
    with pytest.raises(InputError, match="the arc b → c"):
        PROBLEM.admit(graph.renamed(vertex_names=np.array(["a", "b", "c"])))


def test_work_is_the_undirected_edges_with_a_reached_endpoint() -> None:
    assert PROBLEM.work(zoo("two-components"), distances("two-components")) == 3
    assert PROBLEM.work(zoo("two-components"), distances("two-components", 6)) == 3
    assert PROBLEM.work(zoo("isolated-vertices"), distances("isolated-vertices")) == 0
    # 0–1 is finite, 1–2 infinite; neither 2–3 nor 3–4 has a reached end.
    assert PROBLEM.work(zoo("float-infinite"), distances("float-infinite")) == 2


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize("reached", [1, 2, 20, 39])
def test_work_counts_an_infinite_edge_once_from_whichever_side(
    reached: int, resident: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpugraph.problems.sssp.problem._AT_ONCE", 7)
    draw = np.random.default_rng(reached)
    pairs = sorted({(min(u, v), max(u, v)) for u, v in draw.integers(0, 40, (120, 2)).tolist() if u != v})
    edges = [(u, v, math.inf if (u < reached) != (v < reached) else 1.0) for u, v in pairs]
    graph = undirected(40, edges, "float32")
    found = Distances(graph, 0, np.where(np.arange(40) < reached, 0.0, math.inf))
    if resident:
        device = EmulatedDevice()
        arrays = (graph.offsets.astype(np.int32), graph.targets, graph.weights)
        rows = DeviceRows(device, *map(device.upload, arrays), lambda: graph)
        object.__setattr__(graph, "on_device", rows)
    assert PROBLEM.work(graph, found) == sum(u < reached or v < reached for u, v in pairs)


def test_work_of_a_directed_graph_is_the_arcs_whose_tail_is_reached() -> None:
    assert PROBLEM.work(zoo("directed-sink"), distances("directed-sink", 3)) == 3
    assert PROBLEM.work(zoo("directed-sink"), distances("directed-sink", 0)) == 0


def test_the_definition_of_mteps_says_what_is_counted() -> None:
    assert "reached set" in PROBLEM.definition
    assert "reached set" in PROBLEM.counted


def test_the_fastest_algorithm_is_chosen_for_the_cpu() -> None:
    assert PROBLEM.auto(zoo("grid"), "cpu") == "delta-stepping"
    assert PROBLEM.auto(zoo("grid"), "cuda") == "delta-stepping"
