"""The search of ``buckets.py``: every thread of a team works through its buckets, and takes from those behind it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.compiled import plain_njit
from gpugraph.problems.sssp.buckets import (
    BINS,
    BLOCK,
    END,
    FREE,
    HUB,
    IDLE,
    IN_STEPS,
    IN_WINDOW,
    LOST,
    PIECE,
    POOL,
    QUEUE,
    RELAXED,
    ROUNDS,
    bucket_of,
    give_back,
    has_some,
    lay_out,
    new_block,
    push,
    take,
    take_behind,
)
from gpugraph.team import (
    STRIDE,
    compare_and_swap,
    cycles,
    fetch_add,
    fetch_min,
    join,
    load_now,
    look_again,
    meet,
    prefetch,
    release,
    share_of,
    stopped,
)


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
            # Each move is paid for by the vertices that it brings in, whatever the weights are.
            if 8 * came < waited:
                scale *= 0.5
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
    own[rank, IN_STEPS] = cycles() - begun - own[rank, IN_WINDOW]
