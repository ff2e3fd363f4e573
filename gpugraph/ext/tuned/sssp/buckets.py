"""Compiled delta-stepping for a thread pool: buckets of entries (vertex, distance), and distances lowered atomically.

Every thread has its own buckets, chains of blocks from one pool, and works through them in order.  Stale entries, whose
vertex has got a lower distance since, are skipped when popped (lazy deletion), so that each value of a distance is
relaxed at most once.  No thread waits for another: of the bucket that it works on, it keeps one block and puts the
others into a queue from which all may take, and before it goes on to its next bucket, it takes blocks of threads that
are behind it.  So all threads stay near the least pending distance; while the system suspends one, the others only do
some work in vain.  The search ends when no thread has an entry, or, on one thread, when all its goals are settled.

Entries beyond a thread's last bucket are kept in one more.  When all buckets before it are empty, the window begins
anew at the least distance kept there.  If the pool runs dry, entries are dropped, all threads meet, and the pending
vertices are found by one pass over the distances: memory stays O(n + threads).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import fetch_min, inner_njit, plain_njit
from gpugraph.ext.tuned.thread_pool import (
    COUNTERS,
    STRIDE,
    compare_and_swap,
    cycles,
    enter,
    fetch_add,
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
"""Where a thread finds fewer pairs in its buckets on average, for each thread of the pool, it makes them wider."""
HUB, PIECE = 1 << 12, 1 << 11
"""Rows of more arcs than the first are shared out by parts of the second."""

# Counters of ``control``.
POOL, LOST, IDLE, END = (COUNTERS + i * STRIDE for i in range(4))

# Columns of ``thread_state``.
FREE, RELAXED, ROUNDS, IN_STEPS, IN_WINDOW = range(5)


class Search(NamedTuple):
    """What the threads of a search share.

    Attributes:
        offsets, targets, weights: the graph's rows (``arcs.Arcs``).
        none: the distance of a vertex that is not reached, the greatest of its dtype.
        delta: the width of a bucket at first.
        distance: (n,) tentative distances: uint32, uint64, float32 or float64.
        least_pending: (threads,) of distance's dtype, the least distance that waits at a thread; at the end the
            greatest of its share of the vertices.
        heads: (threads, COLUMNS) int32, the newest block of each bucket, or −1; column BINS lies beyond the others.
        counts: (threads, COLUMNS) int64, the entries in it: only the newest block is not full.
        vertices, entry_distance: (blocks, BLOCK), the entries: a vertex and its distance when it was put there.
        following: (blocks,) int32, the next block of a chain.
        filled: (blocks,) int32, of a block in a queue its entries; of a part of a row, −1 − which: it has one entry.
        queues: (threads, QUEUE) int32, blocks that all may take, in the order of their coming.
        ends: (threads · 2 · STRIDE,) int64, how many were taken from a queue, and a cache line on how many came.
        front_distance: (threads · STRIDE,) float64, where the bucket begins that a thread works on; infinity if none.
        thread_state: (threads, 32) int64, what a thread keeps, and reports at the end: see the constants above.
        goals: (goals,) int64, vertices with which a search on one thread may end; those beyond may be left too far.
    """

    offsets: Array
    targets: Array
    weights: Array
    none: Any
    delta: float
    distance: Array
    least_pending: Array
    heads: Array
    counts: Array
    vertices: Array
    entry_distance: Array
    following: Array
    filled: Array
    queues: Array
    ends: Array
    front_distance: Array
    thread_state: Array
    goals: Array


# ------------------------------------------------------------------ blocks


@inner_njit
def new_block(s: Any, me: Any) -> Any:
    """Return a block for the thread; none, −1, where the pool is dry."""
    control, rank, _ = me
    block = s.thread_state[rank, FREE]
    if block >= 0:
        s.thread_state[rank, FREE] = s.following[block]
        return block
    block = fetch_add(control, POOL, 1)
    return block if block < len(s.following) else np.int64(-1)


@inner_njit
def give_back(s: Any, me: Any, block: Any) -> None:
    """Let the thread use a block again."""
    rank = me[1]
    s.following[block] = s.thread_state[rank, FREE]
    s.thread_state[rank, FREE] = block


@plain_njit
def push(s: Any, me: Any, bucket: Any, v: Any, far: Any) -> None:
    """Put an entry into one of the thread's buckets; where the pool is dry, signal that it is lost."""
    control, rank, _ = me
    at = s.counts[rank, bucket] & (BLOCK - 1)
    if at == 0:
        block = new_block(s, me)
        if block < 0:
            control[LOST] = 1
            s.least_pending[rank] = min(s.least_pending[rank], far)
            return
        s.following[block] = s.heads[rank, bucket]
        s.heads[rank, bucket] = block
    block = s.heads[rank, bucket]
    s.vertices[block, at] = v
    s.entry_distance[block, at] = far
    s.counts[rank, bucket] += 1


