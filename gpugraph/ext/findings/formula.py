"""Formulas over the figures of records, ``plain.kernel / kernel`` for instance, and conditions on them."""

import ast
import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from gpugraph.base.errors import InputError, check_name, unknown_name
from gpugraph.base.quantities import counted
from gpugraph.bench.axes import check_condition, described_record, filled, matches, variables_in
from gpugraph.problems.registry import algorithms
from gpugraph.records.fields import FIELDS, GAINS
from gpugraph.records.record import Record
from gpugraph.records.statistics import median

Conditions = Mapping[str, Any]


class NotMeasured(Exception):
    """A figure that the records do not hold; the message says why."""


class TooFewSamples(NotMeasured):
    """A figure whose times come of fewer samples than a verdict needs."""


# ------------------------------------------------------------------ figures of a cell


def _published(record: Record) -> float | None:
    """Return the least time that the sweep's ``[[paper.point]]`` state for the cell."""
    papers, size = record.shape.paper, record.shape.graph.vertices
    points = [point for one in papers for point in one.points or ()] if isinstance(papers, list) else []
    times = [one.kernel_s for one in points if one.kernel_s and (one.vertices is None or float(one.vertices) == size)]
    return min(times, default=None)


def wrong_on_purpose_s(record: Record) -> float | None:
    """Return the median time of an algorithm that is wrong on purpose, whose records have no figures otherwise."""
    samples = record.shape.samples_s.kernel or ()
    return median(samples) if record.shape.verification.wrong_on_purpose and samples else None


_LEFT_OUT = (*GAINS, "family", "threads", "file", "kernel")
"""Values of two records, and names that sweeps give to axes of their own."""

NAMES: dict[str, Callable[[Record], Any]] = {
    **{name: field.read for name, field in FIELDS.items() if name not in _LEFT_OUT},
    "kernel": lambda record: record.kernel_s if record.ok else wrong_on_purpose_s(record),
    "described": described_record,
    "device": lambda record: record.device_kind,
    "prepare": lambda record: "+".join(record.parameters.get("preparations") or ()) or "none",
    "scale": lambda record: int(s) if (s := record.scale) is not None and s.is_integer() else s,
    "published": _published,
}
"""What formulas and conditions know by a short name; any other field of a record by its path, with dots."""

PATHS = (
    "phases_s", "kernel_phases_s", "rounds", "counters", "peak_device_bytes", "predecessors_s", "throughput", "traffic",
    "energy", "work", "result", "sampling", "parameters", "verification",
)  # fmt: skip
"""Fields of a record that a formula may begin with."""

TIMES = (
    *(name for name, field in FIELDS.items() if field.timed),
    "phases_s",
    "kernel_phases_s",
    "throughput",
    "traffic",
    "predecessors_s",
)
"""What says nothing where the device is emulated."""

SAMPLED = (*TIMES, "mteps", "end_to_end", "energy", "roof", "transfer")
"""What is a median of samples, or known as well as one."""


def figure(record: Record, name: str) -> Any:
    """Return the value of a name in a record, None where it has nothing, or a time of the emulated device."""
    if record.device_kind == "emulated" and name.partition(".")[0] in TIMES:
        return None
    if name in NAMES:
        return NAMES[name](record)
    for table in (record.axes, record.parameters):
        if name in table:
            return table[name]
    return record.field(name)


def meets(record: Record, conditions: Conditions) -> bool:
    """Tell whether a record meets conditions, which are those of a rule of ``[[skip]]``."""
    return all(_matches(record, name, wanted) for name, wanted in conditions.items())


def _matches(record: Record, name: str, wanted: object) -> bool:
    if name == "graph":  # by its name, and as the sweep asks for it
        asked = (record.graph_name, (record.shape.cell.input or {}).get("graph"), record.axes.get("graph"))
        return any(matches(wanted, one) for one in asked if one is not None)
    found = figure(record, name)
    return found is not None and (matches(wanted, found) or str(found) == str(wanted))


def check_conditions(conditions: Conditions, known: Iterable[str]) -> None:
    """Raise InputError for a condition on what neither the ``known`` axes, a record nor an option has."""
    for name in conditions:
        if name not in {*NAMES, *known} and name.partition(".")[0] not in (*PATHS, "device", "graph"):
            names = {*NAMES, *known, *(option.name for algorithm in algorithms() for option in algorithm.options)}
            check_name("condition", name, names)
        check_condition(conditions[name])


_KEPT = ("source", "weights", "seed", "index_bits")


def beside(record: Record, named: Conditions, records: Iterable[Record]) -> list[Record]:
    """Return the cells beside one: like it in all but what is named, and in what only goes with that."""
    known = {name: figure(record, name) for text in named.values() for name in variables_in(text)}
    wanted = {key: filled(text, known) for key, text in named.items()}
    kept = ["problem", "graph", "algorithm", *(name for name in _KEPT if name in record.axes)]
    names = {name.removeprefix("parameters.") for name in named}
    options: set[str] = set()
    if not {"algorithm", "device"} & named.keys():
        kept += ["device", "prepare"]
        options = record.parameters.keys() - names - {"preparations"}
    same = [name for name in kept if name not in names]
    return [
        one
        for one in records
        if all(figure(one, name) == figure(record, name) for name in same)
        and all(one.parameters.get(name) == record.parameters[name] for name in options)
        and meets(one, wanted)
    ]


# ------------------------------------------------------------------ formulas

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max, "sum": math.fsum, "mean": fmean}


@dataclass(frozen=True)
class Choice:
    """Which of several cells a formula's ``min`` and ``max`` take.

    Attributes:
        taken: by call the place of the value that it took.
        among: by the identity of a record of how many values one was taken.
    """

    taken: dict[ast.AST, int] = field(default_factory=dict)
    among: dict[int, int] = field(default_factory=dict)


