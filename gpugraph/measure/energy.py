"""Energy of a run, by the GPU's own counter over a window of runs back to back.

The counter moves in steps of tens of milliseconds, so a window begins and ends where it moves: after a lead-in of
runs until the first step, ``WINDOW_S`` of runs that nothing interrupts, then runs until the next step.  What is
measured is the whole GPU, its idle power included, and the host's gaps between two runs are part of the window.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpugraph.errors import DeviceUnavailable

WINDOW_S = 1.0
STEP_LIMIT_S = 1.0
"""Longest wait for the counter to move; one that does not move by then does not work."""


def measure_energy(run: Callable[[], None], read_j: Callable[[], float], *, edges: int | None) -> dict[str, Any]:
    """Return the ``energy`` object of a record.

    Args:
        run: makes one run and waits for its end.
        read_j: reads the counter, in joules.
        edges: what one run counts, for nanojoules per edge; None where there is no such number.

    Returns:
        ``joules_per_run``, ``nanojoules_per_edge``, ``window_s`` and ``runs``; or ``absent`` with the reason.
    """
    try:
        first = _until_it_moves(run, read_j)
        if first is None:
            return {"absent": f"the energy counter did not move within {STEP_LIMIT_S:g} s"}
        start, before, _ = first
        runs = 0
        while time.perf_counter() - start < WINDOW_S:
            run()
            runs += 1
        last = _until_it_moves(run, read_j)
        if last is None:
            return {"absent": f"the energy counter did not move within {STEP_LIMIT_S:g} s"}
    except DeviceUnavailable as reason:
        return {"absent": reason.what}
    end, after, more = last
    runs += more
    joules = (after - before) / runs
    return {
        "joules_per_run": joules,
        "nanojoules_per_edge": joules / edges * 1e9 if edges else None,
        "window_s": end - start,
        "runs": runs,
    }


def _until_it_moves(run: Callable[[], None], read_j: Callable[[], float]) -> tuple[float, float, int] | None:
    """Run until the counter moves; return when, what it says, and how many runs that took; None if it does not."""
    begun, still, runs = time.perf_counter(), read_j(), 0
    while True:
        run()
        runs += 1
        now, value = time.perf_counter(), read_j()
        if value != still:
            return now, value, runs
        if now - begun > STEP_LIMIT_S:
            return None
