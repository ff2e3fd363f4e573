"""Cold caches: every sample finds the GPU's second-level cache full of something else."""

from __future__ import annotations

from typing import Any

from gpugraph.errors import InputError

FACTOR = 2
"""The buffer is so many times the cache: whatever way the cache replaces its lines, nothing older stays."""


class CacheFlush:
    """Overwrites a buffer larger than the second-level cache.

    The fill is queued before a sample's first event, so that it ends before the timing begins.

    Args:
        device: an open ``cuda`` device.

    Raises:
        InputError: another kind of device, whose caches cannot be flushed so.
        OutOfMemory: there is no room for the buffer.
    """

    def __init__(self, device: Any):
        if device.kind != "cuda":
            raise InputError(
                f"cold samples need a GPU: the caches behind the device '{device.kind}' cannot be flushed",
                remedy="measure it warm, or use --device cuda",
            )
        self._device = device
        self._buffer = device.empty(FACTOR * device.describe()["l2_bytes"], "uint8")

    def __call__(self) -> None:
        """Flush the cache, in stream order."""
        self._device.fill(self._buffer, 0)
