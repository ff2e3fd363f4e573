"""What ends a rank ends the run: soon, with one line that names the rank, and nothing left running.

The processes are real, and so is what befalls them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.ranks.runs import MPIEXEC, ROOT, environment, needs_mpi
from tests.tiers import also, extended, first

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds ranks by /proc")

LIMIT_S = 60.0
"""So soon a run must have ended after one of its ranks has; otherwise none of these would ever end."""
ENDLESS = ("mst", "rmat:13", "--repeat", "10000000", "--no-phases", "-q")

STRUCK = """
import os, signal
def strike(number, frame):
    import numpy
    {act}
if os.environ.get("GPUGRAPH_RANK", "").startswith("1/") or os.environ.get("PMI_RANK") == "1":
    signal.signal(signal.SIGUSR1, strike)
"""
"""A ``sitecustomize`` by which something befalls rank 1 when it gets SIGUSR1."""
THROW = "raise ValueError('a rank throws')"


def ranks_of(mark: str) -> dict[int, int]:
    """Return by rank the process ids of the ranks whose environment holds a mark."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "environ").read_bytes().decode("utf-8", "replace").split("\0")
            name = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark in words and b"gpugraph" in name:
            told = dict(word.partition("=")[::2] for word in words)
            rank = told.get("GPUGRAPH_RANK", told.get("PMI_RANK", "")).partition("/")[0]
            if rank:
                found[int(rank)] = int(folder.name)
    return found


@contextmanager
def running(
    words: list[str], count: int, extra: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], dict[int, int]]]:
    """Start a run, wait until all of its ranks are at work, and see that nothing of it is left in the end."""
    mark = f"GPUGRAPH_TEST_MARK={os.getpid()}-{time.monotonic_ns()}"
    name, _, value = mark.partition("=")
    started = {**environment(), name: value, **(extra or {})}
    run = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=started,
        stdin=subprocess.DEVNULL,
    )
    try:
        until(lambda: len(ranks_of(mark)) == count, 300)
        ranks = ranks_of(mark)
        until(lambda: all(busy(pid) for pid in ranks.values()), 300)
        yield run, ranks
        until(lambda: not ranks_of(mark), 2 * LIMIT_S)
    finally:
        run.kill()
        for pid in ranks_of(mark).values():
            os.kill(pid, signal.SIGKILL)


def busy(pid: int) -> bool:
    """Tell whether a rank has imported what it needs and measures: it waits for others again and again, or works."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
        told = Path(f"/proc/{pid}/status").read_text()
        cpu = sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    except OSError:
        return True
    waits = int(told.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return "llvmlite" in maps and (waits > 1000 or cpu > os.sysconf("SC_CLK_TCK"))


def until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def own(count: int, *words: str) -> list[str]:
    return [sys.executable, "-m", "gpugraph", *(words or ENDLESS), "--device", f"cpu*{count}"]


def by_mpi(count: int) -> list[str]:
    return [
        str(MPIEXEC),
        "-n",
        str(count),
        sys.executable,
        "-m",
        "mpi4py",
        "-m",
        "gpugraph",
        *ENDLESS,
        "--device",
        "cpu",
    ]


def said(run: subprocess.Popen[str]) -> list[str]:
    """Return what a run says until its end, which must be near."""
    start = time.monotonic()
    _, errors = run.communicate(timeout=3 * LIMIT_S)
    assert time.monotonic() - start < LIMIT_S
    return errors.splitlines()


def struck(folder: Path, act: str, words: list[str]) -> tuple[int, list[str], int]:
    """Let something befall rank 1 of two: return the exit code of the run, what it said, and the rank's process id."""
    (folder / "sitecustomize.py").write_text(STRUCK.format(act=act))
    path = f"{folder}{os.pathsep}{environment()['PYTHONPATH']}"
    with running(words, 2, {"PYTHONPATH": path}) as (run, ranks):
        for _ in range(2):  # Python ignores what is thrown in a finalizer
            os.kill(ranks[1], signal.SIGUSR1)
            with suppress(subprocess.TimeoutExpired):
                run.wait(LIMIT_S)
                break
        return run.wait(LIMIT_S), said(run), ranks[1]


@pytest.mark.parametrize("victim", first(1, [2, 0]))
def test_a_rank_that_is_killed_ends_the_run(victim: int) -> None:
    with running(own(3), 3) as (run, ranks):
        os.kill(ranks[victim], signal.SIGKILL)
        (line,) = said(run)
        assert run.returncode == 3
    assert line.startswith(f"gpugraph: error: rank {victim} (cpu, process {ranks[victim]}) was ended by SIGKILL")


SOON = "from gpugraph.ext.ranks import stopped; stopped.STOPPED_S = 0.3; from gpugraph.cli import main; main()"


def named_when_stopped(words: list[str], count: int, victim: int) -> None:
    """Stop a rank, wait for the line that names it, and let it go on."""
    with running(words, count) as (run, ranks):
        os.kill(ranks[victim], signal.SIGSTOP)
        assert run.stderr is not None
        line = next(line for line in run.stderr if "stopped" in line)
        os.kill(ranks[victim], signal.SIGCONT)
        time.sleep(0.2)
        assert run.poll() is None
        run.send_signal(signal.SIGTERM)
        assert run.wait(3 * LIMIT_S)
    named = f"gpugraph: rank {victim} (process {ranks[victim]}) is stopped, and the others wait for it"
    assert line == f"{named} — kill -CONT {ranks[victim]} lets it go on\n"


