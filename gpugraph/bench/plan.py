"""From a sweep to its cells: the product of the axes, less what rules leave out and what cannot be.

A cell that appears twice is kept once.  What is left out is counted with its reason, so that nothing goes missing in
silence.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gpugraph.base.errors import InputError, placed
from gpugraph.bench.available import Available, Plugins, Way
from gpugraph.bench.axes import AXES, described, filled, meets, variables_in
from gpugraph.bench.local_workers import Limits
from gpugraph.bench.sweep import Block, Sweep, Variant
from gpugraph.graph.read_options import ReadOptions
from gpugraph.measure.cell import Cell, unopened_id
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import InputSize, Problem
from gpugraph.problems.foreign import PEER
from gpugraph.problems.registry import load_problem

MOST_CELLS = 100_000

TOGETHER = 12
"""Most cells that compete at once: each holds its arrays until it ends."""


@dataclass(frozen=True)
class Planned:
    """A cell of a sweep, before it is run, with its kind of device, the size of its input, and what it may take.

    Attributes:
        refused: why it cannot run here though it was asked for by name, or nothing.
        plugin: what a user's own algorithm says of itself; None for any other.  It cannot be run from here.
    """

    cell: Cell
    kind: str
    size: InputSize
    limits: Limits
    refused: str = ""
    plugin: Algorithm | None = None

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
    """The cells of a sweep, small graphs first, and how many were left out for which reason."""

    cells: list[Planned] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def described_algorithm(cell: Cell) -> str:
    """Return the algorithm with its options and preparations: ``boruvka(delta=8)+rank-weights``."""
    return described(cell.algorithm, cell.options, cell.preparations)


def units_of(cells: Sequence[Planned]) -> list[list[Planned]]:
    """Return the cells by their graphs, of all problems: what one worker takes, so that nobody else opens the same."""
    return [list(unit) for _, unit in itertools.groupby(cells, key=lambda p: replace(p.cell.input, problem=""))]


def groups_of(cells: Sequence[Planned]) -> Iterator[list[Planned]]:
    """Yield the cells that share an input, and therefore compete, at most ``TOGETHER`` at a time."""
    for _, same in itertools.groupby(cells, key=lambda planned: planned.cell.input):
        group = list(same)
        yield from (group[at : at + TOGETHER] for at in range(0, len(group), TOGETHER))


def expand_sweep(
    sweep: Sweep, kinds: Mapping[str, str], peers: Sequence[str] = (), unusable: Mapping[str, str] | None = None
) -> Plan:
    """Return the cells of a sweep.

    ``kinds`` has the kind of device behind each name that can be used here, ``unusable`` why others cannot; ``peers``
    run beside the sweep's algorithms.

    Raises:
        InputError: an unknown algorithm, option or preparation, a bad graph, or no cell at all.
    """
    limit_s = min((block.limits.time_s for block in sweep.blocks), default=0.0)
    available = Available(kinds, unusable or {}, Plugins(limit_s))
    beside = [Variant(f"{PEER}{name}") for name in peers]
    for peer in beside:
        available.check_peer(peer.name)
    plan, seen = Plan(), set[str]()
    for turn, block in enumerate(sweep.blocks):
        where = f"{sweep.path}, block {block.name or turn + 1}" if len(sweep.blocks) > 1 else sweep.path
        try:
            available.check(sweep, block)
            for planned in _cells(sweep.name, block, beside, available, plan.left_out):
                name = unopened_id(planned.cell, {})
                if name not in seen:
                    seen.add(name)
                    plan.cells.append(planned)
                if len(plan.cells) > MOST_CELLS:
                    raise InputError(f"has more than {MOST_CELLS} cells", remedy="take wider steps, or --set an axis")
        except InputError as error:
            if error.where and error.where.startswith((sweep.path, "--")):
                raise
            raise placed(error, where) from None
    if not plan.cells:
        why = "; ".join(plan.left_out) or "an axis is empty"
        raise InputError(f"no cell is left to run: {why}", where=sweep.path, remedy="--list shows what is left out")
    plan.cells.sort(key=lambda p: (p.size.arcs, p.size.vertices, str(p.cell.graph), p.cell.problem))
    return plan


def _cells(
    sweep: str, block: Block, beside: Sequence[Variant], available: Available, left_out: Counter[str]
) -> Iterator[Planned]:
    rules = [rule for rule in block.skip if not {"vertices", "arcs"} & rule.conditions.keys()]
    sized = [rule for rule in block.skip if rule not in rules]
    for template, given in block.points():
        problem = load_problem(given["problem"])
        if not problem.accepts(given["graph"]):
            left_out[f"{problem.name} takes inputs of another kind"] += 1
            continue
        if "source" not in problem.query_fields:
            given["source"] = None
        size: InputSize | None = None
        for variant in (*block.algorithms.get("", ()), *block.algorithms.get(problem.name, ()), *beside):
            ways = list(available.ways(variant, problem.name, block))
            if not ways and variant.name.startswith(PEER):
                left_out[f"{variant.name} does not solve {problem.name}"] += 1
            for way in ways:
                bound = {**given, "algorithm": variant.name, **way.chosen}
                reason = next((r.reason for r in rules if meets(r.conditions, bound)), way.obstacle)
                if reason is None:
                    size = size or problem.size(given["graph"], given["weights"])
                    counted = {**bound, "vertices": size.vertices, "arcs": size.arcs}
                    reason = next((r.reason for r in sized if meets(r.conditions, counted)), None)
                if reason is not None or size is None:
                    left_out[str(reason)] += 1
                    continue
                cell = _cell(sweep, block, problem, template, bound, way)
                yield Planned(cell, way.kind, size, block.limits, way.refused, way.plugin)


def _cell(sweep: str, block: Block, problem: Problem, template: str, bound: Mapping[str, Any], way: Way) -> Cell:
    varied = [name for name in AXES if name != "algorithm" and len(block.axes[name]) > 1]
    prepare = str(filled(bound["prepare"], bound))
    steps = () if prepare in ("", "none") else tuple(prepare.split("+"))
    device = way.kind if bound["device"] == "auto" else bound["device"]
    bound = {**bound, "device": device}
    axes = {name: bound[name] for name in dict.fromkeys([*variables_in(template), *varied])}
    options = {name: filled(value, bound) for name, value in way.options.items()}
    axes |= {"graph": template, "algorithm": bound["algorithm"], "device": device, **options}
    axes |= {"prepare": prepare} if steps else {}
    cell = Cell(
        **{one.name: bound[one.name] for one in fields(Cell) if one.name in AXES},
        read=ReadOptions(**{one.name: bound[one.name] for one in fields(ReadOptions)}),
        preparations=steps,
        options={name: str(value) for name, value in options.items()},
        axes={name: value for name, value in axes.items() if value is not None},
        sweep=sweep,
    )
    extras = [f"{name}={bound[name]}" for name in ("weights", "source", "seed", "index_bits", "sums") if name in varied]
    parts = [cell.problem, described_algorithm(cell), cell.device, problem.series(str(cell.graph)), *extras]
    return replace(cell, series=" · ".join(parts))
