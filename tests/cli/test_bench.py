"""``gpugraph bench`` as a user meets it."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpugraph.base.quantities import in_seconds, parse_seconds
from gpugraph.bench import store
from gpugraph.bench.run import Runner
from gpugraph.bench.worker import describe_device
from gpugraph.cli.bench import _again
from gpugraph.cli.options import defaults
from gpugraph.measure.environment import command_line
from tests.cli.runner import refuse, run, succeed
from tests.stored import read_records
from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]

PLUGINS = """
import os, time
import numpy as np
from gpugraph.problems.mst.cpu_kruskal import kruskal

def right(view, clock):
    return kruskal(view, clock)

def wrong(view, clock):
    return np.zeros(0, np.int64)

def throws(view, clock):
    raise ValueError("no idea")

def exhausts(view, clock):
    raise MemoryError

def dies(view, clock):
    os.abort()

def hangs(view, clock):
    time.sleep(1000)
"""

SWEEP = """
title = "a test"
[axes]
graph = "path:{n}"
n = [30, 40]
device = "cpu"
algorithm = [ALGORITHMS]
[limits]
time = "300s"
[sampling]
min_samples = 3
max_samples = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(PLUGINS)
    return tmp_path


HANGING = """
[[block]]
[[block]]
axes = { algorithm = "./mine.py:hangs" }
limits = { time = "2s" }
"""
"""Behind a sweep: something that hangs, which alone waits for its time limit, and so alone has a short one."""


def write_sweep(folder: Path, *algorithms: str, behind: str = "") -> None:
    """Write t.toml."""
    named = ", ".join(f'"{name}"' for name in algorithms)
    (folder / "t.toml").write_text(SWEEP.replace("ALGORITHMS", named) + behind)


def outcomes(path: str) -> dict[str, str]:
    return {f"{r['cell']['axes']['algorithm']} {r['graph']['name']}": r["outcome"] for r in read_records(path)}


def test_every_way_a_cell_can_end_is_a_row_that_says_so_and_the_sweep_goes_on(folder):
    names = ("right", "wrong", "throws", "exhausts", "dies", "hangs")
    write_sweep(folder, "kruskal", *(f"./mine.py:{name}" for name in names[:-1]), behind=HANGING)
    outcome = run("bench", "--sweep", "t.toml", "--save", "r.jsonl")
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].startswith("gpugraph: error: mst by mine:wrong on path:30: ")
    told = outcomes("r.jsonl")
    assert [told[f"./mine.py:{name} path:30"] for name in names] == [
        "ok", "wrong", "threw", "out of memory", "died", "timeout",
    ]  # fmt: skip
    assert [told[f"./mine.py:{name} path:40"] for name in names] == [
        "ok", "wrong", "threw", "skipped", "skipped", "skipped",
    ]  # fmt: skip
    assert told["kruskal path:30"] == "ok"
    sums = "14 cells: 4 verified, 3 skipped, 2 threw, 2 wrong, 1 died, 1 out of memory, 1 timeout"
    assert sums in outcome.out.splitlines()
    assert "Traceback" not in outcome.err
    named = {r["algorithm"] for r in read_records("r.jsonl")}
    assert named == {"kruskal", "./mine.py:dies", "./mine.py:hangs"} | {
        f"mine:{name}" for name in ("right", "wrong", "throws", "exhausts")
    }
    for record in read_records("r.jsonl"):
        assert (record["mteps"]["kernel"] is None) == (record["outcome"] != "ok")
        assert record["environment"]["command"] == command_line()


@extended
def test_a_file_that_changed_or_an_algorithm_that_did_is_measured_again(folder):
    succeed("generate", "path:9", "-o", "g.csr")
    write_sweep(folder, "./mine.py:right")
    words = ("bench", "--sweep", "t.toml", "--axis", "graph=g.csr", "--save", "r.jsonl")
    succeed(*words)
    first = read_records("r.jsonl")
    os.utime("g.csr", ns=(1, 1))  # the same content under another date: the worker compares digests
    assert "[1/1]" not in succeed(*words, "--resume").err
    assert read_records("r.jsonl") == first
    (folder / "mine.py").write_text(PLUGINS + "\n# changed\n")
    assert "[1/1]" in succeed(*words, "--resume").err


