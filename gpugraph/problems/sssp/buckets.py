"""Compiled delta-stepping for a team of threads: buckets of (vertex, distance) pairs, and distances lowered atomically.

Every thread has buckets of its own, chains of blocks from one pool, and works through them in order.  A pair is good
for nothing once the vertex has a lower distance: that is looked at when it comes up, so that each value of a distance
is relaxed once at most.  No thread waits for another: of the bucket that it works on, it keeps a block and lays the
others into a queue that all may take from; and before it goes on to its next bucket, it takes blocks of those who are
behind it.  So all stay near the least distance that waits, and where a thread is put aside by the machine, the others
only do some work in vain.  The search is over when nobody has anything.

What lies beyond a thread's last bucket waits in one more; when all before it are empty, its window begins anew at the
least distance that waits there.  If the pool runs dry, pairs are dropped, all threads meet, and the distances
themselves, all read once, tell what waits: memory stays O(n + threads).

Shared arrays (names used throughout):
    distance:  (n,) tentative distances: uint32, uint64, float32 or float64.
    leasts:    (threads,) of distance's dtype, the least distance that waits at a thread; at the end the greatest of its
               share of the vertices.
    heads:     (threads, COLUMNS) int32, the newest block of each bucket, or −1; column BINS lies beyond the others.
    counts:    (threads, COLUMNS) int64, the pairs in it: only the newest block is not full.
    vertices:  (blocks, BLOCK) and away: (blocks, BLOCK), the pairs; following: (blocks,) int32, the next of a chain.
    filled:    (blocks,) int32, of a block in a queue the pairs in it; of a part of a row, −1 − which: it has one pair.
    queues:    (threads, QUEUE) int32, blocks that all may take, in the order of their coming.
    ends:      (threads · 2 · STRIDE,) int64, how many were taken from a queue, and a cache line on how many came.
    fronts:    (threads · STRIDE,) float64, where the bucket begins that a thread works on; infinity if there is none.
    own:       (threads, 32) int64, what a thread keeps, and tells at the end; see the constants below.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import plain_njit
from gpugraph.team import (
    COUNTERS,
    STRIDE,
    compare_and_swap,
    cycles,
    enter,
    fetch_add,
    fetch_min,
    join,
    leave,
    load_now,
    look_again,
    meet,
    prefetch,
    release,
    share_of,
    stopped,
)

Array = NDArray[Any]

BINS = 256
COLUMNS = BINS + 16
"""Buckets of a thread, and enough besides that no cache line has two threads' in it."""
BLOCK = 64
QUEUE = 1 << 10
FEW = 8
"""Where a thread finds fewer pairs in its buckets on average, for each thread of the team, it makes them wider."""
HUB, PIECE = 1 << 12, 1 << 11
"""Rows of more arcs than the first are shared out by parts of the second."""

# Counters of ``control``.
POOL, LOST, IDLE, END = (COUNTERS + i * STRIDE for i in range(4))

# Columns of ``own``.
FREE, RELAXED, ROUNDS, IN_STEPS, IN_WINDOW = range(5)


# ------------------------------------------------------------------ blocks


@plain_njit
def new_block(following: Any, control: Any, own: Any, rank: int) -> Any:
    """Return a block for the thread; none, −1, where the pool is dry."""
    block = own[rank, FREE]
    if block >= 0:
        own[rank, FREE] = following[block]
        return block
    block = fetch_add(control, POOL, 1)
    return block if block < len(following) else np.int64(-1)


@plain_njit
def give_back(block: Any, following: Any, own: Any, rank: int) -> None:
    """Let the thread use a block again."""
    following[block] = own[rank, FREE]
    own[rank, FREE] = block


