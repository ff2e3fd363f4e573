"""The cells of a report: names, as short as they can be while all differ, and speed-ups."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from gpugraph.problems.foreign import is_file, name_and_device
from gpugraph.records.columns import Labelled
from gpugraph.records.record import Record, with_distinct_names

APART = "‡ The programs of a row were not measured by one command of one commit on one device."


def of_several_runs(rows: Iterable[Record]) -> bool:
    """Tell whether records of a kind of device are of several commands, commits or devices; a GPU's UUID names it."""
    runs: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for row in (row for row in rows if row.ok):
        environment, device = row.shape.environment, row.shape.device
        run = str(environment.get("command")), environment.get("git_commit"), device.uuid or device.name
        runs[row.device_kind].add(run)
    return any(len(found) > 1 for found in runs.values())


def label(rows: Sequence[Record]) -> list[Labelled]:
    """Return the rows with their names, in their order.

    A parameter is named where cells of the same algorithm, graph and device differ in it, a file where only the
    file differs: that of records, or that of the graph.
    """
    rows = with_distinct_names(rows)
    devices = _devices(rows)
    extras = _extras(rows, devices)
    return [
        Labelled(row, ", ".join([row.program, *extras[i]]), devices[row.device_kind, row.device])
        for i, row in enumerate(rows)
    ]


def ordered(names: Iterable[str]) -> list[str]:
    """Return names once each as a legend lists them: by letters, numbers by size, peers last."""

    def key(name: str) -> tuple[bool, list[tuple[int, int, str]]]:
        parts = [(0, int(p), "") if p.isdecimal() else (1, 0, p.lower()) for p in re.split(r"(\d+)", name)]
        return "peer:" in name, parts

    return sorted(dict.fromkeys(names), key=key)


_SHORT = {"cpu": "CPU", "emulated": "emulated"}


def _devices(rows: Sequence[Record]) -> dict[tuple[str, str], str]:
    """Return short names of devices: the one processor is just the CPU, the one emulator just emulated."""
    named = {(row.device_kind, row.device) for row in rows if row.shape.device.name}
    names = {}
    for kind, name in {(row.device_kind, row.device) for row in rows}:
        alike = [device for of, device in named if of == kind]
        known = alike[0] if len(alike) == 1 else name  # a cell that gave no number may not know its device's name
        names[kind, name] = _SHORT.get(kind, known) if len(alike) < 2 else known
    return names


def _extras(rows: Sequence[Record], devices: dict[tuple[str, str], str]) -> list[list[str]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        groups[row.problem, row.algorithm, devices[row.device_kind, row.device], row.graph_name].append(i)
    differing: dict[tuple[str, str], set[str]] = defaultdict(set)  # parameters to name, by problem and algorithm
    for (problem, algorithm, _, _), members in groups.items():
        settings = [_settings(rows[i]) for i in members]
        for name in {name for one in settings for name in one}:
            if len({one.get(name) for one in settings}) > 1:
                differing[problem, algorithm].add(name)
    extras = [
        [f"{name}={value}" for name, value in _settings(row).items() if name in differing[row.problem, row.algorithm]]
        for row in rows
    ]
    for file_of in (_records_file, lambda row: os.path.basename(row.graph_source)):
        several = {  # whose cells are there of two files: then all of their cells say which, or a line would break
            (problem, algorithm)
            for (problem, algorithm, _, _), members in groups.items()
            if len({file_of(rows[i]) for i in members}) > 1 and len({tuple(extras[i]) for i in members}) < len(members)
        }
        for row, extra in zip(rows, extras, strict=True):
            if (row.problem, row.algorithm) in several:
                extra.append(file_of(row))
    return extras


def _records_file(row: Record) -> str:
    return os.path.splitext(os.path.basename(row.file or "this run"))[0]


def _settings(row: Record) -> dict[str, str]:
    """Return what a cell was run with, as text."""
    asked, _ = name_and_device(str(row.axes.get("algorithm")))
    settings = {**({"file": asked.partition(":")[0]} if is_file(asked) else {}), **row.parameters}
    settings |= {name: value for name, value in row.axes.items() if name not in _PLACES and name not in settings}
    places = {name: str(row.axes.get(name)) for name in ("algorithm", "device")}
    settings |= {name: text for name, text in places.items() if text == "auto" or "/" in text}  # cpu/1, cuda:0/33
    return {k: v if isinstance(v, str) else _plain(v) for k, v in settings.items() if v is not None}


_PLACES = ("scale", "graph", "algorithm", "device", "problem", "family")


def _plain(value: object) -> str:
    if isinstance(value, list):
        return "+".join(str(item) for item in value) or "none"
    return json.dumps(value, sort_keys=True, default=str) if isinstance(value, dict | bool) else str(value)


@dataclass(frozen=True, eq=False)
class Speedup:
    """How many times as fast as ``base``, the fastest CPU run, a cell is: by its kernel, and to the answer if known."""

    base: Record
    kernel: float
    answer: float | None


def speedups(rows: Sequence[Record]) -> dict[int, Speedup]:
    """Return by a record's identity the speed-up of every verified cell of another device that a CPU has run too."""
    cpu: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for row in rows:
        if row.device_kind == "cpu" and row.mteps:
            cpu[work(row)].append(row)
    found = {}
    for row in rows:
        if row.device_kind != "cpu" and row.mteps and (same := cpu.get(work(row))):
            base = max(same, key=lambda one: one.mteps or 0.0)
            answers = [one.answer_s for one in same if one.answer_s]
            answer = min(answers) / row.answer_s if row.answer_s and answers else None
            found[id(row)] = Speedup(base, row.mteps / (base.mteps or 1.0), answer)
    return found


def work(row: Record) -> tuple[str, str, str]:
    """Return what two cells must share to have done the same work."""
    return row.problem, row.shape.graph.digest or row.graph_name, json.dumps(row.asked_source, default=str)


def by_process(row: Record, samples: Sequence[float]) -> list[list[float]]:
    """Return a cell's samples, or values derived from them in their order, by process and then by source."""
    each = len(samples) // row.sources
    ends = [sum(row.processes[:i]) for i in range(len(row.processes) + 1)]
    return [
        [s for source in range(row.sources) for s in samples[source * each + low : source * each + high]]
        for low, high in pairwise(ends)
    ]


def mteps_interval(row: Record) -> tuple[float | None, float | None]:
    """Return the ends of the interval of ``mteps``, which is that of the kernel time; None where there is none."""
    if row.mteps is None or row.interval_s is None or not row.kernel_s or row.interval_s[0] <= 0:
        return None, None
    low, high = row.interval_s
    return row.mteps * row.kernel_s / high, row.mteps * row.kernel_s / low


def key_text(value: object) -> str:
    """Return a text that is the same for the same plain data, whatever the order of its names."""
    return json.dumps(value, sort_keys=True, default=str)
