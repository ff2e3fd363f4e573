"""From a sweep to its cells: the product of the axes, less what rules leave out and what cannot be.

A cell that appears twice is kept once.  What is left out is counted with its reason, so that nothing goes missing in
silence.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpugraph.bench.axes import matches
from gpugraph.bench.choices import Choices
from gpugraph.bench.guests import Guests
from gpugraph.bench.names import check_names, check_variables_used, filled, variables_in, variables_of_options
from gpugraph.bench.sizes import GraphSize, is_array, series_of, size_of
from gpugraph.bench.sweep import AXES, Block, Limits, Sweep, Variant
from gpugraph.errors import InputError, placed
from gpugraph.measure.record import Cell
from gpugraph.problems.algorithm import Algorithm

MOST_CELLS = 100_000


@dataclass(frozen=True)
class Planned:
    """A cell of a sweep, before it is run.

    Attributes:
        cell: what to measure; its axes and series are filled in.
        kind: the kind of device it will run on.
        size: of its graph.
        limits: what it may take.
        refused: why it cannot run here though it was asked for by name, or nothing.
        guest: what a user's own algorithm says of itself; None for any other.  It cannot be run from here.
    """

    cell: Cell
    kind: str
    size: GraphSize
    limits: Limits
    refused: str = ""
    guest: Algorithm | None = None

    @property
    def label(self) -> str:
        """The cell for a reader: ``mst boruvka on cuda, rmat:20``."""
        cell = self.cell
        weights = "" if cell.weights == "file" else f", {cell.weights} weights"
        return f"{cell.problem} {described_algorithm(cell)} on {cell.device}, {cell.graph}{weights}"


@dataclass
class Plan:
    """The cells of a sweep, small graphs first, and how many were left out for which reason."""

    cells: list[Planned] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def described_algorithm(cell: Cell) -> str:
    """Return the algorithm with its options and preparations: ``boruvka(delta=8)+rank-weights``."""
    options = ",".join(f"{k}={v}" for k, v in sorted(cell.options.items()))
    return f"{cell.algorithm}{f'({options})' if options else ''}{''.join(f'+{p}' for p in cell.preparations)}"


def expand_sweep(
    sweep: Sweep, kinds: Mapping[str, str], peers: Sequence[str] = (), unusable: Mapping[str, str] | None = None
) -> Plan:
    """Return the cells of a sweep.

    Args:
        sweep: the sweep.
        kinds: the kind of device behind each name that the sweep may use; one that is missing cannot be used here.
        peers: names of peers that run beside the sweep's algorithms, on the CPU unless they say otherwise.
        unusable: why a device cannot be used here, by name.

    Raises:
        InputError: an unknown algorithm, option, preparation or variable, a bad graph, or no cell at all.
    """
    limit_s = min((block.limits.time_s for block in sweep.blocks), default=0.0)
    plan, seen, choices = Plan(), set[str](), Choices(unusable or {}, Guests(limit_s))
    for name in peers:
        choices.check(f"peer:{name}", [])
    check_variables_used(sweep)
    for number, block in enumerate(sweep.blocks):
        where = f"{sweep.path}, block {block.name or number + 1}" if len(sweep.blocks) > 1 else sweep.path
        try:
            check_names(sweep, block, choices)
            for planned in _cells(sweep, block, kinds, peers, choices, plan.left_out):
                key = _identity(planned.cell)
                if key not in seen:
                    seen.add(key)
                    plan.cells.append(planned)
                if len(plan.cells) > MOST_CELLS:
                    raise InputError(f"has more than {MOST_CELLS} cells", remedy="take wider steps, or --set an axis")
        except InputError as error:
            if error.where and error.where.startswith((sweep.path, "--set")):
                raise
            raise placed(error, where) from None
    if not plan.cells:
        why = "; ".join(plan.left_out) or "an axis is empty"
        raise InputError(f"no cell is left to run: {why}", where=sweep.path, remedy="--list shows what is left out")
    plan.cells.sort(key=lambda p: (p.size.arcs, p.size.vertices, str(p.cell.graph), p.cell.problem))
    return plan


def _identity(cell: Cell) -> str:
    fields = {k: v for k, v in vars(cell).items() if k not in ("axes", "series", "sweep")}
    return json.dumps(fields, sort_keys=True, default=str)


def _cells(
    sweep: Sweep,
    block: Block,
    kinds: Mapping[str, str],
    peers: Sequence[str],
    choices: Choices,
    left_out: Counter[str],
) -> Iterator[Planned]:
    fixed = ("graph", "weights", "source", "prepare", "device")
    everywhere = variables_of_options(block)
    for graph, weights, source in itertools.product(*(block.axes[name] for name in fixed[:3])):
        templates = (graph, weights, source, *block.axes["prepare"])
        used = {*everywhere, *(name for template in templates for name in variables_in(template))}
        names = [name for name in block.axes if name not in fixed and (name in AXES or name in used)]
        cases = [{name: value for name, value in case.items() if name in used} for case in block.cases]
        for values in itertools.product(*(block.axes[name] for name in names)):
            for case in [case for i, case in enumerate(cases) if case not in cases[:i]]:
                bound = {**dict(zip(names, values, strict=True)), **case}
                given = {
                    **bound,
                    "graph": filled(graph, bound),
                    "weights": filled(weights, bound),
                    "source": filled(source, bound) if bound["problem"] == "sssp" else None,
                }
                yield from _cells_of_graph(sweep, block, str(graph), given, kinds, peers, choices, left_out)


def _cells_of_graph(
    sweep: Sweep,
    block: Block,
    template: str,
    given: dict[str, Any],
    kinds: Mapping[str, str],
    peers: Sequence[str],
    choices: Choices,
    left_out: Counter[str],
) -> Iterator[Planned]:
    problem = given["problem"]
    if is_array(given["graph"]) != (problem == "scan"):
        left_out["a scan takes arrays, the other problems take graphs"] += 1
        return
    variants = [*block.algorithms.get("", []), *block.algorithms.get(problem, [])]
    variants += [Variant(f"peer:{name}") for name in peers]
    rules = [rule for rule in block.skip if not {"vertices", "arcs"} & rule.conditions.keys()]
    sized = [rule for rule in block.skip if rule not in rules]
    size: GraphSize | None = None
    for variant in variants:
        if not choices.solves(variant.name, problem):
            continue
        own_devices = [variant.device] if variant.device else block.axes["device"]
        own_devices = list(choices.devices_of(variant.name, problem, own_devices, kinds))
        own_prepare = [variant.prepare] if variant.prepare is not None else block.axes["prepare"]
        axes = {"device": own_devices, "prepare": own_prepare, **block.options.get(variant.name, {})}
        for chosen in itertools.product(*axes.values()):
            bound = {**given, "algorithm": variant.name, **dict(zip(axes, chosen, strict=True))}
            reason = next((r.reason for r in rules if meets(r.conditions, bound)), None)
            options = {**variant.options, **{name: bound[name] for name in list(axes)[2:]}}
            refused = "" if reason else choices.refusal(variant.name, kinds, bound["device"])
            reason = reason or choices.obstacle(
                variant.name, problem, kinds, bound["device"], str(bound["prepare"]), options
            )
            if reason is None:
                size = size or size_of(given["graph"], given["weights"])
                counted = {**bound, "vertices": size.vertices, "arcs": size.arcs}
                reason = next((r.reason for r in sized if meets(r.conditions, counted)), None)
            if reason is not None or size is None:
                left_out[str(reason)] += 1
                continue
            kind = kinds.get(bound["device"], str(bound["device"]).partition(":")[0])
            bound["device"] = kind if bound["device"] == "auto" else bound["device"]
            cell, guest = _cell(sweep, block, template, bound, options), choices.guest(variant.name, problem)
            yield Planned(cell, kind, size, block.limits, refused, guest)


def meets(conditions: Mapping[str, Any], bound: Mapping[str, Any]) -> bool:
    """Tell whether values meet the conditions of a rule; a name without a value does not."""
    return all(name in bound and matches(wanted, bound[name]) for name, wanted in conditions.items())


def _cell(sweep: Sweep, block: Block, template: str, bound: Mapping[str, Any], options: Mapping[str, Any]) -> Cell:
    used = variables_in(template)
    varied = [name for name in AXES if name != "algorithm" and len(block.axes[name]) > 1]
    axes = {name: bound[name] for name in dict.fromkeys([*used, *varied])}
    prepare = str(filled(bound["prepare"], bound))
    axes |= {"graph": template, "algorithm": bound["algorithm"], "device": bound["device"], **options}
    axes |= {} if prepare in ("", "none") else {"prepare": prepare}
    cell = Cell(
        problem=bound["problem"],
        graph=bound["graph"],
        algorithm=bound["algorithm"],
        device=bound["device"],
        source=bound["source"],
        preparations=() if prepare in ("", "none") else tuple(prepare.split("+")),
        options={name: str(filled(value, bound)) for name, value in options.items()},
        verify=bound["verify"],
        index_bits=bound["index_bits"],
        input_format=bound["input_format"],
        weights=bound["weights"],
        symmetrize=bound["symmetrize"],
        keep_ids=bound["keep_ids"],
        seed=bound["seed"],
        axes={name: value for name, value in axes.items() if value is not None},
        sweep=sweep.name,
    )
    extras = [f"{name}={bound[name]}" for name in ("weights", "source", "seed", "index_bits") if name in varied]
    parts = [cell.problem, described_algorithm(cell), cell.device, series_of(str(cell.graph)), *extras]
    return Cell(**{**vars(cell), "series": " · ".join(parts)})
