"""Shortest paths of NetworkX graphs.

On a CPU a search follows the adjacency as NetworkX's does, so that paths, predecessors and the order of every
dictionary are the same.  On a GPU a whole search from one source runs there; of several shortest
paths the canonical one is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from gpugraph.adapters import calls
from gpugraph.adapters.both_ends import shortest_between
from gpugraph.adapters.networkx.graph import ConvertedGraph, device, named
from gpugraph.adapters.on import OnDevice
from gpugraph.adapters.searches import Found, NegativeArc, Rows, queue_search, search, tight_tails
from gpugraph.graph.build import ArcList, narrow_weights


class Paths(Mapping[Any, list[Any]]):
    """Node → a shortest path to it, in the order of the search; a path is made when it is looked up."""

    def __init__(self, graph: ConvertedGraph, found: Found, *, backwards: bool = False):
        self._graph, self._found, self._backwards = graph, found, backwards

    def __getitem__(self, node: Any) -> list[Any]:
        vertex = self._graph.number[node] if node in self._graph else -1
        if vertex < 0 or self._found.place[vertex] < 0:
            raise KeyError(node)
        path = [self._graph.nodes[v] for v in self._found.path_to(vertex)]
        return path[::-1] if self._backwards else path

    def __iter__(self) -> Iterator[Any]:
        return named(self._graph.nodes, self._found.order)

    def __len__(self) -> int:
        return len(self._found.order)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})" if len(self) <= 20 else f"<{len(self)} shortest paths>"


# ------------------------------------------------------------------ searches


def _vertex(graph: ConvertedGraph, node: Any, told: str = "Node {} not found in graph") -> int:
    """Return the vertex of a node; raise NodeNotFound in NetworkX's words."""
    if node not in graph:
        raise nx.NodeNotFound(told.format(node))
    return graph.number[node]


def _goal(graph: ConvertedGraph, target: Any) -> int | None:
    """Return the vertex of a target; None where none is wanted or it is no node, which nothing reaches."""
    return graph.number[target] if target is not None and target in graph else None


def _nearest(
    graph: ConvertedGraph, sources: list[int], weight: Any, target: Any = None, cutoff: float | None = None
) -> Found:
    """Search by Dijkstra's algorithm, or breadth-first where ``weight`` is None."""
    rows = graph.rows(weight)
    goal = _goal(graph, target)
    if graph.device_kind != "cpu" and goal is None and len(sources) == 1 and _suits_gpu(rows):
        return _on_gpu(graph, rows, weight, sources[0], cutoff)
    with calls.phase("kernel"):
        try:
            return search(rows, sources, goal, cutoff)
        except NegativeArc:
            raise ValueError("Contradictory paths found:", "negative weights?") from None


def _suits_gpu(rows: Rows) -> bool:
    return rows.weights is None or not len(rows.weights) or rows.weights.min() >= 0


def _on_gpu(graph: ConvertedGraph, rows: Rows, weight: Any, source: int, cutoff: float | None) -> Found:
    def made() -> OnDevice:
        tails = np.repeat(np.arange(rows.vertices), np.diff(rows.offsets))
        weights = rows.weights
        if weights is not None and weights.dtype.kind == "i":
            weights = narrow_weights(weights)
        return OnDevice(ArcList(tails, rows.targets, weights, rows.vertices, directed=graph.directed or None), device())

    held: OnDevice = made() if callable(weight) else graph.kept(("paths", weight), made)
    found = held.sssp(source, cutoff=cutoff, predecessors=True)
    with calls.phase("back"):
        reached = np.flatnonzero(found.reached)
        order = reached[np.argsort(found.distance[reached], kind="stable")]
        place = np.full(rows.vertices, -1, np.int64)
        place[order] = np.arange(len(order))
        real = found.distance.dtype.kind == "f"
        return Found(order, found.distance if real else found.distance.astype(np.int64), found.predecessor, place)


def _relaxed(graph: ConvertedGraph, sources: list[int], weight: Any) -> tuple[Found, NDArray[Any], NDArray[Any]]:
    """Search by the algorithm of Bellman and Ford."""
    rows = graph.rows(weight)
    with calls.phase("kernel"):
        found = queue_search(rows, sources)
    if found is None:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return found


def _lengths(graph: ConvertedGraph, found: Found) -> dict[Any, Any]:
    with calls.phase("back"):
        lengths = dict(zip(named(graph.nodes, found.order), found.distance[found.order].tolist(), strict=True))
        if found.distance.dtype.kind == "f" and len(found.order):
            for source in found.order[found.before[found.order] < 0].tolist():
                lengths[graph.nodes[source]] = 0  # an integer, as NetworkX has it
        return lengths


