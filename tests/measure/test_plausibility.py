"""Changed records are found out, and our own are of clean commits and verified."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from gpugraph.measure.plausibility import CORE_BYTES_PER_S, GPUS, conflicts, findings, least_bytes
from gpugraph.measure.record import Record
from gpugraph.measure.record_file import read_record_file
from tests.cli.runner import run

RECORDS = sorted((Path(__file__).resolve().parents[2] / "docs" / "records").glob("*.jsonl"))


def changed(record: Record, path: str, value: Any) -> Record:
    """Return the record as somebody would have it who edits a field, ``"phases_s.kernel"`` for instance."""
    data = copy.deepcopy(record.data)
    *folders, name = path.split(".")
    place = data
    for folder in folders:
        place = place[folder]
    place[name] = value
    return Record.of(data, file=record.file, line=record.line)


def kinds(record: Record, most_edges: int = 0) -> set[str]:
    return {one.kind for one in findings(record, most_edges)}


def stored(stem: str, algorithm: str) -> Record:
    (path,) = [path for path in RECORDS if path.stem == stem]
    record = next(one for one in read_record_file(path).records if one.algorithm == algorithm)
    return changed(record, "environment.git_commit", "0123456789ab")


def on_gpu() -> Record:
    return stored("scales-h200", "boruvka")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Record:
    path = tmp_path_factory.mktemp("measured") / "run.jsonl"
    run("sssp", "rmat:8", "--source", 3, "--device", "cpu", "--repeat", 3, "--save", path)
    (record,) = read_record_file(path).records
    return changed(record, "environment.git_commit", "0123456789ab")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_our_own_records_are_of_clean_commits_and_verified(path: Path) -> None:
    for record in read_record_file(path).records:
        assert kinds(record) <= {"peer"}, findings(record)


def test_a_program_whose_version_is_not_recorded_is_reported_and_a_library_has_one() -> None:
    everything = [one for path in RECORDS for one in read_record_file(path).records]
    without = {one.algorithm for one in everything if "peer" in kinds(one)}
    assert {"peer:ecl-mst", "peer:gapbs"} <= without
    assert without.isdisjoint({"peer:scipy", "peer:cugraph", "peer:igraph", "peer:networkit", "peer:rustworkx"})


def test_all_our_records_of_a_query_have_one_answer() -> None:
    assert conflicts([one for path in RECORDS for one in read_record_file(path).records]) == []


def test_a_record_that_was_just_measured_is_believed(measured: Record) -> None:
    assert findings(measured, 10_000) == []


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
        ("result.tree_edges", 46805, "count"),
        ("verification.status", "failed", "verdict"),
        ("environment.git_commit", "0123456789ab+", "commit"),
        ("environment.git_commit", None, "commit"),
    ],
)
def test_a_changed_field_of_a_gpus_record_is_found_out(path: str, value: Any, kind: str) -> None:
    assert kinds(on_gpu()) == set()
    assert kind in kinds(changed(on_gpu(), path, value))


def test_times_that_agree_with_each_other_are_refused_if_no_memory_is_so_fast() -> None:
    record = on_gpu()
    fast = least_bytes(record) / GPUS["NVIDIA H200"].bytes_per_s / 100
    rate = record.data["mteps"]["count"] / fast / 1e6
    for path, value in [
        ("phases_s.kernel", fast),
        ("samples_s.kernel", [fast]),
        ("confidence_s.kernel", [fast, fast]),
        ("mteps.kernel", rate),
    ]:
        record = changed(record, path, value)
    assert [one.kind for one in findings(record)] == ["time"]
    assert "too short to move" in findings(record)[0].what


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
    assert kinds(changed(measured, path, value), 10_000) == {"answer"}


def test_a_changed_forest_is_found_out_where_the_graph_is_small_enough() -> None:
    wrong = changed(on_gpu(), "result.edges_sha256", "0" * 64)
    assert kinds(wrong, 10_000) == set()
    assert kinds(wrong, 10**6) == {"answer"}
    assert [one.kind for _, one in conflicts([on_gpu(), wrong])] == ["answer"]


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
