"""Generated elements and heads of segments: hashes of positions, the same bits on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.generators.hashing import hash64

LARGEST_REAL = 8
"""Generated reals are whole numbers of at most this size."""


@njit
def _fill_words(out: Any, key: Any, shift: Any, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = hash64(key + np.uint64(i)) >> shift


@njit
def _fill_reals(out: Any, key: Any, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = np.int64(hash64(key + np.uint64(i)) % np.uint64(2 * LARGEST_REAL + 1)) - LARGEST_REAL


@njit
def _fill_heads(out: Any, key: Any, length: Any, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = i == 0 or hash64(key + np.uint64(i)) % length == 0


def _key(seed: int, stream: int) -> np.uint64:
    return np.uint64(seed * 0x9E3779B97F4A7C15 + stream * 0xD6E8FEB86659FD93 & 2**64 - 1)


def generate_values(n: int, dtype: np.dtype[Any], seed: int, bits: int) -> NDArray[Any]:
    """Return n hashes of positions: integers of at most ``bits`` bits, reals whole and in −8…8."""
    values = np.empty(n, dtype)
    key = _key(seed, 1)
    if dtype.kind == "f":
        in_threads(lambda low, high: _fill_reals(values, key, low, high), even_ranges(n))
    else:
        words, shift = values.view(f"u{dtype.itemsize}"), np.uint64(64 - bits)
        in_threads(lambda low, high: _fill_words(words, key, shift, low, high), even_ranges(n))
    return values


def generate_heads(n: int, length: int, seed: int) -> NDArray[np.uint8]:
    """Return (n,) uint8, 1 at element 0 and at every other with probability 1 / length."""
    heads = np.empty(n, np.uint8)
    in_threads(lambda low, high: _fill_heads(heads, _key(seed, 2), np.uint64(length), low, high), even_ranges(n))
    return heads
