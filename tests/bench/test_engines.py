"""Sweeps on a real Slurm and on real Dask workers: what is measured, what a kill costs, what is refused.

Slurm runs as Debian packages it, on loopback and for one test each; skipped where it is not installed.
"""

from __future__ import annotations

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpugraph.base.errors import installable_here
from gpugraph.ext.engines import engines, unit_process
from tests.cli.runner import refuse, succeed
from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]

WAITS = """
import time
from pathlib import Path
from gpugraph.problems.mst.cpu_kruskal import kruskal

def driver(view, clock):
    "Waits on the larger graph until somebody lets it go on."
    while view.vertices > 9 and not Path("go").exists():
        time.sleep(0.05)
    return kruskal(view, clock)
"""

SWEEP = """
[axes]
graph = ["path:9", "path:12"]
device = "cpu"
[[block]]
axes = { problem = "components", algorithm = "afforest" }
[[block]]
axes = { problem = "mst", algorithm = "./waits.py:driver" }
[sampling]
max_samples = 3
min_samples = 2
"""

ALL = [("afforest", "path:12"), ("afforest", "path:9"), ("driver", "path:12"), ("driver", "path:9")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("waits.py").write_text(WAITS)
    Path("t.toml").write_text(SWEEP)
    return tmp_path


def bench(on: str, *more: str) -> subprocess.Popen[str]:
    """Start a bench of the sweep."""
    words = [sys.executable, "-m", "gpugraph", "bench", "--sweep", "t.toml", "--on", on, "--save", "r.jsonl", *more]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def until(holds: Callable[[], Any], process: subprocess.Popen[str] | None = None, limit_s: float = 300) -> Any:
    """Wait until something holds, and return it."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if found := holds():
            return found
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("it does not come to hold")


def stored(path: str = "r.jsonl") -> dict[tuple[str, str], dict[str, Any]]:
    """Return the records of a file that are whole, by algorithm and graph."""
    lines = Path(path).read_text().splitlines(keepends=True) if Path(path).exists() else []
    records = [json.loads(line) for line in lines if line.endswith("\n")]
    names = [(r["cell"]["axes"]["algorithm"].rpartition(":")[2], r["graph"]["name"] or "?") for r in records]
    return dict(zip(names, records, strict=True))


def measured(*paths: str) -> dict[tuple[str, str], str]:
    """Return when the cells were measured that went well."""
    found = {key: r for path in paths for key, r in stored(path).items() if r["outcome"] == "ok"}
    return {key: found[key]["time"] for key in sorted(found)}


def units_running(folder: Path) -> list[str]:
    """Return the processes of units and workers that work in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            ours = b"gpugraph.bench." in words or b"gpugraph.ext.engines." in words
            if ours and (process / "cwd").readlink() == folder:
                found.append(process.name)
        except OSError:
            continue
    return found


# ------------------------------------------------------------------ Slurm

SLURM = """
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}
SlurmdSpoolDir={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=500
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Slurm with one node, this machine."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    daemons = [shutil.which(name, path=path) for name in ("slurmctld", "slurmd")]
    if None in daemons or shutil.which("sbatch") is None:
        pytest.skip("there is no Slurm: apt-get install slurmctld slurmd slurm-client")
    pytest.importorskip("submitit")
    folder, host = tmp_path_factory.mktemp("slurm"), socket.gethostname().partition(".")[0]
    cores = os.cpu_count() or 1
    told = {"host": host, "user": getpass.getuser(), "ports": free_ports(2), "folder": folder, "cores": cores}
    (folder / "slurm.conf").write_text(SLURM.format(**told))
    before, os.environ["SLURM_CONF"] = os.environ.get("SLURM_CONF"), str(folder / "slurm.conf")
    words = [[str(daemons[0]), "-D", "-c"], [str(daemons[1]), "-D", "-N", host]]
    with open(folder / "log", "wb") as log:
        running = [subprocess.Popen(one, stdout=log, stderr=log) for one in words]
    try:
        asked = ["sinfo", "--noheader", "--format=%T"]
        until(lambda: subprocess.run(asked, capture_output=True, text=True).stdout.startswith("idle"), limit_s=120)
        yield
    finally:
        subprocess.run(["scancel", f"--user={getpass.getuser()}"], check=False)
        for one in running:
            one.terminate()
        for one in running:
            try:
                one.wait(5)
            except subprocess.TimeoutExpired:  # a slurmd waits for the end of its jobs
                one.kill()
        os.environ.pop("SLURM_CONF")
        os.environ |= {"SLURM_CONF": before} if before else {}


def queue(*words: str) -> list[str]:
    asked = ["squeue", "--noheader", "--array", "--format=%i", *words]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()


def waiting_job(process: subprocess.Popen[str]) -> str:
    """Wait until all but the cell that waits is measured, and return its job."""
    until(lambda: len(kept()) == 3, process)
    return until(lambda: len(jobs := queue("--states=RUNNING")) == 1 and jobs[0], process)


def kept() -> dict[tuple[str, str], str]:
    """Return what is measured, in the bench's file and in those of its jobs."""
    return measured("r.jsonl", *map(str, Path("r.jsonl.jobs").glob("*-*.jsonl")))


def test_a_job_that_is_preempted_goes_on_and_one_that_is_cancelled_costs_only_what_it_had_not_measured(cluster, folder):
    process = bench("slurm:time=5m,jobs=2,cpus=1")
    job, before = waiting_job(process), kept()
    subprocess.run(["scancel", "--signal=USR2", job], check=True)  # as Slurm warns a job that it is about to end
    until(lambda: not queue("--states=RUNNING"), process)
    assert waiting_job(process) == job
    until(lambda: len(units_running(folder)) == 2, process)
    subprocess.run(["scancel", job], check=True)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 3
    assert f"job {job} ended before its cells: cancelled; its log: " in err
    assert measured("r.jsonl") == before
    assert stored()["driver", "path:12"]["outcome"] == "skipped"
    Path("go").touch()
    succeed("bench", "--sweep", "t.toml", "--on", "slurm:time=5m", "--save", "r.jsonl", "--resume")
    assert list(measured("r.jsonl")) == ALL
    assert measured("r.jsonl").items() > before.items()
    assert {record["environment"]["node"] for record in stored().values()} == {os.uname().nodename}
    assert not Path("r.jsonl.jobs").exists()


def test_a_bench_that_is_killed_leaves_its_jobs_to_the_next_one_and_ctrl_c_cancels_them(cluster, folder):
    process = bench("slurm:time=5m")
    job, before = waiting_job(process), kept()
    process.kill()
    process.communicate()
    assert queue() == [job]
    process = bench("slurm:time=5m", "--resume")
    until(lambda: measured("r.jsonl") == before, process)
    until(lambda: len({path.name.partition("-")[0] for path in Path("r.jsonl.jobs").glob("*-*.jsonl")}) == 2, process)
    assert waiting_job(process) != job
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "3 of 4 cells are in r.jsonl; go on with: gpugraph bench" in err
    until(lambda: not queue() and not units_running(folder))


def test_what_slurm_does_not_take_is_reported_in_one_line(cluster, folder):
    words = ("bench", "--sweep", "t.toml", "--save", "r.jsonl", "--on")
    said = refuse(2, *words, "slurm:partition=none")
    assert "Slurm does not take the jobs: invalid partition specified: none" in said
    # The cluster has no GPU: that one is asked for reaches it.
    assert "Slurm does not take the jobs: Invalid generic resource" in refuse(2, *words, "slurm:gpus=1")
    assert not list(Path().glob("r.jsonl*"))
    Path("r.jsonl.jobs").mkdir()
    said = refuse(2, *words, "slurm:")
    assert (
        "r.jsonl.jobs: holds what jobs of another run have left — --resume takes over what they have measured" in said
    )
    assert Path("r.jsonl.jobs").exists()


def test_settings_of_jobs_become_those_of_sbatch():
    told = engines._slurm_settings(
        "partition=gpu, gpus=2,time=90s,cpus=4,jobs=8,mem=8GB,exclusive,reservation=x", "--on"
    )
    assert told == {
        "partition": "gpu",
        "gpus_per_node": 2,
        "time": 2,
        "cpus_per_task": 4,
        "array_parallelism": 8,
        "mem": "8GB",
        "exclusive": True,
        "additional_parameters": {"reservation": "x"},
        "srun_args": ["--cpus-per-task=4"],
    }


# ------------------------------------------------------------------ Dask


@pytest.fixture
def scheduler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of Dask's here; its one worker takes the graphs in their order."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("TMPDIR", str(folder))  # units of other tests do not wait for those of this one
    made = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**made) as cluster:
        yield cluster


