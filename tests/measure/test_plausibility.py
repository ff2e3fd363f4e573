"""Changed records are found out, and our own are of clean commits and verified."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.bench.axes import draws_of
from gpugraph.ext.check_record.plausibility import EVERY_RECORD, MEASURED_CELL, OF_DEVICE, conflicts, findings
from gpugraph.ext.check_record.plausible_figures import CORE_BYTES_PER_S, GPUS, least_bytes, times
from gpugraph.ext.python.records import Measured
from gpugraph.graph.families import is_spec
from gpugraph.measure.cell import Cell
from gpugraph.measure.environment import git_commit
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.registry import load_problem
from gpugraph.records.record import Record
from gpugraph.records.record_file import parse_record, read_record_file
from gpugraph.records.statistics import clocked
from gpugraph.report.table import table
from tests.cli.runner import run
from tests.hostile_records import hostile_lines
from tests.tiers import also, extended, first, only

RECORDS = sorted((Path(__file__).resolve().parents[2] / "docs" / "records").glob("*"))


DELETED = object()


def changed(record: Record, path: str, value: Any) -> Record:
    """Return the record as somebody would have it who edits a field, ``"phases_s.kernel"`` for instance."""
    *folders, name = path.split(".")
    data = place = dict(record.data)
    for folder in folders:
        place[folder] = dict(place[folder])
        place = place[folder]
    place[name] = value
    if value is DELETED:
        del place[name]
    return Record.of(data, file=record.file, line=record.line)


def of_clean_commit(record: Record) -> Record:
    """Return the record as one of the last commit, which the files of a developer need not be."""
    commit = (git_commit() or "0123456789ab").rstrip("+")
    for path, value in (("environment.git_commit", commit), ("provenance.commit", commit), ("provenance.clean", True)):
        record = changed(record, path, value)
    return record


def kinds(record: Record, most_edges: int = 0) -> set[str]:
    return {one.kind for one in findings(record, most_edges)}


def stored(stem: str, algorithm: str) -> Record:
    (path,) = [path for path in RECORDS if path.name.partition(".")[0] == stem]
    return next(one for one in read_record_file(path).records if one.algorithm == algorithm)


def on_gpu() -> Record:
    return stored("scales-h200", "boruvka")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Record:
    path = tmp_path_factory.mktemp("measured") / "run.jsonl"
    run("sssp", "rmat:8", "--source", 3, "--device", "cpu", "--repeat", 3, "--save", path)
    (record,) = read_record_file(path).records
    return of_clean_commit(record)


@pytest.mark.parametrize("path", only(RECORDS[::4], RECORDS), ids=lambda path: path.stem)
def test_our_own_records_are_of_clean_commits_and_verified(path: Path) -> None:
    for record in read_record_file(path).records:
        assert kinds(record) <= {"peer"}, findings(record)


@extended
def test_a_program_whose_version_is_not_recorded_is_reported_and_a_library_has_one() -> None:
    everything = [one for path in RECORDS for one in read_record_file(path).records]
    without = {one.algorithm for one in everything if "peer" in kinds(one)}
    assert {"peer:ecl-mst", "peer:gapbs"} <= without
    assert without.isdisjoint({"peer:scipy", "peer:cugraph", "peer:igraph", "peer:networkit", "peer:rustworkx"})


def test_all_our_records_of_a_query_have_one_answer() -> None:
    assert conflicts([one for path in RECORDS for one in read_record_file(path).records]) == []


def test_a_record_that_was_just_measured_is_believed(measured: Record) -> None:
    assert findings(measured, 10_000) == []


def test_a_forest_and_paths_of_one_directed_graph_do_not_contradict_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "r.jsonl")
    for problem in ("mst", "sssp"):
        run(problem, "regular:n=40,out=3", "--repeat", 1, "--save", path)
    records = read_record_file(path).records
    assert len({one.shape.graph.digest for one in records}) == 2
    assert conflicts(records) == []


@pytest.mark.parametrize(
    "words",
    [
        ("mst", "rmat:7", "--reweight", "unit"),
        ("mst", "grid:9x9,w=0.0..1.0"),
        ("sssp", "rmat:7", "--sources", 3),
        ("sssp", "rmat:7", "--algo", "delta-stepping-batched"),
        ("components", "path:1"),
        ("scan", "array:n=1000"),
        ("mst", "rmat:7", "--algo", "peer:scipy"),
        also(("graph500", "--scale", 6, "--roots", 2)),
    ],
)
def test_whatever_was_just_measured_is_believed(tmp_path: Path, words: tuple[Any, ...]) -> None:
    run(*words, "--device", "cpu", *(() if words[0] == "graph500" else ("--repeat", 7)), "--save", tmp_path / "r.jsonl")
    (record,) = read_record_file(tmp_path / "r.jsonl").records
    assert findings(of_clean_commit(record), 10_000) == []


@pytest.mark.parametrize("option", ["--source=random:2", "--source=name:3", "--device=cpu:0", "--reweight=hash:1..9"])
def test_what_an_option_of_a_command_on_a_file_is_given_is_no_graph(measured: Record, option: str) -> None:
    for words in ([option], option.split("=")):
        command = ["python", "-m", "gpugraph", measured.problem, "e.wel", *words]
        assert "solves" not in str(findings(changed(measured, "environment.command", command)))


def test_the_run_for_phases_may_take_as_long_as_the_slowest_sample_on_a_busy_processor(measured: Record) -> None:
    slow_s = 10 * max(measured.samples) + 1e-2
    slow = changed(measured, "kernel_phases_run_s", slow_s)
    assert "the run for its phases took" in str(findings(slow))
    samples = [*measured.samples[:-1], slow_s]
    assert "the run for its phases took" not in str(findings(changed(slow, "samples_s.kernel", samples)))


@given(st.integers(1, 2**31))
def test_every_time_that_a_gpus_clock_gives_is_believed(ticks: int) -> None:
    second = clocked(float(np.float32(ticks * 32e-6)) / 1e3)
    assert "in which the clock counts" not in str(list(times(with_kernel(on_gpu(), second))))


def test_a_lone_first_run_may_take_far_longer_than_calls() -> None:
    called = {"samples_s": [1e-4] * 7, "wall_s": [1.1e-4] * 7}
    warm = changed(with_kernel(on_gpu(), 1.0), "call", called)
    assert "its calls took" in str(list(times(warm)))
    assert "its calls took" not in str(list(times(changed(warm, "sampling.warmup", 0))))


def test_memory_that_goes_back_to_the_system_may_take_its_time_after_a_sample(measured: Record) -> None:
    small = changed(measured, "sampling.wall_s", [1.3 * second + 5e-4 for second in measured.samples])
    large = changed(small, "graph.vertices", 4_000_000)
    slow = changed(large, "sampling.wall_s", [1.3 * second + 2e-3 for second in measured.samples])
    for record, beyond in ((small, True), (large, False), (slow, True)):
        assert ("small part of the wall clock" in str(findings(record, 10_000))) == beyond


def test_a_repetition_with_a_target_is_the_fewest_samples(measured: Record) -> None:
    assert "repeat" in str(findings(changed(measured, "parameters.repeat", 2)))
    adaptive = changed(changed(measured, "sampling.target", 0.05), "sampling.min_samples", 2)
    assert "repeat" in str(findings(adaptive))
    assert "repeat" not in str(findings(changed(adaptive, "parameters.repeat", 2)))


def test_each_of_several_processes_stops_by_itself(tmp_path: Path) -> None:
    words = ("--algo", "kruskal", "--device", "cpu", "--target", "10%", "--max-seconds", 1, "--processes", 2)
    run("bench", "rmat:7", *words, "--save", tmp_path / "r.jsonl")
    (record,) = map(of_clean_commit, read_record_file(tmp_path / "r.jsonl").records)
    assert len(record.processes) == 2
    assert findings(record, 10_000) == []
    for path, value in (("stopped_by", "count"), ("target", 1e-6)):
        assert "sampling" in kinds(changed(changed(record, "sampling.stopped_by", "target"), f"sampling.{path}", value))


@pytest.mark.parametrize("processes", [[3, 0], [0, 3], [1, 2, 0]])
def test_a_process_without_samples_is_found_out(measured: Record, processes: list[int]) -> None:
    assert "sampling" in kinds(changed(measured, "sampling.processes", processes))


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        ("phases_s.kernel", 1e-6, "time"),
        ("phases_s.kernel", 10.0, "time"),
        ("phases_s.total", 1e-5, "time"),
        ("device.name", "NVIDIA H100 80GB HBM3", "device"),
        ("device.name", "Cray-1", "device"),
        ("device.multiprocessors", 144, "device"),
        ("device.compute_capability", "10.0", "device"),
        ("device.memory_bytes", 80 * 10**9, "device"),
        ("device.kind", "emulated", "device"),
        ("mteps.kernel", 5000.0, "count"),
        ("mteps.count", 2 * 909364, "count"),
        ("graph.edges", 2 * 909364, "count"),
        ("graph.arcs", 909364, "count"),
        ("result.tree_edges", 46805, "result"),
        ("verification.status", "failed", "verdict"),
        ("environment.git_commit", "0123456789ab+", "commit"),
        ("environment.git_commit", None, "commit"),
    ],
)
def test_a_changed_field_of_a_gpus_record_is_found_out(path: str, value: Any, kind: str) -> None:
    assert kinds(on_gpu()) == set()
    assert kind in kinds(changed(on_gpu(), path, value))


def with_kernel(record: Record, seconds: float) -> Record:
    """Return the record with another time of the kernel in every field that tells of it."""
    phases, samples = record.data["phases_s"], record.data["samples_s"]["kernel"]
    count, moved = record.data["mteps"]["count"], record.transfer_s
    for path, value in [
        ("phases_s.kernel", seconds),
        ("phases_s.total", phases["total"] - phases["kernel"] + seconds),
        ("samples_s.kernel", [seconds] * len(samples)),
        ("confidence_s.kernel", [seconds, seconds]),
        ("sampling.reached", 0.0),
        ("sampling.outliers", []),
        ("mteps.kernel", count / seconds / 1e6),
        ("mteps.end_to_end", count / (seconds + moved) / 1e6),
        ("traffic", {"absent": "on a CPU"}),
    ]:
        record = changed(record, path, value)
    return record


def test_times_that_agree_with_each_other_are_refused_if_no_memory_is_so_fast() -> None:
    fast = least_bytes(on_gpu()) / GPUS["NVIDIA H200"].bytes_per_s / 100
    found = findings(with_kernel(on_gpu(), fast))
    assert {one.kind for one in found} == {"time"}
    assert any("too short to move" in one.what for one in found)


WRONG: dict[str, Any] = {
    "confidence_s.kernel": [1e-9, 1.0],
    "confidence_s.d2h": [1e-9, 1.0],
    "sampling.reached": 1e-4,
    "sampling.outliers": [3],
    "sampling.warmup": 9,
    "sampling.stopped_by": "magic",
    "parameters.repeat": 77,
    "samples_s.d2h": [1e-9] * 28,
    "phases_s.d2h": 1e-9,
    "cell.id": "0" * 63,
    "cell.input.graph": "rmat:9",
    "cell.axes.device": "cpu",
    "cell.axes.algorithm": "kruskal",
    "cell.axes.problem": "scan",
    "device.clock_khz": 3_000_000,
    "device.runtime_cuda": "11.0",
    "device.driver_cuda": "11.0",
    "device.cupy": "9.0",
    "result.components": -3,
}
"""Values that every other field of a GPU's record speaks against."""