@plain_njit
def push(heads: Any, counts: Any, vertices: Any, away: Any, following: Any, control: Any, own: Any, rank: int,
          leasts: Any, bucket: Any, v: Any, far: Any) -> None:  # fmt: skip
    """Put a pair into one of the thread's buckets; where the pool is dry, tell all that it is lost."""
    at = counts[rank, bucket] & (BLOCK - 1)
    if at == 0:
        block = new_block(following, control, own, rank)
        if block < 0:
            control[LOST] = 1
            leasts[rank] = min(leasts[rank], far)
            return
        following[block] = heads[rank, bucket]
        heads[rank, bucket] = block
    block = heads[rank, bucket]
    vertices[block, at] = v
    away[block, at] = far
    counts[rank, bucket] += 1


@plain_njit
def bucket_of(far: Any, start: Any, scale: float) -> Any:
    """Return the bucket of a distance; the first also has what lies before the window."""
    if far < start:
        return np.int64(0)
    offset = np.float64(far - start) * scale
    return np.int64(offset) if offset < BINS else np.int64(BINS)


# ------------------------------------------------------------------ queues


@plain_njit
def lay_out(queues: Any, ends: Any, rank: int, block: Any) -> bool:
    """Lay a block at the end of the thread's queue; False where that is full."""
    end = 2 * STRIDE * rank
    came = ends[end + STRIDE]
    if came - load_now(ends, end) >= QUEUE:
        return False
    queues[rank, came & (QUEUE - 1)] = block
    fetch_add(ends, end + STRIDE, 1)
    return True


@plain_njit
def has_some(ends: Any, owner: int) -> bool:
    """Tell whether there are blocks in a thread's queue."""
    end = 2 * STRIDE * owner
    return bool(load_now(ends, end) < load_now(ends, end + STRIDE))


@plain_njit
def take(queues: Any, ends: Any, owner: int) -> Any:
    """Take the first block of a thread's queue, or −1."""
    end = 2 * STRIDE * owner
    while True:
        taken = load_now(ends, end)
        if taken >= load_now(ends, end + STRIDE):
            return np.int64(-1)
        block = np.int64(queues[owner, taken & (QUEUE - 1)])  # overwritten only once it is taken
        if compare_and_swap(ends, end, taken, taken + 1) == taken:
            return block


@plain_njit
def take_behind(queues: Any, ends: Any, fronts: Any, rank: int, size: int, front: float) -> Any:
    """Take a block of the thread that is farthest behind ``front`` and has some, or −1."""
    while True:
        owner = -1
        for turn in range(1, size):
            other = (rank + turn) % size
            theirs = load_now(fronts, STRIDE * other)
            if theirs < front and has_some(ends, other):
                owner, front = other, theirs
        if owner < 0:
            return np.int64(-1)
        block = take(queues, ends, owner)
        if block >= 0:
            return block


@plain_njit
def _relax(control: Any, rank: int, size: int, offsets: Any, targets: Any, weights: Any, distance: Any, start: Any,
           scale: float, heads: Any, counts: Any, vertices: Any, away: Any, following: Any, filled: Any,
           queues: Any, ends: Any, own: Any, leasts: Any, block: Any, fill: Any, lowest: Any) -> Any:  # fmt: skip
    """Relax the arcs of each vertex of a block that is still as near as it says there.

    Return the lowest bucket that got a pair, ``lowest`` if none is lower.
    """
    relaxed = 0
    part = max(0, -1 - fill)
    row_vertices, row_away, end = vertices[block], away[block], max(1, fill)
    for j in range(end):
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
        if part > 0:
            first += part * PIECE
            last = min(last, first + PIECE)
        elif size > 1 and last - first > HUB:
            # The last parts are for whoever comes, as far as there is room.
            parts = (last - first + PIECE - 1) // PIECE
            while parts > 1:
                piece = new_block(following, control, own, rank)
                if piece < 0:
                    break
                vertices[piece, 0], away[piece, 0], filled[piece] = u, near, -parts
                if not lay_out(queues, ends, rank, piece):
                    give_back(piece, following, own, rank)
                    break
                parts -= 1
            last = min(last, first + parts * PIECE)
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
                bucket = bucket_of(far, start, scale)
                lowest = min(lowest, bucket)
                push(heads, counts, vertices, away, following, control, own, rank, leasts, bucket, v, far)
    own[rank, RELAXED] += relaxed
    give_back(block, following, own, rank)
    return lowest


