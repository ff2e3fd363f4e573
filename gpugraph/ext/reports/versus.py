"""Comparisons of a report: the best GPU with the best CPU, and who wins on which graph.

The best of a kind is the fastest verified one of all that did the same work, other people's programs included; by the
kernel alone and to the answer it may be two different ones.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpugraph.base.quantities import counted
from gpugraph.ext.comparing.cells import of_several_runs, ordered, work
from gpugraph.ext.comparing.claims import has_one_sample
from gpugraph.ext.comparing.ranked import Named
from gpugraph.ext.comparing.ranked import sentences as sentences_of
from gpugraph.ext.comparing.ranking import rank
from gpugraph.ext.reports.panels import problem_name
from gpugraph.records.columns import Labelled
from gpugraph.records.record import Record

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
    """An algorithm's time over the best one's, if known, as text, and its tone, 0 to 1.

    The text is "best" of the fastest, and "tied" where an interval of the ratio includes 1, and neither where they are
    of several runs, or one has a single sample.  A * marks times of few samples, and differences that the samples do
    not prove.
    """

    ratio: float | None
    text: str
    tone: float | None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Who wins where: of one problem, each algorithm's kernel time on each graph over the best one's.

    Attributes:
        series: the columns, an algorithm on a kind of device each, those with the least times first.
        rows: graph, and a score for each of ``series`` (None where it was not run).
        wins: of each of ``series`` the graphs on which the samples prove it the fastest of at least two.
        sentences: what the samples say of the kernel times, graph by graph.
    """

    title: str
    series: list[str]
    rows: list[tuple[str, list[Score | None]]]
    wins: list[int]
    sentences: list[str]


def matrices(cells: Sequence[Labelled]) -> list[Matrix]:
    """Return the matrix of each problem for which a graph was solved twice."""
    by_problem: dict[str, list[Labelled]] = {}
    for cell in cells:
        if cell.record.device_kind != "emulated":
            by_problem.setdefault(cell.record.problem, []).append(cell)
    made = [_matrix(problem_name(problem), members) for problem, members in by_problem.items()]
    return [one for one in made if one is not None]


def _matrix(title: str, members: Sequence[Labelled]) -> Matrix | None:
    graphs = _same_work(members)
    variants = len({member.record.algorithm for member in members}) == 1  # then they are what is compared
    rows: list[tuple[str, dict[str, Score]]] = []
    sentences: list[str] = []
    shared = Counter(found[0].record.graph_name for found in graphs.values())
    for found in graphs.values():
        fastest: dict[str, Record] = {}
        for cell in sorted(found, key=lambda cell: _seconds(cell.record) or math.inf):
            fastest.setdefault(cell.series if variants else f"{cell.record.marked}, {cell.device}", cell.record)
        known = [seconds for row in fastest.values() if (seconds := _seconds(row))]
        if len(known) > 1:
            tied, open_, said = _unproven(fastest)
            sentences += said
            apart = of_several_runs(fastest.values())
            single = any(has_one_sample(row) for row in fastest.values() if row.mteps)
            scores = {
                name: _score(seconds / min(known), apart or single, name in tied, bool(row.few) or name in open_)
                if (seconds := _seconds(row))
                else Score(None, row.verdict, None)
                for name, row in fastest.items()
            }
            graph = found[0].record.graph_name  # which other weights or sources may have too
            named = graph if shared[graph] == 1 else f"{graph} ({_set_apart(found[0].record)})"
            rows.append((named + (" ‡" if apart else ""), scores))
    if not rows:
        return None
    names = ordered(name for _, scores in rows for name in scores)
    wins = {name: sum(name in s and s[name].text == "best" for _, s in rows) for name in names}

    def slowness(name: str) -> float:
        times = [math.log(s[name].ratio or 1.0) for _, s in rows if name in s and s[name].ratio]
        return sum(times) / len(times) if times else math.inf

    names.sort(key=slowness)
    place = {name: i for i, name in enumerate(ordered(graph for graph, _ in rows))}
    rows.sort(key=lambda row: place[row[0]])
    squares = [(graph, [s.get(name) for name in names]) for graph, s in rows]
    return Matrix(title, names, squares, [wins[name] for name in names], sentences)


def _unproven(fastest: Mapping[str, Record]) -> tuple[set[str], set[str], list[str]]:
    """Return the names that tie, those of other differences that are not proven, and what the samples say."""
    (ranking, *_), _ = rank([*fastest.values()])
    of = {id(row): name for name, row in fastest.items()}
    tied, open_ = set[str](), set[str]()
    for claim in ranking.against_best:
        if not claim.proven:
            names = tied if claim.interval and claim.interval[0] <= claim.resolution else open_
            names |= {of[id(row)] for row in (claim.first, claim.second)}
    graph = ranking.records[0].graph_name
    said = [text for text in sentences_of(Named(ranking)) if " faster than " in text or " as fast as " in text]
    return tied, open_, [f"{graph}: {text}" for text in said]


def _set_apart(row: Record) -> str:
    """Return what tells the work of a record from that of others on graphs of the same name: source, or weights."""
    asked = row.asked_source
    if asked is None:
        return (row.shape.graph.digest or "unknown")[:6]
    return f"{counted(len(asked), 'source')}" if isinstance(asked, list) else f"from {asked}"


def _seconds(row: Record) -> float | None:
    """Return the verified kernel time of an edge: so several sources have the right mean."""
    return 1 / row.mteps if row.mteps else None


def _score(ratio: float, apart: bool, tied: bool, unproven: bool) -> Score:
    number = f"{ratio:.2f}×" if ratio < 10 else f"{ratio:,.0f}×"
    text = number if apart else "tied" if tied else "best" if ratio == 1.0 else number
    return Score(ratio, text + ("*" if unproven else ""), min(1.0, math.log10(ratio)))


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
