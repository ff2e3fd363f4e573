"""Simulated samples, and how often intervals and claims made of them are right: the tables of docs/method.md.

``python -m tests.measure.simulated`` prints them as they stand in the page.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpugraph.ext.comparing.claims import has_drift, has_regimes
from gpugraph.ext.comparing.compare import compare
from gpugraph.ext.comparing.ranking import rank
from gpugraph.records.record import Record
from gpugraph.records.statistics import INTERVAL_SAMPLES, STOP_LEVEL, median_interval, relative_half_width
from tests.report.canned import mst_record

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
"""Returns n times of one process; their true median is 1."""


def autoregressive(rho: float, sd: float) -> Draw:
    """Return what draws times whose neighbours correlate by ``rho``."""

    def draw(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        noise = rng.standard_normal(n)
        for i in range(1, n):
            noise[i] = rho * noise[i - 1] + math.sqrt(1 - rho * rho) * noise[i]
        return np.exp(sd * noise)

    return draw


def bimodal(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return times that take 15 % longer in four of ten runs; divided by their median."""
    slow = rng.random(n) < 0.4
    deviates = 0.01 * rng.standard_normal(n)
    return np.exp(deviates - 0.01 * 0.9674) * np.where(slow, 1.15, 1.0)  # Φ(0.9674) = 5/6: the median of the mixture


NOISES: dict[str, tuple[Draw, float]] = {
    "independent, 1 %": (autoregressive(0, 0.01), 0.90),
    "independent, 10 %": (autoregressive(0, 0.10), 0.90),
    "bimodal, 15 % apart": (bimodal, 0.90),
    "AR(0.5), 3 %": (autoregressive(0.5, 0.03), 0.90),
    "AR(0.9), 3 %": (autoregressive(0.9, 0.03), 0.80),
}
"""Kinds of noise, and the least share of intervals that must hold the true median."""

SIZES = (6, 10, 20, 60)


def coverage(draw: Draw, size: int | None, trials: int, seed: int = 1) -> float:
    """Return the share of 95 % intervals that hold the true median; without a size sampling stops at ± 2 %."""
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(trials):
        times = _stopped(draw(rng, 300)) if size is None else draw(rng, size)
        low, high = median_interval([times.tolist()])
        held += low <= 1.0 <= high
    return held / trials


