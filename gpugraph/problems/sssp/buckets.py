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
    leasts:    (threads,) of distance's dtype, the least distance that waits at a thread.
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
from gpugraph.team import COUNTERS, STRIDE, compare_and_swap, fetch_add, load_now

Array = NDArray[Any]

BINS = 256
COLUMNS = BINS + 16
"""Buckets of a thread, and enough besides that no cache line has two threads' in it."""
BLOCK = 64
QUEUE = 1 << 10
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