MOST_LETTERS, MOST_TERMS = 2000, 100
"""A formula that is longer, or deeper, is a slip, and takes more of Python's stack than there is."""


class Formula:
    """Arithmetic over the figures of cells: ``+ - * /``, brackets, numbers, ``min``, ``max``, ``sum`` and ``mean``.

    ``NAME.figure`` is a figure of the cells beside that are called so in ``groups``, of several cells a list.  Times
    must come of ``samples`` samples each.

    Raises:
        InputError: it is none, or begins with a name that is unknown; the nearest is suggested.
    """

    def __init__(self, text: str, groups: Iterable[str] = (), samples: int = 0):
        self.text, self._groups, self._samples = text, frozenset(groups), samples
        if len(text) > MOST_LETTERS:
            what = f"a formula of {len(text)} letters is longer than {MOST_LETTERS}"
            raise InputError(what, remedy="write it shorter")
        try:
            self._tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise InputError(f"'{text}' is no formula", remedy="write e.g. plain.kernel / kernel") from None
        self._check(self._tree)

    @property
    def constant(self) -> bool:
        """Whether it is of numbers alone."""
        functions = {node.func for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        return not any(isinstance(node, ast.Name) and node not in functions for node in ast.walk(self._tree))

    def _check(self, node: ast.AST, deep: int = 0) -> None:
        if deep > MOST_TERMS:
            raise InputError(f"a formula has more than {MOST_TERMS} terms or brackets", remedy="write it shorter")
        if isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in _OPERATORS:
            for part in (node.left, node.right) if isinstance(node, ast.BinOp) else (node.operand,):
                self._check(part, deep + 1)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args and not node.keywords:
            check_name("function of a formula", node.func.id, _FUNCTIONS)
            for part in node.args:
                self._check(part, deep + 1)
        elif isinstance(node, ast.Name | ast.Attribute):
            head, *rest = _path(node)
            if head in self._groups and rest:
                head = rest[0]
            if head not in (*NAMES, *PATHS):
                raise unknown_name("name in a formula", head, {*NAMES, *PATHS, *self._groups})
        elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
            raise InputError(f"'{self.text}' is no formula", remedy="write e.g. plain.kernel / kernel")

    def of(
        self,
        record: Record,
        groups: Mapping[str, Sequence[Record]],
        longer: Mapping[int, float] | None = None,
        choice: Choice | None = None,
    ) -> Any:
        """Return the value for a cell and those beside: a number, or a text where the formula is the name of one.

        ``longer`` has, by the identity of a record, what its kernel's time is multiplied by; ``choice`` is filled at
        first, and kept to from then on.

        Raises:
            NotMeasured: a figure is not there, or there are several where one is needed; TooFewSamples.
        """
        met: list[int] = []  # records whose figures were looked up so far

        def value_of(node: ast.AST, least: bool = False) -> object:
            if isinstance(node, ast.Constant):
                return node.value
            try:
                if isinstance(node, ast.Call):
                    assert isinstance(node.func, ast.Name)
                    name, before = node.func.id, len(met)
                    given = [value_of(part, name == "min") for part in node.args]
                    several = [self._single(one) for p in given for one in (p if isinstance(p, list) else [p])]
                    found = _FUNCTIONS[name](several)
                    if choice is None or name not in ("min", "max"):
                        return found
                    choice.among.update(dict.fromkeys(met[before:], len(several)))
                    return several[choice.taken.setdefault(node, several.index(found))]
                if isinstance(node, ast.BinOp | ast.UnaryOp):
                    parts = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.operand,)
                    return _OPERATORS[type(node.op)](*(self._single(value_of(part)) for part in parts))
            except ArithmeticError:
                raise NotMeasured(f"{self.text} divides by 0 or is out of range") from None
            head, *rest = _path(node)
            grouped = head in self._groups and bool(rest)
            name = ".".join(rest if grouped else [head, *rest])
            members = groups[head] if grouped else [record]
            if least:  # a cell that timed out or was wrong is not the fastest
                members = [one for one in members if one.finished] or members
            met.extend(map(id, members))
            values = [_needed(one, name, longer or {}, self._samples) for one in members]
            if not values:
                raise NotMeasured(f"no cell for '{head}' of {record.graph_name}")
            return values[0] if len(values) == 1 else values

        shown = value_of(self._tree)
        return shown if isinstance(shown, str) else self._single(shown)

    def _single(self, found: object) -> float:
        if isinstance(found, bool) or not isinstance(found, int | float):
            several = f"has {len(found)} values" if isinstance(found, list) else "is no number"
            raise NotMeasured(f"a part of {self.text} {several}")
        if not abs(found) <= sys.float_info.max:
            raise NotMeasured(f"{self.text} divides by 0 or is out of range")
        return found


def _path(node: ast.AST) -> list[str]:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id if isinstance(node, ast.Name) else "", *reversed(names)]


def _needed(record: Record, name: str, longer: Mapping[int, float], least: int) -> object:
    found = figure(record, name)
    if isinstance(found, Mapping):
        found = list(found.values())
    if found is None or (isinstance(found, dict) and "absent" in found):
        why = f"{record.outcome}: {record.message}" if not record.ok else f"has no '{name}'"
        raise NotMeasured(f"{record.algorithm} on {record.graph_name} {why}")
    taken = len(record.shape.samples_s.kernel or ()) // record.sources
    if taken < least and name.partition(".")[0] in SAMPLED:
        raise TooFewSamples(f"{record.algorithm} on {record.graph_name} has {counted(taken, 'sample')} of {least}")
    return found * longer.get(id(record), 1.0) if name in ("kernel", "call") else found