@pytest.mark.parametrize("path", WRONG)
def test_a_value_that_other_fields_do_not_give_is_found_out(path: str) -> None:
    assert findings(changed(on_gpu(), path, WRONG[path]))


@cache
def base(name: str) -> Record:
    """Return a stored record that nothing speaks against."""
    if name == "gpu":
        return on_gpu()
    if name == "paths":
        return stored("figures-sssp-h200", "delta-stepping")
    if name == "sources":
        return stored("figures-sources-h200", "delta-stepping")
    if name == "peer":
        return stored("figures-beside-h200", "peer:cugraph")
    return stored("graph500-h200" if name == "graph500" else "ranks-pairs-h200x2", NAMED[name])


NAMED = {"graph500": "delta-stepping", "ranks": "boruvka-distributed"}

EVERYWHERE: dict[str, dict[str, Any]] = {
    "older than gpugraph": {"time": "1990-01-01T00:00:00+00:00"},
    "a time of another definition": {"mteps.definition": "MTEPS = arcs times ten"},
    "a thousand ranks": {"device.ranks": 1000},
    "a thousand ranks that the device is named for": {"device.ranks": 1000, "device.name": "1000 × NVIDIA H200"},
    "a library that there is not": {
        "algorithm": "peer:magic",
        "algorithm_source": {"authors": "x", "year": 2020, "section": "Magic 1.0, f"},
    },
    "predecessors that took longer than all": {"predecessors_s": 1e6},
    "a command of another problem": {"environment.command": ["gpugraph", "scan", "array:n=9"]},
    "a command of another graph": {"environment.command": ["python", "-m", "gpugraph", "mst", "grid:3x3"]},
    "a kernel that took no time": {"samples_s.kernel": [0.0] * 7},
    "counters of another device": {"work": {"total": {"sectors": 82181}, "runs": 1}},
}
"""Changes that speak against every record."""

