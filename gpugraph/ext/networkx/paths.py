"""Shortest paths of NetworkX graphs.

On a CPU a search follows the adjacency as NetworkX's does, so that paths, predecessors and the order of every
dictionary are the same.  On a GPU a whole search from one source runs there; of several shortest
paths the canonical one is returned.
"""

import math
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from gpugraph.ext.networkx.graph import ConvertedGraph, Declined, device, named, way_to_verify
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.certified import Firsts, certify_search
from gpugraph.ext.python.resident_graph import ResidentGraph
from gpugraph.ext.python.searches import (
    Found,
    NegativeArc,
    Rows,
    are_lengths,
    by_first_sight,
    plain_cutoff,
    search,
    tight_tails,
)
from gpugraph.graph.build import ArcList, narrow_weights


class Paths(dict[Hashable, Any]):
    """Node → a shortest path to it, in the order of the search; a path is made when it is looked up.

    Paths not made yet are None, which nobody sees: what reads several paths at once makes all of them first.
    """

    __slots__ = ("_found", "_graph")

    def __init__(self, graph: ConvertedGraph, found: Found):
        super().__init__(dict.fromkeys(named(graph.nodes, found.order)))
        self._graph, self._found = graph, found

    def __getitem__(self, node: Hashable) -> list[Hashable]:
        path: list[Hashable] | None = super().__getitem__(node)
        if path is None:
            path = [self._graph.nodes[v] for v in self._found.path_to(self._graph.number[node])]
            self[node] = path
        return path

    def __iter__(self) -> Iterator[Hashable]:  # its own, so that dict(…) and update ask for each path
        return super().__iter__()

    def __reduce_ex__(self, protocol: object) -> tuple[type, tuple[dict[Hashable, list[Hashable]]]]:
        return dict, (dict(self),)

    def get(self, node: Hashable, default: Any = None) -> Any:
        """Return the path to a node, or a default where there is none."""
        return self[node] if node in self else default  # noqa: SIM401  # its own get


def _of_all_paths(name: str) -> Callable[..., object]:
    def method(paths: Paths, *arguments: object) -> object:
        for node in paths:
            paths[node]
        return getattr(dict, name)(paths, *arguments)

    return method


_NEEDING_ALL = ("__eq__", "__ne__", "__or__", "__ror__", "__repr__")
for _name in (*_NEEDING_ALL, "copy", "items", "values", "pop", "popitem", "setdefault"):
    setattr(Paths, _name, _of_all_paths(_name))


def vertex_of(graph: ConvertedGraph, node: Hashable, message: str = "Node {} not found in graph") -> int:
    """Return the vertex of a node; raise NodeNotFound in NetworkX's words."""
    if node not in graph:
        raise nx.NodeNotFound(message.format(node))
    return graph.number[node]


def goal_of(graph: ConvertedGraph, target: Hashable) -> int | None:
    """Return the vertex of a target; None where none is wanted or it is no node, which nothing reaches."""
    return graph.number[target] if target is not None and target in graph else None


def nearest(
    graph: ConvertedGraph, sources: list[int], weight: Hashable, target: Hashable = None, cutoff: float | None = None
) -> Found:
    """Search by Dijkstra's algorithm."""
    rows, cutoff = graph.rows(weight), plain_cutoff(cutoff)
    if len(sources) > 1 and not are_lengths(rows.weights):
        raise Declined("a path may lead from one source to another by negative weights")
    goal = goal_of(graph, target)
    simple = goal is None and len(sources) == 1 and (cutoff is None or cutoff >= 0)
    if graph.device_kind != "cpu" and simple and are_lengths(rows.weights):
        return _on_gpu(graph, rows, weight, sources[0], cutoff)
    with call_profile.phase("kernel"):
        try:
            found = search(rows, sources, goal, cutoff)
        except NegativeArc:
            raise ValueError("Contradictory paths found:", "negative weights?") from None
    # Each function has a graph of its own, which is not known again.
    firsts, kind = Firsts() if callable(weight) else graph.firsts, (weight, goal is None, cutoff is None)
    if firsts.method(way_to_verify(), kind) != "none" and are_lengths(rows.weights):
        certify_search(
            (rows.offsets, rows.targets, rows.weights),
            *(found.distance, found.place >= 0, sources, _end(found, goal, cutoff)),
            where="the NetworkX backend",
        )
        firsts.passed(kind)
    return found


def _end(found: Found, goal: int | None, cutoff: float | None) -> Any:
    """Return the distance from which on a search may have left vertices out, or None."""
    ends = []
    if cutoff is not None:
        real = found.distance.dtype.kind == "f"
        ends.append(math.nextafter(cutoff, math.inf) if real else math.floor(cutoff) + 1)
    if goal is not None and found.place[goal] >= 0:
        ends.append(found.distance[goal])
    return min(ends, default=None)


def _on_gpu(graph: ConvertedGraph, rows: Rows, weight: Hashable, source: int, cutoff: float | None) -> Found:
    def made() -> ResidentGraph:
        tails = np.repeat(np.arange(rows.vertices), np.diff(rows.offsets))
        weights = rows.weights
        if weights.dtype.kind == "i":
            weights = narrow_weights(weights)
        return ResidentGraph(
            ArcList(tails, rows.targets, weights, rows.vertices, directed=graph.directed or None),
            device(),
            way_to_verify(),
        )

    with graph.in_turns:
        held: ResidentGraph = made() if callable(weight) else graph.kept(("paths", weight), made)
        found = held.sssp(source, cutoff=cutoff, predecessors=True)
    assert found.predecessor is not None
    with call_profile.phase("back"):
        reached = np.flatnonzero(found.reached)
        order = reached[np.argsort(found.raw[reached], kind="stable")]
        real = found.raw.dtype.kind == "f"
        return Found(order, found.raw if real else found.raw.astype(np.int64), found.predecessor + 1, rows.scalars)


def lengths_of(graph: ConvertedGraph, found: Found) -> dict[Hashable, float]:
    """Return node → length of a shortest path, in the order of the search."""
    with call_profile.phase("back"):
        values = found.distance[found.order]
        plain = list(values) if found.scalars else values.tolist()
        lengths = dict(zip(named(graph.nodes, found.order), plain, strict=True))
        if (found.scalars or found.distance.dtype.kind == "f") and len(found.order):
            for source in found.order[found.before[found.order] < 0].tolist():
                lengths[graph.nodes[source]] = 0  # an integer, as NetworkX has it
        return lengths


def length_of(found: Found, goal: int) -> float:
    """Return the length of the path to a vertex that was reached."""
    length = found.distance[goal]
    return (length if found.scalars else length.item()) if found.before[goal] >= 0 else 0


def lists_of(graph: ConvertedGraph, rows: Rows, found: Found, cutoff: float | None) -> dict[Hashable, list[Hashable]]:
    """Return node → the nodes before it on shortest paths, in the order in which the search comes across nodes."""
    starts, tails = tight_tails(rows, found)
    if cutoff is not None and cutoff < 0:  # no arc is followed, not even a loop of weight 0
        starts[:] = 0
    with call_profile.phase("back"):
        nodes, cuts = list(named(graph.nodes, tails)), starts.tolist()
        order = by_first_sight(rows, found, plain_cutoff(cutoff))
        places = found.place[order].tolist()
        return {node: nodes[cuts[i] : cuts[i + 1]] for node, i in zip(named(graph.nodes, order), places, strict=True)}
