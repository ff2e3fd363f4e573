"""Several workers on this machine: each takes the next graph when it is free; kills, errors and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError
from gpugraph.bench import local_workers
from gpugraph.bench.local_workers import WorkerProcess
from gpugraph.bench.store import Store
from gpugraph.ext.engines import here
from gpugraph.ext.engines.here import workers_of
from tests.bench import plans
from tests.bench.plans import Bench, planned
from tests.cli.runner import refuse, succeed
from tests.devices.fake_cupy import FakeCupy
from tests.stored import read_records
from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_workers, "GRACE_S", 300.0)


def test_two_workers_share_the_graphs_and_each_graph_goes_to_one_of_them(tmp_path):
    bench, started = Bench(tmp_path, workers=2), []
    start, bench.start = bench.start, lambda: started.append(start()) or started[-1]
    cells = [planned(name, f"path:{n}") for n in range(9, 29) for name in ("meet" if n == 9 else "a", "b")]
    bench.run(*cells)
    assert len({worker.pid for worker in started}) == 2
    assert sorted(bench.requests) == ["a b"] * 19 + ["meet b"]
    assert len(read_records(bench.path)) == 40
    assert bench.run(*cells, resume=True).resumed == 40


def test_a_graph_that_the_others_would_wait_for_at_the_end_is_taken_first(tmp_path, monkeypatch):
    cells = [
        *(planned("a", f"path:{n}") for n in range(9, 13)),
        planned("b", "path:1000"),
        planned("c", "path:5000000"),
    ]
    for count, order in ((1, ["b", "c"]), (2, ["c", "b"])):
        (folder := tmp_path / str(count)).mkdir()
        bench, asked = Bench(folder, workers=count), asked_of(monkeypatch)
        bench.run(*cells)
        assert [name for name in asked if name != "a"] == order
        assert asked.count("a") == 4


def asked_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the algorithms of the requests, in the order in which workers are asked; they hear them when they can."""
    asked: list[str] = []

    class Heard(WorkerProcess):
        def ask(self, request: Mapping[str, Any]) -> None:
            asked.append(" ".join(cell["algorithm"] for cell in request["cells"]))
            super().ask(request)

    monkeypatch.setattr(plans, "WorkerProcess", Heard)
    return asked


def test_a_worker_that_dies_costs_its_cell_and_the_other_worker_nothing(tmp_path):
    bench = Bench(tmp_path, workers=2)
    bench.run(planned("die"), planned("a"), *(planned("a", f"path:{n}") for n in range(10, 30)))
    told = [line.split()[2] for line in sorted(bench.told)]
    assert sorted(told) == ["died", *["ok"] * 21]


def test_larger_graphs_of_a_series_are_skipped_whichever_worker_ran_out_of_memory(tmp_path):
    bench = Bench(tmp_path, workers=2)
    bench.run(*(planned("oom", f"path:{n}") for n in (9, 10, 11, 12, 13, 14)))
    told = [line.split()[2:] for line in bench.told]
    assert ["out", "of", "memory"] in told
    assert told.count(["skipped"]) >= 4  # two at most were tried at once


def test_each_worker_has_the_budget_for_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(local_workers, "GRACE_S", 0.2)
    told = {}
    for count in (1, 2):
        (folder := tmp_path / str(count)).mkdir()
        bench = Bench(folder, budget_s=0.15, workers=count)
        bench.run(planned("hang", "path:9", time_s=0.15), planned("hang", "star:9", time_s=0.15))
        told[count] = sorted(line.split()[2] for line in bench.told)
    assert told == {1: ["skipped", "timeout"], 2: ["timeout", "timeout"]}


def test_a_full_disk_ends_all_workers_with_one_error(tmp_path, monkeypatch):
    bench, started = Bench(tmp_path, workers=2), []
    start, bench.start = bench.start, lambda: started.append(start()) or started[-1]

    def full(self, record):
        raise InputError("the disk is full")

    monkeypatch.setattr(Store, "append", full)
    began = time.monotonic()
    with pytest.raises(InputError, match="the disk is full"):
        bench.run(planned("a"), planned("never-opens", "path:10"))
    assert time.monotonic() - began < 300
    assert all(not Path(f"/proc/{worker.pid}").exists() for worker in started)


