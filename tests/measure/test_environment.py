from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

from gpugraph.measure import environment as environment_module
from gpugraph.measure.environment import command_line, environment
from gpugraph.measure.instruments import load
from gpugraph.measure.instruments.load import OtherPrograms
from tests.measure.fakes import FakeTime

SPIN = "while True: pass"


def test_the_environment_names_versions_processor_memory_and_command():
    found = environment()
    assert found["packages"]["numpy"] == np.__version__
    assert found["command"] == command_line()
    assert found["cores"] >= 1
    assert found["processor"]
    assert found["memory_bytes"] > 1 << 28


@pytest.mark.parametrize(
    ("argv", "typed"),
    [
        (["/somewhere/bin/gpugraph", "mst", "g.gr"], ["/somewhere/bin/gpugraph", "mst", "g.gr"]),
        (["/somewhere/gpugraph/__main__.py", "mst", "g.gr"], ["python", "-m", "gpugraph", "mst", "g.gr"]),
        ([], []),
    ],
)
def test_the_command_is_what_a_user_types(monkeypatch, argv: list[str], typed: list[str]):
    monkeypatch.setattr(sys, "argv", argv)
    assert environment()["command"] == typed


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Let the package lie in an empty folder."""
    (tmp_path / "gpugraph" / "measure").mkdir(parents=True)
    monkeypatch.setattr(environment_module, "__file__", str(tmp_path / "gpugraph" / "measure" / "environment.py"))
    return tmp_path


def test_outside_a_checkout_there_is_no_commit(elsewhere):
    assert environment_module.git_commit.__wrapped__() is None


def test_a_checkout_gives_its_commit_and_says_where_files_were_changed(elsewhere):
    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(["git", *who, *words], cwd=elsewhere, capture_output=True, text=True, check=True).stdout

    git("init", "--quiet")
    (elsewhere / "file").write_text("1")
    git("add", "file")
    git("commit", "--quiet", "-m", "one")
    commit = git("rev-parse", "HEAD")[:12]
    assert environment_module.git_commit.__wrapped__() == commit
    (elsewhere / "file").write_text("2")
    assert environment_module.git_commit.__wrapped__() == f"{commit}+"


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, for five minutes at most."""
    end = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < end


def test_what_this_program_and_its_children_do_is_not_the_work_of_other_programs() -> None:
    begun = OtherPrograms._seconds()
    here = time.process_time()
    assert begun is not None
    child = subprocess.Popen([sys.executable, "-c", SPIN])

    def of_child() -> float:
        ended = OtherPrograms._seconds()
        assert ended is not None
        return ended[2] - begun[2] - (time.process_time() - here)

    try:
        until(lambda: of_child() > 0.05)
    finally:
        child.kill()
        child.wait()


def test_a_program_that_is_none_of_ours_counts() -> None:
    stranger = subprocess.run(  # the shell ends, so that the loop behind it is nobody's child here
        ["sh", "-c", f"{shlex.quote(sys.executable)} -c {shlex.quote(SPIN)} >/dev/null 2>&1 & echo $!"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    try:
        others = OtherPrograms()
        until(lambda: (others.cores() or 0.0) > 0.1)  # even where every core is wanted by several
    finally:
        os.kill(int(stranger.stdout), signal.SIGKILL)


def test_too_short_a_time_says_nothing_of_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "time", clock := FakeTime())
    others = OtherPrograms()
    clock.now += 0.19
    assert others.cores() is None
    clock.now += 0.02
    assert others.cores() is not None
