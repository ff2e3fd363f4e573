"""Preparations of a graph for algorithms: sorted adjacency, renumbered vertices, ranked weights, short targets.

================== ==================================================================================
preparation        what it does
================== ==================================================================================
``sort-adjacency`` each row by (weight, canonical id) instead of by target
``renumber``       vertices renumbered in breadth-first order, so that connected ones get close
                   numbers; rows are sorted by the new targets unless ``sort-adjacency`` is chosen too
``rank-weights``   weights of any dtype become dense uint32 ranks: the same order, the same ties
``compress``       a device gets the targets in a byte and two bits each; rows that spread too far for it
                   stay as they are
================== ==================================================================================

What comes out does not depend on the order in which they are named.

Compressed adjacency takes one byte and two bits for each arc, four bytes for each vertex.  A neighbour's number is
``base + 256 * k + short``: ``base`` is the least neighbour of the row, ``short`` one byte of the arc, ``k`` two bits of
it.  A row whose neighbours spread over more than 1023 numbers is kept beside as it is.  The form works in any order of
the row, and gives every neighbour by its position alone.

    base (n) int32           the row's least neighbour, or ~r of the r-th row that is kept as it is
    short (arcs) uint8       the low eight bits of each arc's distance from the base
    k (arcs/4) uint8         the two bits above, four arcs a byte, the first arc lowest
    kept (…) int32           the neighbours of the rows kept, one row after the other
    kept_shift (…) index     what to add to an arc's position to find it in ``kept``, for each of those rows

Source: Kolganov 2015, Hybrid implementation of the MST algorithm using CPU and GPU, "Input Conversion", 1 to 4 (the
paper does not say how it renumbers: here in breadth-first order, Cuthill & McKee 1969).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.graph.canonical import canonical_ids, lower_bound, weight_key, weight_keys, weight_words
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph, freeze
from gpugraph.graph.view import GraphView

MOST_RANKS = 2**32
"""Ranks are uint32."""
_TABLE_SPAN = 1 << 24
"""Weights within a span this wide are ranked through a table whatever the number of arcs."""
_RUN = 16
"""Runs this long are sorted by insertion before they are merged."""
_PREFIX_BITS = 18
"""Distinct weights are looked up by so many leading bits first."""


def prepared(graph: CSRGraph, chosen: tuple[str, ...], index: np.dtype[Any]) -> GraphView:
    """Return the view of a graph after the chosen preparations, with arc indices of a dtype; see ``GraphView.of``."""
    offsets, targets, weights = graph.offsets, graph.targets, graph.weights
    arc_origin = vertex_origin = edge_ids = None
    if "rank-weights" in chosen:
        weights = rank_weights(weights)
    if "sort-adjacency" in chosen or "renumber" in chosen:
        offsets, targets, origin, vertex_origin = reorder(
            graph, by_weight="sort-adjacency" in chosen, renumbered="renumber" in chosen
        )
        weights = weights[origin]
        edge_ids = canonical_ids(graph)[origin].astype(index, copy=False)
        arc_origin = origin.astype(index, copy=False)
    compressed = compress(offsets, targets, index) if "compress" in chosen else None
    offsets = offsets.astype(index, copy=False)
    return GraphView(graph, offsets, targets, weights, chosen, arc_origin, vertex_origin, edge_ids, compressed)


@njit
def breadth_first_order(offsets: Any, targets: Any) -> Any:
    """Return the (n,) vertices in breadth-first order, one component after the other, isolated vertices last."""
    n = len(offsets) - 1
    order = np.empty(n, targets.dtype)
    seen = np.zeros(n, np.bool_)
    head = tail = 0
    for seed in range(n):
        if seen[seed] or offsets[seed] == offsets[seed + 1]:
            continue
        seen[seed] = True
        order[tail] = seed
        tail += 1
        while head < tail:
            u = order[head]
            head += 1
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                if not seen[v]:
                    seen[v] = True
                    order[tail] = v
                    tail += 1
    for v in range(n):
        if not seen[v]:
            order[tail] = v
            tail += 1
    return order


@njit
def _stable_sort(keys: Any, items: Any, keys2: Any, items2: Any, size: int) -> bool:
    """Merge-sort ``size`` keys, and items with them; return whether the sorted arrays are the second pair."""
    for start in range(0, size, _RUN):
        for i in range(start + 1, min(start + _RUN, size)):
            key, item = keys[i], items[i]
            j = i
            while j > start and keys[j - 1] > key:
                keys[j], items[j] = keys[j - 1], items[j - 1]
                j -= 1
            keys[j], items[j] = key, item
    width = _RUN
    swapped = False
    while width < size:
        for start in range(0, size, 2 * width):
            middle, stop = min(start + width, size), min(start + 2 * width, size)
            a, b = start, middle
            for out in range(start, stop):
                if b >= stop or (a < middle and keys[a] <= keys[b]):
                    keys2[out], items2[out] = keys[a], items[a]
                    a += 1
                else:
                    keys2[out], items2[out] = keys[b], items[b]
                    b += 1
        keys, keys2 = keys2, keys
        items, items2 = items2, items
        swapped = not swapped
        width *= 2
    return swapped


@njit
def _order_rows(graph: Any, by_weight: bool, vertices: Any, first: int, last: int, out: Any) -> None:
    """Write the rows [first, last) of the new graph, sorted by weight or by new target, ties as they stood."""
    (offsets, targets, (words, sign, real)), (origin, number, new_offsets), (arc_origin, new_targets) = (
        graph,
        vertices,
        out,
    )
    longest = 0
    for row in range(first, last):
        longest = max(longest, new_offsets[row + 1] - new_offsets[row])
    keys, keys2 = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    items, items2 = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for row in range(first, last):
        start = offsets[origin[row]]
        size = new_offsets[row + 1] - new_offsets[row]
        for i in range(size):
            items[i] = start + i
            keys[i] = weight_key(words[start + i], sign, real) if by_weight else np.uint64(number[targets[start + i]])
        swapped = _stable_sort(keys, items, keys2, items2, size)
        begin = new_offsets[row]
        for i in range(size):
            item = items2[i] if swapped else items[i]
            arc_origin[begin + i] = item
            new_targets[begin + i] = number[targets[item]]


def reorder(
    graph: CSRGraph, *, by_weight: bool, renumbered: bool
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64], NDArray[Any] | None]:
    """Return (n+1,) offsets, targets, arc origins, int64, and vertex origins or None of the rows in another order.

    Rows are sorted by (weight, canonical id) or by target; ``renumbered`` gives vertices new numbers, in breadth-first
    order.  Equal weights keep the order of ids in the original graph: there ids ascend in a row, and the sort is
    stable.
    """
    identity = np.arange(graph.vertices, dtype=graph.targets.dtype)
    origin, number, offsets = identity, identity, graph.offsets
    if renumbered:
        origin = np.asarray(breadth_first_order(graph.offsets, graph.targets))
        number = np.empty_like(identity)
        number[origin] = identity
        offsets = np.zeros(graph.vertices + 1, np.int64)
        np.cumsum(graph.degrees[origin], out=offsets[1:])
    arc_origin, targets = np.empty(graph.arcs, np.int64), np.empty_like(graph.targets)
    old = graph.offsets, np.ascontiguousarray(graph.targets), weight_words(graph.weights)
    vertices, new = (origin, number, offsets), (arc_origin, targets)
    in_threads(lambda lo, hi: _order_rows(old, by_weight, vertices, lo, hi, new), balanced_ranges(offsets))
    return offsets, targets, arc_origin, origin if renumbered else None


@njit
def _mark(weights: Any, low: Any, start: int, stop: int, table: Any) -> None:
    """Mark the weights that occur; threads may mark the same one, with the same value."""
    words, sign, real = weights
    for i in range(start, stop):
        table[np.int64(weight_key(words[i], sign, real) - low)] = 1


@njit
def _look_up(weights: Any, low: Any, start: int, stop: int, table: Any, ranks: Any) -> None:
    """Write the ranks of the weights of [start, stop) from the table."""
    words, sign, real = weights
    for i in range(start, stop):
        ranks[i] = table[np.int64(weight_key(words[i], sign, real) - low)]


@njit
def _search(weights: Any, among: Any, start: int, stop: int, ranks: Any) -> None:
    """Write the ranks of the weights of [start, stop) by binary search among the keys of one prefix."""
    (words, sign, real), (distinct, firsts, shift) = weights, among
    for i in range(start, stop):
        key = weight_key(words[i], sign, real)
        prefix = np.int64((key - distinct[0]) >> shift)
        ranks[i] = lower_bound(distinct, firsts[prefix], firsts[prefix + 1], key)


def rank_weights(weights: NDArray[Any]) -> NDArray[np.uint32]:
    """Return (arcs,) uint32 dense ranks of weights, equal ones alike; InputError if more than 2^32 differ."""
    ranks = np.empty(len(weights), np.uint32)
    if not len(weights):
        return ranks
    words, sign, real = carried = weight_words(weights)
    chunks = even_ranges(len(weights))
    ends = words[int(weights.argmin())], words[int(weights.argmax())]
    low, high = (int(weight_key(bits, sign, real)) for bits in ends)
    if high - low < max(_TABLE_SPAN, 2 * len(weights)):
        table = np.zeros(high - low + 1, np.uint32)
        least = np.uint64(low)
        in_threads(lambda lo, hi: _mark(carried, least, lo, hi, table), chunks)
        distinct = int(np.count_nonzero(table))
        _check_ranks(distinct)
        np.cumsum(table, out=table)
        table -= np.uint32(1)
        in_threads(lambda lo, hi: _look_up(carried, least, lo, hi, table, ranks), chunks)
        return ranks
    # The distinct ones of each part first: usually few are left to sort together.
    distinct_weights = _distinct(np.concatenate(in_threads(lambda lo, hi: _distinct(weights[lo:hi]), chunks)))
    _check_ranks(len(distinct_weights))
    keys = weight_keys(weight_words(distinct_weights)[0], sign, real).astype(np.uint64, copy=False)
    shift = np.uint64(max(0, (high - low).bit_length() - _PREFIX_BITS))
    firsts = np.zeros((1 << _PREFIX_BITS) + 1, np.int64)
    prefixes = ((keys - keys[0]) >> shift).view(np.int64)
    np.cumsum(np.bincount(prefixes, minlength=1 << _PREFIX_BITS), out=firsts[1:])
    in_threads(lambda lo, hi: _search(carried, (keys, firsts, shift), lo, hi, ranks), chunks)
    return ranks


def _distinct(weights: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct weights in ascending order (np.unique may hash, which is slower and keeps the GIL)."""
    ordered = np.sort(weights)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]


