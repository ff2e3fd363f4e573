"""Parser of lines of numbers, on all cores: two vertex ids and perhaps a weight, in plain digits.

A text is cut at ends of lines, and compiled code goes through each part once.  What it does not know, be it an error
or an unusual way to write a number, it leaves alone: the caller then reads the whole part line by line, which knows
everything and names the line.

Decimals whose digits fit in 53 bits and whose power of ten is a double, up to 10^22, come out rounded once: the
quotient or the product of two exact doubles (Clinger 1990, How to read floating point numbers accurately, section 5).
All others are left for NumPy, which rounds them correctly too.
"""

import mmap
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.base.compiled import njit, threads
from gpugraph.ext.formats.text.plain_text import Bytes, PlainText
from gpugraph.graph.chunks import in_threads

_HUGE: int | None = getattr(mmap, "MADV_HUGEPAGE", None)
_LEAST = 1 << 18
"""Bytes of a part of a block, at least."""
_SLAB = 1 << 21
"""Numbers that memory is taken for at once: so much comes in large pages, which are quickly had."""
_SMALL_SLAB = 1 << 18
"""The same where they are not kept for long."""
_DONE, _UNKNOWN, _REALS, _WIDE = 0, 1, 2, 3
"""How a piece ended: parsed; with something unknown; with a real, or with a large id, where none was expected."""
_DIGITS = 18
_LONGEST = 48
"""Characters of a real that NumPy is given."""
_EXACT = 2**53
_TENS = tuple(10.0**k for k in range(23))
_SPACE, _TAB, _COMMA, _RETURN, _END, _MINUS, _PLUS, _POINT, _ZERO = (ord(c) for c in " \t,\r\n-+.0")
_E, _SMALL_E = ord("E"), ord("e")
ANY_ID = 2**63 - 1


@dataclass(frozen=True)
class Rows:
    """What the lines of a format look like.

    Attributes:
        weighted: a weight follows the two vertex ids.
        prefix: the word before them (``b"a"`` in DIMACS), or empty.
        comments: bytes that begin a line to be skipped.
        real: weights load as float64 even if all are integers.
        low, high: the vertex ids allowed.
        either_base: ids count from 0 or from 1, which is not known yet; ``low`` is 0, ``high`` the number of vertices.
        separators: bytes between which a field may not be empty; other white space is just a gap.
        names: ids may be names: one with a leading zero or a sign is no number, and unknown here.
        words: ids may be words, which are unknown here too.
    """

    weighted: bool
    prefix: bytes = b""
    comments: bytes = b"#%"
    real: bool = False
    low: int = 0
    high: int = ANY_ID
    separators: bytes = b","
    names: bool = False
    words: bool = False
    either_base: bool = False


@dataclass(frozen=True, eq=False)
class Piece:
    """What the lines of a part list: (k,) int32 or int64 ids, weights or None, and the bounds of both.

    Weights are of the narrowest of uint32, int32 and int64, with bounds, or float64.
    """

    tails: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any] | None
    low: int
    high: int
    least: int
    most: int


@njit
def _after_gap(block: Any, i: int, tabbed: bool) -> int:
    """Return where the field behind a gap begins, or −1 where there is none: white space, or one separator."""
    c = block[i]
    if c == _COMMA or (tabbed and c == _TAB):
        return i + 1
    if c != _SPACE and c != _TAB:
        return -1
    while block[i] == _SPACE or (block[i] == _TAB and not tabbed):
        i += 1
    return i


