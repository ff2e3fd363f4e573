"""Oracles and certificates of scans.

Integers are checked exactly.  So are reals whose sums are exact in any order: whole numbers, small enough that every
sum of consecutive ones, and every sum in any order of up to ``UNORDERED`` neighbours, stays below the 2^24 (2^53) up to
which the type holds every whole number.  Other reals are checked against sums in twice the precision, within the bound
on the rounding error of any summation whose longest path has h additions (N. J. Higham, "Accuracy and stability of
numerical algorithms", 2002, section 4.2):

    |computed - exact| <= gamma(h) * (|x_0| + … + |x_i|),   gamma(h) = h u / (1 - h u),   u = 2^-24 or 2^-53

where h is what the algorithm declares; where the bound says nothing, for one thread adds up 2^24 float32 one after
another, the verdict is "skipped" and no rate is given.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.ext.scan.array import ArrayInput
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.problems.contract import Verdict

UNORDERED = 1 << 21
"""Most neighbouring elements that an algorithm may add in another order than theirs."""


def sums_are_exact(values: NDArray[Any]) -> bool:
    """Tell whether every sum that a scan forms is exact, whatever the order of additions."""
    if values.dtype.kind != "f" or len(values) == 0:
        return True
    limit = 2.0 ** (np.finfo(values.dtype).nmant + 1)
    if np.abs(values).max() * min(UNORDERED, len(values)) > limit or (values != np.trunc(values)).any():
        return False
    sums = np.cumsum(values, dtype=np.float64)
    return bool(max(float(sums.max()), 0.0) - min(float(sums.min()), 0.0) <= limit)


# ------------------------------------------------------------------ reference


def check_against_reference(graph: ArrayInput, result: Scanned) -> Verdict:
    """Compare with an oracle of NumPy's, element by element."""
    shape = _shape_complaint(graph, result)
    if shape:
        return Verdict("failed", "reference", shape)
    if graph.heads is not None:
        assert result.index is not None  # as the shape tells
        (value, index), found = segmented_minima(graph.values, graph.heads), result.index
        if result.per_segment:
            ends = np.flatnonzero(np.append(graph.heads[1:], 1)[: graph.elements])
            value, index = value[ends], index[ends]
        for i in np.flatnonzero((result.array != value) | (found != index))[:1]:
            detail = f"element {i} is {result.array[i]} from {found[i]}, the reference has {value[i]} from {index[i]}"
            return Verdict("failed", "reference", detail)
        return Verdict("passed", "reference", f"the same {len(value)} minima and positions as by doubling")
    if not sums_are_exact(graph.values):
        return _check_bound(graph, result)
    expected = shifted(np.cumsum(graph.values, dtype=graph.values.dtype), graph.exclusive)
    for i in np.flatnonzero(result.array != expected)[:1]:
        return Verdict("failed", "reference", f"element {i} is {result.array[i]}, NumPy has {expected[i]}")
    return Verdict("passed", "reference", f"the same {len(expected)} sums as NumPy's cumsum, exactly")


def shifted(inclusive: NDArray[Any], exclusive: bool) -> NDArray[Any]:
    """Return an inclusive scan as it is, or moved by one element if it is to be exclusive."""
    if not exclusive or len(inclusive) == 0:
        return inclusive
    return np.concatenate([np.zeros(1, inclusive.dtype), inclusive[:-1]])


