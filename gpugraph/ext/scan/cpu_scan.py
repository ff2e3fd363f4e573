"""The scans of one thread on the CPU: what the paper measures its GPUs against.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.base.compiled import njit
from gpugraph.ext.scan.array import ArrayInput
from gpugraph.ext.scan.gpu_scan import require_sums
from gpugraph.ext.scan.gpu_segmented_min import require_segments
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.problems.registry import cpu_algorithm


@njit
def _scan(values: Any, sums: Any, zero: Any, exclusive: bool) -> None:
    total = zero
    for i in range(len(values)):
        value = values[i]
        if exclusive:
            sums[i] = total
        total += value
        if not exclusive:
            sums[i] = total


@njit
def _minima(values: Any, heads: Any, minima: Any, index: Any) -> None:
    best = 0
    for i in range(len(values)):
        if heads[i] != 0 or values[i] < values[best]:
            best = i
        minima[i] = values[best]
        index[i] = best


@cpu_algorithm(
    "scan",
    "cpu",
    summary="one thread adds up one element after another",
    authors="Sun, Skadron",
    year=2013,
    section="3: the single-threaded CPU",
)
def scan_sums(array: ArrayInput, clock: Clock) -> Scanned:
    """Add up one element after another."""
    require_sums(array)
    values = array.values
    sums = np.empty_like(values)
    words = values if values.dtype.kind == "f" else values.view(f"u{values.dtype.itemsize}")
    _scan(words, sums.view(words.dtype), words.dtype.type(0), array.exclusive)
    return Scanned(array, sums, depth=len(values))


@cpu_algorithm(
    "scan",
    "segmented-min",
    summary="one thread, one element after another",
    authors="Sun, Skadron",
    year=2013,
    section="5: sequential find-min-edge",
)
def scan_minima(array: ArrayInput, clock: Clock) -> Scanned:
    """Compare one element after another with the least of its segment."""
    require_segments(array)
    minima, index = np.empty_like(array.values), np.empty(array.elements, np.int64)
    _minima(array.values, array.heads, minima, index)
    return Scanned(array, minima, index)
