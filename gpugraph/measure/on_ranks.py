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
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

from gpugraph.clock import Account, NullClock, working_seconds
from gpugraph.errors import InputError
from gpugraph.measure.assemble import record_of
from gpugraph.measure.cell import Cell, Sampling, parse_options
from gpugraph.measure.cell_run import CellRun, Run, Trial
from gpugraph.measure.inputs import Placed, Progress, live_bytes
from gpugraph.measure.instruments import OpenDevice, Throttle
from gpugraph.measure.record import Record
from gpugraph.measure.record_shape import jsonable
from gpugraph.measure.statistics import median, median_interval, relative_half_width
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import RunsOnRanks, Verdict
from gpugraph.problems.registry import algorithms, find_algorithm, load_problem
from gpugraph.ranks.comm import Comm, HostComm
from gpugraph.ranks.part import GraphPart
from gpugraph.ranks.world import is_own_rank, own_device

_MANY_ROUNDS = 256
"""Rounds from which on messages take longer than the work."""
_NOT_MEASURED = "not measured on several ranks"


def run_on_ranks(cell: Cell, comm: HostComm, account: Account, progress: Progress, sampling: Sampling) -> Record:
    """Measure one cell on the ranks of ``comm``, all of which call this; see ``run_cell``.

    The phases beside the samples are those of the rank itself, its waiting for others included.

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
    progress(f"loading {cell.graph} on {comm.size} ranks")
    part: GraphPart = open_part(
        cell.graph,
        comm,
        input_format=cell.input_format,
        weights=cell.weights,
        symmetrize=cell.symmetrize,
        device=device,
        clock=account,
        progress=progress,
    )
    with account.phase("build"):
        part = problem.admit_part(part)
    queries = problem.queries_on_ranks(part, {"source": cell.source, "seed": cell.seed})
    progress(f"compiling {algorithm.name}")
    if algorithm.compile is not None:
        with account.phase("compile"):
            algorithm.compile(part, device, **options)
    with account.phase("prepare"):
        before = live_bytes(device) - (0 if part.on_device is None else part.on_device.nbytes)
        state = algorithm.prepare(part, device, **options)
        device.synchronize()
    run = _RanksRun(cell, sampling, problem, algorithm, options, part, device, state, account, progress)
    run.setup_peak, run.device_bytes = int(device.peak_bytes()) - before, live_bytes(device) - before
    run.trials = [Trial(query) for query in queries]
    try:
        with account.phase("sampling"):
            stopped_by = run.sample()
        record = _record(run, stopped_by)
    finally:
        if state.comm is not comm:
            state.comm.close()
        device.close()
    return record.accounted(account)


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
class _RanksRun:
    """What a rank runs, by the names that ``CellRun`` has for what a record is made of.

    Attributes:
        problem: what offers ``RunsOnRanks``.
        state: what the algorithm prepared of ``part``.
        sent: bytes that the last run sent.
        split: by phase, of what its seconds were made up on every rank; known after ``inner_phases``.
    """

    cell: Cell
    sampling: Sampling
    problem: Any
    algorithm: Algorithm
    options: dict[str, Any]
    part: GraphPart
    device: Any
    state: Any
    account: Account
    progress: Progress
    trials: list[Trial] = field(default_factory=list)
    processes: list[int] = field(default_factory=list)
    throttle: Throttle = field(default_factory=lambda: Throttle(_NOT_MEASURED))
    setup_peak: int = 0
    device_bytes: int = 0
    spent_s: float = 0.0
    sent: int = 0
    split: dict[str, Any] = field(default_factory=dict)
    opened: Any = None
    earlier = None
    resident = None

    @property
    def placed(self) -> Placed:
        """The part, which lies on no device before the algorithm takes it there."""
        return Placed(self.part, self.cell.graph, {})

    @property
    def samples(self) -> int:
        """Samples of each query so far."""
        return len(self.trials[-1].kernel_s)

    def once(self, trial: Trial) -> Run:
        """Run once; the seconds are those of the slowest rank, and so are those of the copy to the host."""
        comm: HostComm = self.part.comm
        clock, before, sent = NullClock(), live_bytes(self.device), _sent(self.state.comm)
        self.state.comm.barrier()
        start = time.perf_counter()
        handle = self.algorithm.run(self.state, clock, *trial.query)
        self.device.synchronize()
        own_s = time.perf_counter() - start
        self.sent = _sent(self.state.comm) - sent
        start = time.perf_counter()
        raw = self.algorithm.fetch(self.state, handle)
        back_s = time.perf_counter() - start if self.device.kind != "cpu" else 0.0
        peak = self.device_bytes + int(self.device.peak_bytes()) - before
        self.device_bytes += live_bytes(self.device) - before  # some states grow when they are first run
        kernel_s, d2h_s = (max(seconds) for seconds in zip(*comm.share((own_s, back_s)), strict=True))
        run = Run(kernel_s, d2h_s, raw, peak, clock.counters, (kernel_s,))
        trial.ran(run)
        return run

    def sample(self) -> str:
        """Take all samples; return why no more are taken."""
        comm, sampling, trials = self.part.comm, self.sampling, self.trials
        for turn in range(sampling.warmup):
            self.progress(f"{self.algorithm.name}: warm-up {turn + 1} of {sampling.warmup}")
            self.once(trials[0])
        start, checked_s = time.perf_counter(), 0.0
        while True:
            first = self.samples == 0
            self.progress(f"{self.algorithm.name}: sample {self.samples + 1}")
            for trial in trials:
                run = self.once(trial)
                begun = time.perf_counter()
                self._keep(trial, run)
                checked_s += time.perf_counter() - begun if first else 0.0  # the first check counts for nothing
            self.spent_s = comm.share(time.perf_counter() - start - checked_s)[0]  # rank 0's clock decides for all
            reason = _stopped_by(trials, sampling, self.spent_s)
            if reason:
                return reason

    def _keep(self, trial: Trial, run: Run) -> None:
        """Take a run as a sample; the first is checked in full, every other by what each rank has of its result."""
        first, checked = not trial.d2h_s, self.cell.verify != "none"
        trial.kernel_s += run.samples_s
        trial.d2h_s.append(run.d2h_s)
        if not first and (not checked or trial.verdict.status == "failed"):
            return
        algorithm, comm = self.algorithm, self.part.comm
        result: Any = None
        if first or algorithm.digest is None:
            with self.account.phase("finish" if first else "sampling"):
                result = algorithm.finish(self.state, run.raw, *trial.query)
        if first:
            trial.result, trial.counters = result, run.counters
        if not checked:
            return
        with self.account.phase("verify" if first else "sampling"):
            same = algorithm.digest(run.raw) if algorithm.digest is not None else result.fingerprint()
            if first:
                self.progress("verifying (certificate)")
                trial.same = same
                trial.verdict = self.problem.certificate_on_ranks(self.part, trial.query, result)
            elif not all(comm.share(same == trial.same)):
                detail = f"sample {len(trial.kernel_s)} differs from sample 1"
                trial.verdict = Verdict("failed", trial.verdict.method, detail)

    def inner_phases(self) -> tuple[dict[str, float], float | None, dict[str, int]]:
        """Run once more, every phase timed; return the seconds of each, those of the run, and no counters."""
        if not self.cell.phases or any(trial.verdict.status == "failed" for trial in self.trials):
            return {}, None, {}
        self.progress(f"{self.algorithm.name}: timing its phases")
        clock, comm = _RankClock(self.device), self.state.comm
        for one in {id(comm): comm, id(comm.host): comm.host}.values():
            one.meter = clock
        comm.barrier()
        start = time.perf_counter()
        self.algorithm.run(self.state, clock, *self.trials[0].query)
        self.device.synchronize()
        seconds = time.perf_counter() - start
        comm.meter = comm.host.meter = None
        inner, self.split = _split(self.part.comm.share(clock.spent))
        return inner, max(*self.part.comm.share(seconds), sum(inner.values())), {}

    def energy(self) -> dict[str, Any]:
        """Return the ``energy`` object of a record."""
        return {"absent": _NOT_MEASURED}

    def check_input(self) -> None:
        """Do nothing: no stranger runs on several ranks."""


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

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add a time that a kernel measured itself to the phase ``name``."""
        self._of(name).total_s += seconds

    def talked(self, waited_s: float, moved_s: float, sent: int) -> None:
        """Take note of one collective."""
        spent = self._of(self._current)
        spent.wait_s += waited_s
        spent.communication_s += moved_s
        spent.sent += sent

    def _of(self, name: str) -> _Spent:
        return self.spent.setdefault(name, _Spent())