def test_list_shows_cells_and_memory_and_dry_run_shows_prices_and_neither_writes(folder):
    write_sweep(folder, "kruskal", "filter-boruvka")
    listed = succeed("bench", "--sweep", "t.toml", "--list").out
    header = ["problem", "algorithm", "device", "graph", "vertices", "arcs", "host", "on", "device"]
    assert listed.splitlines()[0].split() == header
    assert "2 cells" in listed
    assert "left out, 2: filter-boruvka does not run on cpu" in listed
    priced = succeed("bench", "--sweep", "t.toml", "--dry-run", "--budget", "0.4s").out
    assert "skipped: budget" in priced
    assert "of the budget of 0.4 s" in priced
    assert sorted(p.name for p in folder.iterdir()) == ["mine.py", "t.toml"]


def test_without_a_name_the_file_is_dated_and_resume_finds_the_newest(folder):
    write_sweep(folder, "kruskal")
    out = succeed("bench", "--sweep", "t.toml", "--quiet")
    assert out.err == ""
    (path,) = folder.glob("t-*.jsonl")
    assert f"{path.name}: 2 records — gpugraph report {path.name} -o report.html" in out.out
    assert "finished before: 2 cells" in succeed("bench", "--sweep", "t.toml", "--resume").err


def test_a_peer_runs_beside_on_the_same_graph_and_is_verified_too(folder):
    write_sweep(folder, "kruskal")
    succeed("bench", "--sweep", "t.toml", "--axis", "n=30", "--peer", "scipy", "--save", "r.jsonl")
    assert set(outcomes("r.jsonl").values()) == {"ok"}
    assert {r["verification"]["status"] for r in read_records("r.jsonl")} == {"passed"}
    assert len(read_records("r.jsonl")) == 2


@extended
def test_a_peer_whose_device_is_not_there_is_a_row_that_says_so(folder):
    write_sweep(folder, "kruskal")
    missing = "nowhere = {command = 'x {graph.egr}', time = '(.)', device = 'cuda'}"
    words = ("bench", "--sweep", "t.toml", "--axis", "n=30", "--peer", "nowhere", "--peer-command", missing)
    if "unavailable" not in describe_device("cuda"):
        pytest.skip("there is a GPU here")
    assert "mst by peer:nowhere on path:30: refused: " in refuse(2, *words, "--save", "r.jsonl")
    assert outcomes("r.jsonl") == {"kruskal path:30": "ok", "peer:nowhere path:30": "refused"}
    refused = next(r for r in read_records("r.jsonl") if r["outcome"] == "refused")
    assert refused["message"].startswith("nowhere runs on 'cuda': ")
    assert refused["device"]["kind"] == "cuda"
    assert "finished before: 2 cells" in run(*words, "--save", "r.jsonl", "--resume").err
    assert "peer:nowhere" in succeed(*words, "--list").out


def test_a_record_carries_the_command_line_of_its_user(folder, monkeypatch):
    write_sweep(folder, "kruskal")
    monkeypatch.setattr(sys, "argv", [str(ROOT / "gpugraph" / "__main__.py"), "bench", "--sweep", "t.toml"])
    succeed("bench", "--sweep", "t.toml", "--axis", "n=30", "--save", "r.jsonl")
    (record,) = read_records("r.jsonl")
    assert record["environment"]["command"] == ["python", "-m", "gpugraph", "bench", "--sweep", "t.toml"]


def test_the_default_budget_is_that_of_the_configuration(folder):
    write_sweep(folder, "kruskal")
    assert (
        f"budget of {in_seconds(parse_seconds(defaults().budget))}"
        in succeed("bench", "--sweep", "t.toml", "--dry-run").out
    )
    assert "budget of 7.0 s" in succeed("bench", "--sweep", "t.toml", "--dry-run", "--budget", "7").out


def test_the_shipped_sweeps_are_listed_with_their_titles():
    told = succeed("bench", "--sweeps").out
    listed = [line.split()[0] for line in told.splitlines()]
    assert listed[:6] == ["families", "scales", "selftest", "smoke", "sources", "weights"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--sweep", "smokes"), "did you mean 'smoke'?"),
        (("--budget", "lots"), "--budget: 'lots' is no length of time"),
        (("--axis", "scal"), "is not NAME=VALUES"),
        (("--axis", "grph=path:4"), "did you mean 'graph'?"),
        (("--save", "no/folder/r.jsonl"), "its folder does not exist"),
        (("--peer", "scypi"), "unknown peer 'scypi' — did you mean 'scipy'?"),
    ],
)
def test_bad_usage_is_reported_in_one_line(folder, words, what):
    assert what in refuse(2, "bench", *words)


def test_an_axis_after_set_is_the_older_spelling_of_axis(folder):
    write_sweep(folder, "kruskal")
    new, old = (succeed("bench", "--sweep", "t.toml", how, "n=30", "--list").out for how in ("--axis", "--set"))
    assert "path:30" in new
    assert new == old


