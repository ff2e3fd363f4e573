"""Bins and bucket widths of delta-stepping over ranks, the same for the device's search and the CPU's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpugraph.ranks.part import GraphPart

LEAST_PENDING, OVERFLOWED, BY_BIN = range(3)
"""Places in what a rank reports; ``Told`` in the .cu file has them too, which the CPU does not read."""
NEAR_SHARE = 8
"""Of a device's vertices at least this part is near, if so many wait: a round costs as much as many relaxations."""
HORIZON_DEGREE, HORIZON_ARCS, FIRST_WIDTHS = 16, 2, 8
"""Arcs a vertex from which on a horizon pays, arcs a vertex that are shorter than it, and widths of a bucket to it."""
UNITS = 4096
"""Of a mean weight, in which distances of floats are counted."""
_SAMPLE = 1 << 15


@dataclass(frozen=True)
class Widths:
    """What the ranks have sampled of the weights.

    Attributes:
        delta: what lies so close to the nearest vertex is near in any case.
        horizon: the weight that about HORIZON_ARCS arcs of a vertex do not exceed, or infinity where none pays.
        units: of distances of floats, a distance of 1 makes.
        share: the part of the vertices that is near at least; 0 where the width alone says what is.
    """

    delta: float
    horizon: float
    units: float
    share: int

    @classmethod
    def of(cls, part: GraphPart, delta: float, share: int) -> Widths:
        """Sample the weights, with the width of a bucket given, or 0, and a share for sparse graphs; a collective."""
        evenly = np.arange(0, part.own_arcs, max(1, part.arcs // _SAMPLE))
        own = part.arcs_at(evenly)[2].astype(np.float64)
        weights = np.sort(np.concatenate(part.comm.all_gather_object(own[np.isfinite(own)])))
        top = float(weights[-1]) if len(weights) else 0.0
        mean = top * float(np.mean(weights / top)) if top > 0 else 1.0  # the sum of large weights would overflow
        degree, horizon = part.arcs / max(part.vertices, 1), math.inf
        if degree >= HORIZON_DEGREE and top > 0:
            horizon = float(weights[int(HORIZON_ARCS / degree * (len(weights) - 1))])
            horizon = math.floor(horizon) + 1.0 if part.weight_dtype.kind != "f" else horizon
        if not 0 < horizon < top:
            horizon = math.inf
        chosen = horizon / FIRST_WIDTHS if horizon < math.inf else mean / 2
        if horizon < math.inf:
            share = NEAR_SHARE  # light arcs are few, and relaxing one again costs little on a CPU too
        return cls(min(max(delta or chosen, 1e-300), 1e300), horizon, min(UNITS / mean, 1e300), 0 if delta else share)


def value_of(word: Any, weights: np.dtype[Any]) -> float:
    """Return the distance that the 64 bits of a word encode."""
    if weights.kind != "f":
        return float(word)
    return float(np.array([word], np.uint64).astype(f"u{weights.itemsize}").view(weights)[0])


def word_of(value: float, weights: np.dtype[Any], bits: int) -> int:
    """Return the word of so many bits for a distance, the largest where that does not fit."""
    most: int = 2**bits - 1
    if weights.kind != "f":
        return int(min(value, most)) if value < most else most
    if value > float(np.finfo(weights).max):
        return most
    return int(np.array([value], weights).view(f"u{weights.itemsize}")[0])


def bin_of(beyond: int) -> int:
    """Return the bin of what lies so far beyond the base: eight to a doubling, as in delta_stepping/base.cuh."""
    if beyond < 8:
        return max(beyond, 0)
    exponent = beyond.bit_length() - 1
    return (exponent - 2) * 8 + (beyond >> (exponent - 3) & 7)


def bins_between(base: float, distance: float, widths: Widths, weights: np.dtype[Any], bits: int) -> int:
    """Return how many bins from the base on begin before a distance, of those for words of so many bits."""
    beyond = max(distance - base, 0.0) * (widths.units if weights.kind == "f" else 1.0)
    most = 2**32 - 1 if weights.kind == "f" else 2**bits - 1
    return min(bin_of(most if beyond >= most else int(beyond)), 8 * bits)
