"""How to launch each deliberately broken kernel of ``broken/`` and its corrected twin, and the result that is right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.ext.emulator.device import EmulatedDevice

ALL = str(Path(__file__).parent / "broken" / "all.cu")
_VALUES = np.random.default_rng(7).integers(1, 1000, 1024).astype(np.int32)

Run = Callable[[EmulatedDevice, str], bool]
RUNS: dict[str, Run] = {}


def _register(run: Run) -> Run:
    RUNS[run.__name__] = run
    return run


def launch(device: EmulatedDevice, name: str, grid: int, block: int, *args: Any, cooperative: bool = False) -> None:
    """Launch a kernel of ``broken/``."""
    device.kernel(ALL, name, cooperative=cooperative)(grid, block, args)


@_register
def missing_barrier(device: EmulatedDevice, twin: str) -> bool:
    sums = device.full(8, 0, np.int32)
    launch(device, f"missing_barrier_{twin}", 8, 128, device.upload(_VALUES), sums)
    return np.array_equal(device.download(sums), _VALUES.reshape(8, 128).sum(axis=1))


@_register
def missing_atomic(device: EmulatedDevice, twin: str) -> bool:
    bins = device.full(8, 0, np.uint32)
    launch(device, f"missing_atomic_{twin}", 4, 64, device.upload(_VALUES[:250] % 8), np.int32(250), bins)
    return np.array_equal(device.download(bins), np.bincount(_VALUES[:250] % 8, minlength=8))


@_register
def lost_update(device: EmulatedDevice, twin: str) -> bool:
    best = device.full(1, 0, np.int32)
    launch(device, f"lost_update_{twin}", 4, 64, device.upload(_VALUES[:256]), best)
    return int(device.read(best)) == _VALUES[:256].max()


@_register
def wrong_mask(device: EmulatedDevice, twin: str) -> bool:
    total = device.full(1, 0, np.int32)
    launch(device, f"wrong_mask_{twin}", 1, 32, device.upload(_VALUES[:32]), total)
    return int(device.read(total)) == _VALUES[:20].sum()


@_register
def source_outside_mask(device: EmulatedDevice, twin: str) -> bool:
    sums = device.full(2, 0, np.int32)
    launch(device, f"source_outside_mask_{twin}", 1, 32, device.upload(_VALUES[:32]), sums)
    return np.array_equal(device.download(sums), _VALUES[:32].reshape(2, 16).sum(axis=1))


@_register
def off_by_one(device: EmulatedDevice, twin: str) -> bool:
    values = device.full(100, 0, np.int32)
    launch(device, f"off_by_one_{twin}", 2, 64, values, np.int32(100))
    return np.array_equal(device.download(values), np.arange(100))


@_register
def shared_off_by_one(device: EmulatedDevice, twin: str) -> bool:
    rises = device.full(64, 0, np.int32)
    launch(device, f"shared_off_by_one_{twin}", 1, 64, device.upload(_VALUES[:64]), rises)
    return np.array_equal(device.download(rises), np.append(np.diff(_VALUES[:64]), 0))


@_register
def divergent_barrier(device: EmulatedDevice, twin: str) -> bool:
    values = device.upload(_VALUES[:64])
    launch(device, f"divergent_barrier_{twin}", 1, 64, values)
    return np.array_equal(device.download(values), np.full(64, _VALUES[0]))


@_register
def deadlock(device: EmulatedDevice, twin: str) -> bool:
    values = device.empty(32, np.int32)
    launch(device, f"deadlock_{twin}", 1, 32, values)
    return np.array_equal(device.download(values), np.arange(32) ^ 1)


@_register
def endless_wait(device: EmulatedDevice, twin: str) -> bool:
    passed = device.full(64, 0, np.int32)
    launch(device, f"endless_wait_{twin}", 1, 64, device.full(2, 0, np.uint32), passed)
    return bool(device.download(passed).all())


@_register
def uninitialised_shared(device: EmulatedDevice, twin: str) -> bool:
    counts = device.full(4, 0, np.uint32)
    launch(device, f"uninitialised_shared_{twin}", 1, 64, device.upload(_VALUES[:64]), counts)
    return np.array_equal(device.download(counts), np.bincount(_VALUES[:64] % 4, minlength=4))


@_register
def missing_fence(device: EmulatedDevice, twin: str) -> bool:
    totals = device.empty(16, np.int32)
    ticket, flags = device.full(1, 0, np.uint32), device.full(16, 0, np.uint32)
    launch(device, f"missing_fence_{twin}", 16, 32, device.upload(_VALUES[:512]), ticket, totals, flags)
    return np.array_equal(device.download(totals), _VALUES[:512].reshape(16, 32).sum(axis=1).cumsum())


@_register
def block_order(device: EmulatedDevice, twin: str) -> bool:
    order = device.empty(40, np.int32)
    ticket, chain = device.full(1, 0, np.uint32), device.full(1, 0, np.uint32)
    launch(device, f"block_order_{twin}", 40, 256, ticket, chain, order)
    return np.array_equal(device.download(order), np.arange(40))


@_register
def missing_warp_sync(device: EmulatedDevice, twin: str) -> bool:
    turned = device.empty(32, np.int32)
    launch(device, f"missing_warp_sync_{twin}", 1, 32, device.upload(_VALUES[:32]), turned)
    return np.array_equal(device.download(turned), _VALUES[31::-1])


@_register
def missing_grid_barrier(device: EmulatedDevice, twin: str) -> bool:
    one, two = device.full(256, 0, np.int32), device.full(256, 0, np.int32)
    arrivals = device.full(1, 0, np.uint32)
    launch(device, f"missing_grid_barrier_{twin}", 4, 64, one, two, arrivals, cooperative=True)
    return np.array_equal(device.download(two), np.arange(256)[::-1] + 2)