def _length(found: Found, goal: int) -> Any:
    return found.distance[goal].item() if found.before[goal] >= 0 else 0


def _lists(graph: ConvertedGraph, found: Found, starts: NDArray[Any], tails: NDArray[Any]) -> dict[Any, list[Any]]:
    """Return node → the nodes before it on shortest paths."""
    with calls.phase("back"):
        nodes, cuts = list(named(graph.nodes, tails)), starts.tolist()
        return {node: nodes[cuts[i] : cuts[i + 1]] for i, node in enumerate(named(graph.nodes, found.order))}


# ------------------------------------------------------------------ Dijkstra


def multi_source_dijkstra(
    G: ConvertedGraph, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return lengths and paths from the nearest source, or those of the target."""
    if not sources:
        raise ValueError("sources must not be empty")
    starts = [_vertex(G, source) for source in sources]
    if target in sources:
        return 0, [target]
    with calls.call("networkx.multi_source_dijkstra", G.device_kind):
        found = _nearest(G, starts, weight, target, cutoff)
        if target is None:
            return _lengths(G, found), Paths(G, found)
        goal = _goal(G, target)
        if goal is None or found.place[goal] < 0:
            raise nx.NetworkXNoPath(f"No path to {target}.")
        return _length(found, goal), Paths(G, found)[target]


def multi_source_dijkstra_path(G: ConvertedGraph, sources: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    """Return paths from the nearest source."""
    return multi_source_dijkstra(G, sources, None, cutoff, weight)[1]


def multi_source_dijkstra_path_length(
    G: ConvertedGraph, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return lengths from the nearest source."""
    if not sources:
        raise ValueError("sources must not be empty")
    starts = [_vertex(G, source) for source in sources]
    with calls.call("networkx.multi_source_dijkstra_path_length", G.device_kind):
        return _lengths(G, _nearest(G, starts, weight, None, cutoff))


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
    _vertex(G, source)
    if source == target:
        return 0
    try:
        return single_source_dijkstra(G, source, target, None, weight)[0]
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from None


def bidirectional_dijkstra(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Return the length of a shortest path, and the path."""
    return _between(G, source, target, weight, weighted=True)


def _between(graph: ConvertedGraph, source: Any, target: Any, weight: Any, *, weighted: bool) -> tuple[Any, list[Any]]:
    """Return the length of a shortest path and its nodes, looked for from both ends."""
    start = _vertex(graph, source, "Source {} is not in G")
    goal = _vertex(graph, target, "Target {} is not in G")
    if start == goal:
        return 0, [source]
    with calls.call("networkx.bidirectional_dijkstra" if weighted else "networkx.bidirectional_shortest_path"):
        if callable(weight):
            rows = graph.rows(weight)
            reverse = graph.reversed.rows(lambda u, v, attributes: weight(v, u, attributes))
        else:  # None is the name of an attribute, too
            rows, reverse = (
                Rows(one.offsets, one.targets, one.weights(weight) if weighted else None)
                for one in (graph, graph.reversed)
            )
        with calls.phase("kernel"):
            try:
                found = shortest_between(rows, reverse, start, goal)
            except NegativeArc:
                raise ValueError("Contradictory paths found: negative weights?") from None
        if found is None:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return found[0], [graph.nodes[v] for v in found[1]]


def dijkstra_predecessor_and_distance(
    G: ConvertedGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Return all predecessors on shortest paths, and lengths."""
    start = _vertex(G, source, "Node {} is not found in the graph")
    with calls.call("networkx.dijkstra_predecessor_and_distance", G.device_kind):
        found = _nearest(G, [start], weight, None, cutoff)
        return _lists(G, found, *tight_tails(G.rows(weight), found)), _lengths(G, found)


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
        _vertex(G, source, "Node {} is not found in the graph")
        return 0, [source]
    start = _vertex(G, source, "Source {} not in G")
    with calls.call("networkx.single_source_bellman_ford"):
        found, _, _ = _relaxed(G, [start], weight)
        if target is None:
            return _lengths(G, found), Paths(G, found)
        goal = _goal(G, target)
        if goal is None or found.place[goal] < 0:
            raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
        return _length(found, goal), Paths(G, found)[target]


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
        _vertex(G, source)
        return 0
    return single_source_bellman_ford(G, source, target, weight)[0]


def bellman_ford_predecessor_and_distance(
    G: ConvertedGraph, source: Any, target: Any = None, weight: Any = "weight", heuristic: bool = False
) -> Any:
    """Return all predecessors on shortest paths, and lengths."""
    start = _vertex(G, source, "Node {} is not found in the graph")
    with calls.call("networkx.bellman_ford_predecessor_and_distance"):
        _refuse_negative_loops(G, weight)
        if len(G) == 1:
            return {source: []}, {source: 0}
        found, starts, tails = _relaxed(G, [start], weight)
        return _lists(G, found, starts, tails), _lengths(G, found)


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
    start = _vertex(G, source, "Node {} is not found in the graph")
    with calls.call("networkx.goldberg_radzik"):
        _refuse_negative_loops(G, weight)
        found, _, _ = _relaxed(G, [start], weight)
        before = {
            node: None if v < 0 else G.nodes[v]
            for node, v in zip(named(G.nodes, found.order), found.before[found.order].tolist(), strict=True)
        }
        return before, _lengths(G, found)


def negative_edge_cycle(G: ConvertedGraph, weight: Any = "weight", heuristic: bool = True) -> bool:
    """Tell whether there is a cycle of negative weight anywhere."""
    with calls.call("networkx.negative_edge_cycle"):
        try:
            _refuse_negative_loops(G, weight)
            _relaxed(G, list(range(len(G))), weight)
        except nx.NetworkXUnbounded:
            return True
        return False


def johnson(G: ConvertedGraph, weight: Any = "weight") -> Any:
    """Return node → paths from it; weights may be negative."""
    with calls.call("networkx.johnson"):
        potential = _relaxed(G, list(range(len(G))), weight)[0].distance
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


# ------------------------------------------------------------------ every arc counts 1


def _levels(graph: ConvertedGraph, source: int, cutoff: Any = None, target: Any = None) -> Found:
    """Search level by level; a level is begun while the cutoff is above it."""
    limit = None if cutoff is None or (math.isinf(cutoff) and cutoff > 0) else max(0, math.ceil(max(cutoff, 0)))
    return _nearest(graph, [source], None, target, limit)


def single_source_shortest_path_length(G: ConvertedGraph, source: Any, cutoff: Any = None) -> Any:
    """Return the number of edges to every node."""
    start = _vertex(G, source, "Source {} is not in G")
    with calls.call("networkx.single_source_shortest_path_length", G.device_kind):
        return _lengths(G, _levels(G, start, cutoff))


def single_target_shortest_path_length(G: ConvertedGraph, target: Any, cutoff: Any = None) -> Any:
    """Return the number of edges from every node."""
    goal = _vertex(G, target, "Target {} is not in G")
    with calls.call("networkx.single_target_shortest_path_length", G.device_kind):
        return _lengths(G.reversed, _levels(G.reversed, goal, cutoff))


def single_source_shortest_path(G: ConvertedGraph, source: Any, cutoff: Any = None) -> Any:
    """Return paths of fewest edges to every node."""
    start = _vertex(G, source, "Source {} not in G")
    with calls.call("networkx.single_source_shortest_path", G.device_kind):
        return Paths(G, _levels(G, start, cutoff))


def single_target_shortest_path(G: ConvertedGraph, target: Any, cutoff: Any = None) -> Any:
    """Return paths of fewest edges from every node."""
    goal = _vertex(G, target, "Target {} not in G")
    with calls.call("networkx.single_target_shortest_path", G.device_kind):
        return Paths(G.reversed, _levels(G.reversed, goal, cutoff), backwards=True)


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
    return _between(G, source, target, None, weighted=False)[1]


def predecessor(G: ConvertedGraph, source: Any, target: Any = None, cutoff: Any = None, return_seen: Any = None) -> Any:
    """Return all predecessors on paths of fewest edges."""
    start = _vertex(G, source, "Source {} not in G")
    with calls.call("networkx.predecessor"):
        with calls.phase("kernel"):
            found = search(G.rows(None), [start], None, max(1, math.ceil(cutoff)) if cutoff else None)
        before = _lists(G, found, *tight_tails(G.rows(None), found))
        if target is not None:
            seen = found.distance[G.number[target]].item() if target in before else -1
            return (before.get(target, []), seen) if return_seen else before.get(target, [])
        return (before, _lengths(G, found)) if return_seen else before


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
    if any(len(_levels(graph, 0).order) < n for graph in everywhere):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    how = "dijkstra" if chosen.startswith("floyd") else chosen
    total = sum(sum(_from(G, node, weight, how, True).values()) for node in G.nodes)
    return float(total / (n * (n - 1)))
