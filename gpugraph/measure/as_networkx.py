"""Results as NetworkX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.errors import InputError
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.sssp.distances import Distances


def to_networkx(result: Forest | Distances) -> Any:
    """Return a result as a NetworkX graph.

    Its nodes are those of the NetworkX graph that was solved, the very objects, or the file's own ids where it had
    some, else 0, 1, ….

    A forest gives a ``Graph`` with the attribute ``weight`` on every edge.  Distances give the shortest-path
    tree as a ``DiGraph``, each arc leading away from the source, with ``weight`` on every arc and ``distance``
    on every reached vertex; vertices that are not reached stand alone.

    Raises:
        InputError: NetworkX is not installed, or ``result`` is neither a forest nor distances.
    """
    if not isinstance(result, Forest | Distances):
        several = isinstance(result, list | tuple)
        remedy = "convert them one by one" if several else "give what mst or sssp returned"
        raise InputError(f"a {type(result).__name__} is neither a forest nor distances", remedy=remedy)
    try:
        import networkx
    except ImportError:
        raise InputError("NetworkX is not installed", remedy="pip install networkx") from None
    graph = result.graph
    names = np.arange(graph.vertices) if graph.vertex_names is None else graph.vertex_names
    nodes = names.tolist()
    if isinstance(result, Forest):
        forest = networkx.Graph(total_weight=result.total_weight)
        forest.add_nodes_from(nodes)
        u, v = result.endpoints()
        weights = graph.weights[result.edges].tolist()
        forest.add_weighted_edges_from(zip(names[u].tolist(), names[v].tolist(), weights, strict=True))
        return forest
    tree = networkx.DiGraph(source=nodes[result.source])
    tree.add_nodes_from(nodes)
    reached = np.flatnonzero(result.reached)
    for vertex, distance in zip(reached.tolist(), result.distance[reached].tolist(), strict=True):
        tree.nodes[nodes[vertex]]["distance"] = distance
    tails, heads, weights = _tree_arcs(result)
    tree.add_weighted_edges_from(zip(names[tails].tolist(), names[heads].tolist(), weights.tolist(), strict=True))
    return tree


def _tree_arcs(result: Distances) -> tuple[Any, Any, Any]:
    """Return tails, heads and weights of the arcs from each predecessor to its vertex."""
    from gpugraph.graph.canonical import find_arc

    graph, predecessor = result.graph, result.with_predecessors().predecessor
    assert predecessor is not None
    heads = np.flatnonzero(predecessor >= 0)
    tails = predecessor[heads]
    at = [find_arc(graph.offsets, graph.targets, u, v) for u, v in zip(tails.tolist(), heads.tolist(), strict=True)]
    return tails, heads, graph.weights[np.array(at, np.int64)]
