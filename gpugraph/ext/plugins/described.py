"""What users' own algorithms say of themselves, asked in a process of its own, which may hang or end without harm."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from gpugraph.base.quantities import in_seconds
from gpugraph.bench.local_workers import WorkerDied, WorkerProcess
from gpugraph.problems.algorithm import Algorithm, algorithm_from
from gpugraph.problems.contract import PROBLEMS

LEAST_LIMIT_S = 30.0
"""Seconds that importing a plugin may take in any case: compilers and CUDA libraries are slow to load."""


class Described:
    """What users' own algorithms say of themselves; each is asked once, and may take ``limit_s`` seconds."""

    def __init__(self, limit_s: float = 0.0, start: Callable[[], WorkerProcess] = WorkerProcess):
        self._limit_s, self._start = max(limit_s, LEAST_LIMIT_S), start

    def find(self, name: str, problem: str) -> Algorithm:
        """Return a user's own algorithm as one that cannot run: its options etc.; InputError if it cannot be used."""
        return algorithm_from(self._about(name)[problem])

    def any_problem(self, name: str) -> Algorithm:
        """Return it for the problem that it solves, which an installed one says itself; errors as for ``find``."""
        described = self._about(name)
        return algorithm_from(
            next((one for one in described.values() if "error" not in one), described[next(iter(PROBLEMS))])
        )

    @cache  # noqa: B019  lives as long as one expansion
    def _about(self, name: str) -> Mapping[str, Any]:
        """Import it in a worker of its own: what it does to that process meets nobody else."""
        with self._start() as worker:
            what = f"importing it took more than {in_seconds(self._limit_s)}"
            try:
                event = worker.answer({"do": "describe", "algorithm": name}, "described", self._limit_s)
                if event is not None:
                    described: Mapping[str, Any] = event["problems"]
                    return described
            except WorkerDied as death:
                what = f"importing it failed: {death.what}"
        error = {"what": what, "where": name, "remedy": "correct the user's own algorithm"}
        return {problem: {"error": error} for problem in PROBLEMS}
