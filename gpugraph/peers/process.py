"""Run one command to its end or to its time limit, in a process group of its own, and keep what it printed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gpugraph.peers.peer import PeerRefused, PeerThrew, PeerTimedOut

MOST_OUTPUT = 8 << 20
"""Bytes kept of each output, of its end: enough for any program that prints times, and no threat to memory."""

MOST_LINES, MOST_WORDS = 3, 400
"""Lines and characters of an error that a message repeats: an exception and where it came from."""

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


@dataclass(frozen=True)
class Printed:
    """What a command printed: its standard output and its standard error."""

    output: str
    errors: str

    @property
    def text(self) -> str:
        """Both, one after the other, for patterns to look through."""
        return f"{self.output}\n{self.errors}"

    @property
    def last_words(self) -> str:
        """The end of what it printed as an error, else of its output; or that there was nothing."""
        for text in (self.errors, self.output):
            lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
            if lines:
                said = " | ".join(lines[-MOST_LINES:])
                return said if len(said) <= MOST_WORDS else f"…{said[-MOST_WORDS:]}"
        return ""


def run_command(words: Sequence[str], timeout_s: float, where: str, env: Mapping[str, str] | None = None) -> Printed:
    """Return what a command printed.

    Args:
        words: the program and its arguments; no shell reads them.
        timeout_s: seconds until its process group is killed.
        where: the peer, for messages.
        env: variables to add to its environment.

    Raises:
        PeerTimedOut: it still ran then.
        PeerThrew: it ended with another exit code than 0; the message has what it printed as an error.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", _SUPERVISOR, *words],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            what = f"it still ran after {timeout_s:g} s and was killed"
            raise PeerTimedOut(what, where=where, remedy="raise its timeout, or take a smaller graph") from None
        finally:
            _end(process)
        printed = Printed(_end_of(output), _end_of(errors))
    if code != 0:
        said = printed.last_words
        raise PeerThrew(f"it ended {_manner(code)}{f': {said}' if said else ', and printed nothing'}", where=where)
    return printed


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - MOST_OUTPUT))
    return file.read().decode("utf-8", "replace")


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