OF_CELLS: dict[str, dict[str, Any]] = {
    "sampling that took less than its samples": {"sampling.spent_s": 0.0},
    "sampling that took longer than all": {"sampling.spent_s": 1e6},
    "clocks above the highest": {"sampling.sm_clock_mhz": [9000]},
    "a target that was not reached": {"sampling.stopped_by": "target", "sampling.target": 1e-6},
    "a count that was not reached": {"sampling.stopped_by": "count", "sampling.max_samples": 99_999},
    "the graph of another cell": {"cell.axes": {"graph": "grid:9x9"}},
    "a digest that is none": {"graph.digest": "hello"},
    "energy that its edges do not give": {"energy": {"joules_per_run": 0.1, "nanojoules_per_edge": 1e-6}},
    "a copy faster than the memory": {"traffic": {"minimum_bytes": 1e3, "copy_bytes_per_s": 1e15, "share": 0.0}},
}
"""Changes that speak against every record but those of Graph500."""

ALONE: dict[str, dict[str, Any]] = {
    "gpu: no memory on the device": {"peak_device_bytes": 0},
    "gpu: weights that are no number": {"result.total_weight": "nan"},
    "gpu: half a weight": {"result.total_weight": 7.5},
    "gpu: a digest of nothing": {"result.edges_sha256": "abc"},
    "gpu: no component": {"result.components": 0, "result.tree_edges": 65536},
    "paths: a source beyond the graph": {"result.source": 10**12},
    "paths: a source before the graph": {"result.source": -1},
    "paths: nothing is reached": {"result.reached": 0},
    "paths: more is reached than there is": {"result.reached": 2**21},
    "paths: a distance longer than all together": {"result.distance_max": 10**15},
    "paths: a sum longer than all distances": {"result.distance_sum": 10**18},
    "paths: rounds faster than a GPU's": {"rounds": 10**6},
    "sources: a result that is not that of its first source": {"result.distance_sum": 7},
    "ranks: no ranks": {"ranks": DELETED},
    "ranks: 64 ranks": {"ranks.size": 64},
    "ranks: ranks that are not listed": {"ranks.members": []},
    "ranks: ranks on other GPUs": {"ranks.members": [{"device": {"name": "Tesla T4"}}] * 2},
    "ranks: a device for another number of ranks": {"device.name": "4 × NVIDIA H200"},
    "graph500: a rate ten times too high": {"graph500.sssp_harmonic_mean_TEPS": 1.3e11},
    "graph500: fewer searches": {"graph500.NBFS": 1},
    "graph500: no figures": {"graph500": {"SCALE": 20}},
    "graph500: built in no time": {"graph500.construction_time": 0.0},
    "graph500: of a larger scale": {
        "graph500.SCALE": 30,
        "graph.source": "graph500:30",
        "graph.name": "graph500:30",
    },
    "graph500: of a smaller scale": {
        "graph500.SCALE": 10,
        "graph.source": "graph500:10",
        "graph.name": "graph500:10",
    },
    "graph500: double weights": {"graph.weight_dtype": "float64"},
    "graph500: searches without checks": {
        "per_source": [{"source": 1, "kernel_s": 1e-3, "tuples": 9}],
        "samples_s.kernel": [1e-3],
        "mteps.count": [9],
    },
}


