"""The runner: takes the cells of a plan through a worker, one graph after another, and stores each as it ends.

Cells that share a graph go to the worker together, which interleaves their samples.  A cell that hangs is recorded and
its worker killed; the others of its graph start again without it.  Where memory or time run out, the larger graphs of
the same series are skipped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gpugraph.bench.estimate import Budget, Prices
from gpugraph.bench.plan import Plan, Planned, groups_of
from gpugraph.bench.process import Race, WorkerProcess
from gpugraph.bench.store import Finished, Store
from gpugraph.bench.sweep import Sweep
from gpugraph.bench.sweep_file import paper_of
from gpugraph.host import available_memory
from gpugraph.measure.assemble import failed_record
from gpugraph.measure.cell import unopened_id
from gpugraph.measure.instruments import command_line
from gpugraph.problems.contract import Input
from gpugraph.problems.guest_sources import told_of
from gpugraph.quantities import in_units

STOPPING = ("out of memory", "timeout", "died")
"""Outcomes after which a larger graph of the same series is not tried."""


class Watcher(Protocol):
    """Who is told how a sweep goes on."""

    def doing(self, planned: Planned, what: str) -> None:
        """A cell is at something."""
        ...

    def ended(self, planned: Planned, record: Mapping[str, Any], done: int, left_s: float) -> None:
        """A cell has its record; ``done`` have, and the rest will take about ``left_s`` seconds."""
        ...


@dataclass
class Totals:
    """How a sweep ended.

    Attributes:
        records: of this run, in the order in which they ended.
        resumed: cells that were finished before.
    """

    records: list[tuple[Planned, Mapping[str, Any]]] = field(default_factory=list)
    resumed: int = 0


class Runner:
    """Runs a plan.

    Args:
        sweep: what the plan was made from.
        plan: the cells.
        store: where records go.
        devices: what ``describe_device`` of the worker said, by name.
        prices: of the cells.
        watcher: is told how it goes on.
        retry: cells that did not go well count as not finished.
        start: starts a worker.
        worker: one that runs already.
    """

    def __init__(
        self,
        sweep: Sweep,
        plan: Plan,
        store: Store,
        devices: Mapping[str, Mapping[str, Any]],
        prices: Prices,
        watcher: Watcher,
        *,
        retry: bool = False,
        start: Callable[[], WorkerProcess] = WorkerProcess,
        worker: WorkerProcess | None = None,
    ):
        self._sweep, self._plan, self._store, self._devices = sweep, plan, store, devices
        self._prices, self._watcher, self._start, self._worker = prices, watcher, start, worker
        self._cold = bool(sweep.sampling.get("cold", False))
        self._processes = int(sweep.sampling.get("processes", 1))
        self._parts: dict[int, tuple[int, Mapping[str, Any]]] = {}
        self._finished = Finished(store.records, retry=retry, cold=self._cold)
        self._blocked: dict[str, tuple[int, str, str]] = {}
        self._graphs: dict[Input, Mapping[str, Any]] = {}
        self._named: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        self._budget = Budget(sweep.budget_s, prices, self._processes)
        self.totals = Totals()

    def run(self) -> Totals:
        """Run every cell that is not finished; return how it went.

        Raises:
            KeyboardInterrupt: Ctrl-C; what was stored stays.
            InputError: the store cannot be written.
        """
        left = self._unfinished()
        self._budget.expect(left)
        unfinished = {self._name(planned) for planned in left}
        self._store.drop(lambda record: record.get("outcome") == "skipped" and name_of(record) in unfinished)
        try:
            for group in groups_of(left):
                self._run_group(group)
        finally:
            self._drop_worker()
        return self.totals

    def _name(self, planned: Planned) -> str:
        """Return what names a cell without its graph being opened, so that a new record takes the place of an old."""
        return unopened_id(planned.cell, self._devices[planned.cell.device].get("description", {}), self._cold)[:16]

    def _unfinished(self) -> list[Planned]:
        left = []
        for planned in self._plan.cells:
            description = self._devices[planned.cell.device]["description"]
            record = self._finished.find(planned.cell, description, planned.guest)
            if record is None:
                left.append(planned)
            else:
                self.totals.resumed += 1
                self._note_block(planned, record)
        return left

    def _run_group(self, group: list[Planned]) -> None:
        cells = [planned for planned in group if not self._skipped(planned)]
        opened = False
        while cells:
            began = time.monotonic()
            expected = None if opened else [self._prices.need(planned) for planned in cells]
            race = self._race(cells)
            self._budget.charge(cells, race.seconds, time.monotonic() - began, expected)
            opened = True
            if race.worker_lost or self._parts:  # the next samples are another process's
                self._drop_worker()
            left = [p for i, p in enumerate(cells) if i not in race.ended or id(p) in self._parts]
            cells = [planned for planned in left if not self._skipped(planned)]

    def _race(self, cells: Sequence[Planned]) -> Race:
        """Let the worker measure cells; return how that went."""
        worker = self._worker = self._worker or self._start()
        race = Race(
            worker,
            self._request(cells),
            [planned.limits for planned in cells],
            doing=lambda at, what: self._watcher.doing(cells[at], what),
            finished=lambda at, found: self._take(cells[at], found),
        )
        race.run()
        return race

    def _take(self, planned: Planned, found: Mapping[str, Any]) -> None:
        """End a cell, or keep what it has where other processes are to take more samples of it."""
        taken = self._parts.pop(id(planned), (0, {}))[0] + 1
        if taken < self._processes and found.get("record", {}).get("outcome") == "ok":
            self._parts[id(planned)] = taken, found
        else:
            self._end(planned, found)

    def _request(self, cells: Sequence[Planned]) -> dict[str, Any]:
        from gpugraph.bench.worker import cell_to_words

        return {
            "do": "measure",
            "cells": [cell_to_words(planned.cell) for planned in cells],
            "sampling": dict(self._sweep.sampling),
            "peers": self._sweep.peers,
            "finished": sorted(self._finished.by_id),
            "earlier": {str(i): self._parts[id(p)][1]["record"] for i, p in enumerate(cells) if id(p) in self._parts},
            "guests": {i: told_of(planned.guest) for i, planned in enumerate(cells) if planned.guest is not None},
        }

    def _skipped(self, planned: Planned) -> bool:
        """Record a cell as refused or skipped where it cannot or may not run; tell whether it was."""
        if planned.refused:
            self._end(planned, {"outcome": "refused", "message": planned.refused})
            return True
        reason = self._obstacle(planned)
        if reason is None:
            begun = self._parts.get(id(planned), (0,))[0]
            reason = self._budget.obstacle(planned, begun, first=not self.totals.records)
        if reason is not None:
            taken = self._parts.pop(id(planned), None)
            self._end(planned, taken[1] if taken else {"outcome": "skipped", "message": reason})
        return reason is not None

    def _obstacle(self, planned: Planned) -> str | None:
        arcs, outcome, graph = self._blocked.get(planned.cell.series or "", (0, "", ""))
        if outcome and planned.size.arcs >= arcs and str(planned.cell.graph) != graph:
            return f"{outcome} at {graph}, which is no larger"
        need, limit = self._prices.need(planned), planned.limits.memory_bytes
        if limit is not None and max(need.host_bytes, need.device_bytes) > limit:
            about = in_units(max(need.host_bytes, need.device_bytes))
            return f"needs about {about} of memory, the limit of a cell is {in_units(limit)}"
        free = self._free_memory(planned)
        if planned.size.making_bytes > free and not self._graph(planned):
            return f"needs about {in_units(planned.size.making_bytes)} of host memory, {in_units(free)} are available"
        total = self._devices[planned.cell.device]["description"].get("memory_bytes")
        # Repeats that a generator drops may halve a graph, so that only twice too large is too large for certain.
        if planned.kind == "cuda" and total and planned.size.exact and planned.size.nbytes // 2 > total:
            return f"the graph takes about {in_units(planned.size.nbytes)}, the device has {in_units(total)}"
        return None

    def _free_memory(self, planned: Planned) -> int:
        """Return the bytes of host memory there are for a graph; a worker whose older graphs are in its way goes."""
        free = available_memory()
        if planned.size.making_bytes > free and self._worker is not None:
            held = self._worker.resident_bytes() or 0
            if planned.size.making_bytes <= free + held and not self._graph(planned):
                self._drop_worker()
            return free + held
        return free

    def _end(self, planned: Planned, found: Mapping[str, Any]) -> None:
        """Store the record of a cell: the worker's own, or one made of an outcome and a message."""
        description = self._devices[planned.cell.device]["description"]
        if "record" in found:
            record = dict(found["record"])
            if planned.cell.algorithm != "auto":  # which is another one on another graph
                self._named[planned.algorithm_key] = {
                    "name": record["algorithm"],
                    "source": record.get("algorithm_source", {}),
                }
            if record["graph"].get("digest"):
                self._graphs[planned.cell.input] = record["graph"]
        else:
            made = failed_record(
                planned.cell,
                found["outcome"],
                found["message"],
                graph=self._graph(planned),
                device=description,
                algorithm=self._named.get(planned.algorithm_key),
            )
            record = made.data
        told = record.get("cell") or {}
        record["cell"] = {
            "id": told.get("id") or found.get("id") or unopened_id(planned.cell, description, self._cold),
            "name": self._name(planned),
            "series": planned.cell.series,
            "sweep": planned.cell.sweep,
            "axes": dict(planned.cell.axes),
            "input": planned.cell.input.describe(),
        }
        if self._sweep.paper is not None:
            record["paper"] = paper_of(self._sweep.paper, planned.cell)
        record["environment"] = {**record.get("environment", {}), "command": command_line()}
        self._store.drop(lambda old: name_of(old) == record["cell"]["name"])
        self._store.append(record)
        self._note_block(planned, record)
        self.totals.records.append((planned, record))
        done = len(self.totals.records) + self.totals.resumed
        self._watcher.ended(planned, record, done, self._budget.ended(planned, record))

    def _note_block(self, planned: Planned, record: Mapping[str, Any]) -> None:
        outcome, series = record.get("outcome", "ok"), planned.cell.series or ""
        if outcome in STOPPING and planned.size.arcs <= self._blocked.get(series, (2**63, "", ""))[0]:
            self._blocked[series] = (planned.size.arcs, outcome, str(planned.cell.graph))

    def _graph(self, planned: Planned) -> Mapping[str, Any] | None:
        """Return the ``graph`` object of a cell's graph if an earlier cell had it."""
        return self._graphs.get(planned.cell.input)

    def _drop_worker(self) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            worker.end()


def name_of(record: Mapping[str, Any]) -> str | None:
    """Return what names a record's cell whatever its graph turned out to be."""
    name = (record.get("cell") or {}).get("name")
    return None if name is None else str(name)