BUSY = """
import sys
from pathlib import Path
from tests.bench.plans import Bench, planned
bench = Bench(Path(sys.argv[1]), workers=2)
start, bench.start = bench.start, lambda: print("pid", (worker := start()).pid, flush=True) or worker
bench.run(planned("a"), planned("never-opens", "path:10"), planned("never-opens", "path:11"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_c_stores_what_is_finished_and_ends_all_workers(tmp_path):
    words = [sys.executable, "-c", BUSY, str(tmp_path)]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline().split() for _ in range(3)]
    assert ["a", "path:9"] in lines
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert "KeyboardInterrupt" in err
    assert [record["outcome"] for record in read_records(tmp_path / "r.jsonl")] == ["ok"]
    assert not any(Path(f"/proc/{line[1]}").exists() for line in lines if line[0] == "pid")


@extended
def test_the_command_runs_a_sweep_on_two_shares_of_the_processors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    processors = here._processors()
    if len(processors) < 2:
        pytest.skip("there is one processor")
    Path("t.toml").write_text('[axes]\ngraph = ["path:9", "star:8"]\nalgorithm = "kruskal"\n')
    words = ("bench", "--sweep", "t.toml", "--on", "cpus:2", "--save", "r.jsonl")
    succeed(*words)
    records = read_records("r.jsonl")
    assert [record["outcome"] for record in records] == ["ok", "ok"]
    assert {record["device"]["threads"] for record in records} == {len(processors) // 2}
    assert {record["environment"]["node"] for record in records} == {os.uname().nodename}
    assert "finished before: 2 cells" in succeed(*words, "--resume").err


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    fake = FakeCupy(gpus=2)
    monkeypatch.setattr(here, "gpus", lambda: fake.gpus)
    monkeypatch.setattr(here, "_processors", lambda: [0, 1])
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return fake


def places(rest: str, kind: str = "gpus") -> list[str]:
    """Return what the workers of each worker see."""
    return [worker.start.args[0] for worker in workers_of(kind, rest, "", f"--on {kind}:{rest}")]


def test_each_worker_sees_its_own_gpu_alone_of_those_that_the_bench_sees(gpus, monkeypatch):
    assert places("2") == places("all") == places("0,1") == ["0", "1"]
    assert places("1") == ["0"]
    assert places("1,0") == ["1", "0"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,GPU-abc")
    assert places("2") == ["5", "GPU-abc"]
    assert places("2", "cpus") == ["", ""]


def test_shares_of_the_processors_are_equal_and_disjoint_or_all_where_there_are_not_enough(gpus, monkeypatch):
    for processors, shares in (([0, 1, 2, 3, 4], [[0, 1], [2, 3]]), ([3], [[3], [3]])):
        monkeypatch.setattr(here, "_processors", lambda processors=processors: processors)
        workers = here.workers_of("gpus", "2", "", "--on gpus:2")
        assert [worker.start.args[1] for worker in workers] == shares


@pytest.mark.parametrize(
    ("rest", "kind", "error", "said"),
    [
        ("3", "gpus", DeviceUnavailable, "--on gpus:3: there are 2, and not 3 — write gpus:2"),
        ("0,2", "gpus", DeviceUnavailable, "--on gpus:0,2: there is no GPU 2: there are 2, counted from 0"),
        ("1,0,1", "gpus", InputError, "--on gpus:1,0,1: GPU 1 is named twice — a worker needs a GPU of its own"),
        ("0", "gpus", InputError, "--on gpus:0: that is no worker at all — write e.g. gpus:2"),
        ("", "gpus", InputError, "--on gpus:: '' is no number of them — write e.g. gpus:2"),
        ("0,x", "gpus", InputError, "--on gpus:0,x: '0,x' is no number of them — write e.g. gpus:2"),
        ("0,1", "cpus", InputError, "--on cpus:0,1: processors are not named, but shared out — write e.g. cpus:2"),
        ("all", "cpus", InputError, "--on cpus:all: 'all' is no number of them — write e.g. cpus:2"),
    ],
)
def test_gpus_that_are_not_there_or_named_twice_are_refused(gpus, rest: str, kind: str, error: type, said: str) -> None:
    with pytest.raises(GpuGraphError) as raised:
        places(rest, kind)
    assert (type(raised.value), str(raised.value)) == (error, said)


def test_a_place_that_does_not_exist_is_refused_with_the_nearest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("bench", "--save", "r.jsonl", "--on")
    assert "--on gpu:2: unknown place 'gpu' — did you mean 'gpus'?" in refuse(2, *words, "gpu:2")
    assert "unknown setting of jobs 'partion' — did you mean 'partition'?" in refuse(2, *words, "slurm:partion=x")
    assert "--on slurm:time=soon: 'soon' is no length of time" in refuse(2, *words, "slurm:time=soon")
    assert "--on slurm:gpus=0: '0' is no number of gpus" in refuse(2, *words, "slurm:gpus=0")
    assert "--on slurm:account: 'account' has no value" in refuse(2, *words, "slurm:account")
    assert not Path("r.jsonl").exists()
