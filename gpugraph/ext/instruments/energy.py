"""Energy of a run, by the counters of GPUs (NVML) and processors (RAPL).

A counter moves in steps, of tens of milliseconds on a GPU, so a window of runs back to back begins and ends where it
moves, ``WINDOW_S`` apart or more, and is not read in between, for that takes longer than many a run.  A window without
work goes before, for the idle power.  What is measured is the whole device, the host's gaps between two runs included.
"""

import platform
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import DeviceUnavailable
from gpugraph.measure.instruments import Instrument
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.open_device import OpenDevice
from gpugraph.records.statistics import median

WINDOW_S = 2.0
STEP_LIMIT_S = 1.0
"""Longest wait for the counter to move; one that does not move by then does not work."""
PAUSE_S = 0.02
POWERCAP = Path("/sys/class/powercap")

ReadJoules = Callable[[], float]


def alone(own: Any) -> list[Any]:
    """Return what all processes have, where this is the only one."""
    return [own]


class Counter(NamedTuple):
    """What counts joules: the name of the device, or of the machine whose processors it counts, and how it is read."""

    unit: str
    read_j: ReadJoules


class Window(NamedTuple):
    """Joules, seconds and runs between two moves of a counter."""

    joules: float
    seconds: float
    runs: int


def window(run: Callable[[], object], read_j: ReadJoules, gather: Callable[[str], list[str]] = alone) -> Window:
    """Run over and over from one move of the counter to another, ``WINDOW_S`` later or more.

    ``gather`` returns what all ranks have in its place: each has a counter of its own, and all make the same runs.

    Raises:
        DeviceUnavailable: a counter does not move, or cannot be read.
    """
    ends: list[tuple[float, float, int]] = []
    state, runs = "begins", 0
    since, still = time.perf_counter(), cast(float | None, read_j())
    while True:
        states = gather(state)
        if failed := [other for other in states if other not in ("begins", "ends")]:
            raise DeviceUnavailable(failed[0])
        if "begins" not in states:
            (begun_s, before_j, first), (ended_s, after_j, last) = ends[0], ends[-1]
            return Window(after_j - before_j, ended_s - begun_s, last - first)
        run()
        runs += 1
        now = time.perf_counter()
        if ends and now - ends[0][0] < WINDOW_S:  # reading takes milliseconds, in which a GPU has nothing to do
            still = None
            continue
        value = read_j()
        if still is None:
            since, still = now, value
        if value == still and now - since > STEP_LIMIT_S:
            state = f"the energy counter did not move within {STEP_LIMIT_S:g} s"
        elif value != still and state == "begins":
            ends.append((now, value, runs))
            state = "ends" if len(ends) == 2 else state
        since, still = (now, value) if value != still else (since, still)


