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
from gpugraph.adapters.searches import Found, NegativeArc, Rows, search
from gpugraph.compiled import njit
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
        real = found.raw.dtype.kind == "f"
        return Found(order, found.raw if real else found.raw.astype(np.int64), found.predecessor + 1)


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


# ------------------------------------------------------------------ negative weights
# The algorithm of Bellman and Ford with a queue.
# Sources: Moore 1959, the shortest path through a maze (the queue); Cherkassky and Goldberg 1999, Negative-cycle
# detection algorithms (a vertex whose parent waits is skipped; following parents finds cycles).


def queue_search(rows: Rows, sources: list[int]) -> tuple[Found, NDArray[np.int64], NDArray[np.int64]] | None:
    """Find shortest paths where weights may be negative; None where a cycle of negative weight can be reached.

    Returns:
        What was found, in the order in which vertices were first reached, and the tails of all arcs on shortest paths:
        (reached+1,) int64 offsets by place in ``order``, and (k,) int64 tails, in the order in which they were found.
    """
    n = rows.vertices
    weights = np.ones(len(rows.targets), np.int64) if rows.weights is None else rows.weights
    distance = np.zeros(n, weights.dtype if weights.dtype.kind == "f" else np.int64)
    before, place, order = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    start = np.array(sources, np.int64)
    count, starts, tails = _bellman_ford(rows.offsets, rows.targets, weights, start, distance, before, place, order)
    if count < 0:
        return None
    return Found(order[:count], distance, before + 1), starts[: count + 1], tails


@njit
def _bellman_ford(
    offsets: Any, targets: Any, weights: Any, sources: Any, distance: Any, before: Any, place: Any, order: Any
) -> Any:
    """Relax until nothing changes.

    Returns:
        How many vertices were reached, −1 where a negative cycle was; and the tails of tight arcs, as rows by place.
    """
    n = len(place)
    queue = np.empty(n + 1, np.int64)  # a ring; a vertex waits at most once
    waits = np.zeros(n, np.bool_)
    first, last = np.full(n, -1, np.int64), np.full(n, -1, np.int64)  # each vertex's list of tails
    tail, after = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    used, reached, head, size, since = 0, 0, 0, 0, 0
    for source in sources:
        if place[source] < 0:
            place[source] = reached
            order[reached] = source
            reached += 1
            queue[size] = source
            waits[source] = True
            size += 1
    while size > 0:
        u = queue[head]
        head = head + 1 if head < n else 0
        size -= 1
        waits[u] = False
        entry = first[u]
        while entry >= 0 and not waits[tail[entry]]:
            entry = after[entry]
        if entry >= 0:
            continue
        near = distance[u]
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            far = near + weights[arc]
            if place[v] >= 0 and far > distance[v]:
                continue
            shorter = place[v] < 0 or far < distance[v]
            if shorter:
                if v == u:
                    return -1, first, tail
                if place[v] < 0:
                    place[v] = reached
                    order[reached] = v
                    reached += 1
                distance[v] = far
                before[v] = u
                first[v] = -1
                since += 1
                if not waits[v]:
                    waits[v] = True
                    queue[(head + size) % (n + 1)] = v
                    size += 1
            elif far != distance[v]:
                continue  # not a number
            if used == len(tail):
                tail = np.concatenate((tail, np.empty_like(tail)))
                after = np.concatenate((after, np.empty_like(after)))
            tail[used] = u
            after[used] = -1
            if first[v] < 0:
                first[v] = used
            else:
                after[last[v]] = used
            last[v] = used
            used += 1
        if since >= n:
            since = 0
            if _has_cycle(before):
                return -1, first, tail
    return _listed(order, reached, first, tail, after)


@njit
def _has_cycle(before: Any) -> bool:
    """Tell whether following parents leads round in a circle."""
    seen = np.full(len(before), -1, np.int64)
    for start in range(len(before)):
        v = start
        while v >= 0 and seen[v] < 0:
            seen[v] = start
            v = before[v]
        if v >= 0 and seen[v] == start:
            return True
    return False


@njit
def _listed(order: Any, reached: int, first: Any, tail: Any, after: Any) -> Any:
    """Return the lists of tails one after another."""
    starts = np.zeros(reached + 1, np.int64)
    for place in range(reached):
        entry = first[order[place]]
        starts[place + 1] = starts[place]
        while entry >= 0:
            starts[place + 1] += 1
            entry = after[entry]
    tails = np.empty(starts[reached], np.int64)
    for place in range(reached):
        entry = first[order[place]]
        at = starts[place]
        while entry >= 0:
            tails[at] = tail[entry]
            at += 1
            entry = after[entry]
    return reached, starts, tails
