"""``[[table]]`` and ``[[expect]]`` of a sweep's file, evaluated over records.

Both take values of cells: ``each`` selects cells, ``with.NAME`` other cells beside each of them, and a formula combines
them.  docs/bench.md describes the file.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NoReturn

import msgspec

from gpugraph.base.errors import InputError, check_name
from gpugraph.base.quantities import duration, percent, value
from gpugraph.bench.axes import variables_in
from gpugraph.bench.sweep import Finding, Sweep
from gpugraph.bench.toml_file import Document
from gpugraph.ext.findings.formula import (
    NAMES,
    Choice,
    Formula,
    NotMeasured,
    TooFewSamples,
    beside,
    check_conditions,
    meets,
)
from gpugraph.measure.sampling import Sampling
from gpugraph.records.record import SCATTERED, Record
from gpugraph.records.statistics import LEVEL, estimate, interval_of, relative_half_width, rounds, t_quantile

NEAR = 0.25
"""A figure this near to the stated one is the same."""

SAME, ALIKE = 0.02, 0.1
"""Times whose ratio may be within 2 % of 1, and is within 10 % of it for certain, are the same."""

KINDS = ("paper", "open", "computed", "ours", "no such device")
"""What a paper's expectation is: its claim; a question that it leaves open; a number that follows from sizes alone; a
comparison of our own; or a claim about hardware that gpugraph has no code for.  Only the first are counted."""

COMMAND = "external command"
"""The authors of a peer that is one: each run is a process of its own, which may print several times."""

MOST_SHOWN = 2
"""Of more values than this only the least and the greatest are shown."""

UNITS = {"%": 100.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
"""What a figure is multiplied by to be shown in a unit; in any other it is shown as it is."""


class Question(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, dict=True):
    """Which cells a table or an expectation is about: conditions on each, and by name how others beside it differ."""

    each: dict[str, Any] = {}
    others: dict[str, dict[str, Any]] = msgspec.field(name="with", default_factory=dict)

    def cells(self, records: Sequence[Record]) -> list[tuple[Record, dict[str, list[Record]]]]:
        """Return the cells with those beside them, in the order of the records."""
        found = [one for one in records if meets(one, self.each)]
        return [(one, {name: beside(one, named, records) for name, named in self.others.items()}) for one in found]


class Table(Question, kw_only=True, forbid_unknown_fields=True, dict=True):
    """``[[table]]``: a line for each cell, ``columns`` a formula by title.

    Attributes:
        intervals: figures that come of kernel times are followed by how exactly they are known, or by their range; by
            "processes" those of a single process, which tells nothing of how processes differ, by that.
    """

    title: str
    columns: dict[str, Any]
    intervals: bool | Literal["processes"] = False

    @cached_property
    def formulas(self) -> list[Formula]:
        """The columns; an InputError says what is wrong with one."""
        return [Formula(str(text), self.others) for text in self.columns.values()]

    def rows(self, records: Sequence[Record]) -> list[list[str]]:
        """Return the lines; what was not measured is a dash."""
        return [[self._shown(one, record, groups) for one in self.formulas] for record, groups in self.cells(records)]

    def _shown(self, formula: Formula, record: Record, groups: Mapping[str, Sequence[Record]]) -> str:
        try:
            found = formula.of(record, groups)
        except NotMeasured:
            return "–"
        if not self.intervals or isinstance(found, str):
            return number(found)
        if self.intervals == "processes" and _of_one_process(formula, found, record, groups):
            return f"{number(found)} (1 process)"
        half = _half(formula, found, record, groups, lambda one, of: half_width_among(one, of) or half_range(one))
        if not (half and found):
            return number(found)
        if half > SCATTERED * abs(found):
            return "{} ({} to {})".format(*map(number, (found, *_range(formula, record, groups))))
        return f"{number(found)} ± {percent(float(f'{half / abs(found):.2g}'))}"


def _of_one_process(formula: Formula, found: float, record: Record, groups: Mapping[str, Sequence[Record]]) -> bool:
    """Tell whether a figure comes of a kernel time that one process measured."""
    choice = Choice()
    formula.of(record, groups, choice=choice)
    return any(
        len(_starts(one)) < 2 and formula.of(record, groups, {id(one): 2.0}, choice) != found
        for one in _all(record, groups)
        if one.samples
    )


def _starts(record: Record) -> Sequence[int]:
    """Return how many samples of a source each process took; a command is a process each time that it is started."""
    if record.field("algorithm_source.authors") != COMMAND:
        return record.processes
    each, starts = len(record.samples) // record.sources, len(record.shape.samples_s.d2h or ()) // record.sources
    several = bool(starts) and not each % starts  # an answer is copied after each start, and not after each sample
    return [each // starts] * starts if several else [1] * each


def half_width_among(record: Record, choices: int) -> float | None:
    """``half_width`` of the best of so many cells, known as well as was said of it though it was chosen.

    It is that of an interval of the level 1 − 0.05/choices, by Student's t with the samples' degrees of freedom.

    Source: Y. Benjamini, D. Yekutieli, False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected
    Parameters, 2005, section 3 (one parameter selected of many).
    """
    if record.shape.verification.wrong_on_purpose:
        return record.measured_half_width
    half, parts, starts = record.half_width, len(record.processes), _starts(record)
    each = len(record.samples) // record.sources
    groups = [record.samples[i * each : (i + 1) * each] for i in range(record.sources)]
    if record.kernel_s and 1 < len(starts) != parts and max(starts) > 1:  # samples of one start are not independent
        interval, parts = interval_of(groups, starts, record.kernel_s), len(starts)
        half = relative_half_width(interval, record.kernel_s) if interval else half
    if half is None or choices < 2 or not record.samples:
        return half
    freedom = parts - 1 if parts > 1 else estimate(rounds(groups)).freedom
    return half * t_quantile(freedom, 1 - (1 - LEVEL) / choices) / t_quantile(freedom, LEVEL)


def half_range(record: Record) -> float | None:
    """Return half the samples' range over their median; None for one sample, several sources, or a wrong result."""
    taken, kernel_s = record.shape.samples_s.kernel or (), record.shape.phases_s.get("kernel")
    comparable = record.finished and len(taken) > 1 and not record.shape.per_source  # those of several sources differ
    return relative_half_width((min(taken), max(taken)), kernel_s) if comparable and kernel_s else None


