"""The ``cpu`` device: what CPU algorithms run on.

It has no kernels and no arrays of its own; it offers the measurement what every device offers.
"""

import os
from typing import Any

from gpugraph.base.clock import HostClock, HostStopwatch
from gpugraph.base.errors import InputError
from gpugraph.base.host import available_memory, processor_name, require_memory, total_memory, usable_cores


class CpuDevice:
    """The processor that Python runs on, all its threads or, where it is ``limited``, so many.

    Raises InputError if there are not so many.
    """

    kind = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        self.name = processor_name()
        limit = os.environ.get("NUMBA_NUM_THREADS", "")
        most = int(limit) if limit.isascii() and limit.isdigit() and int(limit) > 0 else usable_cores()
        if threads is not None and threads > most:
            what = f"there are {most} threads, not {threads}"
            raise InputError(what, where=f"--device cpu/{threads}", remedy=f"ask for 1 to {most}")
        self.threads, self.limited = threads or most, threads is not None

    def stopwatch(self) -> HostStopwatch:
        return HostStopwatch()

    def phase_clock(self) -> HostClock:
        return HostClock()

    def synchronize(self) -> None:
        """Return at once: a CPU algorithm has ended when it returns."""

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "threads": self.threads, "memory_bytes": self.memory()[1]}

    def memory(self) -> tuple[int, int]:
        return available_memory(), total_memory()

    def require(self, needed: int) -> None:
        require_memory(needed, self.kind)

    def reset_peak(self) -> None:
        """Do nothing: there is no device memory to count."""

    def peak_bytes(self) -> int:
        """Return 0: there is no device memory."""
        return 0

    def close(self) -> None:
        """Do nothing: there is nothing to free."""
