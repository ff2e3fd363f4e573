"""Trials: run one algorithm on one graph, time it, and check what it returned.

Nothing but the algorithm's own work is inside the timed region.  The first sample of every query is checked
in full, every other by the equal fingerprint of its result, all of it outside the timing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from gpugraph.clock import NullClock, working_seconds
from gpugraph.graph.view import ResidentView
from gpugraph.measure.inputs import Progress, live_bytes
from gpugraph.measure.statistics import median
from gpugraph.measure.strangers import Hosting
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import CertifiesOnDevice, JudgesItself, Problem, Verdict

REFERENCE_LIMIT = 2**22
"""``--verify auto`` uses the reference up to this many edges, the certificate above."""

WAKE_LIMIT_S = 0.02
"""Between two samples the GPU idles while results are checked, and its clock falls.  A run shorter than this is made
once more, untimed, right before the timed one, so that every sample meets the GPU as steady work does."""

_NOT_ASKED_FOR = Verdict("skipped", "none", "not asked for")


@dataclass
class Subject:
    """What is run: an algorithm on a prepared state.

    Attributes:
        graph: the input on the host.
        resident: the input on the device, where it lies there.
        verify: the method of verification.
        profile: every run takes the phase clock.
        flush: called right before a timed run, in stream order, or None.
        device_bytes: what input and state take on the device.
        hosting: entered around every step of the algorithm; what looks after a stranger, or nothing.
    """

    problem: Problem
    algorithm: Algorithm
    state: Any
    device: Any
    graph: Any
    resident: ResidentView | None
    verify: str
    profile: bool = False
    flush: Callable[[], None] | None = None
    device_bytes: int = 0
    hosting: AbstractContextManager[Any] = field(default_factory=nullcontext)

    def check_input(self) -> None:
        """Check that a stranger left its own copy of the input on the device as it was.

        Raises:
            WroteIntoInput: it did not.
        """
        if isinstance(self.hosting, Hosting) and isinstance(self.resident, ResidentView):
            self.hosting.check_device(self.resident, self.device.download)


@dataclass(frozen=True)
class Run:
    """One timed run.

    Attributes:
        kernel_s, d2h_s: its seconds.
        samples_s: of a program that measured several runs of its own the seconds of each; ``kernel_s`` is their median.
        raw: what ``fetch`` gave.
        peak_bytes: the most that input, state and run took on the device together.
        counters: what the algorithm counted.
    """

    kernel_s: float
    d2h_s: float
    raw: Any
    peak_bytes: int
    counters: dict[str, int]
    samples_s: tuple[float, ...] = ()


def run_once(subject: Subject, query: tuple[Any, ...], *, wake: bool = False) -> Run:
    """Run the algorithm once, timed; ``wake`` makes another run right before it, untimed."""
    with subject.hosting:
        return _run_once(subject, query, wake)


def _run_once(subject: Subject, query: tuple[Any, ...], wake: bool) -> Run:
    algorithm, state, device = subject.algorithm, subject.state, subject.device
    before = live_bytes(device)
    if wake:
        algorithm.run(state, NullClock(), *query)
    if subject.flush is not None:
        subject.flush()
    clock = device.phase_clock() if subject.profile else NullClock()
    watch = device.stopwatch()
    watch.start()
    handle = algorithm.run(state, clock, *query)
    watch.stop()
    own = watch.seconds if algorithm.own_seconds is None else algorithm.own_seconds(state, handle)
    samples = tuple(own) if isinstance(own, Sequence) else (own,)
    start = time.perf_counter()
    raw = algorithm.fetch(state, handle)
    d2h_s = time.perf_counter() - start if device.kind != "cpu" else 0.0
    peak = subject.device_bytes + int(device.peak_bytes()) - before
    subject.device_bytes += live_bytes(device) - before  # some states grow when they are first run
    return Run(median(samples), d2h_s, raw, peak, clock.counters, samples)


@dataclass
class Trial:
    """The samples of one query: one source of shortest paths, or the one forest.

    Attributes:
        kernel_s, d2h_s: seconds of each sample.
        clocks_mhz: the SM clock after each sample, where it can be read.
        result: the result of the first sample.
        verdict: of the check of all samples.
        verify_s: seconds the checks took.
        peak_bytes: peak of the device's memory over the runs; what the checks took does not count.
        counters: of the first sample.
    """

    query: tuple[Any, ...]
    kernel_s: list[float] = field(default_factory=list)
    d2h_s: list[float] = field(default_factory=list)
    clocks_mhz: list[int] = field(default_factory=list)
    result: Any = None
    verdict: Verdict = _NOT_ASKED_FOR
    verify_s: float = 0.0
    peak_bytes: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    _last_s: float = 0.0
    _first: str | None = None

    def warm_up(self, subject: Subject) -> None:
        """Make a run that counts for nothing."""
        self._ran(run_once(subject, self.query))

    def run(self, subject: Subject) -> Run:
        """Make a timed run; it becomes a sample by ``keep``."""
        short = subject.device.kind == "cuda" and self._last_s < WAKE_LIMIT_S
        wake = short and bool(self.kernel_s) and subject.algorithm.own_seconds is None
        return self._ran(run_once(subject, self.query, wake=wake))

    def _ran(self, run: Run) -> Run:
        self._last_s = run.kernel_s
        self.peak_bytes = max(self.peak_bytes, run.peak_bytes)
        return run

    def keep(self, subject: Subject, run: Run, progress: Progress) -> None:
        """Take a run as a sample and check its result: the first in full, every other by its fingerprint."""
        self.kernel_s += run.samples_s or (run.kernel_s,)
        self.d2h_s.append(run.d2h_s)
        if self.verdict.status == "failed":
            return
        algorithm, start = subject.algorithm, working_seconds()
        result: Any = None
        if self._first is None or algorithm.digest is None:
            with subject.hosting:
                result = algorithm.finish(subject.state, run.raw, *self.query)
        same = algorithm.digest(run.raw) if algorithm.digest is not None else result.fingerprint()
        if self._first is None:
            self.result, self.counters, self._first = result, run.counters, same
            subject.check_input()
            progress(f"verifying ({subject.verify})")
            self.verdict = self._checked(subject)
        elif subject.verify != "none" and same != self._first:
            detail = f"sample {len(self.kernel_s)} differs from sample 1"
            self.verdict = Verdict("failed", self.verdict.method, detail)
        self.verify_s += working_seconds() - start

    def _checked(self, subject: Subject) -> Verdict:
        """Return the verdict on the first sample."""
        verdict = check(
            subject.problem,
            subject.graph,
            self.query,
            self.result,
            subject.verify,
            subject.resident,
            subject.device,
            subject.algorithm.name,
        )
        if verdict.passed and not subject.algorithm.trusted:
            detail = f"this algorithm is wrong on purpose; this time: {verdict.detail}"
            return Verdict("skipped", verdict.method, detail)
        return verdict


def check(
    problem: Problem,
    graph: Any,
    query: tuple[Any, ...],
    result: Any,
    method: str,
    resident: ResidentView | None = None,
    device: Any = None,
    by: str = "",
) -> Verdict:
    """Return the verdict on a result by ``method``, one of auto, reference, certificate, both and none.

    A GPU on which the graph lies, ``resident``, checks the certificate itself if it can.  ``by`` is the algorithm
    that gave the result, so that the oracle is never the same code.
    """
    if method == "none":
        return _NOT_ASKED_FOR
    if method == "auto":
        method = "reference" if graph.edges <= REFERENCE_LIMIT else "certificate"
    if isinstance(result, JudgesItself):
        return result.judge(query, method)
    verdicts = []
    if method in ("certificate", "both"):
        verdicts.append(_certificate(problem, graph, query, result, resident, device))
    if method in ("reference", "both"):
        verdicts.append(problem.reference(graph, query, result, by))
    for verdict in verdicts:
        if verdict.status == "failed":
            return Verdict("failed", method, verdict.detail)
    passed = [v for v in verdicts if v.passed]  # an oracle may be unable to hold the graph
    if not passed:
        return verdicts[0]
    return Verdict("passed", method if passed == verdicts else passed[0].method, "; ".join(v.detail for v in verdicts))


def _certificate(
    problem: Problem, graph: Any, query: tuple[Any, ...], result: Any, resident: ResidentView | None, device: Any
) -> Verdict:
    """Return the verdict by certificate: of the device on a GPU that holds the graph, else the host's."""
    if resident is not None and device.kind == "cuda" and isinstance(problem, CertifiesOnDevice):
        verdict = problem.certificate_on_device(resident, device, query, result)
        if verdict is not None:
            return verdict
    return problem.certificate(graph, query, result)
