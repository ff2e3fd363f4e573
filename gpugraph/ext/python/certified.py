"""The first answers of handles, csgraph and the NetworkX backend are certified; also of searches that end early.

A search that ended at a goal or a cutoff is right if its source has distance 0, a tight arc leads to each vertex that
it reached, and no arc leads nearer to a vertex than it says, up to where it ended.  This is the work of NumPy and SciPy
on the arcs as they are, and shares nothing with the search.

Source: the optimality conditions of Ford, Network flow theory (1956).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import VerificationFailed, check_name, expect
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
    nothing may but what is infinitely far.  Raises VerificationFailed with the first counter-example.
    """
    offsets, targets, weights = arcs
    tails = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    inside = np.flatnonzero(reached[tails])
    u, v = tails[inside], targets[inside]
    with np.errstate(over="ignore"):
        far = distance[u] + weights[inside].astype(distance.dtype, copy=False)
    fits = far >= distance[u]  # a sum of integers that wrapped is below its first term
    short = fits & np.isfinite(far) & (~reached[v] | (far < distance[v])) & (True if end is None else far < end)
    for at in np.flatnonzero(short)[:1].tolist():
        what = f"the arc {u[at]} → {v[at]} leads to {v[at]} at {far[at]}"
        held = f"at distance {distance[v[at]]}" if reached[v[at]] else "unreached"
        raise VerificationFailed(f"{what}, but that is {held}", where=where)
    linked = np.zeros(len(reached), np.bool_)
    linked[sources] = True
    tight = fits & reached[v] & (far == distance[v])
    linked[v[tight & (distance[u] < distance[v])]] = True
    level = np.flatnonzero(tight & (distance[u] == distance[v]))
    if len(level):
        linked[_along(u[level], v[level], linked)] = True
    for source in sources:
        if distance[source] != 0 or not reached[source]:
            raise VerificationFailed(f"the source {source} is not at distance 0", where=where)
    for w in np.flatnonzero(reached & ~linked)[:1].tolist():
        what = f"vertex {w} has distance {distance[w]}, but is not reached from the source by tight arcs"
        raise VerificationFailed(what, where=where)


def _along(tails: NDArray[Any], heads: NDArray[Any], linked: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the vertices that arcs lead to from those ``linked``, (n,); along a path of any length in O(n + arcs)."""
    from scipy import sparse
    from scipy.sparse.csgraph import breadth_first_order

    n, starts = len(linked), np.flatnonzero(linked)
    rows, columns = np.concatenate((tails, np.full(len(starts), n))), np.concatenate((heads, starts))
    led = sparse.csr_array((np.ones(len(rows)), (rows, columns)), (n + 1, n + 1))
    return np.asarray(breadth_first_order(led, n, return_predecessors=False)[1:])
