"""The few statistics a record needs: medians of times, harmonic means of rates."""

from __future__ import annotations

from collections.abc import Sequence


def median(samples: Sequence[float]) -> float:
    """Return the median of a non-empty sequence."""
    ordered = sorted(samples)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def harmonic_mean(rates: Sequence[float]) -> float:
    """Return the harmonic mean, the right mean of rates; 0 if any rate is 0.

    Source: Graph500 specification, "Performance metrics": TEPS are compared by harmonic means.
    """
    if any(rate <= 0 for rate in rates):
        return 0.0
    return len(rates) / sum(1 / rate for rate in rates)


def mteps(count: int, seconds: float) -> float:
    """Return millions of traversed edges a second."""
    return count / seconds / 1e6 if seconds > 0 else 0.0
