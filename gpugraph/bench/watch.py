"""Watch a worker at one request: which cell runs, for how long, and with how much memory; stop it at a limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpugraph.bench.expand import Planned
from gpugraph.bench.process import WorkerDied, WorkerProcess
from gpugraph.quantities import in_seconds, in_units

TICK_S = 0.1
"""Seconds between two looks at the clock and at the worker's memory."""

Found = Mapping[str, Any]
"""How a cell ended: the worker's ``record``, or ``outcome`` and ``message``; and the cell's ``id``, if it is known."""


@dataclass
class RaceOutcome:
    """How a request ended.

    Attributes:
        seconds: of each cell's own.
        ended: cells that ended with the worker, and how.
        worker_lost: the worker must be replaced.
    """

    seconds: list[float]
    ended: list[tuple[Planned, Found]] = field(default_factory=list)
    worker_lost: bool = False


class Race:
    """A request to measure cells that share a graph.

    Args:
        worker: who is asked.
        cells: the cells.
        request: what is asked.
        doing: told what a cell is at.
    """

    def __init__(
        self,
        worker: WorkerProcess,
        cells: Sequence[Planned],
        request: Mapping[str, Any],
        doing: Callable[[Planned, str], None],
    ):
        self._worker, self._cells, self._request, self._doing = worker, cells, request, doing
        self._ids: dict[int, str] = {}
        self._at = 0
        self._opening = True
        self._what = "starting"
        self._outcome = RaceOutcome([0.0] * len(cells))
        self.ended: list[Planned] = []

    def run(self, finished: Callable[[Planned, Found], None]) -> RaceOutcome:
        """Watch until the worker is done, is lost, or had to be killed.

        Args:
            finished: called with each cell as it ends.
        """
        self._worker.ask(self._request)
        began = looked = time.monotonic()
        opening_s = 0.0
        while True:
            try:
                event = self._worker.hear(TICK_S)
            except WorkerDied as death:
                return self._lose("died", str(death))
            now = time.monotonic()
            if self._opening:
                opening_s = now - began
            else:
                self._outcome.seconds[self._at] += now - looked
            looked = now
            if event is None:
                self._doing(self._cells[self._at], self._what)
            elif self._take(event, finished):
                return self._outcome
            if (over := self._over(opening_s)) is not None:
                self._worker.end()
                return self._lose(*over)

    def _take(self, event: Mapping[str, Any], finished: Callable[[Planned, Found], None]) -> bool:
        """Act on an answer; tell whether it was the last."""
        kind = event["event"]
        if kind == "current":
            self._at = event["index"]
        elif kind == "opened":
            self._opening = False
        elif kind == "identified":
            self._ids[event["index"]] = event["id"]
        elif kind == "progress":
            self._what = str(event["what"])
            self._doing(self._cells[self._at], self._what)
        elif kind == "finished":
            planned = self._cells[event["index"]]
            self.ended.append(planned)
            finished(planned, {"record": event["record"], "id": self._ids.get(event["index"])})
        elif kind == "already":
            self.ended.append(self._cells[event["index"]])
        elif kind == "broken":
            self._lose("threw", event["message"], everyone=True)
            self._outcome.worker_lost = True
        elif kind == "lost":
            self._outcome.worker_lost = True
            return True
        return bool(kind == "done")

    def _over(self, opening_s: float) -> tuple[str, str] | None:
        """Return the outcome and the message where a limit is passed."""
        limits = self._cells[self._at].limits
        if self._opening and opening_s > limits.load_s:
            return "timeout", f"opening the graph took more than {in_seconds(limits.load_s)}"
        if not self._opening and self._outcome.seconds[self._at] > limits.time_s:
            return "timeout", f"took more than {in_seconds(limits.time_s)} of its own"
        if limits.memory_bytes is not None:
            held = self._worker.resident_bytes()
            if held is not None and held > limits.memory_bytes:
                what = f"its process held {in_units(held)}, the limit is {in_units(limits.memory_bytes)}"
                return "out of memory", what
        return None

    def _lose(self, outcome: str, message: str, *, everyone: bool = False) -> RaceOutcome:
        """Blame the cell that was at work, or all of them while their graph was being opened."""
        self._outcome.worker_lost = True
        over = {id(planned) for planned in self.ended}
        blamed = range(len(self._cells)) if self._opening or everyone else [self._at]
        for index in blamed:
            planned = self._cells[index]
            if id(planned) not in over:
                self.ended.append(planned)
                found = {"outcome": outcome, "message": message, "id": self._ids.get(index)}
                self._outcome.ended.append((planned, found))
        return self._outcome
