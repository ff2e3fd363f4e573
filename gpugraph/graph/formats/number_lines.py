"""Lines of numbers as most files have them, parsed by all cores: two vertex ids and perhaps a weight, in plain digits.

A block is cut at ends of lines, and compiled code goes through each piece once.  What it does not know, be it an error
or an unusual way to write a number, it leaves alone: the caller then reads the whole block in another way, which knows
everything and names the line.

Decimals whose digits fit in 53 bits and whose power of ten is a double, up to 10^22, come out rounded once: the
quotient or the product of two exact doubles (Clinger 1990, How to read floating point numbers accurately, section 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit, threads
from gpugraph.errors import GraphFormatError
from gpugraph.graph.build import narrowest
from gpugraph.graph.chunks import in_threads

_LEAST = 1 << 18
"""Bytes of a piece, at least."""
_DONE, _UNKNOWN, _REALS, _WIDE = 0, 1, 2, 3
"""How a piece ended: parsed; with something unknown; with a real, or with a large id, where none was expected."""
_DIGITS = 18
_EXACT = 2**53
_TENS = tuple(10.0**k for k in range(23))
_SPACE, _TAB, _RETURN, _END, _MINUS, _PLUS, _POINT, _ZERO = (ord(c) for c in " \t\r\n-+.0")
_E, _SMALL_E = ord("E"), ord("e")


@dataclass(frozen=True, eq=False)
class Piece:
    """What the lines of a piece list.

    Attributes:
        tails, heads: (k,) int32 or int64.
        weights: (k,) of the narrowest of uint32, int32 and int64, or float64; or None.
        low, high: the least and the greatest id.
    """

    tails: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any] | None
    low: int
    high: int


@njit
def _lines(block: Any, start: int, stop: int) -> int:
    """Return how many lines end in [start, stop)."""
    count = 0
    for i in range(start, stop):
        count += block[i] == _END
    return count


@njit
def _after_gap(block: Any, i: int, comma: int, tabbed: bool) -> int:
    """Return where the field behind a gap begins, or −1 where there is none: white space, or one separator."""
    c = block[i]
    if c == comma or (tabbed and c == _TAB):
        return i + 1
    if c != _SPACE and c != _TAB:
        return -1
    while block[i] == _SPACE or (block[i] == _TAB and not tabbed):
        i += 1
    return i


@njit
def _parse(
    block: Any,
    start: int,
    stop: int,
    prefix: int,
    comment: int,
    other_comment: int,
    tabbed: bool,
    weighted: bool,
    real: bool,
    low: int,
    high: int,
    tails: Any,
    heads: Any,
    weights: Any,
) -> Any:
    """Parse the whole lines of [start, stop), the last of which ends there.

    ``prefix`` is the letter before the ids, or 0; lines that begin with one of the comments are skipped.  Where it is
    ``tabbed``, a tab separates fields, as a comma always does, and is no mere gap.  Real weights are written as bits.
    There is room for as many arcs as there are lines.

    Returns how it ended, the number of arcs, and the least and the greatest of ids and of whole weights.
    """
    i, count = start, 0
    least_id, most_id, least, most = np.int64(2**62), np.int64(-1), np.int64(2**62), np.int64(-(2**62))
    widest = high if tails.itemsize == 8 else min(high, 2**31 - 1)
    nothing = 0, least_id, most_id, least, most
    while i < stop:
        while block[i] == _SPACE or (block[i] == _TAB and not tabbed):
            i += 1
        c = block[i]
        if c in (comment, other_comment):
            while block[i] != _END:
                if block[i] == _RETURN and block[i + 1] != _END:
                    return _UNKNOWN, *nothing
                i += 1
            i += 1
            continue
        if c == _END:
            i += 1
            continue
        if prefix:
            if c != prefix:
                return _UNKNOWN, *nothing
            i = _after_gap(block, i + 1, 44, tabbed)
            if i < 0:
                return _UNKNOWN, *nothing
        for side in range(2):
            begin, value = i, np.int64(0)
            while True:
                digit = np.int64(block[i]) - _ZERO
                if digit < 0 or digit > 9:
                    break
                value = value * 10 + digit
                i += 1
            if i == begin or i - begin > _DIGITS or value < low or value > high:
                return _UNKNOWN, *nothing
            if value > widest:
                return _WIDE, *nothing
            least_id, most_id = min(least_id, value), max(most_id, value)
            if side == 0:
                tails[count] = value
            else:
                heads[count] = value
            if side == 0 or weighted:
                i = _after_gap(block, i, 44, tabbed)
                if i < 0:
                    return _UNKNOWN, *nothing
        if weighted:
            negative = block[i] == _MINUS
            i += negative
            value, digits, places, pointed = np.int64(0), 0, 0, False
            while True:
                c = block[i]
                digit = np.int64(c) - _ZERO
                if 0 <= digit <= 9:
                    value = value * 10 + digit
                    digits += 1
                    places += pointed
                elif c == _POINT and not pointed:
                    pointed = True
                else:
                    break
                i += 1
            if digits == 0 or digits > _DIGITS:
                return _UNKNOWN, *nothing
            power = -places
            if c in (_E, _SMALL_E):
                i += 1
                falling = block[i] == _MINUS
                i += falling or block[i] == _PLUS
                begin, shift = i, 0
                while _ZERO <= block[i] <= _ZERO + 9 and i - begin < 4:
                    shift = shift * 10 + int(block[i]) - _ZERO
                    i += 1
                if i == begin or i - begin > 3:
                    return _UNKNOWN, *nothing
                power += -shift if falling else shift
                pointed = True
            if real:
                if value >= _EXACT or power < -22 or power > 22:
                    return _UNKNOWN, *nothing
                number = value / _TENS[-power] if power < 0 else value * _TENS[power]
                weights[count] = np.float64(-number if negative else number).view(np.int64)
            elif pointed:
                return _REALS, *nothing
            else:
                whole = -value if negative else value
                weights[count] = whole
                least, most = min(least, whole), max(most, whole)
        while block[i] == _SPACE or (block[i] == _TAB and not tabbed):
            i += 1
        if block[i] == _RETURN:
            i += 1
        if block[i] != _END:
            return _UNKNOWN, *nothing
        i += 1
        count += 1
    return _DONE, count, least_id, most_id, least, most


def parse_block(
    block: bytes, *, weighted: bool, prefix: bytes, comments: bytes, real: bool, low: int, high: int, separators: bytes
) -> list[Piece] | None:
    """Return what a block of whole lines lists, in its order, or None where it holds something unknown here.

    Everything but the lines is an attribute of ``text.Rows``.
    """
    if len(prefix) > 1 or not 1 <= len(comments) <= 2 or separators not in (b",", b",\t"):
        return None
    if not block.endswith(b"\n"):
        block += b"\n"
    letters = np.frombuffer(block, np.uint8)
    count = max(1, min(threads(), len(block) // _LEAST))
    cuts = sorted({block.find(b"\n", len(block) * i // count) + 1 for i in range(1, count)} | {0, len(block)})
    marks = prefix[0] if prefix else 0, comments[0], comments[-1], b"\t" in separators

    def parsed(ids: Any, reals: bool) -> list[tuple[int, Piece | None]]:
        def piece(start: int, stop: int) -> tuple[int, Piece | None]:
            lines = _lines(letters, start, stop)
            tails, heads = np.empty(lines, ids), np.empty(lines, ids)
            words = np.empty(lines if weighted else 0, np.int64)
            end, k, least_id, most_id, least, most = _parse(
                letters, start, stop, *marks, weighted, reals, low, high, tails, heads, words
            )
            if end != _DONE:
                return end, None
            weights = _narrowed(words[:k], least, most, reals) if weighted else None
            return end, Piece(tails[:k], heads[:k], weights, int(least_id), int(most_id))

        return in_threads(piece, list(pairwise(cuts)))

    ids: Any = np.int32
    for _ in range(3):
        pieces = parsed(ids, real)
        ends = {end for end, _ in pieces}
        if _UNKNOWN in ends:
            return None
        if ends == {_DONE}:
            return [piece for _, piece in pieces if piece is not None and len(piece.tails)]
        real, ids = real or _REALS in ends, np.int64 if _WIDE in ends else ids
    return None


def _narrowed(words: NDArray[np.int64], least: int, most: int, real: bool) -> NDArray[Any]:
    """Return weights in the narrowest type that holds those of the piece."""
    if real:
        return words.view(np.float64)
    for dtype in (np.uint32, np.int32):
        if np.iinfo(dtype).min <= least and most <= np.iinfo(dtype).max:
            return words.astype(dtype)
    return words


# ------------------------------------------------------------------ columns
# Arcs collected block by block.


@dataclass
class Columns:
    """Arcs collected block by block; ids as the file has them."""

    tails: list[NDArray[Any]] = field(default_factory=list)
    heads: list[NDArray[Any]] = field(default_factory=list)
    weights: list[NDArray[Any]] = field(default_factory=list)
    count: int = 0
    low: int = 2**63
    high: int = -1

    def add(self, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any] | None) -> None:
        """Append a block; ids that fit are kept in 32 bits."""
        if not len(tails):
            return
        low, high = min(int(tails.min()), int(heads.min())), max(int(tails.max()), int(heads.max()))
        ids = np.int32 if high < 2**31 else np.int64
        self.tails.append(tails.astype(ids))
        self.heads.append(heads.astype(ids))
        if weights is not None:
            self.weights.append(weights)
        self.count += len(tails)
        self.low, self.high = min(self.low, low), max(self.high, high)

    def take(self, piece: Piece) -> None:
        """Append what a piece of a block lists."""
        self.tails.append(piece.tails)
        self.heads.append(piece.heads)
        if piece.weights is not None:
            self.weights.append(piece.weights)
        self.count += len(piece.tails)
        self.low, self.high = min(self.low, piece.low), max(self.high, piece.high)

    def ids(self, base: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return tails and heads, less ``base``."""
        tails, heads = (np.concatenate(c) if c else np.zeros(0, np.int32) for c in (self.tails, self.heads))
        self.tails, self.heads = [], []
        if base:
            tails -= tails.dtype.type(base)
            heads -= heads.dtype.type(base)
        return tails, heads

    def all_weights(self, path: str) -> NDArray[Any]:
        """Return the weights: float64 if any is real, else the narrowest integers.

        Raises:
            GraphFormatError: negative integers and some beyond int64, or integers that the reals beside them round.
        """
        kinds = {w.dtype.kind for w in self.weights}
        if "f" in kinds:
            for w in (w for w in self.weights if w.dtype.kind != "f"):
                large = w[(w > 2**53) | (w < -(2**53))] if w.dtype.kind == "i" else w[w > 2**53]
                if any(int(float(x)) != x for x in large.tolist()):
                    raise rounded_weights(path)
            return np.concatenate([w.astype(np.float64) for w in self.weights])
        if not self.weights:
            return np.zeros(0, np.uint32)
        low, high = min(int(w.min()) for w in self.weights), max(int(w.max()) for w in self.weights)
        if low < 0 and high >= 2**63:
            raise wide_weights(path)
        return np.concatenate(self.weights, dtype=narrowest(low, high), casting="unsafe")


def wide_weights(path: str, line: int | None = None) -> GraphFormatError:
    """Return the error for integer weights that no 64-bit type holds together."""
    return GraphFormatError(
        "integer weights from below 0 to beyond 2^63 need more than 64 bits",
        path=path,
        line=line,
        remedy="scale them, or write them as reals",
    )


def rounded_weights(path: str, line: int | None = None) -> GraphFormatError:
    """Return the error for whole weights that stand beside reals and that a double would round."""
    return GraphFormatError(
        "whole weights beyond 2^53 beside reals, which would round them",
        path=path,
        line=line,
        remedy="write all of them as whole numbers, or these with a point",
    )
