"""The figure that a command's printed answer is held against, and how much the printed digits can prove."""

from __future__ import annotations

import math
import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.exact import exact_sum
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.distances import Distances

_MOST_DIGITS = 400
"""No double has more before the point; a longer exponent is no weight but a trap."""

_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([,'_])\d{3})(?:\1\d{3})*(?:\.\d+)?")

_ULP = 2.0**-51
"""A float printed to this share of itself has all its digits."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of the right answer to one query.

    Attributes:
        figure: the total weight, or the sum of the distances.
        slack: by how much the order of additions may change it; 0 for integers.
        by: what computed it.
        reached: (n,) bool, the vertices reached, of shortest paths.
    """

    figure: int | float
    slack: float
    by: str
    reached: NDArray[np.bool_] | None = None

    def _equals(self, value: Decimal) -> bool:
        return value == self.figure if isinstance(self.figure, int) else float(value) == self.figure

    def judge(self, text: str, what: str) -> Verdict:
        """Return the verdict on a printed figure.

        Args:
            text: as it was printed.
            what: ``"total weight"`` or ``"sum of the distances"``.
        """
        value = read_number(text)
        if value is None:
            return Verdict(
                "skipped", "reference", f"the {what} is {self.figure}, and '{text}' cannot be read as a number"
            )
        if value.is_nan() or _beyond(value):
            return Verdict("failed", "reference", f"the {what} is {self.figure}, not {text}")
        step = _last_digit(value)
        if _tells_apart(self.figure, step) and self._equals(value):
            detail = f"the {what}, {self.figure}, is that of {self.by}; its edges or distances were not seen"
            return Verdict("passed", "reference", detail)
        if not _tells_apart(self.figure, step) and _apart(value, self.figure) < step:
            detail = f"the {what} agrees with {self.figure} in the digits printed, {text}, which is no proof"
            return Verdict("skipped", "reference", detail)
        if _apart(value, self.figure) <= self.slack:
            detail = f"the {what} {text} is as near to {self.figure} as the order of additions, which is no proof"
            return Verdict("skipped", "reference", detail)
        return Verdict("failed", "reference", f"the {what} is {self.figure}, not {text}")


_FOUND: weakref.WeakKeyDictionary[CSRGraph, dict[tuple[Any, ...], Truth]] = weakref.WeakKeyDictionary()


def truth_of(graph: CSRGraph, problem: str, query: tuple[Any, ...], method: str = "reference") -> Truth:
    """Return the right answer to a query, computed once a graph, query and method.

    Args:
        graph: the graph.
        problem: ``"mst"`` or ``"sssp"``.
        query: the source of shortest paths.
        method: ``"reference"``: by the oracle; ``"certificate"``: by an algorithm on all threads and its certificate.
    """
    found = _FOUND.setdefault(graph, {})
    key = (problem, *query, method)
    if key not in found:
        truths: dict[str, Callable[..., Truth]] = {"mst": _forest_truth, "sssp": _paths_truth}
        found[key] = truths[problem](graph, *map(int, query), method)
    return found[key]


def known_truth(graph: CSRGraph, problem: str, query: tuple[Any, ...]) -> Truth | None:
    """Return what ``truth_of`` has found already, by whichever method, or None."""
    found = _FOUND.get(graph, {})
    return next((found[key] for m in ("reference", "certificate") if (key := (problem, *query, m)) in found), None)


def _forest_truth(graph: CSRGraph, method: str) -> Truth:
    from gpugraph.problems.mst.reference import reference_forest

    if method == "reference":
        edges, by = reference_forest(graph), "SciPy's forest"
    else:
        edges, by = _certified_forest(graph), "a certified forest"
    weights = graph.weights[edges]
    return Truth(exact_sum(weights), _slack(weights), by)


def _certified_forest(graph: CSRGraph) -> NDArray[np.int64]:
    from gpugraph.problems.mst.verify import check_certificate

    forest = _own_result("mst", "boruvka", graph)
    _refuse_wrong(check_certificate(graph, forest), graph, "boruvka")
    edges: NDArray[np.int64] = forest.edges
    return edges


def _own_result(problem: str, name: str, graph: CSRGraph, *query: int) -> Any:
    """Return what our own algorithm on all threads finds."""
    from gpugraph.clock import NullClock
    from gpugraph.graph.view import GraphView
    from gpugraph.problems.registry import find_algorithm

    own = find_algorithm(problem, name, "cpu")
    state = own.prepare(GraphView.of(graph), None)
    return own.finish(state, own.fetch(state, own.run(state, NullClock(), *query)), *query)


def _refuse_wrong(verdict: Verdict, graph: CSRGraph, name: str) -> None:
    from gpugraph.errors import VerificationFailed

    if not verdict.passed:
        raise VerificationFailed(verdict.detail, where=f"{name} on {graph.name}")


def _paths_truth(graph: CSRGraph, source: int, method: str) -> Truth:
    right, by = right_distances(graph, source, method)
    terms = right.distance[right.reached]
    return Truth(exact_sum(terms), _slack(terms), by, right.reached)


def right_distances(graph: CSRGraph, source: int, method: str) -> tuple[Distances, str]:
    """Return the distances from a source and what they are by; ``method`` as for ``truth_of``.

    Raises:
        VerificationFailed: the certificate of our own distances does not hold.
    """
    from gpugraph.problems.sssp.reference import reference_distances

    if method == "reference":
        distance, by = reference_distances(graph, source)
        return Distances(graph, source, distance), by
    from gpugraph.problems.sssp.verify import check_certificate

    found: Distances = _own_result("sssp", "delta-stepping", graph, source)
    _refuse_wrong(check_certificate(graph, source, found), graph, "delta-stepping")
    return found, "certified distances"


def _slack(terms: NDArray[Any]) -> float:
    """Return by how much a sum of floats, taken in any order in their own type, may differ from the exact one."""
    if terms.dtype.kind != "f" or not len(terms):
        return 0.0
    finite = terms[np.isfinite(terms)]
    return float(len(terms) * np.finfo(terms.dtype).eps * np.abs(finite, dtype=np.float64).sum())


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
