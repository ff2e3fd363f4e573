"""Sources of searches by the names of vertices, and by what comes with a graph or beside it."""

import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpugraph.base.errors import GpuGraphWarning, InputError, shown, unknown_name
from gpugraph.ext.formats.dimacs import read_sources
from gpugraph.graph.csr import CSRGraph, printed
from gpugraph.problems import SourceList
from gpugraph.problems.sources import ALL, DEFAULT, SOURCE_FILES, as_integer, by_form, by_number, is_whole

PUBLISHED = "published"
LEAST_SHARE = 0.1
"""Of the vertices, those that a source of ``wide:K`` reaches at least."""

_TRIED = 64
"""Vertices that are tried for each of them; the widest of these is taken where none reaches as many."""

_WIDE: "weakref.WeakKeyDictionary[CSRGraph, dict[tuple[int, str], list[int]]]" = weakref.WeakKeyDictionary()
"""Those of a graph by their number and seed: a comparison asks for them once a program."""

_FORMS = (
    DEFAULT,
    "random:K",
    "wide:K",
    "name:ID",
    "index:N",
    PUBLISHED,
    ALL,
    "a file.ss or file.p2p",
    "a vertex number",
)


def named_sources(graph: CSRGraph, parameters: Mapping[str, Any]) -> list[int]:
    """Return the source vertices that ``parameters["source"]`` asks for; see ``problems/sources.py``."""
    source = parameters.get("source")
    if isinstance(source, SourceList):  # equal to a tuple of the same, which may be a node
        if not source:
            raise InputError("no source is named", where=graph.name, remedy=f"give one of: {', '.join(_FORMS)}")
        return [vertex for one in source for vertex in named_sources(graph, {**parameters, "source": one})]
    if (vertex := by_node(graph, source)) is not None:
        return [vertex]
    if (number := as_integer(source)) is not None:
        if _has_nodes(graph):
            remedy = "name:ID is the node printed so, index:N the vertex of that number"
            raise InputError(f"{shown(source)} is not a node of the graph", where=graph.name, remedy=remedy)
        _tell_apart(graph, number)
        return [by_number(graph, number)]
    if (found := by_form(graph, source, parameters)) is not None:
        return found
    if not isinstance(source, str):
        what = f"the source {shown(source)} is neither a node of the graph, nor a number, nor a text"
        raise InputError(what, where=graph.name, remedy=f"give one of: {', '.join(_FORMS)}")
    kind, colon, rest = source.lstrip().partition(":")
    if colon and kind == "name":
        return [_by_name(graph, rest)]
    if colon and kind == "wide" and is_whole(rest) and int(rest) > 0:
        return _wide(graph, int(rest), parameters)
    text = kind.rstrip() + colon + rest.rstrip()
    if text == PUBLISHED:
        return [_of_the_published(graph)]
    if text.lower().endswith(SOURCE_FILES):
        ids = read_sources(text)
        numbered = graph.vertex_names is None
        if numbered and 0 not in ids:
            what = f"{text}: ids are taken to count from 0, as the vertices of {graph.name} do; DIMACS counts from 1"
            warnings.warn(what, GpuGraphWarning, stacklevel=2)
        try:
            return [by_number(graph, one) if numbered else _by_name(graph, str(one)) for one in ids]
        except InputError as error:
            raise InputError(error.what, where=text, remedy=error.remedy) from None
    if _has_nodes(graph):
        raise _unknown(graph, text)
    if graph.vertex_names is not None and text in graph.numbers:
        raise InputError(f"unknown source '{text}'", where=graph.name, remedy=f"did you mean 'name:{text}'?")
    raise unknown_name("source", text, _FORMS)


def _wide(graph: CSRGraph, count: int, parameters: Mapping[str, Any]) -> list[int]:
    """Return vertices drawn as for ``random:K`` that reach a tenth of the vertices; each other one is drawn again."""
    known, asked = _WIDE.setdefault(graph, {}), (count, str(parameters.get("seed")))
    if asked in known:
        return known[asked]
    reach, reached, found = _reach(graph), dict[int, int](), list[int]()
    for vertex in dict.fromkeys(by_form(graph, f"random:{min(count * _TRIED, 2**20)}", parameters) or []):
        reached[vertex] = reach(vertex)
        found += [vertex] if reached[vertex] >= LEAST_SHARE * graph.vertices else []
        if len(found) == count:
            break
    found = found or [max(reached, key=lambda one: reached[one])]
    known[asked] = [found[i % len(found)] for i in range(count)]
    return known[asked]


