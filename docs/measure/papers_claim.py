"""A claim of a paper: what it says and where, the runs that it needs, and how they are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpugraph.problems.scan.scanned import throughput

NEAR = 0.25
"""A factor this near to the stated one is the same."""
SAME = 0.02
"""Times that differ by less are the same where one is said to be the shorter."""

ONE_THREAD = "one thread"


@dataclass(frozen=True)
class Run:
    """What a claim needs measured."""

    problem: str
    graph: str
    algorithm: str
    device: str = "gpu"
    prepare: tuple[str, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    phases: bool = False

    def but(self, **options: Any) -> Run:
        """Return the run with other options."""
        own = tuple((name.replace("_", "-"), value) for name, value in options.items())
        return Run(
            self.problem, self.graph, self.algorithm, self.device, self.prepare, (*self.options, *own), self.phases
        )


Found = dict[Run, dict[str, Any]]


@dataclass(frozen=True)
class Claim:
    """One row: what is said and where, its figure, the runs it needs, and what they say: ours and the verdict."""

    text: str
    place: str
    stated: str
    needs: tuple[Run, ...]
    judge: Callable[[Found], tuple[str, str]]


def kernel(found: Found, run: Run) -> float:
    """Return the median seconds of a run's kernel."""
    return float(found[run]["phases_s"]["kernel"])


def ratio(found: Found, slower: Run, faster: Run) -> float:
    """Return how many times as fast the second is."""
    return kernel(found, slower) / kernel(found, faster)


def moved(found: Found, run: Run) -> dict[str, Any]:
    """Return what a scan's times mean in bytes: docs/scan.md."""
    return throughput(found[run]["graph"]["bytes"], found[run]["phases_s"])


def against(stated: float, ours: float) -> str:
    """Return the verdict on a factor: the same, more, less, or none at all."""
    if abs(ours / stated - 1) <= NEAR:
        return "yes"
    return "yes, more" if ours > stated else "less" if ours > 1 else "no"


def holds(condition: bool) -> str:
    """Return the verdict on a comparison."""
    return "yes" if condition else "no"


def ms(*seconds: float) -> str:
    """Return times for a table."""
    times = [one * 1e3 for one in seconds]
    return ", ".join(f"{one:,.0f}" if one >= 1000 else f"{one:.3g}" for one in times) + " ms"


def faster(text: str, place: str, stated: float | str, slow: Run, fast: Run, least: float = 1.0) -> Claim:
    """Return the claim that one run is faster than another, by a factor if one is stated."""

    def judge(found: Found) -> tuple[str, str]:
        ours = ratio(found, slow, fast)
        if not isinstance(stated, str):
            verdict = against(stated, ours)
        elif abs(ours - 1) <= SAME and least == 1.0:
            verdict = "no, the same"
        else:
            verdict = holds(ours > least)
        return f"{ours:.2f} times ({ms(kernel(found, slow), kernel(found, fast))})", verdict

    return Claim(text, place, stated if isinstance(stated, str) else f"{stated:.3g} times", (slow, fast), judge)
