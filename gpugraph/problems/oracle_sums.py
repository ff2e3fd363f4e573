"""Exact sums for those that judge: one for certificates, another for references, neither from ``gpugraph.base.exact``.

A sum that a result and its judge took from one function would be wrong in both alike, and pass.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PIECE = 1 << 20
"""Elements added up at a time: halves of 32 bits, so many of them, are far from the end of 64 bits."""

_LEAST = -1073
"""The least exponent that ``frexp`` gives a float64."""


def certified_sum(values: NDArray[Any]) -> int | float:
    """Return the exact sum of integers, an int, or the correctly rounded one of reals; by halves, for certificates.

    Reals are integers of 53 bits times a power of two; those of one power are added up as integers are.
    """
    pieces = [values[start : start + _PIECE] for start in range(0, len(values), _PIECE)]
    if values.dtype.kind != "f":
        return sum(_by_halves(piece.astype(f"{values.dtype.kind}8", copy=False), 32) for piece in pieces)
    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            return float(values[~np.isfinite(values)].sum(dtype=np.float64))
    total = 0
    for piece in pieces:
        fraction, exponent = np.frexp(piece.astype(np.float64))
        whole = np.ldexp(fraction, 53).astype(np.int64)
        order = np.argsort(exponent.astype(np.int16), kind="stable")
        powers, starts = np.unique(exponent[order], return_index=True)
        for power, same in zip(powers.tolist(), np.split(whole[order], starts[1:]), strict=True):
            total += _by_halves(same, 26) << (power - _LEAST)
    return _rounded(Fraction(total, 1 << (53 - _LEAST)))


def _by_halves(values: NDArray[Any], bits: int) -> int:
    """Return the sum of 64-bit integers by sums of their lower ``bits`` and of the rest."""
    shift = values.dtype.type(bits)
    return (int((values >> shift).sum()) << bits) + int((values & values.dtype.type((1 << bits) - 1)).sum())


def reference_sum(values: NDArray[Any]) -> int | float:
    """Return what ``certified_sum`` does, by Python's own integers and floats, for references."""
    numbers = values.tolist()
    if values.dtype.kind != "f":
        return int(sum(numbers))
    try:
        return math.fsum(values[~np.isfinite(values)].tolist() or numbers)  # beside an infinity no real counts
    except ValueError:  # infinities of both signs
        return math.nan
    except OverflowError:  # of a partial sum; the whole may fit
        return _rounded(sum(map(Fraction, numbers), Fraction()))


def _rounded(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
