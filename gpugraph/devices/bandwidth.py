"""The bandwidth of a device's memory, as plain copies reach it: the median of several turns after a warm-up."""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from gpugraph.base.errors import OutOfMemory
from gpugraph.base.host import available_memory
from gpugraph.devices.base import Device

FILE = "probe.cu"
BLOCK = 256
TURNS = 7
_BEYOND_CACHES = 256 << 20  # bytes; the largest second-level caches hold about half of that


def copy_bandwidth(device: Device) -> float:
    """Return bytes read and written a second by the copy kernel on a ``cuda`` device.

    Raises OutOfMemory if there is no room for two arrays that no cache would hold.
    """
    size = min(1 << 30, device.memory()[0] // 4)
    if size < _BEYOND_CACHES:
        raise OutOfMemory(f"{size:,} bytes are too few to see past the caches", where=device.name)
    return bandwidths(device, size)["copy"]


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
        for _ in range(TURNS + 1):  # the first touches the pages of the target
            start = time.perf_counter()
            list(pool.map(np.copyto, target, source))
            seconds.append(time.perf_counter() - start)
    return 2 * source.size / statistics.median(seconds[1:])


def bandwidths(device: Device, size: int) -> dict[str, float]:
    """Return bytes a second of our own kernels: ``copy``, read and written, and ``read``."""
    source = device.full(size // 16 * 4, 0, np.uint32)
    target = device.full(size // 16 * 4, 0, np.uint32)
    sink = device.full(1, 0, np.uint32)
    cells = np.int64(size // 16)
    grid = device.multiprocessors * 8  # fills every multiprocessor with blocks of 256
    copy, read = device.kernel(FILE, "probe_copy"), device.kernel(FILE, "probe_read")
    copied = device_seconds(device, lambda: copy(grid, BLOCK, (target, source, cells)))
    loaded = device_seconds(device, lambda: read(grid, BLOCK, (sink, source, cells)))
    return {"copy": 2 * int(cells) * 16 / copied, "read": int(cells) * 16 / loaded}


def device_seconds(device: Device, work: Callable[[], object]) -> float:
    """Return the median of the device's own time for one call."""
    samples = []
    for turn in range(TURNS + 1):
        watch = device.stopwatch()
        watch.start()
        work()
        watch.stop()
        if turn:
            samples.append(watch.seconds)
        else:
            device.synchronize()
    return statistics.median(samples)
