"""The machine that this process runs on: memory that it may take, processors that it may use, and their name."""

import functools
import math
import os
import platform
import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

from gpugraph.base.errors import DeviceUnavailable, OutOfMemory
from gpugraph.base.quantities import in_units

NOT_LINUX = "gpugraph runs on Linux, not on " + sys.platform
"""Where records alone are read, compared and drawn, any system does."""

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")


def check_system() -> None:
    """Raise DeviceUnavailable if nothing can be measured on this system: any but Linux."""
    if sys.platform != "linux":
        raise DeviceUnavailable(NOT_LINUX, remedy="use a virtual machine, a container or WSL 2")


def processor_name() -> str:
    """Return the processor's marketing name where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def usable_cores() -> int:
    """Return how many processors this process may keep busy: those it may run on, or what a quota on time leaves."""
    if not hasattr(os, "sched_getaffinity"):  # a system on which nothing is measured
        return os.cpu_count() or 1
    return max(1, math.ceil(min(len(os.sched_getaffinity(0)), _quota())))


@functools.cache
def _quota() -> float:
    """Return how many processors' time the process's control groups have; infinity without a limit."""
    quota = math.inf
    for group, names in _control_groups("cpu", ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            time, period = (float(word) for name in names for word in (group / name).read_text().split())
        except (OSError, ValueError):  # no such file, or "max", which is no number
            continue
        if time > 0 and period > 0:
            quota = min(quota, time / period)
    return quota


def total_memory() -> int:
    """Return the bytes this process could have: the machine's, or less by a control group's limit."""
    return min([_physical(), *(limit for limit, _ in _limits())])


def available_memory() -> int:
    """Return the bytes that can still be taken: what the system calls available, or a control group leaves."""
    return min([_available(), *(room for _, room in _limits())])


_ALWAYS_THERE = 1 << 18
"""Bytes; to look what is free takes longer than a small graph does."""


def require_memory(
    needed: int, what: str, remedy: str = "ask for a smaller graph, or use a machine with more memory"
) -> None:
    """Raise OutOfMemory, with both figures, if ``what`` needs more bytes than there are, before any is allocated."""
    if needed < _ALWAYS_THERE:
        return
    free = available_memory()
    if needed > free:
        short = f"needs about {in_units(needed)} of memory and {in_units(free)} are available"
        raise OutOfMemory(short, where=what, remedy=remedy)


def _physical() -> int:
    if not hasattr(os, "sysconf"):  # Windows, where nothing is measured
        return sys.maxsize
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return _physical()


def _limits() -> Iterator[tuple[int, int]]:
    """Yield limit, and limit less use, of the process's control groups that have a limit; cache that gives way is free.

    They come from its own up to the root.
    """
    names = ("memory.max", "memory.current", "inactive_file")
    older = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    for group, (limit_name, used_name, cache_name) in _control_groups("memory", names, older):
        try:
            limit = int((group / limit_name).read_text())  # "max" is no number
            used = int((group / used_name).read_text())
            statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
            room = max(0, limit - used + int(statistics.get(cache_name, 0)))
        except (OSError, ValueError):
            continue
        if limit < _physical():  # version 1 writes an enormous number where there is none
            yield limit, room


def _control_groups(
    controller: str, names: tuple[str, ...], older: tuple[str, ...]
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the folders of the process's control group and of those around it, each with the names that it has for us.

    Those are ``names`` in version 2, which has no controllers, and ``older`` in version 1.
    """
    try:
        lines = [line.split(":", 2) for line in _OWN_GROUP.read_text().splitlines()]
    except OSError:
        lines = []
    for root, kind, files in ((_GROUPS, "", names), (_GROUPS / controller, controller, older)):
        # "0::/a/b" in version 2; "9:memory:/a/b" in version 1, where controllers that share a hierarchy are in a list.
        own = [line[2] for line in lines if len(line) == 3 and kind in line[1].split(",")]
        folder = root / (own[0] if own else "").strip("/")
        # Inside a container the path may be that of the host; the root is then the container's own group.
        for group in (folder, *folder.parents):
            if group.is_relative_to(root):
                yield group, files


_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Let Linux end this process with its parent, whose process id is given; at once if it is dead already."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def ended_by(number: int) -> str:
    """Return in words which signal ended a process, and what that tells."""
    name = next((one.name for one in signal.Signals if one == number), f"signal {number}")
    return f"ended by {name}" + (", as the system does when memory runs out" if name == "SIGKILL" else "")


def environment_with_package() -> dict[str, str]:
    """Return the environment for a child that is started with ``-P``, and finds the package where it was found here.

    Without ``-P`` Python would import modules from the current folder first: a ``random.py`` among the user's data.
    What Python's tracker of semaphores says when the child ends at once (from 3.14 on) would seem its last words.
    """
    home = str(Path(__file__).absolute().parents[2])
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    quiet = [*filter(None, [os.environ.get("PYTHONWARNINGS")]), "ignore:resource_tracker:UserWarning"]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": ",".join(quiet)}


def environment_of_child() -> dict[str, str]:
    """Return ``environment_with_package`` for a child that is listened to: what it prints comes at once."""
    return {**environment_with_package(), "PYTHONUNBUFFERED": "1"}


class ForkLock:
    """A reentrant lock that the child of a fork finds free, for the thread that held it is not in the child."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _FORK_LOCKS.add(self)

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock; return False if ``blocking`` is False and another thread has it."""
        return self._lock.acquire(blocking)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_FORK_LOCKS: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _free_locks() -> None:
    for lock in _FORK_LOCKS:
        lock._lock = threading.RLock()


os.register_at_fork(after_in_child=_free_locks)
