"""Order-free digest of a graph: the same in whatever order the arcs are summed, so that threads share the work.

All arithmetic is on unsigned 64-bit integers and wraps.  With ``mix`` the finaliser of SplitMix64,

    mix(z):  z ^= z >> 30;  z *= 0xBF58476D1CE4E5B9;  z ^= z >> 27;  z *= 0x94D049BB133111EB;  z ^= z >> 31

each arc t→h whose weight has the bit pattern w (zero-extended from 32 to 64 bits) gives two lanes:

    p     = mix(((t << 32) | (t >> 32)) + h + 0x9E3779B97F4A7C15)
    lane0 = mix(p + w * 0xC2B2AE3D27D4EB4F)
    lane1 = mix(p ^ (w * 0xD6E8FEB86659FD93 + 0xA0761D6478BD642F))

which are summed over all arcs, S0 and S1.  With code = 2 * (position of the weight dtype in
``csr.WEIGHT_DTYPES``) + (1 if directed else 0), the digest is the 16 + 16 hexadecimal digits of

    mix(mix(mix(S0 + n) + arcs) + code)   and   mix(mix(mix(S1 ^ K ^ n) ^ arcs) ^ code),   K = 0x8EBC6AF09C88C6E3

Names, notes and vertex names do not enter.

Source: Steele, Lea & Flood 2014, Fast splittable pseudorandom number generators, section 4 (``mix``).
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import inner_njit, njit, threads
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads

_MASK = 2**64 - 1
_PIECE = 1 << 18
"""Elements mixed or hashed at a time: few enough for a cache, enough for threads not to queue for the GIL."""


@njit
def mix(z: Any) -> Any:
    """Return the SplitMix64 finaliser of a uint64: a bijection that spreads every bit over all others."""
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner_njit
def arc_lanes(tail: int, head: int, word: Any) -> Any:
    """Return the two uint64 lanes of the arc tail→head whose weight has the bit pattern ``word``."""
    t, w = np.uint64(tail), np.uint64(word)
    p = mix(((t << np.uint64(32)) | (t >> np.uint64(32))) + np.uint64(head) + np.uint64(0x9E3779B97F4A7C15))
    lane0 = mix(p + w * np.uint64(0xC2B2AE3D27D4EB4F))
    lane1 = mix(p ^ (w * np.uint64(0xD6E8FEB86659FD93) + np.uint64(0xA0761D6478BD642F)))
    return lane0, lane1


@njit
def _sums(offsets: Any, targets: Any, words: Any, first: int, last: int) -> Any:
    """Return the sums of both lanes over the rows [first, last)."""
    sum0, sum1 = np.uint64(0), np.uint64(0)
    for u in range(first, last):
        for i in range(offsets[u], offsets[u + 1]):
            lane0, lane1 = arc_lanes(u, targets[i], words[i])
            sum0 += lane0
            sum1 += lane1
    return sum0, sum1


def _mixed(z: int) -> int:
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK
    return z ^ z >> 31


def finish(sum0: int, sum1: int, vertices: int, arcs: int, code: int) -> str:
    """Return the digest of the sums of both lanes, modulo 2^64, for n vertices and a kind of graph; see above."""
    lanes = sum0 & _MASK, (sum1 & _MASK) ^ 0x8EBC6AF09C88C6E3
    for value in (vertices, arcs, code):
        lanes = _mixed((lanes[0] + value) & _MASK), _mixed(lanes[1] ^ value)
    return f"{lanes[0]:016x}{lanes[1]:016x}"


def graph_digest(offsets: NDArray[np.int64], targets: NDArray[Any], weights: NDArray[Any], code: int) -> str:
    """Return the digest of a graph as 32 hexadecimal digits; its arrays are those of ``CSRGraph``."""
    words = np.ascontiguousarray(weights).view(f"u{weights.dtype.itemsize}")
    parts = in_threads(lambda lo, hi: _sums(offsets, targets, words, lo, hi), balanced_ranges(offsets))
    sum0, sum1 = (sum(int(part[lane]) for part in parts) for lane in (0, 1))
    return finish(sum0, sum1, len(offsets) - 1, len(targets), code)


def set_digest(values: NDArray[Any]) -> str:
    """Return a fingerprint of (k,) integers, whatever their order: their count, and in two lanes the sum of mixes."""

    def lanes_of(start: int, stop: int) -> list[int]:
        lanes = [0, 0]
        words, rest = (np.empty(min(_PIECE, stop - start), np.uint64) for _ in range(2))
        for first in range(start, stop, _PIECE):
            part = values[first : min(first + _PIECE, stop)]
            z, shifted = words[: len(part)], rest[: len(part)]
            for lane, factor in enumerate((0xBF58476D1CE4E5B9, 0x94D049BB133111EB)):
                z[:] = part
                z *= np.uint64(factor)
                z ^= np.right_shift(z, np.uint64(29), out=shifted)
                z *= np.uint64(0xD6E8FEB86659FD93)
                z ^= np.right_shift(z, np.uint64(32), out=shifted)
                lanes[lane] += int(z.sum(dtype=np.uint64))
        return lanes

    parts = in_threads(lanes_of, even_ranges(len(values), threads()))
    lanes = [sum(lane) & _MASK for lane in zip(*parts, strict=True)]
    return f"{len(values)} {lanes[0]:016x}{lanes[1]:016x}"


def array_digest(values: NDArray[Any]) -> str:
    """Return dtype, length and BLAKE2b of an array of any dtype and shape as text, made by all threads.

    ``scan/array.py`` has a quicker one, which needs Numba; a run on a GPU does not load that.
    """
    flat = values.reshape(-1)

    def digest_of(start: int, stop: int) -> bytes:
        return hashlib.blake2b(np.ascontiguousarray(flat[start:stop]).data).digest()

    cuts = range(0, max(len(flat), 1), _PIECE)
    parts = in_threads(digest_of, [(start, start + _PIECE) for start in cuts])
    return f"{values.dtype} {len(values)} {hashlib.blake2b(b''.join(parts)).hexdigest()}"