def _reach(graph: CSRGraph) -> Callable[[int], int]:
    """Return the function that counts the vertices with a path from a vertex, itself included."""
    from scipy.sparse import csgraph, csr_array

    parts = (np.ones(graph.arcs, np.int8), graph.targets, graph.offsets)
    matrix = csr_array(parts, shape=(graph.vertices, graph.vertices))
    if graph.directed:
        return lambda vertex: len(csgraph.breadth_first_order(matrix, vertex, return_predecessors=False))
    labels = csgraph.connected_components(matrix, directed=False)[1]
    sizes = np.bincount(labels)
    return lambda vertex: int(sizes[labels[vertex]])


def _of_the_published(graph: CSRGraph) -> int:
    """Return the vertex from which distances were published."""
    answer = graph.answers.get("SSSP")
    if answer is None or answer.start is None:
        remedy = "give a vertex; only graphs of LDBC Graphalytics, as they are, come with distances"
        raise InputError("no distances were published with this graph", where=graph.name, remedy=remedy)
    return answer.start if graph.vertex_names is None else _by_name(graph, str(answer.start))


def _has_nodes(graph: CSRGraph) -> bool:
    """Tell whether the graph's vertices are called by the nodes of a NetworkX graph."""
    return graph.vertex_names is not None and graph.vertex_names.dtype == object


def by_node(graph: CSRGraph, source: object) -> int | None:
    """Return the vertex that is the node ``source`` of a NetworkX graph, or None."""
    try:
        return graph.numbers.get(source) if _has_nodes(graph) else None
    except Exception:  # what cannot be hashed, or cannot be compared, is no node
        return None


def _tell_apart(graph: CSRGraph, vertex: int) -> None:
    """Warn where a number is a vertex and, as the file has it, the id of another."""
    names = graph.vertex_names
    if names is None or names.dtype.kind not in "iu" or not 0 <= vertex < graph.vertices:
        return
    at = int(np.searchsorted(names, vertex))
    if at < len(names) and names[at] == vertex != names[vertex]:
        what = f"source {vertex} is what the file calls {names[vertex]}; what it calls {vertex} is name:{vertex}"
        warnings.warn(what, GpuGraphWarning, stacklevel=2)


def _by_name(graph: CSRGraph, name: str) -> int:
    """Return the vertex that the file calls ``name``, or whose node is printed so."""
    names = graph.vertex_names
    if names is None:
        what = f"the graph has no vertex names, so there is none called '{name}'"
        raise InputError(what, where=graph.name, remedy=f"give a vertex number from 0 to {graph.vertices - 1}")
    if names.dtype == object:
        return _by_print(graph, name)
    name = name.strip()
    wanted: Any = name
    if names.dtype.kind in "iu":
        info = np.iinfo(names.dtype)
        if not is_whole(name) or not info.min <= int(name) <= info.max:
            raise _unknown(graph, name)
        wanted = names.dtype.type(int(name))
    at = int(np.searchsorted(names, wanted))
    if at == len(names) or names[at] != wanted:
        raise _unknown(graph, name)
    return at


def _by_print(graph: CSRGraph, name: str) -> int:
    """Return the vertex whose node reads ``name``, or else the one whose repr does."""
    nodes = graph.numbers.items()
    for how in (str, repr):
        if not (found := [vertex for node, vertex in nodes if printed(node, how) == name]):
            continue
        if len(found) == 1:
            return found[0]
        few = [f"{printed(graph.vertex_names[v], repr)} is index:{v}" for v in found[:3]]  # type: ignore[index]
        what = f"{len(found)} nodes are printed as '{name}'"
        raise InputError(what, where=graph.name, remedy=f"give the node itself, or its number: {', '.join(few)}")
    raise _unknown(graph, name)


def _unknown(graph: CSRGraph, name: str) -> InputError:
    """Return the error for a name that no vertex has."""
    known = f"names run from {graph.name_of(0)} to {graph.name_of(graph.vertices - 1)}"
    return InputError(f"no vertex is called '{name}'", where=graph.name, remedy=known)
