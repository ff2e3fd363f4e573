from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import pytest

from gpugraph.base.errors import InputError
from gpugraph.devices.cpu import CpuDevice
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.instruments import energy
from gpugraph.graph.read_options import ReadOptions
from gpugraph.measure import measurement
from gpugraph.measure.assemble import failed_record
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import Session, run_cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.contract import Verdict
from gpugraph.problems.registry import find_algorithm
from gpugraph.records.record_shape import OUTCOMES
from tests.cli.test_run import RECORD_NAMES
from tests.emulator.compiler import needs_compiler
from tests.measure.fakes import enlist
from tests.measure.runs import GRID, SIX, Notes, cell, measure, puppets

# ------------------------------------------------------------------ what is kept


def test_a_graph_is_loaded_once_for_all_calls_and_its_seconds_stay(monkeypatch):
    from gpugraph.graph import open as graphs

    puppets(monkeypatch, "a", "b")
    loaded, opening = [], graphs.open_graph
    monkeypatch.setattr(graphs, "open_graph", lambda source, **how: (loaded.append(source), opening(source, **how))[1])
    with Session() as used:
        first, second = Notes(), Notes()
        for notes in (first, second):
            used.measure([cell("a"), cell("b")], SIX, lambda what: None, notes.finished, notes.failed)
        assert loaded == [GRID]
        used.measure(
            [cell("a", read=ReadOptions(weights="unit"))], SIX, lambda what: None, first.finished, first.failed
        )
        assert loaded == [GRID, GRID]
        assert used.known(cell("a"))["graph"]["vertices"] == 25
        assert used.known(cell("a"))["device"]["kind"] == "cpu"
        assert used.known(replace(cell("a"), graph="grid:9x9", device="emulated")) == {}
    builds = {r.data["phases_s"]["build"] for r in second.records.values()}
    assert len(builds) == 1
    assert builds.pop() > 0


def test_a_file_that_has_changed_is_another_graph(tmp_path, monkeypatch):
    puppets(monkeypatch, "a")
    path = tmp_path / "g.wel"
    with Session() as used:
        totals = []
        for text in ("0 1 5\n", "0 1 5\n1 2 70\n"):
            path.write_text(text)
            notes = Notes()
            one = replace(cell("a"), graph=str(path))
            used.measure([one], SIX, lambda what: None, notes.finished, notes.failed)
            totals.append(notes.records[0].data["result"]["total_weight"])
    assert totals == [5, 75]


def test_only_the_last_graphs_stay_in_memory(monkeypatch):
    puppets(monkeypatch, "a")
    graphs: list[Any] = []
    with Session() as used:
        for side in (4, 5, 6, 7):
            notes = Notes()
            used.measure(
                [replace(cell("a"), graph=f"grid:{side}x{side}")], SIX, lambda what: None, notes.finished, notes.failed
            )
            graphs.append(weakref.ref(notes.records[0].graph))
            del notes
        gc.collect()
        assert [ref() is not None for ref in graphs] == [False, False, True, True]


@needs_compiler
def test_competing_cells_share_one_copy_of_the_graph_and_each_tells_its_own_memory():
    """The peak of a cell is what it would be alone, whoever ran beside it."""
    graph = "random:n=300,deg=8"
    names = ("boruvka", "filter-boruvka")
    # Weights that the host changes make the graph the host's.
    cells = [
        Cell("mst", graph, name, "emulated", read=ReadOptions(weights="hash:1..99"), phases=False) for name in names
    ]
    alone = [run_cell(replace(one, repeat=2, warmup=0)).data for one in cells]
    copies, upload = [], EmulatedDevice.stage

    def counted(self: EmulatedDevice, array: Any) -> Any:
        copies.append(array.nbytes)
        return upload(self, array)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EmulatedDevice, "stage", counted)
        together = measure(cells, Sampling.fixed(2, 0)).records
    assert len(copies) == 3
    for index, data in enumerate(alone):
        assert together[index].data["peak_device_bytes"] == data["peak_device_bytes"] > 0
        assert together[index].data["result"] == data["result"]


# ------------------------------------------------------------------ records


def test_a_record_has_every_name_and_a_failed_one_too_but_no_number():
    one = Cell("sssp", "rmat:7", device="cpu", repeat=6, axes={"scale": 7}, sweep="smoke", series="rmat")
    done = run_cell(one)
    lost = failed_record(one, "timeout", "ended after 60 s")
    for data in (done.data, lost.data):
        assert data.keys() >= RECORD_NAMES | {"outcome", "confidence_s", "sampling", "energy", "traffic"}
    assert done.outcome == "ok"
    assert "message" not in done.data
    assert done.data["cell"].keys() == {"id", "series", "sweep", "axes", "input"}
    assert done.data["cell"]["axes"] == {"scale": 7}
    low, high = done.data["confidence_s"]["kernel"]
    assert low <= done.data["phases_s"]["kernel"] <= high
    assert (lost.outcome, lost.data["message"]) == ("timeout", "ended after 60 s")
    assert lost.data["mteps"]["kernel"] is None
    assert lost.data["samples_s"]["kernel"] == []
    assert lost.data["phases_s"] == {}
    assert '"outcome": "timeout"' in lost.to_json()
    with pytest.raises(InputError, match="did you mean 'timeout'"):
        failed_record(one, "time-out", "late")
    assert len(OUTCOMES) == len(set(OUTCOMES)) == 9


