"""Records as CSV: a line each, the columns named as the JSON's fields are, ``phases_s.kernel`` for instance."""

from __future__ import annotations

import csv as _csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.measure.record import PHASES, jsonable
from gpugraph.report.rates import shown_rate

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


def csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the records as CSV with a header; the result's columns are those of all records together."""
    results = list(dict.fromkeys(f"result.{name}" for data in records for name in data["result"]))
    phases = [f"phases_s.{name}" for name in PHASES]
    rates = ["mteps.kernel", "mteps.end_to_end"]
    header = [*FRONT, *results, *phases, *rates, "verification.status", "verification.method", "time"]
    text = io.StringIO()
    writer = _csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for data in records:
        row = {**dict.fromkeys(header), **{name: _at(data, name) for name in header}}
        row |= {name: shown_rate(data, name.partition(".")[2]) for name in rates}
        writer.writerow([row[name] for name in header])
    return text.getvalue().rstrip("\n")


def _at(data: Mapping[str, Any], path: str) -> Any:
    """Return what stands at a dotted path, or None."""
    value: Any = data
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return jsonable(value)
