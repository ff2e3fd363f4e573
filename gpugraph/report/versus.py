"""Comparisons of a report: the best GPU with the best CPU, who wins on which graph, our results and published ones.

The best of a kind is the fastest verified one of all that did the same work, other people's programs included; by the
kernel alone and to the answer it may be two different ones.

A record of a paper's sweep may carry ``"paper"``, an object or a list of them::

    {"name": "Wang, Huang, Guo 2011", "hardware": "GeForce GTX 480", "where": "figure 5",
     "points": [{"scale": 14, "kernel_s": 1.9}, {"vertices": 8192, "mteps": 31.0}, {"speedup": 2, "over": "Boost"}],
     "authors": "W. Wang, Y. Huang, S. Guo", "year": 2011, "note": "…", "claims": ["…"]}

Without ``points`` the object itself states one value, for the record's own cell; without ``scale`` or ``vertices`` a
point does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.base.quantities import counted, duration, rate
from gpugraph.records.columns import Labelled
from gpugraph.records.record import Record
from gpugraph.records.record_shape import PointShape
from gpugraph.report.cells import Speedup, ordered, speedups, work
from gpugraph.report.panels import problem_name

KERNEL, ANSWER, END_TO_END = "kernel alone", "to the answer", "with transfers"
"""The two times that are compared, and what replaces the second where records do not have it."""


@dataclass(frozen=True, eq=False)
class Gain:
    """How many times as fast as a graph's fastest CPU cell its fastest GPU cell is, ``by`` one of the two times."""

    gpu: Record
    cpu: Record
    factor: float
    by: str


def gains(cells: Sequence[Labelled]) -> list[list[Gain]]:
    """Return of each graph that both searched the gain by the kernel alone and, where it is known, to the answer."""
    found = []
    for group in _same_work(cells).values():
        members = [cell.record for cell in group if cell.record.mteps]
        kernel = _gain(members, KERNEL, lambda row: row.mteps)
        if kernel is None:
            continue
        if all(row.answer_s for row in members):
            other = _gain(members, ANSWER, lambda row: 1 / (row.answer_s or 1.0))
        else:
            other = _gain(members, END_TO_END, lambda row: row.end_to_end)
        found.append([kernel] + ([other] if other is not None else []))
    return found


def _gain(members: Sequence[Record], by: str, speed: Callable[[Record], float | None]) -> Gain | None:
    known = [(speed_, row) for row in members if (speed_ := speed(row))]
    gpu, cpu = (
        max((one for one in known if (one[1].device_kind == "cpu") is on_cpu), key=lambda one: one[0], default=None)
        for on_cpu in (False, True)
    )
    return None if gpu is None or cpu is None else Gain(gpu[1], cpu[1], gpu[0] / cpu[0], by)


def times_as_fast(factor: float) -> str:
    """Return a factor as text: ``"12.3×"``."""
    return f"{factor:,.0f}×" if factor >= 100 else f"{factor:.3g}×"


def machine(row: Record) -> str:
    """Return a cell's device, of a CPU with its cores."""
    cores = row.shape.environment.get("cores") or row.shape.device.threads
    return row.device + (f", {counted(cores, 'core')}" if cores and row.device_kind == "cpu" else "")


