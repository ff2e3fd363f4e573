"""NetworkX's functions for weighted shortest paths, as its file of that name has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from gpugraph.adapters import calls
from gpugraph.adapters.networkx.graph import ConvertedGraph, named
from gpugraph.adapters.networkx.paths import (
    Paths,
    between,
    goal_of,
    length_of,
    lengths_of,
    lists_of,
    nearest,
    relaxed,
    vertex_of,
)
from gpugraph.adapters.searches import NegativeArc, Rows, search, tight_tails

# ------------------------------------------------------------------ Dijkstra


def multi_source_dijkstra(
    G: ConvertedGraph, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return lengths and paths from the nearest source, or those of the target."""
    if not sources:
        raise ValueError("sources must not be empty")
    starts = [vertex_of(G, source) for source in sources]
    if target in sources:
        return 0, [target]
    with calls.call("networkx.multi_source_dijkstra", G.device_kind):
        found = nearest(G, starts, weight, target, cutoff)
        if target is None:
            return lengths_of(G, found), Paths(G, found)
        goal = goal_of(G, target)
        if goal is None or found.place[goal] < 0:
            raise nx.NetworkXNoPath(f"No path to {target}.")
        return length_of(found, goal), Paths(G, found)[target]


def multi_source_dijkstra_path(G: ConvertedGraph, sources: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    """Return paths from the nearest source."""
    return multi_source_dijkstra(G, sources, None, cutoff, weight)[1]


def multi_source_dijkstra_path_length(
    G: ConvertedGraph, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return lengths from the nearest source."""
    if not sources:
        raise ValueError("sources must not be empty")
    starts = [vertex_of(G, source) for source in sources]
    with calls.call("networkx.multi_source_dijkstra_path_length", G.device_kind):
        return lengths_of(G, nearest(G, starts, weight, None, cutoff))


def single_source_dijkstra(
    G: ConvertedGraph, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return lengths and paths from a source, or those of the target."""
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


def single_source_dijkstra_path(G: ConvertedGraph, source: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    """Return paths from a source."""
    return multi_source_dijkstra_path(G, {source}, cutoff, weight)


def single_source_dijkstra_path_length(
    G: ConvertedGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return lengths from a source."""
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


def dijkstra_path(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Return a shortest path."""
    return single_source_dijkstra(G, source, target, None, weight)[1]


def dijkstra_path_length(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Return the length of a shortest path."""
    vertex_of(G, source)
    if source == target:
        return 0
    try:
        return single_source_dijkstra(G, source, target, None, weight)[0]
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from None


def bidirectional_dijkstra(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Return the length of a shortest path, and the path."""
    return between(G, source, target, weight, weighted=True)


def dijkstra_predecessor_and_distance(
    G: ConvertedGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return all predecessors on shortest paths, and lengths."""
    start = vertex_of(G, source, "Node {} is not found in the graph")
    with calls.call("networkx.dijkstra_predecessor_and_distance", G.device_kind):
        found = nearest(G, [start], weight, None, cutoff)
        return lists_of(G, found, *tight_tails(G.rows(weight), found)), lengths_of(G, found)


def all_pairs_dijkstra(G: ConvertedGraph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    """Yield each node with lengths and paths from it."""
    for node in G.nodes:
        yield node, single_source_dijkstra(G, node, None, cutoff, weight)


def all_pairs_dijkstra_path_length(G: ConvertedGraph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    """Yield each node with lengths from it."""
    for node in G.nodes:
        yield node, single_source_dijkstra_path_length(G, node, cutoff, weight)


def all_pairs_dijkstra_path(G: ConvertedGraph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    """Yield each node with paths from it."""
    for node in G.nodes:
        yield node, single_source_dijkstra_path(G, node, cutoff, weight)


# ------------------------------------------------------------------ Bellman and Ford


def _refuse_negative_loops(graph: ConvertedGraph, weight: Any) -> None:
    rows = graph.rows(weight)
    if rows.weights is not None:
        tails = np.repeat(np.arange(rows.vertices), np.diff(rows.offsets))
        if ((tails == rows.targets) & (rows.weights < 0)).any():
            raise nx.NetworkXUnbounded("Negative cycle detected.")


def single_source_bellman_ford(G: ConvertedGraph, source: Any, target: Any = None, weight: Any = "weight") -> Any:
    """Return lengths and paths from a source, or those of the target; weights may be negative."""
    if source == target:
        vertex_of(G, source, "Node {} is not found in the graph")
        return 0, [source]
    start = vertex_of(G, source, "Source {} not in G")
    with calls.call("networkx.single_source_bellman_ford"):
        found, _, _ = relaxed(G, [start], weight)
        if target is None:
            return lengths_of(G, found), Paths(G, found)
        goal = goal_of(G, target)
        if goal is None or found.place[goal] < 0:
            raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
        return length_of(found, goal), Paths(G, found)[target]


def single_source_bellman_ford_path(G: ConvertedGraph, source: Any, weight: Any = "weight") -> Any:
    """Return paths from a source."""
    return single_source_bellman_ford(G, source, None, weight)[1]


def single_source_bellman_ford_path_length(G: ConvertedGraph, source: Any, weight: Any = "weight") -> Any:
    """Return lengths from a source."""
    return single_source_bellman_ford(G, source, None, weight)[0]


def bellman_ford_path(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Return a shortest path."""
    return single_source_bellman_ford(G, source, target, weight)[1]


def bellman_ford_path_length(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Return the length of a shortest path."""
    if source == target:
        vertex_of(G, source)
        return 0
    return single_source_bellman_ford(G, source, target, weight)[0]


def bellman_ford_predecessor_and_distance(
    G: ConvertedGraph, source: Any, target: Any = None, weight: Any = "weight", heuristic: bool = False
) -> Any:
    """Return all predecessors on shortest paths, and lengths."""
    start = vertex_of(G, source, "Node {} is not found in the graph")
    with calls.call("networkx.bellman_ford_predecessor_and_distance"):
        _refuse_negative_loops(G, weight)
        if len(G) == 1:
            return {source: []}, {source: 0}
        found, starts, tails = relaxed(G, [start], weight)
        return lists_of(G, found, starts, tails), lengths_of(G, found)


def all_pairs_bellman_ford_path_length(G: ConvertedGraph, weight: Any = "weight") -> Iterator[Any]:
    """Yield each node with lengths from it."""
    for node in G.nodes:
        yield node, dict(single_source_bellman_ford_path_length(G, node, weight))


def all_pairs_bellman_ford_path(G: ConvertedGraph, weight: Any = "weight") -> Iterator[Any]:
    """Yield each node with paths from it."""
    for node in G.nodes:
        yield node, single_source_bellman_ford_path(G, node, weight)


def goldberg_radzik(G: ConvertedGraph, source: Any, weight: Any = "weight") -> Any:
    """Return a predecessor and a length for each node."""
    start = vertex_of(G, source, "Node {} is not found in the graph")
    with calls.call("networkx.goldberg_radzik"):
        _refuse_negative_loops(G, weight)
        found, _, _ = relaxed(G, [start], weight)
        before = {
            node: None if v < 0 else G.nodes[v]
            for node, v in zip(named(G.nodes, found.order), found.before[found.order].tolist(), strict=True)
        }
        return before, lengths_of(G, found)


def negative_edge_cycle(G: ConvertedGraph, weight: Any = "weight", heuristic: bool = True) -> bool:
    """Tell whether there is a cycle of negative weight anywhere."""
    with calls.call("networkx.negative_edge_cycle"):
        try:
            _refuse_negative_loops(G, weight)
            relaxed(G, list(range(len(G))), weight)
        except nx.NetworkXUnbounded:
            return True
        return False


def johnson(G: ConvertedGraph, weight: Any = "weight") -> Any:
    """Return node → paths from it; weights may be negative."""
    with calls.call("networkx.johnson"):
        potential = relaxed(G, list(range(len(G))), weight)[0].distance
        rows = G.rows(weight)
        if rows.weights is not None and len(rows.weights) and rows.weights.min() < 0:
            tails = np.repeat(np.arange(rows.vertices), np.diff(rows.offsets))
            weights = rows.weights + potential[tails] - potential[rows.targets]
            rows = Rows(rows.offsets, rows.targets, weights)
        with calls.phase("kernel"):
            try:
                return {node: Paths(G, search(rows, [v])) for v, node in enumerate(G.nodes)}
            except NegativeArc:
                raise ValueError("Contradictory paths found:", "negative weights?") from None
