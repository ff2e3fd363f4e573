"""``run_cell``: the one way to run anything.

    file or spec → CSRGraph → GraphView → State → Result → Verdict → Record

``gpugraph mst`` is a sweep of one cell; everything that measures takes this path.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpugraph.clock import working_seconds
from gpugraph.errors import InputError, unknown_name
from gpugraph.measure.record import PHASES, SCHEMA, Cell, Record
from gpugraph.measure.statistics import harmonic_mean, median, mteps
from gpugraph.measure.trial import Progress, Trial, run_trial
from gpugraph.problems.registry import Algorithm, Problem, find_algorithm, load_problem

if TYPE_CHECKING:
    from gpugraph.devices.resident import ResidentView
    from gpugraph.graph.csr import CSRGraph

VERIFY_METHODS = ("auto", "reference", "certificate", "both", "none")


def run_cell(cell: Cell, progress: Progress = lambda what: None) -> Record:
    """Measure one cell.

    Args:
        cell: what to measure.
        progress: called with a few words whenever something new begins.

    Returns:
        The record; a failed verification is a record whose status says so, not an exception.

    Raises:
        InputError: bad graph, names or parameters.
        DeviceUnavailable, OutOfMemory: the device cannot do it.
    """
    from gpugraph.devices.discovery import select_device

    _check_counts(cell)
    problem = load_problem(cell.problem)
    device, notice = select_device(cell.device, profile=cell.profile)
    notices = [notice] if notice else []
    try:
        graph, phases = _load(cell, problem, progress)
        notices += graph.notes
        algorithm = resolve_algorithm(cell, problem, graph, device.kind)
        options = parse_options(algorithm, cell.options)
        _check_preparations(cell, algorithm)
        queries = problem.queries(graph, {"source": cell.source, "seed": cell.seed})

        progress("preparing the graph")
        start = working_seconds()
        view = problem.view(graph, cell.preparations, cell.index_bits)
        phases["prepare"] = working_seconds() - start
        subject: Any = view
        resident: ResidentView | None = None
        device.reset_peak()
        samples: dict[str, list[float]] = {"kernel": [], "h2d": [], "d2h": []}
        if device.kind != "cpu":
            progress("copying the graph to the device")
            resident, phases["stage"], phases["h2d"] = problem.to_device(view, device)
            subject = resident
            samples["h2d"].append(phases["h2d"])
        progress(f"compiling {algorithm.name}")
        if algorithm.compile is not None:
            algorithm.compile(subject, device, **options)
        start = working_seconds()
        state = algorithm.prepare(subject, device, **options)
        device.synchronize()
        phases["prepare"] += working_seconds() - start

        repeat, warmup = (1, 0) if cell.profile else (cell.repeat, cell.warmup)
        trials = [
            run_trial(
                problem,
                algorithm,
                state,
                device,
                graph,
                query,
                repeat=repeat,
                warmup=warmup if i == 0 else 0,
                verify=cell.verify,
                progress=progress,
                profile=cell.profile,
                resident=resident,
            )
            for i, query in enumerate(queries)
        ]
        inner, counters = _inner_phases(cell, algorithm, state, device, queries[0], progress)
        result = trials[0].result
        if cell.predecessors:
            progress("predecessors")
            result = trials[0].result = result.with_predecessors()
        for trial in trials:
            samples["kernel"] += trial.kernel_s
            samples["d2h"] += trial.d2h_s
        phases["kernel"], phases["d2h"] = median(samples["kernel"]), median(samples["d2h"])
        phases["verify"] = sum(t.verify_s for t in trials)
        data = _assemble(cell, problem, algorithm, options, device, graph, trials, phases, samples, inner, counters)
        return Record(data, graph, result, tuple(notices))
    finally:
        device.close()


def _load(cell: Cell, problem: Problem, progress: Progress) -> tuple[CSRGraph, dict[str, float]]:
    """Return the graph as the problem takes it, and the phases begun."""
    phases = dict.fromkeys(PHASES, 0.0)
    progress(f"loading {getattr(cell.graph, 'name', cell.graph)}")
    graph = problem.open(cell, phases, progress)
    start = working_seconds()
    graph = problem.admit(graph)
    phases["build"] += working_seconds() - start
    return graph, phases


def _check_counts(cell: Cell) -> None:
    if cell.repeat < 1:
        raise InputError(f"--repeat {cell.repeat} takes no sample", remedy="give 1 or more")
    if cell.warmup < 0:
        raise InputError(f"--warmup {cell.warmup} is negative", remedy="give 0 or more")
    if cell.verify not in VERIFY_METHODS:
        raise unknown_name("verification method", cell.verify, VERIFY_METHODS)


def resolve_algorithm(cell: Cell, problem: Problem, graph: CSRGraph, device_kind: str) -> Algorithm:
    """Return the algorithm a cell names: registered, chosen by ``auto``, or a user's own file."""
    name = cell.algorithm
    if ":" in name or name.endswith(".py"):
        from gpugraph.problems.guest import load_guest

        return load_guest(name, problem.name, device_kind)
    return find_algorithm(problem.name, problem.auto(graph, device_kind) if name == "auto" else name, device_kind)


