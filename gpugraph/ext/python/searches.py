"""Searches that end early, take several sources, or follow arcs in the order in which they are given.

A priority queue decides between equal distances by age: the vertex that got its distance first goes first, and of the
arcs of a vertex the first.  The outcome is that of a textbook's search over adjacency lists, to the last tie.

Source: Dijkstra 1959, problem 2, with a four-way heap (Johnson 1977).
"""

import math
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit, plain_njit
from gpugraph.ext.tuned.thread_pool import prefetch

_NO_GOAL = -1


@dataclass(frozen=True, eq=False)
class Rows:
    """Arcs by tail, in the caller's order; parallel arcs and self loops are allowed.

    Weights are (arcs,) int64 or reals, which are summed in float64; sums of n integers fit 64 bits.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[Any]
    weights: NDArray[Any]
    scalars: bool = False
    """The weights were given as scalars of NumPy, and so are their sums."""

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Attributes:
        order: (reached,) int64, the vertices in the order in which they were settled.
        distance: (n,) int64, or float64 for real weights; of a vertex that is not in ``order`` nothing is said.
        links: (n,) int64, 1 more than the vertex before each on its path; 0 for sources and where there is none.
    """

    order: NDArray[np.int64]
    distance: NDArray[Any]
    links: NDArray[np.int64]
    scalars: bool = False

    @cached_property
    def before(self) -> NDArray[np.int64]:
        """(n,) int64, the vertex before each on its path; −1 for sources and where there is none."""
        return self.links - 1

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """(n,) int64, the place of each vertex in ``order``, −1 where it was not reached."""
        place = np.full(len(self.links), -1, np.int64)
        place[self.order] = np.arange(len(self.order))
        return place

    def path_to(self, vertex: int) -> list[int]:
        """Return the vertices of the path that leads to a vertex, a source first."""
        path = [vertex]
        while (vertex := int(self.links[vertex]) - 1) >= 0:
            path.append(vertex)
        return path[::-1]


def are_lengths(weights: NDArray[Any]) -> bool:
    """Tell whether every weight is 0 or more, and so none is NaN."""
    return not len(weights) or bool(weights.min() >= 0)


class NegativeArc(ValueError):
    """A settled vertex could be reached on a shorter way: there are negative weights."""


def search(
    rows: Rows, sources: list[int], goal: int | None = None, cutoff: float | None = None, *, ties: bool = False
) -> Found:
    """Find shortest paths from the nearest of ``sources``; weights are 0 or more, or NegativeArc is raised.

    The search ends once ``goal`` is settled, with ``ties`` those as far too, and leaves out vertices beyond ``cutoff``,
    but not the sources.
    """
    n, end = rows.vertices, _NO_GOAL if goal is None else goal
    start = np.array(sources, np.int64)
    links, order = np.zeros(n, np.int64), np.empty(n, np.int64)  # zeros cost only where they are written
    if rows.weights.dtype.kind == "f":
        kind: np.dtype[Any] = np.dtype(np.float64)
    else:
        kind = np.dtype(np.int64)
    limit = _limit(kind, cutoff)
    wide = len(rows.targets) + len(start) >= 2**31
    nodes, distance = np.zeros(n, _node(kind, wide)), np.empty(n, kind)
    heap = np.empty(n, kind), np.empty(n, nodes.dtype["at"])
    arcs, state = (rows.offsets, rows.targets, rows.weights), (nodes, links, order, *heap, distance)
    count = int(_dijkstra(arcs, start, (end, ties, limit), state))
    if count < 0:
        raise NegativeArc("a weight is negative")
    return Found(order[:count], distance, links, rows.scalars)


def plain_cutoff(cutoff: Any) -> int | float | None:
    """Return a number of any type as an integer or the greatest float not above it; None where it cuts nothing off."""
    try:
        if cutoff is None or math.isnan(cutoff) or cutoff == math.inf:
            return None
        end = int(cutoff) if isinstance(cutoff, Integral) else float(cutoff)
    except OverflowError:  # beyond all floats
        return sys.float_info.max if cutoff > 0 else -1
    return max(math.nextafter(end, -math.inf) if end > cutoff else end, -1)  # no distance is negative


def _limit(kind: np.dtype[Any], cutoff: float | None) -> Any:
    """Return how far a search goes, in the type of its distances."""
    if kind.kind == "f":
        return kind.type(np.inf if cutoff is None else cutoff)
    own = np.iinfo(np.int64)
    if cutoff is None or not cutoff < 2**63:
        return np.int64(own.max)
    return np.int64(own.min if cutoff <= -(2**63) else math.floor(cutoff))


def by_first_sight(rows: Rows, found: Found, cutoff: float | None) -> NDArray[np.int64]:
    """Return the vertices that a search reached in the order in which it came across them, sources first."""
    seen = np.zeros(rows.vertices, np.bool_)
    order = np.empty(len(found.order), np.int64)
    arcs = rows.offsets, rows.targets, rows.weights
    _see(arcs, found.order, found.links, found.distance, _limit(found.distance.dtype, cutoff), seen, order)
    return order


