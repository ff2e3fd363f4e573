"""Shortest paths where weights may be negative, by the algorithm of Bellman and Ford with a queue.

Sources: Moore 1959, the shortest path through a maze (the queue); Cherkassky and Goldberg 1999, Negative-cycle
detection algorithms (a vertex whose parent waits is skipped; following parents finds cycles).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.adapters.searches import Found, Rows
from gpugraph.compiled import njit


def queue_search(rows: Rows, sources: list[int]) -> tuple[Found, NDArray[np.int64], NDArray[np.int64]] | None:
    """Find shortest paths where weights may be negative; None where a cycle of negative weight can be reached.

    Returns:
        What was found, in the order in which vertices were first reached, and the tails of all arcs on shortest paths:
        (reached+1,) int64 offsets by place in ``order``, and (k,) int64 tails, in the order in which they were found.
    """
    n = rows.vertices
    weights = np.ones(len(rows.targets), np.int64) if rows.weights is None else rows.weights
    distance = np.zeros(n, weights.dtype if weights.dtype.kind == "f" else np.int64)
    before, place, order = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    start = np.array(sources, np.int64)
    count, starts, tails = _bellman_ford(rows.offsets, rows.targets, weights, start, distance, before, place, order)
    if count < 0:
        return None
    return Found(order[:count], distance, before, place), starts[: count + 1], tails


@njit
def _bellman_ford(
    offsets: Any, targets: Any, weights: Any, sources: Any, distance: Any, before: Any, place: Any, order: Any
) -> Any:
    """Relax until nothing changes.

    Returns:
        How many vertices were reached, −1 where a negative cycle was; and the tails of tight arcs, as rows by place.
    """
    n = len(place)
    queue = np.empty(n + 1, np.int64)  # a ring; a vertex waits at most once
    waits = np.zeros(n, np.bool_)
    first, last = np.full(n, -1, np.int64), np.full(n, -1, np.int64)  # each vertex's list of tails
    tail, after = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    used, reached, head, size, since = 0, 0, 0, 0, 0
    for source in sources:
        if place[source] < 0:
            place[source] = reached
            order[reached] = source
            reached += 1
            queue[size] = source
            waits[source] = True
            size += 1
    while size > 0:
        u = queue[head]
        head = head + 1 if head < n else 0
        size -= 1
        waits[u] = False
        entry = first[u]
        while entry >= 0 and not waits[tail[entry]]:
            entry = after[entry]
        if entry >= 0:
            continue
        near = distance[u]
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            far = near + weights[arc]
            if place[v] >= 0 and far > distance[v]:
                continue
            shorter = place[v] < 0 or far < distance[v]
            if shorter:
                if v == u:
                    return -1, first, tail
                if place[v] < 0:
                    place[v] = reached
                    order[reached] = v
                    reached += 1
                distance[v] = far
                before[v] = u
                first[v] = -1
                since += 1
                if not waits[v]:
                    waits[v] = True
                    queue[(head + size) % (n + 1)] = v
                    size += 1
            elif far != distance[v]:
                continue  # not a number
            if used == len(tail):
                tail = np.concatenate((tail, np.empty_like(tail)))
                after = np.concatenate((after, np.empty_like(after)))
            tail[used] = u
            after[used] = -1
            if first[v] < 0:
                first[v] = used
            else:
                after[last[v]] = used
            last[v] = used
            used += 1
        if since >= n:
            since = 0
            if _has_cycle(before):
                return -1, first, tail
    return _listed(order, reached, first, tail, after)


@njit
def _has_cycle(before: Any) -> bool:
    """Tell whether following parents leads round in a circle."""
    seen = np.full(len(before), -1, np.int64)
    for start in range(len(before)):
        v = start
        while v >= 0 and seen[v] < 0:
            seen[v] = start
            v = before[v]
        if v >= 0 and seen[v] == start:
            return True
    return False


@njit
def _listed(order: Any, reached: int, first: Any, tail: Any, after: Any) -> Any:
    """Return the lists of tails one after another."""
    starts = np.zeros(reached + 1, np.int64)
    for place in range(reached):
        entry = first[order[place]]
        starts[place + 1] = starts[place]
        while entry >= 0:
            starts[place + 1] += 1
            entry = after[entry]
    tails = np.empty(starts[reached], np.int64)
    for place in range(reached):
        entry = first[order[place]]
        at = starts[place]
        while entry >= 0:
            tails[at] = tail[entry]
            at += 1
            entry = after[entry]
    return reached, starts, tails
