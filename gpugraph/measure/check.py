"""Check a result against its input: one at hand, or one that a file holds.

What a file claims is first brought onto the input, edge by edge and vertex by vertex; where that fails the
verdict says so, and the oracle or the certificate never sees it.
"""

from __future__ import annotations

import os
from typing import Any

from gpugraph.errors import InputError, unknown_name
from gpugraph.measure.trial import check
from gpugraph.problems.contract import METHODS, PROBLEMS, Verdict
from gpugraph.problems.result_files import MismatchError, either, problem_of, read_claim


def check_result(data: Any, result: Any, method: str = "auto") -> Verdict:
    """Return the verdict on a result.

    Args:
        data: the graph it is said to belong to; of a scan the array.
        result: what a problem's algorithm returned, or the path of a file that ``-o`` wrote.
        method: ``"auto"``, ``"reference"``, ``"certificate"`` or ``"both"``.

    Raises:
        InputError: the file cannot be read, there is no such method, or the input does not suit the problem.
    """
    if method not in METHODS:
        raise unknown_name("verification method", method, METHODS)
    path, digest = "", None
    if isinstance(result, str | os.PathLike):
        path = os.fsdecode(result)
        problem, claim = read_claim(path)
        data, digest = problem.admit(data), claim.digest
    else:
        found = problem_of(result)
        if found is None:
            remedy = f"give what {either(PROBLEMS)} returned, one at a time, or the path of a file that -o wrote"
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
