"""Thread pool for ranges of an array: compiled functions that leave the GIL run side by side.

Sequential compiled functions called from threads compile several times faster than parallel ones, and what
one thread writes is plain to see: each gets its own range.  A ``Runner`` does so for generators, chunk by chunk, with
progress; an interrupt ends it between chunks.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from functools import cache
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import threads

Range = tuple[int, int]
T = TypeVar("T")

_LEAST, _MOST = 1 << 15, 1 << 22
"""Fewer items than the first are not worth another thread; ranges of more than the second would let an
interrupt wait."""
_MOST_RANGES = 256


def _parts(items: int, parts: int | None) -> int:
    wanted = parts or max(threads(), min(_MOST_RANGES, items // _MOST))
    return max(1, min(wanted, items // _LEAST))


def even_ranges(items: int, parts: int | None = None) -> list[Range]:
    """Return [0, items) cut into ranges of even length, ``parts`` of them at most."""
    if items < 2 * _LEAST:
        return [(0, items)]
    count = _parts(items, parts)
    cuts = [items * i // count for i in range(count + 1)]
    return list(pairwise(cuts))


def balanced_ranges(starts: NDArray[np.int64], parts: int | None = None) -> list[Range]:
    """Return ranges of rows of about as many arcs; ``starts``, (rows+1,) int64, are the first arc of each row."""
    rows, first, last = len(starts) - 1, int(starts[0]), int(starts[-1])
    # A row costs something even when it is empty, hence rows count beside arcs.
    count = _parts(rows + last - first, parts)
    if count == 1:
        return [(0, rows)]
    if last - first > rows:
        cuts = np.searchsorted(starts, [first + (last - first) * i // count for i in range(1, count)]).tolist()
    else:
        cuts = [rows * i // count for i in range(1, count)]
    cuts = [0, *cuts, rows]
    return [(low, high) for low, high in pairwise(cuts) if low < high]


def in_threads(
    function: Callable[[int, int], T], ranges: Sequence[Range], report: Callable[[float], None] | None = None
) -> list[T]:
    """Return ``function(start, stop)`` of every range, in order, computed by as many threads as there are.

    The function is compiled, leaves the GIL, and does not call this itself; ``report`` is called with the fraction of
    the ranges done.  An interrupt takes effect when the ranges in hand are done; the others are not begun.
    """
    if len(ranges) == 1:
        return [function(*ranges[0])]
    found: list[T] = []
    with closing(in_order(function, ranges)) as results:
        for one in results:
            found.append(one)
            if report is not None:
                report(len(found) / len(ranges))
    return found


def in_order(function: Callable[[int, int], T], ranges: Sequence[Range], ahead: int | None = None) -> Generator[T]:
    """Yield what ``in_threads`` returns while threads go on, at most ``ahead`` ranges in hand or not yet taken.

    Whoever closes it waits for the ranges in hand; the others are not begun.
    """
    if len(ranges) == 1:
        yield function(*ranges[0])
        return
    pool, rest, futures = _pool(threads()), iter(ranges), deque[Future[T]]()
    try:
        for start, stop in islice(rest, ahead):
            futures.append(pool.submit(function, start, stop))
        while futures:
            found = futures[0].result()
            futures.popleft()
            for start, stop in islice(rest, 1):
                futures.append(pool.submit(function, start, stop))
            yield found
            del found
    finally:
        for future in futures:
            future.cancel()
        wait(futures)


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    """Return the threads, which stay: starting them takes longer than many a range."""
    return ThreadPoolExecutor(count, "ranges")


os.register_at_fork(after_in_child=_pool.cache_clear)  # its threads are not in the child


Progress = Callable[[float, str], None]
"""Called with the fraction done, in 0..1, and what is being done."""

CHUNK = 1 << 20
"""Items per chunk: a few hundredths of a second of work."""
_SECONDS_BETWEEN_REPORTS = 0.25


class Runner:
    """Carries the dtype of vertex numbers, the way progress is reported, and which part of the work is to be done.

    That is (i, k): of every kind of work the i-th of k parts, for there are k processes.
    """

    def __init__(
        self,
        index: np.dtype[Any],
        progress: Progress | None = None,
        share: tuple[float, float] = (0, 1),
        part: tuple[int, int] = (0, 1),
    ):
        self.index = index
        self.part = part
        self._progress = progress
        self._share = share
        self._last = time.monotonic()

    def empty(self, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return uninitialised tails and heads."""
        return np.empty(count, self.index), np.empty(count, self.index)

    def range_of(self, items: int) -> Range:
        """Return the part of [0, items) that is to be done."""
        i, k = self.part
        return items * i // k, items * (i + 1) // k

    def __call__(
        self, function: Callable[[int, int], T], items: int, what: str, chunk: int = CHUNK, *, whole: bool = False
    ) -> list[T]:
        """Return ``function(start, stop)`` of every chunk of this part of [0, items), or of all of it, in order."""
        first, last = (0, items) if whole else self.range_of(items)
        ranges = [(start, min(start + chunk, last)) for start in range(first, last, chunk)]
        return in_threads(function, ranges, lambda fraction: self.report(fraction, what)) if ranges else []

    def report(self, fraction: float, what: str) -> None:
        """Pass on the fraction done of this part of the work, unless the last report was a moment ago."""
        now = time.monotonic()
        if self._progress is not None and now - self._last >= _SECONDS_BETWEEN_REPORTS:
            self._last = now
            low, high = self._share
            self._progress(low + (high - low) * fraction, what)
