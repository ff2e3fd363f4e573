"""Starts ranks on this machine and looks after them.

The starter makes a pair of sockets for every two ranks and runs the same command line once for each, in a session of
its own.  Rank 0 speaks for all; of the others the starter keeps what they say.  Whatever ends a rank, all ranks end:
one that loses another stops by itself, and who does not within seconds is ended.  The starter then says in one line
which rank it was and why, and ends as that one did.  Ranks whose starter is gone end at once.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from gpugraph.base.errors import EXIT_INTERRUPTED, printable
from gpugraph.base.host import ended_by, environment_with_package
from gpugraph.base.ranks import LOST, RANK
from gpugraph.ext.ranks.stopped import StoppedRanks
from gpugraph.ext.ranks.world import devices_of

GRACE_S = 3.0
"""Seconds that ranks have to end once one has, and again once they are asked to."""
_LOOK_S = 0.02


@dataclass(eq=False)
class _Child:
    """A rank as its starter sees it; ``errors`` is what it wrote to standard error, of rank 0 nothing."""

    rank: int
    device: str
    process: subprocess.Popen[bytes]
    errors: IO[bytes]

    def said(self) -> str:
        """Return what it wrote; called when it has ended."""
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")

    def last_words(self) -> str:
        """Return why it failed, in its own words."""
        lines = [line.strip() for line in self.said().splitlines()]
        own = [line for line in lines if line.startswith("gpugraph: ")]
        text = own[-1].removeprefix("gpugraph: ") if own else next((line for line in reversed(lines) if line), "")
        return text.removeprefix("error: ")


def run_command(named: str, words: Sequence[str]) -> int | None:
    """Run a command line on the ranks of the text ``named``, as ``run_ranks`` does; None if it names one device.

    Raises InputError or DeviceUnavailable if there are no such devices.
    """
    devices = devices_of(named)
    return None if devices is None else run_ranks(devices, words)


def run_ranks(devices: Sequence[str], words: Sequence[str], module: str = "gpugraph") -> int:
    """Run a command line, of a module, on ranks with these devices; return the exit code, having said what went wrong.

    KeyboardInterrupt is raised after all ranks have ended.
    """
    children: list[_Child] = []
    with contextlib.ExitStack() as files:
        try:
            _start(devices, ["-P", "-m", module, *words], children, files)
            stopped = StoppedRanks({child.rank: child.process.pid for child in children})
            while all(child.process.poll() in (None, 0) for child in children):
                if all(child.process.poll() == 0 for child in children):
                    return 0
                stopped.name()
                time.sleep(_LOOK_S)
            _wait(children, GRACE_S)
            ended = {child.rank: child.process.poll() for child in children}
        finally:
            _end(children)
        code, line = _verdict(children, ended)
        if line:
            if "--debug" in words:
                for child in children:
                    sys.stderr.write(printable(child.said()))
            print(f"gpugraph: error: {printable(line)}", file=sys.stderr, flush=True)
        return code


def _verdict(children: Sequence[_Child], ended: Mapping[int, int | None]) -> tuple[int, str]:
    """Return how it all ended, and what is still to be said, of ranks that ended before anybody asked them to."""
    for child in children:
        code = ended[child.rank]
        if code is not None and code < 0:
            # A library that ends its process itself, for want of memory say, has written why.
            why = child.last_words() if code == -signal.SIGABRT else ""
            return 3, f"{_called(child)} was {ended_by(-code)}" + (f": {why}" if why else "")
    for child in children:
        code = ended[child.rank]
        if code == EXIT_INTERRUPTED:  # it leaves the word to its starter, which was not interrupted
            return code, f"{_called(child)} was interrupted by a signal"
        if code not in (None, 0, LOST):
            return int(code or 0), "" if child.rank == 0 else f"{_called(child)}: {child.last_words()}"
    return 3, "the ranks have lost each other"


def _called(child: _Child) -> str:
    return f"rank {child.rank} ({child.device}, process {child.process.pid})"


def _start(devices: Sequence[str], words: Sequence[str], children: list[_Child], files: contextlib.ExitStack) -> None:
    size = len(devices)
    pairs = {(i, j): socket.socketpair() for j in range(size) for i in range(j)}
    lifeline, held = os.pipe()  # what is never written; its other end closes with this process
    try:
        for rank, device in enumerate(devices):
            own = {j if i == rank else i: pair[i != rank] for (i, j), pair in pairs.items() if rank in (i, j)}
            numbers = {other: one.fileno() for other, one in own.items()}
            joined = [f"{rank}/{size}", str(lifeline), *(f"{other}:{number}" for other, number in numbers.items())]
            environment = {**environment_with_package(), RANK: " ".join(joined)}
            if device.startswith(("cpu", "emulated")):  # ranks share the processors
                environment.setdefault("NUMBA_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // size)))
            errors = files.enter_context(os.fdopen(os.memfd_create("errors"), "w+b"))  # read when all ranks have ended
            process = subprocess.Popen(
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                stdout=None if rank == 0 else subprocess.DEVNULL,
                stderr=None if rank == 0 else errors,
                pass_fds=[lifeline, *numbers.values()],
                start_new_session=True,
                env=environment,
            )
            children.append(_Child(rank, device, process, errors))
    finally:
        for pair in pairs.values():
            for one in pair:
                one.close()
        os.close(lifeline)
    _HELD.append(held)


_HELD: list[int] = []


def _wait(children: Sequence[_Child], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and any(child.process.poll() is None for child in children):
        time.sleep(_LOOK_S)


def _end(children: Sequence[_Child]) -> None:
    """End what still runs, first by asking."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for child in children:
            if child.process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.process.pid, number)
        _wait(children, GRACE_S)
