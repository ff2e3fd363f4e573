"""The NetworkX backend, found by its entry points: converts graphs, and decides which calls it takes."""

from collections.abc import Mapping
from typing import Any

import networkx as nx

from gpugraph.base.quantities import counted
from gpugraph.ext.networkx import components, trees, weighted
from gpugraph.ext.networkx.graph import ConvertedGraph
from gpugraph.ext.python import call_profile

PART_OF = {name: part for part in (trees, weighted, components) for name in part.FUNCTIONS}
globals().update({name: part.FUNCTIONS[name] for name, part in PART_OF.items()})

START_US = 400.0
"""What a call costs at least, in microseconds."""
CONVERSION_US = {trees: 0.35, weighted: 0.45, components: 0.2}
"""What the conversion of an edge costs, for each kind of function."""
NETWORKX_US = {trees: 4.0, weighted: 1.35, components: 0.18}
"""What NetworkX takes for an edge: for a forest, for paths from one source, for components."""
PAIRS = {"dijkstra_path", "dijkstra_path_length"}
"""Functions that ask for the path of one pair, where NetworkX's search ends early."""


def convert_from_nx(graph: nx.Graph | ConvertedGraph, *_attributes: object, **_more: Any) -> ConvertedGraph:
    """Return a NetworkX graph in arrays; attributes are read when a function asks for them.

    A view is converted for each call: NetworkX does not tell it, nor its cache, of changes of the graph that it shows.
    """
    if isinstance(graph, ConvertedGraph):
        return graph
    if getattr(graph, "_graph", None) is not None:
        graph.__networkx_cache__ = None  # as NetworkX has it of a graph that is not to be kept
    with call_profile.phase("convert"):
        return ConvertedGraph(graph)


def convert_to_nx(result: object, **_more: Any) -> object:
    """Return the NetworkX graph behind a converted one; anything else is NetworkX's already."""
    return result.original if isinstance(result, ConvertedGraph) else result


def can_run(name: str, arguments: tuple[object, ...], named: Mapping[str, object]) -> bool | str:
    """Tell whether a function can be computed here; else why not."""
    return name in PART_OF or f"gpugraph has no {name}"


def should_run(name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> bool | str:
    """Tell whether NetworkX would be slower; else what it would take."""
    graph = arguments[0] if arguments else named.get("G")
    if isinstance(graph, ConvertedGraph) or graph is None:
        return True
    edges = sum(map(len, graph._adj.values())) // (1 if graph.is_directed() else 2)
    kind = PART_OF[name]
    sources = len(graph) if name.startswith("all_pairs") else 1
    networkx_ms = NETWORKX_US[kind] * edges * sources / 1e3
    cache = getattr(graph, "__networkx_cache__", None) or {}  # None: the user wants none
    converted = bool(cache.get("backends", {}).get("gpugraph"))
    if name in PAIRS and not converted:
        return f"one pair of {edges} edges: NetworkX's search ends early, while the conversion reads every edge"
    ours_ms = (START_US * sources + (0 if converted else CONVERSION_US[kind] * edges)) / 1e3
    if networkx_ms < ours_ms:
        return f"{counted(edges, 'edge')}: NetworkX takes about {networkx_ms:.1f} ms, gpugraph about {ours_ms:.1f}"
    return True
