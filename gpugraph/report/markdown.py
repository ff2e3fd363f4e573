"""Records as a Markdown table, with the definition of MTEPS beneath it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.report.rates import EMULATED, shown_rate
from gpugraph.report.units import count, duration, rate

HEADER = ("problem", "graph", "vertices", "edges", "algorithm", "device", "kernel", "MTEPS", "end to end", "verdict")
_RIGHT = ("vertices", "edges", "kernel", "MTEPS", "end to end")


def markdown(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the records as a table, a line each; MTEPS only where the result is verified."""
    lines = [_row(HEADER), _row(["---:" if name in _RIGHT else "---" for name in HEADER])]
    lines += [_row(_cells(data)) for data in records]
    definitions = {str(d["mteps"]["definition"]) for d in records if d["mteps"].get("definition")}
    notes = sorted(definitions)
    if notes:
        notes.append("End to end: the same count / (stage + h2d + kernel + d2h)")
    if any(data["device"]["kind"] == "emulated" for data in records):
        notes.append(EMULATED[0].upper() + EMULATED[1:])
    return "\n".join([*lines, *(f"\n{note}." for note in notes)])


def _cells(data: Mapping[str, Any]) -> list[str]:
    graph, verdict = data["graph"], data["verification"]
    kernel, total = shown_rate(data, "kernel"), shown_rate(data, "end_to_end")
    return [
        data["problem"],
        graph["name"],
        count(graph["vertices"]),
        count(graph["edges"]),
        data["algorithm"],
        data["device"]["name"],
        duration(data["phases_s"]["kernel"]),
        "-" if kernel is None else rate(kernel),
        "-" if total is None else rate(total),
        verdict["status"] + (f" ({verdict['method']})" if verdict["status"] == "passed" else ""),
    ]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
