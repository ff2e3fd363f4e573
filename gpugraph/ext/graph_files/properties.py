"""Properties of a graph for ``gpugraph info``: counts, degrees, components, weights, and the memory it needs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import plain_njit
from gpugraph.devices.kernel_file import MAX_UNSIGNED_ARCS
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.mst.cpu_kruskal import find_root


@dataclass(frozen=True)
class Degrees:
    """A distribution of degrees over all vertices, all 0 where there are none.

    The histogram has (low, high, vertices) of the degrees low..high: 0, 1, 2..3, 4..7, and so on to the greatest.
    """

    least: int
    median: float
    mean: float
    greatest: int
    histogram: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class GraphProperties:
    """A graph in figures.

    Attributes:
        edges: undirected edges; of a directed graph, its arcs.
        degrees: degrees; of a directed graph, out-degrees.
        in_degrees: of a directed graph, else None.
        components: connected components (weakly connected ones of a directed graph), isolated vertices included.
        largest_component: vertices of the largest; 0 where there is none.
        isolated: vertices without any arc.
        least_weight, greatest_weight: None where there are no arcs.
        distinct_weights: number of different weights.
        zero_weights, negative_weights, infinite_weights: numbers of edges.
        host_bytes: bytes of the graph's arrays on the host.
        device_bytes_32, device_bytes_64: bytes of the arrays on a device with arc indices of that width; the
            former None where the arcs do not fit.  Algorithms need more on top.
    """

    vertices: int
    arcs: int
    edges: int
    directed: bool
    degrees: Degrees
    in_degrees: Degrees | None
    components: int
    largest_component: int
    isolated: int
    weight_dtype: str
    least_weight: int | float | None
    greatest_weight: int | float | None
    distinct_weights: int
    zero_weights: int
    negative_weights: int
    infinite_weights: int
    host_bytes: int
    device_bytes_32: int | None
    device_bytes_64: int


def properties(graph: CSRGraph) -> GraphProperties:
    """Return the figures of a graph; counting different weights alone takes more than linear time."""
    into = np.bincount(graph.targets, minlength=graph.vertices) if graph.directed else None
    touched = graph.degrees if into is None else graph.degrees + into
    sizes = component_sizes(graph)
    some, weights = graph.arcs > 0, graph.weights

    def count(start: int, stop: int) -> tuple[int, int, int]:
        part = weights[start:stop]
        infinite = int(np.count_nonzero(np.isinf(part))) if part.dtype.kind == "f" else 0
        negative = int(np.count_nonzero(part < 0)) if part.dtype.kind != "u" else 0
        return len(part) - int(np.count_nonzero(part)), negative, infinite

    counts = zip(*in_threads(count, even_ranges(graph.arcs)), strict=True)
    zero, negative, infinite = (sum(found) // (1 if graph.directed else 2) for found in counts)
    return GraphProperties(
        vertices=graph.vertices,
        arcs=graph.arcs,
        edges=graph.edges,
        directed=graph.directed,
        degrees=degree_distribution(graph.degrees),
        in_degrees=None if into is None else degree_distribution(into),
        components=len(sizes),
        largest_component=int(sizes.max(initial=0)),
        isolated=int(np.count_nonzero(touched == 0)),
        weight_dtype=graph.weights.dtype.name,
        least_weight=graph.weights.min().item() if some else None,
        greatest_weight=graph.weights.max().item() if some else None,
        distinct_weights=int(GraphView.of(graph, ("rank-weights",)).weights.max(initial=0)) + some,
        zero_weights=zero,
        negative_weights=negative,
        infinite_weights=infinite,
        host_bytes=graph.nbytes,
        device_bytes_32=GraphView.of(graph, unsigned=True).nbytes if graph.arcs < MAX_UNSIGNED_ARCS else None,
        device_bytes_64=GraphView.of(graph, index_bits=64).nbytes,
    )


def degree_distribution(degrees: NDArray[np.int64]) -> Degrees:
    """Return the distribution of (n,) degrees."""
    if not len(degrees):
        return Degrees(0, 0.0, 0.0, 0, ())
    greatest = int(degrees.max())
    counts = np.bincount(degrees)
    bins = [(0, 0)] + [(1 << k, (1 << (k + 1)) - 1) for k in range(greatest.bit_length())]
    histogram = tuple((low, min(high, greatest), int(counts[low : high + 1].sum())) for low, high in bins)
    return Degrees(int(degrees.min()), float(np.median(degrees)), float(degrees.mean()), greatest, histogram)


def component_sizes(graph: CSRGraph) -> NDArray[np.int64]:
    """Return the (components,) number of vertices of each (weakly) connected component, by their least vertices."""
    labels = np.arange(graph.vertices, dtype=graph.targets.dtype)
    number = label_components(graph.offsets, graph.targets, labels)
    return np.bincount(labels, minlength=int(number))


@plain_njit
def label_components(offsets: Any, targets: Any, labels: Any) -> Any:
    """Number each vertex's (weakly connected) component over ``labels``, 0, 1, …, n − 1; return how many there are.

    Components are numbered in the order of their least vertices.  Either direction of an edge is enough.
    """
    for v in range(len(labels)):
        for arc in range(offsets[v], offsets[v + 1]):
            if labels[targets[arc]] != labels[v]:
                a, b = find_root(labels, v), find_root(labels, targets[arc])
                labels[max(a, b)] = min(a, b)
    number = 0
    for v in range(len(labels)):
        if labels[v] == v:
            labels[v] = number
            number += 1
        else:
            labels[v] = labels[labels[v]]
    return number
