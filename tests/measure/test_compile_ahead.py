"""The process that compiles an algorithm's CPU code while the graph is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpugraph.base import numba_prebuilt
from gpugraph.base.host import environment_with_package
from gpugraph.ext.builds import ahead
from tests.tiers import also


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Return the commands that are started, with two processors, an empty cache and a package without compiled code."""
    commands: list[Any] = []
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba_prebuilt, "FOLDER", tmp_path / "prebuilt")
    monkeypatch.setattr(ahead, "usable_cores", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: commands.append(command))
    return commands


def test_with_an_empty_cache_a_process_compiles_ahead(started: list[Any]) -> None:
    ahead.begin("mst", "rmat:16", "auto")
    ((*_, problem, graph, algorithm, parent),) = started
    assert (problem, graph, algorithm, parent) == ("mst", "rmat:16", "auto", str(os.getpid()))


def test_no_process_is_started_where_code_of_the_problem_is_in_the_cache(started: list[Any], tmp_path: Path) -> None:
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "gpugraph.problems.mst.verify.check-0123.code").touch()
    ahead.begin("mst", "rmat:16", "auto")
    assert started == []
    ahead.begin("sssp", "rmat:16", "auto")
    assert len(started) == 1


def test_no_process_is_started_on_one_processor(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "usable_cores", lambda: 1)
    ahead.begin("mst", "rmat:16", "auto")
    assert started == []


@pytest.mark.parametrize(("problem", "graph"), [("components", "roads.gr"), also("components", "rmat:6")])
def test_the_process_solves_and_verifies_a_small_graph(problem: str, graph: str) -> None:
    command = [sys.executable, "-P", "-m", "gpugraph.ext.builds.ahead", problem, graph, "auto", str(os.getpid())]
    done = subprocess.run(command, capture_output=True, text=True, env=environment_with_package(), timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