@njit
def _parse(block: Any, marks: Any, named: bool | None, real: bool, bounds: Any, room: Any) -> Any:
    """Parse whole lines.

    Of the marks ``prefix`` is the letter before the ids, or 0; lines that begin with one of the comments are skipped.
    If ids may be names, ``named`` is True, and one with a leading zero is unknown.  Else it is None, for which the
    function is compiled without that test.  Where it is ``tabbed``, a tab separates fields, as a comma always does, and
    is no mere gap.  Real weights are written as bits, those not known here as where they begin, and their arcs listed
    in ``hard``.  There is room for one arc more than there may be.

    Returns how it ended, the numbers of arcs and of hard weights, and the least and the greatest of ids and of whole
    weights.
    """
    (prefix, comment, other_comment, tabbed, weighted), (low, high), (tails, heads, weights, hard) = marks, bounds, room
    i, stop, count, hard_count = 0, len(block), 0, 0
    least_id, most_id, least, most = np.int64(2**62), np.int64(-1), np.int64(2**62), np.int64(-(2**62))
    widest = high if tails.itemsize == 8 else min(high, 2**31 - 1)
    nothing = 0, 0, least_id, most_id, least, most
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
            i = _after_gap(block, i + 1, tabbed)
            if i < 0:
                return _UNKNOWN, *nothing
        for side in range(2):
            if named is not None and block[i] == _ZERO and _ZERO <= block[i + 1] <= _ZERO + 9:
                return _UNKNOWN, *nothing
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
                i = _after_gap(block, i, tabbed)
                if i < 0:
                    return _UNKNOWN, *nothing
        if weighted:
            first = i
            negative = block[i] == _MINUS
            i += negative
            value, digits, places, pointed = np.int64(0), 0, 0, False
            while True:
                c = block[i]
                digit = np.int64(c) - _ZERO
                if 0 <= digit <= 9:
                    if digits < _DIGITS:
                        value = value * 10 + digit
                    digits += 1
                    places += pointed
                elif c == _POINT and not pointed:
                    pointed = True
                else:
                    break
                i += 1
            if digits == 0:
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
            if real and (digits > _DIGITS or value >= _EXACT or power < -22 or power > 22):
                if i - first > _LONGEST or not pointed:  # a whole number may have to be refused, not rounded
                    return _UNKNOWN, *nothing
                weights[count] = first
                hard[hard_count] = count
                hard_count += 1
            elif real:
                number = value / _TENS[-power] if power < 0 else value * _TENS[power]
                weights[count] = np.float64(-number if negative else number).view(np.int64)
            elif pointed:
                return _REALS, *nothing
            elif digits > _DIGITS:
                return _UNKNOWN, *nothing
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
    return _DONE, count, hard_count, least_id, most_id, least, most


@njit
def _cut_out(block: Any, starts: Any, words: Any) -> None:
    """Copy the number that begins at each start to its row, (k, ``_LONGEST``) of zeros."""
    for k in range(len(starts)):
        for j in range(_LONGEST):
            c = block[starts[k] + j]
            if not (_ZERO <= c <= _ZERO + 9 or c in (_MINUS, _PLUS, _POINT, _E, _SMALL_E)):
                break
            words[k, j] = c


class _Slab:
    """Memory for columns that are kept, one behind the other: the system's own, to which it goes back with the last."""

    def __init__(self, dtype: DTypeLike, size: int):
        self._free: NDArray[Any] = np.empty(0, dtype)
        self._size = size

    def room(self, most: int) -> NDArray[Any]:
        """Return room for so many numbers, the next that are kept."""
        if len(self._free) < most:
            kind = self._free.dtype
            size = max(self._size, most) * kind.itemsize
            pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            if _HUGE is not None:
                with suppress(OSError):  # small pages do too
                    pages.madvise(_HUGE)
            self._free = np.frombuffer(pages, kind)
        return self._free[:most]

    def keep(self, count: int) -> None:
        """Keep the first ``count``."""
        self._free = self._free[count:]


class _Desk:
    """What a thread works with: the text of a part, its weights as words, and memory for what it lists."""

    def __init__(self, slab: int) -> None:
        self.text = bytearray()
        self.tails, self.heads, self.weights = (_Slab(kind, slab) for kind in (np.int32, np.int32, np.uint32))
        self.words, self.hard = _Slab(np.int64, 0), _Slab(np.int64, 0)  # of which nothing is kept