def _half(
    formula: Formula,
    found: float,
    record: Record,
    groups: Mapping[str, Sequence[Record]],
    known: Callable[[Record, int], float | None],
) -> float:
    """Return half the interval of a figure, ``found``, with what is ``known`` of each kernel time carried through.

    The best of several stays the one that was best: how well the others are known says nothing of it.  ``known`` is
    given a record and of how many it was chosen.
    """
    choice = Choice()
    formula.of(record, groups, choice=choice)
    halves = {id(one): known(one, choice.among.get(id(one), 1)) for one in _all(record, groups)}
    ends = (formula.of(record, groups, {one: 1 + half}, choice) for one, half in halves.items() if half)
    return math.hypot(*(end - found for end in ends))


def _range(formula: Formula, record: Record, groups: Mapping[str, Sequence[Record]]) -> tuple[float, float]:
    """Return the least and the greatest value of a figure, if each kernel time is one of its samples."""
    least, most, choice = {}, {}, Choice()
    formula.of(record, groups, choice=choice)
    for one in _all(record, groups):
        if one.samples and one.kernel_s:
            ends = (end(one.samples) / one.kernel_s for end in (min, max))
            least[id(one)], most[id(one)] = sorted(
                ends, key=lambda end: formula.of(record, groups, {id(one): end}, choice)
            )
    return formula.of(record, groups, least, choice), formula.of(record, groups, most, choice)


def _all(record: Record, groups: Mapping[str, Sequence[Record]]) -> list[Record]:
    return [record, *(one for group in groups.values() for one in group)]