def segmented_minima(values: NDArray[Any], heads: NDArray[np.uint8]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the least element of each segment so far, and its position, by doubling: log2 of the longest segment."""
    n = len(values)
    index = np.arange(n, dtype=np.int64)
    start = np.maximum.accumulate(np.where((heads != 0) | (index == 0), index, 0)) if n else index
    best = index.copy()
    step = 1
    while n and step <= int((index - start).max()):
        reach = np.flatnonzero(index - start >= step)
        mine, theirs = best[reach], best[reach - step]
        best[reach] = np.where(values[theirs] <= values[mine], theirs, mine)
        step *= 2
    return values[best], best


def _check_bound(graph: ArrayInput, result: Scanned) -> Verdict:
    unit = float(np.finfo(graph.values.dtype).eps) / 2
    if result.depth * unit >= 0.5:
        reason = f"{result.depth} roundings in a row leave no digit of {graph.values.dtype} that could be checked"
        return Verdict("skipped", "reference", f"{reason}; whole numbers of small size are checked exactly")
    wide = np.longdouble if graph.values.dtype == np.float64 else np.float64
    exact = shifted(np.cumsum(graph.values, dtype=wide), graph.exclusive)
    sizes = shifted(np.cumsum(np.abs(graph.values), dtype=np.float64), graph.exclusive)
    # The reference rounds too: n times, in its own precision.
    own = len(exact) * float(np.finfo(wide).eps)
    bound = (result.depth * unit / (1 - result.depth * unit) + own) * sizes
    for i in np.flatnonzero(~(np.abs(result.array.astype(wide) - exact) <= bound))[:1]:
        detail = f"element {i} is {result.array[i]}, more than {bound[i]:.3g} off {float(exact[i])!r}"
        return Verdict("failed", "reference", detail)
    largest = float(bound.max()) if len(bound) else 0.0
    detail = f"{len(exact)} sums within the bound of {result.depth} roundings, at most {largest:.3g}"
    return Verdict("passed", "reference", detail)


# ------------------------------------------------------------------ certificate


@njit
def _first_wrong_word(arrays: tuple[Any, Any], mask: Any, shift: int, start: int, stop: int) -> int:
    """Return the first element of a range that its neighbour does not lead to, or −1; integers as unsigned words."""
    values, sums = arrays
    for i in range(start, stop):
        before = np.uint64(sums[i - 1]) if i > 0 else np.uint64(0)
        added = np.uint64(values[i - shift]) if i >= shift else np.uint64(0)
        if (np.uint64(sums[i]) - before - added) & mask != 0:
            return i
    return -1


@njit
def _first_wrong_real(values: Any, sums: Any, shift: int, start: int, stop: int) -> int:
    """Return the first element of a range that its neighbour does not lead to, or −1; sums that are exact."""
    for i in range(start, stop):
        before = np.float64(sums[i - 1]) if i > 0 else 0.0
        added = np.float64(values[i - shift]) if i >= shift else 0.0
        if sums[i] != before + added:
            return i
    return -1


@njit
def _first_wrong_minimum(values: Any, heads: Any, scan: tuple[Any, Any], start: int, stop: int) -> int:
    minima, index = scan
    for i in range(start, stop):
        expected = i
        if i > 0 and heads[i] == 0:
            before = index[i - 1]
            if before < 0 or before >= i:
                return i
            if values[before] <= values[i]:
                expected = before
        if index[i] != expected or minima[i] != values[expected]:
            return i
    return -1


def check_certificate(graph: ArrayInput, result: Scanned) -> Verdict:
    """Check every element against the one before it: with the first one right, all are.

    No scan is made, and every range is checked by a thread of its own.  Reals whose sums are not exact go to the
    reference: small errors of neighbours would add up unseen.
    """
    shape = _shape_complaint(graph, result)
    if shape:
        return Verdict("failed", "certificate", shape)
    values, array, shift = graph.values, result.array, int(graph.exclusive)
    what = "is not the one before it and an element more"
    if graph.heads is not None and result.per_segment:
        return _certify_reduction(graph, result)
    if graph.heads is not None:
        look = partial(_first_wrong_minimum, values, graph.heads, (array, result.index))
        what = "does not follow from the one before it and its own element"
    elif not sums_are_exact(values):
        return _check_bound(graph, result)
    elif values.dtype.kind == "f":
        look = partial(_first_wrong_real, values, array, shift)
    else:
        word = np.dtype(f"u{values.dtype.itemsize}")
        look = partial(_first_wrong_word, (values.view(word), array.view(word)), np.uint64(np.iinfo(word).max), shift)
    for i in sorted(i for i in in_threads(look, even_ranges(len(values))) if i >= 0)[:1]:
        return Verdict("failed", "certificate", f"element {i}, {array[i]}, {what}")
    return Verdict("passed", "certificate", f"each of {len(values)} elements follows from the one before it, exactly")


def _certify_reduction(graph: ArrayInput, result: Scanned) -> Verdict:
    """Check that each segment's minimum stands where it says, that nothing there is less, and nothing earlier equal."""
    values, minima, index = graph.values, result.array, result.index
    assert graph.heads is not None  # as the shape tells
    assert index is not None
    starts = np.flatnonzero((graph.heads != 0) | (np.arange(len(values)) == 0))
    right = (index >= starts) & (index < np.append(starts[1:], len(values))[: len(starts)])
    if len(starts):
        right &= np.minimum.reduceat(values, starts) == minima
    own = np.repeat(minima, np.diff(np.append(starts, len(values))))
    equal = np.flatnonzero(values == own)
    first = np.append(equal, -1)[np.searchsorted(equal, starts)]
    for s in np.flatnonzero(~right | (first != index))[:1]:
        return Verdict(
            "failed", "certificate", f"segment {s}: {minima[s]} at {index[s]} is not its first least element"
        )
    return Verdict("passed", "certificate", f"each of {len(starts)} segments has its first minimum")


def _shape_complaint(graph: ArrayInput, result: Scanned) -> str:
    """Return what is wrong with a result before its elements are looked at, or nothing."""
    wanted, of = graph.elements, "elements"
    if result.per_segment and graph.heads is not None:
        wanted, of = min(graph.elements, 1) + int(np.count_nonzero(graph.heads[1:])), "segments"
    if len(result.array) != wanted:
        return f"the scan of {wanted} {of} has {len(result.array)}"
    if result.array.dtype != graph.values.dtype:
        return f"the scan of {graph.values.dtype} is of type {result.array.dtype}"
    if graph.heads is not None and (result.index is None or len(result.index) != wanted):
        return "the minima came without their positions"
    return ""
