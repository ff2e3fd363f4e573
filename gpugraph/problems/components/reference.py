"""The oracle: SciPy's connected components, their labels made canonical."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.components.labels import Components
from gpugraph.problems.contract import Verdict

_MOST = 2**31 - 1
"""SciPy's graph routines index by int32."""


def reference_labels(graph: CSRGraph) -> NDArray[np.int64]:
    """Return (n,) int64: of each vertex, the smallest vertex of its component; by SciPy, in linear time."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = graph.vertices
    if n == 0:
        return np.zeros(0, np.int64)
    present = np.ones(graph.arcs, np.int8)
    matrix: csr_array[np.int8] = csr_array((present, graph.targets, graph.offsets), (n, n))
    _, component = connected_components(matrix, directed=False)
    _, smallest = np.unique(component, return_index=True)
    labels: NDArray[np.int64] = smallest[component].astype(np.int64, copy=False)
    return labels


def check_against_reference(graph: CSRGraph, found: Components) -> Verdict:
    """Compare labels with the oracle's, vertex by vertex; the verdict names the first that differs."""
    if graph.vertices > _MOST or graph.arcs > _MOST:
        what = f"SciPy takes at most {_MOST} vertices and arcs; use --verify certificate"
        return Verdict("skipped", "reference", what)
    expected = reference_labels(graph)
    if len(found.labels) != len(expected):
        return Verdict("failed", "reference", f"{len(found.labels)} labels for {len(expected)} vertices")
    for v in np.flatnonzero(found.labels != expected)[:1].tolist():
        detail = f"vertex {v} is labelled {found.labels[v]}; the smallest vertex of its component is {expected[v]}"
        return Verdict("failed", "reference", detail)
    detail = f"the same {found.components} components as SciPy's, each labelled by its smallest vertex"
    return Verdict("passed", "reference", detail)