@inner_njit
def bucket_of(far: Any, start: Any, scale: float) -> Any:
    """Return the bucket of a distance; the first also has what lies before the window."""
    if far < start:
        return np.int64(0)
    offset = np.float64(far - start) * scale
    return np.int64(offset) if offset < BINS else np.int64(BINS)


# ------------------------------------------------------------------ queues


@inner_njit
def lay_out(s: Any, me: Any, block: Any) -> bool:
    """Lay a block at the end of the thread's queue; False where that is full."""
    rank = me[1]
    end = 2 * STRIDE * rank
    came = s.ends[end + STRIDE]
    if came - load_now(s.ends, end) >= QUEUE:
        return False
    s.queues[rank, came & (QUEUE - 1)] = block
    fetch_add(s.ends, end + STRIDE, 1)
    return True


@inner_njit
def has_some(s: Any, owner: int) -> bool:
    """Tell whether there are blocks in a thread's queue."""
    end = 2 * STRIDE * owner
    return bool(load_now(s.ends, end) < load_now(s.ends, end + STRIDE))


@plain_njit
def take(s: Any, owner: int) -> Any:
    """Take the first block of a thread's queue, or −1."""
    end = 2 * STRIDE * owner
    while True:
        taken = load_now(s.ends, end)
        if taken >= load_now(s.ends, end + STRIDE):
            return np.int64(-1)
        block = np.int64(s.queues[owner, taken & (QUEUE - 1)])  # overwritten only once it is taken
        if compare_and_swap(s.ends, end, taken, taken + 1) == taken:
            return block


@inner_njit
def take_behind(s: Any, me: Any, front: float) -> Any:
    """Take a block of the thread that is farthest behind ``front`` and has some, or −1."""
    _, rank, size = me
    while True:
        owner = -1
        for turn in range(1, size):
            other = (rank + turn) % size
            theirs = load_now(s.front_distance, STRIDE * other)
            if theirs < front and has_some(s, other):
                owner, front = other, theirs
        if owner < 0:
            return np.int64(-1)
        block = take(s, owner)
        if block >= 0:
            return block


@plain_njit
def _relax(s: Any, me: Any, window: Any, block: Any, fill: Any) -> Any:
    """Relax the arcs of each vertex of a block whose entry is not stale.

    Return the lowest bucket that got an entry.
    """
    _, rank, size = me
    start, scale = window
    relaxed, lowest = 0, np.int64(BINS)
    part = max(0, -1 - fill)
    row_vertices, row_away, end = s.vertices[block], s.entry_distance[block], max(1, fill)
    for j in range(end):
        if j + 6 < end:
            ahead = row_vertices[j + 6]
            prefetch(s.offsets, ahead)
            prefetch(s.distance, ahead)
        if j + 3 < end:
            arc = s.offsets[row_vertices[j + 3]]
            prefetch(s.targets, arc)
            prefetch(s.weights, arc)
        u, near = row_vertices[j], row_away[j]
        if load_now(s.distance, u) != near:
            continue
        first, last = s.offsets[u], s.offsets[u + 1]
        if part > 0:
            first += part * PIECE
            last = min(last, first + PIECE)
        elif size > 1 and last - first > HUB:
            # The last parts are for whoever comes, as far as there is room.
            parts = (last - first + PIECE - 1) // PIECE
            while parts > 1:
                piece = new_block(s, me)
                if piece < 0:
                    break
                s.vertices[piece, 0], s.entry_distance[piece, 0], s.filled[piece] = u, near, -parts
                if not lay_out(s, me, piece):
                    give_back(s, me, piece)
                    break
                parts -= 1
            last = min(last, first + parts * PIECE)
        relaxed += last - first
        for arc in range(first, last):
            v = s.targets[arc]
            far = near + s.weights[arc]
            # A sum that wrapped is below its first term; one of 32 bits is made in 64, and does not.
            if far < s.distance[v] and far >= near:
                if size == 1:
                    s.distance[v] = far
                elif not far < fetch_min(s.distance, v, far):
                    continue
                bucket = bucket_of(far, start, scale)
                lowest = min(lowest, bucket)
                push(s, me, bucket, v, far)
    s.thread_state[rank, RELAXED] += relaxed
    give_back(s, me, block)
    return lowest


