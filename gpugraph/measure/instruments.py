"""An open device with what measuring needs of it: a cache flush, the clock around every sample, the energy counter.

Throttling: a sample whose clock lies more than 3 % below the highest that its cell has seen, or during which power or
temperature held the clock down, is taken again after a pause in which the GPU can cool; how often that happened is
counted.  After ``MAX_REPEATED`` of them a cell takes what comes: a GPU that is always held down is measured so.

Energy: the counter moves in steps of tens of milliseconds, so a window of runs back to back begins and ends where it
moves: after a lead-in of runs until the first step, ``WINDOW_S`` of runs that nothing interrupts, then runs until the
next step.  What is measured is the whole GPU, its idle power included, and the host's gaps between two runs are part of
the window.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import Any

from gpugraph import __version__
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError
from gpugraph.base.host import processor_name, total_memory, usable_cores
from gpugraph.devices import probes
from gpugraph.devices.base import Device
from gpugraph.devices.probes import Nvml, bus_id_of, driver_version
from gpugraph.measure.provenance import git_commit

SHORTEST_S = 0.2
"""Processor time is counted in steps of 10 ms: a shorter time than this says little of other programs."""

FACTOR = 2
"""The buffer is so many times the cache: whatever way the cache replaces its lines, nothing older stays."""


class OpenDevice:
    """A device as ``select_device`` opened it, the instruments that read it, and a notice."""

    def __init__(self, device: Device, notice: str | None):
        self.device = device
        self.notice = notice

    @cached_property
    def nvml(self) -> Nvml | str:
        """The management library's view of the GPU, or the reason why there is none."""
        if self.device.kind != "cuda":
            return f"the device '{self.device.kind}' has no such counter"
        try:
            return Nvml(bus_id_of(self.device))
        except DeviceUnavailable as reason:
            return reason.what
        except Exception as error:  # of a driver that knows no PCI address
            return f"the GPU's PCI address is not known: {error}"

    @cached_property
    def flush(self) -> Callable[[], None]:
        """What flushes a GPU's second-level cache in stream order, by overwriting a buffer that is larger.

        Queued before a sample's first event, it ends before the timing begins.

        Raises:
            InputError: another kind of device, whose caches cannot be flushed so.
            OutOfMemory: there is no room for the buffer.
        """
        if self.device.kind != "cuda":
            what = f"cold samples need a GPU: the caches behind the device '{self.device.kind}' cannot be flushed"
            raise InputError(what, remedy="measure it warm, or use --device cuda")
        return partial(self.device.fill, self.device.empty(FACTOR * self.description["l2_bytes"], "uint8"), 0)

    @cached_property
    def copy_bytes_per_s(self) -> float | str:
        """What a plain copy reaches here, bytes read and written a second, or the reason why it is not measured."""
        if self.device.kind not in ("cuda", "cpu"):
            return f"the copy bandwidth of the device '{self.device.kind}' is not measured"
        try:
            if self.device.kind == "cpu":
                return probes.host_copy_bandwidth(self.description["threads"])
            return probes.copy_bandwidth(self.device)
        except GpuGraphError as error:
            return f"the copy bandwidth could not be measured: {error}"

    @cached_property
    def description(self) -> dict[str, Any]:
        """The ``device`` object of a record."""
        return self.device.describe()

    def gpu(self) -> dict[str, object] | None:
        """Return the ``gpu`` object of a record's environment: driver, CUDA, clocks; None without a GPU."""
        if self.device.kind != "cuda":
            return None
        clocks = {"absent": self.nvml} if isinstance(self.nvml, str) else self.nvml.describe()
        return {
            "name": self.device.name,
            "driver": driver_version(),
            "driver_cuda": self.description.get("driver_cuda"),
            "runtime_cuda": self.description.get("runtime_cuda"),
            "cupy": self.description.get("cupy"),
            "nvml": clocks,
        }

    def lost(self) -> bool:
        """True where the device cannot be used any more: on a GPU a failed kernel takes the context with it."""
        if self.device.kind != "cuda":
            return False
        try:
            self.device.synchronize()
        except GpuGraphError:
            return True
        return False


FALL = 0.03
MAX_REPEATED = 10
"""Samples that a cell takes again, at most."""

_PAUSE_S, _GROWTH, _LONGEST_S = 0.05, 1.5, 0.5


class Throttle:
    """The clock of one cell's samples, read from the GPU, or the reason why it cannot be.

    Attributes:
        absent: the reason why there are no clocks, or None.
        repeated: samples taken again so far.
    """

    def __init__(self, nvml: Nvml | str):
        self.absent = nvml if isinstance(nvml, str) else None
        self.repeated = 0
        self._nvml: Any = nvml
        self._highest = 0
        self._in_a_row = 0

    def probe(self) -> tuple[int | None, bool]:
        """Return the clock in MHz right after a run, and whether that run must be made again."""
        if self.absent is not None:
            return None, False
        try:
            clock, reasons = self._nvml.sm_clock_mhz(), self._nvml.held_down_by()
        except DeviceUnavailable as reason:
            self.absent = reason.what
            return None, False
        self._highest = max(self._highest, clock)
        held = clock < (1 - FALL) * self._highest or bool(reasons)
        if not held or self.repeated >= MAX_REPEATED:
            self._in_a_row = 0
            return clock, False
        self.repeated += 1
        return clock, True

    def rest(self) -> None:
        """Let the GPU cool before the next try: the longer, the more tries there were in a row."""
        time.sleep(min(_PAUSE_S * _GROWTH**self._in_a_row, _LONGEST_S))
        self._in_a_row += 1


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


# ------------------------------------------------------------------ environment
# What a reader needs to judge or repeat a measurement.

_PACKAGES = (
    *("numpy", "scipy", "numba", "cupy-cuda13x", "cupy-cuda12x", "nvidia-cuda-nvrtc"),
    *("networkx", "igraph", "networkit", "rustworkx", "cugraph-cu12", "cugraph-cu13"),
    *("pylibcugraph-cu12", "pylibcugraph-cu13"),
)
"""Packages whose version a reader may need: what gpugraph computes with, and what it is compared with."""


def _versions() -> dict[str, str]:
    """Return the versions of ``_PACKAGES`` that are installed, by the names of their folders of metadata.

    Reading the metadata itself would take longer than many a graph is searched.
    """
    wanted = {package.replace("-", "_"): package for package in _PACKAGES}
    found: dict[str, str] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            package, _, version = name.removesuffix(".dist-info").removesuffix(".egg-info").partition("-")
            package = wanted.get(package.lower(), "")
            if package and version and name.endswith((".dist-info", ".egg-info")):
                found.setdefault(package, version)
    return {package: found[package] for package in _PACKAGES if package in found}


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


@cache
def _static() -> dict[str, object]:
    return {
        "gpugraph": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "node": platform.node(),
        "processor": processor_name(),
        "cores": usable_cores(),
        "memory_bytes": total_memory(),
        "packages": _versions(),
        "git_commit": git_commit(),
    }


def environment() -> dict[str, object]:
    """Return the ``environment`` object of a record."""
    return {**_static(), "command": command_line()}


def command_line() -> list[str]:
    """Return the words that started this process, as its user would type them."""
    words = list(sys.argv)
    if words and os.path.basename(words[0]) == "__main__.py":
        package = os.path.basename(os.path.dirname(words[0]))
        return ["python", "-m", package, *words[1:]]
    return words
