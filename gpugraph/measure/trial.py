"""One run of an algorithm, and the trial that the samples of one query are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gpugraph.measure.check import NOT_ASKED_FOR
from gpugraph.problems.contract import Verdict


@dataclass(frozen=True)
class Run:
    """One timed run.

    Attributes:
        kernel_s, d2h_s: its seconds.
        samples_s: of a program that measured several runs of its own the seconds of each; ``kernel_s`` is their median.
        raw: what ``fetch`` gave.
        peak_bytes: the most that input, state and run took on the device together.
        counters: what the algorithm counted.
    """

    kernel_s: float
    d2h_s: float
    raw: Any
    peak_bytes: int
    counters: dict[str, int]
    samples_s: tuple[float, ...]


@dataclass
class Trial:
    """The samples of one query: one source of shortest paths, or the one forest.

    Attributes:
        query: what ``run`` gets after the clock.
        kernel_s, d2h_s: seconds of each sample.
        clocks_mhz: the SM clock after each sample, where it can be read.
        result: the result of the first sample.
        same: the fingerprint that every sample must have; None before the first, or where nothing is verified.
        verdict: of the check of all samples.
        peak_bytes: peak of the device's memory over the runs; what the checks took does not count.
        counters: of the first sample.
        last_s: seconds of the last run, counted or not.
    """

    query: tuple[Any, ...]
    kernel_s: list[float] = field(default_factory=list)
    d2h_s: list[float] = field(default_factory=list)
    clocks_mhz: list[int] = field(default_factory=list)
    result: Any = None
    same: str | None = None
    verdict: Verdict = NOT_ASKED_FOR
    peak_bytes: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    last_s: float = 0.0

    def ran(self, run: Run) -> None:
        """Take note of a run, whether or not it becomes a sample."""
        self.last_s = run.kernel_s
        self.peak_bytes = max(self.peak_bytes, run.peak_bytes)