def test_outliers_are_reported_by_position_and_stay_in_the_samples(monkeypatch):
    (late,), _ = puppets(monkeypatch, "late")
    late.seconds = [0.01, 0.0101] * 3 + [0.4] + [0.01] * 5
    enlist(monkeypatch, late.algorithm())
    data = measure([cell("late")], Sampling.fixed(12, 0)).records[0].data
    assert data["sampling"]["outliers"] == [6]
    assert data["samples_s"]["kernel"] == late.seconds


def test_several_sources_are_sampled_in_turn_and_stored_source_by_source():
    data = run_cell(Cell("sssp", "rmat:7", "dijkstra", "cpu", source="random:3", repeat=4)).data
    assert len(data["samples_s"]["kernel"]) == 12
    assert len(data["per_source"]) == 3
    assert data["samples_s"]["h2d"] == []


def test_a_result_that_is_wrong_counts_even_if_that_of_the_source_before_could_not_be_checked(monkeypatch):
    verdicts = iter([Verdict("skipped", "reference", "no proof"), Verdict("failed", "reference", "too far")])
    monkeypatch.setattr(measurement, "check", lambda *asked: next(verdicts))
    data = run_cell(Cell("sssp", "rmat:7", "dijkstra", "cpu", source="random:2", repeat=1)).data
    assert (data["outcome"], data["message"]) == ("wrong", "too far")
    assert data["verification"]["status"] == "failed"


def test_what_measures_its_own_time_is_believed(monkeypatch):
    (own,), _ = puppets(monkeypatch, "own")
    enlist(monkeypatch, own.algorithm(own_seconds=lambda state, handle: 0.125))
    data = measure([cell("own")], SIX).records[0].data
    assert data["samples_s"]["kernel"] == [0.125] * 6
    assert data["sampling"]["reached"] == 0


def test_figures_that_a_cpu_does_not_give_are_absent_with_the_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)  # where a machine counts, the processors' energy is there
    data = run_cell(Cell("mst", GRID, "kruskal", "cpu", repeat=3), sampling=replace(SIX, energy=True)).data
    assert "RAPL" in data["energy"]["absent"]
    assert "least traffic" in data["traffic"]["absent"]
    assert "cpu" in data["sampling"]["sm_clock_mhz"]["absent"]
    with pytest.raises(InputError, match="cold samples need a GPU"):
        run_cell(Cell("mst", GRID, "kruskal", "cpu"), sampling=replace(SIX, cold=True))


def test_a_cpu_is_compared_with_its_memory_where_a_sweep_asks_for_it(monkeypatch):
    monkeypatch.setattr("gpugraph.devices.bandwidth.host_copy_bandwidth", lambda threads: 1e9 * threads)
    one = Cell("mst", GRID, "boruvka", "cpu")
    assert run_cell(one, sampling=SIX).data["traffic"] == {"absent": "not asked for"}
    data = run_cell(one, sampling=replace(SIX, bandwidth=True)).data
    traffic, threads = data["traffic"], data["device"]["threads"]
    assert traffic["copy_bytes_per_s"] == 1e9 * threads
    assert traffic["share"] == traffic["minimum_bytes"] / data["phases_s"]["kernel"] / (1e9 * threads)


@pytest.mark.parametrize(("source", "reached"), [(0, 2), (3, 9)])
def test_a_search_of_less_than_half_the_edges_is_not_held_to_the_bytes_of_all(source, reached, tmp_path, monkeypatch):
    monkeypatch.setattr("gpugraph.devices.bandwidth.host_copy_bandwidth", lambda threads: 1e9)
    path = tmp_path / "two_parts.el"
    path.write_text("0 1\n1 2\n" + "".join(f"{v} {v + 1}\n" for v in range(3, 12)))
    one = Cell("sssp", str(path), "delta-stepping", "cpu", source=str(source))
    data = run_cell(one, sampling=replace(SIX, bandwidth=True)).data
    assert data["mteps"]["count"] == reached
    if reached == 2:
        assert data["traffic"] == {"absent": "its runs reach 2 of 11 edges, and need not read the others"}
    else:
        assert data["traffic"]["share"] > 0


