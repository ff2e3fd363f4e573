"""Run one command to its end or to its time limit, in a process group of its own, and keep what it printed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gpugraph.bench.peers.errors import PeerRefused, PeerThrew, PeerTimedOut

MOST_OUTPUT = 8 << 20
"""Bytes of output kept, of its end: enough for any program that prints times, and no threat to memory."""

_SUPERVISOR = str(Path(__file__).with_name("supervise.py"))


def find_program(name: str, where: str) -> str:
    """Return the path of a program.

    Raises:
        PeerRefused: there is none of that name.
    """
    found = shutil.which(name)
    if found is None:
        kind = "file" if os.sep in name else "program on PATH"
        raise PeerRefused(f"there is no {kind} '{name}' to run", where=where, remedy="install it or give its full path")
    return found


def run_command(words: Sequence[str], timeout_s: float, where: str) -> str:
    """Return what a command printed on both its outputs.

    Args:
        words: the program and its arguments; no shell reads them.
        timeout_s: seconds until its process group is killed.
        where: the peer, for messages.

    Raises:
        PeerTimedOut: it still ran then.
        PeerThrew: it ended with another exit code than 0.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", _SUPERVISOR, *words],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            what = f"it still ran after {timeout_s:g} s and was killed"
            raise PeerTimedOut(what, where=where, remedy="raise its timeout, or take a smaller graph") from None
        finally:
            _end(process)
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - MOST_OUTPUT))
        text = output.read().decode("utf-8", "replace")
    if code != 0:
        raise PeerThrew(f"it ended {_manner(code)}{_last_words(text)}", where=where)
    return text


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group if its leader still runs, and wait for that."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _manner(code: int) -> str:
    number = -code if code < 0 else code - 128
    if code < 0 or 0 < number < signal.NSIG:
        with suppress(ValueError):
            return f"by {signal.Signals(number).name}"
    return f"with exit code {code}"


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ", and printed nothing"