class Expectation(Question, kw_only=True, forbid_unknown_fields=True, dict=True):
    """``[[expect]]``: a figure of each cell, and where it must lie.

    Attributes:
        text, where: what is expected, a sentence, and its place in a paper.
        kind: of a paper's, one of ``KINDS``.
        value, unit: the formula of the figure, and what it is shown in.
        least, most: the bounds of the figure.
        stated: the figure that somebody states, which ours may differ from by a quarter; of a ratio, whose unit is
            "times", a larger or smaller one is told from none.
        says: what is expected, in words, where that is more than the number.
        at: "all" cells are judged, or those of the "largest" graph that has all that the figure needs.
        samples: how many samples each time of the figure must come of.
    """

    text: str
    value: str | float = ""
    where: str = ""
    kind: Literal["paper", "open", "computed", "ours", "no such device"] = "paper"
    unit: str = ""
    least: float | None = None
    most: float | None = None
    stated: float | None = None
    says: str = ""
    at: Literal["all", "largest"] = "all"
    samples: int = 0

    @cached_property
    def formula(self) -> Formula:
        """The figure; an InputError says what is wrong with its formula."""
        return Formula(str(self.value), self.others, self.samples)

    def findings(self, records: Sequence[Record]) -> list[Finding]:
        """Return what the records say of it: of a paper's that names several graphs, for each of them."""
        return [one.find(records) for one in self.parts()]

    def parts(self) -> "list[Expectation]":
        """Return the expectation for each graph that a paper's claim names, so that no half of them stands for all."""
        graphs = self.each.get("graph")
        if not (self.where and isinstance(graphs, list)):
            return [self]
        families = [str(graph).partition(":")[0].upper() for graph in graphs]
        named = zip(graphs, families if len({*families}) == len(graphs) else map(str, graphs), strict=True)
        return [
            msgspec.structs.replace(self, text=f"{name}: {self.text}", each={**self.each, "graph": graph})
            for graph, name in named
        ]

    def find(self, records: Sequence[Record]) -> Finding:
        """Return what the records say of it."""
        if self.kind == "no such device":
            return self._finding("", self.kind)
        try:
            found = self._figures(records)
        except TooFewSamples as reason:
            return self._finding(str(reason), "too few samples")
        except NotMeasured as reason:
            return self._finding(f"not measured: {reason}", "–")
        verdict = self.judge([one[2] for one in found], [one[3] for one in found])
        if self.formula.constant:
            return self._finding(self._worded(found[0][2]), verdict)
        several = len({record.algorithm for record, *_ in found}) > 1
        if many := len(found) > MOST_SHOWN:
            found.sort(key=lambda one: one[2])
            if found[0][2] == found[-1][2]:
                return self._finding(f"{self._worded(found[0][2])} in each of {len(found)} cells", verdict)
            found = [found[0], found[-1]]
        parts, named = [], len(found) > 1 or bool(self.where)
        for record, groups, ours, spread in found:
            name = f"{record.graph_name}{f' by {record.algorithm}' if several else ''}: " if named else ""
            parts.append(name + self._worded(ours) + (f" ± {percent(spread / abs(ours))}" if spread and ours else ""))
            parts[-1] += _times(self.formula, record, groups)
        return self._finding(f"from {parts[0]} to {parts[1]}" if many else "; ".join(parts), verdict)

    def _figures(self, records: Sequence[Record]) -> list[tuple[Record, Mapping[str, list[Record]], float, float]]:
        """Return the cells that decide, those beside them, the figure of each and half its interval.

        A cell of a paper's claim is not beside itself.  NotMeasured, or TooFewSamples, without figures.
        """
        if self.formula.constant:
            return [(records[0], {}, *self._value(records[0], {}))] if records else self._none("no record")
        cells = self.cells(records)
        if self.where:
            for record, groups in cells:
                groups.update({name: [one for one in group if one is not record] for name, group in groups.items()})
        if not cells:
            self._none("no such cell")
        sizes = {None} if self.at == "all" else {record.shape.graph.vertices or 0 for record, _ in cells}
        reasons: list[NotMeasured] = []
        for size in sorted(sizes, key=lambda size: -(size or 0)):
            these = [cell for cell in cells if size is None or (cell[0].shape.graph.vertices or 0) == size]
            try:
                return [(*cell, *self._value(*cell)) for cell in these]
            except NotMeasured as reason:
                reasons.append(reason)
        raise next((one for one in reasons if isinstance(one, TooFewSamples)), reasons[0])

    @staticmethod
    def _none(why: str) -> NoReturn:
        raise NotMeasured(why)

    def judge(self, values: Sequence[float], spreads: Sequence[float] | None = None) -> str:
        """Return the worst verdict on figures, each known within half an interval's width, ``spreads``."""
        verdicts = map(self._judge, values, spreads or [0.0] * len(values))
        return max(verdicts, key=_WORSE.index)

    def _judge(self, ours: float, spread: float) -> str:
        """Return the verdict on a figure, "unclear" where the claim holds at one end of the interval only."""
        low, high = ours - spread, ours + spread
        faster = self.stated is not None and self.unit == "times" and self.stated > 1
        if (faster or (self.least == 1 and self.most is None)) and (
            low <= 1 + SAME and high >= 1 - SAME and low >= 1 - ALIKE and high <= 1 + ALIKE
        ):
            return "no, the same"
        ends = {self._verdict(end).removesuffix(", more") for end in (low, ours, high)}
        return self._verdict(ours) if len(ends) == 1 else "unclear"

    def _verdict(self, ours: float) -> str:
        if self.stated is not None:
            if abs(ours / self.stated - 1) <= NEAR:
                return "yes"
            if self.unit != "times":
                return "no"
            return "yes, more" if ours > self.stated else "less" if ours > 1 else "no"
        low = self.least is None or ours >= self.least
        return "yes" if low and (self.most is None or ours <= self.most) else "no"

    def _value(self, record: Record, groups: Mapping[str, Sequence[Record]]) -> tuple[float, float]:
        """Return the figure of a cell and half the width of its interval, the kernels' intervals carried through."""
        ours = self.formula.of(record, groups)
        if isinstance(ours, str):
            raise NotMeasured(f"{self.formula.text} is no number")
        return ours, _half(self.formula, ours, record, groups, half_width_among)

    def _worded(self, figure: float) -> str:
        if self.unit == "%":
            return percent(figure)
        unit = f" {self.unit}" if self.unit else ""
        return number(figure * UNITS.get(self.unit, 1.0)) + unit

    def _finding(self, ours: str, verdict: str) -> Finding:
        both = (("at least", self.least), ("at most", self.most))
        bounds = [f"{word} {self._worded(bound)}" for word, bound in both if bound is not None]
        stated = self.says or (self._worded(self.stated) if self.stated is not None else " and ".join(bounds))
        return Finding(self.text, self.where, stated, ours, verdict, self.kind if self.where else "")


