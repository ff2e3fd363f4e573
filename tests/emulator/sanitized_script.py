"""Launch kernels of ``sanitized.cu``; run under the sanitiser by ``test_sanitize.py``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.ext.emulator.device import EmulatedDevice

FILE = str(Path(__file__).parent / "sanitized.cu")


def sums_are_right(seed: int) -> bool:
    """Launch blocks that use shared memory, whose turns a seed shuffles, and check their results."""
    device = EmulatedDevice(seed=seed)
    values, sums = device.upload(np.arange(4096, dtype=np.int32)), device.empty(32, np.int32)
    device.kernel(FILE, "missing_barrier_fixed")(32, 128, (values, sums))
    return np.array_equal(sums, values.reshape(32, 128).sum(axis=1))


def main(kernel: str) -> None:
    """Launch ``kernel`` under two schedules."""
    for seed in (0, 1):
        assert sums_are_right(seed)
        device = EmulatedDevice(seed=seed)
        assert device.build == "sanitize"
        values, shared = device.full(100, 3, np.int32), 0
        args: tuple[Any, ...] = (values, np.int32(100))
        if kernel.startswith("shared"):
            args = (values, device.empty(64, np.int32))
        if kernel == "past_dynamic_shared":
            args, shared = (values, np.int32(1)), 64 * 4
        device.kernel(FILE, kernel)(1 + kernel.startswith("off"), 64, args, shared)
    print("done", kernel)


if __name__ == "__main__":
    main(sys.argv[1])
