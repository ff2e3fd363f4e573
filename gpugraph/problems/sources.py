"""Sources: the vertices to search from, of what the user gave; those by name are resolved by ``ext/formats``."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError, shown
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.sources import other_files
from gpugraph.problems import SourceList

DEFAULT = "max-degree"
ALL = "all"
SOURCE_FILES = (".ss", ".p2p")
"""Endings of files that list sources, as the 9th DIMACS challenge has them."""


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
    if graph.vertex_names is None:
        if isinstance(source, SourceList) and source:
            return [vertex for one in source for vertex in resolve_sources(graph, {**parameters, "source": one})]
        if (number := as_integer(source)) is not None:
            return [by_number(graph, number)]
        if (found := by_form(graph, source, parameters)) is not None:
            return found
    return other_files().named_sources(graph, parameters)


def by_form(graph: CSRGraph, source: object, parameters: Mapping[str, Any]) -> list[int] | None:
    """Return the vertices of a text that means some in every graph, and of None, the default; None for any other."""
    if source is None:
        source = DEFAULT
    if not isinstance(source, str) or source.rstrip().lower().endswith(SOURCE_FILES):
        return None
    kind, colon, rest = (part.rstrip() for part in source.lstrip().partition(":"))
    if not colon and kind == DEFAULT:
        return [_of_greatest_degree(graph)]
    if not colon and kind == ALL:
        return list(range(graph.vertices))
    if colon and kind == "index":
        if not is_whole(rest):
            raise InputError(f"the N of index:N is '{rest}'", remedy="give a whole number from 0 on")
        return [by_number(graph, int(rest))]
    if colon and kind == "random":
        if not is_whole(rest) or int(rest) < 1:
            raise InputError(f"the K of --source random:K is '{rest}'", remedy="give a whole number from 1 on")
        return _at_random(graph, int(rest), parameters.get("seed"))
    return None


def _of_greatest_degree(graph: CSRGraph) -> int:
    """Return the first vertex of greatest degree."""
    degrees = graph.degrees
    firsts = in_threads(lambda low, high: low + int(np.argmax(degrees[low:high])), even_ranges(len(degrees)))
    return firsts[int(np.argmax(degrees[firsts]))]


def as_integer(source: object) -> int | None:
    """Return an integer of Python or NumPy, or the decimal text of one; None for anything else, True among it."""
    if isinstance(source, str):
        return int(source) if is_whole(source.strip()) else None
    return int(source) if isinstance(source, int | np.integer) and type(source) not in (bool, np.timedelta64) else None


def by_number(graph: CSRGraph, vertex: int) -> int:
    """Return the vertex of a number; raise InputError where there is none."""
    if not 0 <= vertex < graph.vertices:
        remedy = f"vertices run from 0 to {graph.vertices - 1}"
        if graph.vertex_names is not None:
            remedy += f"; the file's own ids are asked for by name: --source name:{vertex}"
        raise InputError(f"source {shown(vertex)} is not a vertex", where=graph.name, remedy=remedy)
    return vertex


def is_whole(text: str) -> bool:
    """True for the decimal text of an integer that no message would be too long for."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isascii() and digits.isdigit() and len(digits) <= 30


def _at_random(graph: CSRGraph, count: int, seed: object) -> list[int]:
    """Return ``count`` vertices with out-arcs: those whose hashes are least, so that more extend fewer."""
    text = "1" if seed is None else str(seed)
    if not is_whole(text):
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
