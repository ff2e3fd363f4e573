"""Which cells of a sweep are finished, by the records of a file that a bench goes on with.

The id of a cell holds the digest of its graph.  Where an earlier record of the same input, a spec or a file that has
not changed since, tells the digest, the graph need not be opened to skip its cells; else the worker opens it and
compares.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpugraph.base.errors import GpuGraphError
from gpugraph.bench.plan import Planned
from gpugraph.measure.cell import Cell, cell_id, parse_options, resolve_algorithm, unopened_id
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import load_problem
from gpugraph.records.json_text import json_text
from gpugraph.records.record import Record

FINISHED = ("ok", "failed", "refused", "wrong", "threw", "out of memory", "timeout", "died")
"""Outcomes that a resumed sweep does not try again; what was skipped, it does."""


def input_key(problem: str, described: Mapping[str, object]) -> str:
    """Return a text that is the same for the same input of the same problem, of a cell or of a stored record."""
    return json.dumps([problem, json.loads(json_text(described))], sort_keys=True)


def is_cut_short(record: Record, sampling: Sampling) -> bool:
    """Tell whether the end of a budget left a cell with too few samples, so that it is to be measured again.

    The record says so by ``stopped_by``; one that is older than that, by seconds that its samples took: fewer than the
    limit of the ``sampling`` to come.  So more time (``--max-seconds``) is another try too, and the same time is none.
    """
    shape, taken = record.shape.sampling, len(record.shape.samples_s.kernel or ()) // record.sources
    spent_s = (shape.spent_s or math.inf) * len(shape.processes or (0,))  # which the last of them has spent
    time_left = shape.stopped_by == "time" and spent_s < sampling.time_limit_s
    processes_left = record.ok and len(shape.processes or ()) < sampling.processes
    few = taken < (shape.min_samples or 0)
    return shape.stopped_by == "budget" or (few and (time_left or processes_left))


def lacks(record: Record, sampling: Sampling) -> bool:
    """Tell whether a cell was measured without the energy or the counters that are asked for now."""
    shape = record.shape
    counters = sampling.counters and record.device_kind == "emulated"  # elsewhere a request for them is refused
    absent = [shape.energy.absent] * sampling.energy + [shape.work.absent] * counters
    return record.ok and "not asked for" in absent


class Finished:
    """What a file of records says is finished; with ``retry`` only what went well.

    What a budget has cut short is not, nor what lacks the energy or the counters asked for now.  ``sampling`` are the
    settings for the cells to come.

    Attributes:
        by_id: the records of finished cells.
        cut_short: the number of samples, too few (``is_cut_short``), by the name of a cell.
        devices: what tells the devices apart that they ran on, by kind.
    """

    def __init__(self, records: Sequence[Record], sampling: Mapping[str, Any], *, retry: bool = False):
        self._sampling = Sampling(**sampling)
        self._cold = self._sampling.cold
        self._digests: dict[str, str] = {}
        self._chosen: dict[tuple[str, str], str] = {}
        self.by_id: dict[str, Record] = {}
        self.cut_short: dict[str, int] = {}
        self.devices: dict[str, list[Mapping[str, object]]] = {}
        self._algorithms: dict[tuple[str, str, str], Algorithm] = {}
        counted = ("ok",) if retry else FINISHED
        for record in records:
            shape, cell = record.shape, record.shape.cell
            if cell.input and shape.graph.digest:
                key = input_key(shape.problem, cell.input)
                self._digests[key] = shape.graph.digest
                if record.axes.get("algorithm") == "auto" and shape.device.kind:
                    self._chosen[key, shape.device.kind] = shape.algorithm
            if cell.name and is_cut_short(record, self._sampling):  # a new record takes the place of what has its name
                self.cut_short[cell.name] = len(shape.samples_s.kernel or ())
            elif cell.id and record.outcome in counted and not lacks(record, self._sampling):
                self.by_id[cell.id] = record
                device = {name: record.field(f"device.{name}") for name in ("kind", "name", "threads")}
                if device not in (seen := self.devices.setdefault(str(shape.device.kind), [])):
                    seen.append(device)

    def keeps(self, made: Record) -> bool:
        """Return whether the few samples of a cell are worth more than its new record, which has fewer or none."""
        few = self.cut_short.get(made.shape.cell.name or "", 0)
        if not made.ok:
            return few > 0 and made.outcome != "wrong"
        return len(made.shape.samples_s.kernel or ()) < few and is_cut_short(made, self._sampling)

    def of(self, planned: Planned, description: Mapping[str, object], *, anywhere: bool) -> Record | None:
        """Return the record of a cell that is finished on a device as described, or ``anywhere`` on one of its kind."""
        places = [description, *(self.devices.get(planned.kind, []) if anywhere else [])]
        return next(filter(None, (self.find(planned.cell, place, planned.plugin) for place in places)), None)

    def find(self, cell: Cell, device: Mapping[str, object], plugin: Algorithm | None = None) -> Record | None:
        """Return the record of a finished cell on a device, or None if it is not known to be finished."""
        found = self.by_id.get(unopened_id(cell, device, self._cold))
        key = input_key(cell.problem, cell.input.describe())
        digest = self._digests.get(key)
        if found is not None or digest is None:
            return found
        try:
            algorithm = plugin or self._algorithm(cell, key, str(device["kind"]))
            if algorithm is None:
                return None
            options = parse_options(algorithm, cell.options, cell.sums)
        except GpuGraphError:
            return None  # running it will tell
        return self.by_id.get(cell_id(cell, algorithm, options, graph_digest=digest, device=device, cold=self._cold))

    def _algorithm(self, cell: Cell, key: str, kind: str) -> Algorithm | None:
        """Return the algorithm that a cell will run; None where ``auto`` has not chosen for that graph yet."""
        name = self._chosen.get((key, kind)) if cell.algorithm == "auto" else cell.algorithm
        if name is None:
            return None
        at = (cell.problem, name, kind)
        if at not in self._algorithms:
            named = replace(cell, algorithm=name)
            self._algorithms[at] = resolve_algorithm(named, load_problem(cell.problem), None, kind)
        return self._algorithms[at]
