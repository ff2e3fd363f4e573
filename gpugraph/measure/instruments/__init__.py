"""Instruments: what is observed or done around the samples of a measurement, outside the timed region.

Each is one file, named in ``INSTRUMENTS`` and imported when a measurement uses it.  What it has seen is its section of
the record, which merges the sections of all.
"""

import importlib
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from gpugraph.base.clock import NullClock
from gpugraph.base.compiled import set_threads, threads
from gpugraph.base.errors import InputError
from gpugraph.base.plugged import plugged
from gpugraph.measure.check import NOT_ASKED_FOR
from gpugraph.problems.contract import Verdict

INSTRUMENTS = {
    "isolation": "gpugraph.ext.plugins.isolation:ForeignCodeGuard",
    "ranks": "gpugraph.ext.ranks.measuring:Ranks",
    "load": "gpugraph.measure.instruments.load:Load",
    "memory": "gpugraph.measure.instruments.memory:Memory",
    "profile": "gpugraph.ext.instruments.profile:Profile",
    "wake": "gpugraph.measure.instruments.wake:Wake",
    "cold": "gpugraph.ext.instruments.cold:Cold",
    "busy": "gpugraph.measure.instruments.busy:Busy",
    "throttle": "gpugraph.measure.instruments.throttle:Throttle",
    "phases": "gpugraph.measure.instruments.phases:Phases",
    "call": "gpugraph.ext.instruments.call:Call",
    "energy": "gpugraph.ext.instruments.energy:Energy",
    "traffic": "gpugraph.measure.instruments.traffic:Traffic",
    "price": "gpugraph.ext.instruments.price:Price",
    "counters": "gpugraph.ext.counters.instrument:Work",
}
"""Name → module and class, in the order in which they act before a run."""


@dataclass(eq=False)
class Trial:
    """The samples of one query: one source of shortest paths, or the one forest.

    Attributes:
        query: what ``run`` gets after the clock.
        same: the fingerprint that every sample must have; None before the first, or where nothing is verified.
        last_s: seconds of the last run, counted or not.
        digests: of an algorithm that is wrong on purpose, the fingerprints of all its results.
        counted: the number that MTEPS counts for the result, once ``count`` was asked for it.
    """

    query: tuple[Any, ...]
    kernel_s: list[float] = field(default_factory=list)
    d2h_s: list[float] = field(default_factory=list)
    result: Any = None
    same: str | None = None
    verdict: Verdict = NOT_ASKED_FOR
    counters: dict[str, int] = field(default_factory=dict)
    last_s: float = 0.0
    digests: set[str] = field(default_factory=set)
    counted: int | None = None

    def count(self, measurement: Any) -> int:
        """Return the number that MTEPS counts for the result, found once."""
        if self.counted is None:
            self.counted = measurement.setup.problem.work(measurement.input.graph, self.result)
        return self.counted


@dataclass(eq=False)
class Run:
    """One timed run.

    Attributes:
        measurement: the ``Measurement`` that it is a run of.
        is_sample: False of a run that warms up.
        watch: the stopwatch; an instrument may give another, and so with ``clock``.
        clock: what the algorithm marks its phases with.
        is_brief: another run goes before it, so short that the GPU must be kept busy behind it.
        samples_s: the seconds of the kernel; of a program that measured several runs of its own those of each.
        raw: what ``fetch`` gave.
        must_repeat: an instrument has found it disturbed.
    """

    measurement: Any
    trial: Trial
    is_sample: bool
    watch: Any
    clock: Any = field(default_factory=NullClock)
    is_brief: bool = False
    samples_s: tuple[float, ...] = ()
    d2h_s: float = 0.0
    raw: Any = None
    must_repeat: bool = False


class Instrument:
    """What a measurement is observed by; each method does nothing where an instrument has none of its own.

    With ``at_prepare`` it acts before and after the algorithm's ``prepare`` too.
    """

    at_prepare = False

    @classmethod
    def of(cls, measurement: Any) -> "Instrument":
        """Return the instrument of a measurement whose input is loaded, and not yet on the device."""
        return cls()

    def before(self, run: Run) -> None:
        """Act right before a run; what this launches on a device is ahead of the timed region."""

    def after(self, run: Run) -> None:
        """Act after the result of a run is on the host."""

    def section(self, measurement: Any) -> dict[str, Any]:
        """Return fields of the record, once all samples are taken; runs of its own may be made here."""
        return {}

    def ending_s(self, measurement: Any) -> float:
        """Return about how many seconds the runs of its own take."""
        return 0.0


class Guard(AbstractContextManager["Guard"]):
    """Entered around every step of an algorithm: here for code of our own, which needs nothing.

    ``ext/plugins/isolation.py`` restores the process after foreign code, and raises SpoiledGraph where that wrote into
    the graph.
    """

    def __exit__(self, kind: object = None, error: BaseException | None = None, trace: object = None) -> None:
        pass

    def check_input(self, resident: Any, device: Any) -> None:
        """Raise WroteIntoInput where foreign code changed its own copy of the input on the device."""


class WroteIntoInput(InputError):
    """Foreign code changed its input."""

    outcome = "threw"


class SpoiledGraph(WroteIntoInput):
    """The input that it changed is the graph that others share: nothing of them can be measured in this process."""


def imported(name: str) -> Any:
    """Return the class of an instrument; ``of(measurement)`` makes one."""
    if name not in INSTRUMENTS:
        return plugged("instruments", name, Instrument)
    module, _, kind = INSTRUMENTS[name].partition(":")
    return getattr(importlib.import_module(module), kind)


class OnThreads(Guard):
    """Lets every step of an algorithm run on so many threads; what is around them has all."""

    def __init__(self, count: int):
        self._count, self._before = count, count

    def __enter__(self) -> "OnThreads":
        self._before = threads()
        set_threads(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        set_threads(self._before)
