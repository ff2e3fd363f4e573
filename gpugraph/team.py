"""A team: threads that run one compiled function together, without Python in between, and atomics for what they share.

The function begins with ``(control, rank, size)``.  Its steps are parted by ``join``; work of uneven size is dealt out
by ``fetch_add`` on a counter of ``control``.  A barrier costs about a microsecond, where a step called from Python by
a pool of threads costs some tens for each of them.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from gpugraph.clock import NullClock
from gpugraph.compiled import FromNumba, plain_njit, threads

# ------------------------------------------------------------------ atomics
# Atomic operations on NumPy arrays in compiled code, for threads that share an array without the GIL.
# ``intrinsics.py`` has them; here they have names that can be imported without Numba, which compiled code puts its own
# in place of.


def _intrinsic(name: str) -> Any:
    def made() -> Any:
        from gpugraph import intrinsics

        return getattr(intrinsics, name)

    return FromNumba(made)


compare_and_swap = _intrinsic("compare_and_swap")
"""Set ``array[index]`` to ``desired`` if it is ``expected``; return what it was before, in one atomic step."""

fetch_min = _intrinsic("fetch_min")
"""Lower ``array[index]`` to ``value`` if that is less; return what it was before, in one atomic step."""

fetch_add = _intrinsic("fetch_add")
"""Add ``value`` to ``array[index]``; return what it was before, in one atomic step that no access is moved across."""

load_now = _intrinsic("load_now")
"""Return ``array[index]`` as it is now: read from memory, whatever the compiler has seen of it before."""

prefetch = _intrinsic("prefetch")
"""Ask for the cache line of ``array[index]``, which will be read soon."""

cycles = _intrinsic("cycles")
"""Return the processor's counter of cycles, uint64; it runs at a steady rate."""

lowest_bit, highest_bit = _intrinsic("lowest_bit"), _intrinsic("highest_bit")
"""Return the position of the lowest, or highest, bit that is set in a uint64 that is not 0."""

bits_of = _intrinsic("bits_of")
"""Return the bits of a number of at most 64, uint64; they are in the order of numbers that are not negative."""


_ARRIVED, _EPOCH, _STOP = 0, 16, 32
COUNTERS = 48
"""The first index of ``control`` that is the function's own; all are 0 when it begins."""
STRIDE = 16
"""Between counters that several threads write, so that they lie in cache lines of their own."""
_LENGTH = COUNTERS + 32 * STRIDE

_LOOKS, _PAUSE, _NAP_US = 200, 8, 50
"""How often one that waits looks before it sleeps, how many readings of the clock lie between, how long it sleeps."""
_LEAST = 1 << 15
"""Fewer items are done by one thread before another is awake."""


def _usleep() -> Any:
    from numba.core import types

    return types.ExternalFunction("usleep", types.int32(types.uint32))


_sleep = FromNumba(_usleep)


@plain_njit
def look_again(looks: int) -> int:
    """Let a moment pass before one that waits looks again, for the time after ``looks`` of them; return one more.

    It sleeps before long: where there are more threads than processors, the one waited for must get on.  A thread that
    offers its turn instead (``sched_yield``) gives up a whole slice each time, and on a busy machine waits for seconds.
    """
    if looks > _LOOKS:
        _sleep(_NAP_US)
    else:
        for _ in range(_PAUSE):
            cycles()
    return looks + 1


@plain_njit
def join(control: Any, size: int) -> bool:
    """Wait until the whole team is here; return True to the last that comes, while the others still wait.

    That one may decide for all, and must ``release`` them.
    """
    epoch = load_now(control, _EPOCH)
    if fetch_add(control, _ARRIVED, 1) == size - 1:
        return True
    looks = 0
    while load_now(control, _EPOCH) == epoch:
        looks = look_again(looks)
    return False


@plain_njit
def release(control: Any) -> None:
    """Let those go on that wait in ``join``."""
    control[_ARRIVED] = 0
    fetch_add(control, _EPOCH, 1)


@plain_njit
def meet(control: Any, size: int) -> None:
    """Wait until the whole team is here."""
    if size > 1 and join(control, size):
        release(control)


@plain_njit
def stopped(control: Any) -> bool:
    """Tell whether the caller wants no result any more: asked by one that decides for all."""
    return bool(load_now(control, _STOP) != 0)


@plain_njit
def share_of(items: int, rank: int, size: int) -> tuple[int, int]:
    """Return (start, stop), the rank's share of [0, items), whole cache lines of words where that can be."""
    step = (items + size - 1) // size
    step = (step + 63) & ~63
    return min(items, rank * step), min(items, (rank + 1) * step)


def team_size(items: int) -> int:
    """Return how many threads are worth it for work on so many items."""
    return max(1, min(threads(), items // _LEAST))


def run_team(function: Callable[..., None], *args: Any, size: int | None = None) -> None:
    """Call ``function(control, rank, size, *args)`` on every thread of a team at once.

    An interrupt asks the function to stop (``stopped``) and is raised when it has.

    Args:
        function: compiled; raises nothing.
        args: the same for all.
        size: how many threads; by default as many as parallel work has.
    """
    size = size or threads()
    control = np.zeros(_LENGTH, np.int64)
    if size == 1:
        function(control, 0, 1, *args)
        return
    futures: list[Future[None]] = []
    with _ONE_AT_A_TIME:  # half a team each would wait for ever
        pool = _pool(size)
        try:
            futures += [pool.submit(function, control, rank, size, *args) for rank in range(size)]
            wait(futures)
        except BaseException:
            control[_STOP] = 1
            wait(futures)
            raise
    for future in futures:
        future.result()


def add_phases(clock: NullClock, names: tuple[str, ...], spent: Any, seconds: float) -> None:
    """Add phases that were counted in cycles to a clock.

    Args:
        clock: counts them where it times at all.
        names: of the phases.
        spent: (phases,) cycles of each, which together are all of ``seconds``.
        seconds: the time of all.
    """
    total = float(spent.sum())
    if clock.timing and total > 0:
        for name, part in zip(names, spent.tolist(), strict=True):
            if part:
                clock.add_seconds(name, seconds * part / total)


_ONE_AT_A_TIME = threading.Lock()


@functools.cache
def _pool(size: int) -> ThreadPoolExecutor:
    """Return ``size`` threads that stay, all of them there, each on a processor of its own where there are as many."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    turns = itertools.count()

    def settle() -> None:
        if len(allowed) == size:
            os.sched_setaffinity(0, {allowed[next(turns)]})

    pool = ThreadPoolExecutor(size, "team", settle)
    all_there = threading.Barrier(size)
    wait([pool.submit(all_there.wait) for _ in range(size)])
    return pool


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
