"""The heap of the sequential algorithms: four-way, of vertices that are in it once and move up when they get nearer.

Four children share a cache line, and the heap is half as deep as a binary one.

A heap is ``heap`` (n,) the vertices, ``place`` (n,) where each is in it, and ``order``: the vertices' keys (n,), and
what decides between equal keys: (n,) the other end of the edge that a vertex would be joined by, or None where nothing
does.

Source: Johnson, Efficient algorithms for shortest paths in sparse networks (1977), §2: the d-way heap.
"""

from typing import Any

from gpugraph.base.compiled import njit


@njit
def _wins_tie(other_end: Any, u: Any, v: Any) -> bool:
    """Tell whether ``u`` comes before ``v``, of the same key, in the canonical order of their edges."""
    if other_end is None:
        return False
    low_u, low_v = min(u, other_end[u]), min(v, other_end[v])
    if low_u != low_v:
        return bool(low_u < low_v)
    return bool(max(u, other_end[u]) < max(v, other_end[v]))


@njit
def sift_up(heap: Any, place: Any, order: tuple[Any, Any], v: Any, at: int) -> None:
    """Put ``v`` into the heap at position ``at`` or above."""
    keys, other_end = order
    key = keys[v]
    while at > 0:
        parent = heap[(at - 1) >> 2]
        if keys[parent] <= key and not (keys[parent] == key and _wins_tie(other_end, v, parent)):
            break
        heap[at] = parent
        place[parent] = at
        at = (at - 1) >> 2
    heap[at] = v
    place[v] = at


@njit
def sift_down(heap: Any, place: Any, order: tuple[Any, Any], v: Any, size: int) -> None:
    """Put ``v`` into the heap of ``size`` vertices at its root or below."""
    keys, other_end = order
    key, at = keys[v], 0
    while 4 * at + 1 < size:
        least = 4 * at + 1
        for child in range(least + 1, min(least + 4, size)):
            mine, best = keys[heap[child]], keys[heap[least]]
            if mine < best or (mine == best and _wins_tie(other_end, heap[child], heap[least])):
                least = child
        if keys[heap[least]] >= key and not (keys[heap[least]] == key and _wins_tie(other_end, heap[least], v)):
            break
        heap[at] = heap[least]
        place[heap[at]] = at
        at = least
    heap[at] = v
    place[v] = at
