"""Sources: the vertices to search from, of what the user gave."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GpuGraphWarning, InputError, shown, unknown_name
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph, printed
from gpugraph.graph.sources import other_files
from gpugraph.problems import SourceList

DEFAULT = "max-degree"
PUBLISHED = "published"
ALL = "all"
SOURCE_FILES = (".ss", ".p2p")
"""Endings of files that list sources, as the 9th DIMACS challenge has them."""
_FORMS = ("max-degree", "random:K", "name:ID", "index:N", PUBLISHED, ALL, "a file.ss or file.p2p", "a vertex number")


def resolve_sources(graph: CSRGraph, parameters: Mapping[str, Any]) -> list[int]:
    """Return the source vertices that ``parameters["source"]`` asks for.

    It is an integer or its text, a 0-based vertex; ``"index:17"``, the same; ``"name:17"``, the file's own id; ``"max-
    degree"`` (the default), the smallest vertex of greatest out-degree; ``"random:K"``, K vertices with out-arcs,
    distinct while there are that many, drawn by ``seed`` (default 1); the path of a ``.ss`` or ``.p2p`` file of the 9th
    DIMACS challenge, the sources that it lists; ``"published"``, the one whose distances were published with the graph;
    ``"all"``, every vertex; or ``SourceList`` of these.

    Where the vertex names are the nodes of a NetworkX graph, a source that is a node means that node, whatever it looks
    like; an integer or its text that is none is refused; ``"name:17"`` is the node printed so.

    Raises InputError for no such vertex, nothing to draw from, or none of these forms.
    """
    if graph.vertices == 0:
        raise InputError("the graph has no vertex to start from", where=graph.name, remedy="give another graph")
    source = parameters.get("source")
    if (vertex := _by_node(graph, source)) is not None:
        return [vertex]
    if isinstance(source, SourceList):
        return [vertex for one in source for vertex in resolve_sources(graph, {**parameters, "source": one})]
    if (number := _as_integer(source)) is not None:
        if _has_nodes(graph):
            remedy = "name:ID is the node printed so, index:N the vertex of that number"
            raise InputError(f"{shown(source)} is not a node of the graph", where=graph.name, remedy=remedy)
        _tell_apart(graph, number)
        return [_by_number(graph, number)]
    if source is not None and not isinstance(source, str):
        what = f"the source {shown(source)} is neither a node of the graph, nor a number, nor a text"
        raise InputError(what, where=graph.name, remedy=f"give one of: {', '.join(_FORMS)}")
    return _by_text(graph, DEFAULT if source is None else source, parameters)


def _by_text(graph: CSRGraph, source: str, parameters: Mapping[str, Any]) -> list[int]:
    """Return the vertices of a text that is no number."""
    kind, colon, rest = source.lstrip().partition(":")
    if colon and kind == "name":
        return [_by_name(graph, rest)]
    text, rest = kind.rstrip() + colon + rest.rstrip(), rest.rstrip()
    whole: dict[str, Callable[[], list[int]]] = {
        DEFAULT: lambda: [_of_greatest_degree(graph)],
        PUBLISHED: lambda: [_of_the_published(graph)],
        ALL: lambda: list(range(graph.vertices)),
    }
    if text in whole:
        return whole[text]()
    if text.lower().endswith(SOURCE_FILES):
        ids = other_files().read_sources(text)
        numbered = graph.vertex_names is None
        return [_by_number(graph, one) if numbered else _by_name(graph, str(one)) for one in ids]
    if colon and kind == "index":
        if not _is_whole(rest):
            raise InputError(f"the N of index:N is '{rest}'", remedy="give a whole number from 0 on")
        return [_by_number(graph, int(rest))]
    if colon and kind == "random":
        if not _is_whole(rest) or int(rest) < 1:
            raise InputError(f"the K of --source random:K is '{rest}'", remedy="give a whole number from 1 on")
        return _at_random(graph, int(rest), parameters.get("seed"))
    if _has_nodes(graph):
        raise _unknown(graph, text)
    if graph.vertex_names is not None and text in graph.numbers:
        raise InputError(f"unknown source '{text}'", where=graph.name, remedy=f"did you mean 'name:{text}'?")
    raise unknown_name("source", text, _FORMS)


def _of_the_published(graph: CSRGraph) -> int:
    """Return the vertex from which distances were published."""
    answer = graph.answers.get("SSSP")
    if answer is None or answer.start is None:
        remedy = "give a vertex; only graphs of LDBC Graphalytics, as they are, come with distances"
        raise InputError("no distances were published with this graph", where=graph.name, remedy=remedy)
    return answer.start if graph.vertex_names is None else _by_name(graph, str(answer.start))


def source_list(sources: object) -> SourceList | str:
    """Return a list or an array of sources, ``"all"`` or ``"random:K"`` as a source; raise InputError for others."""
    if isinstance(sources, str):
        return sources
    if isinstance(sources, np.ndarray) and sources.ndim == 1:
        sources = sources.tolist()
    if not isinstance(sources, list | tuple | range) or not len(sources):
        what = f"sources is {shown(sources)}"
        raise InputError(what, remedy="give a list or an array of them, 'random:K' or 'all'")
    return SourceList(sources)


def one_of(source: object, sources: object) -> None:
    """Refuse one source and several at once."""
    if source is not None and sources is not None:
        raise InputError("both source and sources are given", remedy="give one of them")


def is_several(graph: CSRGraph, source: object) -> bool:
    """Tell whether a source is ``"random:K"`` or a file of sources, and no node that is called so."""
    if not isinstance(source, str) or _by_node(graph, source) is not None:
        return False
    return source.lstrip().startswith("random:") or source.lower().rstrip().endswith(SOURCE_FILES)


def _has_nodes(graph: CSRGraph) -> bool:
    """Tell whether the graph's vertices are called by the nodes of a NetworkX graph."""
    return graph.vertex_names is not None and graph.vertex_names.dtype == object