@extended
def test_a_rank_that_is_stopped_is_named_and_goes_on_when_it_may() -> None:
    named_when_stopped([sys.executable, "-c", SOON, *ENDLESS, "--device", "cpu*3"], 3, 2)


@needs_mpi
@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_of_an_mpi_that_is_stopped_is_named_by_another_of_its_machine(tmp_path: Path, victim: int) -> None:
    (tmp_path / "gpugraph_soon.py").write_text(SOON)
    words = [str(MPIEXEC), "-n", "2", sys.executable, "-m", "mpi4py", str(tmp_path / "gpugraph_soon.py"), *ENDLESS]
    named_when_stopped([*words, "--device", "cpu"], 2, victim)


@pytest.mark.parametrize(("victim", "number"), [(0, signal.SIGTERM), also(0, signal.SIGHUP), also(1, signal.SIGINT)])
@extended
def test_a_rank_that_is_interrupted_ends_the_run_with_a_line(victim: int, number: int) -> None:
    with running(own(2), 2) as (run, ranks):
        os.kill(ranks[victim], number)
        (line,) = said(run)
        assert run.returncode == 130
    assert line == f"gpugraph: error: rank {victim} (cpu, process {ranks[victim]}) was interrupted by a signal"


@pytest.mark.parametrize(
    ("act", "code", "words"),
    [
        (THROW, 70, ": a defect of gpugraph (ValueError: a rank throws) "),
        also(
            "numpy.ones(2**50, numpy.uint8)", 3, ": the machine's memory does not suffice (Unable to allocate 1.00 PiB "
        ),
        also("os.write(2, b'A LIBRARY: no memory\\n'); os.abort()", 3, " was ended by SIGABRT: A LIBRARY: no memory"),
    ],
    ids=["throws", "runs out of memory", "is aborted by a library"],
)
def test_a_rank_that_fails_ends_the_run_and_says_why(tmp_path: Path, act: str, code: int, words: str) -> None:
    ended, (line,), pid = struck(tmp_path, act, own(2))
    assert ended == code
    assert line.startswith(f"gpugraph: error: rank 1 (cpu, process {pid}){words}")


@pytest.mark.parametrize("number", first(1, [signal.SIGINT, signal.SIGTERM]))
def test_an_interrupt_ends_all_ranks(number: int) -> None:
    with running(own(2), 2) as (run, _):
        run.send_signal(number)
        (line,) = said(run)
        assert run.returncode == 130
    assert line.startswith("gpugraph: interrupted")


def test_an_interrupt_while_ranks_are_imported_is_one_line() -> None:
    words = own(2, *ENDLESS, "-q")
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    while len(children.read_text().split()) < 2:
        time.sleep(0.01)
    time.sleep(0.1)  # they take signals, and import the rest
    run.send_signal(signal.SIGTERM)
    _, err = run.communicate(timeout=LIMIT_S)
    assert (run.returncode, err) == (130, "gpugraph: interrupted by SIGTERM\n")


def test_ranks_whose_starter_is_killed_end() -> None:
    with running(own(2), 2) as (run, _):
        run.kill()
        run.wait()


@needs_mpi
def test_a_rank_of_an_mpi_that_is_killed_ends_the_run() -> None:
    with running(by_mpi(2), 2) as (run, ranks):
        os.kill(ranks[1], signal.SIGKILL)
        said(run)
        assert run.returncode != 0


@needs_mpi
def test_a_rank_of_an_mpi_that_throws_ends_the_run_and_says_why(tmp_path: Path) -> None:
    ended, lines, _ = struck(tmp_path, THROW, by_mpi(2))
    assert ended == 70
    (line,) = [line for line in lines if line.startswith("gpugraph: ")]
    assert line.startswith("gpugraph: error: rank 1: ")
    assert "a rank throws" in line


@needs_mpi
def test_ranks_of_mpiexec_that_succeed_are_not_killed_at_their_end() -> None:
    words = [MPIEXEC, "-n", "5", sys.executable, "-m", "mpi4py", "-m", "gpugraph", "mst", "rmat:6", "--device", "cpu"]
    for _ in range(2):
        done = subprocess.run([*words, "-q"], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("text", first(1, ["0/2 99 1:98", "", "0/1 0", "\u00b2/3 4"]))
def test_a_rank_that_gpugraph_did_not_start_is_refused(text: str) -> None:
    words = [sys.executable, "-m", "gpugraph", "mst", "grid:4x4"]
    env = {**os.environ, "GPUGRAPH_RANK": text}
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "GPUGRAPH_RANK" in done.stderr


@extended
def test_ranks_and_workers_of_a_bench_run_no_module_of_the_current_folder(tmp_path: Path) -> None:
    for name in ("json", "random", "numpy", "queue"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('ran')")
    program = "import sys; from gpugraph.cli import main; sys.argv = ['gpugraph', *sys.argv[1:]]; main()"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for words in (
        ["mst", "grid:4x4", "--device", "cpu*2"],
        ["bench", "grid:4x4", "--algo", "kruskal", "--budget", "5s"],
    ):
        words = [sys.executable, "-P", "-c", program, *words, "-q"]
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
