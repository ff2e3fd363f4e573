"""The scans of one thread on the CPU: what the paper measures its GPUs against.

As on the GPU, ``prepare`` allocates, a scan of sums works in place, and only the loop itself is timed.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, sections 3 and 5.
"""

from typing import Any

import numpy as np

from gpugraph.base.clock import Clock, HostStopwatch, NullClock
from gpugraph.base.compiled import njit
from gpugraph.ext.scan.array import ArrayInput
from gpugraph.ext.scan.gpu_scan import Run, require_sums
from gpugraph.ext.scan.gpu_segmented_min import require_segments
from gpugraph.ext.scan.scanned import Scanned, digest_of
from gpugraph.problems.algorithm import Option
from gpugraph.problems.registry import add_algorithm


@njit
def _scan(values: Any, zero: Any, exclusive: bool) -> None:
    total = zero
    for i in range(len(values)):
        value = values[i]
        if exclusive:
            values[i] = total
        total += value
        if not exclusive:
            values[i] = total


@njit
def _minima(values: Any, heads: Any, minima: Any, index: Any) -> None:
    best = 0
    for i in range(len(values)):
        if heads[i] != 0 or values[i] < values[best]:
            best = i
        minima[i] = values[best]
        index[i] = best


@njit
def _reduce(values: Any, heads: Any, minima: Any, index: Any) -> None:
    """Write the minimum of a segment once, where the segment ends."""
    n, best, segment = len(values), 0, 0
    if n == 0:
        return
    least = values[0]
    for i in range(1, n):
        value = values[i]
        if heads[i] != 0:
            minima[segment], index[segment] = least, best
            segment += 1
        elif value >= least:
            continue
        best, least = i, value
    minima[segment], index[segment] = least, best


class Sums:
    """An array to be summed in place: every run begins with a copy of the input, which is not timed."""

    def __init__(self, array: ArrayInput, device: object):
        require_sums(array)
        self.array = array
        self.scan = np.empty_like(array.values)

    def run(self, clock: Clock) -> Run:
        """Add up one element after another."""
        np.copyto(self.scan, self.array.values)
        words = self.scan if self.scan.dtype.kind == "f" else self.scan.view(f"u{self.scan.dtype.itemsize}")
        watch = HostStopwatch()
        watch.start()
        _scan(words, words.dtype.type(0), self.array.exclusive)
        watch.stop()
        return Run((self.scan,), watch)

    def finish(self, raw: tuple[Any, ...]) -> Scanned:
        """Return a copy: the next run begins anew in the same place."""
        return Scanned(self.array, raw[0].copy(), depth=self.array.elements)


class Minima:
    """Segments and the arrays of their minima, one for each element or one for each segment."""

    def __init__(self, array: ArrayInput, device: object, per: str):
        require_segments(array)
        self.array, self.per_segment = array, per == "segment"
        count = array.elements
        if self.per_segment and count:
            count = 1 + int(np.count_nonzero(array.heads[1:]))  # type: ignore[index]
        self.minima, self.index = np.zeros(count, array.values.dtype), np.zeros(count, np.int64)

    def run(self, clock: Clock) -> Run:
        """Compare one element after another with the least of its segment."""
        watch = HostStopwatch()
        watch.start()
        loop = _reduce if self.per_segment else _minima
        loop(self.array.values, self.array.heads, self.minima, self.index)
        watch.stop()
        return Run((self.minima, self.index), watch)

    def finish(self, raw: tuple[Any, ...]) -> Scanned:
        """Return copies: the next run writes to the same place."""
        return Scanned(self.array, raw[0].copy(), raw[1].copy(), per_segment=self.per_segment)


def _register(name: str, state: Any, **described: Any) -> None:
    def compile_(array: ArrayInput, device: object, **options: Any) -> None:
        state(array.tiny(), device, **options).run(NullClock())

    add_algorithm(
        "scan",
        name,
        devices=("cpu",),
        authors="Sun, Skadron",
        year=2013,
        prepare=state,
        run=state.run,
        fetch=lambda state, run: run.arrays,
        finish=lambda state, raw: state.finish(raw),
        digest=digest_of,
        own_seconds=lambda state, run: run.watch.seconds,
        compile=compile_,
        version=2,
        **described,
    )


_register("cpu", Sums, summary="one thread adds up one element after another", section="3: the single-threaded CPU")
_register(
    "segmented-min",
    Minima,
    summary="one thread, one element after another",
    section="5: sequential find-min-edge",
    options=(
        Option(
            "per", str, "element", "a minimum for each element, or only for each segment, as the paper's CPU code",
            ("element", "segment"),
        ),
    ),
)  # fmt: skip
