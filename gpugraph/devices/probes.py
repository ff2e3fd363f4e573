"""A device's limits: bandwidths and latencies, measured after a kernel check, and the facts that NVML reports.

Every figure is the median of several turns after a warm-up.  The emulated device runs the same kernels and
checks their results, and reports no figure: its times say nothing of a GPU.
"""

from __future__ import annotations

import contextlib
import ctypes
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, OutOfMemory
from gpugraph.base.host import available_memory
from gpugraph.devices.base import Device
from gpugraph.devices.cuda_runtime import TO_DEVICE, TO_HOST

FILE = "probe.cu"
BLOCK = 256
_TURNS = 7
_LAUNCHES = 500
_BEYOND_CACHES = 256 << 20  # bytes; the largest second-level caches hold about half of that


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
        **_bandwidths(device, min(array_bytes, free // 4)),
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


def copy_bandwidth(device: Device, *, array_bytes: int = 1 << 30) -> float:
    """Return bytes read and written a second by the copy kernel on a ``cuda`` device.

    Raises OutOfMemory if there is no room for two arrays that no cache would hold.
    """
    size = min(array_bytes, device.memory()[0] // 4)
    if size < _BEYOND_CACHES:
        raise OutOfMemory(f"{size:,} bytes are too few to see past the caches", where=device.name)
    return _bandwidths(device, size)["copy"]


def host_copy_bandwidth(threads: int, *, array_bytes: int = 1 << 30) -> float:
    """Return the bytes read and written a second by so many threads that copy memory of the host.

    Raises OutOfMemory if there is no room for two arrays that no cache would hold.
    """
    size = min(array_bytes, available_memory() // 4)
    if size < _BEYOND_CACHES:
        raise OutOfMemory(f"{size:,} bytes are too few to see past the caches", where="cpu")
    source, target = (np.empty(size // threads * threads, np.uint8).reshape(threads, -1) for _ in range(2))
    seconds = []
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: part.fill(1), source))  # a page lies near the thread that touches it first
        for _ in range(_TURNS + 1):  # the first touches the pages of the target
            start = time.perf_counter()
            list(pool.map(np.copyto, target, source))
            seconds.append(time.perf_counter() - start)
    return 2 * source.size / statistics.median(seconds[1:])


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


def _bandwidths(device: Device, size: int) -> dict[str, float]:
    source = device.full(size // 16 * 4, 0, np.uint32)
    target = device.full(size // 16 * 4, 0, np.uint32)
    sink = device.full(1, 0, np.uint32)
    cells = np.int64(size // 16)
    grid = device.multiprocessors * 8  # fills every multiprocessor with blocks of 256
    copy, read = device.kernel(FILE, "probe_copy"), device.kernel(FILE, "probe_read")
    copied = _device_seconds(device, lambda: copy(grid, BLOCK, (target, source, cells)))
    loaded = _device_seconds(device, lambda: read(grid, BLOCK, (sink, source, cells)))
    return {"copy": 2 * int(cells) * 16 / copied, "read": int(cells) * 16 / loaded}


def _transfers(device: Any, size: int) -> dict[str, float]:
    """Return the figures of one plain copy each way, without the chunks that ``upload`` makes of ordinary memory."""
    ordinary = np.ones(size, np.uint8)
    start = time.perf_counter()
    pinned = device.stage(ordinary)
    stage_first = size / (time.perf_counter() - start)
    array = device.empty(size, np.uint8)
    memcpy, stream = device.cupy.cuda.runtime.memcpyAsync, device.stream.ptr

    def copy(target: int, source: int, direction: int) -> float:
        return size / _device_seconds(device, lambda: memcpy(target, source, size, direction, stream))

    figures = {
        "h2d_pinned": copy(array.data.ptr, pinned.ctypes.data, TO_DEVICE),
        "d2h_pinned": copy(pinned.ctypes.data, array.data.ptr, TO_HOST),
        "h2d_pageable": copy(array.data.ptr, ordinary.ctypes.data, TO_DEVICE),
        "d2h_pageable": copy(ordinary.ctypes.data, array.data.ptr, TO_HOST),
    }
    del pinned  # so that every turn gets the same block again
    stage = size / _host_seconds(device, lambda: device.stage(ordinary))
    return {**figures, "stage_first": stage_first, "stage": stage}


def _device_seconds(device: Device, work: Callable[[], object]) -> float:
    """Return the median of the device's own time for one call."""
    samples = []
    for turn in range(_TURNS + 1):
        watch = device.stopwatch()
        watch.start()
        work()
        watch.stop()
        if turn:
            samples.append(watch.seconds)
        else:
            device.synchronize()
    return statistics.median(samples)


def _host_seconds(device: Device, work: Callable[[], object]) -> float:
    """Return the median of the host's time for one call."""
    samples = []
    for turn in range(_TURNS + 1):
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


# ------------------------------------------------------------------ what NVML tells
# Clocks, why they are held down, energy, driver.
# The library comes with the driver, and nothing depends on it: whoever asks gets the figures, or the reason why there
# are none.  It is called as it is, for what wraps it takes longer to import than many a graph to be searched.

_HELD_DOWN = {4: "power limit", 8: "hardware slowdown", 32: "temperature", 64: "temperature", 128: "power brake"}
"""By NVML's bits."""
_CLOCK_SM, _CLOCK_MEMORY, _TEMPERATURE_GPU = 1, 2, 0
_UUID_BYTES = 96
_DRIVER_FILE = Path("/proc/driver/nvidia/version")


def _nvml() -> Any:
    """Return the library; raise OSError where there is none."""
    library = ctypes.CDLL("libnvidia-ml.so.1")
    library.nvmlErrorString.restype = ctypes.c_char_p
    return library


class Nvml:
    """One GPU as the management library sees it, by its PCI address, the one name that CUDA and NVML share.

    Raises DeviceUnavailable if the library or the GPU is not there; ``what`` is the reason.
    """

    def __init__(self, bus_id: str):
        self._handle = ctypes.c_void_p()
        try:
            self._library = _nvml()
            self._call("nvmlInit_v2")
            self._call("nvmlDeviceGetHandleByPciBusId_v2", bus_id.encode(), ctypes.byref(self._handle))
        except (OSError, DeviceUnavailable) as error:
            raise DeviceUnavailable(f"NVML is not usable: {error}".lower(), where=bus_id) from error

    def sm_clock_mhz(self) -> int:
        """Return the multiprocessors' clock right now, in MHz.  Raises DeviceUnavailable if the GPU does not tell."""
        return self._ask("nvmlDeviceGetClockInfo", _CLOCK_SM)

    def held_down_by(self) -> tuple[str, ...]:
        """Return why power or temperature hold the clock down, or nothing, also where the driver does not say."""
        try:
            mask = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons", kind=ctypes.c_ulonglong)
        except DeviceUnavailable:
            return ()
        return tuple(dict.fromkeys(text for bit, text in _HELD_DOWN.items() if mask & bit))

    def energy_j(self) -> float:
        """Return the joules the GPU has taken since its driver was loaded.  Raises DeviceUnavailable if not counted."""
        return self._ask("nvmlDeviceGetTotalEnergyConsumption", kind=ctypes.c_ulonglong) / 1e3

    def uuid(self) -> str:
        """Return the GPU's own id, e.g. ``"GPU-8b5e0e4c-…"``.  Raises DeviceUnavailable if the GPU does not tell."""
        buffer = ctypes.create_string_buffer(_UUID_BYTES)
        self._call("nvmlDeviceGetUUID", self._handle, buffer, _UUID_BYTES)
        return buffer.value.decode()

    def describe(self) -> dict[str, Any]:
        """Return driver, clocks in MHz and power limit in watts, as far as the GPU tells them."""
        asked: dict[str, tuple[str, *tuple[int, ...]]] = {
            "sm_clock_max_mhz": ("nvmlDeviceGetMaxClockInfo", _CLOCK_SM),
            "memory_clock_max_mhz": ("nvmlDeviceGetMaxClockInfo", _CLOCK_MEMORY),
            "sm_clock_mhz": ("nvmlDeviceGetClockInfo", _CLOCK_SM),
            "memory_clock_mhz": ("nvmlDeviceGetClockInfo", _CLOCK_MEMORY),
            "temperature_c": ("nvmlDeviceGetTemperature", _TEMPERATURE_GPU),
            "power_limit_w": ("nvmlDeviceGetEnforcedPowerLimit",),
        }
        figures: dict[str, Any] = {}
        for name, (function, *args) in asked.items():
            with contextlib.suppress(DeviceUnavailable):
                figures[name] = self._ask(function, *args)
        if "power_limit_w" in figures:
            figures["power_limit_w"] /= 1e3
        return figures

    def _ask(self, function: str, *args: int, kind: Any = ctypes.c_uint) -> int:
        """Return the number of a C type that a function tells of the GPU."""
        value = kind()
        self._call(function, self._handle, *args, ctypes.byref(value))
        return int(value.value)

    def _call(self, function: str, *args: Any) -> None:
        status = getattr(self._library, function)(*args)
        if status:
            said = self._library.nvmlErrorString(status).decode(errors="replace").lower()
            raise DeviceUnavailable(f"this GPU does not tell it ({said})", where=function)


def bus_id_of(device: Any) -> str:
    """Return the PCI address of an open ``cuda`` device."""
    return str(device.cupy.cuda.runtime.deviceGetPCIBusId(device.index))


def driver_version() -> str | None:
    """Return the version of the NVIDIA driver that is loaded, e.g. ``"570.124.06"``, or None."""
    try:
        words = _DRIVER_FILE.read_text().split("\n", 1)[0].split()
    except OSError:
        return None
    return next((word for word in words if word[0].isdigit() and word.count(".") >= 1), None)
