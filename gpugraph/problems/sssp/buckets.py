"""Compiled buckets of vertices by distance, for delta-stepping by several threads without atomics.

Vertices belong to *parts* (one per thread, 64 vertices at a time); only its part's thread ever changes a
vertex's distance or moves it.  Each part has ``bins`` buckets of equal width and one for all that lies
farther.  A bucket is a doubly linked list through ``links``, so that a vertex is in one bucket at most, moves
in constant time, and memory stays O(n).  When all buckets are empty the window moves: it then begins at the
least distance that waits.

Shared arrays (names used throughout):
    distance: (n,) tentative distances: uint64, float32 or float64.
    heads:    (parts, bins + 1) int64, the first vertex of each bucket, or −1; the last column lies farther.
    links:    (n, 2) previous and next vertex of the same list; previous is −1 outside all lists and −2 − k
              for the first vertex of the k-th list; next is −1 at the end.
    base:     (1,) of distance's dtype, where the window begins.
    scale:    (2,) float64, buckets per unit of distance, and by how much to change that when the window moves.
    frontier: (n,) the vertices of the current bucket; starts: (n+1,) int64, prefix sums of their out-degrees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit

Array = NDArray[Any]


@njit
def part_of(v: int, parts: int) -> int:
    """Return the part that owns ``v``: runs of 64, so that no two threads write to one cache line."""
    return (v >> 6) % parts


@njit
def move(v: int, distance: Array, base: Array, scale: Array, part: int, heads: Array, links: Array) -> None:
    """Move ``v`` from the list it is in, if any, to the bucket of its distance."""
    bins = heads.shape[1] - 1
    offset = np.float64(distance[v] - base[0]) * scale[0]
    bucket = np.int64(offset) if offset < bins else bins
    code = -2 - (part * (bins + 1) + bucket)
    before = links[v, 0]
    if before == code:
        return
    after = links[v, 1]
    if before < -1:
        heads[part, (-2 - before) % (bins + 1)] = after
    elif before >= 0:
        links[before, 1] = after
    if before != -1 and after >= 0:
        links[after, 0] = before
    head = heads[part, bucket]
    links[v, 0] = code
    links[v, 1] = head
    if head >= 0:
        links[head, 0] = v
    heads[part, bucket] = v


@njit
def take_bucket(bucket: int, offsets: Array, heads: Array, links: Array, frontier: Array, starts: Array) -> int:
    """Empty a bucket into ``frontier`` and return how many vertices that were."""
    size = 0
    total = 0
    for part in range(heads.shape[0]):
        v = heads[part, bucket]
        heads[part, bucket] = -1
        while v >= 0:
            frontier[size] = v
            size += 1
            total += offsets[v + 1] - offsets[v]
            starts[size] = total
            links[v, 0] = -1
            v = links[v, 1]
    return size


@njit
def move_window(distance: Array, base: Array, scale: Array, heads: Array, links: Array) -> bool:
    """Begin the window at the least distance that waits; return False if none does.

    If less than an eighth of those that wait come into the window, buckets are twice as wide from the next
    time on: thus each move is paid for by the vertices it brings in, whatever the weights are.
    """
    parts, bins = heads.shape[0], heads.shape[1] - 1
    waiting = 0
    low = base[0]
    for part in range(parts):
        v = heads[part, bins]
        while v >= 0:
            if waiting == 0 or distance[v] < low:
                low = distance[v]
            waiting += 1
            v = links[v, 1]
    if waiting == 0:
        return False
    base[0] = low
    scale[0] *= scale[1]
    came = 0
    for part in range(parts):
        v = heads[part, bins]
        while v >= 0:
            after = links[v, 1]
            move(v, distance, base, scale, part, heads, links)
            came += links[v, 0] < -1 and (-2 - links[v, 0]) % (bins + 1) < bins
            v = after
    scale[1] = 0.5 if 8 * came < waiting else 1.0
    return True


@njit
def advance(
    offsets: Array,
    targets: Array,
    weights: Array,
    distance: Array,
    base: Array,
    scale: Array,
    heads: Array,
    links: Array,
    frontier: Array,
    starts: Array,
    bucket: int,
    limit: int,
    counts: Array,
) -> tuple[int, int]:
    """Empty bucket after bucket from ``bucket`` on, relaxing the arcs of its vertices.

    Returns:
        The bucket reached and the number of vertices in ``frontier`` whose arcs, more than ``limit``, have
        *not* been relaxed: work for all threads.  No vertex: nothing is left to do.
        ``counts`` (2,) int64 grows by the rounds made and the arcs relaxed.
    """
    parts, bins = heads.shape[0], heads.shape[1] - 1
    while True:
        if bucket == bins:
            if not move_window(distance, base, scale, heads, links):
                return bucket, 0
            bucket = 0
        size = take_bucket(bucket, offsets, heads, links, frontier, starts)
        if size == 0:
            bucket += 1
            continue
        counts[0] += 1
        counts[1] += starts[size]
        if starts[size] > limit:
            return bucket, size
        for i in range(size):
            u = frontier[i]
            near = distance[u]
            for arc in range(offsets[u], offsets[u + 1]):
                v = targets[arc]
                far = near + weights[arc]
                # A sum that wrapped is below its first term.
                if far < distance[v] and far >= near:
                    distance[v] = far
                    move(v, distance, base, scale, part_of(v, parts), heads, links)


@njit
def scatter(
    offsets: Array,
    targets: Array,
    weights: Array,
    distance: Array,
    frontier: Array,
    starts: Array,
    size: int,
    first: int,
    last: int,
    found: Array,
    found_distance: Array,
    sorted_found: Array,
    sorted_distance: Array,
    cuts: Array,
) -> None:
    """List the improvements that arcs [first, last) of the frontier offer, grouped by part; change nothing else.

    Arcs are numbered through the rows of the frontier one after the other, so that a long row is shared.
    ``sorted_found`` and ``sorted_distance`` (≥ last − first,) receive the heads to improve and the distances
    offered, ``cuts`` (parts + 1,) int64 where each part's share begins; ``found*`` are scratch of the same sizes.
    """
    parts = len(cuts) - 1
    cuts[:] = 0
    count = 0
    i = np.searchsorted(starts[: size + 1], first, side="right") - 1
    while i < size and starts[i] < last:
        u = frontier[i]
        near = distance[u]
        begin = offsets[u] + max(0, first - starts[i])
        end = offsets[u] + min(starts[i + 1], last) - starts[i]
        for arc in range(begin, end):
            v = targets[arc]
            far = near + weights[arc]
            if far < distance[v] and far >= near:
                found[count] = v
                found_distance[count] = far
                count += 1
                cuts[part_of(v, parts) + 1] += 1
        i += 1
    for part in range(parts):
        cuts[part + 1] += cuts[part]
    for j in range(count):
        part = part_of(found[j], parts)
        sorted_found[cuts[part]] = found[j]
        sorted_distance[cuts[part]] = found_distance[j]
        cuts[part] += 1
    for part in range(parts, 0, -1):
        cuts[part] = cuts[part - 1]
    cuts[0] = 0


@njit
def gather(
    distance: Array,
    base: Array,
    scale: Array,
    heads: Array,
    links: Array,
    part: int,
    sorted_found: Array,
    sorted_distance: Array,
    cuts: Array,
) -> None:
    """Take the improvements that all threads (rows) have found for the vertices of one part."""
    for thread in range(cuts.shape[0]):
        for j in range(cuts[thread, part], cuts[thread, part + 1]):
            v = sorted_found[thread, j]
            if sorted_distance[thread, j] < distance[v]:
                distance[v] = sorted_distance[thread, j]
                move(v, distance, base, scale, part, heads, links)
