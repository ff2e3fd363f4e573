"""The canonical order: edge ids of a graph's arcs, and unsigned keys that put weights of any type in order.

The id of an undirected edge is the position of its arc u→v with u < v; a reverse arc finds it by binary search
in the sorted row of its head.  In a directed graph each arc is an edge of its own, and its position the id.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import inner_njit, njit, threads
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph


@inner_njit
def lower_bound(values: Any, low: Any, high: Any, key: Any) -> Any:
    """Return the first position in [low, high) of an ascending stretch with a value not below ``key``, or ``high``."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


_MOST_RANGES = 8


@njit
def find_arc(offsets: Any, targets: Any, tail: int, head: int) -> int:
    """Return the position of the arc tail→head, or −1; binary search in the sorted row."""
    at = lower_bound(targets, offsets[tail], offsets[tail + 1], head)
    return at if at < offsets[tail + 1] and targets[at] == head else -1


@njit
def _fill_ids(offsets: Any, targets: Any, first: int, last: int, ids: Any) -> None:
    """Write the canonical ids of the edges whose smaller endpoint lies in [first, last), to both their arcs.

    Smaller endpoints come in ascending order, as in the rows of the greater ones: a cursor in each row is enough.
    """
    n = len(offsets) - 1
    cursors = np.empty(n - first, np.int64)
    for v in range(first, n):
        cursors[v - first] = lower_bound(targets, offsets[v], offsets[v + 1], first)
    for u in range(first, last):
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if v > u:
                back = cursors[v - first]
                cursors[v - first] = back + 1
                ids[i] = i
                ids[back] = i


def ids_at(offsets: NDArray[np.int64], targets: NDArray[Any], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the (k,) int64 canonical ids of the arcs at ``positions``, (k,) inside an undirected graph."""
    ids = np.empty(len(positions), np.int64)
    in_threads(partial(_fill_ids_at, offsets, targets, positions, ids), even_ranges(len(positions)))
    return ids


@njit
def _fill_ids_at(offsets: Any, targets: Any, positions: Any, ids: Any, start: int, stop: int) -> None:
    for k in range(start, stop):
        i = positions[k]
        u = lower_bound(offsets, 1, len(offsets), i + 1) - 1  # the last row that begins at or before the arc
        v = targets[i]
        ids[k] = i if v > u else find_arc(offsets, targets, v, u)


def canonical_ids(graph: CSRGraph) -> NDArray[np.int64]:
    """Return the (arcs,) int64 canonical edge id of every arc; O(n + arcs), on all threads."""
    if graph.directed:
        return np.arange(graph.arcs, dtype=np.int64)
    ids = np.empty(graph.arcs, np.int64)
    # Every range holds a cursor per vertex, which bounds how many are worth it.
    rows = balanced_ranges(graph.offsets, min(threads(), _MOST_RANGES))
    in_threads(lambda lo, hi: _fill_ids(graph.offsets, graph.targets, lo, hi, ids), rows)
    return ids


Keys = NDArray[np.unsignedinteger[Any]]


def weight_words(weights: NDArray[Any]) -> tuple[NDArray[Any], np.uint64, bool]:
    """Return (k,) weights as unsigned words (a view if possible), the sign bit (or 0), and whether they are real."""
    bits = weights.dtype.itemsize * 8
    sign = np.uint64(0 if weights.dtype.kind == "u" else 1 << (bits - 1))
    return np.ascontiguousarray(weights).view(f"u{bits // 8}"), sign, weights.dtype.kind == "f"


@njit
def weight_key(word: Any, sign: Any, real: bool) -> Any:
    """Return a uint64 that orders as the weight behind ``word`` does, among words of one width."""
    wide = np.uint64(word)
    if real and wide & sign:
        return ~wide & (sign | (sign - np.uint64(1)))
    return wide ^ sign


@njit
def weight_keys(words: Any, sign: Any, real: bool) -> Any:
    """Return the (k,) keys of words, as wide as they are; see ``weight_key``."""
    keys = np.empty_like(words)
    for i in range(len(words)):
        keys[i] = weight_key(words[i], sign, real)
    return keys


def order_keys(weights: NDArray[Any]) -> Keys:
    """Return unsigned keys that compare as the weights do: (k,) uint32 for dtypes of 32 bits, uint64 for those of 64.

    Unsigned weights are their own keys (no copy).  Of signed integers the sign bit is flipped; of reals, which hold no
    NaN and no −0.0, the sign bit of the positive ones and every bit of the negative ones.
    """
    words, sign, real = weight_words(weights)
    return weight_keys(words, sign, real) if sign else words


def canonical_order(keys: Keys) -> NDArray[np.int64]:
    """Return the (k,) int64 positions of ``keys`` in ascending order of key, equal keys in order of position.

    Source: Knuth 1998, The Art of Computer Programming 3, section 5.2.5 (least significant digit first).
    """
    order = np.arange(len(keys), dtype=np.int64)
    if len(keys) > 1:
        bits = max(1, int(np.bitwise_or.reduce(keys) ^ np.bitwise_and.reduce(keys)).bit_length())
        if radix_sort(keys.copy(), order, np.empty_like(keys), other := np.empty_like(order), bits):
            return other
    return order


@njit
def radix_sort(keys: Any, words: Any, keys2: Any, words2: Any, bits: int) -> bool:
    """Sort unsigned keys, and words with them, stably; return whether the sorted arrays are the second pair.

    All four arrays are written over; the keys differ in the lowest ``bits`` at most, one or more.
    """
    size = len(keys)
    passes = (bits + 10) // 11
    width = (bits + passes - 1) // passes
    mask = np.uint64((1 << width) - 1)
    counts = np.zeros((passes, 1 << width), np.int64)
    for i in range(size):
        key = keys[i]
        for p in range(passes):
            counts[p, np.int64(key & mask)] += 1
            key >>= np.uint64(width)
    swapped = False
    for p in range(passes):
        row = counts[p]
        shift = np.uint64(p * width)
        if row[np.int64((keys[0] >> shift) & mask)] == size:
            continue
        total = 0
        for d in range(1 << width):
            count = row[d]
            row[d] = total
            total += count
        for i in range(size):
            key = keys[i]
            digit = np.int64((key >> shift) & mask)
            at = row[digit]
            row[digit] = at + 1
            keys2[at] = key
            words2[at] = words[i]
        keys, keys2 = keys2, keys
        words, words2 = words2, words
        swapped = not swapped
    return swapped
