"""Canonical edge ids and their endpoints.

An edge's id is the position of its arc u→v with u < v; ids ascend as (u, v) does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.graph.canonical import find_arc
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph


def edge_endpoints(graph: CSRGraph, edges: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the tails and heads of arcs given by position.

    Args:
        graph: the graph; undirected.
        edges: (k,) integer positions; one outside the graph gives the endpoints of the nearest arc inside.

    Returns:
        u, v: (k,) int64; u < v where the position is a canonical edge id.
    """
    if graph.arcs == 0:
        return np.zeros(len(edges), np.int64), np.zeros(len(edges), np.int64)
    inside = np.clip(edges, 0, graph.arcs - 1)
    if graph.on_device is not None and graph.on_device.usable:
        u, v, _ = graph.on_device.ends_and_weights(inside)
        return u.astype(np.int64), v.astype(np.int64)
    tails = np.searchsorted(graph.offsets, inside, side="right") - 1
    return tails.astype(np.int64, copy=False), graph.targets[inside].astype(np.int64)


def edge_weights(graph: CSRGraph, edges: NDArray[Any]) -> NDArray[Any]:
    """Return the (k,) weights of the arcs at the positions ``edges``, all inside the graph."""
    if graph.on_device is not None and graph.on_device.usable:
        return graph.on_device.ends_and_weights(edges)[2]
    weights: NDArray[Any] = graph.weights[edges]
    return weights


def edge_ids(graph: CSRGraph, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.int64]:
    """Return the canonical ids of the edges {u, v}, in either direction.

    Args:
        graph: the graph; undirected.
        u: (k,) integer vertices, one end of each edge.
        v: (k,) integer vertices, the other end.

    Returns:
        (k,) int64, −1 where the graph has no such edge.
    """
    low = np.minimum(u, v).astype(np.int64, copy=False)
    high = np.maximum(u, v).astype(np.int64, copy=False)
    ids = np.empty(len(low), np.int64)
    in_threads(
        lambda start, stop: _find_arcs(graph.offsets, graph.targets, low, high, start, stop, ids), even_ranges(len(low))
    )
    return ids


def describe_edge(graph: CSRGraph, edge: int) -> str:
    """Return an edge in words, e.g. ``"edge (3, 7) of weight 12"``, with the file's own ids where it had some."""
    (u,), (v,) = (ends.tolist() for ends in edge_endpoints(graph, np.array([edge])))
    named = ""
    if graph.vertex_names is not None:
        named = f", in the file ({graph.name_of(u)}, {graph.name_of(v)}),"
    return f"edge ({u}, {v}){named} of weight {edge_weights(graph, np.array([edge]))[0].item()}"


@njit
def _find_arcs(offsets: Any, targets: Any, tails: Any, heads: Any, start: int, stop: int, ids: Any) -> None:
    """Write the position of each arc tail→head of [start, stop), or −1."""
    for k in range(start, stop):
        ids[k] = find_arc(offsets, targets, tails[k], heads[k])
