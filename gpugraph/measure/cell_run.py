"""CellRun: one cell under measurement, set up on its device and sampled in turns with the others that compete.

Nothing but the algorithm's own work is inside the timed region.  The first sample of every query is checked
in full, every other by the equal fingerprint of its result, all of it outside the timing.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError
from gpugraph.base.quantities import duration, percent
from gpugraph.devices import probes
from gpugraph.ext.peers import registered_commands
from gpugraph.ext.peers.peer import note_truth
from gpugraph.ext.ranks.comm import HostComm, LoneComm
from gpugraph.ext.ranks.measuring import NOT_MEASURED, Ranks, place_part, ranks_option
from gpugraph.graph.view import ResidentView
from gpugraph.measure.cell import (
    PATIENCE,
    PROCESSES,
    Cell,
    Sampling,
    check_counts,
    check_preparations,
    parse_options,
    resolve_algorithm,
)
from gpugraph.measure.check import NOT_ASKED_FOR, check
from gpugraph.measure.inputs import CellSetup, Inputs, live_bytes
from gpugraph.measure.instruments import OtherPrograms, Throttle, machine_load, measure_energy
from gpugraph.problems.contract import JudgesItself, Verdict
from gpugraph.records.record import SCATTERED
from gpugraph.records.statistics import INTERVAL_SAMPLES, STOP_LEVEL, median, median_interval, relative_half_width


@dataclass(frozen=True)
class Run:
    """One timed run.

    Attributes:
        samples_s: the seconds of the kernel; of a program that measured several runs of its own those of each.
        raw: what ``fetch`` gave.
    """

    samples_s: tuple[float, ...]
    d2h_s: float
    raw: Any
    counters: dict[str, int]


@dataclass
class Trial:
    """The samples of one query: one source of shortest paths, or the one forest.

    Attributes:
        query: what ``run`` gets after the clock.
        clocks_mhz: the SM clock after each sample, where it can be read.
        same: the fingerprint that every sample must have; None before the first, or where nothing is verified.
        peak_bytes: peak of the device's memory over the runs; what the checks took does not count.
        last_s: seconds of the last run, counted or not.
    """

    query: tuple[Any, ...]
    kernel_s: list[float] = field(default_factory=list)
    d2h_s: list[float] = field(default_factory=list)
    clocks_mhz: list[int] = field(default_factory=list)
    result: Any = None
    same: str | None = None
    verdict: Verdict = NOT_ASKED_FOR
    peak_bytes: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    last_s: float = 0.0


INNER_RUNS, INNER_LIMIT_S = 5, 5.0
"""Runs that time the inner phases: of fewer a median says nothing.  Where these would take longer than that and than
the cell's own limit there is one, for its counters."""

WAKE_LIMIT_S = 0.02
"""Between two samples the GPU idles while results are checked, and its clock falls.  A run shorter than this is made
once more, untimed, right before the timed one, so that every sample meets the GPU as steady work does.  The host does
not wait for it: the timed run is queued behind it, so that its launch is not timed."""
LAUNCH_LIMIT_S, LAUNCH_NS = 1e-4, 50_000
"""A run shorter than this may end before the timed one is queued: behind it the GPU is kept busy for so many ns."""

WATCHED_S = 0.5
"""Progress shows the median so far once in so many seconds."""

_GROWTH = 1.25  # looks at the interval are so far apart: each look is a chance to find it narrow by accident

_LOG = logging.getLogger("gpugraph")


def _chosen(cell: Cell, algorithm: Any, options: Mapping[str, object], kind: str) -> str:
    """Return which algorithm it is to be, and why."""
    why = "asked for by name"
    if cell.algorithm == "auto":
        why = f"chosen by auto, for measurements say that it is the fastest on {kind} (docs/results.md)"
    settings = [f"{name}={value}" + ("" if name in cell.options else " (default)") for name, value in options.items()]
    steps = [f"after {', '.join(cell.preparations)}"] if cell.preparations else []
    return "; ".join([f"algorithm {algorithm.name}: {why}", *filter(None, [", ".join(settings)]), *steps])


