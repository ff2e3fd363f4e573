"""Exact sums: no integer sum ever wraps, and a sum of reals is rounded once, correctly.

Integers are summed in two halves of 32 bits, which 64-bit partial sums hold without wrapping.  Reals go
through a *superaccumulator*: the integer mantissas are summed apart for each of the 2047 exponents in
compiled code, the few partial sums meet as Python integers, and only the last step rounds.

Source: Neal 2015, Fast exact summation using small and large superaccumulators (the large one: a bin for each
exponent).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import parallel_njit, prange, threads

_CHUNK = 1 << 20
"""Elements converted or split at a time: the copies stay in cache."""

_NARROW = (1 << 63) // _CHUNK - 1
"""Up to here a chunk of integers does not wrap: as many of them as it has stay below 2^63."""

_PIECE = 1 << 30
"""Elements summed into one set of bins; a 32-bit half summed 2^31 times still fits int64."""

_EXPONENTS = 2048

_FEW = 1 << 14
"""Up to so many reals are summed by ``math.fsum``: the bins of all threads cost more than they save."""

_NEVER_BEYOND = 2.0**1000
"""So many reals up to this cannot add up beyond float64, in whatever order; ``math.fsum`` needs that."""


def exact_sum(array: NDArray[Any]) -> int | float:
    """Return the exact sum, an int, of integers, or the correctly rounded sum of float32 or float64 (ties to even).

    That is ±inf where infinities of one sign take part or the sum is beyond float64, NaN where both signs or a NaN do.
    """
    if array.dtype.kind == "f":
        if len(array) <= _FEW and np.all(np.abs(array, dtype=np.float64) <= _NEVER_BEYOND):
            return math.fsum(array.tolist())
        return _sum_in_bins(array)
    total = 0
    wide = np.int64 if array.dtype.kind == "i" else np.uint64
    for start in range(0, len(array), _CHUNK):
        chunk = array[start : start + _CHUNK]
        if chunk.dtype.itemsize < 8 or -_NARROW <= int(chunk.min()) <= int(chunk.max()) <= _NARROW:
            total += int(np.add.reduce(chunk, dtype=wide))
        else:
            high = chunk >> chunk.dtype.type(32)
            low = chunk & chunk.dtype.type(0xFFFFFFFF)
            total += (int(high.sum()) << 32) + int(low.sum())
    return total


def _sum_in_bins(array: NDArray[Any]) -> float:
    """Return the correctly rounded sum of a float32 or float64 array by the superaccumulator."""
    step = _PIECE if array.dtype == np.float64 else _CHUNK
    bins = np.zeros((threads(), 2, _EXPONENTS), np.int64)
    specials = np.zeros((threads(), 3), np.int64)
    total = 0
    summed = 0
    for start in range(0, len(array), step):
        if summed + step > _PIECE:
            total += _drain(bins)
            summed = 0
        chunk = np.ascontiguousarray(array[start : start + step], np.float64)
        _accumulate(chunk.view(np.int64), bins, specials)
        summed += step
    total += _drain(bins)
    positive, negative, nan = (int(count) for count in specials.sum(axis=0))
    if nan or (positive and negative):
        return math.nan
    if positive or negative:
        return math.inf if positive else -math.inf
    try:
        return total / (1 << 1074)  # the quotient of two Python integers is correctly rounded
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _drain(bins: NDArray[np.int64]) -> int:
    """Return the sum held by ``bins`` in units of 2^-1074, and empty them."""
    total = 0
    for exponent in np.flatnonzero(bins.any(axis=(0, 1))).tolist():
        low = sum(bins[:, 0, exponent].tolist())
        high = sum(bins[:, 1, exponent].tolist())
        # Exponent field 0 (subnormals) has the scale of exponent field 1, without the implicit bit.
        total += ((high << 32) + low) << (max(exponent, 1) - 1)
    bins[:] = 0
    return total


@parallel_njit
def _accumulate(bits: NDArray[np.int64], bins: NDArray[np.int64], specials: NDArray[np.int64]) -> None:
    """Add float64 values, by their bits, to bins (threads, 2, 2048): low 32 bits and rest of mantissas, by exponent.

    ``specials`` counts +inf, −inf and NaN; each thread has bins of its own.
    """
    workers = len(bins)
    for worker in prange(workers):
        for i in range(len(bits) * worker // workers, len(bits) * (worker + 1) // workers):
            value = bits[i]
            exponent = (value >> 52) & 0x7FF
            mantissa = value & 0xFFFFFFFFFFFFF
            if exponent == 0x7FF:
                kind = 2 if mantissa != 0 else (1 if value < 0 else 0)
                specials[worker, kind] += 1
                continue
            if exponent != 0:
                mantissa |= 0x10000000000000
            if value < 0:
                bins[worker, 0, exponent] -= mantissa & 0xFFFFFFFF
                bins[worker, 1, exponent] -= mantissa >> 32
            else:
                bins[worker, 0, exponent] += mantissa & 0xFFFFFFFF
                bins[worker, 1, exponent] += mantissa >> 32
