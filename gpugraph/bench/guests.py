"""Asks users' own algorithms what they are, each in a process that may hang or end without harm."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from gpugraph.bench.process import WorkerDied, WorkerProcess
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.guest_sources import described_guest
from gpugraph.quantities import in_seconds

LEAST_LIMIT_S = 30.0
"""Seconds that importing a guest may take in any case: compilers and CUDA libraries are slow to load."""


class Guests:
    """What users' own algorithms say of themselves; each is asked once.

    Args:
        limit_s: seconds that importing one may take, if they are more than ``LEAST_LIMIT_S``.
        start: starts a worker.
    """

    def __init__(self, limit_s: float = 0.0, start: Callable[[], WorkerProcess] = WorkerProcess):
        self._limit_s, self._start = max(limit_s, LEAST_LIMIT_S), start
        self._told: dict[str, Mapping[str, Any]] = {}

    def find(self, name: str, problem: str) -> Algorithm:
        """Return a user's own algorithm as one that cannot run: its devices, options and the like.

        Args:
            name: ``FILE.py:OBJECT``, or the name of an entry point.
            problem: what it is to solve.

        Raises:
            InputError: it cannot be used, or importing it hangs or ends its process.
        """
        return described_guest(self._about(name)[problem])

    def any_problem(self, name: str) -> Algorithm:
        """Return it for the problem that it solves, which an installed one says itself.

        Raises:
            InputError: as for ``find``.
        """
        told = self._about(name)
        return described_guest(next((one for one in told.values() if "error" not in one), told[PROBLEMS[0]]))

    def _about(self, name: str) -> Mapping[str, Any]:
        if name not in self._told:
            self._told[name] = self._ask(name)
        return self._told[name]

    def _ask(self, name: str) -> Mapping[str, Any]:
        """Import it in a worker of its own: what it does to that process meets nobody else."""
        with self._start() as worker:
            worker.ask({"do": "describe", "algorithm": name})
            end = time.monotonic() + self._limit_s
            what = f"importing it took more than {in_seconds(self._limit_s)}"
            try:
                while (left := end - time.monotonic()) > 0:
                    event = worker.hear(left)
                    if event is not None and event["event"] == "described":
                        told: Mapping[str, Any] = event["told"]
                        return told
            except WorkerDied as death:
                what = f"importing it failed: {death.what}"
        error = {"what": what, "where": name, "remedy": "correct the user's own algorithm"}
        return {problem: {"error": error} for problem in PROBLEMS}
