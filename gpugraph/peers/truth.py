"""The figure that a command's printed answer is held against, and how much the printed digits can prove."""

from __future__ import annotations

import math
import re
import weakref
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.algorithm import Figure
from gpugraph.problems.contract import Verdict
from gpugraph.problems.registry import find_algorithm, load_peered, load_problem

_MOST_DIGITS = 400
"""No double has more before the point; a longer exponent is no weight but a trap."""

_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([,'_])\d{3})(?:\1\d{3})*(?:\.\d+)?")

_ULP = 2.0**-51
"""A float printed to this share of itself has all its digits."""


def judge(right: Figure, text: str, what: str) -> Verdict:
    """Return the verdict on a figure that a program printed.

    Args:
        right: the right one.
        text: as it was printed.
        what: what it is, in words, ``"total weight"``.
    """
    figure, value = right.value, read_number(text)
    if value is None:
        return Verdict("skipped", "reference", f"the {what} is {figure}, and '{text}' cannot be read as a number")
    if value.is_nan() or _beyond(value):
        return Verdict("failed", "reference", f"the {what} is {figure}, not {text}")
    step = _last_digit(value)
    if _tells_apart(figure, step) and _equal(value, figure):
        detail = f"the {what}, {figure}, is that of {right.by}; its edges or distances were not seen"
        return Verdict("passed", "reference", detail)
    if not _tells_apart(figure, step) and _apart(value, figure) < step:
        detail = f"the {what} agrees with {figure} in the digits printed, {text}, which is no proof"
        return Verdict("skipped", "reference", detail)
    if _apart(value, figure) <= right.slack:
        detail = f"the {what} {text} is as near to {figure} as the order of additions, which is no proof"
        return Verdict("skipped", "reference", detail)
    return Verdict("failed", "reference", f"the {what} is {figure}, not {text}")


def _equal(value: Decimal, figure: int | float) -> bool:
    return value == figure if isinstance(figure, int) else float(value) == figure


_FOUND: weakref.WeakKeyDictionary[CSRGraph, dict[tuple[Any, ...], Figure]] = weakref.WeakKeyDictionary()


def truth_of(graph: CSRGraph, problem: str, query: tuple[Any, ...], method: str = "reference") -> Figure:
    """Return the figure of the right answer, computed once a graph, query and method.

    Args:
        graph: the graph.
        problem: the problem's name.
        query: what was asked of the graph.
        method: ``"reference"``: by the oracle; ``"certificate"``: by an algorithm on all threads and its certificate.
    """
    found = _FOUND.setdefault(graph, {})
    key = (problem, *query, method)
    if key not in found:
        found[key] = load_peered(problem).truth(graph, query, method)
    return found[key]


def known_truth(graph: CSRGraph, problem: str, query: tuple[Any, ...]) -> Figure | None:
    """Return what ``truth_of`` has found already, by whichever method, or None."""
    found = _FOUND.get(graph, {})
    return next((found[key] for m in ("reference", "certificate") if (key := (problem, *query, m)) in found), None)


def certified(problem: str, name: str, graph: CSRGraph, *query: int) -> Any:
    """Return what our own algorithm on all threads finds, its certificate checked.

    Raises:
        VerificationFailed: the certificate does not hold.
    """
    from gpugraph.clock import NullClock
    from gpugraph.errors import VerificationFailed
    from gpugraph.graph.view import GraphView

    own = find_algorithm(problem, name, "cpu")
    state = own.prepare(GraphView.of(graph), None)
    result = own.finish(state, own.fetch(state, own.run(state, NullClock(), *query)), *query)
    verdict = load_problem(problem).certificate(graph, query, result)
    if not verdict.passed:
        raise VerificationFailed(verdict.detail, where=f"{name} on {graph.name}")
    return result


def read_number(text: str) -> Decimal | None:
    """Return a printed number, thousands separators or not, or None where it is none: ``"2,494,584,159"``."""
    bare = text.strip()
    try:
        return Decimal(re.sub(r"[,'_]", "", bare) if _GROUPED.fullmatch(bare) else bare)
    except InvalidOperation:
        return None


def _beyond(value: Decimal) -> bool:
    """True of a number that no sum could be, and that arithmetic should be spared."""
    return value.is_finite() and max(abs(value.adjusted()), len(value.as_tuple().digits)) > _MOST_DIGITS


def _last_digit(value: Decimal) -> Fraction | float:
    """Return what the last printed digit is worth; infinite for an infinite number, which has no digits."""
    exponent = value.as_tuple().exponent
    return Fraction(10) ** exponent if isinstance(exponent, int) else math.inf


def _tells_apart(figure: int | float, step: Fraction | float) -> bool:
    """True if numbers printed to ``step`` tell ``figure`` from every other that the program could mean."""
    if isinstance(figure, int):
        return step <= 1
    return math.isfinite(figure) and step <= abs(figure) * _ULP


def _apart(value: Decimal, figure: int | float) -> Fraction | float:
    """Return the difference; 0 of equal infinities."""
    if value.is_finite() and math.isfinite(figure):
        return abs(Fraction(value) - Fraction(figure))
    return 0.0 if float(value) == figure else math.inf
