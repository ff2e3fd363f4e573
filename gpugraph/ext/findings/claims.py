"""Which cells of a plan the expectations of a sweep need, and how soon: ``gpugraph bench --claims``.

An expectation that is judged at the largest graph needs that one first.  Smaller ones are needed only while it is
without a verdict, for the largest may not fit the memory, the time or the budget.  On each graph one expectation after
another gets its cells, so that the end of a budget leaves one without its samples, and not all of them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from gpugraph.bench.plan import Planned
from gpugraph.ext.findings import Expectation
from gpugraph.measure.assemble import failed_record
from gpugraph.records.record import Record

_MEASURED = ("counters", "rounds", "device", "result", "verification")
"""What conditions may be on that is known only of a measured cell."""

UNMEASURED = ("computed", "no such device")
"""Kinds of claims that need no cell."""

OPEN = ("–", "too few samples")
"""Verdicts of claims that more measurements may change."""


class Claims:
    """The cells that expectations need.

    Attributes:
        cells: those cells, the largest graphs of all claims first, then the next smaller ones.  A cell that claims are
            about competes with those that it is compared with first.
    """

    def __init__(self, expectations: Sequence[Expectation], cells: Sequence[Planned]):
        measured = [one for one in expectations if one.kind not in UNMEASURED]
        self._needed: dict[int, list[tuple[int, int, Expectation]]] = defaultdict(list)  # how soon, in which place
        records = [_as_record(planned) for planned in cells]
        of = {id(record): planned.cell for record, planned in zip(records, cells, strict=True)}
        first: dict[int, int] = {}  # by what claims are about the place of the first one
        for place, part in enumerate(part for one in measured for part in one.parts()):
            for rank, those in enumerate(_by_size(part, records)):
                for one, *others in those:
                    competing = first.setdefault(id(one), place)
                    for record in (one, *others):
                        self._needed[id(of[id(record)])].append((rank, competing, part))
        self._seen, self._open = tuple[Record, ...](), dict[int, bool]()
        needed = [planned for planned in cells if id(planned.cell) in self._needed]
        self.cells = sorted((replace(one, claim=self._soonest(one)[1]) for one in needed), key=self._order)

    def _soonest(self, planned: Planned) -> tuple[int, int]:
        """Return how soon a cell is needed, and what tells its competitors from other cells of the graph."""
        return min((rank, place) for rank, place, _ in self._needed[id(planned.cell)])

    def _order(self, planned: Planned) -> tuple[Any, ...]:
        soonest, place = self._soonest(planned)
        return soonest, -planned.size.arcs, -planned.size.vertices, str(planned.cell.graph), planned.cell.problem, place

    def need(self, planned: Planned, records: Sequence[Record]) -> bool:
        """Tell whether a cell is needed yet, by the records so far."""
        if (last := tuple(records[-1:])) != self._seen:
            self._seen, self._open = last, {}
        needs = self._needed[id(planned.cell)]
        return any(rank == 0 for rank, *_ in needs) or any(self._is_open(part, records) for *_, part in needs)

    def _is_open(self, part: Expectation, records: Sequence[Record]) -> bool:
        """Tell whether an expectation has no verdict yet; asked again only when there are more records."""
        if id(part) not in self._open:
            self._open[id(part)] = part.find(records).verdict in OPEN
        return self._open[id(part)]


def _by_size(part: Expectation, records: Sequence[Record]) -> list[list[list[Record]]]:
    """Return for each size of graph, large ones first, what an expectation is about, each before those beside it."""
    each, others = _before(part.each), {name: _before(named) for name, named in part.others.items()}
    sizes: dict[int, list[list[Record]]] = defaultdict(list)
    for record, groups in msgspec.structs.replace(part, each=each, others=others).cells(records):
        size = 0 if part.at == "all" else record.shape.graph.vertices or 0
        sizes[size].append([record, *(one for group in groups.values() for one in group)])
    return [sizes[size] for size in sorted(sizes, reverse=True)]


def _before(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conditions of which a plan knows whether a cell meets them."""
    return {key: value for key, value in conditions.items() if key == "device" or key.split(".")[0] not in _MEASURED}


def _as_record(planned: Planned) -> Record:
    """Return a record of a cell that has not been measured, in which conditions find what is planned."""
    cell = planned.cell
    data = failed_record(cell, "skipped", "not measured yet", device={"kind": planned.kind}).data
    data["graph"] |= {"vertices": planned.size.vertices, "arcs": planned.size.arcs}
    data["parameters"] |= planned.declared.options if planned.declared else {}
    data["cell"] = {"axes": dict(cell.axes), "input": cell.input.describe(), "sweep": cell.sweep}
    return Record.of(data)
