"""Compiled delta-stepping for a team of threads: buckets of (vertex, distance) pairs, and distances lowered atomically.

Every thread has buckets of its own, chains of blocks from one pool.  A pair is good for nothing once the vertex has a
lower distance: that is looked at when it comes up, so that each value of a distance is relaxed once at most.  The team
takes a range of buckets, as many of the first as give all threads something to do; it shares out the blocks that lie
there, and each thread goes on with those of its own that fall into the range, bucket by bucket, until there are too
many to keep to itself.  What lies beyond the last bucket waits in one more; when all before it are empty, the window
begins anew at the least distance that waits.  If the pool runs dry, pairs are dropped, and the distances
themselves, all read once, tell what waits: memory stays O(n + threads).

Shared arrays (names used throughout):
    distance:  (n,) tentative distances: uint32, uint64, float32 or float64.
    window:    (2,) float64, buckets per unit of distance, and how many pairs waited when the window last moved.
    base:      (1,) of distance's dtype, where the window begins.
    heads:     (threads, BINS + 1) int32, the newest block of each bucket, or −1; the last column lies beyond.
    counts:    (threads, BINS + 1) int64, the pairs in it: only the newest block is not full.
    vertices:  (blocks, BLOCK) and away: (blocks, BLOCK), the pairs; following: (blocks,) int32, the next of a chain.
    shared:    (blocks,) int32, the blocks of a step; filled: (blocks,) int32, the pairs in each.
    hubs:      (pieces,) int64 vertex and hub_away: (pieces,), rows too long for one thread; hub_from: (pieces,) int64,
               the first arc of a piece of one.
    own:       (threads, 32) int64, what a thread tells the others; see the constants below.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import plain_njit
from gpugraph.team import (
    COUNTERS,
    STRIDE,
    cycles,
    fetch_add,
    fetch_min,
    join,
    load_now,
    meet,
    prefetch,
    release,
    share_of,
    stopped,
)

Array = NDArray[Any]

BINS = 256
BLOCK = 64
KEPT = 1000
"""A thread keeps so many pairs of a bucket to itself, before it gives others a part."""
WORTH = 256
"""A step takes so many buckets that each thread has this many pairs."""
HUB, PIECE = 1 << 12, 1 << 11
"""Rows of more arcs than the first are shared out by pieces of the second."""

# Counters of ``control``.
_POOL, _TAIL, _HUB_TAIL, _HUB_NEXT, _PLAN = (COUNTERS + i * STRIDE for i in range(5))
_MODE, _LOW, _HIGH = _PLAN, _PLAN + 1, _PLAN + 2
_RELAX, _MOVE, _RESCAN, _DONE = 0, 1, 2, 3

# Columns of ``own``.
_FREE, _LOST, _AT, _WAITING, _CAME, _FROM, _TO, RELAXED, ROUNDS, IN_STEPS, IN_WINDOW = range(11)
_TAKEN = 24  # in a cache line of its own


@plain_njit
def _push(heads: Any, counts: Any, vertices: Any, away: Any, following: Any, control: Any, own: Any, rank: int,
          bucket: Any, v: Any, far: Any) -> None:  # fmt: skip
    """Put a pair into one of the thread's buckets; where the pool is dry, note that it is lost."""
    at = counts[rank, bucket] & (BLOCK - 1)
    if at == 0:
        block = own[rank, _FREE]
        if block >= 0:
            own[rank, _FREE] = following[block]
        else:
            block = fetch_add(control, _POOL, 1)
            if block >= len(following):
                own[rank, _LOST] = 1
                return
        following[block] = heads[rank, bucket]
        heads[rank, bucket] = block
    block = heads[rank, bucket]
    vertices[block, at] = v
    away[block, at] = far
    counts[rank, bucket] += 1


