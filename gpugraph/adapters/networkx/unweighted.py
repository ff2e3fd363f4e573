"""NetworkX's functions for shortest paths without weights, and those that take any method."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx

from gpugraph.adapters import calls
from gpugraph.adapters.networkx.graph import ConvertedGraph
from gpugraph.adapters.networkx.paths import Paths, between, lengths_of, levels, lists_of, vertex_of
from gpugraph.adapters.networkx.weighted import (
    bellman_ford_path,
    bellman_ford_path_length,
    bidirectional_dijkstra,
    dijkstra_path_length,
    single_source_bellman_ford_path,
    single_source_bellman_ford_path_length,
    single_source_dijkstra_path,
    single_source_dijkstra_path_length,
)
from gpugraph.adapters.searches import search, tight_tails


def single_source_shortest_path_length(G: ConvertedGraph, source: Any, cutoff: Any = None) -> Any:
    """Return the number of edges to every node."""
    start = vertex_of(G, source, "Source {} is not in G")
    with calls.call("networkx.single_source_shortest_path_length", G.device_kind):
        return lengths_of(G, levels(G, start, cutoff))


def single_target_shortest_path_length(G: ConvertedGraph, target: Any, cutoff: Any = None) -> Any:
    """Return the number of edges from every node."""
    goal = vertex_of(G, target, "Target {} is not in G")
    with calls.call("networkx.single_target_shortest_path_length", G.device_kind):
        return lengths_of(G.reversed, levels(G.reversed, goal, cutoff))


def single_source_shortest_path(G: ConvertedGraph, source: Any, cutoff: Any = None) -> Any:
    """Return paths of fewest edges to every node."""
    start = vertex_of(G, source, "Source {} not in G")
    with calls.call("networkx.single_source_shortest_path", G.device_kind):
        return Paths(G, levels(G, start, cutoff))


def single_target_shortest_path(G: ConvertedGraph, target: Any, cutoff: Any = None) -> Any:
    """Return paths of fewest edges from every node."""
    goal = vertex_of(G, target, "Target {} not in G")
    with calls.call("networkx.single_target_shortest_path", G.device_kind):
        return Paths(G.reversed, levels(G.reversed, goal, cutoff), backwards=True)


def all_pairs_shortest_path_length(G: ConvertedGraph, cutoff: Any = None) -> Iterator[Any]:
    """Yield each node with the number of edges to every other."""
    for node in G.nodes:
        yield node, single_source_shortest_path_length(G, node, cutoff)


def all_pairs_shortest_path(G: ConvertedGraph, cutoff: Any = None) -> Iterator[Any]:
    """Yield each node with paths of fewest edges to every other."""
    for node in G.nodes:
        yield node, single_source_shortest_path(G, node, cutoff)


def bidirectional_shortest_path(G: ConvertedGraph, source: Any, target: Any) -> Any:
    """Return a path of fewest edges."""
    return between(G, source, target, None, weighted=False)[1]


def predecessor(G: ConvertedGraph, source: Any, target: Any = None, cutoff: Any = None, return_seen: Any = None) -> Any:
    """Return all predecessors on paths of fewest edges."""
    start = vertex_of(G, source, "Source {} not in G")
    with calls.call("networkx.predecessor"):
        with calls.phase("kernel"):
            found = search(G.rows(None), [start], None, max(1, math.ceil(cutoff)) if cutoff else None)
        before = lists_of(G, found, *tight_tails(G.rows(None), found))
        if target is not None:
            seen = found.distance[G.number[target]].item() if target in before else -1
            return (before.get(target, []), seen) if return_seen else before.get(target, [])
        return (before, lengths_of(G, found)) if return_seen else before


# ------------------------------------------------------------------ by whatever method


def _method(weight: Any, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


def _from(graph: ConvertedGraph, source: Any, weight: Any, method: str, lengths: bool) -> Any:
    """Return the lengths or the paths from a source."""
    if method == "unweighted":
        return (single_source_shortest_path_length if lengths else single_source_shortest_path)(graph, source)
    if method == "dijkstra":
        found = single_source_dijkstra_path_length if lengths else single_source_dijkstra_path
        return found(graph, source, None, weight)
    return (single_source_bellman_ford_path_length if lengths else single_source_bellman_ford_path)(
        graph, source, weight
    )


def shortest_path(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Return shortest paths: of one pair, from a source, to a target, or of all pairs."""
    method = _method(weight, method)
    if source is None and target is None:
        return ((node, _from(G, node, weight, method, False)) for node in G.nodes)
    if source is None:
        paths = _from(G.reversed, target, weight, method, False)
        return Paths(G.reversed, paths._found, backwards=True)
    if target is None:
        return _from(G, source, weight, method, False)
    if method == "unweighted":
        return bidirectional_shortest_path(G, source, target)
    if method == "dijkstra":
        return bidirectional_dijkstra(G, source, target, weight)[1]
    return bellman_ford_path(G, source, target, weight)


def shortest_path_length(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Return lengths of shortest paths: of one pair, from a source, to a target, or of all pairs."""
    method = _method(weight, method)
    if source is None and target is None:
        return ((node, _from(G, node, weight, method, True)) for node in G.nodes)
    if source is None:
        return _from(G.reversed, target, weight, method, True)
    if target is None:
        return _from(G, source, weight, method, True)
    if method == "unweighted":
        return len(bidirectional_shortest_path(G, source, target)) - 1
    return (dijkstra_path_length if method == "dijkstra" else bellman_ford_path_length)(G, source, target, weight)


def has_path(G: ConvertedGraph, source: Any, target: Any) -> bool:
    """Tell whether a path leads from a source to a target."""
    try:
        bidirectional_shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


def average_shortest_path_length(G: ConvertedGraph, weight: Any = None, method: str | None = None) -> float:
    """Return the mean length of all shortest paths."""
    chosen = method or ("unweighted" if weight is None else "dijkstra")
    if chosen not in ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"):
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    everywhere = [G, G.reversed] if G.directed else [G]
    if any(len(levels(graph, 0).order) < n for graph in everywhere):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    how = "dijkstra" if chosen.startswith("floyd") else chosen
    total = sum(sum(_from(G, node, weight, how, True).values()) for node in G.nodes)
    return float(total / (n * (n - 1)))
