"""Energy of a run, by the counters of GPUs (NVML) and processors (RAPL).

A counter moves in steps, of tens of milliseconds on a GPU, so a window of runs back to back begins and ends where it
moves, ``WINDOW_S`` apart or more, and is not read in between, for that takes longer than many a run.  A window without
work goes before, for the idle power.  What is measured is the whole device, the host's gaps between two runs included.

A program that times its own runs takes most of its energy for its start, which is no part of them.  Windows of short
processes and of one that makes more runs differ by those runs alone.
"""

import math
import platform
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError
from gpugraph.base.quantities import count, counted, duration
from gpugraph.measure.instruments import Instrument
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.open_device import OpenDevice
from gpugraph.records.statistics import median

WINDOW_S = 2.0
STEP_LIMIT_S = 1.0
"""Longest wait for the counter to move; one that does not move by then does not work."""
PAUSE_S = 0.02
MOST_RUNS = 50_000
"""More runs than this no process is asked for: it prints the time of each."""
FIRST_STEP = 10
"""A process makes so many times its runs, and then so many times these, on the way to what its times suggest."""
SHOWN = 0.5
"""Beyond this share of a process, further runs are no longer mistaken for a start that took longer."""
MOST_UNTIMED = 2.0
"""Where a further run takes so many times the time that is printed of it, its energy is that of something else."""
LEAST_TIMED = 0.8
"""Where it takes less than this share of it, the process did not make these runs, or printed another time."""
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

    def above(self, idle_w: float) -> float:
        """Return the joules of a run above those of an idle device."""
        return (self.joules - idle_w * self.seconds) / self.runs


def window(run: Callable[[], object], read_j: ReadJoules, gather: Callable[[str], list[str]] = alone) -> Window:
    """Run over and over from one move of the counter to another, ``WINDOW_S`` later or more.

    ``gather`` returns what all ranks have in its place: each has a counter of its own, and all make the same runs.

    Raises:
        DeviceUnavailable: a counter does not move, or cannot be read.
    """
    ends: list[tuple[float, float, int]] = []
    state, runs = "begins", 0

    def read() -> float | None:
        nonlocal state
        try:
            return read_j()
        except DeviceUnavailable as reason:  # the other ranks wait for this one's word
            state = reason.what
            return None

    since, still = time.perf_counter(), read()
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
        value = read()
        if value is None:
            continue
        if still is None:
            since, still = now, value
        if value == still and now - since > STEP_LIMIT_S:
            state = f"the energy counter did not move within {STEP_LIMIT_S:g} s"
        elif value != still and state == "begins":
            ends.append((now, value, runs))
            state = "ends" if len(ends) == 2 else state
        since, still = (now, value) if value != still else (since, still)


class Process(NamedTuple):
    """A run that is a process, which times runs of its own.

    Attributes:
        inside: returns how many times the last process printed, of each run or of all, and the seconds of a run.
        lengthen: asks the next process for so many runs more than usually, and returns the usual number; None where it
            cannot be asked.
    """

    inside: Callable[[], tuple[int, float]]
    lengthen: Callable[[int], int] | None


