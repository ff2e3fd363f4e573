from __future__ import annotations

import json

import pytest

from tests.cli.runner import refuse, run, succeed
from tests.measure.test_compare import timed
from tests.report.canned import failed, mst_record, sssp_record
from tests.report.sweep import write


@pytest.fixture
def files(tmp_path):
    steady = [1e-3 + 1e-6 * i for i in range(20)]
    base = [timed(mst_record(), steady), timed(sssp_record(), steady)]
    slow = [timed(mst_record(), [1.4 * t for t in steady]), base[1]]
    broken = [failed(), base[1]]
    for name, records in (("base", base), ("slow", slow), ("broken", broken)):
        write(records, tmp_path / f"{name}.jsonl")
    return tmp_path


def test_equal_runs_exit_0_and_say_that_they_are_the_same(files):
    shown = succeed("compare", files / "base.jsonl", files / "base.jsonl").out
    assert "2 cells: 2 same" in shown
    assert "1.000 (" in shown
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_a_slower_run_exits_4_after_it_was_shown(files):
    words = ("compare", files / "base.jsonl", files / "slow.jsonl")
    line = refuse(4, *words)
    assert "1 cell regressed; mst rmat:16 by boruvka on NVIDIA H200: slower, 1.400 times the time" in line
    shown = run(*words).out
    assert "2 cells: 1 slower, 1 same" in shown
    assert "1.400" in shown
    succeed("compare", *words[1:], "--threshold", "50%")
    succeed("compare", files / "slow.jsonl", files / "base.jsonl")


def test_a_cell_that_no_longer_succeeds_is_a_regression_of_its_own_kind(files):
    words = ("compare", files / "base.jsonl", files / "broken.jsonl")
    assert "broken, failed: edge 3-9 is missing" in refuse(4, *words)
    assert "failed: edge 3-9 is missing" in run(*words).out


def test_json_and_markdown_carry_the_same_verdicts(files):
    words = ("compare", files / "base.jsonl", files / "slow.jsonl", "--format")
    found = json.loads(run(*words, "json").out)
    assert (found["regressions"], [cell["verdict"] for cell in found["cells"]]) == (1, ["slower", "same"])
    assert found["cells"][0]["ratio"] == pytest.approx(1.4)
    assert found["cells"][0]["samples"] == [20, 20]
    lines = run(*words, "markdown").out.splitlines()
    assert lines[2].endswith("| **slower** |")
    assert {line.count("|") for line in lines[:4]} == {10}


def test_a_cell_that_only_one_run_has_is_named(files):
    write([mst_record()], files / "one.jsonl")
    shown = run("compare", files / "base.jsonl", files / "one.jsonl").out
    assert "sssp rmat:16 by dijkstra on NVIDIA H200: not in NEW" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"problem": 3}\n{"problem": "mst"}\n', "bad.jsonl line 1: is no record: 'problem': expected 'str'"),
        ("\nnonsense\n\n", "bad.jsonl line 2"),
        ("[1, 2]\n", "it is no JSON object"),
        ("", "holds no record"),
        ('{"schema": 2}\n', "its schema is 2"),
        ('{"problem": "mst", "algorithm": "a", "outcome": "fine"}\n', "'outcome': unknown value 'fine'"),
        (
            '{"problem": "mst", "algorithm": "a", "samples_s": {"kernel": ["x"]}, "phases_s": {"kernel": 1}}\n',
            "no number",
        ),
        ("[" * 100_000, "line 1"),
    ],
)
def test_a_file_that_is_none_of_records_is_refused_with_its_line(files, content, reason):
    (files / "bad.jsonl").write_text(content)
    assert reason in refuse(2, "compare", files / "bad.jsonl", files / "base.jsonl")


BAD_LINES = [
    '{"problem": "mst", "alg',
    "nonsense",
    '{"algorithm": "a"}',
    '{"problem": "mst"}',
    "\xff",
    "[" * 10**5,
    "\0",
]


@pytest.mark.parametrize("words", [("compare",), ("report",), ("plot", "--x", "algorithm", "-o", "out.svg")])
def test_a_line_that_is_no_record_is_named_and_the_others_are_read(files, words, monkeypatch):
    monkeypatch.chdir(files)
    good = (files / "base.jsonl").read_text()
    (files / "bad.jsonl").write_text("\n".join(BAD_LINES) + "\n" + good, "latin-1")
    outcome = succeed(*words, "bad.jsonl", *(["base.jsonl"] if words == ("compare",) else []))
    for number in range(1, len(BAD_LINES) + 1):
        assert f"bad.jsonl line {number} is left out: it is no record" in " ".join(outcome.err.split())
    (files / "bad.jsonl").write_text(good + "no\n" * 100)
    assert "90 more lines are left out" in " ".join(succeed("report", "bad.jsonl").err.split())


def test_a_threshold_without_a_sign_of_per_cent_is_read_as_a_target_is(files):
    for given, shown in (("5", "5 %"), ("0.05", "5 %"), ("1", "1 %"), ("500%", "500 %")):
        words = ("compare", files / "base.jsonl", files / "base.jsonl", "--threshold", given)
        assert f"threshold {shown}" in " ".join(succeed(*words).out.split())


def test_what_cannot_be_compared_is_refused(files):
    assert "nowhere.jsonl" in refuse(2, "compare", files / "nowhere.jsonl", files / "base.jsonl")
    assert "write 5% or 0.05" in refuse(2, "compare", files / "base.jsonl", files / "base.jsonl", "--threshold", "low")
    words = ("compare", files / "base.jsonl", "--by", "algorithm", "--threshold", "3%")
    assert "--threshold is for two runs" in refuse(2, *words)
    for low in ("0", "-1"):
        assert "no share above 0" in refuse(2, "history", files, "--threshold", low)
    write([mst_record(algorithm="other")], files / "other.jsonl")
    assert "no cell in common" in refuse(2, "compare", files / "base.jsonl", files / "other.jsonl")


def test_the_last_line_of_a_run_that_was_killed_is_left_out_and_said(files):
    path = files / "base.jsonl"
    path.write_text(path.read_text() + '{"problem": "ms')
    outcome = succeed("compare", path, path)
    assert "line 3 is cut off and left out" in outcome.err
    assert "2 cells" in outcome.out
