from __future__ import annotations

import os
import random
import re

import pytest

from tests.cli.runner import refuse, run, succeed
from tests.report.sweep import cell, unfinished, write


def folder_of(tmp_path, factors):
    """Return a folder with a run for each factor on the times, in another order by name than by time."""
    draws = random.Random(1)
    for i, factor in enumerate(factors):
        record = cell("mst", "kruskal", "cpu", 16)
        samples = [factor * draws.uniform(0.0100, 0.0102) for _ in range(40)]
        record |= {"samples_s": {"kernel": samples}, "time": f"2026-01-{i + 1:02}T00:00:00+00:00"}
        record["phases_s"] = {**record["phases_s"], "kernel": sorted(samples)[20]}
        record["provenance"] = {"commit": f"{i}{'a' * 39}"}
        write([record], tmp_path / f"{9 - i}.jsonl")
    return tmp_path


def test_the_first_commit_that_made_a_cell_slower_is_named_with_exit_4(tmp_path):
    outcome = run("history", folder_of(tmp_path, [1.0, 1.01, 1.5, 1.5]))
    assert outcome.code == 4
    assert "slower since commit 2aaaaaaaaa" in outcome.err
    assert outcome.out.count("slower at commit") == 1


def test_a_step_down_is_shown_and_is_no_error(tmp_path):
    out = succeed("history", folder_of(tmp_path, [1.0, 0.5])).out
    assert "faster at commit 1aaaaaaaaa" in out


def test_equal_runs_have_no_step_and_one_run_no_history(tmp_path):
    assert "at commit" not in succeed("history", folder_of(tmp_path, [1.0, 1.0, 1.0])).out
    for name in ("7", "8"):
        (tmp_path / f"{name}.jsonl").unlink()
    (tmp_path / "latest.jsonl").symlink_to("9.jsonl")
    assert "fewer than two" in refuse(2, "history", tmp_path)


def test_a_cell_that_never_had_a_time_is_shown_with_its_reason(tmp_path):
    for day in "12":
        rows = [cell("mst", "kruskal", "cpu", 16), unfinished("mst", "boruvka", "cuda", 20, "threw", "out of luck")]
        write([row | {"time": f"2026-01-0{day}T00:00:00+00:00"} for row in rows], tmp_path / f"{day}.jsonl")
    assert re.search(r"mst rmat:20 by boruvka on .* out of luck\n", succeed("history", tmp_path).out)


def test_two_files_without_a_common_cell_are_named(tmp_path):
    folder = folder_of(tmp_path, [1.0])
    write([cell("sssp", "dijkstra", "cpu", 12)], folder / "other.jsonl")
    told = refuse(2, "history", folder)
    assert "other.jsonl" in told
    assert "9.jsonl" in told
    assert "no cell in common" in told


@pytest.mark.parametrize("kind", ["pipe", "folder", "dangling link"])
def test_what_is_no_file_of_records_is_named_and_not_waited_for(tmp_path, kind):
    folder_of(tmp_path, [1.0, 1.0])
    made = {"pipe": os.mkfifo, "folder": os.mkdir, "dangling link": lambda path: os.symlink("nowhere", path)}
    made[kind](tmp_path / "0.jsonl")
    assert "0.jsonl: is no file of records" in refuse(2, "history", tmp_path)


def test_a_folder_that_is_none_is_named(tmp_path):
    assert "nowhere: cannot be read" in refuse(2, "history", tmp_path / "nowhere")
