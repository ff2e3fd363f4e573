"""Results that were published with a graph, as by LDBC Graphalytics, with which others are compared."""

from typing import Any

import numpy as np

from gpugraph.ext.components.labels import Components
from gpugraph.ext.formats.graphalytics import published_values
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Problem, Verdict, verdict_of
from gpugraph.problems.sssp.distances import DistanceMatrix, Distances, check_each
from gpugraph.problems.sssp.rounded_sums import with_rounding
from gpugraph.problems.sssp.verify import malformed

PUBLISHED_ALONE = 2**22
"""Above so many edges a published output spares the oracle."""

WITHIN = 1e-4
"""How far off a published distance may be, relatively: the rule of LDBC Graphalytics (specification, section 2.4)."""


def check_against_reference(
    problem: Problem, graph: CSRGraph, query: tuple[Any, ...], result: Any, by: str = ""
) -> Verdict:
    """Return the verdict of a published output, if any, and of the oracle; of a large graph of the output alone."""
    if isinstance(result, DistanceMatrix):
        return check_each(result, query[0], lambda row: check_against_reference(problem, graph, (row.source,), row, by))
    published = _CHECKS[problem.name](graph, query, result) if problem.name in _CHECKS else None
    if published is None:
        return problem.reference(graph, query, result, by)
    if published.passed and graph.edges <= PUBLISHED_ALONE:
        return verdict_of([published, problem.reference(graph, query, result, by)], "reference")
    return with_rounding(graph, result, published) if isinstance(result, Distances) else published


def _distances(graph: CSRGraph, query: tuple[Any, ...], result: Distances) -> Verdict | None:
    """Return the verdict by the distances that were published with the graph; None where there are none from there."""
    source, answer = int(query[0]), graph.answers.get("SSSP")
    if answer is None or answer.start != graph.name_of(source):
        return None
    fault = malformed(graph, source, result)
    if fault is None:
        due = published_values(graph, answer, "float64")
        held = np.where(result.reached, result.raw, np.inf).astype(np.float64)
        with np.errstate(invalid="ignore"):
            near = np.isfinite(due) & (np.abs(held - due) <= WITHIN * np.abs(due))
        wrong = np.flatnonzero(~((held == due) | near))
        if not len(wrong):
            what = f"all {graph.vertices} distances are those of {answer.path.name}, each within {WITHIN:.2%}"
            return Verdict("passed", "reference", what)
        v = int(wrong[0])
        described = [f"at distance {d[v]}" if np.isfinite(d[v]) else "unreached" for d in (held, due)]
        fault = f"vertex {graph.label(v)} is {described[0]}, by {answer.path.name} {described[1]}"
    return Verdict("failed", "reference", fault)


def _components(graph: CSRGraph, query: tuple[Any, ...], found: Components) -> Verdict | None:
    """Return the verdict by the components that were published with the graph, whatever they are called; or None."""
    answer = graph.answers.get("WCC")
    if answer is None:
        return None
    _, smallest, component = np.unique(published_values(graph, answer, "int64"), return_index=True, return_inverse=True)
    wrong = np.flatnonzero(found.labels != smallest[component])
    if len(wrong):
        v = int(wrong[0])
        due = graph.label(int(smallest[component[v]]))
        what = f"vertex {graph.label(v)} is labelled {found.labels[v]}, by {answer.path.name} it is with {due}"
        return Verdict("failed", "reference", what)
    return Verdict("passed", "reference", f"all {graph.vertices} labels tell the components of {answer.path.name}")


_CHECKS: dict[str, Any] = {"sssp": _distances, "components": _components}
