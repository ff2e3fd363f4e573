"""The first answers of handles, csgraph and the NetworkX backend are certified; also of searches that end early.

A search that ended at a goal or a cutoff is right if its source has distance 0, a tight arc leads to each vertex that
it reached, and no arc leads nearer to a vertex than it says, up to where it ended.  This is NumPy's work on the arcs as
they are, and shares nothing with the search.

Source: the optimality conditions of Ford, Network flow theory (1956).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import VerificationFailed, check_name, expect
from gpugraph.problems.contract import METHODS

WAYS = ("first", "all", "none", *METHODS)
"""Certify the first answer of each algorithm and type, every one, or none; or this one by a method."""


def check_way(verify: object) -> str:
    """Return ``verify`` if it is one of ``WAYS``; raise InputError for others."""
    expect(str, verify=verify)
    check_name("way to verify", str(verify), WAYS)
    return str(verify)


class Firsts:
    """Which kinds of answers about one graph have been certified."""

    def __init__(self) -> None:
        self._seen: set[object] = set()

    def method(self, verify: str, kind: object) -> str:
        """Return by what method an answer of a kind is checked now: ``"none"`` if it is not."""
        if verify not in ("first", "all"):
            return verify
        return "none" if verify == "first" and kind in self._seen else "certificate"

    def passed(self, kind: object) -> None:
        """Note that an answer of a kind has passed."""
        self._seen.add(kind)


def certify_search(
    arcs: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    distance: NDArray[Any],
    reached: NDArray[np.bool_],
    sources: list[int],
    end: Any = None,
    where: str = "gpugraph.on",
) -> None:
    """Check the distances, (n,), of the vertices reached from the nearest of sources, as far as ``end``.

    ``arcs`` are offsets, targets and weights that are 0 or more.  What lies at ``end`` or beyond may be missing; None:
    nothing may.  Raises VerificationFailed with the first counter-example.
    """
    offsets, targets, weights = arcs
    tails = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    inside = np.flatnonzero(reached[tails])
    u, v = tails[inside], targets[inside]
    with np.errstate(over="ignore"):
        far = distance[u] + weights[inside].astype(distance.dtype, copy=False)
    fits = (far >= distance[u]) & (np.isfinite(far) if far.dtype.kind == "f" else True)
    short = fits & (~reached[v] | (far < distance[v])) & (True if end is None else far < end)
    for at in np.flatnonzero(short)[:1].tolist():
        what = f"the arc {u[at]} → {v[at]} leads to {v[at]} at {far[at]}"
        held = f"at distance {distance[v[at]]}" if reached[v[at]] else "unreached"
        raise VerificationFailed(f"{what}, but that is {held}", where=where)
    linked = np.zeros(len(reached), np.bool_)
    linked[sources] = True
    tight = fits & reached[v] & (far == distance[v])
    linked[v[tight & (distance[u] < distance[v])]] = True
    level = np.flatnonzero(tight & (distance[u] == distance[v]))
    while len(level) and (new := level[linked[u[level]] & ~linked[v[level]]]).size:
        linked[v[new]] = True
    for source in sources:
        if distance[source] != 0 or not reached[source]:
            raise VerificationFailed(f"the source {source} is not at distance 0", where=where)
    for w in np.flatnonzero(reached & ~linked)[:1].tolist():
        what = f"vertex {w} has distance {distance[w]}, but is not reached from the source by tight arcs"
        raise VerificationFailed(what, where=where)
