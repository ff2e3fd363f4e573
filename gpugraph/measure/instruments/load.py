"""The load of the machine while samples are taken: its load average, and cores that other programs keep busy."""

import os
import resource
import time
from typing import Any

from gpugraph.measure.instruments import Instrument, Run, Trial

SHORTEST_S = 0.2
"""Processor time is counted in steps of 10 ms: a shorter time than this says little of other programs."""


class Load(Instrument):
    """What the machine is busy with, from the first run to the last."""

    def __init__(self) -> None:
        self._load_before: float | None = None
        self._others: OtherPrograms | None = None
        self._begun = (0.0, 0.0, 0.0)
        self._of_samples: dict[Trial, dict[str, list[float | None]]] = {}

    def before(self, run: Run) -> None:
        """Begin with the first run."""
        if self._others is None:
            self._load_before, self._others = machine_load(), OtherPrograms()
        self._begun = _used()

    def after(self, run: Run) -> None:
        """Note what a sample took: the wall clock from before to after it, processor time of all threads, switches."""
        if run.is_sample:
            wall_s, cpu_s, switches = (now - then for now, then in zip(_used(), self._begun, strict=True))
            found = {"wall_s": wall_s, "cpu_s": cpu_s, "switches": int(switches), "loads": machine_load()}
            of = self._of_samples.setdefault(run.trial, {name: [] for name in found})
            for name, value in found.items():
                of[name] += [float(f"{value:.3g}") if isinstance(value, float) else value] * len(run.samples_s)

    def section(self, measurement: Any) -> dict[str, Any]:
        """Return of ``sampling`` the load average before and after, the cores that other programs kept busy.

        And what every sample took, those of earlier processes included.
        """
        assert self._others is not None
        before = (measurement.stopping.earlier or {}).get("sampling", {})
        joined = {}
        for name in () if measurement.ranks.several else ("wall_s", "cpu_s", "switches", "loads"):
            earlier = measurement.stopping.earlier_of(before.get(name))
            own = [self._of_samples[trial][name] for trial in measurement.trials]
            joined[name] = [value for pair in zip(earlier, own, strict=True) for part in pair for value in part]
        other_cores = self._others.cores()
        return {"sampling": {"load": [self._load_before, machine_load()], "other_cores": other_cores, **joined}}


def _used() -> tuple[float, float, float]:
    """Return the time, the processor time of all threads and ended children, and involuntary context switches."""
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in of), sum(one.ru_nivcsw for one in of)


def machine_load() -> float | None:
    """Return the system's load average over the last minute, None where it has none."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


class OtherPrograms:
    """How many cores programs other than this one, and other than what it started, keep busy from now on.

    The load average cannot tell: it remembers for minutes what this program itself did before it sampled.
    """

    def __init__(self) -> None:
        self._begun = self._seconds()

    def cores(self) -> float | None:
        """Return how many, on average since this was made; None after too short a time or where that is hidden."""
        if self._begun is None or (now := self._seconds()) is None:
            return None
        elapsed, busy, own = (later - earlier for later, earlier in zip(now, self._begun, strict=True))
        return None if elapsed < SHORTEST_S else round(max(0.0, busy - own) / elapsed, 2)

    @staticmethod
    def _seconds() -> tuple[float, float, float] | None:
        """Return the time, the busy time of the cores that this process may use, and the processor time of its own."""
        try:
            usable = {f"cpu{core}" for core in os.sched_getaffinity(0)}
            with open("/proc/stat", encoding="ascii") as lines:
                rows = [words for words in map(str.split, lines) if words[0] in usable]
            # idle and waiting for a disk are columns 4 and 5; guests, from 9 on, are counted in 1 and 2 already
            busy = sum(int(word) for words in rows for column, word in enumerate(words[:9]) if column not in (0, 4, 5))
            return time.monotonic(), busy / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4]) + _of_children(os.getpid())
        except (OSError, ValueError, IndexError):  # a container that hides it
            return None


def _of_children(process: int) -> float:
    """Return the processor time, s, of all processes that run below this one."""
    total = 0.0
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
            children = file.read().split()
        for child in children:
            try:
                with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as file:
                    words = file.read().rpartition(")")[2].split()  # a program's name may hold blanks and brackets
                total += sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK") + _of_children(int(child))
            except FileNotFoundError:  # it ended just now; whoever waits for it counts its time
                continue
    return total
