"""NetworkX's functions of Dijkstra's algorithm, as its file ``weighted.py`` has them."""

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import networkx as nx

from gpugraph.ext.networkx import info
from gpugraph.ext.networkx.graph import ConvertedGraph, by_name
from gpugraph.ext.networkx.paths import Paths, goal_of, length_of, lengths_of, lists_of, nearest, vertex_of
from gpugraph.ext.python import call_profile

Given = dict[str, Any]
"""The arguments of a call by NetworkX's names: ``G``, ``source`` or ``sources``, ``target``, ``cutoff``, ``weight``."""


def _sources(given: Given) -> Any:
    """Return the sources, one in a set as NetworkX has it: what cannot be hashed is a TypeError."""
    return given["sources"] if "sources" in given else {given["source"]}


def _starts(given: Given) -> list[int]:
    """Return the vertices of the sources; raise what NetworkX raises where there are none."""
    if not (sources := _sources(given)):
        raise ValueError("sources must not be empty")
    return [vertex_of(given["G"], source) for source in sources]


def _lengths_and_paths(given: Given) -> tuple[Any, Any]:
    """Return lengths and paths by node from the nearest source, or the length and the path of the target."""
    graph, target, starts = given["G"], given.get("target"), _starts(given)
    if target in _sources(given):
        return 0, [target]
    found = nearest(graph, starts, given["weight"], target, given.get("cutoff"))
    if target is None:
        return lengths_of(graph, found), Paths(graph, found)
    goal = goal_of(graph, target)
    if goal is None or found.place[goal] < 0:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return length_of(found, goal), Paths(graph, found)[target]


def _lengths(given: Given) -> dict[Hashable, float]:
    """Return the lengths by node."""
    starts = _starts(given)
    return lengths_of(given["G"], nearest(given["G"], starts, given["weight"], None, given["cutoff"]))


def _length(given: Given) -> float:
    """Return the length of the path to the target."""
    graph, source, target = given["G"], given["source"], given["target"]
    starts = [vertex_of(graph, source)]
    if target in {source}:
        return 0
    goal, found = goal_of(graph, target), nearest(graph, starts, given["weight"], target)
    if goal is None or found.place[goal] < 0:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return length_of(found, goal)


def _predecessors_and_lengths(given: Given) -> tuple[dict[Hashable, list[Hashable]], dict[Hashable, float]]:
    """Return all predecessors on shortest paths, and lengths."""
    graph = given["G"]
    starts = [vertex_of(graph, given["source"], "Node {} is not found in the graph")]
    found = nearest(graph, starts, given["weight"], None, given["cutoff"])
    return lists_of(graph, graph.rows(given["weight"]), found, given["cutoff"]), lengths_of(graph, found)


_ANSWERS: dict[str, Callable[[Given], object]] = {
    **dict.fromkeys(("multi_source_dijkstra", "single_source_dijkstra"), _lengths_and_paths),
    **dict.fromkeys(
        ("multi_source_dijkstra_path", "single_source_dijkstra_path", "dijkstra_path"),
        lambda given: _lengths_and_paths(given)[1],
    ),
    **dict.fromkeys(("multi_source_dijkstra_path_length", "single_source_dijkstra_path_length"), _lengths),
    "dijkstra_path_length": _length,
    "dijkstra_predecessor_and_distance": _predecessors_and_lengths,
}


def _answered(name: str, given: Given) -> object:
    with call_profile.call(f"networkx.{name}", given["G"].device_kind):
        return _ANSWERS[name](given)


def _function(name: str) -> Callable[..., object]:
    """Return the function of a name as NetworkX has it."""
    arguments_of = by_name(getattr(nx, name))
    return lambda *arguments, **named: _answered(name, arguments_of(*arguments, **named))


def _for_each_node(name: str) -> Callable[..., Iterator[tuple[Hashable, object]]]:
    """Return a function that gives an iterator over each node with what the function of a name returns for it.

    The weights are read before the first node is asked for: NetworkX takes a call back only until it has an answer.
    """

    def of_all(
        G: ConvertedGraph, cutoff: float | None = None, weight: Hashable = "weight"
    ) -> Iterator[tuple[Hashable, object]]:
        G.rows(weight)
        given: Given = {"G": G, "cutoff": cutoff, "weight": weight}
        return ((node, _answered(name, given | {"source": node})) for node in G.nodes)

    return of_all


FUNCTIONS = {name: _function(name) for name in _ANSWERS}
FUNCTIONS |= {
    name: _for_each_node(name.replace("all_pairs", "single_source"))
    for name in info.FUNCTIONS
    if name.startswith("all_pairs")
}