@inner_njit
def _least_in(s: Any, block: Any, fill: Any, least: Any) -> Any:
    """Return the least distance in a chain of blocks, or ``least``, and how many of its entries are not stale."""
    waiting = 0
    while block >= 0:
        for j in range(fill):
            if s.distance[s.vertices[block, j]] == s.entry_distance[block, j]:
                least = min(least, s.entry_distance[block, j])
                waiting += 1
        block, fill = s.following[block], BLOCK
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


@inner_njit
def _start_again(s: Any, me: Any) -> Any:
    """Empty all buckets of the thread pool, and return the least distance that waited in one, or was dropped."""
    control, rank, size = me
    least = s.none
    for bucket in range(BINS + 1):
        fill = ((s.counts[rank, bucket] - 1) & (BLOCK - 1)) + 1
        least, _ = _least_in(s, s.heads[rank, bucket], fill, least)
    end = 2 * STRIDE * rank
    for i in range(s.ends[end], s.ends[end + STRIDE]):
        block = s.queues[rank, i & (QUEUE - 1)]
        for j in range(max(1, s.filled[block])):
            least = min(least, s.entry_distance[block, j])
    s.least_pending[rank] = min(s.least_pending[rank], least)
    meet(control, size)
    for t in range(size):
        least = min(least, s.least_pending[t])
    s.heads[rank] = -1
    s.counts[rank] = 0
    s.thread_state[rank, FREE] = -1
    s.ends[end] = s.ends[end + STRIDE] = 0
    if rank == 0:
        control[POOL] = control[IDLE] = control[LOST] = 0
    meet(control, size)
    s.least_pending[rank] = s.none
    return least


