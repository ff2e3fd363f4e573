"""Does compare tell noise from change?  The machinery of asking that, on the CPU: not the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.runner import refuse, run
from tests.tiers import extended

HELD_UP = Path(__file__).resolve().parents[1] / "docs" / "examples" / "held_up.py"
SMALL = ("--sweep", "selftest", "--set", "device=cpu", "--set", "problem=mst", "--set", "graph=path:500")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


TICKS = """
import itertools

ticks = itertools.count()
time.perf_counter = lambda: next(ticks) * 1e-8
"""
"""A clock that goes on by 10 ns each time that it is read: other programs take none of its time."""


@extended
def test_a_planted_slow_down_is_found_in_the_cell_that_was_held_up(folder, monkeypatch):
    (folder / "held_up.py").write_text(HELD_UP.read_text(encoding="utf-8") + TICKS, encoding="utf-8")
    words = ("bench", *SMALL, "--set", "algorithm=held_up.py:on_cpu,boruvka")
    assert run(*words, "--save", "base.jsonl").code == 0
    monkeypatch.setenv("HELD_UP", "1e-4")
    assert run(*words, "--save", "new.jsonl").code == 0
    compared = run("compare", "base.jsonl", "new.jsonl", "--format", "json")  # a table's columns depend on names
    assert compared.code == 4
    verdicts = {cell["algorithm"]: cell["verdict"] for cell in json.loads(compared.out)["cells"]}
    assert verdicts == {"boruvka": "same", "boruvka-held-up": "slower"}


@extended
def test_a_sweep_may_be_run_several_times_each_compared_with_the_one_before(folder):
    words = ("bench", *SMALL, "--set", "algorithm=boruvka", "--set", "sampling.max_samples=5", "--runs", "3")
    words += ("--set", "sampling.min_samples=5")
    outcome = run(*words, "--save", "r.jsonl")
    assert {path.name for path in folder.glob("*.jsonl")} == {"r-1.jsonl", "r-2.jsonl", "r-3.jsonl"}
    assert "r-2.jsonl against r-1.jsonl: 1 cell: 1 " in outcome.out
    assert "r-3.jsonl against r-2.jsonl: 1 cell: 1 " in outcome.out
    assert outcome.code == (4 if "1 cell: 1 slower" in outcome.out else 0)
    again = run(*words, "--save", "r.jsonl", "--resume")
    assert again.code == outcome.code
    assert "finished before: 1 cell" in again.err
    assert "r-1.jsonl" in refuse(2, *words, "--save", "r.jsonl")
    assert "--runs needs files" in refuse(2, *words)


@pytest.mark.parametrize("save", ["/dev/null", "folder.jsonl"])
def test_the_files_of_several_runs_are_named_after_a_file(folder, save):
    (folder / "folder.jsonl").mkdir()
    assert "is no file" in refuse(2, "bench", *SMALL, "--runs", "2", "--save", save)
    assert [path.name for path in folder.iterdir()] == ["folder.jsonl"]