def measure_energy(
    run: Callable[[], object],
    counter: Counter | str,
    *,
    edges: int | float | None,
    gather: Callable[[Any], list[Any]] = alone,
    process: Process | None = None,
) -> dict[str, object]:
    """Return the ``energy`` object of a record.

    Args:
        run: makes one run and waits for its end.
        counter: counts the joules; or the reason why nothing does.
        edges: what one run counts, for nanojoules per edge; None where there is no such number.
        gather: returns what all ranks have; those that share a counter are counted once.
        process: of a program that times runs of its own.

    Returns:
        ``joules_per_run``, ``net_joules_per_run`` above the idle power, ``nanojoules_per_edge``, ``mean_w``,
        ``idle_w``, ``window_s`` and ``runs``; ``per``: ``run``, or ``process`` for a program that times runs of its
        own.  A run of such a program has what further runs of a process take above the idle power, and the idle power
        of its own seconds; ``process_joules`` is the whole of a process.  Or ``absent`` with the reason.
    """
    reasons = [reason for reason in gather(counter if isinstance(counter, str) else "") if reason]
    if reasons or isinstance(counter, str):
        return {"absent": reasons[0]}

    def windows(work: Callable[[], object]) -> list[Window]:
        every = gather((counter.unit, window(work, counter.read_j, gather)))
        return [*dict(reversed(every)).values()]

    try:
        idle, busy = windows(lambda: time.sleep(PAUSE_S)), windows(run)
        idle_w, mean_w = (sum(one.joules / one.seconds for one in every) for every in (idle, busy))
        joules = sum(one.joules / one.runs for one in busy)
        if not all(0 < one.joules < math.inf for one in (*idle, *busy)):
            raise DeviceUnavailable("the energy counter does not count upwards")
        net = sum(one.above(before.joules / before.seconds) for before, one in zip(idle, busy, strict=True))
        described: dict[str, object] = {"per": "run"}
        if process is not None:
            described = {"per": "process", "process_joules": joules}
            net, own_s = _of_further_runs(process, busy[0], idle_w, run, lambda: windows(run)[0])
            joules = net + idle_w * own_s
            mean_w = joules / own_s
            if net <= 0:
                raise DeviceUnavailable("the counter does not tell its runs from the start of its process")
    except DeviceUnavailable as reason:
        return {"absent": reason.what}
    return {
        "joules_per_run": joules,
        "net_joules_per_run": net,
        "nanojoules_per_edge": joules / edges * 1e9 if edges else None,
        "mean_w": mean_w,
        "idle_w": idle_w,
        "window_s": busy[0].seconds,
        "runs": busy[0].runs,
        **described,
    }


def _of_further_runs(
    process: Process, short: Window, idle_w: float, run: Callable[[], object], look: Callable[[], Window]
) -> tuple[float, float]:
    """Return the joules above the idle power, and the seconds, of each run that a longer process makes.

    A process of the ``short`` window ran last; ``look`` returns a window of processes.  Raises DeviceUnavailable where
    it cannot be made longer, or fails then.
    """
    if (lengthen := process.lengthen) is None:
        raise DeviceUnavailable("its runs cannot be told from the start of its process: its command has no {runs}")
    few, (printed, own_s) = lengthen(0), process.inside()
    short_s, asked = short.seconds / short.runs, 0

    def seconds_beyond(more: int) -> float:
        nonlocal asked
        lengthen(asked := more)
        began = time.perf_counter()
        run()
        return time.perf_counter() - began - short_s

    try:
        more = _runs_of_a_window(own_s, FIRST_STEP * few, short_s, seconds_beyond)
        lengthen(asked := more + max(printed - few, 0))  # it may make more than it is asked for, up to some number
        longer = look()
        printed_now, own_s = process.inside()
    except DeviceUnavailable:
        raise
    except GpuGraphError as error:  # its usual processes are measured all the same
        raise DeviceUnavailable(f"a process of {few + asked} runs failed: {error.what}") from error
    finally:
        lengthen(0)
    further = printed_now - printed or asked  # as many as before: it prints what sums all its runs up
    if further < more:
        what = f"its process tells the time of {counted(printed_now, 'run')} where {{runs}} is for {count(few + asked)}"
        raise DeviceUnavailable(what)
    each_s = (longer.seconds / longer.runs - short_s) / further
    if each_s > MOST_UNTIMED * own_s:
        raise DeviceUnavailable(f"it times only a part of each of its runs: {duration(own_s)} of {duration(each_s)}")
    if each_s < LEAST_TIMED * own_s:
        share = math.floor(100 * max(each_s, 0.0) / own_s)
        raise DeviceUnavailable(
            f"its process takes {share} % of the time that it prints for {counted(further, 'more run')}"
        )
    return (longer.above(idle_w) - short.above(idle_w)) / further, own_s


