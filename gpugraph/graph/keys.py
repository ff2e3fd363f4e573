"""Weights as unsigned keys of the same order, so that compiled code knows two types instead of six."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit

Keys = NDArray[np.unsignedinteger[Any]]

_CHUNK = 1 << 16
"""Reals mapped at a time: the intermediate arrays stay in cache."""


def order_keys(weights: NDArray[Any]) -> Keys:
    """Return unsigned keys that compare as the weights do: a < b exactly if key(a) < key(b).

    Unsigned weights are their own keys (no copy).  Of signed integers the sign bit is flipped; of reals the
    sign bit of the positive ones and every bit of the negative ones.  The map depends on the dtype alone, so
    that keys of two arrays of one dtype compare too.

    Args:
        weights: (k,) any dtype of ``WEIGHT_DTYPES``, without NaN and negative zero.

    Returns:
        (k,) uint32 for the dtypes of 32 bits, uint64 for those of 64.
    """
    bits: Keys = np.ascontiguousarray(weights).view(np.dtype(f"u{weights.dtype.itemsize}"))
    if weights.dtype.kind == "u":
        return bits
    last_bit = weights.dtype.itemsize * 8 - 1
    sign = bits.dtype.type(1 << last_bit)
    keys = np.empty_like(bits)
    if weights.dtype.kind == "i":
        np.bitwise_xor(bits, sign, out=keys)
        return keys
    signed = bits.view(np.dtype(f"i{weights.dtype.itemsize}"))
    for start in range(0, len(bits), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        # The arithmetic shift gives all ones for a negative real and zero for a positive one.
        negative = (signed[chunk] >> last_bit).view(bits.dtype)
        np.bitwise_xor(bits[chunk], negative | sign, out=keys[chunk])
    return keys


def canonical_order(keys: Keys) -> NDArray[np.int64]:
    """Return the positions of ``keys`` in ascending order of key, equal keys in order of position.

    Keys of edges that are listed by ascending id come out in canonical order.

    Args:
        keys: (k,) uint32 or uint64.

    Returns:
        (k,) int64, the stable order.

    Source: Knuth 1998, The Art of Computer Programming 3, section 5.2.5 (least significant digit first).
    """
    order = np.arange(len(keys), dtype=np.int64)
    if len(keys) > 1:
        varying = int(np.bitwise_or.reduce(keys) ^ np.bitwise_and.reduce(keys))
        if _radix_order(keys.copy(), order, np.empty_like(keys), other := np.empty_like(order), np.uint64(varying)):
            return other
    return order


@njit
def _radix_order(keys: Any, order: Any, keys2: Any, order2: Any, varying: Any) -> bool:
    """Sort keys, and order with them, by digits of 8 bits; return whether the second pair holds the outcome.

    Args:
        keys: (k,) uint32 or uint64; overwritten.
        order: (k,) int64; overwritten.
        keys2: room for keys.
        order2: room for order.
        varying: the bits in which the keys differ at all; digits without one are passed over.
    """
    swapped = False
    for shift in range(0, keys.itemsize * 8, 8):
        if (varying >> np.uint64(shift)) & np.uint64(255) == 0:
            continue
        places = np.zeros(257, np.int64)
        for i in range(len(keys)):
            places[((np.uint64(keys[i]) >> np.uint64(shift)) & np.uint64(255)) + np.uint64(1)] += 1
        for d in range(256):
            places[d + 1] += places[d]
        for i in range(len(keys)):
            digit = (np.uint64(keys[i]) >> np.uint64(shift)) & np.uint64(255)
            at = places[digit]
            places[digit] = at + 1
            keys2[at] = keys[i]
            order2[at] = order[i]
        keys, keys2 = keys2, keys
        order, order2 = order2, order
        swapped = not swapped
    return swapped
