"""A thread pool whose threads run one compiled function together, without Python in between; atomics for shared data.

The function begins with ``(control, rank, size)``.  Its steps are parted by ``join``; work of uneven size is assigned
by ``fetch_add`` on a counter of ``control``.  A barrier costs about a microsecond, where a step called from Python by
a pool of threads costs some tens for each of them.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gpugraph.base.clock import NullClock
from gpugraph.base.compiled import FromNumba, inner_njit, load_compiler, plain_njit, threads
from gpugraph.base.host import ForkLock

# ------------------------------------------------------------------ atomics
# Atomic operations on NumPy arrays in compiled code, for threads that share an array without the GIL.
# ``intrinsics.py`` says what each does; here they have names that can be imported without Numba, which compiled code
# puts its own in place of.


def _intrinsic(name: str) -> Any:
    def made() -> Any:
        from gpugraph.ext.tuned import intrinsics

        return getattr(intrinsics, name)

    return FromNumba(made)


compare_and_swap = _intrinsic("compare_and_swap")
fetch_add = _intrinsic("fetch_add")
load_now = _intrinsic("load_now")
prefetch = _intrinsic("prefetch")
cycles = _intrinsic("cycles")

STRIDE = 16
"""Between counters that several threads write, so that they lie in cache lines of their own."""
_ARRIVED, _EPOCH, _STOP, _HERE, _DONE, _SEEN, _CALLER = (i * STRIDE for i in range(7))
COUNTERS = 7 * STRIDE
"""The first index of ``control`` that is the function's own; all are 0 when it begins."""
_LENGTH = COUNTERS + 32 * STRIDE

_LOOKS, _PAUSE, _NAP_US = 200, 8, 50
"""How often one that waits looks before it sleeps, how many readings of the clock lie between, how long it sleeps."""
_LONGEST_STOP = 1.0
"""Seconds that the other threads have to end after an error of one."""
_LEAST = 1 << 15
"""Fewer items are done by one thread before another is awake."""


def _of_the_system(name: str) -> Any:
    def made() -> Any:
        from numba.core import types

        transfer = types.intp(types.int32, types.voidptr, types.uintp)
        signature = {"usleep": types.int32(types.uint32), "read": transfer, "write": transfer}[name]
        return types.ExternalFunction(name, signature)

    return FromNumba(made)


_sleep, _read, _write = _of_the_system("usleep"), _of_the_system("read"), _of_the_system("write")


@inner_njit
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


@inner_njit
def join(control: Any, size: int) -> bool:
    """Wait until the whole thread pool is here; return True to the last that comes, while the others still wait.

    That one may decide for all, and must ``release`` them.
    """
    epoch = load_now(control, _EPOCH)
    if fetch_add(control, _ARRIVED, 1) == size - 1:
        return True
    looks = 0
    while load_now(control, _EPOCH) == epoch:
        looks = look_again(looks)
    return False


@inner_njit
def release(control: Any) -> None:
    """Let those go on that wait in ``join``."""
    control[_ARRIVED] = 0
    fetch_add(control, _EPOCH, 1)


@inner_njit
def meet(control: Any, size: int) -> None:
    """Wait until the whole thread pool is here."""
    if size > 1 and join(control, size):
        release(control)


@inner_njit
def stopped(control: Any) -> bool:
    """Tell whether the caller wants no result any more: asked by one that decides for all."""
    return bool(load_now(control, _STOP) != 0)


@plain_njit
def share_of(items: int, rank: int, size: int) -> tuple[int, int]:
    """Return (start, stop), the rank's share of [0, items), whole cache lines of words where that can be."""
    step = (items + size - 1) // size
    step = (step + 63) & ~63
    return min(items, rank * step), min(items, (rank + 1) * step)