def test_a_batch_is_compared_with_the_distances_of_all_its_sources(monkeypatch):
    monkeypatch.setattr("gpugraph.devices.bandwidth.host_copy_bandwidth", lambda threads: 1e9)
    three = Cell("sssp", GRID, "delta-stepping-batched", "cpu", source="random:3")
    data = run_cell(three, sampling=replace(SIX, bandwidth=True)).data
    one = run_cell(replace(three, source="random:1"), sampling=replace(SIX, bandwidth=True)).data
    more = data["traffic"]["minimum_bytes"] - one["traffic"]["minimum_bytes"]
    assert more == 2 * 4 * data["graph"]["vertices"]


@needs_compiler
def test_cold_samples_are_refused_on_the_emulated_device():
    with pytest.raises(InputError, match="'emulated' cannot be flushed"):
        run_cell(Cell("mst", GRID, "boruvka", "emulated"), sampling=replace(SIX, cold=True))


def test_what_is_compiled_for_the_first_time_is_named_while_it_is(monkeypatch):
    from gpugraph.base import code_cache

    (one,), _ = puppets(monkeypatch, "one")
    one.on_prepare = lambda turn: code_cache.find("numba", "here._step-0123456789abcdef0123.code")
    said: list[str] = []
    run_cell(cell("one"), said.append, SIX)
    assert "compiling here._step, for this and later runs" in said


def test_a_session_closes_every_device_it_opened(monkeypatch):
    closed = []
    monkeypatch.setattr(CpuDevice, "close", lambda self: closed.append(self.kind))
    puppets(monkeypatch, "a")
    measure([cell("a"), replace(cell("a"), device="auto")], SIX)
    assert closed == ["cpu"] * len(closed) != []


def test_the_algorithms_that_have_a_least_traffic_count_the_graph_and_the_result():
    from gpugraph.graph.generate import generate
    from gpugraph.graph.view import GraphView

    view = GraphView.of(generate("grid:8x8"))
    graph_bytes = 65 * 4 + 224 * (4 + 4)
    assert find_algorithm("mst", "boruvka", "cpu").minimum_bytes(view) == graph_bytes + 63 * 4
    batch = find_algorithm("sssp", "delta-stepping-batched", "cuda").minimum_bytes
    assert (batch(view), batch(view, 64)) == (graph_bytes + 64 * 4, graph_bytes + 64 * 64 * 4)
    assert find_algorithm("sssp", "delta-stepping", "cpu").minimum_bytes(view) == graph_bytes + 64 * 4
    for problem, name, result_bytes in (
        ("mst", "filter-boruvka", 63 * 4),
        ("mst", "boruvka", 63 * 4),
        ("mst", "prim", 63 * 4),
        ("sssp", "dijkstra", 64 * 4),
    ):
        algorithm = find_algorithm(problem, name, "cuda")
        assert algorithm.minimum_bytes is not None
        assert algorithm.minimum_bytes(view) == graph_bytes + result_bytes


def test_a_process_goes_on_with_the_samples_of_those_before_and_its_result_must_be_theirs():
    sampling = Sampling(target=0.0, min_samples=4, max_samples=4, processes=2)
    cell, found = Cell("sssp", "path:9", "dijkstra", "cpu", source="random:2"), []

    def measure(earlier):
        with Session() as session:
            told = {0: earlier} if earlier else None
            session.measure(
                [cell], sampling, lambda what: None, lambda i, r: found.append(r.data), refuse, earlier=told
            )
        return found[-1]

    def refuse(index, error):
        raise error

    first = measure(None)
    second = measure(first)
    assert (first["sampling"]["processes"], second["sampling"]["processes"]) == ([2], [2, 2])
    samples = [record["samples_s"]["kernel"] for record in (first, second)]
    assert [len(one) for one in samples] == [4, 8]
    assert (samples[1][:2], samples[1][4:6]) == (samples[0][:2], samples[0][2:])
    assert (first["kernel_phases_s"], first["outcome"], second["outcome"]) == ({}, "ok", "ok")
    first["per_source"][1]["distances_sha256"] = "00"
    wrong = measure(first)
    assert wrong["outcome"] == "wrong"
    assert wrong["message"] == "the result of process 2 differs from that of process 1"


@pytest.mark.parametrize(("asked", "told"), [(None, 64), (32, 32), (64, 64)])
def test_the_index_bits_recorded_are_those_of_the_view(monkeypatch, asked, told):
    """It is the view that decides from how many arcs on an index takes 64 bits."""
    if asked is None:
        monkeypatch.setattr("gpugraph.devices.kernel_file.MAX_NARROW_ARCS", 10)
    record = run_cell(Cell("mst", GRID, "kruskal", "cpu", repeat=1, index_bits=asked))
    assert record.data["parameters"]["index_bits"] == told
