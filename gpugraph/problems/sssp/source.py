"""From what the user writes after ``--source`` to the vertices to search from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import InputError, unknown_name
from gpugraph.graph.csr import CSRGraph

DEFAULT = "max-degree"
_FORMS = ("max-degree", "random:K", "name:ID", "a vertex number")


def resolve_sources(graph: CSRGraph, parameters: Mapping[str, Any]) -> list[int]:
    """Return the source vertices that ``parameters["source"]`` asks for.

    Args:
        graph: the graph.
        parameters: ``source``: an integer or its text, a 0-based vertex; ``"name:17"``, the file's own id;
            ``"max-degree"`` (the default), the smallest vertex of greatest out-degree; ``"random:K"``, K
            vertices with out-arcs, distinct while there are that many, drawn by ``seed`` (default 1).

    Raises:
        InputError: no such vertex, nothing to draw from, or not of any of these forms.
    """
    if graph.vertices == 0:
        raise InputError("the graph has no vertex to start from", where=graph.name, remedy="give another graph")
    source = parameters.get("source")
    text = DEFAULT if source is None else str(source).strip()
    if text == "max-degree":
        return [int(np.argmax(graph.degrees))]
    kind, colon, rest = text.partition(":")
    if colon and kind == "name":
        return [_by_name(graph, rest)]
    if colon and kind == "random":
        return _at_random(graph, _whole(rest, "the K of --source random:K"), _seed(parameters))
    if not _is_whole(text):
        raise unknown_name("source", text, _FORMS)
    vertex = int(text)
    if not 0 <= vertex < graph.vertices:
        raise InputError(
            f"source {vertex} is not a vertex",
            where=graph.name,
            remedy=f"vertices run from 0 to {graph.vertices - 1}",
        )
    return [vertex]


def _is_whole(text: str) -> bool:
    """True for the decimal text of an integer that no message would be too long for."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isascii() and digits.isdigit() and len(digits) <= 30


def _whole(text: str, what: str) -> int:
    """Return the integer that ``text`` stands for, at least 1."""
    if not _is_whole(text) or int(text) < 1:
        raise InputError(f"{what} is '{text}'", remedy="give a whole number from 1 on")
    return int(text)


def _seed(parameters: Mapping[str, Any]) -> int:
    """Return the seed, 1 where none is given."""
    seed = parameters.get("seed")
    if seed is None:
        return 1
    if not _is_whole(str(seed)):
        raise InputError(f"the seed is '{seed}'", remedy="give a whole number")
    return int(seed)


def _by_name(graph: CSRGraph, name: str) -> int:
    """Return the vertex that the file calls ``name``."""
    names = graph.vertex_names
    if names is None:
        raise InputError(
            f"the file has no vertex names, so there is none called '{name}'",
            where=graph.name,
            remedy=f"give a vertex number from 0 to {graph.vertices - 1}",
        )
    known = f"names run from {names[0]} to {names[-1]}"
    wanted: Any = name
    if names.dtype.kind in "iu":
        if not _is_whole(name):
            raise InputError(f"no vertex is called '{name}'", where=graph.name, remedy=known)
        wanted = int(name)
        info = np.iinfo(names.dtype)
        if not info.min <= wanted <= info.max:
            raise InputError(f"no vertex is called {name}", where=graph.name, remedy=known)
        wanted = names.dtype.type(wanted)
    at = int(np.searchsorted(names, wanted))
    if at == len(names) or names[at] != wanted:
        raise InputError(f"no vertex is called {name}", where=graph.name, remedy=known)
    return at


def _at_random(graph: CSRGraph, count: int, seed: int) -> list[int]:
    """Return ``count`` vertices with out-arcs: those whose hashes are least, so that more extend fewer."""
    candidates = np.flatnonzero(graph.degrees)
    if len(candidates) == 0:
        raise InputError("no vertex has an arc to start along", where=graph.name, remedy="give a vertex number")
    if count > 2**20:
        raise InputError(f"random:{count} asks for too many sources", remedy="give at most 1048576")
    keys = _hash(candidates, seed)
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
