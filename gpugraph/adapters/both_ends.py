"""A path of one pair, looked for from both ends: about half of what a search from one end reads, or much less.

The two searches take turns, and of several shortest paths the one is found that they meet on first.  Nothing is as
long as the graph but memory that is zero from the start, so that a pair close together costs what lies between them.

Sources: Pohl 1971, Bi-directional search; in the turns and ties of NetworkX, so that it finds NetworkX's path.  The
queue is a radix heap: Ahuja, Mehlhorn, Orlin, Tarjan 1990, Faster algorithms for the shortest path problem, §4, with
first in, first out among equal distances.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.adapters.searches import NegativeArc, Rows
from gpugraph.compiled import njit, plain_njit
from gpugraph.team import bits_of, highest_bit, lowest_bit, prefetch

_NONE = -1
_CONTRADICTION = -2
_NOT_RISING = -3

_DIGIT = 6
"""Bits of a digit of the queue's keys, so that one word tells which of a level's slots are taken."""
_SLOTS, _LEVELS = 1 << _DIGIT, 64 // _DIGIT + 1

# Where two searches stand, a vertex of each: ``link`` is 0 for one not seen, else 1 more than the vertex before, of
# which an end is its own, negative once it is settled.
_PAIR = np.dtype([("key", np.uint64), ("vertex", np.int64), ("next", np.int64)])


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
    if rows.weights is None or reverse.weights is None:
        length, links = None, np.zeros((rows.vertices, 2), np.int64)
        meet = int(_by_level(rows.offsets, rows.targets, reverse.offsets, reverse.targets, source, target, links))
    else:
        for rising in (True, False):
            nodes = np.zeros(2 * rows.vertices, [("far", rows.weights.dtype), ("link", np.int64)])
            length, meet = _by_weight(
                rows.offsets, rows.targets, rows.weights, reverse.offsets, reverse.targets, reverse.weights,
                source, target, nodes, rows.weights.dtype.type(0), rising,
            )  # fmt: skip
            if meet != _NOT_RISING:
                break
        links = nodes["link"].reshape(rows.vertices, 2)
    if meet == _CONTRADICTION:
        raise NegativeArc("a weight is negative")
    if meet == _NONE:
        return None
    before, after = _followed(links[:, 0], meet), _followed(links[:, 1], meet)
    path = [*before[::-1], meet, *after]
    return len(path) - 1 if length is None else length, path


def _followed(links: NDArray[np.int64], vertex: int) -> list[int]:
    found: list[int] = []
    while (following := abs(int(links[vertex])) - 1) != vertex:
        found.append(vertex := following)
    return found


@njit
def _by_level(
    offsets: Any, targets: Any, back_offsets: Any, back_targets: Any, source: int, goal: int, links: Any
) -> int:
    """Search level by level, from the end whose level is the smaller; return the vertex met on, or −1."""
    links[source, 0], links[goal, 1] = source + 1, goal + 1
    if source == goal:
        return source
    n = len(links)
    queue = np.empty((2, n), np.int64)
    queue[0, 0], queue[1, 0] = source, goal
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
                if links[w, side] == 0:
                    links[w, side] = v + 1
                    queue[side, end[side]] = w
                    end[side] += 1
                if links[w, 1 - side] != 0:
                    return int(w)
    return _NONE


# ------------------------------------------------------------------ the queue
# Pairs of a key and a vertex for either side, taken in the order of keys, and of equal ones in that of their coming.
# Keys never fall below the one taken last.  A pair lies in the level of the highest digit in which its key differs from
# ``last``, in the slot of its own digit there.  Equal keys lie in one slot, a list in the order of their coming, which
# is kept when the first slot's list is dealt out to the levels below.


@plain_njit
def _insert(pairs: Any, i: Any, side: int, slots: Any, taken: Any, last: Any) -> None:
    """Put pair ``i`` at the end of its slot."""
    key = pairs[i]["key"]
    level = highest_bit(key ^ last[side] | np.uint64(1)) // _DIGIT
    digit = (key >> np.uint64(_DIGIT * level)) & np.uint64(_SLOTS - 1)
    slot, bit = level * _SLOTS + np.int64(digit), np.uint64(1) << digit
    pairs[i]["next"] = _NONE
    if taken[side, level] & bit:
        pairs[slots[side, slot, 1]]["next"] = i
    else:
        taken[side, level] |= bit
        slots[side, slot, 0] = i
    slots[side, slot, 1] = i


@plain_njit
def _take(
    pairs: Any, side: int, slots: Any, taken: Any, last: Any, offsets: Any, targets: Any, weights: Any, nodes: Any
) -> Any:
    """Take the first pair of a queue that is not empty; the rows of those that come next are asked for."""
    if taken[side, 0] == 0:
        level = 1
        while taken[side, level] == 0:
            level += 1
        digit = lowest_bit(taken[side, level])
        taken[side, level] ^= np.uint64(1) << np.uint64(digit)
        i = first = slots[side, level * _SLOTS + digit, 0]
        least = pairs[first]["key"]
        if pairs[first]["next"] == _NONE:
            last[side] = least
            return first
        while i != _NONE:
            arc = offsets[pairs[i]["vertex"]]
            prefetch(targets, arc)
            prefetch(weights, arc)
            prefetch(nodes, 2 * pairs[i]["vertex"])
            least = min(least, pairs[i]["key"])
            i = pairs[i]["next"]
        last[side] = least
        i = first
        while i != _NONE:
            following, v = pairs[i]["next"], pairs[i]["vertex"]
            _insert(pairs, i, side, slots, taken, last)
            for arc in range(offsets[v], min(offsets[v] + 4, offsets[v + 1])):
                prefetch(nodes, 2 * np.int64(targets[arc]))
            i = following
    slot = lowest_bit(taken[side, 0])
    i = slots[side, slot, 0]
    if pairs[i]["next"] == _NONE:
        taken[side, 0] ^= np.uint64(1) << np.uint64(slot)
    else:
        slots[side, slot, 0] = pairs[i]["next"]
    return i


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
    nodes: Any,
    zero: Any,
    rising: bool,
) -> Any:
    """Search by Dijkstra's algorithm from both ends in turns; return the length and the vertex met on, or −1 or −2.

    ``nodes`` is (2n,), zero, for each vertex one of either side.  With ``rising`` it ends with −3 at an arc that leads
    to a distance below, or to none; without, the queue is a binary heap, which takes any.
    """
    pairs = np.empty(256, _PAIR)
    slots = np.empty((2, _LEVELS * _SLOTS, 2), np.int64)
    taken, last, waiting = np.zeros((2, _LEVELS), np.uint64), np.zeros(2, np.uint64), np.ones(2, np.int64)
    ahead, behind = [(zero, 0, np.int64(source))], [(zero, 1, np.int64(goal))]
    for side, end in enumerate((source, goal)):
        nodes[2 * end + side]["link"] = end + 1
        pairs[side]["key"], pairs[side]["vertex"] = np.uint64(0), end
        _insert(pairs, side, side, slots, taken, last)
    meet: Any = np.int64(_NONE)
    pushed, side, length, free, used = 2, 1, zero, np.int64(_NONE), 2
    while waiting[0] > 0 and waiting[1] > 0:
        side = 1 - side
        waiting[side] -= 1
        if rising:
            if side == 0:
                i = _take(pairs, side, slots, taken, last, offsets, targets, weights, nodes)
            else:
                i = _take(pairs, side, slots, taken, last, back_offsets, back_targets, back_weights, nodes)
            v = pairs[i]["vertex"]
            pairs[i]["next"], free = free, i
        else:
            _, _, v = heappop(ahead) if side == 0 else heappop(behind)
        here = 2 * v + side
        if nodes[here]["link"] < 0:
            continue
        nodes[here]["link"] *= -1
        if nodes[here ^ 1]["link"] < 0:
            return length, meet
        near = nodes[here]["far"]
        start, stop = (offsets[v], offsets[v + 1]) if side == 0 else (back_offsets[v], back_offsets[v + 1])
        for arc in range(start, stop):
            w = np.int64(targets[arc] if side == 0 else back_targets[arc])
            far = near + (weights[arc] if side == 0 else back_weights[arc])
            if rising and not far >= near:
                return length, np.int64(_NOT_RISING)
            there = 2 * w + side
            link = nodes[there]["link"]
            if link < 0:
                if far < nodes[there]["far"]:
                    return length, np.int64(_CONTRADICTION)
            elif link == 0 or far < nodes[there]["far"]:
                nodes[there]["far"] = far
                nodes[there]["link"] = v + 1
                waiting[side] += 1
                if rising:
                    i = free
                    if i != _NONE:
                        free = pairs[i]["next"]
                    else:
                        i = used
                        used += 1
                        if i == len(pairs):
                            more = np.empty(2 * i, _PAIR)
                            more[:i] = pairs
                            pairs = more
                    pairs[i]["key"], pairs[i]["vertex"] = bits_of(far), w
                    _insert(pairs, i, side, slots, taken, last)
                    prefetch(offsets, w)
                else:
                    heappush(ahead if side == 0 else behind, (far, pushed, w))
                    pushed += 1
                if nodes[there ^ 1]["link"] != 0:
                    total = far + nodes[there ^ 1]["far"]
                    if meet == _NONE or length > total:
                        length, meet = total, w
    return length, np.int64(_NONE)