def _check_ranks(distinct: int) -> None:
    if distinct > MOST_RANKS:
        what = f"{distinct} distinct weights do not fit in 32-bit ranks"
        raise InputError(what, remedy="leave out the preparation rank-weights")


WIDEST_SPREAD = 1023
"""What one byte and two bits can tell apart, less one."""


@dataclass(frozen=True, eq=False)
class CompressedTargets:
    """The targets of a graph in compressed form; the arrays are those of the module's docstring, read-only."""

    base: NDArray[np.int32]
    short: NDArray[np.uint8]
    k: NDArray[np.uint8]
    kept: NDArray[np.int32]
    kept_shift: NDArray[Any]

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays a device needs."""
        return (self.base, self.short, self.k, self.kept, self.kept_shift)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.short)

    @property
    def factor(self) -> float:
        """How many times fewer bytes than four for each arc."""
        return 4 * self.arcs / self.nbytes if self.nbytes else 1.0

    def first_rows(self, offsets: NDArray[Any], rows: int) -> "CompressedTargets":
        """Return the part that holds the first ``rows`` rows, which begin at ``offsets``: views, no copies."""
        arcs = int(offsets[rows])
        whole = np.flatnonzero(self.base[:rows] < 0)
        kept = int(self.kept_shift[len(whole) - 1]) + int(offsets[whole[-1] + 1]) if len(whole) else 0
        return CompressedTargets(
            self.base[:rows],
            self.short[:arcs],
            self.k[: -(-arcs // 4)],
            self.kept[:kept],
            self.kept_shift[: len(whole)],
        )


def compress(offsets: NDArray[Any], targets: NDArray[Any], index: np.dtype[Any]) -> CompressedTargets:
    """Return (arcs,) int32 targets compressed, with arc indices of ``index``; InputError if they have 64 bits."""
    if targets.dtype.itemsize != 4:
        raise InputError("vertex numbers of 64 bits cannot be compressed", remedy="leave out the preparation compress")
    arcs = len(targets)
    base = np.empty(len(offsets) - 1, np.int32)
    short, k = np.empty(arcs, np.uint8), np.zeros(-(-arcs // 4) * 4, np.uint8)
    rows = balanced_ranges(offsets)
    in_threads(lambda start, stop: _bases(offsets, targets, start, stop, base), rows)
    whole = np.flatnonzero(base < 0)
    base[whole] = ~np.arange(len(whole), dtype=np.int32)
    starts = np.zeros(len(whole) + 1, np.int64)
    np.cumsum(offsets[whole + 1] - offsets[whole], out=starts[1:])
    kept, shift = np.empty(int(starts[-1]), np.int32), starts[:-1] - offsets[whole]
    whole_rows, out = (offsets, targets, base, shift), (short, k, kept)
    in_threads(lambda start, stop: _write_rows(whole_rows, start, stop, out), rows)
    packed = k[0::4] | k[1::4] << np.uint8(2) | k[2::4] << np.uint8(4) | k[3::4] << np.uint8(6)
    return CompressedTargets(base, short, packed, kept, shift.astype(index))


@njit
def _bases(offsets: Any, targets: Any, start: int, stop: int, base: Any) -> None:
    """Write each row's least neighbour, or -1 where the row spreads too far; 0 for a row without neighbours."""
    for row in range(start, stop):
        first, end = offsets[row], offsets[row + 1]
        if first == end:
            base[row] = 0
            continue
        least = most = targets[first]
        for arc in range(first + 1, end):
            least = min(least, targets[arc])
            most = max(most, targets[arc])
        base[row] = least if most - least <= WIDEST_SPREAD else -1


@njit
def _write_rows(rows: Any, start: int, stop: int, out: Any) -> None:
    """Write the arcs of the rows [start, stop): a byte and two bits each, or, of rows that are kept, the target."""
    (offsets, targets, base, shift), (short, k, kept) = rows, out
    for row in range(start, stop):
        least = base[row]
        for arc in range(offsets[row], offsets[row + 1]):
            if least < 0:
                kept[shift[~least] + arc] = targets[arc]
                short[arc] = 0
            else:
                distance = targets[arc] - least
                short[arc] = distance & 255
                k[arc] = distance >> 8
