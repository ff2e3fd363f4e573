"""Uncompressed text in a file or in memory, in parts that many threads read at once.

Threads read from the file, by ``pread``, and do not map it: a file that is cut short meanwhile then ends early, where a
mapped one would end the process by a signal.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import unreadable
from gpugraph.graph.input_file import Source

Bytes = NDArray[np.uint8]

PART = 1 << 21
"""Bytes of a part: with what its lines hold it stays in a core's cache, and a thread takes a millisecond for it."""
_TAIL = 1 << 10
"""Bytes read behind a part at once, for the rest of its last line."""
_SCAN = 1 << 24


class PlainText:
    """A text of which threads take lines: in an open file, by its descriptor, or ``held`` in memory.

    ``require`` is called with bytes that will be taken for one long line, before they are.
    """

    def __init__(self, path: str, file: int | None, held: bytes | None, size: int, require: Callable[[int], None]):
        self._path = path
        self._file = file
        self._held = memoryview(held or b"")
        self.size = size
        self._require = require
        begin = bytearray(3)
        self.first = 3 if self._read(begin, 0, 0) == 3 and begin == b"\xef\xbb\xbf" else 0

    @classmethod
    @contextmanager
    def of(cls, source: Source) -> "Iterator[PlainText | None]":
        """Open the text of a file for threads that each read parts of it; None where it is compressed."""
        if source.codec is not None:
            yield None
            return
        with source.descriptor() as file:
            yield cls(source.path, file, source.held, source.size, source.require)

    def _read(self, room: bytearray, filled: int, offset: int) -> int:
        """Fill a buffer from ``filled`` on with the text from ``offset`` on, and return how far it is filled."""
        if self._file is None:
            part = self._held[offset : offset + len(room) - filled]
            room[filled : filled + len(part)] = part
            return filled + len(part)
        try:
            with memoryview(room) as view:
                while filled < len(room) and (read := os.preadv(self._file, [view[filled:]], offset)):
                    filled, offset = filled + read, offset + read
        except OSError as error:
            raise unreadable(self._path, error) from error
        return filled

    def parts(self, begin: int, *, small: bool = False) -> list[tuple[int, int]]:
        """Return the text from byte ``begin`` on, where a line begins, in ranges of bytes, shorter if ``small``."""
        size = PART // 2 if small else PART
        return [(start, min(start + size, self.size)) for start in range(begin, self.size, size)]

    def lines(self, start: int, stop: int, room: bytearray) -> tuple[Bytes, int, bytearray]:
        """Read the lines that begin in the bytes [start, stop), whole, the last of them ended, to ``room``.

        Returns the lines, (bytes,) and not to be written; the byte at which they begin; and the room, or a larger one.
        """
        begin = max(start - 1, self.first)
        if len(room) < stop - begin + _TAIL:
            room = bytearray(stop - begin + _TAIL)
        filled = self._read(room, 0, begin)
        at = 0 if start <= self.first else room.find(b"\n", 0, filled) + 1
        if at == 0 < start - self.first or begin + at >= stop or at >= filled:
            return np.zeros(0, np.uint8), stop, room
        searched = stop - 1 - begin
        while (end := room.find(b"\n", searched, filled) + 1) == 0:
            if filled < len(room):  # there is no more
                if room[filled - 1] == ord("\n"):
                    end = filled
                else:
                    room[filled], end = ord("\n"), filled + 1
                break
            self._require(4 * len(room))
            searched, room = filled, room + bytearray(len(room))
            filled = self._read(room, filled, begin + filled)
        return np.frombuffer(memoryview(room).toreadonly()[at:end], np.uint8), begin + at, room

    def behind(self, line: int) -> int:
        """Return the byte at which the line after number ``line`` begins; the size where there is none."""
        at, left, room = self.first, line, bytearray(1 << 16)
        while left and (filled := self._read(room, 0, at)):
            ends = np.flatnonzero(np.frombuffer(room, np.uint8, filled) == ord("\n"))
            if len(ends) >= left:
                return at + int(ends[left - 1]) + 1
            at, left = at + filled, left - len(ends)
            room = room if len(room) == _SCAN else bytearray(_SCAN)
        return self.size if left else at

    def ends(self, start: int, stop: int) -> int:
        """Return how many lines end in the bytes [start, stop)."""
        count = 0
        for at in range(start, stop, _SCAN):
            room = bytearray(min(_SCAN, stop - at))
            count += room.count(b"\n", 0, self._read(room, 0, at))
        return count