@njit
def _see(arcs: Any, settled: Any, links: Any, distance: Any, limit: Any, seen: Any, order: Any) -> None:
    offsets, targets, weights = arcs
    count = 0
    for u in settled:
        if links[u] == 0:
            seen[u] = True
            order[count] = u
            count += 1
    for u in settled:
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            if not (seen[v] or distance[u] + weights[arc] > limit):
                seen[v] = True
                order[count] = v
                count += 1


def tight_tails(rows: Rows, found: Found) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (reached+1,) offsets by place in ``found.order`` and (k,) tails of arcs on shortest paths."""
    starts = np.zeros(len(found.order) + 1, np.int64)
    arguments = (rows.offsets, rows.targets, rows.weights, found.order, found.place, found.distance, starts)
    _count_tight(*arguments, np.zeros(0, np.int64))
    np.cumsum(starts, out=starts)
    tails = np.empty(int(starts[-1]), np.int64)
    _count_tight(*arguments[:-1], starts[:-1].copy(), tails)
    return starts, tails


@njit
def _count_tight(
    offsets: Any, targets: Any, weights: Any, order: Any, place: Any, distance: Any, cursors: Any, tails: Any
) -> None:
    """Count the arcs on shortest paths by the place of their heads, one place late; or write their tails there."""
    for u in order:
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            if place[v] >= 0 and distance[u] + weights[arc] == distance[v]:
                if len(tails):
                    tails[cursors[place[v]]] = u
                    cursors[place[v]] += 1
                else:
                    cursors[place[v] + 1] += 1


# The heap holds distances beside their vertices, so that putting it in order reads nothing else; what else is known of
# a vertex lies together: its distance, its position in the heap, and its age, how many got theirs before.  A node not
# seen is all zero, so positions count from 1.
_UNSEEN, _SETTLED = 0, -1


@cache
def _node(distance: np.dtype[Any], wide: bool) -> np.dtype[Any]:
    number = np.int64 if wide else np.int32
    return np.dtype([("distance", distance), ("at", number), ("age", number)], align=True)


@plain_njit
def _dijkstra(arcs: Any, sources: Any, limits: Any, state: Any) -> int:
    """Write distances, parents and the order of settling; return how many were settled, −1 after a contradiction.

    ``nodes`` and ``links`` are zero at first.
    """
    (offsets, targets, weights), (goal, ties, cutoff) = arcs, limits
    nodes, links, order, keys, vertices, distance = state
    size, pushed, settled = 0, 0, 0
    for source in sources:
        if nodes[source]["at"] == _UNSEEN:
            nodes[source]["distance"] = 0
            nodes[source]["age"] = pushed
            _sift_up(keys, vertices, nodes, nodes[source]["distance"], source, size)
            size += 1
        pushed += 1
    while size > 0:
        near, u = keys[0], vertices[0]
        if near > cutoff and links[u] > 0:  # a source is reached, however little is left
            break
        size -= 1
        _sift_down(keys, vertices, nodes, size)
        if size > 4:  # the rows that are likely to come next travel while this one is read
            prefetch(targets, offsets[vertices[0]])
            prefetch(weights, offsets[vertices[0]])
            for child in range(1, 5):
                prefetch(offsets, vertices[child])
        nodes[u]["at"] = _SETTLED
        distance[u] = near
        order[settled] = u
        settled += 1
        if u == goal:
            if not ties:
                break
            cutoff = near
        for arc in range(offsets[u], offsets[u + 1]):
            v, far = targets[arc], near + weights[arc]
            at = nodes[v]["at"]
            if (at != _UNSEEN and far >= nodes[v]["distance"]) or far > cutoff:
                continue
            if at == _SETTLED:
                return -1
            if at == _UNSEEN:
                position = size
                size += 1
            else:
                position = at - 1
            nodes[v]["distance"] = far
            nodes[v]["age"] = pushed
            links[v] = u + 1
            pushed += 1
            _sift_up(keys, vertices, nodes, far, v, position)
    return settled


@plain_njit
def _sift_up(keys: Any, vertices: Any, nodes: Any, key: Any, vertex: Any, position: Any) -> None:
    """Put a vertex, the youngest, into the heap at a position or above."""
    while position > 0:
        above = (position - 1) >> 2
        if keys[above] <= key:
            break
        keys[position], vertices[position] = keys[above], vertices[above]
        nodes[vertices[position]]["at"] = position + 1
        position = above
    keys[position], vertices[position] = key, vertex
    nodes[vertex]["at"] = position + 1


@plain_njit
def _sift_down(keys: Any, vertices: Any, nodes: Any, size: int) -> None:
    """Take the root out of the heap: what stood behind its other ``size`` entries goes there, or below."""
    key, vertex = keys[size], vertices[size]
    age, position = nodes[vertex]["age"], 0
    while True:
        first = 4 * position + 1
        if first >= size:
            break
        child, least = first, keys[first]
        for other in range(first + 1, min(first + 4, size)):
            nearer = keys[other] < least
            if keys[other] == least:
                nearer = nodes[vertices[other]]["age"] < nodes[vertices[child]]["age"]
            child, least = other if nearer else child, keys[other] if nearer else least
        if key < least or (key == least and age < nodes[vertices[child]]["age"]):
            break
        keys[position], vertices[position] = least, vertices[child]
        nodes[vertices[position]]["at"] = position + 1
        position = child
    keys[position], vertices[position] = key, vertex
    nodes[vertex]["at"] = position + 1
