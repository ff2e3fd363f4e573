"""The runner: takes the cells of a plan through a worker, one graph after another, and stores each as it ends.

Cells that share a graph go to the worker together, which interleaves their samples.  A cell that hangs is recorded and
its worker killed; the others of its graph start again without it.  Where memory or time run out, the larger graphs of
the same series are skipped.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gpugraph.bench.expand import Plan, Planned
from gpugraph.bench.groups import groups_of, input_of_planned
from gpugraph.bench.paper import paper_of
from gpugraph.bench.price import Need, Prices
from gpugraph.bench.process import WorkerProcess
from gpugraph.bench.resume import Finished, input_key, input_of, unopened_id
from gpugraph.bench.store import Store
from gpugraph.bench.sweep import Sweep
from gpugraph.bench.watch import Race, RaceOutcome
from gpugraph.host import available_memory
from gpugraph.measure.environment import command_line
from gpugraph.measure.outcome import failed_record
from gpugraph.problems.guest_sources import told_of
from gpugraph.quantities import in_seconds, in_units

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
        spent_s: seconds by device.
    """

    records: list[tuple[Planned, Mapping[str, Any]]] = field(default_factory=list)
    resumed: int = 0
    spent_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))


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
        self._graphs: dict[str, Mapping[str, Any]] = {}
        self._named: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        self._pace: dict[str, float] = defaultdict(lambda: 1.0)
        self._opening_pace = 1.0
        self._left: list[Planned] = []
        self._sharing: Counter[tuple[Any, ...]] = Counter()
        self._seconds: dict[int, float] = {}
        self.totals = Totals()

    def run(self) -> Totals:
        """Run every cell that is not finished; return how it went.

        Raises:
            KeyboardInterrupt: Ctrl-C; what was stored stays.
            InputError: the store cannot be written.
        """
        self._left = self._unfinished()
        self._sharing.update(input_of_planned(planned) for planned in self._left)
        self._seconds = {id(planned): self._prices.need(planned).seconds for planned in self._left}
        unfinished = {self._name(planned) for planned in self._left}
        self._store.drop(lambda record: record.get("outcome") == "skipped" and name_of(record) in unfinished)
        try:
            for group in groups_of(self._left):
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
            if self._worker is None:
                self._worker = self._start()
            began = time.monotonic()
            expected = {id(p): self._prices.need(p) for p in cells}
            race = Race(self._worker, cells, self._request(cells), self._watcher.doing)
            outcome = race.run(lambda planned, found: self._take(planned, found))
            for planned, found in outcome.ended:
                self._take(planned, found)
            self._charge(cells, outcome, time.monotonic() - began)
            if not opened:
                self._learn_pace(cells, outcome, expected, time.monotonic() - began)
            opened = True
            if outcome.worker_lost or self._parts:  # the next samples are another process's
                self._drop_worker()
            ended = {id(planned) for planned in race.ended} - self._parts.keys()
            cells = [p for p in cells if id(p) not in ended and not self._skipped(p)]

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
        reason = self._obstacle(planned) or self._over_budget(planned)
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
        if planned.kind == "cuda" and total and planned.size.exact and planned.size.graph_bytes // 2 > total:
            return f"the graph takes about {in_units(planned.size.graph_bytes)}, the device has {in_units(total)}"
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

    def _over_budget(self, planned: Planned) -> str | None:
        device = planned.cell.device
        spent, budget = self.totals.spent_s[device], self._sweep.budget_s
        if spent >= budget:
            return f"the budget of {in_seconds(budget)} for {device} is spent"
        price = self._price(planned)
        if spent + price > budget and self.totals.records:
            return f"would take about {in_seconds(price)}, {in_seconds(budget - spent)} of the budget are left"
        return None

    def _price(self, planned: Planned) -> float:
        """Return the seconds that a cell will still take, corrected by what the last ones did."""
        need = self._prices.need(planned)
        left = 1 - self._parts.get(id(planned), (0,))[0] / self._processes
        sharing = self._sharing[input_of_planned(planned)]
        opening_s = need.opening_s * self._opening_pace / max(sharing, 1)
        return (need.seconds * self._pace[planned.cell.device] + opening_s) * left

    def _charge(self, cells: Sequence[Planned], outcome: RaceOutcome, elapsed_s: float) -> None:
        """Book the seconds: a cell's own to its device, the rest to all devices alike."""
        for planned, seconds in zip(cells, outcome.seconds, strict=True):
            self.totals.spent_s[planned.cell.device] += seconds
        devices = {planned.cell.device for planned in cells}
        for device in devices:
            self.totals.spent_s[device] += max(elapsed_s - sum(outcome.seconds), 0.0) / len(devices)

    def _learn_pace(
        self, cells: Sequence[Planned], outcome: RaceOutcome, expected: Mapping[int, Need], elapsed_s: float
    ) -> None:
        """Correct prices by what these cells took in one process; the longer they took, the more that says."""
        opening_s = max(need.opening_s for need in expected.values()) / self._processes
        self._opening_pace = _corrected(self._opening_pace, elapsed_s - sum(outcome.seconds), opening_s)
        for device in {planned.cell.device for planned in cells}:
            pairs = [
                (seconds, expected[id(planned)].seconds / self._processes)
                for planned, seconds in zip(cells, outcome.seconds, strict=True)
                if planned.cell.device == device and seconds
            ]
            took, told = sum(seconds for seconds, _ in pairs), sum(price for _, price in pairs)
            self._pace[device] = _corrected(self._pace[device], took, told)

    def _end(self, planned: Planned, found: Mapping[str, Any]) -> None:
        """Store the record of a cell: the worker's own, or one made of an outcome and a message."""
        description = self._devices[planned.cell.device]["description"]
        if "record" in found:
            record = dict(found["record"])
            if planned.cell.algorithm != "auto":  # which is another one on another graph
                self._named[_who(planned)] = {"name": record["algorithm"], "source": record.get("algorithm_source", {})}
            if record["graph"].get("digest"):
                self._graphs[self._input(planned)] = record["graph"]
        else:
            made = failed_record(
                planned.cell,
                found["outcome"],
                found["message"],
                graph=self._graph(planned),
                device=description,
                algorithm=self._named.get(_who(planned)),
            )
            record = made.data
        told = record.get("cell") or {}
        record["cell"] = {
            "id": told.get("id") or found.get("id") or unopened_id(planned.cell, description, self._cold),
            "name": self._name(planned),
            "series": planned.cell.series,
            "sweep": planned.cell.sweep,
            "axes": dict(planned.cell.axes),
            "input": input_of(planned.cell),
        }
        if self._sweep.paper is not None:
            record["paper"] = paper_of(self._sweep.paper, planned)
        record["environment"] = {**record.get("environment", {}), "command": command_line()}
        self._store.drop(lambda old: name_of(old) == record["cell"]["name"])
        self._store.append(record)
        self._prices.learn(record)
        self._note_block(planned, record)
        self.totals.records.append((planned, record))
        self._left = [p for p in self._left if p is not planned]
        alike = [p for p in self._left if _who(p) == _who(planned)]  # what they will take is known better now
        self._seconds |= {id(p): self._prices.need(p).seconds for p in alike}
        self._watcher.ended(planned, record, len(self.totals.records) + self.totals.resumed, self._remaining())

    def _note_block(self, planned: Planned, record: Mapping[str, Any]) -> None:
        outcome, series = record.get("outcome", "ok"), planned.cell.series or ""
        if outcome in STOPPING and planned.size.arcs <= self._blocked.get(series, (2**63, "", ""))[0]:
            self._blocked[series] = (planned.size.arcs, outcome, str(planned.cell.graph))

    def _input(self, planned: Planned) -> str:
        return input_key(planned.cell.problem, input_of(planned.cell))

    def _graph(self, planned: Planned) -> Mapping[str, Any] | None:
        """Return the ``graph`` object of a cell's graph if an earlier cell had it."""
        return self._graphs.get(self._input(planned))

    def _remaining(self) -> float:
        """Return about how many seconds the rest will take, as far as the budget allows."""
        wanted: dict[str, float] = defaultdict(float)
        for planned in self._left:
            wanted[planned.cell.device] += self._seconds[id(planned)] * self._pace[planned.cell.device]
        budget, spent = self._sweep.budget_s, self.totals.spent_s
        return sum(min(seconds, max(budget - spent[device], 0.0)) for device, seconds in wanted.items())

    def _drop_worker(self) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            worker.end()


def _who(planned: Planned) -> tuple[str, str, str]:
    """Return what tells the algorithm of a planned cell from others."""
    return planned.cell.problem, planned.cell.algorithm, planned.kind


def _corrected(pace: float, took_s: float, told_s: float) -> float:
    """Return a pace half way to what was just seen, which is believed within a factor of five."""
    return (pace + min(max(took_s / told_s, 0.2), 5.0)) / 2 if told_s > 0 and took_s > 0 else pace


def name_of(record: Mapping[str, Any]) -> str | None:
    """Return what names a record's cell whatever its graph turned out to be."""
    name = (record.get("cell") or {}).get("name")
    return None if name is None else str(name)