_WORSE = ("yes, more", "yes", "less", "unclear", "no, the same", "no")


def _times(formula: Formula, record: Record, groups: Mapping[str, Sequence[Record]]) -> str:
    """Return the times that a ratio is of, where it is one of two cells."""
    pairs = [(name, group[0]) for name, group in groups.items() if len(group) == 1 and f"{name}.kernel" in formula.text]
    if not pairs:
        return ""
    times = [f"{name} {duration(NAMES['kernel'](one))}" for name, one in pairs]
    return f" ({', '.join([*times, duration(NAMES['kernel'](record))])})"


def number(found: object) -> str:
    """Return a figure as a table has it: whole numbers in full, others to four digits."""
    if isinstance(found, float) and math.isfinite(found):
        return f"{found:{',.0f' if 1000 <= abs(found) < 1e15 else '.4g' if abs(found) >= 1e-4 or not found else '.3e'}}"
    return value(found)


# ------------------------------------------------------------------ the file


class _Questions(msgspec.Struct):
    """What a sweep's file asks of its records."""

    table: list[Table] = []
    expect: list[Expectation] = []


def read_questions(document: Document) -> tuple[list[Table], list[Expectation]]:
    """Return tables and expectations; an InputError, with file, line and key, says what in them makes no sense."""
    found = document.read_as(_Questions)
    for turn, table in enumerate(found.table):
        with document.at("table", "title", turn=turn):
            _check_variables(table)
            if not table.formulas:
                raise InputError("its columns are no table", remedy='write columns = { "kernel, ms" = "kernel * 1e3" }')
    for turn, one in enumerate(found.expect):
        with document.at("expect", "text", turn=turn):
            if one.kind == "no such device":
                continue
            if one.least is one.most is one.stated is None or one.stated == 0:
                raise InputError("it says nothing of the figure", remedy="give least, most or stated")
            if not all(math.isfinite(bound or 0.0) for bound in (one.least, one.most, one.stated)):
                raise InputError("no figure is compared with what is infinite or no number", remedy="give a number")
            if one.least is not None and one.most is not None and one.least > one.most:
                what = f"no figure is at least {one.least:g} and at most {one.most:g}"
                raise InputError(what, remedy="write the smaller as least")
            if one.where and "samples" not in document.tables["expect"][turn]:
                one.samples = int(document.tables.get("sampling", {}).get("min_samples", Sampling().min_samples))
            _check_variables(one)
            _ = one.formula
    return found.table, found.expect


def check_sweep(sweep: Sweep) -> None:
    """Refuse conditions of tables and expectations on what neither the sweep nor a record has."""
    known = {name for block in sweep.blocks for names in (block.axes, *block.cases) for name in names}
    known |= {name for block in sweep.blocks for options in block.options.values() for name in options}
    known |= {name for block in sweep.blocks for variant in block.variants() for name in variant.options}
    for kind, questions in (("table", sweep.tables), ("expect", sweep.expectations)):
        for turn, question in enumerate(questions):
            for key, conditions in (("each", question.each), *(("with", one) for one in question.others.values())):
                with sweep.document.at(kind, key, turn=turn):
                    check_conditions(conditions, known)


def _check_variables(table: Question) -> None:
    """Refuse names of other cells that no formula can hold, and variables of their conditions that are unknown."""
    for name, conditions in table.others.items():
        if not name.isidentifier():
            raise InputError(f"with.{name} is no table", remedy='write with.plain = { prepare = "none" }')
        for variable in (one for text in conditions.values() for one in variables_in(text)):
            check_name("variable", variable, NAMES)