class CellRun:
    """A cell under measurement.

    Args:
        inputs: where graphs, views and their copies on the device come from.
        earlier: the record of the processes that took samples of this cell before, where it is spread over several.
        comm: the ranks that measure it together, all of which do all of this at once; one alone if not given.

    Attributes:
        ranks: the ranks; what one alone measures is what it has measured itself.
        guard: entered around every step of the algorithm: it restores the process after foreign code, and does
            nothing for our own.
        device_bytes: what input and state take on the device.
        setup_peak: the most that they took while they were made.
        other_programs: what has kept the cores busy since then.
        spent_s: seconds that sampling took, without the check of the first result.
        processes: samples that each process took, this one last.
        sent: bytes that this rank sent in the last run.
        split: of several ranks by inner phase what its seconds were made up of on each; known after ``inner_phases``.

    Raises:
        InputError: bad graph, names or parameters.
        DeviceUnavailable, OutOfMemory: the device cannot do it.
    """

    def __init__(
        self,
        setup: CellSetup,
        sampling: Sampling,
        inputs: Inputs,
        earlier: Mapping[str, Any] | None = None,
        comm: HostComm | None = None,
    ):
        cell, opened, phase_timer, progress = setup.cell, setup.opened, setup.phase_timer, setup.progress
        self.cell, self.sampling, self.opened = cell, sampling, opened
        self.phase_timer, self.progress = phase_timer, progress
        self.earlier, self._share = earlier, sampling.share()
        self.processes: list[int] = list(earlier["sampling"]["processes"]) if earlier else []
        self.device = device = opened.device
        check_counts(cell)
        self._flush = opened.flush if sampling.cold else None
        self.problem = problem = setup.problem
        self.ranks = ranks = Ranks(comm or LoneComm(), device)
        input_ = place_part(setup, sampling, ranks.comm) if ranks.several else inputs.open(setup)
        graph = input_.graph
        self.algorithm = algorithm = resolve_algorithm(cell, problem, graph, device.kind)
        if ranks.several and not algorithm.ranks:
            remedy = f"use {ranks_option(problem)}, or name one device"
            raise InputError(f"algorithm '{algorithm.name}' runs on one device", remedy=remedy)
        self.options = parse_options(algorithm, cell.options, cell.sums)
        _LOG.info(_chosen(cell, algorithm, self.options, device.kind))
        check_preparations(cell.preparations, algorithm)
        queries = problem.queries(graph, {"source": cell.source, "seed": cell.seed})
        if algorithm.batched:
            queries = [problem.batch(queries)]
        if sampling.asks_bandwidth(device.kind) and algorithm.minimum_bytes is not None:
            with phase_timer.phase("sampling"):
                _ = opened.copy_bytes_per_s  # before the arrays of the cells leave it no room

        if not ranks.several:
            shared, times = not algorithm.foreign, self._share.transfers
            input_ = inputs.place(input_, setup, resident=algorithm.resident, shared=shared, transfers=times)
        self.input = input_
        self.guard: AbstractContextManager[Any] = nullcontext()
        if algorithm.foreign:
            from gpugraph.ext.plugins.isolation import ForeignCodeGuard

            self.guard = ForeignCodeGuard(algorithm.name, graph, input_.view)
        if algorithm.compile is not None:
            progress(f"compiling {algorithm.name}")
            with phase_timer.phase("compile"), self.guard:
                algorithm.compile(input_.algorithm_input, device, **self.options)
        with phase_timer.phase("prepare"), self.guard:
            before = live_bytes(device)
            self.state = algorithm.prepare(input_.algorithm_input, device, **self.options)
            device.synchronize()
        self.setup_peak = input_.device_bytes + int(device.peak_bytes()) - before
        self.device_bytes = input_.device_bytes + live_bytes(device) - before
        self.trials = [Trial(query) for query in queries]
        self.throttle = Throttle(NOT_MEASURED if ranks.several else opened.nvml)
        self.sent, self.split = 0, dict[str, Any]()
        self.spent_s = 0.0
        self.load_before, self.other_programs = machine_load(), OtherPrograms()
        self._looked_at = 0
        self._watched = 0.0, ""

    @property
    def resident(self) -> Any:
        """The input on the device, or None where it does not lie there."""
        return self.input.algorithm_input if self.device.kind != "cpu" and self.algorithm.resident else None

    @property
    def own_peak_bytes(self) -> int:
        """The most that input, state and runs took on this rank's device together."""
        return max(self.setup_peak, *(trial.peak_bytes for trial in self.trials))

    @property
    def samples(self) -> int:
        """Samples of each query so far."""
        return len(self.trials[-1].kernel_s)

    # ------------------------------------------------------------------ samples

    def sample(self) -> None:
        """Take the next sample of every query; before the first, warm up."""
        start, first = time.perf_counter(), self.samples == 0
        before_s = self.phase_timer.until_now().get("sampling", 0.0)
        name, most = self.algorithm.name, self._share.max_samples
        with self.phase_timer.phase("sampling"):
            for turn in range(self.sampling.warmup if first and not self.algorithm.warms_itself else 0):
                self.progress(f"{name}: warm-up {turn + 1} of {self.sampling.warmup}")
                self._run(self.trials[0])
            of = "" if self._share.adaptive else f" of {most}"
            self.progress(f"{name}: sample {self.samples + 1}{of}{self._so_far()}")
            for trial in self.trials:
                self._sample(trial)
        if first:  # the check of the first result counts for nothing
            self.spent_s += self.phase_timer.until_now()["sampling"] - before_s
        else:
            self.spent_s += time.perf_counter() - start
        self.spent_s = self.ranks.comm.all_gather_object(self.spent_s)[0]  # rank 0's clock decides for all

    def _so_far(self) -> str:
        """Return the median of the samples and half its interval for people to watch, worked out now and then."""
        now = time.perf_counter()
        if self.samples >= INTERVAL_SAMPLES and now - self._watched[0] > WATCHED_S:
            groups = [trial.kernel_s for trial in self.trials]
            middle = median([second for group in groups for second in group])
            half = relative_half_width(median_interval(groups), middle)
            known = f" ± {percent(half)}" if half <= SCATTERED else ""
            self._watched = now, f", {duration(middle)}{known} so far"
        return self._watched[1]

    def _sample(self, trial: Trial) -> None:
        short = self.device.kind == "cuda" and trial.last_s < WAKE_LIMIT_S and not self.ranks.several
        while True:
            wake = short and bool(trial.kernel_s) and self.algorithm.own_seconds is None
            run = self._run(trial, wake=wake)
            clock, again = self.throttle.probe()
            if not again:
                break
            self.progress(f"{self.algorithm.name}: the GPU is held down, waiting for it")
            self.throttle.rest()
        if clock is not None:
            trial.clocks_mhz.append(clock)
        self._keep(trial, run)

    def _run(self, trial: Trial, *, wake: bool = False) -> Run:
        """Run the algorithm once, timed by the slowest rank; ``wake``: after another run, untimed."""
        algorithm, state, device, ranks = self.algorithm, self.state, self.device, self.ranks
        self.input.check_file()
        with self.guard:
            before = live_bytes(device)
            busy = wake and trial.last_s < LAUNCH_LIMIT_S
            wait = device.kernel(probes.FILE, "probe_wait") if busy else None  # compiled before the GPU is at work
            if wake:
                algorithm.run(state, NullClock(awaited=False), *trial.query)
            if self._flush is not None:
                self._flush()
            if wait is not None:
                wait(1, 1, (np.uint64(LAUNCH_NS),))
            clock = device.phase_clock() if self.cell.profile else NullClock()
            watch, sent = ranks.stopwatch(), ranks.bytes_sent
            clock.stop = watch.stop
            watch.start()
            handle = algorithm.run(state, clock, *trial.query)
            if not clock.stopped:
                watch.stop()
            self.sent = ranks.bytes_sent - sent
            own = watch.seconds if algorithm.own_seconds is None else algorithm.own_seconds(state, handle)
            samples = tuple(map(ranks.greatest, own if isinstance(own, Sequence) else (own,)))
            start = time.perf_counter()
            raw = algorithm.fetch(state, handle)
            d2h_s = time.perf_counter() - start if device.kind != "cpu" else 0.0
            trial.peak_bytes = max(trial.peak_bytes, self.device_bytes + int(device.peak_bytes()) - before)
            self.device_bytes += live_bytes(device) - before  # some states grow when they are first run
        trial.last_s = median(samples)
        return Run(samples, ranks.greatest(d2h_s), raw, clock.counters)

    def _keep(self, trial: Trial, run: Run) -> None:
        """Take a run as a sample and check its result: the first in full, every other by its fingerprint."""
        first, method = not trial.d2h_s, self.cell.verify
        if self.ranks.several and method != "none":
            method = "certificate"
        trial.kernel_s += run.samples_s
        trial.d2h_s.append(run.d2h_s)
        if not first and (method == "none" or trial.verdict.status == "failed"):
            return
        algorithm = self.algorithm
        result: Any = None
        if first or algorithm.digest is None:
            with self.phase_timer.phase("finish" if first else "sampling"), self.guard:
                result = algorithm.finish(self.state, run.raw, *trial.query)
        if first:
            trial.result, trial.counters = result, run.counters
            self.check_input()
        if method == "none":
            return
        with self.phase_timer.phase("verify" if first else "sampling"):
            same = algorithm.digest(run.raw) if algorithm.digest is not None else result.fingerprint()
            if first:
                self.progress(f"verifying ({method})")
                trial.same, trial.verdict = same, self._checked(trial, method)
            elif not all(self.ranks.comm.all_gather_object(same == trial.same)):
                detail = f"sample {len(trial.kernel_s)} differs from sample 1"
                trial.verdict = Verdict("failed", trial.verdict.method, detail)

    def _checked(self, trial: Trial, method: str) -> Verdict:
        """Return the verdict on the first sample."""
        checked = self.problem, self.input.graph, trial.query, trial.result
        verdict = check(*checked, method, self.resident, self.device, self.algorithm.name)
        if verdict.passed and not self.algorithm.trusted:
            detail = f"this algorithm is wrong on purpose; this time: {verdict.detail}"
            return Verdict("skipped", verdict.method, detail)
        of_ours = not isinstance(trial.result, JudgesItself) and not self.algorithm.batched and not self.ranks.several
        if verdict.passed and of_ours and registered_commands():
            note_truth(self.input.graph, self.problem.name, trial.query, trial.result, self.algorithm.name)
        return verdict

    def check_input(self) -> None:
        """Raise WroteIntoInput where foreign code changed its own copy of the input on the device."""
        if self.algorithm.foreign and isinstance(self.resident, ResidentView):
            self.guard.check_device(self.resident, self.device.download)  # type: ignore[attr-defined]

    def stopped_by(self) -> str | None:
        """Return why no more samples are taken, ``"target"``, ``"time"`` or ``"count"``, or None to go on."""
        wanted, taken = self._share, self.samples
        if taken == 0 or (taken < wanted.max_samples and self._starts_again):
            return None
        if taken >= wanted.max_samples or (wanted.adaptive and self.wrong):
            return "count"
        if wanted.adaptive and taken >= max(wanted.min_samples, INTERVAL_SAMPLES, self._looked_at * _GROWTH):
            self._looked_at = taken
            if self.narrow:
                return "target"
        return "time" if self.spent_s >= wanted.time_limit_s else None

    @property
    def _starts_again(self) -> bool:
        """Whether a program of its own is started once more whatever it took: fewer processes rank nothing."""
        started, least = sum(len(trial.d2h_s) for trial in self.trials), -(-PROCESSES // self.sampling.processes)
        too_few = self.algorithm.warms_itself and started < least
        return too_few and not self.wrong and self.spent_s < PATIENCE * self._share.time_limit_s

    @property
    def ending_s(self) -> float:
        """About how many seconds it takes to end: those of the runs that time its inner phases."""
        return self._inner_runs * self.trials[0].last_s if self.cell.phases else 0.0

    @property
    def _inner_runs(self) -> int:
        """How many runs time the inner phases; times of an emulated device are none."""
        limit_s = self._share.time_limit_s if self._share.time_limit_s < math.inf else 0.0
        long = INNER_RUNS * self.trials[0].last_s > max(limit_s, INNER_LIMIT_S)
        return 1 if long or self.device.kind == "emulated" else INNER_RUNS

    @property
    def wrong(self) -> bool:
        """Whether a result does not hold."""
        return any(trial.verdict.status == "failed" for trial in self.trials)

    @property
    def narrow(self) -> bool:
        """Whether the interval of the median is as narrow as was asked for."""
        groups = [trial.kernel_s for trial in self.trials]
        middle = median([second for group in groups for second in group])
        return relative_half_width(median_interval(groups, level=STOP_LEVEL), middle) <= self._share.target

    # ------------------------------------------------------------------ runs of their own

    def inner_phases(self) -> tuple[dict[str, Any], dict[str, int]]:
        """Return fields of a record that tell of runs of their own, ``kernel_phases_…``, and the last one's counters.

        The seconds are those of the run of median length; a share is given by its least, median and greatest value.
        """
        if not self.cell.phases or self.cell.profile or self.wrong or self.algorithm.name.startswith("peer:"):
            return {}, {}  # a peer marks no phases
        self.progress(f"{self.algorithm.name}: timing its phases")
        ranks, runs = self.ranks, list[tuple[float, dict[str, float], dict[str, Any]]]()
        for _ in range(self._inner_runs):
            clock, watch = ranks.phase_clock(), ranks.stopwatch()
            with self.guard, ranks.metered(clock):
                watch.start()
                self.algorithm.run(self.state, clock, *self.trials[0].query)
                watch.stop()
                self.device.synchronize()
            inner, split = ranks.phases(clock)
            runs.append((max(ranks.greatest(watch.seconds), sum(inner.values())), inner, split))
        seconds, inner, self.split = sorted(runs, key=lambda run: run[0])[(len(runs) - 1) // 2]
        shares: dict[str, list[float]] = {}
        for whole, parts, _ in runs if seconds > 0 else []:
            for name, part in {**parts, "other": whole - sum(parts.values())}.items():
                shares.setdefault(name, []).append(part / whole if whole > 0 else 0.0)
        ends = {name: [min(of), median(of), max(of)] for name, of in shares.items() if len(of) == len(runs)}
        phases = {"s": inner, "run_s": seconds, "runs": len(runs), "shares": ends if inner else {}}
        return {f"kernel_phases_{name}": value for name, value in phases.items()} if inner else {}, clock.counters

    def energy(self) -> dict[str, object]:
        """Return the ``energy`` object of a record, measured over a window of runs."""
        if not self.sampling.energy:
            return {"absent": "not asked for"}
        nvml = self.opened.nvml
        if isinstance(nvml, str):
            return {"absent": nvml}
        if self.algorithm.own_seconds is not None:
            return {"absent": "the algorithm times itself, and its runs do more than what it times"}
        if self.wrong:
            return {"absent": "the result is wrong"}
        self.progress(f"{self.algorithm.name}: measuring its energy")
        query = self.trials[0].query

        def run() -> None:
            self.algorithm.run(self.state, NullClock(), *query)
            self.device.synchronize()

        edges = self.problem.work(self.input.graph, self.trials[0].result)
        with self.guard:
            return measure_energy(run, nvml.energy_j, edges=edges)
