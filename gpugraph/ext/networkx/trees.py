"""Spanning trees of NetworkX graphs: Kruskal's, tie for tie, in the order in which NetworkX yields their edges.

Edges are ranked by weight, equal ones by their place in ``list(G.edges)``; no two ranks are equal, so that every
algorithm on every device finds the one forest that Kruskal's algorithm takes.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from networkx.algorithms.tree import mst
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.ext.networkx import info
from gpugraph.ext.networkx.graph import ConvertedGraph, Declined, by_name, device, named, uncollected, way_to_verify
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.inputs import by_weight
from gpugraph.ext.python.resident_graph import ResidentGraph
from gpugraph.graph.build import ArcList

Edge = tuple[Any, ...]
"""As NetworkX has it: two nodes, perhaps a key, perhaps attributes."""

ALGORITHMS = ("boruvka", "borůvka", "kruskal", "prim")


class _Asked(NamedTuple):
    """Which forest is asked for: its edges are compared by an attribute, upwards or downwards."""

    minimum: bool
    weight: Hashable
    ignore_nan: bool
    partition: Hashable = None


def _function(name: str) -> Callable[..., Iterator[Edge] | nx.Graph]:
    """Return the function of a name as NetworkX has it: one that yields the edges of a forest, or makes it a graph."""
    arguments_of = by_name(getattr(mst, name))

    def function(*arguments: object, **named: object) -> Iterator[Edge] | nx.Graph:
        given = arguments_of(*arguments, **named)
        graph: ConvertedGraph = given["G"]
        if "algorithm" in given:  # refused as NetworkX does, in its words
            if graph.directed:
                raise nx.NetworkXNotImplemented("not implemented for directed type")
            if given["algorithm"] not in ALGORITHMS:
                raise ValueError(f"{given['algorithm']} is not a valid choice for an algorithm.")
            if graph.multigraph and given["algorithm"] in ALGORITHMS[:2]:
                raise nx.NetworkXNotImplemented("not implemented for multigraph type")
        elif graph.directed and name in ("prim_mst_edges", "boruvka_mst_edges"):
            raise Declined("this algorithm on a directed graph means something else")
        minimum = given.get("minimum", name.startswith("minimum"))
        asked = _Asked(minimum, given["weight"], given["ignore_nan"], given.get("partition"))
        if name.endswith("_tree"):
            return _grown(graph, asked, name)
        return _yielded(graph, asked, given["keys"], given["data"])

    return function


def _forest(graph: ConvertedGraph, asked: _Asked) -> NDArray[np.int64]:
    """Return the places in ``list(G.edges)`` of the forest's edges, in the order in which Kruskal takes them."""

    def made() -> tuple[ResidentGraph, NDArray[np.int64]]:
        order, arcs = _ranked(graph, asked)
        return ResidentGraph(arcs, device(), way_to_verify()), order

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


def _edge_tuples(graph: ConvertedGraph, places: NDArray[np.int64], with_keys: bool, with_data: bool) -> Iterator[Edge]:
    """Return edges as NetworkX's tuples, the attributes being the graph's own."""
    tails, heads, keys, attributes = graph.edges
    parts: list[Iterator[Any]] = [named(graph.nodes, tails[places]), named(graph.nodes, heads[places])]
    at = places.tolist()
    if keys is not None and with_keys:
        parts.append(map(keys.__getitem__, at))
    if with_data:
        parts.append(map(attributes.__getitem__, at))
    return zip(*parts, strict=True)


def _yielded(graph: ConvertedGraph, asked: _Asked, keys: bool, data: bool) -> Iterator[Edge]:
    """Return the edges; what NetworkX raises with the first edge is raised then, what is declined at once."""
    with call_profile.call("networkx spanning edges", graph.device_kind):
        try:
            places = _forest(graph, asked)
        except InputError:
            raise
        except ValueError as error:
            return _raised(error)
        with call_profile.phase("back"):
            return _edge_tuples(graph, places, keys, data)


def _raised(error: ValueError) -> Iterator[Edge]:
    yield from ()
    raise error


def _grown(graph: ConvertedGraph, asked: _Asked, name: str) -> nx.Graph:
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


FUNCTIONS = {name: _function(name) for name in info.FUNCTIONS if hasattr(mst, name)}
