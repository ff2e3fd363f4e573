"""``cupy.cumsum``, CUB's device-wide scan as a CuPy user calls it.

Source: D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016, as NVIDIA ships it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device
from gpugraph.errors import InputError
from gpugraph.problems.registry import add_algorithm
from gpugraph.problems.scan.gpu_scan import WAKING_READS, Run, fetch, own_seconds, passes, require_sums
from gpugraph.problems.scan.scanned import Scanned, digest_of
from gpugraph.problems.scan.tiles import ResidentArray
from gpugraph.problems.scan.verify import sums_are_exact


class State:
    """The array and where its scan goes; CuPy scans out of place."""

    def __init__(self, array: ResidentArray, device: Device):
        require_sums(array.host)
        if not sums_are_exact(array.host.values):
            raise InputError(
                "CUB adds in an order that may change from run to run, and so would the rounded sums of these reals",
                remedy="use --algo reduce-then-scan, or whole numbers of small size",
            )
        self.array, self.device = array, device
        self.target: Array = device.empty(array.elements, array.host.values.dtype)


def run(state: State, clock: Clock) -> Run:
    """Scan once; an exclusive scan is an inclusive one of all but the last, a place further on."""
    cuda: Any = state.device
    array, target, dtype = state.array, state.target, state.array.host.values.dtype
    array.renew()

    def scan() -> None:
        with cuda.stream:  # another device may have been opened since, whose stream is CuPy's now
            if array.host.exclusive:
                target[:1] = 0
                if array.elements > 1:
                    cuda.cupy.cumsum(array.values[:-1], dtype=dtype, out=target[1:])
            else:
                cuda.cupy.cumsum(array.values, dtype=dtype, out=target)

    watch = cuda.stopwatch()
    if array.elements:
        for _ in range(WAKING_READS):
            scan()
    watch.start()
    if array.elements:
        with clock.phase("cumsum"):
            scan()
    watch.stop()
    return Run(target, watch)


def finish(state: State, raw: tuple[Any, ...]) -> Scanned:
    """Return the scan."""
    return Scanned(state.array.host, raw[0])


add_algorithm(
    "scan",
    "cub",
    devices=("cuda",),
    summary="cupy.cumsum, as a CuPy user calls it",
    authors="Merrill, Garland; CUB in CuPy",
    year=2016,
    section="4: decoupled look-back",
    prepare=State,
    run=run,
    fetch=fetch,
    finish=finish,
    digest=digest_of,
    minimum_bytes=partial(passes, 2),
    own_seconds=own_seconds,
)
