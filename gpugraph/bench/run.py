"""The runner: takes the cells of a plan through workers, one graph after another, and stores each as it ends.

There are one or several workers, which take the next graph as soon as they are free, long ones in time for all workers
to end together; or the graphs go to an engine, which has them measured on other machines (``places.py``).

Cells that share a graph go to the worker together, which interleaves their samples.  A cell that hangs is recorded and
its worker killed; the others of its graph start again without it.  Where memory or time run out, the larger graphs of
the same series are skipped.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from gpugraph.base.host import available_memory
from gpugraph.base.quantities import in_units
from gpugraph.bench.estimate import Budget, Prices, making_bytes
from gpugraph.bench.local_workers import GroupMeasurement, LocalWorker, side_by_side
from gpugraph.bench.messages import DescribedDevice, cell_to_words
from gpugraph.bench.places import Engine
from gpugraph.bench.plan import Plan, Planned, groups_of, units_of
from gpugraph.bench.store import Store
from gpugraph.bench.sweep import PAPER, Sweep
from gpugraph.measure.cell import unopened_id
from gpugraph.measure.environment import command_line
from gpugraph.problems.algorithm import algorithm_to_words
from gpugraph.problems.contract import Input
from gpugraph.records.record import NO_LARGER, Record

LAST_UNITS = 50
"""With no more graphs left than that, workers see to it that they end together."""

RESUMING = "gpugraph.ext.resuming"
"""The module that tells which cells are finished; imported where the file of records has any."""

STOPPING = ("out of memory", "timeout", "died")
"""Outcomes after which a larger graph of the same series is not tried."""


class Watcher(Protocol):
    """An observer of a running sweep."""

    def doing(self, planned: Planned, what: str) -> None:
        """A cell is at something."""

    def ended(self, planned: Planned, record: Record, done: int, left_s: float) -> None:
        """A cell has its record; ``done`` have, and the rest will take about ``left_s`` seconds."""


@dataclass
class Totals:
    """How a sweep ended: its records in order, cells finished before, those measured again, and lost jobs."""

    records: list[tuple[Planned, Record]] = field(default_factory=list)
    resumed: int = 0
    again: int = 0
    lost: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Runner:
    """Runs the cells of a plan; records go to the store, and the watcher hears of every step.

    ``retry``: cells that did not go well count as not finished.  They are measured by the ``workers`` here, one if none
    is given, or by an ``engine`` elsewhere.  ``finished`` are ids of finished cells, to begin with those that the store
    does not have.
    A cell that is not ``needed`` any more, by the records so far, is left out.
    """

    sweep: Sweep
    plan: Plan
    store: Store
    devices: Mapping[str, DescribedDevice]
    prices: Prices
    watcher: Watcher | None
    retry: bool = False
    workers: Sequence[LocalWorker] = ()
    engine: Engine | None = None
    finished: Sequence[str] = ()
    needed: Callable[[Planned, Sequence[Record]], bool] = lambda planned, records: True

    def __post_init__(self) -> None:
        self.workers = self.workers or [LocalWorker()]
        self._lock, self._stopped = threading.RLock(), False
        self.cold = bool(self.sweep.sampling.get("cold", False))
        self._processes = int(self.sweep.sampling.get("processes", 1))
        self._parts: dict[int, tuple[int, Mapping[str, Any]]] = {}
        self._finished = None
        if records := self.store.records:
            self._finished = import_module(RESUMING).Finished(records, self.sweep.sampling, retry=self.retry)
        self.finished = sorted({*(self._finished.by_id if self._finished else ()), *self.finished})
        self._blocked: dict[str, tuple[int, str, str]] = {}
        self._graphs: dict[Input, Mapping[str, Any]] = {}
        self._named: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        self._budget = Budget(
            self.sweep.budget_s,
            self.prices,
            self._processes,
            len(self.workers),
            by_clock=self.sweep.budget_by_clock,
            began=self.sweep.budget_began,
        )
        self.totals = Totals()

    def run(self) -> Totals:
        """Run every cell that is not finished; return how it went.  Ctrl-C leaves what was stored."""
        left = self._unfinished()
        self._budget.expect([p for p in left if not p.refused and self._obstacle(p, self.workers[0]) is None])
        unfinished = {self._name(planned) for planned in left}
        self.store.drop(lambda record: record.outcome == "skipped" and record.shape.cell.name in unfinished)
        units = units_of(left)
        if self.engine is not None:
            self.engine.measure(self, units)
        else:
            side_by_side(self.workers, lambda worker: self._serve(worker, units), self._stop)
        return self.totals

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for worker in self.workers:
                worker.drop()

    def _serve(self, worker: LocalWorker, units: list[list[Planned]]) -> None:
        """Have a worker measure graph after graph until none is left."""
        try:
            while (unit := self._next(units)) is not None:
                for group in groups_of(unit):
                    self._run_group(group, worker)
        finally:
            worker.drop()

    def _next(self, units: list[list[Planned]]) -> list[Planned] | None:
        """Return the graph that a worker takes: the smallest, or the longest if others would wait for it in the end."""
        with self._lock:
            if self._stopped or not units:
                return None
            if len(self.workers) == 1 or len(units) > LAST_UNITS:
                return units.pop(0)
            seconds = [self._seconds(unit) for unit in units]
            longest = max(seconds)
            return units.pop(seconds.index(longest) if longest * len(self.workers) >= sum(seconds) else 0)

    def _seconds(self, unit: Sequence[Planned]) -> float:
        """Return about how many seconds the cells of a graph take."""
        needs = [self.prices.need(planned) for planned in unit]
        return sum(need.seconds for need in needs) + max(need.opening_s for need in needs)

    def _name(self, planned: Planned) -> str:
        """Return what names a cell without its graph being opened, so that a new record takes the place of an old."""
        return unopened_id(planned.cell, self.devices[planned.cell.device].get("description", {}), self.cold)[:16]

    def _unfinished(self) -> list[Planned]:
        if self._finished is None:
            return list(self.plan.cells)
        anywhere = self.engine is not None or len(self.workers) > 1  # not all devices need be alike
        left = []
        for planned in self.plan.cells:
            record = self._finished.of(planned, self.devices[planned.cell.device]["description"], anywhere=anywhere)
            if record is None:
                left.append(planned)
            else:
                self.totals.resumed += 1
                self._note_block(planned, record)
        return left

    def _run_group(self, group: list[Planned], worker: LocalWorker) -> None:
        with self._lock:
            group = [planned for planned in group if self.needed(planned, self.store.records)]
            again = self._finished and any(self._name(planned) in self._finished.cut_short for planned in group)
            group, later = self._budget.fitting(group) if again else (group, [])  # else all get few samples again
            cells = [planned for planned in group if not self._skipped(planned, worker)]
        opened = False
        while cells and not self._stopped:
            began = time.monotonic()
            expected = None if opened else [self.prices.need(planned) for planned in cells]
            measured = self._measure_group(cells, worker)
            with self._lock:
                self._budget.charge(cells, measured.seconds, time.monotonic() - began, expected)
                opened = True
                left = [p for i, p in enumerate(cells) if i not in measured.ended or id(p) in self._parts]
                if measured.worker_lost or any(id(p) in self._parts for p in cells):  # the next samples are another's
                    worker.drop()
                cells = [planned for planned in left if not self._skipped(planned, worker)]
        if later:
            self._run_group(later, worker)

    def _measure_group(self, cells: Sequence[Planned], worker: LocalWorker) -> GroupMeasurement:
        """Let a worker measure cells; return how that went."""
        with self._lock:
            if self._stopped:
                raise KeyboardInterrupt  # which the thread that runs all workers is raising already
            process = worker.process = worker.process or worker.start()
        measured = GroupMeasurement(
            process,
            self._request(cells),
            [planned.limits for planned in cells],
            doing=lambda at, what: self.watcher.doing(cells[at], what) if self.watcher else None,
            finished=lambda at, found: self._take(cells[at], found),
        )
        measured.run()
        return measured

    def _take(self, planned: Planned, found: Mapping[str, Any]) -> None:
        """End a cell, or keep what it has where other processes are to take more samples of it."""
        with self._lock:
            if self._stopped:  # its worker was ended on the way out
                return
            taken = self._parts.pop(id(planned), (0, {}))[0] + 1
            if taken < self._processes and found.get("record", {}).get("outcome") == "ok":
                self._parts[id(planned)] = taken, found
            else:
                self.end(planned, found)

    def _request(self, cells: Sequence[Planned]) -> dict[str, object]:
        return {
            "do": "measure",
            "cells": [cell_to_words(planned.cell) for planned in cells],
            "sampling": dict(self.sweep.sampling),
            "peers": self.sweep.peers,
            "finished": self.finished,
            **self._budget.seconds_for(cells),
            "earlier": {str(i): self._parts[id(p)][1]["record"] for i, p in enumerate(cells) if id(p) in self._parts},
            "plugins": {
                i: algorithm_to_words(planned.plugin) for i, planned in enumerate(cells) if planned.plugin is not None
            },
        }

    def _skipped(self, planned: Planned, worker: LocalWorker) -> bool:
        """Record a cell as refused or skipped where it cannot or may not run; tell whether it was."""
        if planned.refused:
            self.end(planned, {"outcome": "refused", "message": planned.refused})
            return True
        reason = self._obstacle(planned, worker)
        if reason is None:
            begun = self._parts.get(id(planned), (0,))[0]
            reason = self._budget.obstacle(planned, begun, first=not (begun or self.totals.records))
        if reason is not None:
            taken = self._parts.pop(id(planned), None)
            self.end(planned, taken[1] if taken else {"outcome": "skipped", "message": reason})
        return reason is not None

    def no_smaller(self, planned: Planned) -> str | None:
        """Return why a graph is not tried where one of the same series that is no larger came to nothing."""
        arcs, outcome, graph = self._blocked.get(planned.cell.series or "", (0, "", ""))
        if outcome and planned.size.arcs >= arcs and str(planned.cell.graph) != graph:
            return f"{outcome} at {graph}{NO_LARGER}"
        return None

    def _obstacle(self, planned: Planned, worker: LocalWorker) -> str | None:
        if (reason := self.no_smaller(planned)) is not None:
            return reason
        need, limit = self.prices.need(planned), planned.limits.memory_bytes
        if limit is not None and max(need.host_bytes, need.device_bytes) > limit:
            about = in_units(max(need.host_bytes, need.device_bytes))
            return f"needs about {about} of memory, the limit of a cell is {in_units(limit)}"
        free, needed = self._free_memory(planned, worker), making_bytes(planned)
        if needed > free and not self._graphs.get(planned.cell.input):
            return f"needs about {in_units(needed)} of host memory, {in_units(free)} are available"
        total = self.devices[planned.cell.device]["description"].get("memory_bytes")
        # Repeats that a generator drops may halve a graph, so that only twice too large is too large for certain.
        exact = planned.kind == "cuda" and planned.size.exact
        if exact and isinstance(total, int) and 0 < total < planned.size.nbytes // 2:
            return f"the graph takes about {in_units(planned.size.nbytes)}, the device has {in_units(total)}"
        return None

    def _free_memory(self, planned: Planned, worker: LocalWorker) -> int:
        """Return the bytes of host memory there are for a graph; a worker whose older graphs are in its way goes."""
        free, needed = available_memory(), making_bytes(planned)
        if needed > free and worker.process is not None:
            held = worker.process.resident_bytes() or 0
            if needed <= free + held and not self._graphs.get(planned.cell.input):
                worker.drop()
            return free + held
        return free

    def end(self, planned: Planned, found: Mapping[str, Any]) -> None:
        """Store the record of a cell: the worker's own, or one made of an outcome and a message."""
        description = self.devices[planned.cell.device]["description"]
        if "record" in found:
            record = dict(found["record"])
            if planned.cell.algorithm != "auto":  # which is another one on another graph
                named = {"name": record["algorithm"], "source": record.get("algorithm_source", {})}
                self._named[planned.algorithm_key] = named
            if record["graph"].get("digest"):
                self._graphs[planned.cell.input] = record["graph"]
        else:
            from gpugraph.measure.assemble import failed_record

            record = failed_record(
                planned.cell,
                found["outcome"],
                found["message"],
                graph=self._graphs.get(planned.cell.input),
                device=description,
                algorithm=self._named.get(planned.algorithm_key),
            ).data
            if planned.declared:
                record["parameters"] |= planned.declared.options
        known = record.get("cell") or {}
        record["cell"] = {
            "id": known.get("id") or found.get("id") or unopened_id(planned.cell, description, self.cold),
            "name": self._name(planned),
            "series": planned.cell.series,
            "sweep": planned.cell.sweep,
            "title": self.sweep.title,
            "axes": dict(planned.cell.axes),
            "input": planned.cell.input.describe(),
        }
        if self.sweep.paper is not None:
            record["paper"] = import_module(PAPER).paper_of(self.sweep.paper, planned.cell)
        record["environment"] = {**record.get("environment", {}), "command": command_line()}
        made = Record.of(record)
        if self._finished is None or not self._finished.keeps(made):
            if not self.store.drop(lambda old: old.shape.cell.name == made.shape.cell.name, made):
                self.store.append(made)
            self.totals.again += self._finished is not None and made.shape.cell.name in self._finished.cut_short
        self._note_block(planned, made)
        self.totals.records.append((planned, made))
        done = len(self.totals.records) + self.totals.resumed
        left_s = self._budget.ended(planned, made) / len(self.workers)
        if self.watcher is not None:
            self.watcher.ended(planned, made, done, 0.0 if self.engine else left_s)

    def _note_block(self, planned: Planned, record: Record) -> None:
        outcome, series = record.outcome, planned.cell.series or ""
        if outcome in STOPPING and planned.size.arcs <= self._blocked.get(series, (2**63, "", ""))[0]:
            self._blocked[series] = (planned.size.arcs, outcome, str(planned.cell.graph))