@dataclass(frozen=True, eq=False)
class Score:
    """An algorithm's time over the best one's, if known, as text (* where it proves little), and its tone, 0 to 1."""

    ratio: float | None
    text: str
    tone: float | None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Who wins where: of one problem, each algorithm's time on each graph over the best one's, ``by`` one of the times.

    Attributes:
        series: the columns, an algorithm on a kind of device each, those that win most often first.
        rows: graph, and a score for each of ``series`` (None where it was not run).
        wins: of each of ``series`` the graphs on which nothing was faster.
    """

    title: str
    by: str
    series: list[str]
    rows: list[tuple[str, list[Score | None]]]
    wins: list[int]


def matrices(cells: Sequence[Labelled]) -> list[Matrix]:
    """Return for each problem the matrix by the kernel and, where every time to answer is known, the one by that."""
    found = []
    for problem in dict.fromkeys(cell.record.problem for cell in cells):
        members = [c for c in cells if c.record.problem == problem and c.record.device_kind != "emulated"]
        for by in (KERNEL, ANSWER):
            if (made := _matrix(problem_name(problem), by, members)) is not None:
                found.append(made)
    return found


def _matrix(title: str, by: str, members: Sequence[Labelled]) -> Matrix | None:
    if by == ANSWER and not all(c.record.answer_s for c in members if c.record.mteps):
        return None
    graphs = _same_work(members)
    variants = len({member.record.algorithm for member in members}) == 1  # then they are what is compared
    rows: list[tuple[str, dict[str, Score]]] = []
    shared = Counter(found[0].record.graph_name for found in graphs.values())
    for found in graphs.values():
        fastest: dict[str, Record] = {}
        for cell in sorted(found, key=lambda cell: _seconds(cell.record, by) or math.inf):
            fastest.setdefault(cell.series if variants else f"{cell.record.program}, {cell.device}", cell.record)
        known = [seconds for row in fastest.values() if (seconds := _seconds(row, by))]
        if len(known) > 1:
            scores = {name: _score(_seconds(row, by), min(known), row) for name, row in fastest.items()}
            graph = found[0].record.graph_name  # which other weights or sources may have too
            rows.append((graph if shared[graph] == 1 else f"{graph} ({_set_apart(found[0].record)})", scores))
    if not rows:
        return None
    names = ordered(name for _, scores in rows for name in scores)
    wins = {name: sum(name in s and s[name].ratio == 1.0 for _, s in rows) for name in names}
    names.sort(key=lambda name: -wins[name])
    place = {name: i for i, name in enumerate(ordered(graph for graph, _ in rows))}
    rows.sort(key=lambda row: place[row[0]])
    return Matrix(title, by, names, [(g, [s.get(n) for n in names]) for g, s in rows], [wins[n] for n in names])


def _set_apart(row: Record) -> str:
    """Return what tells the work of a record from that of others on graphs of the same name: source, or weights."""
    asked = row.asked_source
    if asked is None:
        return (row.shape.graph.digest or "unknown")[:6]
    return f"{counted(len(asked), 'source')}" if isinstance(asked, list) else f"from {asked}"


def _seconds(row: Record, by: str) -> float | None:
    """Return a verified time, that of the kernel as one edge takes it: so several sources have the right mean."""
    if not row.mteps:
        return None
    return 1 / row.mteps if by == KERNEL else row.answer_s


def _score(seconds: float | None, best: float, row: Record) -> Score:
    if not seconds:
        return Score(None, row.verdict, None)
    ratio = seconds / best
    text = "best" if ratio == 1.0 else f"{ratio:.2f}×" if ratio < 10 else f"{ratio:,.0f}×"
    return Score(ratio, text + ("*" if row.few else ""), min(1.0, math.log10(ratio)))


def _same_work(cells: Sequence[Labelled]) -> dict[tuple[str, str, str], list[Labelled]]:
    """Return the cells by the work they did; one without a number goes with those of its graph's name."""
    groups: dict[tuple[str, str, str], list[Labelled]] = {}
    names: dict[tuple[str, str], tuple[str, str, str]] = {}
    for cell in cells:
        if cell.record.mteps:
            key = work(cell.record)
            groups.setdefault(key, []).append(cell)
            names.setdefault((cell.record.problem, cell.record.graph_name), key)
    for cell in cells:
        if not cell.record.mteps and (found := names.get((cell.record.problem, cell.record.graph_name))):
            groups[found].append(cell)
    return groups


SAME_SCALE = 0.01
"""Scales that differ by less are the same."""


@dataclass(frozen=True)
class Stated:
    """One value that a paper states.

    Attributes:
        name, hardware, where: the paper, as it is cited; what it measured on; the table or figure.
        label: the paper's own name of the system, or nothing.
        scale: log2 of the number of vertices; None where the value is of the record's own cell.
        point: the value itself: ``mteps``, ``kernel_s``, or ``speedup`` with ``over``.
    """

    name: str
    hardware: str
    where: str
    label: str
    scale: float | None
    point: PointShape

    def is_of(self, scale: float | None) -> bool:
        """Tell whether the value is of a cell of that scale."""
        return self.scale is None or (scale is not None and abs(self.scale - scale) < SAME_SCALE)


