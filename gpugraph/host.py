"""The machine that this process runs on: memory that it may take, processors that it may use, and their name."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

from gpugraph.errors import OutOfMemory
from gpugraph.quantities import in_units

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")
_UNKNOWN = 1 << 40


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
    """Return how many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def total_memory() -> int:
    """Return the bytes of memory that this process could have: the machine's, or less by a control group's limit.

    2^40 where the system does not tell.
    """
    return min([_physical(), *(limit for limit, _ in _control_groups())])


def available_memory() -> int:
    """Return the bytes of memory that can still be taken: what the system calls available, or a control group leaves.

    All of ``total_memory`` where the system does not say what is available.
    """
    return min([_available(), *(room for _, room in _control_groups())])


def require_memory(
    needed: int, what: str, remedy: str = "ask for a smaller graph, or use a machine with more memory"
) -> None:
    """Refuse work that cannot fit, before anything is allocated for it.

    Args:
        needed: bytes.
        what: what needs them, e.g. ``"rmat:30"``.
        remedy: what to do about it.

    Raises:
        OutOfMemory: it needs more than there is; both figures are named.
    """
    free = available_memory()
    if needed > free:
        raise OutOfMemory(
            f"needs about {in_units(needed)} of memory and {in_units(free)} are available", where=what, remedy=remedy
        )


def _physical() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return _physical()


def _control_groups() -> Iterator[tuple[int, int]]:
    """Yield (limit, bytes left) of the process's control groups, from its own up to the root, that have a limit."""
    try:
        lines = _OWN_GROUP.read_text().splitlines()
    except OSError:
        lines = []
    # "0::/a/b" in version 2; "9:memory:/a/b" in version 1, which lies in a folder of its own.
    version_2 = [line[3:] for line in lines if line.startswith("0::")]
    version_1 = [line.split(":", 2)[2] for line in lines if line.partition(":")[2].startswith("memory:")]
    for root, own, names in (
        (_GROUPS, version_2, ("memory.max", "memory.current", "inactive_file")),
        (_GROUPS / "memory", version_1, ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")),
    ):
        folder = root / (own[0] if own else "").strip("/")
        # Inside a container the path may be that of the host; the root is then the container's own group.
        for group in (folder, *folder.parents):
            if group.is_relative_to(root) and (figures := _limit_and_room(group, *names)) is not None:
                yield figures


def _limit_and_room(group: Path, limit_name: str, used_name: str, cache_name: str) -> tuple[int, int] | None:
    """Return limit, and limit less use, the page cache that gives way counted as free; None: no limit."""
    try:
        limit = int((group / limit_name).read_text())  # "max" is no number
        used = int((group / used_name).read_text())
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return limit, max(0, limit - used + int(statistics.get(cache_name, 0)))
    except (OSError, ValueError):
        return None
