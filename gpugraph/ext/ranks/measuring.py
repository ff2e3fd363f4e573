"""Measuring on several ranks: the device and the part of the graph that each opens, and time over ranks.

Every rank measures the cell as one would alone, in step with the others: each opens its device and its part of the
graph, the algorithm runs on all of them at once, and the sample is the time of the slowest.  All ranks have the record,
and rank 0 shows it.

Where inner phases are timed, every collective begins with a barrier.  So the seconds of a phase fall apart, rank by
rank, into work, waiting for others, and communication.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from gpugraph.base.clock import HostClock, HostStopwatch
from gpugraph.base.errors import InputError
from gpugraph.devices.base import Device
from gpugraph.devices.discovery import select_device
from gpugraph.ext.ranks.comm import Comm, HostComm, LoneComm
from gpugraph.ext.ranks.source import open_part
from gpugraph.ext.ranks.transports import comm_for
from gpugraph.ext.ranks.world import own_device
from gpugraph.measure.cell import Sampling
from gpugraph.measure.inputs import CellSetup, LoadedInput
from gpugraph.measure.instruments import OpenDevice
from gpugraph.problems.contract import Problem
from gpugraph.problems.registry import algorithms

Number = TypeVar("Number", int, float)

NOT_MEASURED = "not measured on several ranks"


def open_own_device(name: str, comm: HostComm) -> OpenDevice:
    """Return this rank's device, described together with the others'; an InputError where their kinds differ."""
    opened = OpenDevice(select_device(own_device(name, comm))[0], None)
    opened.copy_bytes_per_s = NOT_MEASURED
    described = comm.all_gather_object(opened.description)
    for rank, other in enumerate(described):
        if other["kind"] != (first := described[0])["kind"]:
            what = f"rank {rank} has the device '{other['kind']}', rank 0 '{first['kind']}'"
            raise InputError(what, remedy="name the device, e.g. --device cpu")
    names = " and ".join(dict.fromkeys(str(other["name"]) for other in described))
    opened.description = {**described[0], "name": f"{comm.size} × {names}", "ranks": comm.size}
    return opened


def place_part(setup: CellSetup, sampling: Sampling, comm: HostComm) -> LoadedInput:
    """Return this rank's part of the graph that a cell names, on its device where it can be made or read there.

    Raises:
        InputError: bad graph, or what several ranks cannot do.
        OutOfMemory: it does not fit all ranks together.
    """
    cell, problem, device = setup.cell, setup.problem, setup.opened.device
    able, foreign = ranks_option(problem), cell.algorithm.startswith("peer:") or ".py" in cell.algorithm
    reference = cell.verify in ("reference", "both")
    refusals = (
        (not able, f"{problem.title.lower()}: no algorithm runs on several ranks", "name one device"),
        (foreign, f"'{cell.algorithm}' runs on one device", f"use {able}"),
        (cell.preparations, "several ranks take the graph as it is", "leave out --prepare"),
        (cell.predecessors, "several ranks find no predecessors", "use one device"),
        (cell.sums == "float32", "several ranks sum in float64 alone", "leave out --sums, or use one device"),
        (reference, "no rank has the whole graph, which a reference needs", "use --verify certificate, or one device"),
        (sampling.cold, "--cold is for one device", "leave out --cold"),
        (sampling.energy, "--energy is for one device", "leave out --energy"),
        (cell.profile, "--profile is for one device", "leave out --profile"),
    )
    for refused, what, remedy in refusals:
        if refused:
            raise InputError(what, remedy=remedy)
    setup.progress(f"loading {cell.graph} on {comm.size} ranks")
    part = open_part(cell.graph, comm, cell.read, device=device, clock=setup.phase_timer, progress=setup.progress)
    with setup.phase_timer.phase("build"):
        part = problem.admit(part)
    there = 0 if part.on_device is None else part.on_device.nbytes
    return LoadedInput(part, cell.graph, {}, algorithm_input=part, device_bytes=there)


def ranks_option(problem: Problem) -> str:
    """Return the option that names the problem's algorithms for several ranks; empty where there is none."""
    able = [algorithm.name for algorithm in algorithms(problem.name) if algorithm.ranks]
    return f"--algo {' or '.join(able)}" if able else ""


# ------------------------------------------------------------------ time over ranks


class Ranks:
    """The ranks that measure a cell together, as one of them sees them; one alone has nobody to wait for."""

    def __init__(self, comm: HostComm, device: Device):
        self.comm, self._device = comm, device
        self.several = not isinstance(comm, LoneComm)

    @property
    def talk(self) -> Comm:
        """How they exchange arrays of the device."""
        return comm_for(self.comm, self._device) if self.several else self.comm

    @property
    def bytes_sent(self) -> int:
        """What this rank has sent so far."""
        return sum(comm.bytes_sent for comm in {self.talk, self.talk.host})

    def stopwatch(self) -> Any:
        """Return the stopwatch of a run, which all ranks begin together."""
        if not self.several:
            return self._device.stopwatch()
        return HostStopwatch(before=self.talk.barrier, after=self._device.synchronize)

    def phase_clock(self) -> Any:
        """Return the clock of a run whose phases are timed."""
        return _RankClock(self._device) if self.several else self._device.phase_clock()

    @contextmanager
    def metered(self, clock: Any) -> Iterator[None]:
        """Let the clock hear of every collective of several ranks, until the end of the block."""
        self.talk.meter = self.comm.meter = clock.record_collective if self.several else None
        try:
            yield
        finally:
            self.talk.meter = self.comm.meter = None

    def phases(self, clock: Any) -> tuple[dict[str, float], dict[str, object]]:
        """Return the seconds of every phase on the slowest rank, and what they were made up of on each."""
        if not self.several:
            return clock.seconds, {}
        return _split(self.comm.all_gather_object((clock.seconds, clock.collectives)))

    def greatest(self, own: Number) -> Number:
        """Return the greatest of what every rank has: the time of a run is that of the slowest."""
        return max(self.comm.all_gather_object(own))


class _RankClock(HostClock):
    """Times phases by the host's clock, with the device waited for, and takes note of what collectives took.

    Attributes:
        collectives: by phase, seconds of waiting and of communication, and bytes sent.
    """

    def __init__(self, device: Device):
        super().__init__()
        self.collectives: dict[str, tuple[float, float, int]] = {}
        self._device, self._current = device, "other"

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the phase ``name``."""
        self._current = name
        with super().phase(name):
            yield
            self._device.synchronize()
        self._current = "other"

    def record_collective(self, waited_s: float, moved_s: float, sent: int) -> None:
        """Take note of one collective."""
        before = self.collectives.get(self._current, (0.0, 0.0, 0))
        self.collectives[self._current] = before[0] + waited_s, before[1] + moved_s, before[2] + sent


def _split(
    ranks: list[tuple[dict[str, float], dict[str, tuple[float, float, int]]]],
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the seconds of every phase on the slowest rank, and of what they were made up on each."""
    inner, split = {}, {}
    for name in dict.fromkeys(name for rank in ranks for figures in rank for name in figures):
        totals = [seconds.get(name, 0.0) for seconds, _ in ranks]
        waits, moves, sent = zip(*(talk.get(name, (0.0, 0.0, 0)) for _, talk in ranks), strict=True)
        works = [max(0.0, total - wait - move) for total, wait, move in zip(totals, waits, moves, strict=True)]
        inner[name] = max(totals)
        split[name] = {"work_s": works, "wait_s": [*waits], "communication_s": [*moves], "bytes_sent": [*sent]}
    return inner, split