def stated(record: Record) -> tuple[Stated, ...]:
    """Return the values that a record's ``paper`` field states."""
    paper = record.shape.paper
    papers = paper if isinstance(paper, list) else [] if paper is None else [paper]
    return tuple(
        Stated(
            name=paper.name or "the paper",
            hardware=paper.hardware or "hardware not named",
            where=point.where or paper.where or "",
            label=point.label or paper.label or "",
            scale=math.log2(point.vertices) if point.scale is None and point.vertices else point.scale,
            point=PointShape(**{name: getattr(point, name) for name in PointShape.__struct_fields__}),
        )
        for paper in papers
        for point in (paper.points if paper.points is not None else [paper])
    )


COLUMNS = ("system", "size", "where", "hardware", "stated", "ours")
"""What each of ``Published.figures`` holds."""


@dataclass(frozen=True)
class Published:
    """A paper: as it is cited, a sentence about it, the figures that it states by ``COLUMNS``, and its claims."""

    title: str
    about: str
    figures: tuple[tuple[str, ...], ...]
    claims: tuple[str, ...]


def published(cells: Sequence[Labelled]) -> list[Published]:
    """Return the papers that records carry, in the order of the records."""
    ratios = speedups([cell.record for cell in cells])
    said: dict[str, dict[str, Any]] = {}
    figures: dict[str, dict[tuple[Stated, str], list[Labelled]]] = {}
    for cell in cells:
        field = cell.record.field("paper")
        for one in field if isinstance(field, list) else [field]:
            if isinstance(one, Mapping):
                kept = said.setdefault(str(one.get("name") or "the paper"), {})
                kept |= {k: v for k, v in one.items() if v and k not in kept}
        for value in stated(cell.record):
            members = figures.setdefault(value.name, {}).setdefault((value, value.label or cell.record.algorithm), [])
            if value.is_of(cell.record.scale):
                members.append(cell)
    return [
        Published(
            title,
            _about(words),
            tuple(
                _figure(value, system, members, ratios)
                for (value, system), members in figures.get(title, {}).items()
                if _shown(value)
            ),
            tuple(map(str, claims)) if isinstance(claims := words.get("claims"), list) else (),
        )
        for title, words in said.items()
    ]


def _about(words: Mapping[str, object]) -> str:
    who = ", ".join(str(words[key]) for key in ("authors", "year") if words.get(key))
    measured = "; ".join(filter(None, (who, str(words.get("hardware") or ""))))
    return ". ".join(filter(None, (measured, str(words.get("note") or ""))))


def _figure(value: Stated, system: str, members: Sequence[Labelled], ratios: Mapping[int, Speedup]) -> tuple[str, ...]:
    """Return a line: what is stated, and the best of our cells that did the same work."""
    best, ours = 0.0, "not measured"
    for cell in members:
        row = cell.record
        figure, text = row.mteps or 0.0, ""
        if value.point.speedup is not None:
            one = ratios.get(id(row))
            figure = 0.0 if one is None else one.kernel
            text = "" if one is None else f"{one.kernel:.3g} times as fast as {one.base.program} on {one.base.device}"
        elif value.point.kernel_s is not None:
            text = "" if row.kernel_s is None else duration(row.kernel_s)
        else:
            text = f"{rate(figure)} MTEPS"
        if figure > best:
            best, ours = figure, f"{text}, {cell.variant} on {row.device}"
    size = members[0].record.graph_name if members else "" if value.scale is None else f"2^{value.scale:.4g} vertices"
    return system, size, value.where or "-", value.hardware, _shown(value), ours


def _shown(value: Stated) -> str:
    if value.point.speedup is not None:
        return f"{value.point.speedup:g} times as fast" + (f" as {value.point.over}" if value.point.over else "")
    if value.point.kernel_s is not None:
        return duration(value.point.kernel_s)
    return "" if value.point.mteps is None else f"{rate(value.point.mteps)} MTEPS"
