"""Energy of a run, by the GPU's own counter.

The counter moves in steps of tens of milliseconds, so a window of runs back to back begins and ends where it moves:
after a lead-in of runs until the first step, ``WINDOW_S`` of runs that nothing interrupts, then runs until the next
step.  What is measured is the whole GPU, its idle power included, and the host's gaps between two runs are part of the
window.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import DeviceUnavailable
from gpugraph.measure.instruments import Instrument
from gpugraph.measure.measurement import Measurement

WINDOW_S = 1.0
STEP_LIMIT_S = 1.0
"""Longest wait for the counter to move; one that does not move by then does not work."""


def measure_energy(run: Callable[[], None], read_j: Callable[[], float], *, edges: int | None) -> dict[str, object]:
    """Return the ``energy`` object of a record.

    Args:
        run: makes one run and waits for its end.
        read_j: reads the counter, in joules.
        edges: what one run counts, for nanojoules per edge; None where there is no such number.

    Returns:
        ``joules_per_run``, ``nanojoules_per_edge``, ``window_s`` and ``runs``; or ``absent`` with the reason.
    """
    try:
        start, before, _ = _until_it_moves(run, read_j)
        runs = 0
        while time.perf_counter() - start < WINDOW_S:
            run()
            runs += 1
        end, after, more = _until_it_moves(run, read_j)
    except DeviceUnavailable as reason:
        return {"absent": reason.what}
    runs += more
    joules = (after - before) / runs
    return {
        "joules_per_run": joules,
        "nanojoules_per_edge": joules / edges * 1e9 if edges else None,
        "window_s": end - start,
        "runs": runs,
    }


def _until_it_moves(run: Callable[[], None], read_j: Callable[[], float]) -> tuple[float, float, int]:
    """Run until the counter moves; return when, its joules, and how many runs that took; else DeviceUnavailable."""
    begun, still, runs = time.perf_counter(), read_j(), 0
    while True:
        run()
        runs += 1
        now, value = time.perf_counter(), read_j()
        if value != still:
            return now, value, runs
        if now - begun > STEP_LIMIT_S:
            raise DeviceUnavailable(f"the energy counter did not move within {STEP_LIMIT_S:g} s")


class Energy(Instrument):
    """The energy of a run, measured over a window of runs."""

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``energy``."""
        return {"energy": _energy(measurement)}


def _energy(measurement: Measurement) -> dict[str, object]:
    nvml, algorithm = measurement.setup.open_device.nvml, measurement.algorithm
    if isinstance(nvml, str):
        return {"absent": nvml}
    if algorithm.own_seconds is not None:
        return {"absent": "the algorithm times itself, and its runs do more than what it times"}
    if measurement.is_wrong:
        return {"absent": "the result is wrong"}
    measurement.setup.progress(f"{algorithm.name}: measuring its energy")
    trial = measurement.trials[0]

    def run() -> None:
        algorithm.run(measurement.state, NullClock(), *trial.query)
        measurement.device.synchronize()

    edges = measurement.setup.problem.work(measurement.input.graph, trial.result)
    with measurement.guard:
        return measure_energy(run, nvml.energy_j, edges=edges)
