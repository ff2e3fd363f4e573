from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from gpugraph.measure import provenance
from gpugraph.measure.instruments import command_line, environment


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
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "gpugraph" / "measure" / "provenance.py"))
    return tmp_path


def test_outside_a_checkout_there_is_no_commit(elsewhere):
    assert provenance._git_commit() is None


def test_a_checkout_gives_its_commit_and_says_where_files_were_changed(elsewhere):
    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(["git", *who, *words], cwd=elsewhere, capture_output=True, text=True, check=True).stdout

    git("init", "--quiet")
    (elsewhere / "file").write_text("1")
    git("add", "file")
    git("commit", "--quiet", "-m", "one")
    commit = git("rev-parse", "HEAD")[:12]
    assert provenance._git_commit() == commit
    (elsewhere / "file").write_text("2")
    assert provenance._git_commit() == f"{commit}+"
