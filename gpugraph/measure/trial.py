"""Trials: run one algorithm on one graph, time it, and check what it returned.

Nothing but the algorithm's own work is inside the timed region.  The first sample of every query is checked
in full, every other by the equal fingerprint of its result, all of it outside the timing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpugraph.measure.phases import NullClock
from gpugraph.problems.registry import Algorithm, Problem, Result, Verdict

Progress = Callable[[str], None]

REFERENCE_LIMIT = 2**22
"""``--verify auto`` uses the reference up to this many edges, the certificate above."""


@dataclass
class Trial:
    """The samples of one query: one source of shortest paths, or the one forest.

    Attributes:
        kernel_s, d2h_s: seconds of each sample.
        result: the result of the first sample.
        verdict: of the check of all samples.
        verify_s: seconds the checks took.
    """

    query: tuple[Any, ...]
    kernel_s: list[float] = field(default_factory=list)
    d2h_s: list[float] = field(default_factory=list)
    result: Any = None
    verdict: Verdict = Verdict("skipped", "none", "not asked for")
    verify_s: float = 0.0
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
) -> Trial:
    """Run ``warmup`` + ``repeat`` times on a prepared state and check every result."""
    trial = Trial(query)
    first: str | None = None
    for turn in range(-warmup, repeat):
        progress(f"{algorithm.name}: {'warm-up' if turn < 0 else f'sample {turn + 1} of {repeat}'}")
        clock = device.phase_clock() if profile else NullClock()
        watch = device.stopwatch()
        watch.start()
        handle = algorithm.run(state, clock, *query)
        watch.stop()
        kernel_s = watch.seconds
        start = time.perf_counter()
        raw = algorithm.fetch(state, handle)
        d2h_s = time.perf_counter() - start if device.kind != "cpu" else 0.0
        if turn < 0:
            continue
        trial.kernel_s.append(kernel_s)
        trial.d2h_s.append(d2h_s)
        trial.counters = clock.counters
        if trial.verdict.status == "failed":
            continue
        start = time.perf_counter()
        result: Result = algorithm.finish(state, raw, *query)
        if first is None:
            trial.result, first = result, result.fingerprint()
            progress(f"verifying ({verify})")
            trial.verdict = check(problem, graph, query, result, verify)
            if trial.verdict.passed and not algorithm.trusted:
                detail = f"this algorithm is wrong on purpose; this time: {trial.verdict.detail}"
                trial.verdict = Verdict("skipped", trial.verdict.method, detail)
        elif verify != "none" and result.fingerprint() != first:
            trial.verdict = Verdict("failed", trial.verdict.method, f"sample {turn + 1} differs from sample 1")
        trial.verify_s += time.perf_counter() - start
    return trial


def check(problem: Problem, graph: Any, query: tuple[Any, ...], result: Any, method: str) -> Verdict:
    """Return the verdict on a result by ``method``, one of auto, reference, certificate, both and none."""
    if method == "none":
        return Verdict("skipped", "none", "not asked for")
    if method == "auto":
        method = "reference" if graph.edges <= REFERENCE_LIMIT else "certificate"
    verdicts = []
    if method in ("certificate", "both"):
        verdicts.append(problem.certificate(graph, query, result))
    if method in ("reference", "both"):
        verdicts.append(problem.reference(graph, query, result))
    failed = [v for v in verdicts if not v.passed]
    if failed:
        return Verdict("failed", method, failed[0].detail)
    return Verdict("passed", method, "; ".join(v.detail for v in verdicts))
