"""The scans of one thread on the CPU: what the paper measures its GPUs against.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpugraph.clock import Clock, NullClock
from gpugraph.compiled import njit
from gpugraph.problems.registry import add_algorithm
from gpugraph.problems.scan.array import ArrayInput
from gpugraph.problems.scan.gpu_scan import require_sums
from gpugraph.problems.scan.gpu_segmented import require_segments
from gpugraph.problems.scan.scanned import Scanned


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


def scan_sums(array: ArrayInput, clock: Clock) -> Scanned:
    """Add up one element after another."""
    values = array.values
    sums = np.empty_like(values)
    words = values if values.dtype.kind == "f" else values.view(f"u{values.dtype.itemsize}")
    _scan(words, sums.view(words.dtype), words.dtype.type(0), array.exclusive)
    return Scanned(array, sums, depth=len(values))


def scan_minima(array: ArrayInput, clock: Clock) -> Scanned:
    """Compare one element after another with the least of its segment."""
    minima, index = np.empty_like(array.values), np.empty(array.elements, np.int64)
    _minima(array.values, array.heads, minima, index)
    return Scanned(array, minima, index)


def _register(name: str, summary: str, section: str, function: Callable[[ArrayInput, Clock], Scanned]) -> None:
    require = require_sums if function is scan_sums else require_segments

    def prepare(array: ArrayInput, device: object) -> ArrayInput:
        require(array)
        return array

    def compile_(array: ArrayInput, device: object) -> None:
        heads = None if prepare(array, device).heads is None else np.ones(2, np.uint8)
        function(ArrayInput(np.ones(2, array.values.dtype), heads, array.exclusive), NullClock())

    add_algorithm(
        "scan",
        name,
        devices=("cpu",),
        summary=summary,
        authors="Sun, Skadron",
        year=2013,
        section=section,
        prepare=prepare,
        run=function,
        compile=compile_,
    )


_register("cpu", "one thread adds up one element after another", "3: the single-threaded CPU", scan_sums)
_register("segmented-min", "one thread, one element after another", "5: sequential find-min-edge", scan_minima)
