"""Names for series: as short as they can be while every two that differ are told apart."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpugraph.measure.columns import Labelled
from gpugraph.measure.record import Record
from gpugraph.report.charts.chart import Ink, Spec

_CPU = "CPU"


def label(rows: Sequence[Record]) -> list[Labelled]:
    """Return the rows with their names, in their order.

    A parameter is named where cells of the same algorithm, graph and device differ in it, a file where only the
    file differs.
    """
    devices = _devices(rows)
    extras = _extras(rows, devices)
    return [
        Labelled(row, ", ".join([row.algorithm, *extras[i]]), devices[row.device_kind, row.device])
        for i, row in enumerate(rows)
    ]


def paint(spec: Spec, colors: Mapping[str, str]) -> Spec:
    """Return a figure in which every variant has its own colour, the same on all figures of a page."""
    names = ordered(entries(spec, "variant"))
    scale = {"domain": list(names), "range": [colors[name] for name in names if name in colors]}
    return spec if len(scale["range"]) < len(names) else _with_scale(spec, scale)


def entries(spec: Any, field: str) -> list[str]:
    """Return what stands in a field of a figure's data, in order, repeats and all."""
    if isinstance(spec, list):
        return [name for part in spec for name in entries(part, field)]
    if not isinstance(spec, dict):
        return []
    if "values" in spec:
        return [value[field] for value in spec["values"] if isinstance(value, dict) and field in value]
    return [name for part in spec.values() for name in entries(part, field)]


def _with_scale(spec: Any, scale: Spec) -> Any:
    if isinstance(spec, list):
        return [_with_scale(part, scale) for part in spec]
    if not isinstance(spec, dict):
        return spec
    painted = {key: part if key == "data" else _with_scale(part, scale) for key, part in spec.items()}
    if painted.get("field") == "variant" and "legend" in painted:
        painted["scale"] = scale
    return painted


def colors(cells: Sequence[Labelled], ink: Ink) -> dict[str, str]:
    """Return the colour of every variant, each its own, whatever order the cells were run in."""
    return {name: ink.colour(i) for i, name in enumerate(ordered(cell.variant for cell in cells))}


def ordered(names: Iterable[str]) -> list[str]:
    """Return names once each as a legend lists them: by letters, numbers by size, peers last."""

    def key(name: str) -> tuple[bool, list[tuple[int, int, str]]]:
        parts = [(0, int(p), "") if p.isdigit() else (1, 0, p.lower()) for p in re.split(r"(\d+)", name)]
        return "peer:" in name, parts

    return sorted(dict.fromkeys(names), key=key)


def _devices(rows: Sequence[Record]) -> dict[tuple[str, str], str]:
    """Return short names of devices: the one processor is just the CPU."""
    pairs = dict.fromkeys((row.device_kind, row.device) for row in rows)
    known: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.shape.device.name and row.device not in known[row.device_kind]:
            known[row.device_kind].append(row.device)
    names = {}
    for kind, name in pairs:  # a cell that gave no number may not know its device's name: it goes by the only one
        alike = known[kind]
        names[kind, name] = alike[0] if len(alike) == 1 else name
        if kind == "cpu" and len(alike) < 2:
            names[kind, name] = _CPU
    return names


def _extras(rows: Sequence[Record], devices: dict[tuple[str, str], str]) -> list[list[str]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        groups[row.problem, row.algorithm, devices[row.device_kind, row.device], row.graph_name].append(i)
    told: dict[tuple[str, str], set[str]] = defaultdict(set)  # parameters to name, by problem and algorithm
    for (problem, algorithm, _, _), members in groups.items():
        settings = [_settings(rows[i]) for i in members]
        for name in {name for one in settings for name in one}:
            if len({one.get(name) for one in settings}) > 1:
                told[problem, algorithm].add(name)
    extras = [
        [f"{name}={value}" for name, value in _settings(row).items() if name in told[row.problem, row.algorithm]]
        for row in rows
    ]
    several = set()  # whose cells are there in two files: then all of their cells say which, or a line would break
    for (problem, algorithm, _, _), members in groups.items():
        files = {rows[i].file for i in members}
        if len(files) > 1 and len({tuple(extras[i]) for i in members}) < len(members):
            several.add((problem, algorithm))
    for row, extra in zip(rows, extras, strict=True):
        if (row.problem, row.algorithm) in several:
            extra.append(os.path.splitext(os.path.basename(row.file or "this run"))[0])
    return extras


def _settings(row: Record) -> dict[str, str]:
    """Return what a cell was run with, as text."""
    settings = {**row.parameters}
    settings |= {name: value for name, value in row.axes.items() if name not in _PLACES and name not in settings}
    return {k: v if isinstance(v, str) else _plain(v) for k, v in settings.items() if v is not None}


_PLACES = ("scale", "graph", "algorithm", "device", "problem", "family")


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(str(item) for item in value) or "none"
    return json.dumps(value, sort_keys=True, default=str) if isinstance(value, dict | bool) else str(value)
