"""Sorting arcs by (tail, head) and merging parallel ones, in O(n + arcs) and on all threads.

Arcs are thrown into buckets of consecutive tails; each bucket, small enough for a core's cache, is sorted by
least-significant-digit counting sort, its parallel arcs are merged (the lightest stays), and the rows are
counted.  Weights are carried as words (their bit patterns), so that two signatures serve six dtypes.

Source: Knuth 1998, The Art of Computer Programming 3, section 5.2.5 (radix list sort, least significant digit first).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.graph.canonical import radix_sort, weight_key, weight_words
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.csr import target_dtype

_BUCKET_ARCS = 1 << 17
_MOST_BUCKETS = 1 << 13


@njit
def _count(ends: Any, start: int, stop: int, layout: Any, counts: Any) -> int:
    """Count the arcs of [start, stop) into buckets; return the number of self loops among them."""
    (tails, heads), (shift, _, mirrored) = ends, layout
    loops = 0
    for i in range(start, stop):
        u, v = tails[i], heads[i]
        if u == v:
            loops += 1
            continue
        counts[u >> shift] += 1
        if mirrored:
            counts[v >> shift] += 1
    return loops


@njit
def _scatter(ends: Any, weights: Any, start: int, stop: int, layout: Any, out: Any) -> None:
    """Write the arcs of [start, stop) as (tail within the bucket, head) keys to where the cursors point."""
    (tails, heads), (given, sign, real) = ends, weights
    (shift, head_bits, mirrored), (cursors, keys, words) = layout, out
    mask = (np.int64(1) << np.int64(shift)) - 1
    for i in range(start, stop):
        u, v, w = np.int64(tails[i]), np.int64(heads[i]), given[i]
        if u == v:
            continue
        if real and np.uint64(w) == sign:
            w ^= w  # -0.0 becomes +0.0
        bucket = u >> shift
        at = cursors[bucket]
        cursors[bucket] = at + 1
        keys[at] = np.uint64((u & mask) << head_bits | v)
        words[at] = w
        if mirrored:
            bucket = v >> shift
            at = cursors[bucket]
            cursors[bucket] = at + 1
            keys[at] = np.uint64((v & mask) << head_bits | u)
            words[at] = w


@njit
def _sort_buckets(buckets: Any, first: int, last: int, layout: Any, out: Any) -> int:
    """Sort and merge the buckets of [first, last) in place; count rows; return the arcs merged unequal."""
    (keys, words, starts), (shift, head_bits, sign, real), (offsets, kept) = buckets, layout, out
    longest = 0
    for b in range(first, last):
        longest = max(longest, starts[b + 1] - starts[b])
    keys2, words2 = np.empty(longest, keys.dtype), np.empty(longest, words.dtype)
    unequal = 0
    for b in range(first, last):
        start, stop = starts[b], starts[b + 1]
        if start == stop:
            continue
        swapped = radix_sort(keys[start:stop], words[start:stop], keys2, words2, shift + head_bits)
        sorted_keys = keys2 if swapped else keys[start:stop]
        sorted_words = words2 if swapped else words[start:stop]
        at = start - 1
        differs = False
        for i in range(stop - start):
            key, word = sorted_keys[i], sorted_words[i]
            if i > 0 and key == keys[at]:
                if word != words[at]:
                    differs = True
                    if weight_key(word, sign, real) < weight_key(words[at], sign, real):
                        words[at] = word
                continue
            unequal += differs
            differs = False
            at += 1
            keys[at] = key
            words[at] = word
            offsets[(b << shift) + np.int64(key >> np.uint64(head_bits)) + 1] += 1
        unequal += differs
        kept[b + 1] = at + 1 - start
    return unequal


@njit
def _gather(buckets: Any, kept: Any, first: int, last: int, out: Any) -> None:
    """Copy the arcs that stayed to their place in the graph."""
    (keys, words, starts), (mask, targets, weights) = buckets, out
    for b in range(first, last):
        source = starts[b]
        for i in range(kept[b], kept[b + 1]):
            targets[i] = keys[source] & mask
            weights[i] = words[source]
            source += 1


@njit
def _in_order(tails: Any, heads: Any, start: int, stop: int) -> bool:
    """Tell whether the arcs of [start, stop), and the one before, ascend strictly and hold no self loop."""
    for i in range(start, stop):
        u, v = tails[i], heads[i]
        if u == v:
            return False
        if i > 0 and (tails[i - 1] > u or (tails[i - 1] == u and heads[i - 1] >= v)):
            return False
    return True


@njit
def _ascends(offsets: Any, heads: Any, first: int, last: int) -> bool:
    """Tell whether the heads of each row of [first, last) ascend strictly and hold no self loop."""
    for v in range(first, last):
        previous = -1
        for i in range(offsets[v], offsets[v + 1]):
            if heads[i] <= previous or heads[i] == v:
                return False
            previous = heads[i]
    return True


def rows_ascend(offsets: NDArray[np.int64], heads: NDArray[Any]) -> bool:
    """Tell whether arcs listed row by row are sorted, without self loops and parallel arcs; no head is negative."""
    return all(in_threads(lambda low, high: _ascends(offsets, heads, low, high), balanced_ranges(offsets)))


@dataclass(frozen=True, eq=False)
class SortedArcs:
    """Arcs as rows.

    Attributes:
        offsets, targets, weights: as in ``CSRGraph``.
        loops: self loops dropped.
        merged: arcs merged into a parallel one.
        unequal: pairs (tail, head) whose parallel arcs had more than one weight.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[Any]
    weights: NDArray[Any]
    loops: int
    merged: int
    unequal: int


