"""Records as CSV: a line each, the columns named as the JSON's fields are, ``phases_s.kernel`` for instance."""

from __future__ import annotations

import csv as _csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.measure.record import PHASES, Record, jsonable

FRONT = (
    "problem",
    "algorithm",
    "device.kind",
    "device.name",
    "graph.name",
    "graph.vertices",
    "graph.arcs",
    "graph.edges",
    "graph.weight_dtype",
    "graph.digest",
)

_INTERVAL = ("confidence_s.kernel.low", "confidence_s.kernel.high")


def csv(rows: Sequence[Record]) -> str:
    """Return the records as CSV with a header; columns of results, axes and parameters are those of all together.

    A cell that gave no number has its outcome and its message, and nothing in the columns of numbers.
    """
    records = [row.data for row in rows]
    results = _names(records, "result")
    axes = [f"cell.{name}" for name in _names([data.get("cell") or {} for data in records], "axes")]
    parameters = _names(records, "parameters")
    phases = [f"phases_s.{name}" for name in PHASES]
    rates = ["mteps.kernel", "mteps.end_to_end"]
    hardware = [f"energy.{name}" for name in ("joules_per_run", "nanojoules_per_edge")]
    hardware += [f"traffic.{name}" for name in ("minimum_bytes", "copy_bytes_per_s", "share")]
    apart = ["predecessors_s"] if any("predecessors_s" in data for data in records) else []
    header = [
        *FRONT,
        *axes,
        *parameters,
        *results,
        *phases,
        *apart,
        *_INTERVAL,
        "samples",
        "few_samples",
        *rates,
        *hardware,
    ]
    header += ["peak_device_bytes", "outcome", "message", "verification.status", "verification.method", "time"]
    text = io.StringIO()
    writer = _csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        data = row.data
        line = {name: _at(data, name) for name in header}
        line |= dict(zip(rates, (row.mteps, row.end_to_end), strict=True))
        line |= dict(zip(_INTERVAL, row.interval_s or (None, None), strict=True))
        line |= {"samples": len(row.samples) or None, "few_samples": "yes" if row.few else None}
        line |= {"outcome": row.outcome, "message": row.message or None}
        writer.writerow([line[name] for name in header])
    return text.getvalue().rstrip("\n")


def _names(records: Sequence[Mapping[str, Any]], table: str) -> list[str]:
    """Return the columns that a table of all records together has."""
    return list(dict.fromkeys(f"{table}.{name}" for data in records for name in data.get(table) or {}))


def _at(data: Mapping[str, Any], path: str) -> Any:
    """Return what stands at a dotted path, or None."""
    value: Any = data
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    value = jsonable(value)
    return " ".join(str(item) for item in value) if isinstance(value, list) else value
