"""Trials: run one algorithm on one graph, time it, and check what it returned.

Nothing but the algorithm's own work is inside the timed region.  The first sample of every query is checked
in full, every other by the equal fingerprint of its result, all of it outside the timing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpugraph.clock import NullClock, working_seconds
from gpugraph.problems.registry import Algorithm, CertifiesOnDevice, Problem, Result, Verdict

if TYPE_CHECKING:
    from gpugraph.devices.resident import ResidentView

Progress = Callable[[str], None]

REFERENCE_LIMIT = 2**22
"""``--verify auto`` uses the reference up to this many edges, the certificate above."""

WAKE_LIMIT_S = 0.02
"""Between two samples the GPU idles while results are checked, and its clock falls.  A run shorter than this is made
once more, untimed, right before the timed one, so that every sample meets the GPU as steady work does."""

_NOT_ASKED_FOR = Verdict("skipped", "none", "not asked for")


@dataclass
class Trial:
    """The samples of one query: one source of shortest paths, or the one forest.

    Attributes:
        kernel_s, d2h_s: seconds of each sample.
        result: the result of the first sample.
        verdict: of the check of all samples.
        verify_s: seconds the checks took.
        peak_bytes: peak of the device's memory over the runs; what the checks took does not count.
    """

    query: tuple[Any, ...]
    kernel_s: list[float] = field(default_factory=list)
    d2h_s: list[float] = field(default_factory=list)
    result: Any = None
    verdict: Verdict = _NOT_ASKED_FOR
    verify_s: float = 0.0
    peak_bytes: int = 0
    counters: dict[str, int] = field(default_factory=dict)


def run_trial(
    problem: Problem,
    algorithm: Algorithm,
    state: Any,
    device: Any,
    graph: Any,
    query: tuple[Any, ...],
    *,
    repeat: int,
    warmup: int,
    verify: str,
    progress: Progress,
    profile: bool = False,
    resident: ResidentView | None = None,
) -> Trial:
    """Run ``warmup`` + ``repeat`` times on a prepared state and check every result.

    ``resident`` is the graph on the device, where it lies there.
    """
    trial = Trial(query)
    first: str | None = None
    kernel_s = 0.0
    for turn in range(-warmup, repeat):
        progress(f"{algorithm.name}: {'warm-up' if turn < 0 else f'sample {turn + 1} of {repeat}'}")
        clock = device.phase_clock() if profile else NullClock()
        if turn > 0 and device.kind == "cuda" and kernel_s < WAKE_LIMIT_S:
            algorithm.run(state, NullClock(), *query)
        watch = device.stopwatch()
        watch.start()
        handle = algorithm.run(state, clock, *query)
        watch.stop()
        kernel_s = watch.seconds if algorithm.own_seconds is None else algorithm.own_seconds(state, handle)
        start = time.perf_counter()
        raw = algorithm.fetch(state, handle)
        d2h_s = time.perf_counter() - start if device.kind != "cpu" else 0.0
        trial.peak_bytes = max(trial.peak_bytes, device.peak_bytes())
        if turn < 0:
            continue
        trial.kernel_s.append(kernel_s)
        trial.d2h_s.append(d2h_s)
        trial.counters = clock.counters
        if trial.verdict.status == "failed":
            continue
        start = working_seconds()
        if first is None or algorithm.digest is None:
            result: Result = algorithm.finish(state, raw, *query)
        same = algorithm.digest(raw) if algorithm.digest is not None else result.fingerprint()
        if first is None:
            trial.result, first = result, same
            progress(f"verifying ({verify})")
            trial.verdict = check(problem, graph, query, result, verify, resident, device, algorithm.name)
            device.reset_peak()
            if trial.verdict.passed and not algorithm.trusted:
                detail = f"this algorithm is wrong on purpose; this time: {trial.verdict.detail}"
                trial.verdict = Verdict("skipped", trial.verdict.method, detail)
        elif verify != "none" and same != first:
            trial.verdict = Verdict("failed", trial.verdict.method, f"sample {turn + 1} differs from sample 1")
        trial.verify_s += working_seconds() - start
    return trial


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