def measure_energy(
    run: Callable[[], object],
    counter: Counter | str,
    *,
    edges: int | float | None,
    gather: Callable[[Any], list[Any]] = alone,
    inside: Callable[[], tuple[int, float]] | None = None,
) -> dict[str, object]:
    """Return the ``energy`` object of a record.

    Args:
        run: makes one run and waits for its end.
        counter: counts the joules; or the reason why nothing does.
        edges: what one run counts, for nanojoules per edge; None where there is no such number.
        gather: returns what all ranks have; those that share a counter are counted once.
        inside: of a program that times runs of its own: how many a process makes, and how long one takes.

    Returns:
        ``joules_per_run``, ``net_joules_per_run`` above the idle power, ``nanojoules_per_edge``, ``mean_w``,
        ``idle_w``, ``window_s``, ``runs`` and ``per``: ``run``, or ``process`` where a process makes many runs.  Then
        a run has its part of what the process takes above the idle power, and the idle power of its own seconds.
        Or ``absent`` with the reason.
    """
    reasons = [reason for reason in gather(counter if isinstance(counter, str) else "") if reason]
    if reasons or isinstance(counter, str):
        return {"absent": reasons[0]}

    def windows(work: Callable[[], object]) -> list[Window]:
        every = gather((counter.unit, window(work, counter.read_j, gather)))
        return [*dict(reversed(every)).values()]

    try:
        idle, busy = windows(lambda: time.sleep(PAUSE_S)), windows(run)
    except DeviceUnavailable as reason:
        return {"absent": reason.what}
    idle_w, mean_w = (sum(one.joules / one.seconds for one in every) for every in (idle, busy))
    joules = sum(one.joules / one.runs for one in busy)
    net = joules - sum(q.joules / q.seconds * one.seconds / one.runs for q, one in zip(idle, busy, strict=True))
    process: dict[str, object] = {}
    if inside is not None:
        (own_runs, own_s), process = inside(), {"process_joules": joules}
        net /= own_runs
        joules = net + idle_w * own_s
    return {
        "joules_per_run": joules,
        "net_joules_per_run": net,
        "nanojoules_per_edge": joules / edges * 1e9 if edges else None,
        "mean_w": mean_w,
        "idle_w": idle_w,
        "window_s": busy[0].seconds,
        "runs": busy[0].runs,
        "per": "process" if process else "run",
        **process,
    }


def counter_of(open_device: OpenDevice) -> Counter | str:
    """Return the counter of a device, or the reason why there is none."""
    if open_device.device.kind == "cpu":
        read_j = processor_counter()
        return read_j if isinstance(read_j, str) else Counter(platform.node(), read_j)
    nvml = open_device.nvml
    return nvml if isinstance(nvml, str) else Counter(nvml.uuid(), nvml.energy_j)


def processor_counter() -> ReadJoules | str:
    """Return what reads the joules of all processors together since now, or the reason why there are none.  RAPL."""
    packages = [one for one in POWERCAP.glob("intel-rapl:*") if re.fullmatch(r"intel-rapl:\d+", one.name)]
    if not packages:
        return f"the processors' energy (RAPL) is not in {POWERCAP}"
    last, total = dict.fromkeys(packages, 0), 0

    def read_j() -> float:
        nonlocal total
        for package in packages:
            now = int((package / "energy_uj").read_text("ascii"))
            around = int((package / "max_energy_range_uj").read_text("ascii")) if now < last[package] else 0
            total, last[package] = total + now - last[package] + around, now
        return total / 1e6

    try:
        read_j()
    except (OSError, ValueError) as error:
        return f"the processors' energy (RAPL) cannot be read: {getattr(error, 'strerror', None) or error}".lower()
    return read_j


class Energy(Instrument):
    """The energy of a run, measured over a window of runs."""

    def ending_s(self, measurement: Measurement) -> float:
        """Return about how many seconds both windows take."""
        return 2 * (WINDOW_S + measurement.trials[0].last_s)

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``energy``; on several ranks that of all together."""
        algorithm, counter = measurement.algorithm, counter_of(measurement.setup.open_device)
        if measurement.is_wrong:
            return {"energy": {"absent": "the result is wrong"}}
        measurement.setup.progress(f"{algorithm.name}: measuring its energy")
        trial, own = measurement.trials[0], list[Any]()

        def run() -> None:
            own[:] = [algorithm.run(measurement.state, NullClock(), *trial.query)]
            measurement.device.synchronize()

        def inside() -> tuple[int, float]:
            assert algorithm.own_seconds is not None
            seconds = algorithm.own_seconds(measurement.state, own[0])
            return (len(seconds), median(seconds)) if isinstance(seconds, Sequence) else (1, seconds)

        timed = None if algorithm.own_seconds is None else inside
        edges = measurement.setup.problem.work(measurement.input.graph, trial.result)
        with measurement.guard:
            gather = measurement.ranks.gather
            return {"energy": measure_energy(run, counter, edges=edges, gather=gather, inside=timed)}