def thread_count(items: int) -> int:
    """Return how many threads are worth it for work on so many items."""
    return max(1, min(threads(), items // _LEAST))


# ------------------------------------------------------------------ the threads
# Python's lock is handed from thread to thread by waking the next one, some 50 µs each on a virtual machine: with
# sixteen threads that would be a millisecond before the last begins, and another after the first is through.  So a
# thread waits for work in compiled code, all are woken at once, and each takes the lock only when those before it are
# through with it; and at the end one of them tells the caller, while the others wait until it has been heard.


@inner_njit
def enter(control: Any) -> None:
    """Tell that this thread is at work: the first thing that the function does."""
    fetch_add(control, _HERE, 1)


@plain_njit
def leave(control: Any, size: int) -> None:
    """Tell that this thread is through: the last thing that the function does."""
    if size == 1:
        return
    if fetch_add(control, _DONE, 1) == size - 1:
        _write(control[_CALLER], control.ctypes, 1)
    looks = 0
    while load_now(control, _SEEN) == 0 and looks < 2 * _LOOKS:
        looks = look_again(looks)


@plain_njit
def _await_turn(pipe: int, scratch: Any, controls: Any, turn: Any, rank: int) -> None:
    """Wait for work, and then until the threads of lower rank are at it."""
    while _read(pipe, scratch.ctypes, 1) != 1:
        pass
    control = controls[load_now(turn, 0)]
    looks = 0
    while load_now(control, _HERE) < rank and looks < 2 * _LOOKS:
        looks = look_again(looks)


# A signal may raise in the caller before and after each of these two, but not within: ``control`` shows what was done.


@plain_njit
def _wake(pipes: Any, scratch: Any, control: Any) -> None:
    control[_CALLER] = pipes[-1]
    for rank in range(len(pipes) - 1):
        _write(pipes[rank], scratch.ctypes, 1)


@plain_njit
def _hear(pipe: int, scratch: Any, control: Any) -> None:
    """Wait until all threads are through, or until a signal comes."""
    if _read(pipe, scratch.ctypes, 1) == 1:
        control[_SEEN] = 1


class _ThreadPool:
    """Threads that stay, each on a processor of its own where there are as many."""

    def __init__(self, size: int):
        self.size = size
        self._job: tuple[Callable[..., None], tuple[Any, ...]] | None = None
        self._errors: list[BaseException] = []
        self._controls = np.zeros((2, _LENGTH), np.int64)  # who leaves a job late still looks at its control
        self._turn, self._scratch = np.zeros(1, np.int64), np.zeros(size + 1, np.int64)
        pipes = _pipes(size + 1)
        self._reads, self._writes = (np.array(ends, np.int32) for ends in zip(*pipes, strict=True))
        allowed = sorted(os.sched_getaffinity(0))
        places = [{place} for place in allowed] if len(allowed) == size else [None] * size
        load_compiler()  # Numba counts the processors of the thread that imports it
        self._compile()
        for rank, place in enumerate(places):
            threading.Thread(target=self._work, args=(rank, place), name=f"thread pool-{rank}", daemon=True).start()

    def _compile(self) -> None:
        """Compile what a thread runs outside of its work here, where an error has somebody who hears of it."""
        os.write(int(self._writes[-1]), b"\0")
        _await_turn(int(self._reads[-1]), self._scratch[:1], self._controls, self._turn, 0)
        leave(self._controls[0], 1)
        _wake(self._writes[-1:], self._scratch[-1:], self._controls[0])
        os.write(int(self._writes[-1]), b"\0")
        self._await_end(self._controls[0])

    def run(self, function: Callable[..., None], args: tuple[Any, ...]) -> None:
        """Call ``function(control, rank, size, *args)`` on every thread; return when all are through."""
        self._turn[0] ^= 1
        control = self._controls[self._turn[0]]
        control[:] = 0
        self._job = function, args
        try:
            _wake(self._writes, self._scratch[-1:], control)
            self._await_end(control)
        except BaseException:
            control[_STOP] = 1
            try:
                self._await_end(control)
            except BaseException:
                _thread_pool.cache_clear()  # it is still at work: the next run gets another
                raise
            if self._errors:
                _thread_pool.cache_clear()
            self._job = None
            raise
        if self._errors:
            error = self._errors[0]
            self._await_others(control)
            self._errors, self._job = [], None
            raise error
        self._job = None  # what the threads were given is not kept

    def _await_end(self, control: Any) -> None:
        """Return when all threads are through, at once where they were not woken."""
        while control[_CALLER] and not control[_SEEN]:
            _hear(int(self._reads[-1]), self._scratch[-1:], control)

    def _await_others(self, control: Any) -> None:
        """Ask the threads to stop after an error of one; those that wait where all meet are left behind for good."""
        control[_STOP] = 1
        until = time.monotonic() + _LONGEST_STOP
        while control[_DONE] < self.size:
            if time.monotonic() > until:
                _thread_pool.cache_clear()  # the next run gets another
                return
            time.sleep(0.001)
        for _ in self._errors:  # each has written to the pipe, and so has the last to leave
            os.read(int(self._reads[-1]), 1)

    def _work(self, rank: int, place: set[int] | None) -> None:
        if place is not None:
            with contextlib.suppress(OSError):  # a processor that was taken away meanwhile
                os.sched_setaffinity(0, place)
        pipe, scratch = int(self._reads[rank]), self._scratch[rank : rank + 1]
        while True:
            _await_turn(pipe, scratch, self._controls, self._turn, rank)
            control = self._controls[self._turn[0]]
            try:
                assert self._job is not None
                function, args = self._job
                function(control, rank, self.size, *args)
            except BaseException as error:  # before its first line too: it may be compiled here
                self._errors.append(error)
                os.write(int(self._writes[-1]), b"\0")  # the others may wait for this thread for ever
                leave(control, self.size)
            function = args = None  # type: ignore[assignment]


def _pipes(count: int) -> list[tuple[int, int]]:
    """Open so many pipes, or none."""
    pipes: list[tuple[int, int]] = []
    try:
        while len(pipes) < count:
            pipes.append(os.pipe())
    except OSError:
        for end in itertools.chain(*pipes):
            os.close(end)
        raise
    return pipes


def run_on_threads(function: Callable[..., None], *args: Any, size: int | None = None) -> None:
    """Call ``function(control, rank, size, *args)`` on every thread of a thread pool at once, all if ``size`` is None.

    The function is compiled, calls ``enter`` first and ``leave`` last.  An interrupt asks it to stop (``stopped``) and
    is raised when it has.
    """
    size = size or threads()
    if size == 1:
        function(np.zeros(_LENGTH, np.int64), 0, 1, *args)
        return
    with _ONE_AT_A_TIME:  # half a thread pool each would wait for ever
        _thread_pool(size).run(function, args)


def add_phases(clock: NullClock, names: tuple[str, ...], spent: Any, seconds: float) -> None:
    """Add phases that took ``spent``, (phases,) cycles, of all ``seconds`` together, to a clock if it times at all."""
    total = float(spent.sum())
    if clock.timing and total > 0:
        for name, part in zip(names, spent.tolist(), strict=True):
            if part:
                clock.add_seconds(name, seconds * part / total)


_ONE_AT_A_TIME = ForkLock()


_thread_pool = functools.cache(_ThreadPool)

os.register_at_fork(after_in_child=_thread_pool.cache_clear)
