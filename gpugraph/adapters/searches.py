"""Searches that end early, take several sources, or follow arcs in the order in which they are given.

A priority queue decides between equal distances by age: the vertex that got its distance first goes first, and of the
arcs of a vertex the first.  The outcome is that of a textbook's search over adjacency lists, to the last tie.

Sources: Dijkstra 1959, problem 2, with a four-way heap (Johnson 1977); Moore 1959, the shortest path through a maze.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit

_NO_GOAL = -1


@dataclass(frozen=True, eq=False)
class Rows:
    """Arcs by tail, in the caller's order; parallel arcs and self loops are allowed.

    Attributes:
        offsets: (n+1,) int64.
        targets: (arcs,) int32 or int64.
        weights: (arcs,) int64 or float64, or None where every arc counts 1.  Sums of n integers fit 64 bits.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[Any]
    weights: NDArray[Any] | None

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Attributes:
        order: (reached,) int64, the vertices in the order in which they were settled.
        distance: (n,) int64, or the floating type of the weights; of a vertex that is not in ``order`` nothing is said.
        before: (n,) int64, the vertex before each on its path; −1 for sources and where there is none.
        place: (n,) int64, the place of each vertex in ``order``, −1 where it was not reached.
    """

    order: NDArray[np.int64]
    distance: NDArray[Any]
    before: NDArray[np.int64]
    place: NDArray[np.int64]

    def path_to(self, vertex: int) -> list[int]:
        """Return the vertices of the path that leads to a vertex, a source first."""
        path = [vertex]
        while (vertex := int(self.before[vertex])) >= 0:
            path.append(vertex)
        return path[::-1]


class NegativeArc(ValueError):
    """A settled vertex could be reached on a shorter way: there are negative weights."""


def search(
    rows: Rows, sources: list[int], goal: int | None = None, cutoff: float | None = None, *, ties: bool = False
) -> Found:
    """Find shortest paths from the nearest of ``sources``.

    Args:
        rows: weights of 0 or more, or None: then a breadth-first search.
        sources: vertices at distance 0.
        goal: end once this vertex is settled.
        cutoff: leave out vertices farther than this.
        ties: settle those as far as the goal too; not of a breadth-first search.

    Raises:
        NegativeArc: a negative weight made a settled vertex's distance wrong.
    """
    n, end = rows.vertices, _NO_GOAL if goal is None else goal
    start = np.array(sources, np.int64)
    before, place, order = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    if rows.weights is None:
        distance = np.zeros(n, np.int64)
        most = np.iinfo(np.int64).max if cutoff is None or cutoff >= n else int(np.floor(cutoff))
        count = int(_breadth_first(rows.offsets, rows.targets, start, end, most, distance, before, place, order))
        return Found(order[:count], distance, before, place)
    real = rows.weights.dtype.kind == "f"
    distance = np.zeros(n, rows.weights.dtype if real else np.int64)
    limit: Any = np.inf if cutoff is None else float(cutoff)
    if not real:
        limit = np.int64(np.iinfo(np.int64).max if limit >= 2.0**63 else np.floor(max(limit, -1.0)))
    count = int(
        _dijkstra(rows.offsets, rows.targets, rows.weights, start, end, ties, limit, distance, before, place, order)
    )
    if count < 0:
        raise NegativeArc("a weight is negative")
    return Found(order[:count], distance, before, place)


def tight_tails(rows: Rows, found: Found) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the tails of all arcs on shortest paths, of each vertex in the order in which they were settled.

    Returns:
        (reached+1,) int64 offsets by place in ``found.order``, and (k,) int64 tails.
    """
    weights = np.ones(len(rows.targets), np.int64) if rows.weights is None else rows.weights
    starts = np.zeros(len(found.order) + 1, np.int64)
    arguments = (rows.offsets, rows.targets, weights, found.order, found.place, found.distance, starts)
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


@njit
def _breadth_first(
    offsets: Any, targets: Any, sources: Any, goal: int, cutoff: int, distance: Any, before: Any, place: Any, order: Any
) -> int:
    """Write distances, parents and the queue; return its length, cut after the goal."""
    end = 0
    for source in sources:
        if place[source] < 0 and cutoff >= 0:
            place[source] = end
            order[end] = source
            end += 1
            if source == goal:
                return end
    begin = 0
    while begin < end:
        u = order[begin]
        begin += 1
        if distance[u] >= cutoff:
            break
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            if place[v] < 0:
                distance[v] = distance[u] + 1
                before[v] = u
                place[v] = end
                order[end] = v
                end += 1
                if v == goal:
                    return end
    return end


@njit
def _dijkstra(
    offsets: Any,
    targets: Any,
    weights: Any,
    sources: Any,
    goal: int,
    ties: bool,
    cutoff: Any,
    distance: Any,
    before: Any,
    place: Any,
    order: Any,
) -> int:
    """Write distances, parents and the order of settling; return how many were settled, −1 after a contradiction."""
    n = len(place)
    heap = np.empty(n, np.int64)
    at = np.full(n, -1, np.int64)  # position in the heap; −2 once settled
    age = np.zeros(n, np.int64)
    size, pushed, settled = 0, 0, 0
    for source in sources:
        if at[source] == -1:
            distance[source] = 0
            age[source] = pushed
            _sift_up(heap, at, distance, age, source, size)
            size += 1
        pushed += 1
    while size > 0:
        u = heap[0]
        if distance[u] > cutoff:
            break
        at[u] = -2
        size -= 1
        if size > 0:
            _sift_down(heap, at, distance, age, heap[size], size)
        place[u] = settled
        order[settled] = u
        settled += 1
        near = distance[u]
        if u == goal:
            if not ties:
                break
            cutoff = near
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            far = near + weights[arc]
            if far > cutoff:
                continue
            if at[v] == -2:
                if far < distance[v]:
                    return -1
            elif at[v] == -1 or far < distance[v]:
                distance[v] = far
                before[v] = u
                age[v] = pushed
                pushed += 1
                position = at[v]
                if position == -1:
                    position = size
                    size += 1
                _sift_up(heap, at, distance, age, v, position)
    return settled


@njit
def _sift_up(heap: Any, at: Any, distance: Any, age: Any, v: Any, position: Any) -> None:
    """Put ``v`` into the heap at a position or above."""
    while position > 0:
        parent = heap[(position - 1) >> 2]
        if distance[parent] < distance[v] or (distance[parent] == distance[v] and age[parent] < age[v]):
            break
        heap[position] = parent
        at[parent] = position
        position = (position - 1) >> 2
    heap[position] = v
    at[v] = position


@njit
def _sift_down(heap: Any, at: Any, distance: Any, age: Any, v: Any, size: int) -> None:
    """Put ``v`` into the heap of ``size`` vertices at its root or below."""
    position = 0
    while True:
        first = 4 * position + 1
        if first >= size:
            break
        least = heap[first]
        where = first
        for child in range(first + 1, min(first + 4, size)):
            other = heap[child]
            if distance[other] < distance[least] or (distance[other] == distance[least] and age[other] < age[least]):
                least = other
                where = child
        if distance[v] < distance[least] or (distance[v] == distance[least] and age[v] < age[least]):
            break
        heap[position] = least
        at[least] = position
        position = where
    heap[position] = v
    at[v] = position
