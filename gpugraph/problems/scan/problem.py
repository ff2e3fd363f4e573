"""The scan problem: input, work counted, oracle, certificate."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gpugraph.clock import HostClock
from gpugraph.errors import InputError
from gpugraph.problems.column import Column, result_column
from gpugraph.problems.contract import Input, InputSize, Problem, Verdict, ViewSize
from gpugraph.problems.returned import plain_array
from gpugraph.problems.scan.array import ArrayInput, open_array, shape_of
from gpugraph.problems.scan.command import COMMAND
from gpugraph.problems.scan.result_files import ScannedFiles
from gpugraph.problems.scan.scanned import Scanned
from gpugraph.problems.scan.throughput import COLUMNS, throughput

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.problems.adapter import Adapter
    from gpugraph.problems.scan.resident import ResidentArray


class Scan(ScannedFiles):
    """The problem as the measurement sees it."""

    name = "scan"
    title = "Prefix sums"
    counted = "elements"
    definition = "MTEPS = million elements of the array a second = elements / kernel time / 10^6"
    command = COMMAND
    peers: Mapping[str, Adapter] = {}
    demonstrations: Mapping[str, Callable[..., dict[str, Any]]] = {}
    columns: tuple[Column, ...] = (
        result_column("elements"),
        result_column("last"),
        result_column("digest"),
        *COLUMNS,
    )

    query_fields: tuple[str, ...] = ()
    quicker = "reference"

    def accepts(self, source: str) -> bool:
        """Tell whether a text names an array."""
        return source.startswith("array:") or source.endswith(".npy")

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
        """Return a spec with its length left open; a file's own name."""
        if not source.startswith("array:") or "file=" in source:
            return os.path.basename(source)
        return re.sub(r"(?<=[:,])(n|size)=[^,]+", r"\1={\1}", source)

    def open(self, input_: Input, clock: HostClock, progress: Callable[[str], None]) -> ArrayInput:
        """Return the array; ``clock`` times ``load`` or ``build``."""
        made = (input_.path or "").startswith("array:") and "file=" not in (input_.path or "")
        with clock.phase("build" if made else "load"):
            return open_array(input_.source)

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

    def query_of(self, result: Scanned) -> tuple[Any, ...]:
        """Return the one query there is."""
        return ()

    def complete(self, result: Scanned, *_of_the_run: Any) -> None:
        """Return None: no option adds anything to a scan."""

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
        return {"throughput": throughput(graph.nbytes, phases)}

    def accept(self, graph: ArrayInput, query: tuple[Any, ...], returned: Any) -> Scanned:
        """Return the scan in an (n,) array of the input's type; with segments a pair, the minima and their positions.

        Sums of reals may round once for each element, as those of one thread do; a Scanned may promise fewer.
        """
        n, shape, own = graph.elements, (graph.elements,), graph.values.dtype.name
        depth = n
        if isinstance(returned, Scanned):
            depth = min(max(int(returned.depth), 0), n) or n
            returned = returned.array if returned.index is None else (returned.array, returned.index)
        index = None
        if graph.heads is not None:
            if not isinstance(returned, tuple) or len(returned) != 2:
                remedy = "return (minima, positions)"
                raise InputError("run returned no pair of minima and their positions", remedy=remedy)
            returned, index = returned
            wanted = f"the positions of {n} minima"
            index = plain_array(index, "i u", shape, wanted, "return (minima, positions)").astype(np.int64)
        remedy = "return the scan in the type of the elements"
        return Scanned(
            graph, plain_array(returned, own, shape, f"the scan of {n} elements as {own}", remedy), index, depth
        )

    def reference(self, graph: ArrayInput, query: tuple[Any, ...], result: Scanned, by: str = "") -> Verdict:
        """Compare with NumPy's cumulative sums, or with minima found by doubling."""
        from gpugraph.problems.scan.verify import check_against_reference

        return check_against_reference(graph, result)

    def certificate(self, graph: ArrayInput, query: tuple[Any, ...], result: Scanned) -> Verdict:
        """Check every element against its neighbour, which proves them all by induction."""
        from gpugraph.problems.scan.verify import check_certificate

        return check_certificate(graph, result)


PROBLEM = cast(Problem, Scan())  # whose input is no graph