def _of_greatest_degree(graph: CSRGraph) -> int:
    """Return the first vertex of greatest degree."""
    degrees = graph.degrees
    firsts = in_threads(lambda low, high: low + int(np.argmax(degrees[low:high])), even_ranges(len(degrees)))
    return firsts[int(np.argmax(degrees[firsts]))]


def _by_node(graph: CSRGraph, source: object) -> int | None:
    """Return the vertex that is the node ``source`` of a NetworkX graph, or None."""
    try:
        return graph.numbers.get(source) if _has_nodes(graph) else None
    except Exception:  # what cannot be hashed, or cannot be compared, is no node
        return None


def _as_integer(source: object) -> int | None:
    """Return an integer of Python or NumPy, or the decimal text of one; None for anything else, True among it."""
    if isinstance(source, str):
        return int(source) if _is_whole(source.strip()) else None
    return int(source) if isinstance(source, int | np.integer) and not isinstance(source, bool) else None


def _by_number(graph: CSRGraph, vertex: int) -> int:
    if not 0 <= vertex < graph.vertices:
        remedy = f"vertices run from 0 to {graph.vertices - 1}"
        if graph.vertex_names is not None:
            remedy += f"; the file's own ids are asked for by name: --source name:{vertex}"
        raise InputError(f"source {shown(vertex)} is not a vertex", where=graph.name, remedy=remedy)
    return vertex


def _tell_apart(graph: CSRGraph, vertex: int) -> None:
    """Warn where a number is a vertex and, as the file has it, the id of another."""
    names = graph.vertex_names
    if names is None or names.dtype.kind not in "iu" or not 0 <= vertex < graph.vertices:
        return
    at = int(np.searchsorted(names, vertex))
    if at < len(names) and names[at] == vertex != names[vertex]:
        what = f"source {vertex} is what the file calls {names[vertex]}; what it calls {vertex} is name:{vertex}"
        warnings.warn(what, GpuGraphWarning, stacklevel=2)


def _is_whole(text: str) -> bool:
    """True for the decimal text of an integer that no message would be too long for."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isascii() and digits.isdigit() and len(digits) <= 30


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
        if not _is_whole(name) or not info.min <= int(name) <= info.max:
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


def _at_random(graph: CSRGraph, count: int, seed: object) -> list[int]:
    """Return ``count`` vertices with out-arcs: those whose hashes are least, so that more extend fewer."""
    text = "1" if seed is None else str(seed)
    if not _is_whole(text):
        raise InputError(f"the seed is '{text}'", remedy="give a whole number")
    candidates = np.flatnonzero(graph.degrees)
    if len(candidates) == 0:
        raise InputError("no vertex has an arc to start along", where=graph.name, remedy="give a vertex number")
    if count > 2**20:
        raise InputError(f"random:{count} asks for too many sources", remedy="give at most 1048576")
    keys = _hash(candidates, int(text))
    few = min(count, len(candidates))
    nearest = np.argpartition(keys, few - 1)[:few]
    chosen = candidates[nearest[np.argsort(keys[nearest])]].tolist()
    return [int(chosen[i % few]) for i in range(count)]


def _hash(vertices: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each vertex: a bijection for every seed, so no two are equal.

    Source: Steele, Lea & Flood, Fast splittable pseudorandom number generators (2014), figure 16: mix64.
    """
    with np.errstate(over="ignore"):
        x = vertices.astype(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15) % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return x ^ (x >> np.uint64(31))