@pytest.mark.parametrize(
    "forgery",
    [
        *(
            f"{name}: {what}"
            for name in ("gpu", "paths", "sources", "peer", "ranks", "graph500")
            for what in EVERYWHERE
        ),
        *(f"{name}: {what}" for name in ("gpu", "paths", "peer", "ranks") for what in OF_CELLS),
        *ALONE,
    ],
)
def test_a_forged_record_is_found_out(forgery: str) -> None:
    name, _, what = forgery.partition(": ")
    record = base(name)
    assert findings(record) == []
    for path, value in {**EVERYWHERE, **OF_CELLS, **ALONE}.get(what, ALONE.get(forgery, {})).items():
        record = changed(record, path, value)
    assert record.data != base(name).data
    assert findings(record)


@pytest.mark.parametrize(
    ("name", "factor", "found"),
    [
        ("gpu", 1e-4, {"time"}),
        ("gpu", 1e3, {"time", "sampling"}),  # beyond the wall clock of its samples too
        ("paths", 1e-3, {"time"}),
        ("paths", 1e3, {"time", "sampling"}),
    ],
)
def test_times_in_other_units_are_found_out_however_well_they_agree(name: str, factor: float, found: set[str]) -> None:
    seconds = (base(name).kernel_s or 0.0) * factor
    assert {one.kind for one in findings(with_kernel(base(name), seconds))} == found


