"""The work of launches, added up by kernel, and by the phases that drivers and kernels mark."""

import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import GpuGraphError
from gpugraph.ext.emulator.module import TOTALS, Library

PHASED = ("sectors", "atomics", "block_barriers")
"""What is counted by phase too, each in a run of its own: kernels get one number for the time."""

_BARRIER = re.compile(r"grid_?(barrier|sync)|arrive_and_wait", re.IGNORECASE)
"""Functions in which blocks wait for all others; each block arrives there once a barrier, by an atomic."""


class Counts:
    """The work of launches; what ``gpugraph.ext.emulator.device.LaunchCounts`` asks for.

    Args:
        clock: which of ``TOTALS`` kernels read as the time; None: they read something that always grows.

    Attributes:
        totals: launches, and ``PHASED``, so far.
    """

    def __init__(self, clock: str | None = None) -> None:
        self.clock = 1 if clock is None else 1 + TOTALS.index(clock)
        self.totals: Counter[str] = Counter()
        self._kernels: dict[str, Counter[str]] = {}
        self._places: dict[tuple[str, Library, int, str, bool], Counter[str]] = {}

    def add(self, kernel: str, blocks: int, library: Library) -> None:
        """Take what a launch of so many blocks did from the library of its kernel."""
        if not library.counts_work:
            raise GpuGraphError("was loaded before its work was to be counted", where=f"kernel {kernel}")
        totals, places = library.counts()
        self.totals.update({"launches": 1, **{name: totals[name] for name in PHASED}})
        own = {"launches": 1, "block_barriers": totals["block_barriers"], "collectives": totals["collectives"]}
        self._kernels.setdefault(kernel, Counter()).update(own)
        for place in places:
            if place.lanes:
                key = (kernel, library, place.pc, place.kind.decode(), bool(place.shared))
                numbers = {name: getattr(place, name) for name in ("warps", "lanes", "bytes", "sectors", "addresses")}
                self._places.setdefault(key, Counter()).update({**numbers, "of_blocks": place.lanes // blocks})

    def by_kernel(self) -> dict[str, dict[str, int]]:
        """Return the counters of each kernel; names that end in the name of an atomic are there where one was used."""
        found = {kernel: Counter({**dict.fromkeys(COUNTERS, 0), **own}) for kernel, own in self._kernels.items()}
        for library in {library for _, library, *_ in self._places}:  # all places of a file are looked up at once
            library.symbols.frames(pc for _, other, pc, *_ in self._places if other is library)
        for (kernel, library, pc, kind, is_shared), numbers in self._places.items():
            frames = library.symbols.frames([pc])[pc]
            at_barrier = any(_BARRIER.search(frame.function) for frame in frames)
            found[kernel].update(_counters_of(kind, is_shared, at_barrier, numbers))
        return {kernel: dict(counters) for kernel, counters in found.items()}


COUNTERS = (
    *("sectors", "lanes", "launches", "grid_barriers", "block_barriers", "collectives"),
    *("loads", "load_bytes", "load_sectors", "stores", "store_bytes", "store_sectors"),
    *("atomics", "atomic_sectors", "atomic_conflicts", "shared_atomics", "shared_conflicts", "polls"),
)
"""Counters that every kernel has (docs/counters.md); after them come its atomics by kind."""


def _counters_of(kind: str, is_shared: bool, at_barrier: bool, n: Counter[str]) -> dict[str, int]:
    """Return what the accesses at one place add to the counters of its kernel."""
    if is_shared:
        return {
            "shared_atomics": n["lanes"],
            "shared_conflicts": n["lanes"] - n["addresses"],
            f"shared_{kind}": n["lanes"],
        }
    if at_barrier and kind == "load":
        return {"polls": n["lanes"]}
    work = {"sectors": n["sectors"], "lanes": n["lanes"]}
    if kind in ("load", "store"):
        return work | {f"{kind}s": n["warps"], f"{kind}_bytes": n["bytes"], f"{kind}_sectors": n["sectors"]}
    work |= {"atomics": n["lanes"], "atomic_sectors": n["sectors"], kind: n["lanes"]}
    return work | {
        "atomic_conflicts": n["lanes"] - n["addresses"],
        "grid_barriers": n["of_blocks"] if at_barrier else 0,
    }


def total_of(kernels: dict[str, dict[str, int]]) -> dict[str, int]:
    """Return the sum over kernels, a 0 for what none of them did."""
    total = Counter[str]()
    for counters in kernels.values():
        total.update(counters)
    return dict(total)


class CountingClock(NullClock):
    """Marks phases by work in the place of time.

    Attributes:
        phases: by phase, how much of one counter it did.
    """

    timing = True

    def __init__(self, counts: Counts, counter: str) -> None:
        super().__init__()
        self._counts, self._counter, self._thread = counts, counter, threading.get_ident()
        self.phases: dict[str, int] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add what the launches inside do to the phase ``name``; other threads, which run beside them, do none."""
        if threading.get_ident() != self._thread:
            yield
            return
        before = self._counts.totals[self._counter]
        try:
            yield
        finally:
            self._add(name, self._counts.totals[self._counter] - before)

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add what a kernel noted, where it would note nanoseconds."""
        self._add(name, round(seconds * 1e9))

    def _add(self, name: str, number: int) -> None:
        self.phases[name] = self.phases.get(name, 0) + number


def count_run(device: Any, run: Any, clock: str | None = None) -> Counts:
    """Return the work of what ``run(counts)`` launches on an emulated device."""
    counts = Counts(clock)
    device.count_into(counts)
    try:
        run(counts)
    finally:
        device.count_into(None)
    return counts
