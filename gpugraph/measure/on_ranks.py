"""One cell on several ranks: all that measuring there has of its own, and what a record says of ranks.

Every rank runs ``run_on_ranks``, in step with the others: each opens its device and its part of the graph, the
algorithm runs on all of them at once, and the sample is the time of the slowest.  All ranks have the record, and rank
0 shows it.

The inner phases are timed in a run of its own, in which every collective begins with a barrier.  So the seconds of a
phase fall apart, rank by rank, into work, waiting for others, and communication.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from gpugraph.clock import NullClock, working_seconds
from gpugraph.errors import InputError
from gpugraph.measure.assemble import Finished, assemble
from gpugraph.measure.inputs import Progress, live_bytes
from gpugraph.measure.instruments import OpenDevice, Throttle
from gpugraph.measure.record import PHASES, Cell, Record
from gpugraph.measure.resolve import parse_options
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.statistics import median, median_interval, relative_half_width
from gpugraph.measure.trial import Trial
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import RunsOnRanks, Verdict
from gpugraph.problems.registry import algorithms, find_algorithm, load_problem
from gpugraph.ranks.comm import Comm, HostComm
from gpugraph.ranks.part import GraphPart
from gpugraph.ranks.world import is_own_rank, own_device

_NOT_MEASURED = "not measured on several ranks"


def run_on_ranks(cell: Cell, comm: HostComm, progress: Progress, sampling: Sampling) -> Record:
    """Measure one cell on the ranks of ``comm``, all of which call this; see ``run_cell``.

    Raises:
        InputError: bad graph, names or parameters, or what several ranks cannot do.
        DeviceUnavailable, OutOfMemory: a device cannot do it.
        RankLost: another rank has ended.
    """
    from gpugraph.devices.discovery import select_device
    from gpugraph.ranks.source import open_part

    problem: Any = load_problem(cell.problem)
    _refuse(cell, problem, sampling)
    device, _ = select_device(own_device(cell.device, comm))
    algorithm = _algorithm(cell, problem, _one_kind(comm, device.kind))
    options = parse_options(algorithm, cell.options)

    phases = dict.fromkeys(PHASES, 0.0)
    progress(f"loading {cell.graph} on {comm.size} ranks")
    part: GraphPart = open_part(
        cell.graph,
        comm,
        input_format=cell.input_format,
        weights=cell.weights,
        symmetrize=cell.symmetrize,
        phases=phases,
        progress=progress,
    )
    part = problem.admit_part(part)
    queries = problem.queries_on_ranks(part, {"source": cell.source, "seed": cell.seed})
    progress(f"compiling {algorithm.name}")
    if algorithm.compile is not None:
        algorithm.compile(part, device, **options)
    before, start = live_bytes(device), working_seconds()
    state = algorithm.prepare(part, device, **options)
    device.synchronize()
    phases["prepare"] = working_seconds() - start
    run = _Run(cell, problem, algorithm, part, device, state, progress)
    try:
        trials = [Trial(query) for query in queries]
        stopped_by = run.sample(trials, sampling)
        peak = live_bytes(device) - before + max(trial.peak_bytes for trial in trials)
        for name, value in _slowest(comm, phases).items():
            phases[name] = value
        phases["kernel"] = median([second for trial in trials for second in trial.kernel_s])
        phases["d2h"] = median([second for trial in trials for second in trial.d2h_s])
        phases["verify"] = sum(trial.verify_s for trial in trials)
        record = _record(run, options, sampling, stopped_by, trials, phases, peak)
    finally:
        if state.comm is not comm:
            state.comm.close()
        device.close()
    return record


def _refuse(cell: Cell, problem: Any, sampling: Sampling) -> None:
    """Refuse what several ranks cannot do."""
    if not isinstance(problem, RunsOnRanks):
        raise InputError(f"{problem.title.lower()}: no algorithm runs on several ranks", remedy="name one device")
    if cell.preparations:
        raise InputError("several ranks take the graph as it is", remedy="leave out --prepare")
    if cell.predecessors:
        raise InputError("several ranks find no predecessors", remedy="use one device")
    if cell.verify in ("reference", "both"):
        remedy = "use --verify certificate, or one device"
        raise InputError("no rank holds the whole graph, which a reference needs", remedy=remedy)
    for name, given in (("--cold", sampling.cold), ("--energy", sampling.energy), ("--profile", cell.profile)):
        if given:
            raise InputError(f"{name} is for one device", remedy=f"leave out {name}")


def _one_kind(comm: HostComm, kind: str) -> str:
    """Return the kind of device that all ranks have.

    Raises:
        InputError: they have different ones.
    """
    kinds = comm.share(kind)
    for rank, other in enumerate(kinds):
        if other != kinds[0]:
            remedy = "name the device, e.g. --device cpu"
            raise InputError(f"rank {rank} has the device '{other}', rank 0 '{kinds[0]}'", remedy=remedy)
    return kind


def _algorithm(cell: Cell, problem: Any, kind: str) -> Algorithm:
    """Return the algorithm that a cell names.

    Raises:
        InputError: there is none, or it runs on one device alone.
    """
    able = [one.name for one in algorithms(problem.name) if one.ranks]
    if cell.algorithm.startswith("peer:") or ".py" in cell.algorithm:
        raise InputError(f"'{cell.algorithm}' runs on one device", remedy=f"use --algo {' or '.join(able)}")
    name = problem.auto_on_ranks() if cell.algorithm == "auto" else cell.algorithm
    algorithm = find_algorithm(problem.name, name, kind)
    if not algorithm.ranks:
        remedy = f"use --algo {' or '.join(able)}, or name one device"
        raise InputError(f"algorithm '{name}' runs on one device", remedy=remedy)
    return algorithm


@dataclass
class _Run:
    """What a rank runs."""

    cell: Cell
    problem: Any
    algorithm: Algorithm
    part: GraphPart
    device: Any
    state: Any
    progress: Progress
    bytes_of_run: int = 0

    def once(self, trial: Trial) -> tuple[float, float, Any, dict[str, int]]:
        """Run once; return the seconds of the slowest rank, those of its copy to the host, the raw result, counters."""
        comm: HostComm = self.part.comm
        clock = NullClock()
        sent = _sent(self.state.comm)
        self.state.comm.barrier()
        start = time.perf_counter()
        handle = self.algorithm.run(self.state, clock, *trial.query)
        self.device.synchronize()
        kernel_s = time.perf_counter() - start
        self.bytes_of_run = _sent(self.state.comm) - sent
        trial.peak_bytes = max(trial.peak_bytes, int(self.device.peak_bytes()))
        start = time.perf_counter()
        raw = self.algorithm.fetch(self.state, handle)
        d2h_s = time.perf_counter() - start if self.device.kind != "cpu" else 0.0
        slowest = comm.share((kernel_s, d2h_s))
        return max(k for k, _ in slowest), max(d for _, d in slowest), raw, clock.counters

    def sample(self, trials: list[Trial], sampling: Sampling) -> str:
        """Take all samples; return why no more are taken."""
        start, comm = time.perf_counter(), self.part.comm
        for turn in range(sampling.warmup):
            self.progress(f"{self.algorithm.name}: warm-up {turn + 1} of {sampling.warmup}")
            self.once(trials[0])
        while True:
            taken = len(trials[0].kernel_s)
            self.progress(f"{self.algorithm.name}: sample {taken + 1}")
            for trial in trials:
                self._keep(trial, *self.once(trial))
            spent = comm.share(time.perf_counter() - start)[0]  # rank 0's clock decides for all
            reason = _stopped_by(trials, sampling, spent)
            if reason:
                return reason

    def _keep(self, trial: Trial, kernel_s: float, d2h_s: float, raw: Any, counters: dict[str, int]) -> None:
        """Take a run as a sample; the first is checked in full, every other by what each rank has of its result."""
        trial.kernel_s.append(kernel_s)
        trial.d2h_s.append(d2h_s)
        if trial.verdict.status == "failed":
            return
        start, comm = working_seconds(), self.part.comm
        result: Any = None
        if trial.result is None or self.algorithm.digest is None:
            result = self.algorithm.finish(self.state, raw, *trial.query)
        own = self.algorithm.digest(raw) if self.algorithm.digest is not None else result.fingerprint()
        if trial.result is None:
            trial.result, trial.counters, trial._first = result, counters, own
            if self.cell.verify != "none":
                self.progress("verifying (certificate)")
                trial.verdict = self.problem.certificate_on_ranks(self.part, trial.query, result)
        elif self.cell.verify != "none" and not all(comm.share(own == trial._first)):
            detail = f"sample {len(trial.kernel_s)} differs from sample 1"
            trial.verdict = Verdict("failed", trial.verdict.method, detail)
        trial.verify_s += working_seconds() - start

    def phases(self, query: tuple[Any, ...]) -> tuple[_RankClock, float]:
        """Run once more, every phase timed; return the clock and the seconds of the run."""
        clock = _RankClock(self.device)
        comm: Comm = self.state.comm
        for one in {id(comm): comm, id(comm.host): comm.host}.values():
            one.meter = clock
        comm.barrier()
        start = time.perf_counter()
        self.algorithm.run(self.state, clock, *query)
        self.device.synchronize()
        seconds = time.perf_counter() - start
        comm.meter = comm.host.meter = None
        return clock, seconds


def _stopped_by(trials: list[Trial], sampling: Sampling, spent_s: float) -> str | None:
    """Return why no more samples are taken, or None to go on."""
    taken = len(trials[0].kernel_s)
    if taken >= sampling.max_samples or (sampling.adaptive and any(t.verdict.status == "failed" for t in trials)):
        return "count"
    if sampling.adaptive and taken >= max(3, sampling.min_samples):
        groups = [trial.kernel_s for trial in trials]
        middle = median([second for group in groups for second in group])
        if relative_half_width(median_interval(groups), middle) <= sampling.target:
            return "target"
    return "time" if spent_s >= sampling.time_limit_s else None


def _sent(comm: Comm) -> int:
    return comm.bytes_sent + (comm.host.bytes_sent if comm.host is not comm else 0)


def _slowest(comm: HostComm, seconds: dict[str, float]) -> dict[str, float]:
    """Return for every phase the seconds of the rank that took longest."""
    told = comm.share(seconds)
    return {name: max(one[name] for one in told) for name in seconds}


@dataclass
class _Spent:
    """What a rank spent on a phase: seconds of all of it, of waiting and of communication, and bytes sent."""

    total_s: float = 0.0
    wait_s: float = 0.0
    communication_s: float = 0.0
    sent: int = 0


@dataclass
class _RankClock(NullClock):
    """Times phases by the host's clock, with the device waited for, and takes note of what collectives took."""

    device: Any
    spent: dict[str, _Spent] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    _current: str = "other"
    timing = True

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the phase ``name``."""
        self._current = name
        start = working_seconds()
        try:
            yield
        finally:
            self.device.synchronize()
            self._of(name).total_s += working_seconds() - start
            self._current = "other"

    def talked(self, waited_s: float, moved_s: float, sent: int) -> None:
        """Take note of one collective."""
        spent = self._of(self._current)
        spent.wait_s += waited_s
        spent.communication_s += moved_s
        spent.sent += sent

    def _of(self, name: str) -> _Spent:
        return self.spent.setdefault(name, _Spent())


def _record(
    run: _Run,
    options: dict[str, Any],
    sampling: Sampling,
    stopped_by: str,
    trials: list[Trial],
    phases: dict[str, float],
    peak: int,
) -> Record:
    """Return the record; a collective."""
    cell, part, comm = run.cell, run.part, run.part.comm
    opened = OpenDevice(run.device, None)
    members = comm.share(
        {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "device": opened.description,
            "rows": part.rows,
            "arcs": len(part.targets),
            "bytes_sent": run.bytes_of_run,
            "peak_device_bytes": peak,
        }
    )
    inner: dict[str, float] = {}
    split: dict[str, Any] = {}
    whole_s = None
    if cell.phases and all(trial.verdict.status != "failed" for trial in trials):
        run.progress(f"{run.algorithm.name}: timing its phases")
        clock, seconds = run.phases(trials[0].query)
        inner, split = _split(comm.share(clock.spent))
        whole_s = max(*comm.share(seconds), sum(inner.values()))
    counts = [run.problem.work_on_ranks(part, trial.result) for trial in trials]
    works = iter(counts)
    problem = SimpleNamespace(
        counted=run.problem.counted, definition=run.problem.definition, work=lambda graph, result: next(works)
    )
    device = dict(members[0]["device"])
    names = list(dict.fromkeys(str(member["device"]["name"]) for member in members))
    device |= {"name": f"{comm.size} × {' and '.join(names)}", "ranks": comm.size}
    subject: Any = SimpleNamespace(problem=problem, algorithm=run.algorithm, graph=part)
    data = assemble(
        Finished(
            cell=cell,
            subject=subject,
            options=options,
            index_bits=32,
            sampling=sampling,
            stopped_by=stopped_by,
            trials=trials,
            phases=phases,
            h2d_s=[],
            inner=inner,
            inner_run_s=whole_s,
            counters={},
            throttle=Throttle(_NOT_MEASURED),
            peak_bytes=max(member["peak_device_bytes"] for member in members),
            energy={"absent": _NOT_MEASURED},
            traffic={"absent": _NOT_MEASURED},
            device=device,
            gpu=opened.gpu(),
            spent_s=sum(second for trial in trials for second in trial.kernel_s),
        )
    )
    data["ranks"] = {
        "size": comm.size,
        "started_by": "gpugraph" if is_own_rank() else "MPI",
        "talk_through": run.state.comm.name,
        "members": members,
        "phases": split,
    }
    return Record(data, part, tuple(trial.result for trial in trials), part.notes)


def _split(told: list[dict[str, _Spent]]) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the seconds of every phase, and of what they were made up on every rank."""
    names = list(dict.fromkeys(name for spent in told for name in spent))
    inner, split = {}, {}
    for name in names:
        each = [spent.get(name, _Spent()) for spent in told]
        inner[name] = max(one.total_s for one in each)
        split[name] = {
            "work_s": [max(0.0, one.total_s - one.wait_s - one.communication_s) for one in each],
            "wait_s": [one.wait_s for one in each],
            "communication_s": [one.communication_s for one in each],
            "bytes_sent": [one.sent for one in each],
        }
    return inner, split