def test_a_published_comparison_has_the_draws_of_its_commit_or_tuning_draws(measured: Record) -> None:
    record = changed(measured, "cell.axes", {"draw": 41})
    assert "its draw 41 is neither a tuning draw" in str([one.what for one in findings(record)])
    for spec in ("drawn:41", "drawn:41,whole=yes", "drawn:whole=yes,number=41"):
        assert "its draw 41 is neither" in str(findings(changed(measured, "cell.input", {"graph": spec})))
    own = draws_of(record.shape.environment["git_commit"], 40)[39]
    for draw in (1, 40, own):
        assert "cell" not in kinds(changed(measured, "cell.axes", {"draw": draw}))


def test_a_finding_of_many_records_is_one_line(measured: Record, tmp_path: Path) -> None:
    wrong = [changed(measured, "time", f"1990-01-01T00:00:0{i // 4}+00:00").data for i in range(5)]
    (tmp_path / "r.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in wrong))
    outcome = run("check-record", tmp_path / "r.jsonl")
    assert "r.jsonl 4 lines (1, 2, 3, …): date: '1990-01-01T00:00:00+00:00' is before" in outcome.out
    assert "r.jsonl line 5: date: '1990-01-01T00:00:01+00:00' is before" in outcome.out
    assert "5 records checked, 5 with findings" in outcome.out


FORGED: dict[str, dict[str, Any]] = {
    "the outcome is left out": {"outcome": DELETED, "result.distance_sum": 7},
    "a trillion threads on a machine that does not tell its cores": {
        "device.threads": 2**16,
        "environment.cores": None,
    },
    "a batch that was none": {"result.sources": 2, "result.distance_sum": 7},
    "a result that states little": {"result": {"source": 3, "reached": 255}},
    "a graph too large to be solved here": {"graph.edges": 2**21, "graph.arcs": 2**22, "mteps.count": DELETED},
    "a spec too large to be made here": {"graph.source": "rmat:27", "graph.name": "rmat:27"},
    "no method of verification": {"verification.method": "none"},
    "a year that has not come": {"time": "2131-01-01T00:00:00+00:00"},
    "no time at all": {"time": "yesterday"},
    "an algorithm that there is not": {"algorithm": "magic"},
    "a share beyond all bandwidth": {"traffic": {"minimum_bytes": 8, "copy_bytes_per_s": 1.0, "share": 3.0}},
    "energy of nothing": {"energy": {"joules_per_run": 1e-12}},
    "energy of a run that takes its start along": {"energy": {"joules_per_run": 1e6, "per": "process"}},
    "a rate end to end that is too good": {"mteps.end_to_end": 1e6},
    "arcs that are counted for edges": {"mteps.counted": "arcs"},
    "samples that are left out": {"samples_s.kernel": []},
    "processes that are invented": {"sampling.processes": [10, 10, 10]},
    "two commits": {"provenance.commit": "ba9876543210"},
    "files that were changed": {"provenance.clean": False},
    "a name that is not that of its spec": {"graph.name": "rmat:20"},
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_record_cannot_ask_not_to_be_checked(measured: Record, forgery: str) -> None:
    record = with_kernel(measured, 1e-9)
    for path, value in FORGED[forgery].items():
        measured, record = changed(measured, path, value), changed(record, path, value)
    assert findings(measured, 10_000)
    assert findings(record, 10_000)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("graph.source", "rmat:27"),
        ("graph.source", "rmat:x"),
        ("problem", "nosuch"),
        ("cell", {"input": {"weights": "uniform"}}),
    ],
)
def test_one_record_that_cannot_be_solved_does_not_hide_the_findings_of_others(
    measured: Record, path: str, value: Any, tmp_path: Path
) -> None:
    wrong = changed(measured, "result.reached", 7)
    negative = measured.data | {"samples_s": {"kernel": [-1.0]}}
    lines = [changed(measured, path, value).data, negative, wrong.data, measured.data]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    outcome = run("check-record", tmp_path / "r.jsonl")
    assert outcome.code == 2
    assert [f"line {i}:" in outcome.out for i in (1, 2, 3, 4)] == [True, True, True, False]
    assert "4 records checked, 3 with findings" in outcome.out


