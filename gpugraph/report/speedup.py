"""Speed-up over the CPU: against the fastest verified CPU run of the same work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.measure.record import Record


@dataclass(frozen=True, eq=False)
class Speedup:
    """How many times faster than the CPU a cell is.

    Attributes:
        record: the cell.
        base: the CPU's.
        kernel: ratio of their throughputs.
        end_to_end: the same, transfers of both included.
    """

    record: Record
    base: Record
    kernel: float
    end_to_end: float | None


def speedups(rows: Sequence[Record]) -> list[Speedup]:
    """Return the speed-up of every verified cell of another device that a CPU has run too, in their order."""
    fastest: dict[Any, Record] = {}
    for row in rows:
        if row.device_kind == "cpu" and row.mteps:
            best = fastest.get(_work(row))
            if best is None or row.mteps > (best.mteps or 0.0):
                fastest[_work(row)] = row
    found = []
    for row in rows:
        base = fastest.get(_work(row))
        if row.device_kind != "cpu" and row.mteps and base is not None and base.mteps:
            total = row.end_to_end / base.end_to_end if row.end_to_end and base.end_to_end else None
            found.append(Speedup(row, base, row.mteps / base.mteps, total))
    return found


def _work(row: Record) -> tuple[str, str, str]:
    """Return what two cells must share to have done the same work."""
    return row.problem, row.shape.graph.digest or row.graph_name, json.dumps(row.asked_source, default=str)