@extended
def test_a_device_and_a_title_of_ones_own_take_the_place_of_the_sweeps(folder):
    write_sweep(folder, "kruskal")
    words = ("bench", "--sweep", "t.toml", "--device", "cpu", "--title", "My laptop", "--save", "r.jsonl")
    assert "of 'My laptop' go" in succeed(*words).err
    assert {record["device"]["kind"] for record in read_records("r.jsonl")} == {"cpu"}
    assert "cells of 'path:9' go to bench-" in succeed("bench", "--axis", "graph=path:9", "--device", "cpu").err


@extended
def test_the_table_of_a_bench_that_goes_on_has_the_cells_of_before_too(folder):
    words = ("--algo", "kruskal@cpu", "--max-seconds", "0.1", "--save", "r.jsonl")
    succeed("bench", "path:9", *words)
    out = succeed("bench", "path:9", "path:12", *words, "--resume").out
    assert "path:9" in out
    assert "path:12" in out
    assert "2 cells: 2 verified" in out


@extended
def test_the_report_command_at_the_end_makes_a_page(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    words = ("bench", "path:9", "--algo", "kruskal@cpu", "--max-seconds", "0.1", "--save", "r.jsonl")
    last = succeed(*words).out.splitlines()[-1]
    assert last.endswith("gpugraph report r.jsonl -o report.html")
    succeed(*last.partition("gpugraph ")[2].split())
    assert Path("report.html").is_file()


def test_claims_of_a_paper_that_need_a_gpu_are_counted_and_a_small_bench_is_offered(folder):
    words = ("bench", "--sweep", "papers/wang2011", "--device", "cpu", "--axis", "n=64", "--max-seconds", "0.1")
    out = succeed(*words).out
    shown = " ".join(out.split())
    assert "20 claims not judged: needs a GPU" in shown
    assert "no such cell" not in out
    assert "What needs none, in a minute: gpugraph bench --sweep papers/wang2011 --laptop" in shown


def test_a_file_beside_is_named_where_a_sweep_is_unknown(folder):
    write_sweep(folder, "kruskal")
    assert "write --sweep t.toml" in refuse(2, "bench", "--sweep", "t")


def test_a_device_that_is_not_there_is_named(folder):
    write_sweep(folder, "kruskal")
    line = refuse(3, "bench", "--sweep", "t.toml", "--axis", "device=cuda:77")
    assert "cuda" in line.lower()
    for words in (("bench", "path:4"), ("mst", "path:4")):
        assert refuse(3, *words, "--algo", "filter-boruvka@cuda:77,boruvka-scan@cuda:77") == line
    assert "change the algorithms, devices or rules" in refuse(2, "bench", "path:4", "--algo", "kruskal@emulated")


SPIN = """
extern "C" __global__ void spin(volatile unsigned* flag) { while (flag[0] == 0) { } }
"""

SPINNING = """
from collections.abc import Iterator
from pathlib import Path
import numpy as np

class Driver:
    problem = "mst"
    devices = ("cuda",)

    def prepare(self, view, device):
        flag = device.empty(1, np.uint32)
        device.fill(flag, 0)
        return device, device.kernel(str(Path(__file__).with_suffix(".cu")), "spin"), flag

    def run(self, state, clock):
        device, kernel, flag = state
        kernel(1, 32, (flag,))
        device.synchronize()
        return flag

driver = Driver()
"""


@pytest.mark.gpu
def test_a_kernel_that_hangs_is_ended_and_the_gpu_serves_the_cells_after_it(folder):
    (folder / "spin.py").write_text(SPINNING)
    (folder / "spin.cu").write_text(SPIN)
    write_sweep(folder, "boruvka", "./spin.py:driver", "filter-boruvka")
    words = ("--axis", "device=cuda", "--axis", "limits.time=15s", "--save", "r.jsonl")
    succeed("bench", "--sweep", "t.toml", *words)
    told = outcomes("r.jsonl")
    assert [told[f"{name} path:30"] for name in ("boruvka", "./spin.py:driver", "filter-boruvka")] == [
        "ok", "timeout", "ok",
    ]  # fmt: skip
    assert told["./spin.py:driver path:40"] == "skipped"


@pytest.mark.gpu
def test_the_smoke_sweep_runs_on_the_gpu(folder):
    succeed("bench", "--sweep", "smoke", "--axis", "device=cuda", "--save", "r.jsonl")
    assert {r["device"]["kind"] for r in read_records("r.jsonl")} == {"cuda"}
    assert set(outcomes("r.jsonl").values()) == {"ok"}


def test_ctrl_c_exits_130_and_says_how_to_go_on(folder):
    write_sweep(folder, "kruskal", "./mine.py:hangs")
    words = [sys.executable, "-m", "gpugraph", "bench", "--sweep", "t.toml", "--save", "r.jsonl"]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert process.stderr is not None
    while "go to r.jsonl" not in process.stderr.readline():
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "go on with: gpugraph bench --sweep t.toml --save r.jsonl --resume" in err
    assert err.splitlines()[-1] == "gpugraph: interrupted"


@pytest.mark.parametrize(
    ("words", "again"),
    [
        ("bench g --resume", "bench g --save r.jsonl --resume"),
        ("--debug bench g --save=r.jsonl", "bench g --save=r.jsonl --resume"),
        ("bench --algo prim -- -g", "bench --algo prim --save r.jsonl --resume -- -g"),
        ("mst g", "bench --sweep s --save r.jsonl --resume"),
    ],
)
def test_the_command_that_goes_on_has_its_options_before_the_graphs(words, again, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["gpugraph", *words.split()])
    assert _again("s", "r.jsonl") == f"gpugraph {again}"


def test_an_interrupted_bench_counts_its_own_cells_in_the_file_and_none_of_other_commands(folder, monkeypatch):
    write_sweep(folder, "kruskal", "prim")
    words = ("bench", "--sweep", "t.toml", "--save", "r.jsonl")
    succeed(*words, "-q")

    def interrupted(self: Runner, *group: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "_run_group", interrupted)
    left = run(*words, "--resume", "--axis", "n=30,50")
    assert left.code == 130
    assert "2 of 4 cells are in r.jsonl; go on with" in left.err
    left = run(*words, "--resume", "--axis", "n=50", "--axis", "algorithm=prim")
    assert "0 of 1 cell are in r.jsonl; go on with" in left.err


def test_a_cell_that_the_budget_cut_short_is_measured_again_by_resume_which_says_so(folder, monkeypatch):
    write_sweep(folder, "kruskal")
    words = ("bench", "--sweep", "t.toml", "--axis", "n=30", "--save", "r.jsonl")
    succeed(*words, "--budget", "0.000001s")
    (cut,) = read_records("r.jsonl")
    assert (cut["sampling"]["stopped_by"], len(cut["samples_s"]["kernel"])) == ("budget", 1)
    again = succeed(*words, "--resume").err
    assert "1 cell had too few samples: measured again" in again
    (whole,) = read_records("r.jsonl")
    assert len(whole["samples_s"]["kernel"]) == 3
    assert "finished before: 1 cell" in succeed(*words, "--resume").err


@extended
def test_samples_spread_over_processes_are_one_record_with_all_of_them(folder):
    write_sweep(folder, "kruskal")
    words = ("bench", "--sweep", "t.toml", "--axis", "n=30", "--processes", 3, "--save", "r.jsonl")
    succeed(*words, "--axis", "sampling.max_samples=6")
    (record,) = read_records("r.jsonl")
    assert record["sampling"]["processes"] == [2, 2, 2]
    assert len(record["samples_s"]["kernel"]) == len(record["samples_s"]["d2h"]) == 6
    assert record["phases_s"]["kernel"] == statistics.median(record["samples_s"]["kernel"])
    low, high = record["confidence_s"]["kernel"]
    assert low <= record["phases_s"]["kernel"] <= high
    assert (record["sampling"]["min_samples"], record["sampling"]["max_samples"]) == (3, 6)
    assert record["kernel_phases_s"]
    assert "cannot be spread over 9 processes" in refuse(2, *words[:-4], "--processes", 9)


@extended
def test_samples_of_several_sources_stand_source_by_source_whatever_process_took_them(folder):
    axes = ("problem=sssp", "source=random:3", "graph=rmat:7", "algorithm=dijkstra")
    words = [word for axis in axes for word in ("--axis", axis)]
    write_sweep(folder, "kruskal")
    (folder / "t.toml").write_text((folder / "t.toml").read_text().replace("max_samples = 3", "max_samples = 4"))
    succeed("bench", "--sweep", "t.toml", *words, "--processes", 2, "--save", "r.jsonl")
    (record,) = read_records("r.jsonl")
    assert record["sampling"]["processes"] == [2, 2]
    samples = record["samples_s"]["kernel"]
    assert len(samples) == 3 * 4
    middles = [statistics.median(samples[4 * i : 4 * i + 4]) for i in range(3)]
    assert [run["kernel_s"] for run in record["per_source"]] == middles


def test_a_file_that_is_no_store_is_refused_before_anything_runs_and_stays(folder):
    write_sweep(folder, "kruskal")
    for content in ("notes", "notes\n", '{"a": 1}\n'):
        (folder / "notes.txt").write_text(content)
        for more in ((), ("--resume",), ("--retry",), ("--resume", "--list")):
            words = ("bench", "--sweep", "t.toml", "--save", "notes.txt", *more)
            assert "notes.txt line 1: is no record" in refuse(2, *words)
        assert "notes.txt line 1: is no record" in refuse(2, "mst", "path:9", "--save", "notes.txt")
        assert (folder / "notes.txt").read_text() == content


@extended
def test_a_bench_that_goes_on_reads_its_file_once(folder, monkeypatch):
    write_sweep(folder, "kruskal")
    succeed("bench", "--sweep", "t.toml", "--save", "r.jsonl")
    read, paths = store.read_record_file, []
    monkeypatch.setattr(store, "read_record_file", lambda path, **how: paths.append(path) or read(path, **how))
    assert "finished before: 2 cells" in succeed("bench", "--sweep", "t.toml", "--save", "r.jsonl", "--resume").err
    assert paths == ["r.jsonl"]


@extended
def test_a_graph_whose_name_is_no_utf_8_is_measured_saved_and_gone_on_with(folder):
    write_sweep(folder, "kruskal")
    name = os.fsdecode(b"caf\xe9.gr")
    try:
        Path(name).write_text("p sp 3 2\na 1 2 3\na 2 3 1\n")
    except OSError:
        pytest.skip("file names here are UTF-8")
    words = ("bench", "--sweep", "t.toml", "--axis", f"graph={name}", "--save", "r.jsonl")
    succeed(*words)
    assert "finished before: 1 cell" in succeed(*words, "--resume").err
    succeed("mst", name, "--save", "r.jsonl", "--device", "cpu")
    assert [record["graph"]["name"] for record in read_records("r.jsonl")] == ["caf\\udce9"] * 2


@extended
def test_what_a_plugin_marks_on_its_clock_cannot_spoil_the_file(folder):
    (folder / "mine.py").write_text(
        "from gpugraph.problems.mst.cpu_kruskal import kruskal\n"
        "def back(view, clock):\n    clock.add_seconds('x', -5.0)\n    return kruskal(view, clock)\n"
    )
    write_sweep(folder, "./mine.py:back", "kruskal")
    succeed("bench", "--sweep", "t.toml", "--save", "r.jsonl", "--axis", "n=30")
    assert outcomes("r.jsonl") == {"./mine.py:back path:30": "refused", "kruskal path:30": "ok"}


def test_a_bench_shows_its_tables_and_ends_with_4_where_an_expectation_is_not_met(folder):
    write_sweep(folder, "kruskal", "boruvka")
    asked = (
        (folder / "t.toml").read_text()
        + """
[[table]]
title = "side by side"
each = { algorithm = "kruskal" }
with.other = { algorithm = "boruvka" }
columns = { graph = "graph", rounds = "other.rounds", times = "kernel / other.kernel" }
[[expect]]
text = "a path is large"
value = "vertices"
LIMIT
"""
    )
    for limit, code, verdict in (("least = 35", 4, "no "), ("least = 30", 0, "yes "), ("stated = 30", 0, "yes, more ")):
        (folder / "t.toml").write_text(asked.replace("LIMIT", limit + ("\nwhere = 'section 1'" * (limit[0] == "s"))))
        outcome = run("bench", "--sweep", "t.toml", "--save", f"{code}{limit[0]}.jsonl")
        assert outcome.code == code
        assert "side by side\ngraph" in outcome.out
        assert f"\n{verdict}" in outcome.out or limit[0] == "s"
    assert "a path is large (section 1, 30)" in outcome.out


def test_a_peer_that_throws_ends_the_command_with_a_code_and_hides_nothing(folder):
    write_sweep(folder, "kruskal")
    fails = "fails = {command = 'false {graph.egr}', time = '(.)'}"
    words = ("bench", "--sweep", "t.toml", "--axis", "n=30", "--peer", "fails", "--peer-command", fails)
    ended = run(*words, "--save", "r.jsonl")
    assert (ended.code, outcomes("r.jsonl")) == (1, {"kruskal path:30": "ok", "peer:fails path:30": "threw"})
    assert "mst by peer:fails on path:30: threw: " in ended.err
    ended = run("mst", "path:30", "--device", "cpu", "--algo", "kruskal", "--peer", "fails", "--peer-command", fails)
    assert ended.code == 1
    assert "kruskal" in ended.out