def parse_options(algorithm: Algorithm, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the algorithm's parameters: defaults, overridden by what was given.

    Raises:
        InputError: a name the algorithm does not have, or a value it does not take.
    """
    known = {option.name: option for option in algorithm.options}
    values = {name: option.default for name, option in known.items()}
    for name, value in given.items():
        if name not in known:
            if not known:
                raise InputError(f"algorithm '{algorithm.name}' has no options, so '{name}' cannot be set")
            raise unknown_name(f"option of '{algorithm.name}'", name, known)
        values[name] = known[name].parse(value) if isinstance(value, str) else value
    return values


def _check_preparations(cell: Cell, algorithm: Algorithm) -> None:
    for name in cell.preparations:
        if name not in algorithm.preparations:
            able = ", ".join(algorithm.preparations) or "none"
            raise InputError(
                f"algorithm '{algorithm.name}' cannot work with the preparation '{name}'",
                remedy=f"it takes: {able}",
            )


def _inner_phases(
    cell: Cell, algorithm: Algorithm, state: Any, device: Any, query: tuple[Any, ...], progress: Progress
) -> tuple[dict[str, float], dict[str, int]]:
    """Return the seconds of each inner phase and the counters, from runs of their own so that the headline is free."""
    if not cell.phases or cell.profile:
        return {}, {}
    progress(f"{algorithm.name}: timing its phases")
    runs: dict[str, list[float]] = {}
    for _ in range(min(cell.repeat, 3)):
        clock = device.phase_clock()
        algorithm.run(state, clock, *query)
        device.synchronize()
        for name, seconds in clock.seconds.items():
            runs.setdefault(name, []).append(seconds)
    return {name: median(seconds) for name, seconds in runs.items()}, clock.counters


def _rates(
    problem: Problem, graph: CSRGraph, trials: list[Trial], transfer_s: float, device_kind: str
) -> dict[str, Any]:
    """Return the ``mteps`` object: harmonic means over the queries, absent where they would mislead.

    That is where anything is unverified, and on the emulated device, whose times are not performance.
    """
    if device_kind == "emulated" or any(not t.verdict.passed for t in trials):
        return {"kernel": None, "end_to_end": None, "counted": problem.counted, "count": None}
    counts = [problem.work(graph, t.result) for t in trials]
    kernel = [mteps(c, median(t.kernel_s)) for c, t in zip(counts, trials, strict=True)]
    total = [mteps(c, transfer_s + median(t.kernel_s) + median(t.d2h_s)) for c, t in zip(counts, trials, strict=True)]
    return {
        "kernel": harmonic_mean(kernel),
        "end_to_end": harmonic_mean(total),
        "counted": problem.counted,
        "count": counts[0] if len(counts) == 1 else counts,
        "definition": problem.definition,
    }


def _verification(trials: list[Trial]) -> dict[str, Any]:
    """Return the ``verification`` object: of the first trial that did not pass, else of the first."""
    verdict = next((t.verdict for t in trials if not t.verdict.passed), trials[0].verdict)
    return {"status": verdict.status, "method": verdict.method, "detail": verdict.detail}


def _assemble(
    cell: Cell,
    problem: Problem,
    algorithm: Algorithm,
    options: dict[str, Any],
    device: Any,
    graph: CSRGraph,
    trials: list[Trial],
    phases: dict[str, float],
    samples: dict[str, list[float]],
    inner: dict[str, float],
    counted: dict[str, int],
) -> dict[str, Any]:
    from gpugraph.measure.environment import environment

    counters = {**counted, **trials[0].counters}
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "problem": problem.name,
        "algorithm": algorithm.name,
        "algorithm_source": {"authors": algorithm.authors, "year": algorithm.year, "section": algorithm.section},
        "device": device.describe(),
        "graph": graph.describe(),
        "parameters": {
            **options,
            "preparations": list(cell.preparations),
            "repeat": cell.repeat,
            "warmup": cell.warmup,
            "index_bits": 32 if graph.arcs < 2**31 and cell.index_bits != 64 else 64,
        },
        "phases_s": phases,
        "samples_s": samples,
        "kernel_phases_s": inner,
        "rounds": counters.pop("rounds", None),
        "counters": counters,
        "peak_device_bytes": max(t.peak_bytes for t in trials),
        "mteps": _rates(problem, graph, trials, phases["stage"] + phases["h2d"], device.kind),
        "result": trials[0].result.summary(),
        "verification": _verification(trials),
        "environment": environment(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    if len(trials) > 1:
        data["per_source"] = [
            {**t.result.summary(), "kernel_s": median(t.kernel_s), "rounds": t.counters.get("rounds")} for t in trials
        ]
    return data
