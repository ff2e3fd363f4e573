"""A device's limits: bandwidths and latencies, measured after a kernel check.

Every figure is the median of several turns after a warm-up.  The emulated device runs the same kernels and
checks their results, and reports no figure: its times say nothing of a GPU.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpugraph.base.errors import GpuGraphError
from gpugraph.devices.bandwidth import BLOCK, FILE, TURNS, bandwidths, device_seconds
from gpugraph.devices.base import Device
from gpugraph.devices.cuda_runtime import TO_DEVICE, TO_HOST

_LAUNCHES = 500


@dataclass(frozen=True)
class Probes:
    """What was measured on one device; bandwidths in bytes per second, None where a figure would mislead.

    Attributes:
        device: ``"cuda:0"`` or ``"emulated"``.
        name: the device's own name.
        kernel_runs: True: a kernel was compiled, ran, and gave the right result.
        compile_s: seconds to bring that kernel about, from the cache if it was there.
        copy: own copy kernel, bytes read and written.
        read: own read kernel.
        h2d_pinned, d2h_pinned: one asynchronous copy from and to pinned memory.
        h2d_pageable, d2h_pageable: the same from and to ordinary memory.
        stage_first: the copy into memory that has to be pinned for it.
        stage: the copy into pinned memory that has been used before.
        launch_s: seconds per launch of an empty kernel, many back to back.
        read_back_s: seconds to launch an empty kernel and read one integer back.
    """

    device: str
    name: str
    kernel_runs: bool
    compile_s: float | None
    copy: float | None = None
    read: float | None = None
    h2d_pinned: float | None = None
    d2h_pinned: float | None = None
    h2d_pageable: float | None = None
    d2h_pageable: float | None = None
    stage_first: float | None = None
    stage: float | None = None
    launch_s: float | None = None
    read_back_s: float | None = None


def run_probes(device: Device, *, array_bytes: int = 1 << 30, transfer_bytes: int = 256 << 20) -> Probes:
    """Check that kernels run, and measure the device if it is a real one, with arrays of at most these sizes.

    Raises:
        DeviceUnavailable: kernels cannot be compiled or loaded.
        GpuGraphError: a kernel gave a wrong result.
    """
    start = time.perf_counter()
    check_kernel(device)
    compile_s = time.perf_counter() - start
    if device.kind != "cuda":
        check_bandwidth_kernels(device, 1 << 12)
        return Probes(device.kind, device.name, kernel_runs=True, compile_s=None)
    check_bandwidth_kernels(device, 1 << 20)
    cuda: Any = device
    free, _ = device.memory()
    return Probes(
        cuda.label,
        device.name,
        kernel_runs=True,
        compile_s=compile_s,
        **bandwidths(device, min(array_bytes, free // 4)),
        **_transfers(cuda, min(transfer_bytes, free // 4)),
        launch_s=_launch_seconds(device),
        read_back_s=_launch_seconds(device, read_back=True),
    )


def check_kernel(device: Device) -> None:
    """Compile, load and run a kernel of one line; raise unless it gives the right result."""
    out = device.full(1, 0, np.uint32)
    device.kernel(FILE, "probe_add_one")(1, 1, (out, np.uint32(41)))
    _expect(device, int(device.read(out)), 42, "probe_add_one")


def check_bandwidth_kernels(device: Device, size: int) -> None:
    """Run the copy and the read kernel on ``size`` bytes and check both results."""
    words = np.random.default_rng(1).integers(0, 2**32, size // 4, np.uint32)
    source = device.upload(words)
    target = device.full(words.size, 0, np.uint32)
    sink = device.full(1, 0, np.uint32)
    cells = np.int64(size // 16)
    grid = device.multiprocessors
    device.kernel(FILE, "probe_copy")(grid, BLOCK, (target, source, cells))
    device.kernel(FILE, "probe_read")(grid, BLOCK, (sink, source, cells))
    _expect(device, bool(np.array_equal(device.download(target), words)), True, "probe_copy")
    _expect(device, int(device.read(sink)), int(np.bitwise_xor.reduce(words)), "probe_read")


def _launch_seconds(device: Device, *, read_back: bool = False) -> float:
    """Return seconds per launch of an empty kernel, back to back or each with one integer read back."""
    nothing, cell = device.kernel(FILE, "probe_nothing"), device.full(1, 7, np.uint32)

    def burst() -> None:
        for _ in range(_LAUNCHES):
            nothing(1, 32, ())
            if read_back:
                device.read(cell)
        device.synchronize()

    return _host_seconds(device, burst) / _LAUNCHES


def _transfers(device: Any, size: int) -> dict[str, float]:
    """Return the figures of one plain copy each way, without the chunks that ``upload`` makes of ordinary memory."""
    ordinary = np.ones(size, np.uint8)
    start = time.perf_counter()
    pinned = device.stage(ordinary)
    stage_first = size / (time.perf_counter() - start)
    array = device.empty(size, np.uint8)
    memcpy, stream = device.cupy.cuda.runtime.memcpyAsync, device.stream.ptr

    def copy(target: int, source: int, direction: int) -> float:
        return size / device_seconds(device, lambda: memcpy(target, source, size, direction, stream))

    figures = {
        "h2d_pinned": copy(array.data.ptr, pinned.ctypes.data, TO_DEVICE),
        "d2h_pinned": copy(pinned.ctypes.data, array.data.ptr, TO_HOST),
        "h2d_pageable": copy(array.data.ptr, ordinary.ctypes.data, TO_DEVICE),
        "d2h_pageable": copy(ordinary.ctypes.data, array.data.ptr, TO_HOST),
    }
    del pinned  # so that every turn gets the same block again
    stage = size / _host_seconds(device, lambda: device.stage(ordinary))
    return {**figures, "stage_first": stage_first, "stage": stage}


def _host_seconds(device: Device, work: Callable[[], object]) -> float:
    """Return the median of the host's time for one call."""
    samples = []
    for turn in range(TURNS + 1):
        device.synchronize()
        start = time.perf_counter()
        work()
        if turn:
            samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def _expect(device: Device, found: int, expected: int, kernel: str) -> None:
    if found != expected:
        raise GpuGraphError(
            f"{kernel} gave {found}, not {expected}", where=device.name, remedy="the device or its driver is faulty"
        )