def sort_arcs(
    tails: NDArray[Any],
    heads: NDArray[Any],
    weights: NDArray[Any],
    vertices: int,
    *,
    mirrored: bool,
    report: Callable[[float], None] = lambda fraction: None,
) -> SortedArcs:
    """Return the arcs as sorted rows without self loops and parallel arcs; of the latter the lightest stays.

    Tails and heads are (k,) integers in [0, vertices), weights (k,) of one of ``WEIGHT_DTYPES`` without NaN.
    ``mirrored``: every arc means its reverse too.  ``report`` is called with the fraction done.
    """
    words, sign, real = weight_words(weights)
    tails, heads = (np.ascontiguousarray(ends, target_dtype(vertices)) for ends in (tails, heads))
    if not mirrored and all(in_threads(lambda lo, hi: _in_order(tails, heads, lo, hi), even_ranges(len(tails)))):
        plain = weights + weights.dtype.type(0) if real else weights.copy()
        return SortedArcs(row_starts(tails, vertices), heads.copy(), plain, 0, 0, 0)

    # Thrown into buckets of about ``_BUCKET_ARCS``: bucket b has the tails [b << shift, …).
    head_bits = max(1, (vertices - 1).bit_length())
    wanted = min(_MOST_BUCKETS, max(1, len(tails) * (2 if mirrored else 1) // _BUCKET_ARCS))
    shift = min(max(0, head_bits - wanted.bit_length() + 1), 64 - head_bits)  # a key holds the bits of both ends
    ends, layout, chunks = (tails, heads), (shift, head_bits, mirrored), even_ranges(len(tails))
    counts = np.zeros((len(chunks), ((vertices - 1) >> shift) + 1), np.int64)
    each = [(i, i + 1) for i in range(len(chunks))]
    loops = sum(in_threads(lambda i, _: _count(ends, *chunks[i], layout, counts[i]), each))
    starts = np.zeros(counts.shape[1] + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=starts[1:])
    cursors = starts[:-1] + np.cumsum(counts, axis=0) - counts
    keys, carried = np.empty(int(starts[-1]), np.uint64), np.empty(int(starts[-1]), words.dtype)

    def scatter(i: int, _: int) -> None:
        _scatter(ends, (words, sign, real), *chunks[i], layout, (cursors[i], keys, carried))

    in_threads(scatter, each, lambda part: report(0.4 * part))
    buckets, slots = (keys, carried, starts), balanced_ranges(starts)
    offsets, kept = np.zeros(vertices + 1, np.int64), np.zeros(len(starts), np.int64)

    def sort(lo: int, hi: int) -> int:
        return _sort_buckets(buckets, lo, hi, (shift, head_bits, sign, real), (offsets, kept))

    unequal = sum(in_threads(sort, slots, lambda part: report(0.4 + 0.5 * part)))
    np.cumsum(kept, out=kept)
    np.cumsum(offsets, out=offsets)
    targets, out = np.empty(int(kept[-1]), target_dtype(vertices)), np.empty(int(kept[-1]), words.dtype)
    placed = np.uint64((1 << head_bits) - 1), targets, out
    in_threads(lambda lo, hi: _gather(buckets, kept, lo, hi, placed), slots)
    merged = int(starts[-1] - kept[-1])
    return SortedArcs(offsets, targets, out.view(weights.dtype), int(loops), merged, int(unequal))


def row_starts(tails: NDArray[Any], vertices: int) -> NDArray[np.int64]:
    """Return the (n+1,) first arc of each row of arcs in the order of their tails; in any order, of those sorted."""
    offsets = np.zeros(vertices + 1, np.int64)
    np.cumsum(np.bincount(tails, minlength=vertices), out=offsets[1:])
    return offsets
