"""The scan problem: input, result, work counted.

Without segments, element i of the result is the sum of elements 0 to i (or to i − 1: exclusive); sums of integers wrap
modulo 2^bits.  With segments it is the least element from the head of its segment to i, with its position; of equal
ones the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import HostClock
from gpugraph.problems.contract import Problem, Verdict
from gpugraph.problems.scan.array import ArrayInput, open_array, ordered_digest

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.measure.record import Cell
    from gpugraph.problems.scan.resident import ResidentArray


@dataclass(frozen=True, eq=False)
class Scanned:
    """The scan of an ArrayInput.

    Attributes:
        graph: the input.
        array: (n,) the scan, in the input's type.
        index: (n,) position of each minimum, for a segmented scan; else None.
        depth: additions on the way of any element into any sum, at most: what bounds the rounding error of reals.
    """

    graph: ArrayInput
    array: NDArray[Any]
    index: NDArray[Any] | None = None
    depth: int = 0

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits of the scan, element by element."""
        return digest_of((self.array,) if self.index is None else (self.array, self.index))

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record."""
        last = self.array[-1].item() if len(self.array) else None
        return {"elements": len(self.array), "last": last, "digest": self.digest}

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if the results are equal."""
        return self.digest


def digest_of(arrays: tuple[NDArray[Any], ...]) -> str:
    """Return the digest of a raw result: the scan, and for segments the positions."""
    kind = ordered_digest(arrays[1].astype(np.int64, copy=False)) if len(arrays) > 1 else ""
    return ordered_digest(arrays[0], kind)


class Scan:
    """The problem as the measurement sees it."""

    name = "scan"
    title = "Prefix scan"
    counted = "elements"
    definition = "MTEPS = million elements of the array a second = elements / kernel time / 10^6"

    def open(self, cell: Cell, phases: dict[str, float], progress: Callable[[str], None]) -> ArrayInput:
        """Return the array that a cell names, and add the seconds to ``load`` or ``build``."""
        clock = HostClock()
        made = isinstance(cell.graph, str) and cell.graph.startswith("array:") and "file=" not in cell.graph
        with clock.phase("build" if made else "load"):
            array = open_array(cell.graph)
        for name, seconds in clock.seconds.items():
            phases[name] = phases.get(name, 0.0) + seconds
        return array

    def view(self, graph: ArrayInput, preparations: Sequence[str], index_bits: int | None) -> ArrayInput:
        """Return the array itself: there is nothing to prepare."""
        return graph

    def to_device(self, view: ArrayInput, device: Device) -> tuple[ResidentArray, float, float]:
        """Return the array on a device, and the seconds of ``stage`` and ``h2d``, the allocation included."""
        from gpugraph.problems.scan.resident import place

        return place(view, device)

    def admit(self, graph: ArrayInput) -> ArrayInput:
        """Return the array; nothing is refused that could be opened."""
        return graph

    def queries(self, graph: ArrayInput, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the one run there is to make; the input says what kind of scan it is."""
        return [()]

    def work(self, graph: ArrayInput, result: Scanned) -> int:
        """Return the number of elements."""
        return graph.elements

    def auto(self, graph: ArrayInput, device_kind: str) -> str:
        """Return look-back on a GPU, which reads and writes every element once; one thread on a CPU."""
        if graph.heads is not None:
            return "segmented-min"
        return "cpu" if device_kind == "cpu" else "look-back"

    def figures(self, graph: ArrayInput, phases: Mapping[str, float]) -> dict[str, Any]:
        """Return what a record of a verified scan holds besides: ``throughput``."""
        from gpugraph.problems.scan.throughput import throughput

        return {"throughput": throughput(graph.nbytes, phases)}

    def reference(self, graph: ArrayInput, query: tuple[Any, ...], result: Scanned, by: str = "") -> Verdict:
        """Compare with NumPy's cumulative sums, or with minima found by doubling."""
        from gpugraph.problems.scan.verify import check_against_reference

        return check_against_reference(graph, result)

    def certificate(self, graph: ArrayInput, query: tuple[Any, ...], result: Scanned) -> Verdict:
        """Check every element against its neighbour, which proves them all by induction."""
        from gpugraph.problems.scan.verify import check_certificate

        return check_certificate(graph, result)


PROBLEM = cast(Problem, Scan())  # whose input is no graph
