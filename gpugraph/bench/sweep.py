"""Sweeps: what a TOML file asks for.

A sweep is one or more blocks; each is the product of its axes.  ``sweep_file.py`` makes a sweep of a file, ``plan.py``
makes cells of a sweep.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gpugraph.bench.axes import AXES, TEMPLATES, check_condition, filled, variables_in
from gpugraph.bench.local_workers import Limits
from gpugraph.bench.toml_file import Document
from gpugraph.records.record import Record


@dataclass(frozen=True)
class Variant:
    """One value of the algorithm axis: a registered name, ``auto``, ``FILE.py:OBJECT`` or ``peer:NAME``.

    Device, options and preparations given here are fixed for this value, whatever the axes say.
    """

    name: str
    device: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    prepare: str | None = None


@dataclass(frozen=True)
class Rule:
    """Cells that are left out: those that meet every condition, by axis, ``vertices`` or ``arcs``; and why."""

    conditions: Mapping[str, Any]
    reason: str

    def __post_init__(self) -> None:
        """Raise InputError for a condition that no value meets."""
        for wanted in self.conditions.values():
            check_condition(wanted)


@dataclass(frozen=True)
class Block:
    """A product of axes.

    Attributes:
        axes: the values by axis, all but the algorithms.
        algorithms: the variants by problem; ``""`` holds those given for every problem.
        options: by algorithm, by option: the values.
        cases: tables that each bind several variables at once; none: one that binds nothing.
        turn: which ``[[block]]`` of the file it is, or None.
    """

    name: str
    axes: Mapping[str, list[Any]]
    algorithms: Mapping[str, list[Variant]]
    options: Mapping[str, Mapping[str, list[Any]]]
    cases: Sequence[Mapping[str, Any]]
    skip: Sequence[Rule]
    limits: Limits
    turn: int | None = None

    def variants(self) -> list[Variant]:
        """Return the variants of all problems."""
        return [variant for group in self.algorithms.values() for variant in group]

    def templates(self) -> list[tuple[str, object]]:
        """Return what may hold variables: the name of the axis, and a value of it."""
        found = [(axis, value) for axis in TEMPLATES for value in self.axes[axis]]
        found += [("algorithm", value) for variant in self.variants() for value in variant.options.values()]
        return found + [("algorithm", v) for options in self.options.values() for vs in options.values() for v in vs]

    def points(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the template of a graph, and a value for each axis but algorithm, device and preparations.

        A variable that neither the graph, its weights and source, nor preparations and options use has no values.
        """
        fixed = ("graph", "weights", "source")
        later = [value for axis, value in self.templates() if axis in ("prepare", "algorithm")]
        for templates in itertools.product(*(self.axes[name] for name in fixed)):
            used = {name for template in (*templates, *later) for name in variables_in(template)}
            free = [name for name in self.axes if name not in (*fixed, "prepare", "device")]
            names = [name for name in free if name in AXES or name in used]
            cases = [{name: value for name, value in case.items() if name in used} for case in self.cases]
            for values in itertools.product(*(self.axes[name] for name in names)):
                for case in [case for i, case in enumerate(cases) if case not in cases[:i]]:
                    bound = {**dict(zip(names, values, strict=True)), **case}
                    given = {name: filled(value, bound) for name, value in zip(fixed, templates, strict=True)}
                    yield str(templates[0]), {**bound, **given}


FINDINGS = "gpugraph.ext.findings"
"""The module that reads ``[[table]]`` and ``[[expect]]`` and answers them; imported where a sweep has any."""

PAPER = "gpugraph.ext.findings.paper"
"""Likewise for ``[paper]``, of which each record gets what concerns its cell."""


class Question(Protocol):
    """Which cells a table or an expectation is about: conditions on each, and by name how others beside it differ."""

    each: dict[str, Any]
    others: dict[str, dict[str, Any]]

    def cells(self, records: Sequence[Record]) -> list[tuple[Record, dict[str, list[Record]]]]:
        """Return the cells with those beside them, in the order of the records."""


class Table(Question, Protocol):
    """``[[table]]``: a line for each cell."""

    title: str
    columns: dict[str, Any]

    def rows(self, records: Sequence[Record]) -> list[list[str]]:
        """Return the lines; what was not measured is a dash."""


@dataclass(frozen=True)
class Finding:
    """What came of an expectation, in words: the expectation and its place, what is stated, and what was measured.

    ``verdict`` is ``"yes"``, ``"yes, more"``, ``"less"``, ``"no"``, ``"no, the same"``, ``"unclear"``, ``"too few
    samples"``, ``"no such device"`` or ``"–"``; ``kind`` tells what a paper's claim is (``ext/findings``).
    """

    text: str
    where: str
    stated: str
    ours: str
    verdict: str
    kind: str = ""

    @property
    def failed(self) -> bool:
        """Whether it was measured and is not so."""
        return self.verdict.startswith(("no", "less")) and self.verdict != "no such device"


class Expectation(Question, Protocol):
    """``[[expect]]``: a figure of each cell, and where it must lie."""

    text: str
    where: str
    kind: str

    def findings(self, records: Sequence[Record]) -> Sequence[Finding]:
        """Return what the records say of it, for each graph that a paper's claim names."""


@dataclass(frozen=True)
class Sweep:
    """A whole sweep.

    Attributes:
        budget_s: seconds for the cells of each device.
        budget_by_clock: they are for all cells, as the clock shows: ``--budget``.
        budget_began: from when on, as ``time.perf_counter`` shows it; None: from the first cell on.
        document: the file, with what ``--axis`` and ``--set`` put in the place of what it says.
        laptop: the cells are those for a small machine without a GPU: ``--laptop``.
    """

    name: str
    title: str
    path: str
    blocks: Sequence[Block]
    budget_s: float
    sampling: Mapping[str, Any]
    peers: Mapping[str, Mapping[str, Any]]
    paper: Mapping[str, Any] | None
    document: Document
    tables: Sequence[Table] = ()
    expectations: Sequence[Expectation] = ()
    budget_by_clock: bool = False
    budget_began: float | None = None
    laptop: bool = False

    @property
    def ad_hoc(self) -> bool:
        """Whether the command line describes it instead of a file, so that its cells are there to be compared."""
        return bool(self.document.words)

    def where(self, block: Block, *keys: str) -> str:
        """Return the place of a key for a message: ``--axis``, the block's own line, or the line for all blocks."""
        own = block.turn is not None and self.document.holds("block", *keys, turn=block.turn)
        return self.document.where("block", *keys, turn=block.turn or 0) if own else self.document.where(*keys)
