"""From a sweep to its cells: the product of the axes, less what rules leave out and what cannot be.

A cell that appears twice is kept once.  What is left out is counted with its reason, so that nothing goes missing in
silence.  A worker does this: it takes the problems and algorithms that are to be measured.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError, placed
from gpugraph.bench.available import Available, Way, absent
from gpugraph.bench.axes import AXES, filled, meets, variables_in
from gpugraph.bench.plan import Declared, Plan, Planned, described_algorithm
from gpugraph.bench.sweep import Block, Sweep, Variant
from gpugraph.devices.kernel_file import index_dtype
from gpugraph.graph.read_options import ReadOptions
from gpugraph.measure.cell import Cell, parse_options, resolve_algorithm, unopened_id
from gpugraph.problems.contract import CertifiesOnDevice, InputSize, Problem
from gpugraph.problems.foreign import PEER
from gpugraph.problems.registry import load_problem

MOST_CELLS = 100_000


def expand_sweep(
    sweep: Sweep, kinds: Mapping[str, str], peers: Sequence[str] = (), unusable: Mapping[str, str] | None = None
) -> Plan:
    """Return the cells of a sweep.

    ``kinds`` has the kind of device behind each name that can be used here, ``unusable`` why others cannot; ``peers``
    run beside the sweep's algorithms.  Raises InputError for an unknown algorithm, option or preparation, a bad graph,
    or no cell at all.
    """
    limit_s = min((block.limits.time_s for block in sweep.blocks), default=0.0)
    available = Available(kinds, unusable or {}, limit_s)
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
                    raise InputError(f"has more than {MOST_CELLS} cells", remedy="take wider steps, or --axis")
        except InputError as error:
            if error.where and error.where.startswith((sweep.path, "--")):
                raise
            raise placed(error, where) from None
    if not plan.cells:
        if unusable and plan.left_out and plan.left_out.keys() <= set(map(absent, unusable)):
            raise DeviceUnavailable(next(iter(unusable.values())))
        what = f"no cell is left to run: {'; '.join(plan.left_out) or 'an axis is empty'}"
        raise InputError(what, where=sweep.path, remedy="change the algorithms, devices or rules")
    plan.cells.sort(key=lambda p: (p.size.arcs, p.size.vertices, str(p.cell.graph), p.cell.problem))
    plan.cells.sort(key=lambda p: not os.path.isfile(str(p.cell.graph)))
    return plan


def _cells(
    sweep: str, block: Block, beside: Sequence[Variant], available: Available, left_out: Counter[str]
) -> Iterator[Planned]:
    rules = [rule for rule in block.skip if not {"vertices", "arcs"} & rule.conditions.keys()]
    sized = [rule for rule in block.skip if rule not in rules]
    for template, given in block.points():
        problem = load_problem(given["problem"])
        if not problem.command.accepts(given["graph"]):
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
                planned = Planned(cell, way.kind, size, block.limits, way.refused, way.plugin)
                yield replace(planned, declared=declared_of(planned))


def _cell(sweep: str, block: Block, problem: Problem, template: str, bound: Mapping[str, Any], way: Way) -> Cell:
    varied = [name for name in AXES if name != "algorithm" and len(block.axes[name]) > 1]
    prepare = str(filled(bound["prepare"], bound))
    steps = () if prepare in ("", "none") else tuple(prepare.split("+"))
    device = way.kind if bound["device"] == "auto" else bound["device"]
    bound = {**bound, "device": device}
    axes = {name: bound[name] for name in dict.fromkeys([*variables_in(template), *varied])}
    options = {name: filled(value, bound) for name, value in way.options.items()}
    axes |= {"graph": template, "algorithm": bound["algorithm"], "device": device, **options}
    if steps:
        axes["prepare"] = prepare
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


def declared_of(planned: Planned) -> Declared:
    """Return what is declared of a cell; of an algorithm that is known only when the graph is there, nothing."""
    cell, problem, algorithm = planned.cell, load_problem(planned.cell.problem), planned.plugin
    if algorithm is None and cell.algorithm != "auto":
        with suppress(GpuGraphError):  # running it will tell
            algorithm = resolve_algorithm(cell, problem, None, planned.kind)
    unsigned = getattr(algorithm, "unsigned", False) and not cell.preparations
    index_bits = cell.index_bits or 8 * index_dtype(planned.size.arcs, unsigned=unsigned).itemsize
    view = problem.view_size(planned.size, cell.preparations, index_bits)
    estimates = [getattr(algorithm, name, None) for name in ("state_bytes", "minimum_bytes")]
    state_bytes, minimum_bytes = (None if estimate is None else estimate(view) for estimate in estimates)
    oracle, options = problem.cheaper_check == "reference", dict[str, object]()
    if algorithm is not None:
        with suppress(GpuGraphError):
            options = parse_options(algorithm, cell.options, cell.sums)
    on_device = isinstance(problem, CertifiesOnDevice)
    return Declared(view.nbytes, state_bytes, minimum_bytes, oracle, on_device, options)
