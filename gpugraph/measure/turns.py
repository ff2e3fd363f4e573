"""Whose turn it is among cells that compete, and when each has samples enough; knows neither graphs nor devices.

Each round every cell that still runs takes one sample, in a random order that the seed decides, so that whatever
drifts drifts for all of them.  What finds no room beside the others is set up once more when they have ended.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator

from gpugraph.measure.sampling import Sampling


class Turns:
    """The turns of cells, which are called by their places; iterated over, it yields whose turn it is.

    Whoever iterates says after each turn what became of it: ``begun``, ``end_of``, ``ended`` or ``tried_later``.
    """

    def __init__(self, count: int, sampling: Sampling):
        self._waiting, self._crowded, self._alone = list(range(count)), list[int](), count == 1
        self._running, self._converged = dict[int, None](), set[int]()
        self._random, self._together = random.Random(sampling.seed), sampling.together

    def __iter__(self) -> Iterator[int]:
        while self._waiting or self._running or self._crowded:
            if not self._waiting and not self._running:
                gc.collect()  # what the others left in cycles may hold device memory
                self._waiting, self._alone = [self._crowded.pop(0)], True
            turn = self._waiting or self._random.sample(list(self._running), len(self._running))
            self._waiting = []
            yield from turn

    def begun(self, index: int) -> None:
        """Take note that a cell is set up, and can take samples."""
        self._running[index] = None

    def takes_sample(self, index: int) -> bool:
        """Tell whether a cell takes one more: one that waits does while another goes on."""
        return index not in self._converged or not self._all_converged

    def end_of(self, index: int, stopped_by: str | None, narrow: Callable[[int], bool]) -> str | None:
        """Return why a cell ends now, or None; it gives why it would end by itself, and if its interval is narrow."""
        if stopped_by == "target" or (stopped_by is None and index in self._converged):
            stopped_by = "target"
            self._converged.add(index)
        if self._together and self._all_converged:  # samples since then may have widened one
            self._converged -= {other for other in self._running if not narrow(other)}
        return None if stopped_by == "target" and self._together and not self._all_converged else stopped_by

    def ended(self, index: int) -> None:
        """Take note that a cell is done, or has failed."""
        self._running.pop(index, None)

    def tried_later(self, index: int) -> bool:
        """Tell whether a cell that found no room is to be measured by itself, once the others have ended."""
        if not self._alone:
            self._running.pop(index, None)
            self._crowded.append(index)
        return not self._alone

    @property
    def _all_converged(self) -> bool:
        return self._converged >= self._running.keys()
