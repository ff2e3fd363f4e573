"""Records of what was just tried: of a cell that was measured, and of one that ended without numbers."""

import datetime
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.base.errors import GpuGraphError, InputError, OutOfMemory, VerificationFailed, unknown_name, used_up
from gpugraph.graph.csr import notices_of
from gpugraph.measure.cell import Cell, cell_id
from gpugraph.measure.environment import environment
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.provenance import provenance
from gpugraph.problems.contract import Problem, Verdict, worst
from gpugraph.problems.registry import load_problem
from gpugraph.records.json_text import jsonable
from gpugraph.records.record import WAY_THERE, Record, ordered
from gpugraph.records.record_shape import OUTCOMES, SCHEMA, shape_of
from gpugraph.records.statistics import (
    INTERVAL_SAMPLES,
    harmonic_mean,
    interval_of,
    median,
    median_interval,
    mteps,
    outliers,
    relative_half_width,
)


def _blank(cell: Cell, problem: Problem, outcome: str, message: str) -> dict[str, Any]:
    """Return the JSON object of a record in which every name is there and every figure absent."""
    graph = cell.graph  # an object of another library would be printed entry by entry
    name = str(graph if isinstance(graph, str | os.PathLike) else getattr(graph, "name", type(graph).__name__))
    asked = {"repeat": cell.repeat, "warmup": cell.warmup, "index_bits": cell.index_bits}
    definition = {"definition": problem.definition}
    sizes = dict.fromkeys(("vertices", "arcs", "edges", "directed", "weight_dtype", "digest"))
    return {
        "schema": SCHEMA,
        "problem": cell.problem,
        "outcome": outcome,
        **({"message": message} if message else {}),
        "algorithm": cell.algorithm,
        "algorithm_source": {},
        "device": {"kind": cell.device.partition("/")[0].partition(":")[0], "name": None},
        "graph": {"name": name, "source": name, **sizes},
        "parameters": {**cell.options, "preparations": list(cell.preparations), **asked},
        "phases_s": {},
        "samples_s": {"kernel": [], "h2d": [], "d2h": []},
        "confidence_s": {},
        "sampling": None,
        "kernel_phases_s": {},
        "rounds": None,
        "counters": {},
        "peak_device_bytes": None,
        "mteps": {"kernel": None, "end_to_end": None, "counted": problem.counted, "count": None, **definition},
        "energy": {"absent": message},
        "traffic": {"absent": message},
        "work": {"absent": message},
        "price": {"absent": message},
        "result": {},
        "verification": {"status": "skipped", "method": "none", "detail": message},
        "environment": environment(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def record_of(run: Measurement, stopped_by: str) -> Record:
    """Return the record of a cell that has all its samples: the sections of its instruments, and its own figures."""
    setup, algorithm, trials, stopping = run.setup, run.algorithm, run.trials, run.stopping
    cell, problem, phase_timer, open_device = setup.cell, setup.problem, setup.phase_timer, setup.open_device
    phase_timer.switch_phase("close")
    processes, h2d_s = [*stopping.processes, run.samples], _join(run)
    absent = "not asked for" if stopping.is_last else "not measured yet"
    sections: dict[str, Any] = {
        "sampling": {},
        "counters": {},
        "peak_device_bytes": 0,
        **{name: {"absent": absent} for name in ("energy", "work", "price")},
        "traffic": {"absent": "not asked for"},
    }
    with phase_timer.phase("sampling"):
        for instrument in run.instruments:
            _merge(sections, instrument.section(run))
    run.guard.check_input(run.resident, run.device)
    with phase_timer.phase("finish"):
        completed = problem.add_optional_outputs(trials[0].result, cell, run.resident, run.device, setup.progress)
        if completed is not None:
            trials[0].result = completed[0]
    with phase_timer.phase("check"):
        described = run.input.graph.describe()
    with phase_timer.phase("finish"):
        results = [trial.result.summary() for trial in trials]
        _compare_with_earlier(run, results)
    phases = _phases(run, h2d_s)
    interval = interval_of([t.kernel_s for t in trials], processes, phases["kernel"])
    verdict, gpu, device = worst(trial.verdict for trial in trials), open_device.gpu(), open_device.description
    data = _blank(cell, problem, *(("wrong", verdict.detail) if run.is_wrong else ("ok", "")))
    index_bits = getattr(run.input.view, "index_bits", 32)  # what is no graph has no arcs to index
    data["parameters"] |= {**run.options, "warmup": stopping.sampling.warmup, "index_bits": index_bits}
    data["mteps"] |= _rates(run, phases)
    if gpu is not None:
        data["environment"]["gpu"] = gpu
    kernel_s, d2h_s = [s for t in trials for s in t.kernel_s], [s for t in trials for s in t.d2h_s]
    counters = {**sections["counters"], **trials[0].counters}
    data |= {
        "algorithm": algorithm.name,
        "algorithm_source": {"authors": algorithm.authors, "year": algorithm.year, "section": algorithm.section},
        "provenance": provenance(algorithm),
        "device": device,
        "graph": described,
        "cell": _identity(run, described["digest"]),
        "phases_s": phases,
        "samples_s": {"kernel": kernel_s, "h2d": h2d_s, "d2h": d2h_s},
        "confidence_s": _intervals(run, h2d_s, interval),
        **sections,
        "sampling": _sampling(run, processes, stopped_by, interval, phases["kernel"]) | sections["sampling"],
        "compiled": phase_timer.compiled,
        "rounds": counters.pop("rounds", None),
        "counters": counters,
        "result": results[0],
        "verification": _verification(verdict),
    }
    if not algorithm.trusted:
        different = sum(len(trial.digests) for trial in trials)
        data["verification"] |= {"wrong_on_purpose": True, "results": different or None}
    if completed is not None:
        data["predecessors_s"] = completed[1]
    if data["mteps"]["kernel"] is not None:
        seconds = {**phases, "stage": run.input.stage_s, "h2d": median(h2d_s or [0.0])}
        data |= problem.figures(run.input.graph, seconds)
    if len(trials) > 1:
        data["per_source"] = [
            {**result, "kernel_s": median(t.kernel_s), "rounds": t.counters.get("rounds")}
            for t, result in zip(trials, results, strict=True)
        ]
    notices = [open_device.notice] if open_device.notice else []
    notices += [*notices_of(run.input.graph), *run.ranks.notices(data["rounds"] or 0)]
    plain: dict[str, Any] = jsonable(data)
    try:
        shape_of(plain)
    except ValueError as error:
        remedy = "see what it marks and counts on its clock"
        raise InputError(f"what '{algorithm.name}' reports makes no record: {error}", remedy=remedy) from None
    return Record(plain, run.input.graph, tuple(trial.result for trial in trials), tuple(notices))


def _merge(data: dict[str, Any], section: Mapping[str, Any]) -> None:
    """Put a section into a record: objects are joined name by name, anything else takes the place of what is there."""
    for name, value in section.items():
        old = data.get(name)
        joined = isinstance(old, dict) and isinstance(value, dict) and "absent" not in old
        data[name] = {**old, **value} if joined else value  # type: ignore[dict-item]


def _identity(run: Measurement, graph_digest: str) -> dict[str, Any]:
    """Return the ``cell`` object: what was measured, and where it lies in its sweep."""
    cell, device, cold = run.setup.cell, run.setup.open_device.description, run.stopping.sampling.cold
    id_ = cell_id(cell, run.algorithm, run.options, graph_digest=graph_digest, device=device, cold=cold)
    named = {} if cell.input.path is None else {"input": cell.input.describe()}  # of an object its text says little
    return {"id": id_, "series": cell.series, "sweep": cell.sweep, "axes": dict(cell.axes), **named}


def _verification(verdict: Verdict) -> dict[str, Any]:
    """Return the ``verification`` object."""
    found: dict[str, Any] = {"status": verdict.status, "method": verdict.method, "detail": verdict.detail}
    if verdict.sums_error is not None:  # JSON has no infinity
        found["sums_error"] = verdict.sums_error if math.isfinite(verdict.sums_error) else None
    if verdict.counter_example is not None:
        found["counter_example"] = verdict.counter_example.to_json()
    return found


def _join(run: Measurement) -> list[float]:
    """Put the samples of earlier processes before this one's; return the seconds of all transfers."""
    h2d_s, earlier = list(run.input.h2d_s), run.stopping.earlier
    if earlier is None:
        return h2d_s
    samples, trials = earlier["samples_s"], run.trials
    kernel, d2h = (run.stopping.earlier_of(samples[name]) for name in ("kernel", "d2h"))
    for trial, kernel_s, d2h_s in zip(trials, kernel, d2h, strict=True):
        trial.kernel_s[:0] = kernel_s
        trial.d2h_s[:0] = d2h_s
    return [*samples["h2d"], *h2d_s]


def _compare_with_earlier(run: Measurement, results: Sequence[dict[str, Any]]) -> None:
    """Note where this process has another result than the one before it."""
    earlier, process = run.stopping.earlier, len(run.stopping.processes) + 1
    if earlier is None or run.setup.cell.verify == "none":
        return
    for trial, found, before in zip(run.trials, results, earlier.get("per_source") or [earlier["result"]], strict=True):
        if any(before[name] != value for name, value in jsonable(found).items()):
            detail = f"the result of process {process} differs from that of process {process - 1}"
            trial.verdict = Verdict("failed", trial.verdict.method, detail)


def _phases(run: Measurement, h2d_s: list[float]) -> dict[str, float]:
    """Return ``phases_s``; their sum is the whole, for what runs took beyond one median run is ``sampling``."""
    phase_timer, seconds = run.setup.phase_timer, run.setup.phase_timer.until_now()
    for name, samples in (("kernel", [t.kernel_s for t in run.trials]), ("d2h", [t.d2h_s for t in run.trials])):
        seconds[name] = median([second for group in samples for second in group])
        phase_timer.move("sampling", name, seconds[name])
    seconds["sampling"] = phase_timer.seconds["sampling"]
    if run.setup.cell.transfers == "separate":
        stage_s, bus_s = run.input.stage_s, median(h2d_s or [0.0])
        phase_timer.move("transfer", "stage", stage_s)
        phase_timer.move("transfer", "h2d", bus_s + run.input.seconds.get("transfer", 0.0))
        phase_timer.move("transfer", "prepare", phase_timer.seconds.get("transfer", 0.0))  # the allocation
        seconds |= {name: phase_timer.seconds.get(name, 0.0) for name in ("stage", "h2d", "prepare")}
        seconds.pop("transfer", None)
    return ordered(seconds)


def _intervals(run: Measurement, h2d_s: list[float], kernel: tuple[float, float] | None) -> dict[str, list[float]]:
    """Return the interval of the median of every phase that has the samples for one."""
    groups = {"h2d": [h2d_s], "d2h": [t.d2h_s for t in run.trials] if run.device.kind != "cpu" else []}
    enough = {name: g for name, g in groups.items() if g and len(g[0]) >= INTERVAL_SAMPLES}
    intervals = {name: list(median_interval(g)) for name, g in enough.items()}
    return intervals | ({} if kernel is None else {"kernel": list(kernel)})


def _sampling(
    run: Measurement, processes: list[int], stopped_by: str, interval: tuple[float, float] | None, kernel_s: float
) -> dict[str, Any]:
    """Return the ``sampling`` object; outliers are listed by position in ``samples_s.kernel``, and never dropped."""
    groups, sampling = [t.kernel_s for t in run.trials], run.stopping.sampling
    nvml = run.setup.open_device.nvml
    firsts = [sum(map(len, groups[:i])) for i in range(len(groups))]
    return {
        "target": sampling.target if sampling.adaptive else None,
        "reached": None if interval is None else relative_half_width(interval, kernel_s),
        "min_samples": sampling.min_samples,
        "max_samples": sampling.max_samples,
        "time_limit_s": sampling.time_limit_s,
        "warmup": sampling.warmup,
        "processes": processes,
        "stopped_by": stopped_by,
        **dict.fromkeys(("load", "other_cores")),  # an instrument's, as throttled_repeated: their place in the order
        "spent_s": run.stopping.spent_s,
        "cold": sampling.cold,
        "outliers": [first + i for first, group in zip(firsts, groups, strict=True) for i in outliers(group)],
        "throttled_repeated": 0,
        **({"sm_clock_mhz": {"absent": nvml}} if isinstance(nvml, str) and not run.ranks.several else {}),
    }


def _rates(run: Measurement, phases: Mapping[str, float]) -> dict[str, object]:
    """Return the figures of ``mteps``: harmonic means; none of what is not verified, or was emulated."""
    trials = run.trials
    if run.device.kind == "emulated" or any(not t.verdict.passed for t in trials):
        return {}
    there_s = sum(phases.get(name, 0.0) for name in WAY_THERE)
    counts = [t.count(run) for t in trials]
    kernel = [mteps(c, median(t.kernel_s)) for c, t in zip(counts, trials, strict=True)]
    total = [mteps(c, there_s + median(t.kernel_s) + median(t.d2h_s)) for c, t in zip(counts, trials, strict=True)]
    count = counts[0] if len(counts) == 1 else counts
    return {"kernel": harmonic_mean(kernel), "end_to_end": harmonic_mean(total), "count": count}


def outcome_of(error: BaseException) -> tuple[str, str]:
    """Return the outcome of an exception, and its message in one line."""
    kinds: tuple[tuple[type[BaseException], str], ...] = (
        (OutOfMemory, "out of memory"),
        (MemoryError, "out of memory"),
        (VerificationFailed, "wrong"),
        (InputError, "refused"),
        (GpuGraphError, "failed"),
    )
    error = error if isinstance(error, GpuGraphError | MemoryError) else used_up(error) or error
    outcome = next((name for kind, name in kinds if isinstance(error, kind)), "threw")
    said = " ".join(str(error).split())
    if outcome == "threw" or not said:
        said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return outcome, said


def failed_record(
    cell: Cell,
    outcome: str,
    message: str,
    *,
    graph: Mapping[str, object] | None = None,
    device: Mapping[str, object] | None = None,
    algorithm: Mapping[str, object] | None = None,
) -> Record:
    """Return the record of a cell that gave no numbers: every name is there, every figure is absent.

    ``graph``, ``device`` and ``algorithm`` are what is known (``Session.known``); else the cell's words take their
    place.  Raises InputError if a cell that failed has no such outcome.
    """
    if outcome not in OUTCOMES or outcome == "ok":
        raise unknown_name("outcome of a failed cell", outcome, [name for name in OUTCOMES if name != "ok"])
    data = _blank(cell, load_problem(cell.problem), outcome, message)
    data["device"] |= device or {}
    data["graph"] |= graph or {}
    if algorithm is not None:
        data |= {"algorithm": algorithm["name"], "algorithm_source": algorithm["source"]}
    return Record(data)
