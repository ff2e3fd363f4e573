"""Prefix sums in a single pass: every tile tells its sum, and looks back at what the tiles before it have told.

The kernel is ``scan_look_back`` of ``cuda_kernels/prefix_scan.cu``; nothing is cleared between runs, since statuses and
tickets of a run begin where those of the last one ended.

Source: D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016, section 4.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Device
from gpugraph.errors import InputError
from gpugraph.problems.algorithm import Algorithm, Option
from gpugraph.problems.registry import register
from gpugraph.problems.scan.gpu_scan import (
    BUFFERS,
    TILES,
    Run,
    State,
    compile_,
    fetch,
    finish,
    own_seconds,
    passes,
)
from gpugraph.problems.scan.resident import ResidentArray
from gpugraph.problems.scan.scanned import digest_of
from gpugraph.problems.scan.verify import sums_are_exact

STATUSES = 2
"""By how much the number of a run's first status grows from run to run (SUM and PREFIX of look_back.cuh)."""


class LookBack(State):
    """The descriptors and tickets of one array."""

    def __init__(self, array: ResidentArray, device: Device, **options: Any):
        super().__init__(array, device, partial(look_back, self), **options)
        if not sums_are_exact(array.host.values):
            raise InputError(
                "look-back adds in an order that changes from run to run, and so would the rounded sums of these reals",
                remedy="use --algo reduce-then-scan, or whole numbers of small size",
            )
        self.make_two_levels()
        self.grid = max(1, min(self.tiles, self.resident("look_back")))
        words = array.host.values.dtype.itemsize // 4
        self.descriptors = device.full((max(self.tiles, 1), words), 0, np.uint64)
        self.tickets = device.full(1, 0, np.uint32)
        self.runs = 0


def look_back(state: LookBack, _: State, clock: Clock) -> None:
    """Scan in one launch."""
    source, target = state.elements()
    first_ticket = state.runs * (state.tiles + state.grid) & 0xFFFFFFFF
    epoch = state.runs * STATUSES & 0xFFFFFFFF
    with clock.phase("look_back"):
        state.launch(
            *("look_back", state.grid, np.int64(state.n), np.int32(state.array.host.exclusive), source, target),
            *(state.descriptors, state.tickets, np.uint32(first_ticket), np.uint32(epoch)),
        )
    state.runs += 1


def prepare(array: ResidentArray, device: Device, **options: Any) -> LookBack:
    """Allocate everything a run needs."""
    return LookBack(array, device, **options)


def run(state: LookBack, clock: Clock) -> Run:
    """Scan once."""
    return state.run(clock)


register(
    Algorithm(
        problem="scan",
        name="look-back",
        devices=("cuda", "emulated"),
        summary="one pass: every tile tells its sum and looks back at what the tiles before it have told",
        authors="Merrill, Garland",
        year=2016,
        section="4: decoupled look-back",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        digest=digest_of,
        compile=compile_,
        options=(
            BUFFERS,
            *TILES,
            Option("look", int, 4, "tiles that a lane looks at together", (1, 2, 4)),
            Option("prefetch", bool, False, "take the next tile early and bring it to the cache while looking back"),
        ),
        minimum_bytes=partial(passes, 2),
        own_seconds=own_seconds,
    )
)
