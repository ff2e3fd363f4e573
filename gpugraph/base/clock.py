"""Clocks: what an algorithm marks its phases with, and what it costs to do so; the phase timer of a whole command.

The headline run gets a ``NullClock``; inner phases are timed in runs of their own, by a ``HostClock`` or by a device's.
An ``PhaseTimer`` gives every second of a command to one phase.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ContextDecorator, contextmanager, nullcontext
from itertools import pairwise
from time import perf_counter


class _Compiling(ContextDecorator):
    """Adds up the time in which any thread compiles; threads that do at once count once.

    Attributes:
        seconds: so far, loading of what was compiled before included.
        made: how many functions and files of kernels were compiled, and not loaded.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._start = 0.0
        self.seconds = 0.0
        self.made = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._start = perf_counter()
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += perf_counter() - self._start


COMPILING = _Compiling()
"""Around whatever compiles, or finds what was compiled before: Numba, NVRTC, the C++ compiler."""


def compile_seconds() -> float:
    """Return the seconds that this process has spent so far on compiling, and on loading what was compiled before."""
    return COMPILING.seconds


def working_seconds() -> float:
    """Return the host's monotonic clock, which stops while anything is compiled."""
    return time.perf_counter() - compile_seconds()


class NullClock:
    """The clock of a headline run, and the base of all: phases cost nothing, counters still count.

    Attributes:
        timing: True if this run's phases are timed, so that reading back what a kernel noted costs no headline.
        counters: what ``count`` has added up.
        awaited: False for a run whose result nobody reads.
        stop: what stops the stopwatch of this run, if there is one.
        stopped: ``issued`` has done so.
    """

    timing = False

    def __init__(self, *, awaited: bool = True) -> None:
        self.awaited = awaited
        self.counters: dict[str, int] = {}
        self.stop: Callable[[], None] | None = None
        self.stopped = False

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Return a context manager around one phase, e.g. ``with clock.phase("find_min"):``."""
        return nullcontext()

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add seconds that a kernel measured itself to a phase."""

    def issued(self) -> bool:
        """Stop the stopwatch behind what was issued to the device, because the host now waits for word whether that was
        enough.  Where it was not an algorithm goes on, and calls this again.

        Returns ``awaited``: where that is False the host need not wait, and the run may end here.
        """
        if self.stop is not None:
            self.stop()
            self.stopped = True
        return self.awaited

    def count(self, name: str, value: int = 1) -> None:
        """Add to a counter of the run, e.g. ``clock.count("rounds")``."""
        self.counters[name] = self.counters.get(name, 0) + value


Clock = NullClock
"""Any clock: what an algorithm is given."""


def add_stamps(clock: Clock, phases: Sequence[str], stamps: Iterable[int]) -> None:
    """Add to each phase the nanoseconds from its stamp, 0 if not entered, to the next; the last only ends one."""
    entered = [(name, int(at)) for name, at in zip(phases, stamps, strict=True) if at]
    for (name, begun), (_, ended) in pairwise(entered):
        clock.add_seconds(name, (ended - begun) * 1e-9)


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
            self.add_seconds(name, working_seconds() - start)

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add a time that a kernel measured itself to the phase ``name``."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


class PhaseTimer(HostClock):
    """Gives every second to one phase: one inside another stops the outer one's clock, so that no second counts twice.

    What compilers take, wherever it happens, goes to ``compile``.  Outside of all phases nothing is counted, unless
    there is a ``first`` phase, begun at ``since`` on the clock of ``time.perf_counter``, by default now.
    """

    def __init__(self, first: str | None = None, since: float | None = None):
        super().__init__()
        self._open = [] if first is None else [first]
        self._at = time.perf_counter() if since is None else since
        self._compiled = 0.0 if since is not None else compile_seconds()
        self._made = 0 if since is not None else COMPILING.made

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Give what passes inside to the phase ``name``, but for what other phases inside take."""
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def switch_phase(self, name: str) -> None:
        """Give what belongs to no other phase to ``name`` from now on, if it was counted at all."""
        self._turn()
        self._open[:1] = [name] if self._open else []

    def move(self, source: str, target: str, seconds: float) -> None:
        """Give seconds of one phase to another, as many as there are."""
        seconds = min(seconds, self.seconds.get(source, 0.0))
        self.seconds[source] = self.seconds.get(source, 0.0) - seconds
        self.add_seconds(target, seconds)

    @property
    def compiled(self) -> int:
        """How many functions and files of kernels were compiled since; where none was, ``compile`` is loading."""
        return COMPILING.made - self._made

    def until_now(self) -> dict[str, float]:
        """Return the seconds of every phase so far; they add up to the time that was counted."""
        self._turn()
        return dict(self.seconds)

    def _turn(self) -> None:
        now, compiled = time.perf_counter(), compile_seconds()
        if self._open:
            passed = now - self._at
            compiling = min(compiled - self._compiled, passed)
            self.add_seconds(self._open[-1], passed - compiling)
            if compiling > 0:
                self.add_seconds("compile", compiling)
        self._at, self._compiled = now, compiled


class HostStopwatch:
    """Times a region by the host's monotonic clock, from the end of ``before`` to the end of ``after``."""

    def __init__(self, before: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None) -> None:
        self._before, self._after = before, after
        self._start = self._stop = 0.0

    def start(self) -> None:
        """Mark the beginning."""
        self._before()
        self._start = time.perf_counter()

    def stop(self) -> None:
        """Mark the end."""
        self._after()
        self._stop = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds between the two marks."""
        return self._stop - self._start
