"""Names ranks of this machine that somebody has stopped (SIGSTOP), and that all others wait for."""

import os
import sys
import threading
import time
from collections.abc import Mapping

from gpugraph.base.errors import printable

STOPPED_S = 10.0
"""Seconds after which a rank that does not run is named."""


class StoppedRanks:
    """Looks which of some ranks are stopped; ``processes``: the process id of each, on this machine."""

    def __init__(self, processes: Mapping[int, int]):
        self._processes = processes
        self._since: dict[int, float] = {}
        self._next = 0.0

    def name(self, by: int | None = None) -> None:
        """Print a line for each rank that has been stopped for ``STOPPED_S``, once; called often, it looks seldom.

        Ranks that look after each other leave it to the first of them that runs; ``by`` is the one that calls.
        """
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + STOPPED_S / 10
        stopped = {rank for rank, process in self._processes.items() if _is_stopped(process)}
        self._since = {rank: self._since.get(rank, now) for rank in stopped}
        for rank, since in self._since.items():
            if now - since > STOPPED_S and by in (None, min(self._processes.keys() - stopped, default=None)):
                self._since[rank] = float("inf")
                process = self._processes[rank]
                line = f"gpugraph: rank {rank} (process {process}) is stopped, and the others wait for it"
                print(printable(f"{line} — kill -CONT {process} lets it go on"), file=sys.__stderr__, flush=True)

    def watch(self, by: int) -> None:
        """Look on in a thread until this process ends, for the rank ``by``."""

        def look() -> None:
            while True:
                time.sleep(STOPPED_S / 10)
                self.name(by)

        threading.Thread(target=look, name="stopped ranks", daemon=True).start()


def machine() -> str:
    """Return what is the same of processes that see each other's ids; empty where that cannot be known."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read() + os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _is_stopped(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in ("T", "t")
    except (OSError, IndexError):
        return False