def test_no_field_of_whatever_kind_ends_the_check_of_a_record_or_the_sight_of_it() -> None:
    readable = 0
    for name, line in hostile_lines(3000):
        try:
            record = parse_record(line)
        except ValueError:  # not of its type, which the reading refuses
            continue
        readable += 1
        try:
            findings(record)
            conflicts([record, record])
            Measured.of_record(record)._repr_html_()
        except Exception as error:
            raise AssertionError(name) from error
    assert readable > 500


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("call", {"samples_s": [1e-3], "wall_s": []}),
        ("environment.packages", ["scipy"]),
        ("price", {"per_hour": 1.0, "per_million_answers": 1.0}),
        ("mteps.count", None),
    ],
)
def test_a_field_that_is_half_there_is_found_out(path: str, value: Any) -> None:
    record = changed(stored("figures-cpu-libraries-cpu2", "peer:scipy"), path, value)
    assert findings(record)
    assert findings(changed(record, "price", {"per_hour": 1.0}))


def test_two_records_with_the_same_samples_are_one_measurement(measured: Record) -> None:
    first, second = (changed(measured, "samples_s.kernel", [1e-3, 2e-3, 3e-3, 4e-3, 5e-3]) for _ in range(2))
    assert [one.kind for _, one in conflicts([first, second])] == ["sampling"]
    assert conflicts([first, measured]) == []


