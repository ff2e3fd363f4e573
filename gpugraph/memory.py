"""How much host memory can still be taken, and the refusal of work that needs more."""

from __future__ import annotations

import os
from pathlib import Path

from gpugraph.errors import OutOfMemory
from gpugraph.quantities import in_units

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")


def available_memory() -> int | None:
    """Return the bytes of host memory that can still be allocated, or None where the system does not tell.

    The least of what the kernel calls available and what the control groups (a container's limit) leave.
    """
    figures = [figure for figure in (_meminfo(), _control_groups()) if figure is not None]
    return min(figures, default=None)


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
    if free is not None and needed > free:
        raise OutOfMemory(
            f"needs about {in_units(needed)} of memory and {in_units(free)} are available", where=what, remedy=remedy
        )


def _meminfo() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _control_groups() -> int | None:
    """Return what the process's control groups leave, from its own up to the root: each may have a limit."""
    left: list[int] = []
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
            if group.is_relative_to(root) and (room := _room(group, *names)) is not None:
                left.append(room)
    return min(left, default=None)


def _room(group: Path, limit_name: str, used_name: str, cache_name: str) -> int | None:
    """Return limit less use of one group, the page cache that gives way counted as free; None: no limit."""
    try:
        limit = (group / limit_name).read_text().strip()
        if limit == "max":
            return None
        used = int((group / used_name).read_text())
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return max(0, int(limit) - used + int(statistics.get(cache_name, 0)))
    except (OSError, ValueError):
        return None
