"""Check a result against its input by an oracle, a certificate, or both."""

import logging
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from gpugraph.devices.base import Device
from gpugraph.graph.view import ResidentView
from gpugraph.problems.contract import REFERENCE_LIMIT, CertifiesOnDevice, JudgesItself, Problem, Verdict, verdict_of

_LOG = logging.getLogger("gpugraph")

VERIFIED: list[Callable[[Problem, Any, tuple[Any, ...], Any, str], None]] = []
"""Called with problem, graph, query, result and the algorithm's name for every result of ours that a check passed."""

PUBLISHED = "gpugraph.ext.published"
"""What also compares results with those that were published with a graph."""

NOT_ASKED_FOR = Verdict("skipped", "none", "not asked for")


def check(
    problem: Problem,
    graph: Any,
    query: tuple[object, ...],
    result: object,
    method: str,
    resident: ResidentView | None = None,
    device: Device | None = None,
    by: str = "",
) -> Verdict:
    """Return the verdict on a result by ``method``, one of auto, reference, certificate, both and none.

    A GPU on which the graph lies, ``resident``, checks the certificate itself if it can.  ``by`` is the algorithm
    that gave the result, so that the oracle is never the same code.  A wrong result on a graph that the reference may
    take comes with a counter-example.
    """
    if method == "none":
        return NOT_ASKED_FOR
    if method == "auto":
        method = "reference" if isinstance(result, JudgesItself) else problem.cheaper_check
        small = graph.edges <= REFERENCE_LIMIT
        method = method if small and not getattr(result, "truth_is_known", False) else "certificate"
        why = "the quicker check of this problem" if small else "so many edges take no oracle"
        _LOG.info("verification by %s: chosen by auto, %s", method, why)
    if isinstance(result, JudgesItself):
        return result.judge(query, method)
    verdicts = []
    if method in ("certificate", "both"):
        verdict = None
        gpu = device if device is not None and device.kind == "cuda" else None
        if resident is not None and gpu is not None and isinstance(problem, CertifiesOnDevice):
            verdict = problem.certificate_on_device(resident, gpu, query, result)
        verdicts.append(problem.certificate(graph, query, result) if verdict is None else verdict)
    if method in ("reference", "both"):
        if getattr(graph, "answers", None):
            verdicts.append(import_module(PUBLISHED).check_against_reference(problem, graph, query, result, by))
        else:
            verdicts.append(problem.reference(graph, query, result, by))
    verdict = verdict_of(verdicts, method)
    if verdict.status != "failed" or graph.edges > REFERENCE_LIMIT or not problem.counter_examples:
        return verdict
    example = import_module(problem.counter_examples).counter_example(graph, query, result)
    return replace(verdict, counter_example=example)
