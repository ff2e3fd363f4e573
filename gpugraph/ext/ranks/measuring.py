"""Measuring on several ranks: the device and the part of the graph that each opens, and time over ranks.

Every rank measures the cell as one would alone, in step with the others: each opens its device and its part of the
graph, the algorithm runs on all of them at once, and the sample is the time of the slowest.  All ranks have the record,
and rank 0 shows it.

Where inner phases are timed, every collective begins with a barrier.  So the seconds of a phase fall apart, rank by
rank, into work, waiting for others, and communication.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from gpugraph.base.clock import HostClock, HostStopwatch
from gpugraph.base.errors import InputError
from gpugraph.base.ranks import is_own_rank
from gpugraph.devices.base import Device
from gpugraph.devices.discovery import select_device
from gpugraph.ext.ranks.comm import Comm, HostComm
from gpugraph.ext.ranks.source import open_part
from gpugraph.ext.ranks.transports import comm_for
from gpugraph.ext.ranks.world import own_device
from gpugraph.measure.alone import Alone
from gpugraph.measure.inputs import CellSetup, InputCache, LoadedInput
from gpugraph.measure.instruments import Run
from gpugraph.measure.instruments.memory import Memory
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.open_device import OpenDevice
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import Problem, problem_called
from gpugraph.problems.registry import algorithms, load_problem

Thing = TypeVar("Thing")

NOT_MEASURED = "not measured on several ranks"

MANY_ROUNDS = 256
"""Rounds from which on messages take longer than the work."""


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


def load_part(setup: CellSetup, sampling: Sampling, comm: HostComm) -> LoadedInput:
    """Return this rank's part of the graph that a cell names, on its device where it can be made or read there.

    Raises:
        InputError: bad graph, or what several ranks cannot do.
        OutOfMemory: it does not fit all ranks together.
    """
    cell, problem, device = setup.cell, setup.problem, setup.open_device.device
    able, foreign = ranks_option(problem), cell.algorithm.startswith("peer:") or ".py" in cell.algorithm
    reference = cell.verify in ("reference", "both")
    refusals = (
        (not able, f"{problem.command.title.lower()}: no algorithm runs on several ranks", "name one device"),
        (foreign, f"'{cell.algorithm}' runs on one device", f"use {able}"),
        (cell.preparations, "several ranks take the graph as it is", "leave out --prepare"),
        (cell.predecessors, "several ranks find no predecessors", "use one device"),
        (cell.sums == "float32", "several ranks sum in float64 alone", "leave out --sums, or use one device"),
        (reference, "no rank has the whole graph, which a reference needs", "use --verify certificate, or one device"),
        (sampling.cold, "--cold is for one device", "leave out --cold"),
        (sampling.counters, "--counters is for one device", "leave out --counters"),
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


class Ranks(Alone):
    """The ranks that measure a cell together, as one of them sees them.

    Attributes:
        sent: bytes that this rank sent in the last run.
    """

    several = True

    def __init__(self, comm: HostComm):
        self.comm, self.sent = comm, 0

    def problem(self, name: str) -> Problem:
        """Return a problem whose graphs are parts; itself where no algorithm of it runs on several ranks."""
        problem, package = load_problem(name), f"gpugraph.ext.ranks.{name}"
        if find_spec(package) is None:
            return problem
        shared: Problem = import_module(f"{package}.on_ranks").PROBLEM
        return shared

    def open_device(self, name: str, *, profile: bool) -> OpenDevice:
        """Return this rank's device."""
        return open_own_device(name, self.comm)

    def load(self, setup: CellSetup, sampling: Sampling, cache: InputCache) -> LoadedInput:
        """Return this rank's part of the graph."""
        return load_part(setup, sampling, self.comm)

    def place(self, loaded: LoadedInput, setup: CellSetup, cache: InputCache, **how: Any) -> LoadedInput:
        """Return the part as it is: it has been loaded where it belongs."""
        return loaded

    def check_algorithm(self, algorithm: Algorithm) -> None:
        """Raise InputError for an algorithm of one device."""
        if not algorithm.ranks:
            remedy = f"use {ranks_option(problem_called(algorithm.problem))}, or name one device"
            raise InputError(f"algorithm '{algorithm.name}' runs on one device", remedy=remedy)

    def check_method(self, method: str) -> str:
        """Return the certificate: no rank has the whole graph, which a reference needs."""
        return method if method == "none" else "certificate"

    def stopwatch(self, device: Device) -> HostStopwatch:
        """Return the stopwatch of a run, which all ranks begin together."""
        return HostStopwatch(before=comm_for(self.comm, device).barrier, after=device.synchronize)

    def phase_clock(self, device: Device) -> "_RankClock":
        """Return the clock of a run whose phases are timed."""
        return _RankClock(device, comm_for(self.comm, device))

    @contextmanager
    def metered(self, clock: "_RankClock") -> Iterator[None]:
        """Let the clock hear of every collective, until the end of the block."""
        clock.talk.meter = self.comm.meter = clock.record_collective
        try:
            yield
        finally:
            clock.talk.meter = self.comm.meter = None

    def phases(self, clock: "_RankClock") -> tuple[dict[str, float], dict[str, Any]]:
        """Return the seconds of every phase on the slowest rank, and what they were made up of on each."""
        return _split(self.gather((clock.seconds, clock.collectives)))

    def gather(self, own: Thing) -> list[Thing]:
        """Return what every rank has, in their order; a collective."""
        return self.comm.all_gather_object(own)

    def before(self, run: Run) -> None:
        """Let the stopwatch of the run note what is sent between its marks."""
        run.watch = _CountingStopwatch(self, run.measurement.device)

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``ranks``, and of ``sampling`` why there are no clocks; a collective."""
        part, device = measurement.input.graph, measurement.device
        peak_bytes = next(one.peak_bytes for one in measurement.instruments if isinstance(one, Memory))
        member = {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "device": device.describe(),
            "rows": part.rows,
            "arcs": part.own_arcs,
            "bytes_sent": self.sent,
            "peak_device_bytes": peak_bytes,
        }
        ranks: dict[str, Any] = {
            "size": self.comm.size,
            "started_by": "gpugraph" if is_own_rank() else "MPI",
            "talk_through": comm_for(self.comm, device).name,
            "members": self.gather(member),
            "phases": {},
        }
        return {"ranks": ranks, "sampling": {"sm_clock_mhz": {"absent": NOT_MEASURED}}}

    def notices(self, rounds: int) -> list[str]:
        """Return the advice to take one device where messages take longer than the work."""
        slow = f"{rounds} rounds, each a wait for messages: one device is faster on such a graph, if it holds it"
        return [slow] if rounds > MANY_ROUNDS else []

    def close(self) -> None:
        """Give back what arrays of a device are exchanged through."""
        self.comm.leave_device()


class _CountingStopwatch(HostStopwatch):
    """The stopwatch of a run that notes, outside its marks, the bytes that this rank sends between them."""

    def __init__(self, ranks: Ranks, device: Device):
        talk = comm_for(ranks.comm, device)
        super().__init__(before=talk.barrier, after=device.synchronize)
        self._ranks, self._talk, self._before_bytes = ranks, talk, 0

    def start(self) -> None:
        """Mark the beginning."""
        self._before_bytes = self._sent()
        super().start()

    def stop(self) -> None:
        """Mark the end."""
        super().stop()
        self._ranks.sent = self._sent() - self._before_bytes

    def _sent(self) -> int:
        return sum(comm.bytes_sent for comm in {self._talk, self._talk.host})


class _RankClock(HostClock):
    """Times phases by the host's clock, with the device waited for, and takes note of what collectives took.

    Attributes:
        talk: how the ranks exchange arrays of the device.
        collectives: by phase, seconds of waiting and of communication, and bytes sent.
    """

    def __init__(self, device: Device, talk: Comm):
        super().__init__()
        self.talk = talk
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
