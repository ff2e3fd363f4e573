"""One cell under measurement: set up on its device, sampled in turns with the other cells, its record made at the end.

CSRGraph → GraphView → State → Result → Verdict → Record
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from gpugraph.clock import NullClock, working_seconds
from gpugraph.measure.assemble import Finished, assemble
from gpugraph.measure.inputs import Inputs, Progress, live_bytes
from gpugraph.measure.instruments import OpenDevice, Throttle, measure_energy
from gpugraph.measure.record import Cell, Record, jsonable
from gpugraph.measure.resolve import check_counts, check_preparations, parse_options, resolve_algorithm
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.statistics import median, median_interval, relative_half_width
from gpugraph.measure.strangers import Hosting
from gpugraph.measure.traffic import describe_traffic
from gpugraph.measure.trial import Subject, Trial
from gpugraph.problems.contract import Verdict
from gpugraph.problems.registry import load_problem

INNER_RUNS = 3
"""Runs that time the inner phases, at most."""

_GROWTH = 1.05  # the interval is looked at whenever there are so many times the samples of the last look


class Entrant:
    """A cell under measurement.

    Args:
        index: the cell's place in the caller's list.
        cell: what to measure.
        sampling: how.
        inputs: where graphs, views and their copies on the device come from.
        opened: the device.
        progress: told what goes on.
        earlier: the record of the processes that took samples of this cell before, where it is spread over several.

    Raises:
        InputError: bad graph, names or parameters.
        DeviceUnavailable, OutOfMemory: the device cannot do it.
    """

    def __init__(
        self,
        index: int,
        cell: Cell,
        sampling: Sampling,
        inputs: Inputs,
        opened: OpenDevice,
        progress: Progress,
        earlier: Mapping[str, Any] | None = None,
    ):
        self.index, self.cell, self.sampling, self.opened, self._progress = index, cell, sampling, opened, progress
        self._earlier, self._share = earlier, sampling.share()
        self._processes: list[int] = list(earlier["sampling"]["processes"]) if earlier else []
        device = opened.device
        check_counts(cell)
        flush = opened.flush if sampling.cold else None
        problem = load_problem(cell.problem)
        loaded = inputs.load(cell, problem, progress, device)
        self.algorithm = resolve_algorithm(cell, problem, loaded.graph, device.kind)
        self.options = parse_options(self.algorithm, cell.options)
        check_preparations(cell, self.algorithm)
        queries = problem.queries(loaded.graph, {"source": cell.source, "seed": cell.seed})
        if sampling.bandwidth and self.algorithm.minimum_bytes is not None:
            _ = opened.copy_bytes_per_s  # before the arrays of the cells leave it no room

        self._viewed = inputs.view(cell, problem, loaded.graph, progress)
        resident = device.kind != "cpu" and self.algorithm.resident
        self._placed = inputs.place(
            self._viewed,
            problem,
            device,
            progress,
            resident=resident,
            shared=not self.algorithm.foreign,
            transfers=self._share.transfers,
        )
        self.phases = dict(loaded.phases)
        self.phases["stage"], self.phases["h2d"] = self._placed.stage_s, median(self._placed.h2d_s or [0.0])
        subject = self._placed.subject
        hosting: AbstractContextManager[Any] = nullcontext()
        if self.algorithm.foreign:
            hosting = Hosting(self.algorithm.name, loaded.graph, self._viewed.view)
        progress(f"compiling {self.algorithm.name}")
        if self.algorithm.compile is not None:
            with hosting:
                self.algorithm.compile(subject, device, **self.options)
        with hosting:
            before, start = live_bytes(device), working_seconds()
            state = self.algorithm.prepare(subject, device, **self.options)
            device.synchronize()
            prepare_s = working_seconds() - start
        self.phases["prepare"] = self._viewed.seconds + prepare_s
        self._setup_peak = self._placed.device_bytes + int(device.peak_bytes()) - before
        self.subject = Subject(
            problem,
            self.algorithm,
            state,
            device,
            loaded.graph,
            subject if resident else None,
            cell.verify,
            cell.profile,
            flush,
            self._placed.device_bytes + live_bytes(device) - before,
            hosting,
        )
        self.trials = [Trial(query) for query in queries]
        self.throttle = Throttle(opened.nvml)
        self.spent_s = 0.0
        self.interval: tuple[float, float] | None = None
        self._looked_at = 0

    @property
    def samples(self) -> int:
        """Samples of each query so far."""
        return len(self.trials[-1].kernel_s)

    def sample(self) -> None:
        """Take the next sample of every query; before the first, warm up."""
        start, checks_s = time.perf_counter(), sum(trial.verify_s for trial in self.trials)
        name, most, first = self.algorithm.name, self._share.max_samples, self.samples == 0
        if first:
            for turn in range(self.sampling.warmup):
                self._progress(f"{name}: warm-up {turn + 1} of {self.sampling.warmup}")
                self.trials[0].warm_up(self.subject)
        of = "" if self._share.adaptive else f" of {most}"
        self._progress(f"{name}: sample {self.samples + 1}{of}")
        for trial in self.trials:
            self._sample(trial)
        checks_s = sum(trial.verify_s for trial in self.trials) - checks_s if first else 0.0
        self.spent_s += time.perf_counter() - start - checks_s

    def _sample(self, trial: Trial) -> None:
        while True:
            run = trial.run(self.subject)
            clock, again = self.throttle.probe()
            if not again:
                break
            self._progress(f"{self.algorithm.name}: the GPU is held down, waiting for it")
            self.throttle.rest()
        if clock is not None:
            trial.clocks_mhz.append(clock)
        trial.keep(self.subject, run, self._progress)

    def stopped_by(self) -> str | None:
        """Return why no more samples are taken, ``"target"``, ``"time"`` or ``"count"``, or None to go on."""
        wanted, taken = self._share, self.samples
        if taken == 0:
            return None
        if taken >= wanted.max_samples or (wanted.adaptive and self._wrong()):
            return "count"
        if wanted.adaptive and taken >= wanted.min_samples and self._narrow():
            return "target"
        return "time" if self.spent_s >= wanted.time_limit_s else None

    def _wrong(self) -> bool:
        return any(trial.verdict.status == "failed" for trial in self.trials)

    def _narrow(self) -> bool:
        """Tell whether the interval of the median is narrow enough; looked at ever more seldom."""
        if self.samples < max(3, self._looked_at * _GROWTH):
            return False
        self._looked_at = self.samples
        groups = [trial.kernel_s for trial in self.trials]
        middle = median([second for group in groups for second in group])
        return relative_half_width(median_interval(groups), middle) <= self._share.target

    def finish(self, stopped_by: str) -> Record:
        """Return the record; makes the runs of their own that inner phases and energy take."""
        subject, trials = self.subject, self.trials
        self._processes.append(self.samples)
        last = len(self._processes) >= self.sampling.processes
        inner, inner_run_s, counters = self._inner_phases() if last else ({}, None, {})
        energy = self._energy() if last else {"absent": "not measured yet"}
        subject.check_input()
        completed = subject.problem.complete(
            trials[0].result, self.cell, subject.resident, subject.device, self._progress
        )
        if completed is not None:
            trials[0].result = completed[0]
        h2d_s = self._join()
        kernel = [second for trial in trials for second in trial.kernel_s]
        self.phases["kernel"] = median(kernel)
        self.phases["d2h"] = median([second for trial in trials for second in trial.d2h_s])
        self.phases["verify"] = sum(trial.verify_s for trial in trials)
        finished = Finished(
            cell=self.cell,
            subject=subject,
            options=self.options,
            index_bits=getattr(self._viewed.view, "index_bits", 32),  # what is no graph has no arcs to index
            sampling=self.sampling,
            stopped_by=stopped_by,
            trials=trials,
            phases=self.phases,
            h2d_s=h2d_s,
            inner=inner,
            inner_run_s=inner_run_s,
            counters=counters,
            throttle=self.throttle,
            peak_bytes=max(self._setup_peak, *(trial.peak_bytes for trial in trials)),
            energy=energy,
            traffic=self._traffic(),
            device=self.opened.description,
            gpu=self.opened.gpu(),
            predecessors_s=None if completed is None else completed[1],
            spent_s=self.spent_s,
            processes=self._processes,
        )
        notices = [self.opened.notice] if self.opened.notice else []
        notices += getattr(subject.graph, "notes", ())
        results = tuple(trial.result for trial in trials)
        return Record(assemble(finished), subject.graph, results, tuple(notices))

    def _join(self) -> list[float]:
        """Put the samples of earlier processes before this one's; return the seconds of all transfers.

        Processes whose results differ make the cell wrong.
        """
        h2d_s, earlier = list(self._placed.h2d_s), self._earlier
        if earlier is None:
            return h2d_s
        samples, each = earlier["samples_s"], sum(self._processes[:-1])
        clocks = earlier["sampling"]["sm_clock_mhz"]
        results = earlier.get("per_source") or [earlier["result"]]
        for i, trial in enumerate(self.trials):
            part = slice(i * each, (i + 1) * each)
            trial.kernel_s[:0] = samples["kernel"][part]
            trial.d2h_s[:0] = samples["d2h"][part]
            if isinstance(clocks, list) and len(clocks) == len(samples["kernel"]):
                trial.clocks_mhz[:0] = clocks[part]
            found = jsonable(trial.result.summary())
            if self.cell.verify != "none" and any(results[i][name] != value for name, value in found.items()):
                process = len(self._processes)
                detail = f"the result of process {process} differs from that of process {process - 1}"
                trial.verdict = Verdict("failed", trial.verdict.method, detail)
        h2d_s[:0] = samples["h2d"]
        self.phases["h2d"] = median(h2d_s or [0.0])
        self.throttle.repeated += earlier["sampling"]["throttled_repeated"]
        return h2d_s

    def _inner_phases(self) -> tuple[dict[str, float], float | None, dict[str, int]]:
        """Return the seconds of each inner phase, those of the run they were measured in, and the counters.

        The runs are their own, so that the headline is free; of several the one of median length is told.
        """
        if not self.cell.phases or self.cell.profile or self._wrong() or self.algorithm.name.startswith("peer:"):
            return {}, None, {}  # a peer marks no phases
        self._progress(f"{self.algorithm.name}: timing its phases")
        device, runs = self.subject.device, list[tuple[float, dict[str, float]]]()
        for _ in range(min(self.samples, INNER_RUNS)):
            clock, watch = device.phase_clock(), device.stopwatch()
            with self.subject.hosting:
                watch.start()
                self.algorithm.run(self.subject.state, clock, *self.trials[0].query)
                watch.stop()
                device.synchronize()
            runs.append((max(watch.seconds, sum(clock.seconds.values())), clock.seconds))
        seconds, inner = sorted(runs, key=lambda run: run[0])[(len(runs) - 1) // 2]
        return inner, seconds if inner else None, clock.counters

    def _energy(self) -> dict[str, Any]:
        if not self.sampling.energy:
            return {"absent": "not asked for"}
        nvml = self.opened.nvml
        if isinstance(nvml, str):
            return {"absent": nvml}
        if self.algorithm.own_seconds is not None:
            return {"absent": "the algorithm times itself, and its runs do more than what it times"}
        if self._wrong():
            return {"absent": "the result is wrong"}
        self._progress(f"{self.algorithm.name}: measuring its energy")
        trial, subject = self.trials[0], self.subject

        def run() -> None:
            self.algorithm.run(subject.state, NullClock(), *trial.query)
            subject.device.synchronize()

        edges = subject.problem.work(subject.graph, trial.result)
        with subject.hosting:
            return measure_energy(run, nvml.energy_j, edges=edges)

    def _traffic(self) -> dict[str, Any]:
        if not self.sampling.bandwidth:
            return {"absent": "not asked for"}
        kernel_s, bandwidth = self.phases["kernel"], self.opened.copy_bytes_per_s
        return describe_traffic(self.algorithm, self._viewed.view, kernel_s, bandwidth)
