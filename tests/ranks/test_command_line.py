"""Ranks from the command line: the same record as one device's, and one clear line where it cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError
from gpugraph.base.ranks import RANK, device_of_ranks, expected_world_size, mpi_rank
from gpugraph.ext.ranks import world
from gpugraph.ext.ranks.world import device_of_rank, devices_of
from tests.cli.runner import succeed
from tests.ranks.runs import MPIEXEC, ROOT, command, ended, environment, needs_mpi, together
from tests.tiers import also, extended


def record(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def by_mpi(count: int, *words: str) -> subprocess.CompletedProcess[str]:
    return ended([str(MPIEXEC), "-n", str(count), sys.executable, "-m", "mpi4py", "-m", "gpugraph", *words])


@extended
def test_the_record_is_that_of_one_device_but_for_the_ranks() -> None:
    short = (("mst", "rmat:8"), ("sssp", "regular:n=200,in=3", "--source", "7"), ("components", "rmat:7"))
    lines = [(*words, "--format", "json", "-q") for words in short]
    for words, run in zip(lines, together("cpu", 3, *lines), strict=True):
        assert run.code == 0, run.err
        check_record(json.loads(run.out), json.loads(succeed(*words, "--device", "cpu").out))


def check_record(ranks: dict[str, Any], alone: dict[str, Any]) -> None:
    for name in ("result", "graph", "problem", "mteps"):
        ours, theirs = ranks[name], alone[name]
        if name == "mteps":
            ours, theirs = ours["count"], theirs["count"]
        assert ours == theirs, name
    assert ranks["verification"]["status"] == "passed"
    assert ranks["device"]["name"] == f"3 × {alone['device']['name']}"
    told = ranks["ranks"]
    assert (told["size"], told["started_by"], told["talk_through"]) == (3, "gpugraph", "sockets")
    assert sum(member["arcs"] for member in told["members"]) == ranks["graph"]["arcs"]
    assert all(member["bytes_sent"] > 0 for member in told["members"])
    assert set(told["phases"]) == set(ranks["kernel_phases_s"])
    for phase in told["phases"].values():
        assert set(phase) == {"work_s", "wait_s", "communication_s", "bytes_sent"}
        assert all(len(each) == 3 for each in phase.values())


@extended
def test_a_run_of_many_rounds_says_that_one_device_is_faster() -> None:
    told = together("cpu", 2, *(("sssp", graph, "--repeat", "1") for graph in ("path:600", "rmat:7")))
    assert ["one device is faster on such a graph" in each.err for each in told] == [True, False]


@extended
def test_one_record_and_one_result_are_written_by_however_many_ranks(tmp_path: Path) -> None:
    save, output = tmp_path / "r.jsonl", tmp_path / "forest.npz"
    run = command("mst", "rmat:6", "--device", "cpu*3", "--save", str(save), "-o", str(output), "-q")
    assert run.returncode == 0, run.stderr
    assert len(save.read_text().splitlines()) == 1
    assert output.exists()


@needs_mpi
def test_of_the_ranks_of_an_mpi_one_alone_writes_to_standard_output(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("0\n")
    ends = [word for option in ("--from", "--to") for word in (option, str(tmp_path / "list"))]
    told = by_mpi(2, "matrix", "grid:2x2", *ends, "--device", "cpu", "-q")
    assert (told.returncode, told.stdout) == (0, "from,to,distance\n0,0,0\n"), told.stderr


@needs_mpi
def test_ranks_of_an_mpi_are_found() -> None:
    told = record(by_mpi(2, "mst", "rmat:7", "--device", "emulated", "--repeat", "2", "--format", "json", "-q"))[
        "ranks"
    ]
    assert (told["size"], told["started_by"]) == (2, "MPI")
    assert told["talk_through"].startswith("MPI (")


@extended
def test_a_result_of_ranks_is_written_and_believed_again(tmp_path: Path) -> None:
    named = (("mst", "forest.npz"), ("mst", "forest.mtx"), ("sssp", "distances.npz"), ("components", "labels.csv"))
    results = [(problem, str(tmp_path / name)) for problem, name in named]
    lines = [(problem, "rmat:7", "--repeat", "1", "-q", "-o", path) for problem, path in results]
    for run in together("cpu", 2, *lines):
        assert run.code == 0, run.err
    for _, path in results:
        succeed("verify", "rmat:7", path)


@extended
def test_a_forest_and_distances_of_a_csr_are_those_of_its_spec(tmp_path: Path) -> None:
    path = str(tmp_path / "graph.csr")
    succeed("generate", "rmat:7,w=1..9", "-o", path)
    words = ("--repeat", "1", "--format", "json", "-q")
    problems = ("mst", "sssp")
    for problem, run in zip(problems, together("cpu", 2, *((one, path, *words) for one in problems)), strict=True):
        alone = json.loads(succeed(problem, "rmat:7,w=1..9", "--device", "cpu", *words).out)
        assert json.loads(run.out)["result"] == alone["result"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("mst", "no.csr", "--device", "cpu*2"), 2, "no.csr: cannot be read"),
        also(("mst", "rmat:5", "--device", "cpu*0"), 2, "'0' is no number of ranks"),
        also(("mst", "rmat:5", "--device", "cpux*2"), 2, "unknown device 'cpux'"),
        also(("mst", "rmat:5", "--device", "cuda*2"), 2, "GPUs are named one by one"),
        also(("mst", "rmat:5", "--device", "cuda:1,1"), 2, "cuda:1 is named twice"),
        also(("mst", "rmat:5", "--device", "cpu*2", "--algo", "kruskal@cpu"), 2, "'cpu' names 1 device for 2 ranks"),
        also(("mst", "rmat:34", "--device", "cpu*2"), 3, "on 2 ranks and"),
    ],
)
def test_what_ends_a_run_of_ranks_is_said_in_one_line(words: tuple[str, ...], code: int, message: str) -> None:
    run = command(*words, "-q")  # no progress, which slow machines show
    check_error(run.returncode, run.stderr, code, message)


def check_error(ended: int, said: str, code: int, message: str) -> None:
    assert ended == code, said
    (line,) = said.splitlines()
    assert line.startswith("gpugraph: error: ")
    assert message in line


def test_what_ranks_cannot_do_is_said_in_one_line() -> None:
    wrong: dict[str, tuple[str, ...]] = {
        "runs on one device": ("mst", "rmat:5", "--algo", "kruskal"),
        "no rank has the whole graph": ("mst", "rmat:5", "--verify", "reference"),
        "take the graph as it is": ("mst", "rmat:5", "--prepare", "renumber"),
        "cannot change weights": ("mst", "rmat:5", "--reweight", "hash:1..9"),
        "no algorithm runs on several ranks": ("scan", "array:100"),
        "is not a vertex": ("sssp", "rmat:5", "--source", "99"),
        "negative weight": ("sssp", "rmat:5,w=-3..-1"),
    }
    for message, run in zip(wrong, together("cpu", 2, *((*words, "-q") for words in wrong.values())), strict=True):
        check_error(run.code, run.err, 2, message)


@needs_mpi
def test_ranks_of_different_versions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "older.py").write_text(
        "import gpugraph; gpugraph.__version__ = '0.0.1'; from gpugraph.cli import main; main()"
    )
    words = ["mst", "rmat:5", "--device", "cpu", "-q"]
    new = [sys.executable, "-m", "mpi4py", "-m", "gpugraph", *words]
    old = [sys.executable, "-m", "mpi4py", str(tmp_path / "older.py"), *words]
    run = ended([str(MPIEXEC), "-n", "1", *new, ":", "-n", "1", *old])
    assert run.returncode == 2
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("gpugraph: ")]
    assert "rank 1 runs gpugraph 0.0.1" in line


def test_an_mpi_that_is_missing_is_named_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "mpi4py.py").write_text("raise ImportError('no such module')")
    promised = {**environment(), "PMI_SIZE": "2", "PMI_RANK": "0"}
    promised["PYTHONPATH"] = f"{tmp_path}:{promised['PYTHONPATH']}"
    words = [sys.executable, "-m", "gpugraph", "mst", "rmat:5", "--device", "cpu", "-q"]
    run = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=promised, timeout=300)
    assert run.returncode == 3
    assert "[mpi]'" in run.stderr
    assert len(run.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu", None),
        ("cuda", None),
        ("cuda:1", None),
        ("emulated:7", None),
        ("cpu*1", ["cpu"]),
        ("emulated:7*2", ["emulated:7", "emulated:7"]),
        ("cuda:0,2", ["cuda:0", "cuda:2"]),
        ("cuda:all", ["cuda:0", "cuda:1", "cuda:2"]),
    ],
)
def test_devices_are_listed(text: str, expected: list[str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "gpus", lambda: 3)
    assert devices_of(text) == expected


@pytest.mark.parametrize(
    ("text", "local", "of", "expected"),
    [
        ("cpu", 3, 4, "cpu"),
        ("cuda", 1, 2, "cuda:1"),
        ("cuda", 0, 1, "cuda"),
        ("cuda:1", 0, 1, "cuda:1"),
        ("cuda:2,0", 1, 2, "cuda:0"),
        ("cuda:0,9", 0, 2, DeviceUnavailable),
        ("cuda", 3, 4, InputError),
        ("cuda:0,1", 0, 3, InputError),
        ("cuda:1", 0, 2, InputError),
        ("cpu*2", 0, 2, InputError),
    ],
)
def test_a_rank_of_an_mpi_takes_the_device_of_its_number(
    text: str, local: int, of: int, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "gpus", lambda: 3)
    if isinstance(expected, str):
        assert device_of_rank(text, local, of) == expected
    else:
        with pytest.raises(GpuGraphError) as caught:
            device_of_rank(text, local, of)
        assert type(caught.value) is expected


def test_ranks_are_recognised_by_their_environment() -> None:
    assert (expected_world_size({}), mpi_rank({})) == (1, 0)
    for size, rank in (("PMI_SIZE", "PMI_RANK"), ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")):
        assert (expected_world_size({size: "4", rank: "2"}), mpi_rank({size: "4", rank: "2"})) == (4, 2)
    step = {"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "5"}
    assert (expected_world_size(step), mpi_rank(step)) == (8, 5)
    assert expected_world_size({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}) == 1  # the script of a job is no rank


def test_a_rank_beyond_their_number_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "gpugraph", "mst", "path:3"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**environment(), "PMI_SIZE": "4", "PMI_RANK": "9"},
    )
    line = (
        "gpugraph: error: this is rank 9 of 4 by the variables that mpiexec and srun set — unset PMI_RANK, PMI_SIZE\n"
    )
    assert (ended.returncode, ended.stderr) == (2, line)


def test_ranks_are_started_only_where_a_command_that_solves_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    solving = ("mst",)
    assert device_of_ranks(["mst", "g", "--device", "cpu*2"], solving) == "cpu*2"
    assert device_of_ranks(["mst", "g", "--device=cpu*3"], solving) == "cpu*3"
    assert device_of_ranks(["mst", "g", "--device", "cpu"], solving) is None
    assert device_of_ranks(["info", "g", "--device", "cpu*2"], solving) is None
    assert device_of_ranks(["mst", "--help", "--device", "cpu*2"], solving) is None
    assert device_of_ranks(["--debug", "mst", "g"], solving, "cpu*2") == "cpu*2"
    assert device_of_ranks(["bench", "g", "--title", "mst", "--device", "cpu,emulated"], solving) is None
    assert device_of_ranks(["races", "mst", "g"], solving, "cpu*2") is None
    monkeypatch.setenv(RANK, "0/2 5 1:6")
    assert device_of_ranks(["mst", "g", "--device", "cpu*2"], solving) is None
