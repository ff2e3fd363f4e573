"""A path of one pair, looked for from both ends: about half of what a search from one end reads, or much less.

The two searches take turns, and of several shortest paths the one is found that they meet on first.

Source: Pohl 1971, Bi-directional search; in the turns and ties of NetworkX, so that it finds NetworkX's path.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.adapters.searches import NegativeArc, Rows
from gpugraph.compiled import njit

_NONE = -1
_CONTRADICTION = -2
_UNSEEN = -2


def shortest_between(rows: Rows, reverse: Rows, source: int, target: int) -> tuple[Any, list[int]] | None:
    """Return the length of a shortest path and its vertices; None where there is no path.

    Args:
        rows: weights of 0 or more; None counts the arcs.
        reverse: every arc turned round; of an undirected graph the same rows.
        source: where the path begins.
        target: where it ends, another vertex.

    Raises:
        NegativeArc: a negative weight made a settled vertex's distance wrong.
    """
    links = np.full((2, rows.vertices), _UNSEEN, np.int64)  # towards the source, and towards the target
    if rows.weights is None or reverse.weights is None:
        length = None
        meet = int(_by_level(rows.offsets, rows.targets, reverse.offsets, reverse.targets, source, target, links))
    else:
        length, meet = _by_weight(
            rows.offsets, rows.targets, rows.weights, reverse.offsets, reverse.targets, reverse.weights,
            source, target, links, rows.weights.dtype.type(0),
        )  # fmt: skip
    if meet == _CONTRADICTION:
        raise NegativeArc("a weight is negative")
    if meet == _NONE:
        return None
    before, after = _followed(links[0], meet), _followed(links[1], meet)
    path = [*before[::-1], meet, *after]
    return len(path) - 1 if length is None else length, path


def _followed(links: NDArray[np.int64], vertex: int) -> list[int]:
    found = []
    while (vertex := int(links[vertex])) >= 0:
        found.append(vertex)
    return found


@njit
def _by_level(
    offsets: Any, targets: Any, back_offsets: Any, back_targets: Any, source: int, goal: int, links: Any
) -> int:
    """Search level by level, from the end whose level is the smaller; return the vertex met on, or −1."""
    if source == goal:
        links[0, source] = links[1, source] = _NONE
        return source
    n = links.shape[1]
    queue = np.empty((2, n), np.int64)
    queue[0, 0], queue[1, 0] = source, goal
    links[0, source] = links[1, goal] = _NONE
    begin, end = np.zeros(2, np.int64), np.ones(2, np.int64)
    while end[0] > begin[0] and end[1] > begin[1]:
        side = 0 if end[0] - begin[0] <= end[1] - begin[1] else 1
        first, last = begin[side], end[side]
        begin[side] = last
        for i in range(first, last):
            v = queue[side, i]
            start, stop = (offsets[v], offsets[v + 1]) if side == 0 else (back_offsets[v], back_offsets[v + 1])
            for arc in range(start, stop):
                w = targets[arc] if side == 0 else back_targets[arc]
                if links[side, w] == _UNSEEN:
                    links[side, w] = v
                    queue[side, end[side]] = w
                    end[side] += 1
                if links[1 - side, w] != _UNSEEN:
                    return int(w)
    return _NONE


@njit
def _by_weight(
    offsets: Any,
    targets: Any,
    weights: Any,
    back_offsets: Any,
    back_targets: Any,
    back_weights: Any,
    source: int,
    goal: int,
    links: Any,
    zero: Any,
) -> Any:
    """Search by Dijkstra's algorithm from both ends in turns; return the length and the vertex met on, or −1 or −2."""
    n = links.shape[1]
    settled = np.zeros((2, n), np.bool_)
    seen = np.empty((2, n), weights.dtype)
    links[0, source] = links[1, goal] = _NONE
    seen[0, source] = seen[1, goal] = zero
    ahead, behind = [(zero, 0, np.int64(source))], [(zero, 1, np.int64(goal))]
    meet: Any = np.int64(_NONE)
    pushed, side, length = 2, 1, zero
    while len(ahead) > 0 and len(behind) > 0:
        side = 1 - side
        near, _, v = heappop(ahead) if side == 0 else heappop(behind)
        if settled[side, v]:
            continue
        settled[side, v] = True
        if settled[1 - side, v]:
            return length, meet
        start, stop = (offsets[v], offsets[v + 1]) if side == 0 else (back_offsets[v], back_offsets[v + 1])
        for arc in range(start, stop):
            w = np.int64(targets[arc] if side == 0 else back_targets[arc])
            far = near + (weights[arc] if side == 0 else back_weights[arc])
            if settled[side, w]:
                if far < seen[side, w]:
                    return length, _CONTRADICTION
            elif links[side, w] == _UNSEEN or far < seen[side, w]:
                seen[side, w] = far
                links[side, w] = v
                heappush(ahead if side == 0 else behind, (far, pushed, w))
                pushed += 1
                if links[1 - side, w] != _UNSEEN:
                    total = far + seen[1 - side, w]
                    if meet == _NONE or length > total:
                        length, meet = total, w
    return length, _NONE
