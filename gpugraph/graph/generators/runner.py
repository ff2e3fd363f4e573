"""Runs a generator's chunks on all threads, with progress, and stops between chunks when interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.chunks import in_threads

Progress = Callable[[float, str], None]
"""Called with the fraction done, in 0..1, and what is being done."""

CHUNK = 1 << 20
"""Items per chunk: a few hundredths of a second of work."""
_SECONDS_BETWEEN_REPORTS = 0.25


class Runner:
    """Carries the dtype of vertex numbers and the way progress is reported.

    Attributes:
        index: the dtype of tails and heads.
    """

    def __init__(self, index: np.dtype[Any], progress: Progress | None = None, share: tuple[float, float] = (0, 1)):
        self.index = index
        self._progress = progress
        self._share = share
        self._last = time.monotonic()

    def empty(self, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return uninitialised tails and heads."""
        return np.empty(count, self.index), np.empty(count, self.index)

    def __call__(self, function: Callable[[int, int], Any], items: int, what: str, chunk: int = CHUNK) -> list[Any]:
        """Return ``function(start, stop)`` of every chunk of [0, items), in order."""
        ranges = [(start, min(start + chunk, items)) for start in range(0, items, chunk)]
        return in_threads(function, ranges, lambda fraction: self.report(fraction, what)) if ranges else []

    def report(self, fraction: float, what: str) -> None:
        """Pass on the fraction done of this part of the work, unless the last report was a moment ago."""
        now = time.monotonic()
        if self._progress is not None and now - self._last >= _SECONDS_BETWEEN_REPORTS:
            self._last = now
            low, high = self._share
            self._progress(low + (high - low) * fraction, what)