@plain_njit
def _relax(control: Any, rank: int, size: int, offsets: Any, targets: Any, weights: Any, distance: Any, start: Any,
           scale: float, heads: Any, counts: Any, vertices: Any, away: Any, following: Any, own: Any,
           hubs: Any, hub_away: Any, hub_from: Any,
           row_vertices: Any, row_away: Any, begin: int, end: int, cut: bool) -> None:  # fmt: skip
    """Relax the arcs of each vertex in ``row_vertices[begin:end]`` that is still as near as ``row_away`` says.

    With ``cut`` these are pieces of hubs; without, hubs are listed for all threads.
    """
    relaxed = 0
    for j in range(begin, end):
        if j + 6 < end:
            ahead = row_vertices[j + 6]
            prefetch(offsets, ahead)
            prefetch(distance, ahead)
        if j + 3 < end:
            arc = offsets[row_vertices[j + 3]]
            prefetch(targets, arc)
            prefetch(weights, arc)
        u, near = row_vertices[j], row_away[j]
        if load_now(distance, u) != near:
            continue
        first, last = offsets[u], offsets[u + 1]
        if cut:
            first = hub_from[j]
            last = min(last, first + PIECE)
        elif size > 1 and last - first > HUB:
            pieces = (last - first + PIECE - 1) // PIECE
            at = fetch_add(control, _HUB_TAIL, pieces)
            fits = at + pieces <= len(hubs)
            for piece in range(min(pieces, len(hubs) - at)):
                hubs[at + piece] = u if fits else -1
                hub_away[at + piece] = near
                hub_from[at + piece] = first + piece * PIECE
            if fits:
                continue
        relaxed += last - first
        for arc in range(first, last):
            v = targets[arc]
            far = near + weights[arc]
            # A sum that wrapped is below its first term; one of 32 bits is made in 64, and does not.
            if far < distance[v] and far >= near:
                if size == 1:
                    distance[v] = far
                elif not far < fetch_min(distance, v, far):
                    continue
                offset = np.float64(far - start) * scale
                bucket = np.int64(offset) if offset < BINS else BINS
                _push(heads, counts, vertices, away, following, control, own, rank, bucket, v, far)
    own[rank, RELAXED] += relaxed


@plain_njit
def _plan(control: Any, size: int, heads: Any, counts: Any, own: Any) -> None:
    """Decide for all threads what the next step is."""
    control[_TAIL] = control[_HUB_TAIL] = control[_HUB_NEXT] = 0
    low, lost, beyond = BINS, False, False
    for t in range(size):
        low = min(low, own[t, _AT])
        lost |= own[t, _LOST] != 0
        beyond |= counts[t, BINS] > 0
        own[t, _LOST] = own[t, _TAKEN] = 0
    if lost:
        control[_LOW] = low
        control[_MODE] = _RESCAN
        control[_POOL] = 0
        return
    while low < BINS:
        total = 0
        for t in range(size):
            total += counts[t, low]
        if total > 0:
            break
        low += 1
    if low == BINS:
        control[_MODE] = _MOVE if beyond else _DONE
        return
    high = low + 1
    while high < BINS and (size == 1 or total < WORTH * size):
        for t in range(size):
            total += counts[t, high]
        high += 1
    control[_LOW], control[_HIGH], control[_MODE] = low, high, _RELAX
    own[0, ROUNDS] += 1


@plain_njit
def _share_out(control: Any, rank: int, heads: Any, counts: Any, following: Any, shared: Any, filled: Any,
               own: Any) -> None:  # fmt: skip
    """List the thread's blocks of the step's buckets, which others may take from."""
    low, high = control[_LOW], control[_HIGH]
    blocks = 0
    for bucket in range(low, high):
        blocks += (counts[rank, bucket] + BLOCK - 1) // BLOCK
    at = fetch_add(control, _TAIL, blocks)
    own[rank, _FROM], own[rank, _TO] = at, at + blocks
    for bucket in range(low, high):
        block, fill = heads[rank, bucket], ((counts[rank, bucket] - 1) & (BLOCK - 1)) + 1
        while block >= 0:
            shared[at], filled[at] = block, fill
            at += 1
            block, fill = following[block], BLOCK
        heads[rank, bucket] = -1
        counts[rank, bucket] = 0


@plain_njit
def _least_beyond(rank: int, distance: Any, none: Any, heads: Any, counts: Any, vertices: Any, away: Any,
                  following: Any, own: Any) -> Any:  # fmt: skip
    """Return the least distance of the thread's pairs beyond the window, and note how many wait there."""
    least, waiting = none, 0
    block, fill = heads[rank, BINS], ((counts[rank, BINS] - 1) & (BLOCK - 1)) + 1
    while block >= 0:
        for j in range(fill):
            if distance[vertices[block, j]] == away[block, j]:
                least = min(least, away[block, j])
                waiting += 1
        block, fill = following[block], BLOCK
    own[rank, _WAITING] = waiting
    return least