@plain_njit
def search(control: Any, rank: int, size: int, s: Search, source: int) -> None:
    """Write the distances from ``source``; ``none``, the greatest of its type, where there is no path.

    A bucket is at first as wide as ``delta``.  The arrays are those of the top of the file, whatever is in them.
    """
    enter(control)
    begun = cycles()
    me, none = (control, rank, size), s.none
    n = len(s.distance)
    first, last = share_of(n, rank, size)
    for v in range(first, last):
        s.distance[v] = none
    s.heads[rank] = -1
    s.counts[rank] = 0
    s.thread_state[rank] = 0
    s.thread_state[rank, FREE] = -1
    s.thread_state[rank, ROUNDS] = 1
    s.least_pending[rank] = none
    s.ends[2 * STRIDE * rank] = s.ends[2 * STRIDE * rank + STRIDE] = 0
    s.front_distance[STRIDE * rank] = np.inf
    meet(control, size)
    start, scale = s.distance.dtype.type(0), 1 / s.delta
    came, waited, at = 0, 0, 0
    opened, found = 0, 0
    goals, settled = len(s.goals) if size == 1 else 0, 0
    if rank == 0:
        s.distance[source] = 0
        push(s, me, 0, source, start)
    while True:
        if stopped(control) or load_now(control, LOST) != 0:
            if join(control, size):
                control[END] = stopped(control)
                release(control)
            if control[END] != 0:
                break
            start = _start_again(s, me)
            came, waited, at = 0, 0, 0
            for v in range(first, last):
                far = s.distance[v]
                if far != none and far >= start:
                    bucket = bucket_of(far, start, scale)
                    push(s, me, bucket, v, far)
            continue
        block = np.int64(-1)
        if size > 1:
            block = take(s, rank)
        if block < 0:
            while at < BINS and s.counts[rank, at] == 0:
                at += 1
            front = np.float64(start) + at / scale if at < BINS or s.counts[rank, BINS] > 0 else np.inf
            if size > 1:
                s.front_distance[STRIDE * rank] = front
                block = take_behind(s, me, front)
                if block >= 0 and front == np.inf:
                    start = s.entry_distance[block, 0]
        if block >= 0:
            fill = np.int64(s.filled[block])
            at = min(at, _relax(s, me, (start, scale), block, fill))
        elif at < BINS:
            # What is pending is in this bucket or behind it, so that nothing before it falls any more.
            while settled < goals and bucket_of(s.distance[s.goals[settled]], start, scale) < at:
                settled += 1
            if 0 < goals == settled:
                break
            block, fill = np.int64(s.heads[rank, at]), ((s.counts[rank, at] - 1) & (BLOCK - 1)) + 1
            after = np.int64(s.following[block])
            opened, found = opened + 1, found + s.counts[rank, at]
            if size > 1:
                # All others of the bucket are for whoever comes, as far as there is room.
                left = s.counts[rank, at] - fill
                while after >= 0:
                    s.filled[after] = BLOCK
                    behind = s.following[after]
                    if not lay_out(s, me, after):
                        break
                    left -= BLOCK
                    after = behind
                s.heads[rank, at], s.counts[rank, at] = after, left
                at = min(at, _relax(s, me, (start, scale), block, fill))
            else:
                # The whole bucket at once, so that what falls back into it waits for its turn.
                s.heads[rank, at], s.counts[rank, at] = -1, 0
                while block >= 0:
                    after = np.int64(s.following[block])
                    at = min(at, _relax(s, me, (start, scale), block, fill))
                    block, fill = after, np.int64(BLOCK)
        elif s.counts[rank, BINS] > 0:
            moving = cycles()
            block, fill = s.heads[rank, BINS], ((s.counts[rank, BINS] - 1) & (BLOCK - 1)) + 1
            least, waiting = _least_in(s, block, fill, none)
            start = least if waiting > 0 else start
            # Each move is paid for by the vertices that it brings in, whatever the weights are; and each bucket that is
            # opened, which costs a look at what all others have, by the pairs in it.
            if 8 * came < waited or (size > 1 and found < FEW * size * opened):
                scale *= 0.5
            opened, found = 0, 0
            came, waited, at = 0, waiting, 0
            s.heads[rank, BINS], s.counts[rank, BINS] = -1, 0
            while block >= 0:
                for j in range(fill):
                    v, far = s.vertices[block, j], s.entry_distance[block, j]
                    if s.distance[v] == far:
                        bucket = bucket_of(far, start, scale)
                        came += bucket < BINS
                        push(s, me, bucket, v, far)
                after = np.int64(s.following[block])
                give_back(s, me, block)
                block, fill = after, np.int64(BLOCK)
            s.thread_state[rank, ROUNDS] += 1
            s.thread_state[rank, IN_WINDOW] += cycles() - moving
        elif size == 1:
            break
        else:
            fetch_add(control, IDLE, 1)
            looks = 0
            while load_now(control, IDLE) < size and load_now(control, LOST) == 0 and not stopped(control):
                some = False
                for other in range(size):
                    some |= has_some(s, other)
                if some:
                    break
                looks = look_again(looks)
            if not _wake(control, size):
                break
    farthest = start - start
    for v in range(first, last):
        if s.distance[v] != none:
            farthest = max(farthest, s.distance[v])
    s.least_pending[rank] = farthest
    s.thread_state[rank, IN_STEPS] = cycles() - begun - s.thread_state[rank, IN_WINDOW]
    leave(control, size)