def _runs_of_a_window(own_s: float, step: int, short_s: float, seconds_beyond: Callable[[int], float]) -> int:
    """Return how many more runs make a process of ``short_s`` ``WINDOW_S`` longer; it prints ``own_s`` for each.

    They may take far longer than it prints.  So a ``step`` grows until they show beside what starts differ by.
    """
    most = min(math.ceil(WINDOW_S / own_s), MOST_RUNS)
    while step < most:
        if (beyond_s := seconds_beyond(step)) > SHOWN * short_s:
            return min(most, max(math.ceil(WINDOW_S * step / beyond_s), step))
        step *= FIRST_STEP
    return most


def counter_of(open_device: OpenDevice) -> Counter | str:
    """Return the counter of a device, or the reason why there is none."""
    if open_device.device.kind == "cpu":
        read_j = processor_counter()
        return read_j if isinstance(read_j, str) else Counter(platform.node(), read_j)
    nvml = open_device.nvml
    try:
        return nvml if isinstance(nvml, str) else Counter(nvml.uuid(), nvml.energy_j)
    except DeviceUnavailable as reason:
        return reason.what


def processor_counter() -> ReadJoules | str:
    """Return what reads the joules of all processors together since now, or the reason why there are none.  RAPL."""
    packages = [one for one in POWERCAP.glob("intel-rapl:*") if re.fullmatch(r"intel-rapl:\d+", one.name)]
    if not packages:
        return f"the processors' energy (RAPL) is not in {POWERCAP}"
    last, total = dict.fromkeys(packages, 0), 0

    def read_j() -> float:
        nonlocal total
        try:
            for package in packages:
                now = int((package / "energy_uj").read_text("ascii"))
                around = int((package / "max_energy_range_uj").read_text("ascii")) if now < last[package] else 0
                total, last[package] = total + now - last[package] + around, now
        except (OSError, ValueError) as error:
            reason = str(getattr(error, "strerror", None) or error).lower()
            raise DeviceUnavailable(f"the processors' energy (RAPL) cannot be read: {reason}") from error
        return total / 1e6

    try:
        read_j()
    except DeviceUnavailable as reason:
        return reason.what
    return read_j


class Energy(Instrument):
    """The energy of a run, measured over a window of runs."""

    def ending_s(self, measurement: Measurement) -> float:
        """Return about how many seconds the windows take: of a process two more, the first of them to time it."""
        return (4 if measurement.algorithm.warms_itself else 2) * (WINDOW_S + measurement.trials[0].last_s)

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``energy``; on several ranks that of all together."""
        algorithm, counter = measurement.algorithm, counter_of(measurement.setup.open_device)
        if measurement.is_wrong:
            return {"energy": {"absent": "the result is wrong"}}
        if algorithm.own_seconds is not None and algorithm.programs is None:  # the rest has its energy too
            return {"energy": {"absent": "it times only a part of each of its runs"}}
        measurement.setup.progress(f"{algorithm.name}: measuring its energy")
        trial, own = measurement.trials[0], list[Any]()

        def run() -> None:
            own[:] = [algorithm.run(measurement.state, NullClock(), *trial.query)]
            measurement.device.synchronize()

        def inside() -> tuple[int, float]:
            seconds = cast(Sequence[float], cast(Any, algorithm.own_seconds)(measurement.state, own[0]))
            return len(seconds), median(seconds)

        process = Process(inside, None) if algorithm.warms_itself else None
        if process and (lengthen := algorithm.lengthen) is not None:
            process = process._replace(lengthen=lambda more: lengthen(measurement.state, more))
        edges = measurement.setup.problem.work(measurement.input.graph, trial.result)
        with measurement.guard:
            gather = measurement.ranks.gather
            found = measure_energy(run, counter, edges=edges, gather=gather, process=process)
            if process and "absent" not in found and trial.same is not None:
                try:
                    result: Any = algorithm.finish(measurement.state, own[0], *trial.query)
                    differs = result.fingerprint() != trial.same
                except GpuGraphError:
                    differs = True
                if differs:
                    found = {"absent": "the answer of a process of more runs differs from that of sample 1"}
            return {"energy": found}
