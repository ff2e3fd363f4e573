"""The scan problem: input, work counted, oracle, certificate."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpugraph.base.clock import HostClock
from gpugraph.devices.base import Device
from gpugraph.ext.scan import COMMAND
from gpugraph.ext.scan.array import ArrayInput, open_array, shape_of
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.ext.scan.tiles import ResidentArray, place
from gpugraph.ext.scan.verify import check_against_reference, check_certificate
from gpugraph.problems.contract import Input, InputSize, Verdict, ViewSize
from gpugraph.problems.on_graphs import OneQuery


class Scan(OneQuery):
    """The problem as the measurement sees it."""

    result = Scanned
    recorded: tuple[str, ...] = ("throughput.kernel_gb_s",)
    recorded_of_ours: tuple[str, ...] = ("result.elements", "result.last", "result.digest")
    name = "scan"
    counted = "elements"
    definition = "MTEPS = million elements of the array a second = elements / kernel time / 10^6"
    command = COMMAND
    cheaper_check = "reference"

    def size(self, source: str, weights: str) -> InputSize:
        """Return the size of the array that a spec or a .npy file will give; it has no weights."""
        n, dtype, segmented = shape_of(source)
        nbytes, heads = n * (dtype.itemsize + segmented), n * segmented
        return InputSize(n, n, dtype.itemsize, True, nbytes, nbytes, state_bytes=nbytes, extra_bytes=heads)

    def view_size(self, size: InputSize, preparations: Sequence[str], index_bits: int | None) -> ViewSize:
        """Return the sizes of the array, which needs no preparations; the heads of segments are not counted."""
        n, width = size.arcs, size.weight_bytes
        return ViewSize(n, n, 32 if n < 2**31 else 64, width, n * width)

    def series(self, source: str) -> str:
        """Return a spec with its length left open; a file's path."""
        if not source.startswith("array:") or "file=" in source:
            return source
        return re.sub(r"(?<=[:,])(n|size)=[^,]+", r"\1={\1}", source)

    def open(
        self, input_: Input, clock: HostClock, progress: Callable[[str], None], device: Device | None = None
    ) -> ArrayInput:
        """Return the array, on the host; ``clock`` times ``load`` or ``build``."""
        made = (input_.path or "").startswith("array:") and "file=" not in (input_.path or "")
        with clock.phase("build" if made else "load"):
            return open_array(input_.source)

    def view(
        self, graph: ArrayInput, preparations: Sequence[str], index_bits: int | None, unsigned: bool = False
    ) -> ArrayInput:
        """Return the array itself: there is nothing to prepare."""
        return graph

    def to_device(self, view: ArrayInput, device: Device) -> tuple[ResidentArray, float, float]:
        """Return the array on a device, and the seconds of ``stage`` and ``h2d``, the allocation included."""
        return place(view, device)

    def admit(self, graph: ArrayInput) -> ArrayInput:
        """Return the array; nothing is refused that could be opened."""
        return graph

    def work(self, graph: ArrayInput, result: Scanned) -> int:
        """Return the number of elements."""
        return graph.elements

    def auto(self, graph: ArrayInput, device_kind: str) -> str:
        """Return look-back on a GPU, which reads and writes every element once; one thread on a CPU."""
        if graph.heads is not None:
            return "segmented-min"
        return "cpu" if device_kind == "cpu" else "look-back"

    def figures(self, graph: ArrayInput, phases: Mapping[str, float]) -> dict[str, Any]:
        """Return what a record of a verified scan holds besides: ``throughput``, a gigabyte being 10^9 bytes.

        The total is that of the paper: allocation and transfer to the device, what else is allocated (``prepare``),
        kernel, and transfer back; the copy into pinned memory (``stage``) is listed beside it.
        """
        size, seconds = graph.nbytes, {name: phases.get(name, 0.0) for name in ("h2d", "kernel", "d2h")}
        total = sum(seconds.values()) + phases.get("prepare", 0.0)
        found = {
            "array_bytes": size,
            **{f"{name}_gb_s": size / taken / 1e9 if taken else None for name, taken in seconds.items()},
            "total_s": total,
            "total_with_stage_s": total + phases.get("stage", 0.0),
            "transfers_share": (seconds["h2d"] + seconds["d2h"]) / total if total else None,
        }
        return {"throughput": found}

    def reference(self, graph: ArrayInput, query: tuple[Any, ...], result: Scanned, by: str = "") -> Verdict:
        """Compare with NumPy's cumulative sums, or with minima found by doubling."""
        return _beyond_the_type(graph, "reference") or check_against_reference(graph, result)

    def certificate(self, graph: ArrayInput, query: tuple[Any, ...], result: Scanned) -> Verdict:
        """Check every element against its neighbour, which proves them all by induction."""
        return _beyond_the_type(graph, "certificate") or check_certificate(graph, result)


def _beyond_the_type(graph: ArrayInput, method: str) -> Verdict | None:
    """Return that nothing can be said of sums of reals whose sizes add up beyond their type, or None."""
    values = graph.values
    if values.dtype.kind != "f" or graph.heads is not None:
        return None
    with np.errstate(over="ignore"):
        total = float(np.abs(values).sum(dtype=np.float64))
    if total <= float(np.finfo(values.dtype).max):
        return None
    reason = f"the sizes of the elements add up to more than {values.dtype} holds, where no bound holds"
    return Verdict("skipped", method, reason)


PROBLEM = Scan()  # a ``Problem`` whose input is no graph
