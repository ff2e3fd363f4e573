"""Components that users' algorithms return."""

from typing import Any

from gpugraph.ext.components.labels import Components
from gpugraph.ext.plugins.returned.arrays import numbers, plain_array
from gpugraph.graph.csr import CSRGraph


def accept(graph: CSRGraph, query: tuple[Any, ...], returned: object) -> Components:
    """Return the components of the labels in an array, or of Components."""
    labels = returned.labels if isinstance(returned, Components) else numbers(returned)
    remedy = "return of each vertex the smallest vertex of its component, an array of integers"
    return Components.of(graph, plain_array(labels, "i u", (graph.vertices,), "a label for each vertex", remedy))
