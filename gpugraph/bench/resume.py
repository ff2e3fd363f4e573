"""Which cells of a sweep are finished already: those whose id stands in the file of records.

The id of a cell holds the digest of its graph (``measure/identity.py``).  Where an earlier record of the same input,
a spec or a file that has not changed since, tells the digest, the graph need not be opened to skip its cells; else
the worker opens it and compares.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpugraph.errors import GpuGraphError
from gpugraph.measure.identity import cell_id
from gpugraph.measure.record import Cell, json_text
from gpugraph.measure.record_file import shape_of
from gpugraph.measure.resolve import parse_options, resolve_algorithm
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import load_problem

FINISHED = ("ok", "failed", "refused", "wrong", "threw", "out of memory", "timeout", "died")
"""Outcomes that a resumed sweep does not try again; what was skipped, it does."""


def input_of(cell: Cell) -> dict[str, Any]:
    """Return what the graph of a cell is made from; a file with its size and the time of its last change."""
    try:
        state = os.stat(str(cell.graph))
        stamp = [state.st_size, state.st_mtime_ns]
    except (OSError, ValueError):
        stamp = None
    return {
        "graph": str(cell.graph),
        "stamp": stamp,
        "weights": cell.weights,
        "format": cell.input_format,
        "symmetrize": cell.symmetrize,
        **({"keep_ids": True} if cell.keep_ids else {}),
        "seed": cell.seed if cell.weights.startswith("uniform") else None,
    }


def input_key(problem: str, described: Mapping[str, Any]) -> str:
    """Return a text that is the same for the same input of the same problem."""
    return json.dumps([problem, json.loads(json_text(described))], sort_keys=True)


def unopened_id(cell: Cell, device: Mapping[str, Any], cold: bool) -> str:
    """Return an id for a cell whose graph was never opened, from the words that name it."""
    words = {k: v for k, v in vars(cell).items() if k not in ("axes", "series", "sweep", "graph")}
    parts = [words, input_of(cell), device.get("kind"), device.get("name"), device.get("threads"), cold]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


class Finished:
    """What a file of records says is finished.

    Args:
        records: of the file.
        retry: only what went well counts as finished.
        cold: how the sweep at hand finds the caches.
    """

    def __init__(self, records: Sequence[Mapping[str, Any]], *, retry: bool = False, cold: bool = False):
        self._cold = cold
        self._digests: dict[str, str] = {}
        self._chosen: dict[tuple[str, str], str] = {}
        self.by_id: dict[str, Mapping[str, Any]] = {}
        self._algorithms: dict[tuple[str, str, str], Algorithm] = {}
        counted = ("ok",) if retry else FINISHED
        for record in records:
            told = shape_of(record)
            cell = told.cell
            if cell.input and told.graph.digest:
                key = input_key(told.problem, cell.input)
                self._digests[key] = told.graph.digest
                if (cell.axes or {}).get("algorithm") == "auto" and told.device.kind:
                    self._chosen[key, told.device.kind] = told.algorithm
            if cell.id and (told.outcome or "ok") in counted:
                self.by_id[cell.id] = record

    def find(self, cell: Cell, device: Mapping[str, Any], guest: Algorithm | None = None) -> Mapping[str, Any] | None:
        """Return the record of a finished cell, or None if it is not known to be finished.

        Args:
            cell: the cell.
            device: the ``device`` object that its record would have.
            guest: what a user's own algorithm says of itself, if the cell's is one.
        """
        if not self.by_id:
            return None
        found = self.by_id.get(unopened_id(cell, device, self._cold))
        key = input_key(cell.problem, input_of(cell))
        digest = self._digests.get(key)
        if found is not None or digest is None:
            return found
        try:
            algorithm = guest or self._algorithm(cell, key, device["kind"])
            if algorithm is None:
                return None
            options = parse_options(algorithm, cell.options)
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
