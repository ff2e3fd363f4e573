"""NetworkX's functions for weighted shortest paths, as its file of that name has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx

from gpugraph.adapters import call_profile
from gpugraph.adapters.networkx.graph import ConvertedGraph
from gpugraph.adapters.networkx.paths import Paths, goal_of, length_of, lengths_of, lists_of, nearest, vertex_of
from gpugraph.adapters.searches import tight_tails


def multi_source_dijkstra(
    G: ConvertedGraph, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return lengths and paths from the nearest source, or those of the target."""
    if not sources:
        raise ValueError("sources must not be empty")
    starts = [vertex_of(G, source) for source in sources]
    if target in sources:
        return 0, [target]
    with call_profile.call("networkx.multi_source_dijkstra", G.device_kind):
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
    with call_profile.call("networkx.multi_source_dijkstra_path_length", G.device_kind):
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


def dijkstra_predecessor_and_distance(
    G: ConvertedGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return all predecessors on shortest paths, and lengths."""
    start = vertex_of(G, source, "Node {} is not found in the graph")
    with call_profile.call("networkx.dijkstra_predecessor_and_distance", G.device_kind):
        found = nearest(G, [start], weight, None, cutoff)
        return lists_of(G, found, *tight_tails(G.rows(weight), found)), lengths_of(G, found)


def _for_each_node(single: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    """Return a function that gives an iterator over each node with what ``single`` returns for it.

    The weights are read before the first node is asked for: NetworkX takes a call back only until it has an answer.
    """

    def of_all(G: ConvertedGraph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
        G.rows(weight)
        return ((node, single(G, node, cutoff=cutoff, weight=weight)) for node in G.nodes)

    return of_all


all_pairs_dijkstra = _for_each_node(single_source_dijkstra)
all_pairs_dijkstra_path_length = _for_each_node(single_source_dijkstra_path_length)
all_pairs_dijkstra_path = _for_each_node(single_source_dijkstra_path)
