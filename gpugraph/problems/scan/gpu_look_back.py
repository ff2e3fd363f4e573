"""Prefix sums in a single pass: every tile publishes its sum, and looks back for the sum before it.

The kernel is ``scan_look_back`` of ``cuda_kernels/prefix_scan.cu``; nothing is cleared between runs, since the statuses
of a run begin where those of the last one ended.

Source: D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016, section 4.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device
from gpugraph.errors import InputError
from gpugraph.problems.algorithm import Option
from gpugraph.problems.scan.gpu_scan import (
    BUFFERS,
    THREADS,
    VECTORS,
    WAKING_READS,
    Run,
    State,
    compile_,
    passes,
    require_sums,
    scan_algorithm,
)
from gpugraph.problems.scan.tiles import FILE, ResidentArray
from gpugraph.problems.scan.verify import sums_are_exact

STATIC_BYTES = 2048
"""Shared memory of a block besides its tiles, at most."""


class LookBack(State):
    """The descriptors of one array, and how its tiles are assigned."""

    def __init__(self, array: ResidentArray, device: Device, **options: Any):
        super().__init__(array, device, scheme=look_back, **options)
        _require_exact(array, "look-back adds in an order that changes")
        self.stages, resident = self.room()
        self.grid = max(2, min(self.tiles + 1, resident))  # one block looks back for all
        words = array.host.values.dtype.itemsize // 4
        self.descriptors = device.full((max(self.tiles, 1), words), 0, np.uint64)
        self.runs = 0

    def room(self) -> tuple[int, int]:
        """Return how many tiles a block has on their way, and how many blocks are then resident.

        Raises InputError if not even one tile fits.
        """
        tile_bytes, kernel = self.tile * self.dtype.itemsize, self.kernels["look_back"]
        if tile_bytes + STATIC_BYTES > self.device.shared_bytes_per_block:
            room = f"the shared memory of a block of {self.device.name}, {self.device.shared_bytes_per_block:,} bytes"
            what = f"a tile of {tile_bytes:,} bytes does not fit in {room}"
            raise InputError(what, remedy="use fewer --set threads or vectors")
        if 2 * tile_bytes + STATIC_BYTES <= self.device.shared_bytes_per_block:
            resident = kernel.resident_blocks(self.threads, 2 * tile_bytes)
            if resident >= 2 * self.device.multiprocessors:
                return 2, resident
        return 1, kernel.resident_blocks(self.threads, tile_bytes)


def look_back(state: LookBack, clock: Clock) -> None:
    """Scan in one launch."""
    source, target = state.elements()
    epoch = state.runs * FILE["PREFIX"] & 0xFFFFFFFF  # the last status of a run comes before the first of the next
    with clock.phase("look_back"):
        state.launch(
            *("look_back", state.grid, np.int64(state.n), np.int32(state.array.host.exclusive), source, target),
            *(state.descriptors, np.uint32(epoch), np.int32(state.stages)),
            shared_bytes=state.stages * state.tile * state.dtype.itemsize,
        )
    state.runs += 1


def _require_exact(array: ResidentArray, how: str) -> None:
    """Raise InputError for reals whose sums depend on the order of the additions; ``how`` says in which those are."""
    if not sums_are_exact(array.host.values):
        what = f"{how} from run to run, and so would the rounded sums of these reals"
        raise InputError(what, remedy="use --algo reduce-then-scan, or whole numbers of small size")


scan_algorithm(
    "look-back",
    summary="one pass: every tile publishes its sum and looks back for those before it, by one warp",
    authors="Merrill, Garland",
    year=2016,
    section="4: decoupled look-back",
    prepare=LookBack,
    run=State.run,
    compile=compile_,
    options=(BUFFERS, THREADS, Option("vectors", int, 8, VECTORS, (1, 2, 4, 8))),
    minimum_bytes=partial(passes, 2),
)


# ------------------------------------------------------------------ as a CuPy user calls it
# Source: the same, as NVIDIA ships it in CUB.


class CubState:
    """The array and where its scan goes; CuPy scans out of place."""

    depth = 0

    def __init__(self, array: ResidentArray, device: Device):
        require_sums(array.host)
        _require_exact(array, "CUB adds in an order that may change")
        self.array, self.device = array, device
        self.target: Array = device.empty(array.elements, array.host.values.dtype)


def run_cub(state: CubState, clock: Clock) -> Run:
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
    for _ in range(WAKING_READS if array.elements else 0):
        scan()
    watch.start()
    if array.elements:
        with clock.phase("cumsum"):
            scan()
    watch.stop()
    return Run((target,), watch)


scan_algorithm(
    "cub",
    devices=("cuda",),
    summary="cupy.cumsum, as a CuPy user calls it",
    authors="Merrill, Garland; CUB in CuPy",
    year=2016,
    section="4: decoupled look-back",
    prepare=CubState,
    run=run_cub,
    minimum_bytes=partial(passes, 2),
)
