"""``gpugraph graph500``: its figures, its output, its files, and what it does with an invalid run."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gpugraph.base.errors import InputError, OutOfMemory, VerificationFailed
from gpugraph.ext.graph500 import on_cpu
from gpugraph.ext.graph500.benchmark import Run, statistics
from gpugraph.ext.graph500.checked import Found
from gpugraph.ext.graph500.cli import graph500
from gpugraph.ext.graph500.generator import generate, load, save, weights_file
from gpugraph.ext.graph500.on_cpu import validate
from gpugraph.records.record_file import read_record_file


def called(*words: str) -> str:
    """Return what the command writes to standard output."""
    result = CliRunner().invoke(graph500, ["-q", "--device", "cpu", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_statistics_are_those_of_the_reference() -> None:
    told = statistics([4, 1, 3, 2, 10])
    assert (told["min"], told["max"]) == (1, 10)
    assert (told["firstquartile"], told["median"], told["thirdquartile"]) == (2, 3, 4)
    assert told["mean"] == 4
    assert told["stddev"] == pytest.approx(np.std([4, 1, 3, 2, 10], ddof=1))
    assert statistics([1, 2, 3, 4])["firstquartile"] == 1.5


def test_rates_are_reciprocals_and_the_deviation_of_the_harmonic_mean_is_that_of_the_specification() -> None:
    times, tuples = [0.5, 0.25, 1.0, 0.125], [100, 100, 50, 25]
    run = Run(7, 0.1, 0.2, 128, 4000, [1, 2, 3, 4], times, tuples, [0.0] * 4)
    told = run.figures()
    slow = np.array(times) / np.array(tuples)
    assert told["sssp_harmonic_mean_TEPS"] == pytest.approx(1 / slow.mean())
    assert told["sssp_harmonic_stddev_TEPS"] == pytest.approx(slow.std(ddof=1) / (slow.mean() ** 2 * np.sqrt(3)))
    assert told["sssp_min_TEPS"] == pytest.approx(1 / slow.max())
    assert told["sssp_firstquartile_TEPS"] == pytest.approx(1 / np.mean(np.sort(slow)[2:4]))
    assert told["NBFS"] == 4
    lines = run.text().splitlines()
    assert lines[0] == "SCALE:                          7"
    assert "sssp harmonic_mean_TEPS:     !  123.077" in lines
    assert "mean_nedge:                     68.75" in lines


def test_the_command_prints_the_keys_of_the_reference_and_saves_a_record(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    lines = called("--scale", "8", "--save", str(file)).splitlines()
    keys = [line.partition(":")[0] for line in lines]
    assert keys[:7] == [
        *("SCALE", "edgefactor", "NBFS", "graph_generation", "num_mpi_processes", "construction_time"),
        "sssp min_time",
    ]
    assert len(keys) == 34
    (record,) = read_record_file(file).records
    assert record.verdict == "verified"
    assert record.data["graph500"]["SCALE"] == 8
    assert len(record.samples) == len(record.shape.per_source) == record.data["graph500"]["NBFS"] == 64
    assert record.shape.mteps.kernel == pytest.approx(record.data["graph500"]["sssp_harmonic_mean_TEPS"] / 1e6)


def test_an_edge_list_is_kept_and_reused_and_results_pass_the_validation(tmp_path: Path) -> None:
    edges = tmp_path / "edges"
    first = json.loads(called("--scale", "7", "--roots", "2", "--format", "json", "--keep", str(edges)))
    told = called("--scale", "7", "--roots", "2", "--format", "json", "--reuse", str(edges), "--results", str(tmp_path))
    assert json.loads(told)["mteps"]["count"] == first["mteps"]["count"]
    tuples = load(7, edges, None)
    for row in first["per_source"]:
        root = row["source"]
        parents = np.fromfile(tmp_path / f"{root}.parents", np.int64).astype(np.int32)
        distances = np.fromfile(tmp_path / f"{root}.distances", np.float32)
        assert validate(tuples, root, parents, distances) == Found(row["tuples"], None)
    words = np.fromfile(weights_file(edges), np.float32)
    np.testing.assert_array_equal(words, generate(7, None).weights)


def test_an_invalid_run_prints_no_result_and_exits_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = on_cpu.CpuMachine.search

    def wrong(machine: Any, root: int) -> None:
        search(machine, root)
        machine.distance[machine.distance > 0] *= 2

    monkeypatch.setattr(on_cpu.CpuMachine, "search", wrong)
    file = tmp_path / "runs.jsonl"
    result = CliRunner().invoke(graph500, ["-q", "--device", "cpu", "--scale", "7", "--save", str(file)])
    assert isinstance(result.exception, VerificationFailed)
    assert result.exception.exit_code == 1
    assert "of weight" in str(result.exception)
    assert result.stdout == ""
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--results", "nowhere"), "is no folder"),
        (("--reuse", "nowhere"), "cannot be read: no such file"),
        (("--keep", "same", "--reuse", "same"), "to be read and to be written"),
        (("--keep", "same.weights", "--reuse", "same"), "to be read and to be written"),
        (("--keep", "same", "--save", "same.weights"), "for the edge list and for the record"),
        (("--keep", "-"), "two files"),
        (("--keep", "nowhere/edges"), "nowhere"),
        (("--save", "nowhere/runs.jsonl"), "nowhere"),
    ],
)
def test_paths_that_cannot_be_used_are_refused_before_any_work(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(graph500, ["-q", "--device", "cpu", "--scale", "6", *words])
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
    assert not list(tmp_path.iterdir())


def test_a_file_that_holds_no_records_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "runs.jsonl").write_text("an edge list\n")
    monkeypatch.setattr("gpugraph.ext.graph500.benchmark.run", lambda *_, **__: pytest.fail("it has run"))
    result = CliRunner().invoke(graph500, ["-q", "--device", "cpu", "--scale", "6", "--save", str(file)])
    assert isinstance(result.exception, InputError)
    assert "is no record" in str(result.exception)
    assert file.read_text() == "an edge list\n"


def test_an_edge_list_that_memory_does_not_hold_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.base.host.available_memory", lambda: 2**28 - 1)
    with pytest.raises(OutOfMemory, match="needs about 256 MiB"):
        generate(20, None)


def test_a_folder_in_place_of_the_weights_is_no_edge_list(tmp_path: Path) -> None:
    save(generate(6, None), tmp_path / "edges", None)
    weights_file(tmp_path / "edges").unlink()
    weights_file(tmp_path / "edges").mkdir()
    for folder in (tmp_path / "edges", tmp_path):
        result = CliRunner().invoke(graph500, ["-q", "--device", "cpu", "--scale", "6", "--reuse", str(folder)])
        assert isinstance(result.exception, InputError)
        assert "is no regular file" in str(result.exception)


def test_an_edge_list_of_loops_alone_is_refused(tmp_path: Path) -> None:
    tuples = generate(5, None)
    tuples.edges[1::3] = tuples.edges[::3]
    save(tuples, tmp_path / "edges", None)
    result = CliRunner().invoke(graph500, ["-q", "--device", "cpu", "--scale", "5", "--reuse", str(tmp_path / "edges")])
    assert isinstance(result.exception, InputError)
    assert "no vertex has an edge to another one" in str(result.exception)


@pytest.mark.parametrize("limit", [0, 3000])
def test_where_no_file_may_grow_results_and_kept_edges_are_an_error_and_old_files_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    edges = tmp_path / "edges"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python 3.11 would keep what the limit leaves of it
    for path in (edges, weights_file(edges)):
        path.write_bytes(b"old")
    before, found = resource.getrlimit(resource.RLIMIT_FSIZE), []
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        for words in (("--results", str(tmp_path)), ("--keep", str(edges))):
            words = ("-q", "--device", "cpu", "--scale", "9", "--roots", "1", *words)
            found.append(CliRunner().invoke(graph500, words).exception)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [type(error) for error in found] == [InputError, InputError]
    assert all("cannot be written: file too large" in str(error) for error in found)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"edges": b"old", "edges.weights": b"old"}