@plain_njit
def search(control: Any, rank: int, size: int, offsets: Any, targets: Any, weights: Any, source: int, none: Any,
           distance: Any, base: Any, window: Any, leasts: Any, heads: Any, counts: Any,
           vertices: Any, away: Any, following: Any, shared: Any, filled: Any,
           hubs: Any, hub_away: Any, hub_from: Any, own: Any) -> None:  # fmt: skip
    """Write the distances from ``source``; ``none``, the greatest of its type, where there is no path.

    The arrays are those of the top of the file, whatever is in them but for ``window``; ``leasts`` is (threads,) of
    distance's dtype.
    """
    n = len(distance)
    first, last = share_of(n, rank, size)
    for v in range(first, last):
        distance[v] = none
    heads[rank] = -1
    counts[rank] = 0
    own[rank] = 0
    own[rank, _FREE] = -1
    meet(control, size)
    if rank == 0:
        distance[source] = 0
        base[0] = 0
        _push(heads, counts, vertices, away, following, control, own, rank, 0, source, base[0])
    while True:
        begun = cycles()
        if size == 1 or join(control, size):
            _plan(control, size, heads, counts, own)
            if stopped(control):
                control[_MODE] = _DONE
            if size > 1:
                release(control)
        mode = control[_MODE]
        if mode == _DONE:
            break
        if mode == _RELAX:
            low, high = control[_LOW], control[_HIGH]
            start, scale = base[0], window[0]
            if size > 1:
                _share_out(control, rank, heads, counts, following, shared, filled, own)
                meet(control, size)
                # First its own, which others take from when they have none.
                turn = 0
                while turn < size:
                    owner = (rank + turn) % size
                    i = own[owner, _FROM] + fetch_add(own[owner], _TAKEN, 1)
                    if i >= own[owner, _TO]:
                        turn += 1
                        continue
                    block = shared[i]
                    _relax(
                        control, rank, size, offsets, targets, weights, distance, start, scale, heads, counts, vertices,
                        away, following, own, hubs, hub_away, hub_from, vertices[block], away[block], 0, filled[i],
                        False,
                    )  # fmt: skip
                    following[block] = own[rank, _FREE]
                    own[rank, _FREE] = block
            at = low
            while at < high and own[rank, _LOST] == 0:
                count = counts[rank, at]
                if count == 0:
                    at += 1
                    continue
                if size > 1 and count > KEPT:
                    break
                # The whole bucket at once, so that what falls back into it waits for its turn.
                block, fill = heads[rank, at], ((count - 1) & (BLOCK - 1)) + 1
                heads[rank, at] = -1
                counts[rank, at] = 0
                while block >= 0:
                    _relax(
                        control, rank, size, offsets, targets, weights, distance, start, scale, heads, counts, vertices,
                        away, following, own, hubs, hub_away, hub_from, vertices[block], away[block], 0, fill, False,
                    )  # fmt: skip
                    after = following[block]
                    following[block] = own[rank, _FREE]
                    own[rank, _FREE] = block
                    block, fill = after, BLOCK
            own[rank, _AT] = at
            if len(hubs) > 0 and size > 1:
                meet(control, size)
                tail = min(control[_HUB_TAIL], len(hubs))
                while True:
                    i = fetch_add(control, _HUB_NEXT, 1)
                    if i >= tail:
                        break
                    if hubs[i] >= 0:
                        own[rank, _AT] = low
                        _relax(
                            control, rank, size, offsets, targets, weights, distance, start, scale, heads, counts,
                            vertices, away, following, own, hubs, hub_away, hub_from, hubs, hub_away, i, i + 1, True,
                        )  # fmt: skip
            own[rank, IN_STEPS] += cycles() - begun
            continue
        own[rank, _AT] = 0
        if mode == _MOVE:
            leasts[rank] = _least_beyond(rank, distance, none, heads, counts, vertices, away, following, own)
            if size == 1 or join(control, size):
                waiting, came = 0, 0
                base[0] = none
                for t in range(size):
                    base[0] = min(base[0], leasts[t])
                    waiting += own[t, _WAITING]
                    came += own[t, _CAME]
                    own[t, _CAME] = 0
                # Each move is paid for by the vertices that it brings in, whatever the weights are.
                if 8 * came < window[1]:
                    window[0] *= 0.5
                window[1] = waiting
                if size > 1:
                    release(control)
            start, scale = base[0], window[0]
            block, fill = heads[rank, BINS], ((counts[rank, BINS] - 1) & (BLOCK - 1)) + 1
            heads[rank, BINS] = -1
            counts[rank, BINS] = 0
            while block >= 0:
                for j in range(fill):
                    v, far = vertices[block, j], away[block, j]
                    if distance[v] == far:
                        offset = np.float64(far - start) * scale
                        bucket = np.int64(offset) if offset < BINS else BINS
                        own[rank, _CAME] += bucket < BINS
                        _push(heads, counts, vertices, away, following, control, own, rank, bucket, v, far)
                after = following[block]
                following[block] = own[rank, _FREE]
                own[rank, _FREE] = block
                block, fill = after, BLOCK
        else:
            heads[rank] = -1
            counts[rank] = 0
            own[rank, _FREE] = -1
            meet(control, size)
            start, scale = base[0], window[0]
            for v in range(first, last):
                far = distance[v]
                if far != none and far >= start:
                    offset = np.float64(far - start) * scale
                    bucket = np.int64(offset) if offset < BINS else BINS
                    if bucket >= control[_LOW]:
                        _push(heads, counts, vertices, away, following, control, own, rank, bucket, v, far)
        own[rank, IN_WINDOW] += cycles() - begun
