"""Counter-based random numbers: every draw is a hash of (seed, index).

A spec therefore gives the same graph bit for bit whatever the number of threads, and a device can compute the same
(``cuda_kernels/counter_random.cuh``).  All arithmetic is on unsigned 64-bit integers that wrap:

    hash64(z)           mix(z + 0x9E3779B97F4A7C15), with mix as in ``digest.py``: one step of SplitMix64
    high_product(x, k)  the upper 64 bits of the 128-bit product x * k: uniform in 0..k−1 for uniform x
    shuffle(x, bits)    a bijection of 0..2^bits − 1: with the keys k1, k2 (odd), h = (bits + 1) // 2 and
                        everything modulo 2^bits,  x *= k1;  x ^= x >> h;  x *= k2;  x ^= x >> h;  x *= k1;
                        x ^= x >> h;  the keys are k1 = hash64(3 * seed + 1) | 1, k2 = hash64(3 * seed + 2) | 1
    nth_distinct(key, j, size)
                        the j-th of a pseudo-random order of 0..size−1: x = j; then, until x < size, with bits
                        the width of size − 1 and k1, k2 from key as above, x = shuffle((x + k2 >> 32) modulo
                        2^bits)

Source: Steele, Lea & Flood 2014, Fast splittable pseudorandom number generators; Black & Rogaway 2002, Ciphers
with arbitrary finite domains, section 3 (walking along a cycle back into the domain).
"""

from typing import Any

import numpy as np

from gpugraph.base.compiled import inner_njit, njit
from gpugraph.graph.digest import mix


@njit
def hash64(z: Any) -> Any:
    """Return the hash of a uint64."""
    return mix(z + np.uint64(0x9E3779B97F4A7C15))


def hash64_of(z: Any) -> Any:
    """Return the hash of a whole number of 64 bits, or of an array of uint64, without compiled code."""
    if isinstance(z, int):
        return int(hash64_of(np.array([z % 2**64], np.uint64))[0])
    return uncompiled(mix)(z + np.uint64(0x9E3779B97F4A7C15))


def uncompiled(function: Any) -> Any:
    """Return the Python function behind a compiled one; arithmetic alone takes arrays as well as numbers."""
    return getattr(function, "__wrapped__", function)


@njit
def high_product(x: Any, k: Any) -> Any:
    """Return the upper 64 bits of the product of two uint64."""
    low32, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x0, x1, k0, k1 = x & low32, x >> half, k & low32, k >> half
    middle = x1 * k0 + ((x0 * k0) >> half)
    return x1 * k1 + (middle >> half) + ((x0 * k1 + (middle & low32)) >> half)


@inner_njit
def shuffle(x: Any, keys: Any, bits: int) -> Any:
    """Return the image of x under the bijection of 0..2^bits − 1; the keys are two odd multipliers."""
    k1, k2 = keys
    mask, half = (np.uint64(1) << np.uint64(bits)) - np.uint64(1), np.uint64((bits + 1) // 2)
    x = (x * k1) & mask
    x ^= x >> half
    x = (x * k2) & mask
    x ^= x >> half
    x = (x * k1) & mask
    return x ^ (x >> half)


@inner_njit
def shuffle_keys(key: Any) -> Any:
    """Return the two odd multipliers of a shuffle."""
    first, second = key * np.uint64(3) + np.uint64(1), key * np.uint64(3) + np.uint64(2)
    return hash64(first) | np.uint64(1), hash64(second) | np.uint64(1)


@njit
def nth_distinct(keys: Any, j: Any, size: Any, bits: int) -> Any:
    """Return the j-th element of a pseudo-random order of 0..size−1; ``bits`` is the width of size − 1."""
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    x = np.uint64(j)
    while True:
        # Adding a key first keeps zero from being a fixed point.
        x = shuffle((x + (keys[1] >> np.uint64(32))) & mask, keys, bits)
        if x < size:
            return x
