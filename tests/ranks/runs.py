"""Ranks as tests start them: real processes, by gpugraph itself or by mpiexec."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.runner import Outcome

ROOT = Path(__file__).resolve().parents[2]
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")

needs_mpi = pytest.mark.skipif(
    MPIEXEC is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs an MPI and mpi4py: pip install 'gpugraph[mpi]'",
)

START = "import sys; from gpugraph.ext.ranks.launch import run_ranks; sys.exit(run_ranks(sys.argv[2:3] * int(sys.argv[1]), sys.argv[4:], sys.argv[3]))"  # noqa: E501


def environment() -> dict[str, str]:
    """Return the environment of the ranks: the package as it stands here, and ranks that give way to each other."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}


def own_ranks(count: int, device: str, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module on ranks that gpugraph starts."""
    return ended([sys.executable, "-c", START, str(count), device, module, *words])


def mpi_ranks(count: int, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module on ranks that mpiexec starts."""
    return ended([str(MPIEXEC), "-n", str(count), sys.executable, "-m", "mpi4py", "-m", module, *words])


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command line."""
    return ended([sys.executable, "-m", "gpugraph", *words])


def together(device: str, count: int, *lines: Sequence[str]) -> list[Outcome]:
    """Run command lines one after the other on ranks that gpugraph starts once, a device of a kind for each."""
    words = [[*line, "--device", f"{device}*{count}"] for line in lines]
    run = own_ranks(count, device, "tests.ranks.on_words", json.dumps(words))
    assert run.returncode == 0, run.stderr
    return [Outcome(**told) for told in json.loads(run.stdout)]


def ended(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, capture_output=True, text=True, timeout=600, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL
    )
