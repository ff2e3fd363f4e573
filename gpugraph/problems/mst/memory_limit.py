"""Options of the algorithms that work on graphs larger than the device's memory: how much of it they may take."""

from __future__ import annotations

from gpugraph.devices.base import Device
from gpugraph.errors import InputError, OutOfMemory
from gpugraph.problems.algorithm import Option
from gpugraph.quantities import exactly, parse_bytes

LIMIT = Option("memory-limit", str, "", "device memory to take: 8GB, 500MiB, or 25% of the graph's own bytes")
"""The option, the same for every algorithm that has it."""

_HEADROOM = 32
"""One part in so many of the free memory is left to the driver and to what is small."""


def limit_bytes(text: str, graph_bytes: int, device: Device) -> int:
    """Return the bytes of device memory that an algorithm may take.

    Args:
        text: what the option says; nothing for what is free on the device.
        graph_bytes: what 100% is.
        device: the device.

    Raises:
        InputError: the text is no size of memory.
    """
    if not text:
        free, _ = device.memory()
        return free - free // _HEADROOM
    try:
        return parse_bytes(text, whole=graph_bytes)
    except InputError as error:
        raise InputError(f"option 'memory-limit' takes a size of memory, not '{text}'", remedy=error.remedy) from None


def check_limit(needed: int, limit: int, what: str) -> None:
    """Refuse work whose least need exceeds the limit.

    Args:
        needed: bytes that cannot stay on the host.
        limit: bytes that may be taken.
        what: what needs them, e.g. ``"boruvka-streamed"``.

    Raises:
        OutOfMemory: both figures are named.
    """
    if needed > limit:
        raise OutOfMemory(
            f"needs {exactly(needed)} on the device at least, for what belongs to the vertices, "
            f"and may take {exactly(max(limit, 0))}",
            where=what,
            remedy="raise memory-limit, or use a device with more memory",
        )
