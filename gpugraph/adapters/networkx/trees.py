"""Spanning trees of NetworkX graphs: Kruskal's, tie for tie, in the order in which NetworkX yields their edges.

Edges are ranked by weight, equal ones by their place in ``list(G.edges)``; no two ranks are equal, so that every
algorithm on every device finds the one forest that Kruskal's algorithm takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from gpugraph.adapters import call_profile
from gpugraph.adapters.inputs import by_weight
from gpugraph.adapters.networkx.graph import ConvertedGraph, Declined, device, named, uncollected
from gpugraph.adapters.resident_graph import ResidentGraph
from gpugraph.graph.build import ArcList

ALGORITHMS = ("boruvka", "borůvka", "kruskal", "prim")


def _spanning_edges(
    minimum: bool,
    G: ConvertedGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    """Yield the edges of a minimum or a maximum spanning forest, as NetworkX's functions of these names do."""
    _check(G, algorithm)
    return _yielded(G, _Asked(minimum, weight, ignore_nan), keys, data)


minimum_spanning_edges = partial(_spanning_edges, True)
maximum_spanning_edges = partial(_spanning_edges, False)


def _spanning_tree(
    minimum: bool, G: ConvertedGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """Return a minimum or a maximum spanning forest as a graph of the same class, all attributes kept."""
    _check(G, algorithm)
    return _grown(G, _Asked(minimum, weight, ignore_nan), f"{'minimum' if minimum else 'maximum'}_spanning_tree")


minimum_spanning_tree = partial(_spanning_tree, True)
maximum_spanning_tree = partial(_spanning_tree, False)


def partition_spanning_tree(
    G: ConvertedGraph,
    minimum: bool = True,
    weight: Any = "weight",
    partition: Any = "partition",
    ignore_nan: bool = False,
) -> Any:
    """Return a spanning forest with all edges marked as included and none marked as excluded."""
    return _grown(G, _Asked(minimum, weight, ignore_nan, partition), "partition_spanning_tree")


def kruskal_mst_edges(
    G: ConvertedGraph,
    minimum: bool,
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
    partition: Any = None,
) -> Iterator[Any]:
    """Yield the edges of a spanning forest."""
    return _yielded(G, _Asked(minimum, weight, ignore_nan, partition), keys, data)


def prim_mst_edges(
    G: ConvertedGraph,
    minimum: bool,
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    """Yield the edges of a spanning forest."""
    if G.directed:
        raise Declined("this algorithm on a directed graph means something else")
    return _yielded(G, _Asked(minimum, weight, ignore_nan), keys, data)


def boruvka_mst_edges(
    G: ConvertedGraph,
    minimum: bool = True,
    weight: Any = "weight",
    keys: bool = False,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    """Yield the edges of a spanning forest."""
    return prim_mst_edges(G, minimum, weight, keys, data, ignore_nan)


class _Asked(NamedTuple):
    """Which forest is asked for: its edges are compared by an attribute, upwards or downwards."""

    minimum: bool
    weight: Any
    ignore_nan: bool
    partition: Any = None


def _check(graph: ConvertedGraph, algorithm: str) -> None:
    """Refuse what NetworkX refuses, in its words."""
    if graph.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if algorithm not in ALGORITHMS:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    if graph.multigraph and algorithm in ALGORITHMS[:2]:
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def _forest(graph: ConvertedGraph, asked: _Asked) -> NDArray[np.int64]:
    """Return the places in ``list(G.edges)`` of the forest's edges, in the order in which Kruskal takes them."""

    def made() -> tuple[ResidentGraph, NDArray[np.int64]]:
        order, arcs = _ranked(graph, asked)
        return ResidentGraph(arcs, device()), order

    with graph.in_turns:
        if asked.partition is None:
            held, order = graph.kept(("forest", asked.minimum, asked.weight, asked.ignore_nan), made)
        else:
            held, order = made()
        forest = held.mst()
    with call_profile.phase("back"):
        return np.asarray(order[np.sort(forest.graph.weights[forest.edges])])


def _ranked(graph: ConvertedGraph, asked: _Asked) -> tuple[NDArray[np.int64], ArcList]:
    """Return edges by ascending rank, and all edges that count with their ranks for weights."""
    tails, heads, _, attributes = graph.edges
    weights = graph.edge_weights(asked.weight)
    places = np.arange(len(weights))
    bad = np.isnan(weights)
    if bad.any():
        if not asked.ignore_nan:
            (edge,) = _edge_tuples(graph, np.flatnonzero(bad)[:1], True, True)
            raise ValueError(f"NaN found as an edge weight. Edge {edge}")
        places = places[~bad]
    if not asked.minimum:
        weights = ~weights if weights.dtype.kind == "i" else -weights
    first = None
    if asked.partition is not None:
        marks = [one.get(asked.partition) for one in attributes]
        included, excluded = nx.EdgePartition.INCLUDED, nx.EdgePartition.EXCLUDED
        first = np.fromiter((mark == included for mark in marks), bool, len(marks))
        places = places[~np.fromiter((mark == excluded for mark in marks), bool, len(marks))[places]]
    order, ranks = by_weight(ArcList(tails[places], heads[places], weights[places], len(graph)))
    if first is not None:
        # Those included come before all others, by their place.
        keys = np.where(first[places], np.arange(len(places)), ranks.astype(np.int64) + len(places))
        order, ranks = by_weight(ArcList(tails[places], heads[places], keys, len(graph)))
    arcs = ArcList(tails[places], heads[places], ranks, len(graph), False, one_sided=True)
    return places[order], arcs


def _edge_tuples(graph: ConvertedGraph, places: NDArray[np.int64], with_keys: bool, with_data: bool) -> Iterator[Any]:
    """Return edges as NetworkX's tuples, the attributes being the graph's own."""
    tails, heads, keys, attributes = graph.edges
    parts = [named(graph.nodes, tails[places]), named(graph.nodes, heads[places])]
    at = places.tolist()
    if keys is not None and with_keys:
        parts.append(map(keys.__getitem__, at))
    if with_data:
        parts.append(map(attributes.__getitem__, at))
    return zip(*parts, strict=True)


def _yielded(graph: ConvertedGraph, asked: _Asked, keys: bool, data: bool) -> Iterator[Any]:
    """Return the edges; what NetworkX raises with the first edge is raised then, what is declined at once."""
    with call_profile.call("networkx spanning edges", graph.device_kind):
        try:
            places = _forest(graph, asked)
        except ValueError as error:
            return _raised(error)
        with call_profile.phase("back"):
            return _edge_tuples(graph, places, keys, data)


def _raised(error: ValueError) -> Iterator[Any]:
    yield from ()
    raise error


def _grown(graph: ConvertedGraph, asked: _Asked, name: str) -> Any:
    """Return the forest as a graph of the original's class."""
    with call_profile.call(f"networkx.{name}", graph.device_kind):
        places = _forest(graph, asked)
        with call_profile.phase("back"), uncollected():
            original = graph.original
            tree = original.__class__()
            tree.graph.update(original.graph)
            if type(tree) is not nx.Graph:
                tree.add_nodes_from(original.nodes.items())
                tree.add_edges_from(_edge_tuples(graph, places, True, True))
                return tree
            # What these two methods do, without asking of every node and edge whether it is there already.
            tree._node.update({node: dict(attributes) for node, attributes in original._node.items()})
            adjacency = tree._adj
            adjacency.update({node: {} for node in tree._node})
            for u, v, attributes in _edge_tuples(graph, places, True, True):
                adjacency[u][v] = adjacency[v][u] = dict(attributes)
            return tree