def _record(run: _RanksRun, stopped_by: str) -> Record:
    """Return the record; a collective."""
    part, comm, opened = run.part, run.part.comm, OpenDevice(run.device, None)
    members = comm.share(
        {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "device": opened.description,
            "rows": part.rows,
            "arcs": part.own_arcs,
            "bytes_sent": run.sent,
            "peak_device_bytes": max(run.setup_peak, *(trial.peak_bytes for trial in run.trials)),
        }
    )
    run.setup_peak = max(member["peak_device_bytes"] for member in members)
    names = " and ".join(dict.fromkeys(str(member["device"]["name"]) for member in members))
    device = {**members[0]["device"], "name": f"{comm.size} × {names}", "ranks": comm.size}
    run.opened = SimpleNamespace(
        description=device, gpu=opened.gpu, notice=opened.notice, copy_bytes_per_s=_NOT_MEASURED
    )
    whole = run.problem
    run.problem = SimpleNamespace(
        counted=whole.counted, definition=whole.definition, work=whole.work_on_ranks, complete=lambda *of_one: None
    )
    record = record_of(cast(CellRun, run), stopped_by)
    ranks = {
        "size": comm.size,
        "started_by": "gpugraph" if is_own_rank() else "MPI",
        "talk_through": run.state.comm.name,
        "members": members,
        "phases": run.split,
    }
    notices = record.notices
    if (rounds := record.data["rounds"] or 0) > _MANY_ROUNDS:
        notices += (f"{rounds} rounds, each a wait for messages: one device is faster on such a graph, if it holds it",)
    return replace(record, data={**record.data, "ranks": jsonable(ranks)}, notices=notices)


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
