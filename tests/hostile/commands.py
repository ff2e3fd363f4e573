"""Commands in processes of their own, and what may never come of one, whatever it was given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gpugraph

ROOT = Path(gpugraph.__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "gpugraph")
FINE: Container[int] = (0, 1, 2, 3, 4, 130)
"""The exit codes that are no defect."""


@dataclass(frozen=True)
class Ended:
    """What a command gave: its exit code, negative if a signal ended it, and what it said."""

    code: int
    out: str
    err: str


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment in which a command finds this very package from any folder."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, **(changes or {})}


def start(
    words: Sequence[object], folder: Path, env: Mapping[str, str] | None = None, **how: Any
) -> subprocess.Popen[str]:
    """Start ``gpugraph WORDS...`` in a folder, its streams piped unless ``how`` says otherwise."""
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    how |= {"start_new_session": True, "preexec_fn": _heed_signals}
    return subprocess.Popen(
        [*COMMAND, *map(str, words)], cwd=folder, env=environment(env), text=True, errors="surrogateescape", **how
    )


def _heed_signals() -> None:
    """Take signals as from a terminal, though who runs the test may ignore some, as nohup does."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def ended(process: subprocess.Popen[str], seconds: float = 300.0) -> Ended:
    """Wait for a command; raises AssertionError where it hangs, and kills it then."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"hangs: {process.args}: {out[-500:]} {err[-500:]}") from None
    return Ended(process.returncode, out or "", err or "")


def run(words: Sequence[object], folder: Path, env: Mapping[str, str] | None = None, **how: Any) -> Ended:
    """Run ``gpugraph WORDS...`` in a folder and return what it gave."""
    return ended(start(words, folder, env, **how))


def check(end: Ended, codes: Container[int] = FINE) -> None:
    """Raise AssertionError unless a command ended with one of the codes, and said why in one line if it is not 0."""
    assert end.code in codes, f"ended with {end.code}: {end.out[-300:]} {end.err[-1500:]}"
    assert "Traceback" not in end.err, end.err[-3000:]
    told = [line for line in end.err.splitlines() if line.startswith(("gpugraph: error: ", "gpugraph: interrupted"))]
    assert len(told) == (end.code != 0), f"ended with {end.code}, and said: {end.err[-1500:]}"


def parts_left(folder: Path) -> list[str]:
    """Return the names of half-written files below a folder."""
    return [path.name for path in folder.rglob("*") if path.suffix == ".part"]
