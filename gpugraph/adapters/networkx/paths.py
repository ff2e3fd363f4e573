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
from gpugraph.adapters.queue_search import queue_search
from gpugraph.adapters.searches import Found, NegativeArc, Rows, search
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


def vertex_of(graph: ConvertedGraph, node: Any, told: str = "Node {} not found in graph") -> int:
    """Return the vertex of a node; raise NodeNotFound in NetworkX's words."""
    if node not in graph:
        raise nx.NodeNotFound(told.format(node))
    return graph.number[node]


def goal_of(graph: ConvertedGraph, target: Any) -> int | None:
    """Return the vertex of a target; None where none is wanted or it is no node, which nothing reaches."""
    return graph.number[target] if target is not None and target in graph else None


def nearest(
    graph: ConvertedGraph, sources: list[int], weight: Any, target: Any = None, cutoff: float | None = None
) -> Found:
    """Search by Dijkstra's algorithm, or breadth-first where ``weight`` is None."""
    rows = graph.rows(weight)
    goal = goal_of(graph, target)
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
        order = reached[np.argsort(found.raw[reached], kind="stable")]
        place = np.full(rows.vertices, -1, np.int64)
        place[order] = np.arange(len(order))
        real = found.raw.dtype.kind == "f"
        return Found(order, found.raw if real else found.raw.astype(np.int64), found.predecessor, place)


def relaxed(graph: ConvertedGraph, sources: list[int], weight: Any) -> tuple[Found, NDArray[Any], NDArray[Any]]:
    """Search by the algorithm of Bellman and Ford."""
    rows = graph.rows(weight)
    with calls.phase("kernel"):
        found = queue_search(rows, sources)
    if found is None:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return found


def lengths_of(graph: ConvertedGraph, found: Found) -> dict[Any, Any]:
    """Return node → length of a shortest path, in the order of the search."""
    with calls.phase("back"):
        lengths = dict(zip(named(graph.nodes, found.order), found.distance[found.order].tolist(), strict=True))
        if found.distance.dtype.kind == "f" and len(found.order):
            for source in found.order[found.before[found.order] < 0].tolist():
                lengths[graph.nodes[source]] = 0  # an integer, as NetworkX has it
        return lengths


def length_of(found: Found, goal: int) -> Any:
    """Return the length of the path to a vertex that was reached."""
    return found.distance[goal].item() if found.before[goal] >= 0 else 0


def lists_of(graph: ConvertedGraph, found: Found, starts: NDArray[Any], tails: NDArray[Any]) -> dict[Any, list[Any]]:
    """Return node → the nodes before it on shortest paths."""
    with calls.phase("back"):
        nodes, cuts = list(named(graph.nodes, tails)), starts.tolist()
        return {node: nodes[cuts[i] : cuts[i + 1]] for i, node in enumerate(named(graph.nodes, found.order))}


def between(graph: ConvertedGraph, source: Any, target: Any, weight: Any, *, weighted: bool) -> tuple[Any, list[Any]]:
    """Return the length of a shortest path and its nodes, looked for from both ends."""
    start = vertex_of(graph, source, "Source {} is not in G")
    goal = vertex_of(graph, target, "Target {} is not in G")
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


def levels(graph: ConvertedGraph, source: int, cutoff: Any = None, target: Any = None) -> Found:
    """Search level by level; a level is begun while the cutoff is above it."""
    limit = None if cutoff is None or (math.isinf(cutoff) and cutoff > 0) else max(0, math.ceil(max(cutoff, 0)))
    return nearest(graph, [source], None, target, limit)
