"""Measurement: one cell, set up on its device and sampled in turns with the others that compete.

Nothing but the algorithm's own work is inside the timed region, in ``_run``; what is done and observed around it are
instruments (``instruments/``).  The first sample of every query is checked in full, every other by the equal
fingerprint of its result, all of it outside the timing.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.base.errors import InputError
from gpugraph.base.plugged import offered
from gpugraph.devices.base import Device
from gpugraph.measure.alone import Alone
from gpugraph.measure.cell import check_counts, check_preparations, parse_options, resolve_algorithm
from gpugraph.measure.check import VERIFIED, check
from gpugraph.measure.inputs import CellSetup, InputCache
from gpugraph.measure.instruments import INSTRUMENTS, Guard, Instrument, OnThreads, Run, Trial, imported
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.stopping import Stopping
from gpugraph.problems.contract import JudgesItself, Verdict
from gpugraph.records.statistics import clocked, median

_LOG = logging.getLogger("gpugraph")


class Measurement:
    """A cell under measurement.

    Args:
        cache: where graphs, views and their copies on the device come from.
        earlier: the record of the processes that took samples of this cell before, where it is spread over several.
        ranks: the processes that measure it together, all of which do all of this at once; one alone if not given.

    Attributes:
        setup: the cell, its device, its phase timer, and what hears of every step.
        guard: entered around every step of the algorithm.

    Raises:
        InputError: bad graph, names or parameters.
        DeviceUnavailable, OutOfMemory: the device cannot do it.
    """

    def __init__(
        self,
        setup: CellSetup,
        sampling: Sampling,
        cache: InputCache,
        earlier: Mapping[str, Any] | None = None,
        ranks: Alone | None = None,
    ):
        self.setup, self.ranks = setup, ranks or Alone()
        cell, problem, device = setup.cell, setup.problem, self.device
        check_counts(cell)
        for name in ("cold", "counters"):
            if getattr(sampling, name):
                imported(name).check(setup.open_device)  # before a graph is loaded
        loaded = self.ranks.load(setup, sampling, cache)
        self.algorithm = algorithm = resolve_algorithm(cell, problem, loaded.graph, device.kind)
        self.ranks.check_algorithm(algorithm)
        self.options = parse_options(algorithm, cell.options, cell.sums)
        _LOG.info(self._why_this_algorithm())
        check_preparations(cell.preparations, algorithm)
        queries = problem.queries(loaded.graph, {"source": cell.source, "seed": cell.seed})
        self.trials = [Trial(query) for query in ([problem.batch(queries)] if algorithm.batched else queries)]
        ends = {"starts_again": algorithm.warms_itself, "ends_when_wrong": algorithm.trusted}
        self.stopping = Stopping(self.trials, sampling, earlier, **ends)
        used = [imported(name).of(self) for name in self._instruments_used()]
        self.instruments: list[Instrument] = [self.ranks, *used]
        shared, times = not algorithm.foreign, self.stopping.share.transfers
        how = {"resident": algorithm.resident, "unsigned": algorithm.unsigned, "shared": shared, "transfers": times}
        self.input = self.ranks.place(loaded, setup, cache, **how)
        self.guard: Guard = imported("isolation").of(self) if algorithm.foreign else Guard()
        if getattr(self.device, "limited", False):
            if algorithm.foreign:
                what = f"'{algorithm.name}' has threads of its own, which --device {cell.device} does not limit"
                raise InputError(what, remedy="use --device cpu")
            self.guard = OnThreads(self.device.threads)  # type: ignore[attr-defined]
        self.state: Any = None

    def _why_this_algorithm(self) -> str:
        """Return which algorithm it is to be, and why."""
        cell, algorithm = self.setup.cell, self.algorithm
        why = "requested by name"
        if cell.algorithm == "auto":
            why = f"chosen by auto: the fastest on {self.device.kind} in our measurements (docs/results.md)"
        options = self.options.items()
        settings = [f"{name}={value}" + ("" if name in cell.options else " (default)") for name, value in options]
        parts = [f"algorithm {algorithm.name}: {why}", ", ".join(settings)]
        if cell.preparations:
            parts.append(f"after {', '.join(cell.preparations)}")
        return "; ".join(filter(None, parts))

    def _instruments_used(self) -> list[str]:
        cell, sampling, is_last = self.setup.cell, self.stopping.sampling, self.stopping.is_last
        kind, several, given = self.device.kind, self.ranks.several, self.algorithm.minimum_bytes is not None
        on_gpu = kind == "cuda" and not several
        used = {
            "memory": kind != "cpu" or several,
            "load": True,
            "profile": cell.profile,
            "wake": on_gpu,
            "cold": sampling.cold,
            "busy": on_gpu,
            "throttle": not (several or isinstance(self.setup.open_device.nvml, str)),
            "phases": cell.phases and not cell.profile and is_last,
            "call": on_gpu and is_last and not (self.algorithm.own_seconds or sampling.cold or cell.profile),
            "energy": sampling.energy and is_last,
            "traffic": sampling.asks_bandwidth(kind) or not given,
            "price": sampling.price > 0,
            "counters": sampling.counters and is_last,
        }
        return [*(name for name in INSTRUMENTS if used.get(name)), *sorted(offered("instruments") - INSTRUMENTS.keys())]

    def prepare(self) -> None:
        """Let the algorithm compile and allocate."""
        setup, algorithm, given = self.setup, self.algorithm, self.input.algorithm_input
        set_up = Run(self, self.trials[0], is_sample=False, watch=None)
        if algorithm.compile is not None:
            setup.progress(f"compiling {algorithm.name}")
            with setup.phase_timer.phase("compile"), self.guard:
                algorithm.compile(given, self.device, **self.options)
        with setup.phase_timer.phase("prepare"), self.guard:
            watching = [instrument for instrument in self.instruments if instrument.at_prepare]
            for instrument in watching:
                instrument.before(set_up)
            self.state = algorithm.prepare(given, self.device, **self.options)
            self.device.synchronize()
            for instrument in watching:
                instrument.after(set_up)

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return self.setup.open_device.device

    @property
    def resident(self) -> Any:
        """The input on the device, or None where it does not lie there."""
        return self.input.algorithm_input if self.device.kind != "cpu" and self.algorithm.resident else None

    @property
    def samples(self) -> int:
        """Samples of each query so far."""
        return len(self.trials[-1].kernel_s)

    @property
    def is_wrong(self) -> bool:
        """Whether a result does not hold."""
        return any(trial.verdict.status == "failed" for trial in self.trials)

    @property
    def ending_s(self) -> float:
        """About how many seconds it takes to end."""
        return sum(instrument.ending_s(self) for instrument in self.instruments)

    # ------------------------------------------------------------------ samples

    def sample(self) -> None:
        """Take the next sample of every query; before the first, warm up."""
        start, first = time.perf_counter(), self.samples == 0
        stopping, phase_timer = self.stopping, self.setup.phase_timer
        before_s = phase_timer.until_now().get("sampling", 0.0)
        name, warmup = self.algorithm.name, stopping.sampling.warmup
        with phase_timer.phase("sampling"):
            for turn in range(warmup if first and not self.algorithm.warms_itself else 0):
                self.setup.progress(f"{name}: warm-up {turn + 1} of {warmup}")
                self._run(self.trials[0], is_sample=False)
            self.setup.progress(f"{name}: {stopping.progress()}")
            for trial in self.trials:
                run = self._run(trial)
                while run.must_repeat:
                    run = self._run(trial)
                self._keep(run)
        if first:  # the check of the first result counts for nothing
            stopping.spent_s += phase_timer.until_now()["sampling"] - before_s
        else:
            stopping.spent_s += time.perf_counter() - start
        stopping.spent_s = self.ranks.gather(stopping.spent_s)[0]  # rank 0's clock decides for all

    def _run(self, trial: Trial, *, is_sample: bool = True) -> Run:
        """Run the algorithm once, timed by the slowest rank."""
        algorithm, state, query, ranks = self.algorithm, self.state, trial.query, self.ranks
        run = Run(self, trial, is_sample, ranks.stopwatch(self.device))
        self.input.check_file()
        with self.guard:
            for instrument in self.instruments:
                instrument.before(run)
            clock, watch = run.clock, run.watch
            clock.stop = watch.stop
            watch.start()
            handle = algorithm.run(state, clock, *query)
            if not clock.stopped:
                watch.stop()
            seconds = watch.seconds if algorithm.own_seconds is None else algorithm.own_seconds(state, handle)
            run.samples_s = tuple(map(ranks.greatest, seconds if isinstance(seconds, Sequence) else (seconds,)))
            start = time.perf_counter()
            run.raw = algorithm.fetch(state, handle)
            run.d2h_s = time.perf_counter() - start if self.device.kind != "cpu" else 0.0
        run.d2h_s, trial.last_s = ranks.greatest(run.d2h_s), median(run.samples_s)
        for instrument in self.instruments:
            instrument.after(run)
        return run

    # ------------------------------------------------------------------ results

    def _keep(self, run: Run) -> None:
        """Take a run as a sample and check its result: the first in full, every other by its fingerprint."""
        trial, phase_timer, algorithm = run.trial, self.setup.phase_timer, self.algorithm
        first, method = not trial.d2h_s, self.ranks.check_method(self.setup.cell.verify)
        trial.kernel_s += map(clocked, run.samples_s)
        trial.d2h_s.append(clocked(run.d2h_s))
        if not first and (method == "none" or (trial.verdict.status == "failed" and algorithm.trusted)):
            return
        result: Any = None
        if first or algorithm.digest is None:
            with phase_timer.phase("finish" if first else "sampling"), self.guard:
                result = algorithm.finish(self.state, run.raw, *trial.query)
        if first:
            trial.result, trial.counters = result, run.clock.counters
            self.guard.check_input(self.resident, self.device)
        if method == "none":
            return
        with phase_timer.phase("verify" if first else "sampling"):
            same = algorithm.digest(run.raw) if algorithm.digest is not None else result.fingerprint()
            if not algorithm.trusted:
                trial.digests.add(same)
            if first:
                self.setup.progress(f"verifying ({method})")
                trial.same, trial.verdict = same, self._checked(trial, method)
            elif trial.verdict.status != "failed" and not all(self.ranks.gather(same == trial.same)):
                detail = f"sample {len(trial.kernel_s)} differs from sample 1"
                trial.verdict = Verdict("failed", trial.verdict.method, detail)

    def _checked(self, trial: Trial, method: str) -> Verdict:
        """Return the verdict on the first sample."""
        checked = self.setup.problem, self.input.graph, trial.query, trial.result
        verdict = check(*checked, method, self.resident, self.device, self.algorithm.name)
        if verdict.passed and not self.algorithm.trusted:
            detail = f"this algorithm is wrong on purpose; this time: {verdict.detail}"
            return Verdict("skipped", verdict.method, detail)
        of_ours = not isinstance(trial.result, JudgesItself) and not self.algorithm.batched and not self.ranks.several
        if verdict.passed and of_ours:
            for listener in VERIFIED:
                listener(*checked, self.algorithm.name)
        return verdict