def _stopped(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the samples that a cell takes: at least 10, looked at ever more seldom, until ± 2 % are reached."""
    n = max(10, INTERVAL_SAMPLES)
    while n < len(times):
        some = times[:n].tolist()
        if relative_half_width(median_interval([some], level=STOP_LEVEL), float(np.median(some))) <= 0.02:
            break
        n = min(len(times), math.ceil(1.25 * n))
    return times[:n]


def record(name: str, times: NDArray[np.float64]) -> Record:
    """Return a record of such times, in milliseconds."""
    seconds = (1e-3 * times).tolist()
    data = mst_record(algorithm=name, samples_s={"kernel": seconds})
    return Record.of({**data, "phases_s": {**data["phases_s"], "kernel": float(np.median(seconds))}})


def told_different(draw: Draw, size: int, trials: int, slower: float = 1.0, seed: int = 1) -> float:
    """Return the share of rankings of one run in which two algorithms are called different."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(trials):
        (ranking,), _ = rank([record("a", draw(rng, size)), record("b", slower * draw(rng, size))])
        found += ranking.against_best[0].proven
    return found / trials


def called_changed(
    draw: Draw, size: int, trials: int, slower: float = 1.0, process: float = 0.0, processes: int = 1, seed: int = 1
) -> float:
    """Return the share of comparisons of one cell that call it slower or faster.

    Args:
        draw: the noise within a process.
        size: samples of each process.
        trials: comparisons.
        slower: the true ratio of NEW to BASE.
        process: standard deviation of what processes differ by.
        processes: of each run.
        seed: of the drawing.
    """
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(trials):
        rows = []
        for true in (1.0, slower):
            parts = [true * np.exp(process * rng.standard_normal()) * draw(rng, size) for _ in range(processes)]
            row = record("a", np.concatenate(parts))
            rows.append(Record.of({**row.data, "sampling": {"processes": [size] * processes}}))
        found += compare([rows[0]], [rows[1]]).cells[0].verdict in ("slower", "faster")
    return found / trials


def tables(trials: int = 1000) -> str:
    """Return the tables of docs/method.md."""
    lines = ["| samples | n = 6 | 10 | 20 | 60 | stopped at ± 2 % |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, (draw, _) in NOISES.items():
        shares = [coverage(draw, size, trials) for size in SIZES] + [coverage(draw, None, trials // 2)]
        lines.append(f"| {name} | " + " | ".join(f"{share:.2f}" for share in shares) + " |")
    sizes = (4, 8, 10, 20, 60)
    lines += ["", "| two equal algorithms in one run | " + " | ".join(f"n = {n}" for n in sizes) + " |"]
    lines.append("| --- |" + " ---: |" * len(sizes))
    for name, (draw, _) in NOISES.items():
        shares = [told_different(draw, size, trials // 2) for size in sizes]
        lines.append(f"| {name} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
    changes = (0.0, 0.1, 0.2, 0.3, 0.5)
    lines += ["", "| one cell, 20 samples | " + " | ".join(f"+{100 * c:.0f} %" for c in changes) + " |"]
    lines.append("| --- |" + " ---: |" * len(changes))
    for name, process, processes in (
        ("one process, alike", 0.0, 1),
        ("one process, they differ by 5 %", 0.05, 1),
        ("one process, they differ by 10 %", 0.1, 1),
        ("5 processes that differ by 1 %", 0.01, 5),
        ("5 processes that differ by 5 %", 0.05, 5),
        ("5 processes that differ by 10 %", 0.1, 5),
    ):
        draw = NOISES["independent, 1 %"][0]
        size = 20 // processes
        shares = [called_changed(draw, size, trials // 2, 1 + c, process, processes) for c in changes]
        lines.append(f"| {name} | " + " | ".join(f"{100 * share:.0f} %" for share in shares) + " |")
    return "\n".join(lines)


def levels(stay: int, rng: np.random.Generator, number: int) -> list[float]:
    """Return times that stay at one of two levels, 15 % apart and 30 % of them slow, for about so many samples."""
    slow, found = rng.random() < 0.3, []
    for noise in rng.standard_normal(number):
        found.append((1.15 if slow else 1.0) * 1e-3 * float(np.exp(0.02 * noise)))
        slow ^= bool(rng.random() < (1 / stay if slow else 0.3 / 0.7 / stay))
    return found


REGIMES = {
    "independent, 2 %": autoregressive(0, 0.02),
    "AR(0.9) of 3 %": autoregressive(0.9, 0.03),
    "AR(0.98), 3 %": autoregressive(0.98, 0.03),
    **{f"two levels 15 % apart, 30 % slow, about {stay} samples a stay": partial(levels, stay) for stay in (5, 20)},
}


MEDIAN_OF_LEVELS = math.exp(0.02 * 0.5659)
"""Of those two levels, over the fast one: 0.7 Φ(0.5659) = 1/2."""


def told_unstable(draw: Draw, size: int, trials: int, true: float = 1.0) -> tuple[float, float]:
    """Return the share of records of so many samples that are called unstable, and of the others' intervals that hold.

    ``true`` is the median of the times.
    """
    unstable, held = 0, 0
    for seed in range(trials):
        times = np.asarray(draw(np.random.default_rng(seed), size))
        low, high = median_interval([times.tolist()])
        is_unstable = has_regimes(times) or has_drift(times)
        unstable += is_unstable
        held += not is_unstable and low <= true <= high
    return unstable / trials, held / max(trials - unstable, 1)


def regimes(trials: int = 1000) -> str:
    """Return the table of records that are called unstable."""
    lines = ["| samples of one process | unstable, n = 30 | 100 | the others' intervals hold, n = 30 | 100 |"]
    lines.append("| --- |" + " ---: |" * 4)
    for name, draw in REGIMES.items():
        true = 1e-3 * MEDIAN_OF_LEVELS if "levels" in name else 1.0
        (few, few_hold), (many, many_hold) = (told_unstable(draw, size, trials, true) for size in (30, 100))
        lines.append(f"| {name} | {few:.2f} | {many:.2f} | {few_hold:.2f} | {many_hold:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(f"{tables()}\n\n{regimes()}")