@extended
def test_a_graph_whose_dask_worker_is_killed_is_measured_by_the_next(scheduler, folder):
    process = bench(f"dask:{scheduler.scheduler_address}")
    until(lambda: len(measured("r.jsonl")) == 2, process)
    os.kill(scheduler.workers[0].pid, signal.SIGKILL)
    Path("go").touch()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert list(measured("r.jsonl")) == ALL
    words = ("bench", "--sweep", "t.toml", "--on", f"dask:{scheduler.scheduler_address}", "--save", "r.jsonl")
    assert "finished before: 4 cells" in succeed(*words, "--resume").err


@extended
def test_ctrl_c_ends_what_dask_workers_measure(scheduler, folder):
    process = bench(f"dask:{scheduler.scheduler_address}")
    until(lambda: len(measured("r.jsonl")) == 2, process)
    until(lambda: len(units_running(folder)) == 2, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert list(measured("r.jsonl")) == [key for key in ALL if key[1] == "path:9"]
    until(lambda: not units_running(folder))


def test_units_of_one_machine_measure_one_at_a_time(folder, monkeypatch):
    monkeypatch.setattr(unit_process.tempfile, "tempdir", str(folder))
    entered = threading.Event()

    def second() -> None:
        with unit_process._turn(alone=True):
            entered.set()

    other = threading.Thread(target=second)
    with unit_process._turn(alone=True):
        other.start()
        assert not entered.wait(0.1)
    other.join(300)
    assert entered.is_set()


def test_a_scheduler_that_is_not_there_or_has_no_worker_is_reported(folder, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "CONNECT_S", 1)
    words = ("bench", "--sweep", "t.toml", "--save", "r.jsonl", "--on")
    said = refuse(3, *words, f"dask:tcp://127.0.0.1:{free_ports(1)[0]}")
    assert "no scheduler answers: OSError: Timed out" in said
    assert said.endswith("start one with: dask scheduler")
    assert "names no scheduler — write e.g. dask:tcp://host:8786" in refuse(2, *words, "dask:")
    wait = distributed.Client.wait_for_workers
    monkeypatch.setattr(distributed.Client, "wait_for_workers", lambda client, count, timeout: wait(client, count, 1))
    monkeypatch.setattr(engines, "CONNECT_S", 300)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        assert "the scheduler has no worker — start one with: dask worker tcp://" in refuse(
            3, *words, f"dask:{cluster.scheduler_address}"
        )


# ------------------------------------------------------------------ either


def test_an_engine_that_is_not_installed_is_reported_with_the_remedy(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "submitit", None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ("bench", "--sweep", "t.toml", "--save", "r.jsonl", "--on")
    for on, remedy in (("slurm:", "slurm"), ("dask:tcp://127.0.0.1:1", "dask")):
        said = refuse(3, *words, on)
        assert said.endswith(installable_here(f" is not installed — pip install 'gpugraph[{remedy}]'"))
    assert not Path("r.jsonl").exists()


def test_a_machine_without_slurm_is_reported(folder, monkeypatch):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", str(folder))
    said = refuse(3, "bench", "--sweep", "t.toml", "--save", "r.jsonl", "--on", "slurm:")
    assert "there is no sbatch here — start the bench on a machine that submits jobs to the cluster" in said


def test_a_machine_with_another_version_is_reported(folder):
    unit = engines.Unit(b"0.0.0\nwhatever", "run", str(folder))
    assert unit()["error"].endswith("the bench is of 0.0.0")