@plain_njit
def _least_in(block: Any, fill: Any, distance: Any, vertices: Any, away: Any, following: Any, least: Any) -> Any:
    """Return the least distance in a chain of blocks, or ``least``, and how many pairs of it are good for something."""
    waiting = 0
    while block >= 0:
        for j in range(fill):
            if distance[vertices[block, j]] == away[block, j]:
                least = min(least, away[block, j])
                waiting += 1
        block, fill = following[block], BLOCK
    return least, waiting


@plain_njit
def _wake(control: Any, size: int) -> bool:
    """Count the thread as one at work again; False, for good, where nobody was."""
    while True:
        idle = load_now(control, IDLE)
        if idle == size:
            return False
        if compare_and_swap(control, IDLE, idle, idle - 1) == idle:
            return True


@plain_njit
def _start_again(control: Any, rank: int, size: int, none: Any, distance: Any, leasts: Any, heads: Any, counts: Any,
                 vertices: Any, away: Any, following: Any, filled: Any, queues: Any, ends: Any,
                 own: Any) -> Any:  # fmt: skip
    """Empty all buckets of the team, and return the least distance that waited in one, or was dropped."""
    least = none
    for bucket in range(BINS + 1):
        fill = ((counts[rank, bucket] - 1) & (BLOCK - 1)) + 1
        least, _ = _least_in(heads[rank, bucket], fill, distance, vertices, away, following, least)
    end = 2 * STRIDE * rank
    for i in range(ends[end], ends[end + STRIDE]):
        block = queues[rank, i & (QUEUE - 1)]
        for j in range(max(1, filled[block])):
            least = min(least, away[block, j])
    leasts[rank] = min(leasts[rank], least)
    meet(control, size)
    for t in range(size):
        least = min(least, leasts[t])
    heads[rank] = -1
    counts[rank] = 0
    own[rank, FREE] = -1
    ends[end] = ends[end + STRIDE] = 0
    if rank == 0:
        control[POOL] = control[IDLE] = control[LOST] = 0
    meet(control, size)
    leasts[rank] = none
    return least


