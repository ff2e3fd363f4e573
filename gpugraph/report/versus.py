"""What is held against what: the best of the GPUs against the best of the CPUs, and every algorithm against the best.

The best of a kind is the fastest verified one of all that did the same work, other people's programs included; by the
kernel alone and to the answer it may be two different ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gpugraph.measure.columns import Labelled
from gpugraph.measure.record import Record
from gpugraph.quantities import counted
from gpugraph.report.cells import ordered, work
from gpugraph.report.charts.panels import problem_name

KERNEL, ANSWER, END_TO_END = "kernel alone", "to the answer", "with the way there and back"
"""The two times that are compared, and what stands in for the second where records do not know it."""


@dataclass(frozen=True, eq=False)
class Gain:
    """What the best GPU algorithm gains over the best CPU algorithm on one graph, by one of the two times.

    Attributes:
        gpu, cpu: the fastest of each kind.
        factor: how many times as fast ``gpu`` is; below 1 the CPU wins.
        by: ``KERNEL``, ``ANSWER`` or ``END_TO_END``.
    """

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
        whole = all(row.answer_s for row in members)
        other = _gain(members, ANSWER, _answers) if whole else _gain(members, END_TO_END, lambda row: row.end_to_end)
        found.append([kernel] + ([other] if other is not None else []))
    return found


def _gain(members: Sequence[Record], by: str, speed: Callable[[Record], float | None]) -> Gain | None:
    best: dict[bool, Record] = {}
    for row in members:
        kind = row.device_kind == "cpu"
        if (speed(row) or 0.0) > (speed(best[kind]) or 0.0 if kind in best else 0.0):
            best[kind] = row
    if len(best) < 2:
        return None
    return Gain(best[False], best[True], (speed(best[False]) or 0.0) / (speed(best[True]) or 1.0), by)


def _answers(row: Record) -> float | None:
    """Return answers a second."""
    return 1 / row.answer_s if row.answer_s else None


def times_as_fast(factor: float) -> str:
    """Return a factor as text: ``"12.3×"``."""
    return f"{factor:,.0f}×" if factor >= 100 else f"{factor:.3g}×"


def geometric_mean(factors: Iterable[float]) -> float:
    """Return the geometric mean of factors above 0, at least one."""
    logs = [math.log(factor) for factor in factors]
    return math.exp(sum(logs) / len(logs))


def machine(row: Record) -> str:
    """Return a cell's device, of a CPU with its cores."""
    cores = row.shape.environment.get("cores") or row.data.get("device", {}).get("threads")
    known = row.device_kind == "cpu" and isinstance(cores, int)
    return row.device + (f", {counted(cores, 'core')}" if known else "")


@dataclass(frozen=True, eq=False)
class Score:
    """What an algorithm's square in a matrix shows.

    Attributes:
        ratio: its time over the best one's; None where it gave no number.
        text: that, with a * where it proves little, or why there is none.
        tone: 0 for the best to 1 for ten times its time and beyond; None without a ratio.
    """

    ratio: float | None
    text: str
    tone: float | None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Who wins where: of one problem, each algorithm's time on each graph over the best one's.

    Attributes:
        title, by: the problem for people, and which time is compared.
        series: the columns, those that win most often first.
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
    rows: list[tuple[str, dict[str, Score]]] = []
    for found in graphs.values():
        times = {c.series: _seconds(c.record, by) for c in found}
        known = [seconds for seconds in times.values() if seconds]
        if len(known) > 1:
            best = min(known)
            scores = {c.series: _score(times[c.series], best, c.record) for c in found}
            rows.append((found[0].record.graph_name, scores))
    if not rows:
        return None
    names = ordered(name for _, scores in rows for name in scores)
    wins = {name: sum(name in s and s[name].ratio == 1.0 for _, s in rows) for name in names}
    names.sort(key=lambda name: -wins[name])
    place = {name: i for i, name in enumerate(ordered(graph for graph, _ in rows))}
    rows.sort(key=lambda row: place[row[0]])
    return Matrix(title, by, names, [(g, [s.get(n) for n in names]) for g, s in rows], [wins[n] for n in names])


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
    """Return the cells by the work they did, each group with a verified rate at least.

    A cell that gave no number may know neither digest nor source: it stands with those of its graph's name.
    """
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
