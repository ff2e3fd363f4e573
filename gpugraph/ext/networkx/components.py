"""Connected components of NetworkX graphs, in the order in which their first nodes come."""

from collections.abc import Callable, Hashable, Iterator
from itertools import pairwise

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from gpugraph.ext.components.labels import Components
from gpugraph.ext.networkx.graph import ConvertedGraph, device, named, way_to_verify
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.resident_graph import ResidentGraph
from gpugraph.graph.build import ArcList


def connected_components(G: ConvertedGraph) -> Iterator[set[Hashable]]:
    """Yield the nodes of each component."""
    with call_profile.call("networkx.connected_components", G.device_kind):
        found = _found(G)
        with call_profile.phase("back"):
            order = np.argsort(found.labels, kind="stable")
            nodes = list(named(G.nodes, order))
            cuts = [*np.searchsorted(found.labels[order], found.roots).tolist(), len(nodes)]
    for start, stop in pairwise(cuts):
        yield set(nodes[start:stop])


def number_connected_components(G: ConvertedGraph) -> int:
    """Return the number of components."""
    with call_profile.call("networkx.number_connected_components", G.device_kind):
        return _found(G).components


def is_connected(G: ConvertedGraph) -> bool:
    """Tell whether there is one component."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    with call_profile.call("networkx.is_connected", G.device_kind):
        return _found(G).components == 1


def node_connected_component(G: ConvertedGraph, n: Hashable) -> set[Hashable]:
    """Return the nodes of the component of a node."""
    if n not in G:
        raise KeyError(n)
    with call_profile.call("networkx.node_connected_component", G.device_kind):
        labels: NDArray[np.int64] = _found(G).labels
        with call_profile.phase("back"):
            return set(named(G.nodes, np.flatnonzero(labels == labels[G.number[n]])))


def _found(graph: ConvertedGraph) -> Components:
    def made() -> ResidentGraph:
        tails, heads = graph.edge_ends
        return ResidentGraph(ArcList(tails, heads, None, len(graph), False, one_sided=True), device(), way_to_verify())

    with graph.in_turns:
        held: ResidentGraph = graph.kept("components", made)
        return held.components()


FUNCTIONS: dict[str, Callable[..., object]] = {
    **dict.fromkeys(("connected_components", "weakly_connected_components"), connected_components),
    **dict.fromkeys(("number_connected_components", "number_weakly_connected_components"), number_connected_components),
    **dict.fromkeys(("is_connected", "is_weakly_connected"), is_connected),
    "node_connected_component": node_connected_component,
}
