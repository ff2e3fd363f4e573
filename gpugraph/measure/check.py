"""Check a result against its input: one at hand, or one that a file holds; by an oracle, a certificate, or both.

What a file claims is first brought onto the input, edge by edge and vertex by vertex; where that fails the
verdict says so, and the oracle or the certificate never sees it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpugraph.base.errors import InputError, check_name
from gpugraph.devices.base import Device
from gpugraph.problems.contract import (
    METHODS,
    PROBLEMS,
    REFERENCE_LIMIT,
    CertifiesOnDevice,
    JudgesItself,
    Problem,
    Verdict,
    verdict_of,
)
from gpugraph.problems.result_files import MismatchError, either, problem_of, read_claim

if TYPE_CHECKING:
    from gpugraph.graph.view import ResidentView

_LOG = logging.getLogger("gpugraph")

VERIFIED: list[Callable[[Problem, Any, tuple[Any, ...], Any, str], None]] = []
"""Called with problem, graph, query, result and the algorithm's name for every result of ours that a check passed."""

NOT_ASKED_FOR = Verdict("skipped", "none", "not asked for")


def check_result(data: Any, result: Any, method: str = "auto") -> Verdict:
    """Return the verdict on a result.

    Args:
        data: the graph it is said to belong to; of a scan the array.
        result: what a problem's algorithm returned, or the path of a file that ``-o`` wrote.
        method: ``"auto"``, ``"reference"``, ``"certificate"`` or ``"both"``.

    Raises:
        InputError: the file cannot be read, there is no such method, or the input does not suit the problem.
    """
    check_name("verification method", method, METHODS)
    path, digest = "", None
    if isinstance(result, str | os.PathLike):
        path = os.fsdecode(result)
        problem, claim = read_claim(path)
        data, digest = problem.admit(data), claim.digest
    else:
        found = problem_of(result)
        if found is None:
            remedy = f"give what {either(list(PROBLEMS))} returned, one at a time, or the path of a file that -o wrote"
            raise InputError(f"a {type(result).__name__} is not a result", remedy=remedy)
        problem, data = found, found.admit(data)
        if result.graph is data or result.graph.digest == data.digest:
            return check(problem, data, problem.query_of(result), result, method)
        claim = problem.claim(result)
    try:
        claimed = problem.claimed(data, claim, path)
    except MismatchError as mismatch:
        return Verdict("failed", method, str(mismatch))
    verdict = check(problem, claimed.graph, problem.query_of(claimed), claimed, method)
    if verdict.passed and digest not in (None, data.digest):
        other = f"it holds, but the file gives another graph's digest: {digest}, not {data.digest}"
        return Verdict("failed", verdict.method, other)
    return verdict


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
    own = isinstance(result, JudgesItself)
    if method == "auto":
        method = "reference" if own else problem.cheaper_check
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
        verdicts.append(problem.reference(graph, query, result, by))
    verdict = verdict_of(verdicts, method)
    if verdict.status != "failed" or graph.edges > REFERENCE_LIMIT:
        return verdict
    return replace(verdict, counter_example=problem.counter_example(graph, query, result))