UNCHECKED = {
    "it says where a cell lies in its sweep, or what a paper says": (
        *("cell.name", "cell.series", "cell.sweep", "cell.title", "cell.axes", "paper", "algorithm_source"),
    ),
    "it names one device or machine of many that are alike": (
        *("device.uuid", "device.index", "device.l2_bytes"),
        *(f"environment.{name}" for name in ("node", "system", "python", "gpugraph", "packages", "command")),
        *("environment.gpu.driver", "environment.gpu.nvml"),
    ),
    "a GPU's record is not compared with the machine around it": (
        *("cuda: environment.memory_bytes", "cuda: environment.processor"),
    ),
    "a machine may have more processors than threads run": ("environment.cores",),
    "fewer than six copies have no interval": ("samples_s.h2d",),
    "records of earlier versions have none; where there is one it is compared": ("cell.input",),
    "records of earlier versions have none": ("call", "compiled", "kernel_phases_runs", "kernel_phases_shares"),
    "it was not asked for": ("price", "work"),
    "it is a setting of the algorithm": (
        *("parameters.preparations", "parameters.buffers", "parameters.delta", "parameters.index_bits"),
        *("parameters.method", "parameters.threads", "parameters.vectors", "parameters.blocks", "parameters.on_chip"),
        *("parameters.prefetch", "parameters.layout", "parameters.look", "parameters.launches", "parameters.exchange"),
        "parameters.sums",
    ),
    "it is a setting of the sampling, or tells of the machine meanwhile": (
        *(f"sampling.{name}" for name in ("cold", "load", "max_samples", "min_samples", "other_cores")),
        *(f"sampling.{name}" for name in ("sm_clock_mhz", "spent_s", "target", "throttled_repeated", "time_limit_s")),
        *(f"sampling.{name}" for name in ("wall_s", "cpu_s", "switches", "loads")),
    ),
    "it counts steps that differ from one run to the next": ("rounds", "counters", "peak_device_bytes"),
    "it is a run of its own, whose parts do not add up": ("kernel_phases_s", "kernel_phases_run_s"),
    "it is a sentence": ("mteps.definition", "verification.detail", "energy.absent", "traffic.absent"),
    "it is of that commit's sources": ("provenance.sources_sha256",),
    "it is of another run, with its allocation": ("throughput",),
    "a version of another program, whose name is free": ("peer: algorithm",),
    "other programs need not state it, and choose among equal edges": (
        *("peer: result.tree_edges", "peer: result.components", "peer: result.edges_sha256", "peer: result.reached"),
        *("peer: result.distance_max", "peer: result.distances_sha256"),
    ),
}
"""Fields whose change or absence a check cannot find, with the reason."""


def is_unchecked(record: Record, path: str) -> bool:
    """Tell whether a field, or one that it lies in, is among the exceptions; some are of peers alone."""
    named = {name for names in UNCHECKED.values() for name in names}
    steps = path.split(".")
    inside = {".".join(steps[:i]) for i in range(1, len(steps) + 1)}
    peers = {f"peer: {name}" for name in inside} if record.algorithm.startswith("peer:") else set()
    return bool(named & (inside | peers | {f"{record.device_kind}: {name}" for name in inside}))


def places(value: Any, at: str = "") -> Iterator[str]:
    """Yield the place of every field; a list is one."""
    for name, part in value.items() if isinstance(value, dict) else ():
        yield f"{at}{name}"
        yield from places(part, f"{at}{name}.")


def other(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, list):
        return [*map(other, value)]
    return {} if isinstance(value, dict) else value + value // 2 + 1


def small_records() -> list[Record]:
    """Return up to twenty records of all problems, on CPUs and GPUs, of ours and others, that are solved at once."""
    found: dict[tuple[str, str, str], Record] = {}
    for path in RECORDS:
        for record in read_record_file(path).records:
            small = (record.shape.graph.arcs or 2**20) < 2**19 and not findings(record)
            alone = record.shape.result.get("sources") is None  # the answers of a batch are not computed here
            # All sources have one answer where there is one edge, or where no weight is above 0.
            differs = record.shape.graph.arcs != 2 and record.shape.result.get("distance_sum") != 0
            if record.ok and small and alone and differs and is_spec(record.graph_source):
                found.setdefault((record.problem, record.algorithm, record.device_kind), record)
    return list(found.values())[:20]


def test_a_field_that_every_record_of_ours_has_is_missed(measured: Record) -> None:
    problem = load_problem("sssp")
    of_result = [name for name in (*problem.recorded, *problem.recorded_of_ours) if name.startswith("result.")]
    for path in (*EVERY_RECORD, *MEASURED_CELL, *OF_DEVICE["cpu"], *of_result, "energy", "traffic"):
        assert "field" in kinds(changed(measured, path, DELETED)), path


@pytest.mark.parametrize("share", first(1, [5, 1]))
def test_every_field_of_many_records_that_is_removed_or_changed_is_found(share: int) -> None:
    """Of all of them, or of one in five."""
    missed: Counter[str] = Counter()
    records = small_records()[::share]
    assert len(records) >= 15 // share
    for record in records:
        assert findings(record, 2**19) == []
        for path in places(record.data):
            if is_unchecked(record, path):
                continue
            head = record.field(path)
            for value in (DELETED, other(head)):
                if value == head or (value is DELETED and head in (None, {})):  # it says the same as before
                    continue
                try:
                    edited = changed(record, path, value)
                except ValueError:  # not of its type, which the reading refuses
                    continue
                if not findings(edited, 2**19):
                    missed[f"{path} {'removed' if value is DELETED else 'changed'}"] += 1
    assert dict(missed) == {}