@plain_njit
def search(control: Any, rank: int, size: int, offsets: Any, targets: Any, weights: Any, source: int, none: Any,
           delta: float, distance: Any, leasts: Any, heads: Any, counts: Any,
           vertices: Any, away: Any, following: Any, filled: Any, queues: Any, ends: Any, fronts: Any,
           own: Any) -> None:  # fmt: skip
    """Write the distances from ``source``; ``none``, the greatest of its type, where there is no path.

    A bucket is at first as wide as ``delta``.  The arrays are those of the top of the file, whatever is in them.
    """
    enter(control)
    begun = cycles()
    n = len(distance)
    first, last = share_of(n, rank, size)
    for v in range(first, last):
        distance[v] = none
    heads[rank] = -1
    counts[rank] = 0
    own[rank] = 0
    own[rank, FREE] = -1
    own[rank, ROUNDS] = 1
    leasts[rank] = none
    ends[2 * STRIDE * rank] = ends[2 * STRIDE * rank + STRIDE] = 0
    fronts[STRIDE * rank] = np.inf
    meet(control, size)
    start, scale = distance.dtype.type(0), 1 / delta
    came, waited, at = 0, 0, 0
    opened, found = 0, 0
    if rank == 0:
        distance[source] = 0
        push(heads, counts, vertices, away, following, control, own, rank, leasts, 0, source, start)
    while True:
        if stopped(control) or load_now(control, LOST) != 0:
            if size == 1 or join(control, size):
                control[END] = stopped(control)
                if size > 1:
                    release(control)
            if control[END] != 0:
                break
            start = _start_again(control, rank, size, none, distance, leasts, heads, counts, vertices, away, following,
                                 filled, queues, ends, own)  # fmt: skip
            came, waited, at = 0, 0, 0
            for v in range(first, last):
                far = distance[v]
                if far != none and far >= start:
                    bucket = bucket_of(far, start, scale)
                    push(heads, counts, vertices, away, following, control, own, rank, leasts, bucket, v, far)
            continue
        block = np.int64(-1)
        if size > 1:
            block = take(queues, ends, rank)
        if block < 0:
            while at < BINS and counts[rank, at] == 0:
                at += 1
            front = np.float64(start) + at / scale if at < BINS or counts[rank, BINS] > 0 else np.inf
            if size > 1:
                fronts[STRIDE * rank] = front
                block = take_behind(queues, ends, fronts, rank, size, front)
                if block >= 0 and front == np.inf:
                    start = away[block, 0]
        if block >= 0:
            fill = np.int64(filled[block])
            at = _relax(control, rank, size, offsets, targets, weights, distance, start, scale, heads, counts, vertices,
                        away, following, filled, queues, ends, own, leasts, block, fill, at)  # fmt: skip
        elif at < BINS:
            block, fill = np.int64(heads[rank, at]), ((counts[rank, at] - 1) & (BLOCK - 1)) + 1
            after = np.int64(following[block])
            opened, found = opened + 1, found + counts[rank, at]
            if size > 1:
                # All others of the bucket are for whoever comes, as far as there is room.
                left = counts[rank, at] - fill
                while after >= 0:
                    filled[after] = BLOCK
                    behind = following[after]
                    if not lay_out(queues, ends, rank, after):
                        break
                    left -= BLOCK
                    after = behind
                heads[rank, at], counts[rank, at] = after, left
                at = _relax(control, rank, size, offsets, targets, weights, distance, start, scale, heads, counts,
                            vertices, away, following, filled, queues, ends, own, leasts, block, fill, at)  # fmt: skip
            else:
                # The whole bucket at once, so that what falls back into it waits for its turn.
                heads[rank, at], counts[rank, at] = -1, 0
                while block >= 0:
                    after = np.int64(following[block])
                    at = _relax(control, rank, size, offsets, targets, weights, distance, start, scale, heads,
                                counts, vertices, away, following, filled, queues, ends, own, leasts, block, fill,
                                at)  # fmt: skip
                    block, fill = after, np.int64(BLOCK)
        elif counts[rank, BINS] > 0:
            moving = cycles()
            block, fill = heads[rank, BINS], ((counts[rank, BINS] - 1) & (BLOCK - 1)) + 1
            least, waiting = _least_in(block, fill, distance, vertices, away, following, none)
            start = least if waiting > 0 else start
            # Each move is paid for by the vertices that it brings in, whatever the weights are; and each bucket that is
            # opened, which costs a look at what all others have, by the pairs in it.
            if 8 * came < waited or (size > 1 and found < FEW * size * opened):
                scale *= 0.5
            opened, found = 0, 0
            came, waited, at = 0, waiting, 0
            heads[rank, BINS], counts[rank, BINS] = -1, 0
            while block >= 0:
                for j in range(fill):
                    v, far = vertices[block, j], away[block, j]
                    if distance[v] == far:
                        bucket = bucket_of(far, start, scale)
                        came += bucket < BINS
                        push(heads, counts, vertices, away, following, control, own, rank, leasts, bucket, v, far)
                after = np.int64(following[block])
                give_back(block, following, own, rank)
                block, fill = after, np.int64(BLOCK)
            own[rank, ROUNDS] += 1
            own[rank, IN_WINDOW] += cycles() - moving
        elif size == 1:
            break
        else:
            fetch_add(control, IDLE, 1)
            looks = 0
            while load_now(control, IDLE) < size and load_now(control, LOST) == 0 and not stopped(control):
                some = False
                for other in range(size):
                    some |= has_some(ends, other)
                if some:
                    break
                looks = look_again(looks)
            if not _wake(control, size):
                break
    farthest = start - start
    for v in range(first, last):
        if distance[v] != none:
            farthest = max(farthest, distance[v])
    leasts[rank] = farthest
    own[rank, IN_STEPS] = cycles() - begun - own[rank, IN_WINDOW]
    leave(control, size)
