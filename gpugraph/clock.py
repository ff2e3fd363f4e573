"""Clocks: what an algorithm marks its phases with, and what it costs to do so.

The headline run gets a ``NullClock``; inner phases are timed in runs of their own, by a ``HostClock`` or by a device's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise
from typing import Any, Protocol


def working_seconds() -> float:
    """Return the host's monotonic clock, which stands still while Numba compiles or loads what it compiled before."""
    compiled = sys.modules.get("gpugraph.compiled")  # Numba itself takes a while to import: not for a clock
    return time.perf_counter() - (compiled.compile_seconds() if compiled else 0.0)


class Clock(Protocol):
    """Times the inner phases of a run; on the headline run a phase costs nothing."""

    timing: bool
    """True if this run's phases are timed, so that reading back what a kernel noted costs no headline."""

    def phase(self, name: str) -> Any:
        """Return a context manager around one phase, e.g. ``with clock.phase("find_min"):``."""
        ...

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add seconds that a kernel measured itself to a phase."""
        ...

    def count(self, name: str, value: int = 1) -> None:
        """Add to a counter of the run, e.g. ``clock.count("rounds")``."""
        ...


def add_stamps(clock: Clock, phases: Sequence[str], stamps: Iterable[int]) -> None:
    """Add to each phase the time from its own beginning to that of the next phase that was entered.

    Args:
        clock: of the run.
        phases: in their order; the last only ends the one before.
        stamps: nanoseconds at the beginning of each phase, as a kernel noted them; 0 of one not entered.
    """
    entered = [(name, int(at)) for name, at in zip(phases, stamps, strict=True) if at]
    for (name, begun), (_, ended) in pairwise(entered):
        clock.add_seconds(name, (ended - begun) * 1e-9)


class NullClock:
    """The clock of a headline run: phases cost nothing, counters still count.

    Attributes:
        timing: True for a clock that times phases; a driver may then read back what a kernel noted itself.
    """

    timing = False

    def __init__(self) -> None:
        self.counters: dict[str, int] = {}

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Return a context manager that does nothing."""
        return nullcontext()

    def add_seconds(self, name: str, seconds: float) -> None:
        """Do nothing with a time that a kernel measured itself."""

    def count(self, name: str, value: int = 1) -> None:
        """Add ``value`` to the counter ``name``."""
        self.counters[name] = self.counters.get(name, 0) + value


class HostClock(NullClock):
    """Times phases by the host's clock, compilation left out, for CPU algorithms and the emulated device."""

    timing = True

    def __init__(self) -> None:
        super().__init__()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the phase ``name``."""
        start = working_seconds()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + working_seconds() - start

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add a time that a kernel measured itself to the phase ``name``."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


class HostStopwatch:
    """Times a region by the host's monotonic clock."""

    def __init__(self) -> None:
        self._start = self._stop = 0.0

    def start(self) -> None:
        """Mark the beginning."""
        self._start = time.perf_counter()

    def stop(self) -> None:
        """Mark the end."""
        self._stop = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds between the two marks."""
        return self._stop - self._start
