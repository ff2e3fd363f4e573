"""Records of what was just tried: of a cell that was measured, and of one that ended without numbers."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gpugraph.errors import GpuGraphError, InputError, OutOfMemory, VerificationFailed, unknown_name
from gpugraph.measure.identity import cell_id
from gpugraph.measure.record import Cell, Record, jsonable
from gpugraph.measure.record_shape import OUTCOMES, SCHEMA, shape_of
from gpugraph.measure.statistics import (
    harmonic_mean,
    median,
    median_interval,
    mteps,
    outliers,
    relative_half_width,
    spread_interval,
)

if TYPE_CHECKING:
    from gpugraph.measure.instruments import Throttle
    from gpugraph.measure.sampling import Sampling
    from gpugraph.measure.trial import Subject, Trial
    from gpugraph.problems.contract import Problem

INTERVAL_SAMPLES = 3
"""Fewest samples from which an interval says anything."""


@dataclass(frozen=True)
class Finished:
    """Everything that a record is made of; times in seconds, ``index_bits`` the width that the view took."""

    cell: Cell
    subject: Subject
    options: dict[str, Any]
    index_bits: int
    sampling: Sampling
    stopped_by: str
    trials: list[Trial]
    phases: dict[str, float]
    h2d_s: list[float]
    inner: dict[str, float]
    inner_run_s: float | None
    counters: dict[str, int]
    throttle: Throttle
    peak_bytes: int
    energy: dict[str, Any]
    traffic: dict[str, Any]
    device: dict[str, Any]
    gpu: dict[str, Any] | None
    predecessors_s: float | None = None
    spent_s: float = 0.0
    processes: list[int] = field(default_factory=list)


def _blank(cell: Cell, problem: Problem, outcome: str, message: str) -> dict[str, Any]:
    """Return the JSON object of a record in which every name is there and every figure absent."""
    from gpugraph.measure.environment import environment

    name = str(getattr(cell.graph, "name", cell.graph))
    sizes = dict.fromkeys(("vertices", "arcs", "edges", "directed", "weight_dtype", "digest"))
    return {
        "schema": SCHEMA,
        "problem": cell.problem,
        "outcome": outcome,
        **({"message": message} if message else {}),
        "algorithm": cell.algorithm,
        "algorithm_source": {},
        "device": {"kind": cell.device.partition(":")[0], "name": None},
        "graph": {"name": name, "source": name, **sizes},
        "parameters": {
            **cell.options,
            "preparations": list(cell.preparations),
            "repeat": cell.repeat,
            "warmup": cell.warmup,
            "index_bits": cell.index_bits,
        },
        "phases_s": {},
        "samples_s": {"kernel": [], "h2d": [], "d2h": []},
        "confidence_s": {},
        "sampling": None,
        "kernel_phases_s": {},
        "rounds": None,
        "counters": {},
        "peak_device_bytes": None,
        "mteps": {
            "kernel": None,
            "end_to_end": None,
            "counted": problem.counted,
            "count": None,
            "definition": problem.definition,
        },
        "energy": {"absent": message},
        "traffic": {"absent": message},
        "result": {},
        "verification": {"status": "skipped", "method": "none", "detail": message},
        "environment": environment(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def assemble(done: Finished) -> dict[str, Any]:
    """Return the JSON object of a record (the names: docs/formats.md).

    Raises:
        InputError: what a user's algorithm marked or counted makes a record that nobody could read again.
    """
    cell, subject, trials = done.cell, done.subject, done.trials
    algorithm, graph = subject.algorithm, subject.graph
    counters = {**done.counters, **trials[0].counters}
    described = graph.describe()
    verdict = next((t.verdict for t in trials if not t.verdict.passed), trials[0].verdict)
    wrong = verdict.status == "failed"
    data = _blank(cell, subject.problem, "wrong" if wrong else "ok", verdict.detail if wrong else "")
    data["parameters"] |= {**done.options, "warmup": done.sampling.warmup, "index_bits": done.index_bits}
    data["mteps"] |= _rates(done)
    data["environment"] |= {} if done.gpu is None else {"gpu": done.gpu}
    data |= {
        "algorithm": algorithm.name,
        "algorithm_source": {"authors": algorithm.authors, "year": algorithm.year, "section": algorithm.section},
        "device": done.device,
        "graph": described,
        "cell": {
            "id": cell_id(
                cell,
                algorithm,
                done.options,
                graph_digest=described["digest"],
                device=done.device,
                cold=done.sampling.cold,
            ),
            "series": cell.series,
            "sweep": cell.sweep,
            "axes": dict(cell.axes),
        },
        "phases_s": {name: max(seconds, 0.0) for name, seconds in done.phases.items()},  # clocks round
        "samples_s": {
            "kernel": [s for t in trials for s in t.kernel_s],
            "h2d": done.h2d_s,
            "d2h": [s for t in trials for s in t.d2h_s],
        },
        "confidence_s": _intervals(done),
        "sampling": _sampling(done),
        "kernel_phases_s": done.inner,
        "rounds": counters.pop("rounds", None),
        "counters": counters,
        "peak_device_bytes": done.peak_bytes,
        "energy": done.energy,
        "traffic": done.traffic,
        "result": trials[0].result.summary(),
        "verification": {"status": verdict.status, "method": verdict.method, "detail": verdict.detail},
    }
    apart = {"predecessors_s": done.predecessors_s, "kernel_phases_run_s": done.inner_run_s}
    data |= {name: seconds for name, seconds in apart.items() if seconds is not None}
    figures = getattr(subject.problem, "figures", None)
    if figures is not None and data["mteps"]["kernel"] is not None:
        data |= figures(graph, done.phases)
    if len(trials) > 1:
        data["per_source"] = [
            {**t.result.summary(), "kernel_s": median(t.kernel_s), "rounds": t.counters.get("rounds")} for t in trials
        ]
    plain: dict[str, Any] = jsonable(data)
    try:
        shape_of(plain)
    except ValueError as error:
        remedy = "see what it marks and counts on its clock"
        raise InputError(f"what '{algorithm.name}' reports makes no record: {error}", remedy=remedy) from None
    return plain


def _intervals(done: Finished) -> dict[str, list[float]]:
    """Return the interval of the median of every phase that has the samples for one."""
    groups = {
        "h2d": [done.h2d_s],
        "d2h": [t.d2h_s for t in done.trials] if done.device["kind"] != "cpu" else [],
    }
    enough = {name: g for name, g in groups.items() if g and len(g[0]) >= INTERVAL_SAMPLES}
    told = {name: list(median_interval(g)) for name, g in enough.items()}
    return told | ({"kernel": list(interval)} if (interval := _kernel_interval(done)) else {})


def _kernel_interval(done: Finished) -> tuple[float, float] | None:
    """Return the interval of the median kernel time; of several processes the one that they scatter in."""
    groups = [t.kernel_s for t in done.trials]
    if len(done.processes) > 1:
        ends = [sum(done.processes[:i]) for i in range(len(done.processes) + 1)]
        medians = [median([s for group in groups for s in group[low:high]]) for low, high in pairwise(ends)]
        if min(medians) > 0:
            low, high = spread_interval(medians)
            return min(low, done.phases["kernel"]), max(high, done.phases["kernel"])
    return median_interval(groups) if len(groups[0]) >= INTERVAL_SAMPLES else None


def _sampling(done: Finished) -> dict[str, Any]:
    """Return the ``sampling`` object; outliers are told of, by position in ``samples_s.kernel``, and never dropped."""
    groups = [t.kernel_s for t in done.trials]
    interval = _kernel_interval(done)
    reached = None if interval is None else relative_half_width(interval, done.phases["kernel"])
    firsts = [sum(map(len, groups[:i])) for i in range(len(groups))]
    clocks: Any = [clock for t in done.trials for clock in t.clocks_mhz]
    if done.throttle.absent is not None:
        clocks = {"absent": done.throttle.absent}
    return {
        "target": done.sampling.target if done.sampling.adaptive else None,
        "reached": reached,
        "min_samples": done.sampling.min_samples,
        "max_samples": done.sampling.max_samples,
        "time_limit_s": done.sampling.time_limit_s,
        "warmup": done.sampling.warmup,
        "processes": done.processes or [len(groups[0])],
        "stopped_by": done.stopped_by,
        "spent_s": done.spent_s,
        "cold": done.sampling.cold,
        "outliers": [first + i for first, group in zip(firsts, groups, strict=True) for i in outliers(group)],
        "throttled_repeated": done.throttle.repeated,
        "sm_clock_mhz": clocks,
    }


def _rates(done: Finished) -> dict[str, Any]:
    """Return the figures of ``mteps``: harmonic means over the queries, absent where they would mislead.

    That is where anything is unverified, and on the emulated device, whose times are not performance.
    """
    problem, graph, trials = done.subject.problem, done.subject.graph, done.trials
    if done.device["kind"] == "emulated" or any(not t.verdict.passed for t in trials):
        return {}
    transfer_s = done.phases["stage"] + done.phases["h2d"]
    counts = [problem.work(graph, t.result) for t in trials]
    kernel = [mteps(c, median(t.kernel_s)) for c, t in zip(counts, trials, strict=True)]
    total = [mteps(c, transfer_s + median(t.kernel_s) + median(t.d2h_s)) for c, t in zip(counts, trials, strict=True)]
    count = counts[0] if len(counts) == 1 else counts
    return {"kernel": harmonic_mean(kernel), "end_to_end": harmonic_mean(total), "count": count}


def outcome_of(error: BaseException) -> tuple[str, str]:
    """Return the outcome that an exception stands for, and its message in one line."""
    kinds: tuple[tuple[type[BaseException], str], ...] = (
        (OutOfMemory, "out of memory"),
        (MemoryError, "out of memory"),
        (VerificationFailed, "wrong"),
        (InputError, "refused"),
        (GpuGraphError, "failed"),
    )
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
    graph: Mapping[str, Any] | None = None,
    device: Mapping[str, Any] | None = None,
    algorithm: Mapping[str, Any] | None = None,
) -> Record:
    """Return the record of a cell that gave no numbers: every name is there, every figure is absent.

    Args:
        cell: what was asked for.
        outcome: one of ``OUTCOMES`` but ``ok``.
        message: why, in one line.
        graph: the ``graph`` object of a record as far as it is known (``Session.known``); else the cell's words.
        device: the ``device`` object, likewise.
        algorithm: ``name`` and ``source`` (authors, year, section), likewise.

    Raises:
        InputError: there is no such outcome.
    """
    if outcome not in OUTCOMES or outcome == "ok":
        raise unknown_name("outcome of a failed cell", outcome, [name for name in OUTCOMES if name != "ok"])
    from gpugraph.problems.registry import load_problem

    data = _blank(cell, load_problem(cell.problem), outcome, message)
    data["device"] |= device or {}
    data["graph"] |= graph or {}
    if algorithm is not None:
        data |= {"algorithm": algorithm["name"], "algorithm_source": algorithm["source"]}
    return Record(data)
