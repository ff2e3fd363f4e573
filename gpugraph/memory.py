"""How much host memory can still be taken, and the refusal of work that needs more."""

from __future__ import annotations

import os
from pathlib import Path

from gpugraph.errors import InputError


def available_memory() -> int | None:
    """Return the bytes of host memory that can still be allocated, or None where the system does not tell.

    The least of what the kernel calls available and what the control group (a container's limit) leaves.
    """
    figures = [figure for figure in (_meminfo(), _control_group()) if figure is not None]
    return min(figures, default=None)


def require_memory(needed: int, what: str) -> None:
    """Refuse work that cannot fit.

    Args:
        needed: bytes.
        what: what needs them, e.g. ``"rmat:30"``.

    Raises:
        InputError: it needs more than there is; both figures are named.
    """
    free = available_memory()
    if free is not None and needed > free:
        raise InputError(
            f"needs about {in_units(needed)} of memory and {in_units(free)} are available",
            where=what,
            remedy="ask for a smaller graph, or use a machine with more memory",
        )


def in_units(size: int) -> str:
    """Return e.g. ``"1.5 GiB"`` for a number of bytes."""
    if size < 1024:
        return f"{size} bytes"
    power = min((size.bit_length() - 1) // 10, 5)
    return f"{size / 1024**power:.1f} {('KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power - 1]}"


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


def _control_group() -> int | None:
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        return None if limit == "max" else max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None
