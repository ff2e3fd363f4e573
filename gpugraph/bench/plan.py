"""The plan of a sweep: its cells before they are run, and how they are grouped; ``expand.py`` makes it."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpugraph.bench.axes import described
from gpugraph.bench.local_workers import Limits
from gpugraph.measure.cell import Cell
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import InputSize

TOGETHER = 12
"""Most cells that compete at once: each holds its arrays until it ends."""


@dataclass(frozen=True)
class Declared:
    """What a problem and an algorithm declare of a cell whose input is not there yet.

    Attributes:
        view_bytes: of the arrays that a device needs.
        state_bytes, minimum_bytes: those of the ``Algorithm``; None where it declares none.
        oracle, on_device: how a result is checked: by an oracle where that is quicker, on a GPU where it can.
        options: of the algorithm, the defaults among them, for the record of a cell that is not measured.
    """

    view_bytes: int
    state_bytes: int | None
    minimum_bytes: int | None
    oracle: bool
    on_device: bool
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Planned:
    """A cell of a sweep, before it is run, with its kind of device, the size of its input, and what it may take.

    Attributes:
        refused: why it cannot run here though it was asked for by name, or nothing.
        plugin: what a user's own algorithm says of itself; None for any other.  It cannot be run from here.
        declared: what is declared of its input; found out when a price is asked for, unless the plan has it.
        claim: the place of the claim that needs it first, where only cells that claims need are measured.
    """

    cell: Cell
    kind: str
    size: InputSize
    limits: Limits
    refused: str = ""
    plugin: Algorithm | None = None
    declared: Declared | None = None
    claim: int = 0

    @property
    def label(self) -> str:
        """The cell for a reader: ``mst boruvka on cuda, rmat:20``."""
        cell = self.cell
        weights = "" if cell.read.weights == "file" else f", {cell.read.weights} weights"
        return f"{cell.problem} {described_algorithm(cell)} on {cell.device}, {cell.graph}{weights}"

    @property
    def algorithm_key(self) -> tuple[str, str, str]:
        """What tells its algorithm from others: the problem, the name, the kind of device."""
        return self.cell.problem, self.cell.algorithm, self.kind


@dataclass
class Plan:
    """The cells of a sweep, a user's files and then small graphs first, and how many were left out for which reason."""

    cells: list[Planned] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def described_algorithm(cell: Cell) -> str:
    """Return the algorithm with its options and preparations: ``boruvka(delta=8)+rank-weights``."""
    return described(cell.algorithm, cell.options, cell.preparations)


def units_of(cells: Sequence[Planned]) -> list[list[Planned]]:
    """Return the cells by their graphs, of all problems: what one worker takes, so that nobody else opens the same."""
    return [list(unit) for _, unit in itertools.groupby(cells, key=lambda p: replace(p.cell.input, problem=""))]


def groups_of(cells: Sequence[Planned]) -> Iterator[list[Planned]]:
    """Yield the cells that share an input and a claim, and therefore compete, at most ``TOGETHER`` at a time."""
    for _, same in itertools.groupby(cells, key=lambda planned: (planned.cell.input, planned.claim)):
        group = list(same)
        yield from (group[at : at + TOGETHER] for at in range(0, len(group), TOGETHER))