def test_a_cpu_has_a_limit_too(measured: Record) -> None:
    fast = least_bytes(measured) / CORE_BYTES_PER_S / 1000
    assert "time" in kinds(changed(measured, "samples_s.kernel", [fast] * 3))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("result.distances_sha256", "0" * 64),
        ("result.reached", 7),
        ("result.distance_max", 1),
        ("graph.digest", "0" * 32),
        ("graph.source", "rmat:8,seed=2"),
    ],
)
def test_a_changed_answer_is_found_out_by_solving_the_graph_here(measured: Record, path: str, value: Any) -> None:
    assert kinds(changed(measured, path, value), 10_000) - {"graph", "cell", "command", "result"} == {"answer"}


def test_a_changed_forest_is_found_out_where_the_graph_is_small_enough() -> None:
    wrong = changed(on_gpu(), "result.edges_sha256", "0" * 64)
    assert kinds(wrong, 10_000) == set()
    assert kinds(wrong, 2**20) == {"answer"}
    assert [one.kind for _, one in conflicts([on_gpu(), wrong])] == ["sampling", "answer"]


@pytest.mark.parametrize("sums", ["float32", "float64"])
def test_an_answer_is_compared_with_one_summed_in_the_type_that_its_record_says(sums: str) -> None:
    graph = "random:n=300,m=900,w=0.1..9.0,dtype=float32"
    record = run_cell(Cell("sssp", graph, device="cpu", source="3", repeat=3, sums=sums))
    assert "answer" not in kinds(record, 10_000)
    assert "answer" in kinds(changed(record, "result.distance_sum", record.shape.result["distance_sum"] + 1), 10_000)


def test_answers_differ_where_floats_are_summed_in_another_type_and_nowhere_else(measured: Record) -> None:
    def kinds_of(dtype: str, **result: object) -> list[str]:
        one, other = (changed(measured, "graph.weight_dtype", dtype) for _ in range(2))
        for name, value in {"distances_sha256": "0" * 64, **result}.items():
            other = changed(other, f"result.{name}", value)
        return [finding.kind for _, finding in conflicts([one, other]) if finding.kind == "answer"]

    assert kinds_of("float32", sums="float32") == []
    assert kinds_of("float32") == kinds_of("uint32", sums="float32") == ["answer"]


def test_more_threads_than_processors_and_another_processor_are_refused(measured: Record) -> None:
    assert kinds(changed(measured, "device.threads", 4096)) == {"device"}
    assert kinds(changed(measured, "device.name", "Another processor")) == {"device"}


def test_the_command_names_line_and_field_and_exits_with_1(measured: Record, tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    wrong = changed(measured, "result.distances_sha256", "0" * 64)
    path.write_text(f"{measured.to_json()}\n{wrong.to_json()}\n", "utf-8")
    outcome = run("check-record", path)
    assert outcome.code == 1
    assert "two.jsonl line 2: answer: distances_sha256" in outcome.out
    assert "line 1" not in outcome.out
    assert "2 records checked, 1 with findings" in outcome.out
    path.write_text(f"{measured.to_json()}\n", "utf-8")
    assert run("check-record", path).code == 0


def test_a_line_of_another_type_is_bad_input(measured: Record, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({**measured.data, "phases_s": {"kernel": "fast"}}) + "\n", "utf-8")
    outcome = run("check-record", path)
    assert outcome.code == 2
    assert "bad.jsonl line 1" in outcome.err


@pytest.mark.parametrize("name", ["evil.py", "./evil.py:driver"])
def test_a_record_has_no_file_of_code_loaded(name: str, measured: Record, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "evil.py").write_text("open('loaded', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    record = changed(measured, "algorithm", name)
    findings(record, 2**19)
    table(record)
    assert not (tmp_path / "loaded").exists()