class LineParser:
    """Parses lines of numbers, all ``kept`` until the end or not; any number of threads may use it."""

    def __init__(self, rows: Rows, *, kept: bool = True):
        self._known = len(rows.prefix) <= 1 <= len(rows.comments) <= 2 and rows.separators in (b",", b",\t")
        comments = rows.comments or b"#"
        self._marks = (rows.prefix or b"\0")[0], comments[0], comments[-1], b"\t" in rows.separators, rows.weighted
        self._named = rows.names or None
        self._rows = rows
        self._shortest = 2 * (2 + rows.weighted + bool(rows.prefix))  # bytes of a line: fields of one letter, and gaps
        self._slab = _SLAB if kept else _SMALL_SLAB
        self._desks: list[_Desk] = []

    def part(self, text: PlainText, start: int, stop: int) -> Piece | None:
        """Return what the lines that begin in the bytes [start, stop) list, or None: something is unknown here."""
        desk = self._desk()
        letters, _, desk.text = text.lines(start, stop, desk.text)
        return self._parsed(letters, desk)

    def block(self, block: bytes) -> list[Piece] | None:
        """Return what a block of whole lines lists, in its order, or None: it holds something unknown here."""
        if not block.endswith(b"\n"):
            block += b"\n"
        letters = np.frombuffer(block, np.uint8)
        count = max(1, min(threads(), len(block) // _LEAST))
        cuts = sorted({block.find(b"\n", len(block) * i // count) + 1 for i in range(1, count)} | {0, len(block)})
        pieces = in_threads(lambda start, stop: self._parsed(letters[start:stop], self._desk()), list(pairwise(cuts)))
        found = [piece for piece in pieces if piece is not None]
        return found if len(found) == len(pieces) else None

    def _desk(self) -> _Desk:
        try:
            return self._desks.pop()
        except IndexError:
            return _Desk(self._slab)

    def _parsed(self, letters: Bytes, desk: _Desk) -> Piece | None:
        """Parse whole lines at a desk, which is free again afterwards."""
        if not len(letters):
            self._desks.append(desk)
            return Piece(np.zeros(0, np.int32), np.zeros(0, np.int32), None, 0, 0, 0, 0)
        ids: np.dtype[Any] = np.dtype(np.int32)
        real, room = self._rows.real, len(letters) // self._shortest + 2
        words, hard = (slab.room(room if self._rows.weighted else 1) for slab in (desk.words, desk.hard))
        for _ in range(3 if self._known else 0):
            narrow = ids.itemsize == 4
            tails, heads = (s.room(room) if narrow else np.empty(room, ids) for s in (desk.tails, desk.heads))
            bounds, arrays = (self._rows.low, self._rows.high), (tails, heads, words, hard)
            end, k, left, low, high, least, most = _parse(letters, self._marks, self._named, real, bounds, arrays)
            if end == _UNKNOWN:
                break
            if end == _DONE:
                if narrow:
                    desk.tails.keep(k)
                    desk.heads.keep(k)
                if left and not _converted(letters, words, hard[:left]):
                    break
                weights = _narrowed(words[:k], least, most, real, desk.weights) if self._rows.weighted else None
                self._desks.append(desk)
                return Piece(tails[:k], heads[:k], weights, int(low), int(high), int(least), int(most))
            real, ids = real or end == _REALS, np.dtype(np.int64) if end == _WIDE else ids
        self._desks.append(desk)
        return None


def _converted(letters: Bytes, words: NDArray[np.int64], hard: NDArray[np.int64]) -> bool:
    """Replace where hard weights begin by their bits; return False if one is beyond what a double holds."""
    characters = np.zeros((len(hard), _LONGEST), np.uint8)
    _cut_out(letters, words[hard], characters)
    numbers = characters.view(f"S{_LONGEST}")[:, 0].astype(np.float64)
    words.view(np.float64)[hard] = numbers
    return bool(np.isfinite(numbers).all())


def _narrowed(words: NDArray[np.int64], least: int, most: int, real: bool, slab: _Slab) -> NDArray[Any]:
    """Return a copy of weights in the narrowest type that holds those of the part."""
    if real:
        return words.view(np.float64).copy()
    if least >= 0 and most < 2**32:
        weights = slab.room(len(words))
        np.copyto(weights, words, casting="unsafe")
        slab.keep(len(words))
        return weights
    return words.astype(np.int32 if least >= -(2**31) and most < 2**31 else np.int64)
