"""Pinned host memory: made quickly, copied into by many threads, and copied from and to a GPU.

The driver's own allocation has one thread fault and clear every page, which takes longer than the copy into them.  Here
many threads touch the pages first, and they are pinned as they lie: that is little more than counting.

A GPU's copy engine reaches the speed of the bus only from memory whose pages cannot move.  ``stage`` copies
an array there with several threads; what was not staged passes through a few small pinned buffers in turns, which
threads fill while another is on the bus.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import mmap
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.base.host import usable_cores
from gpugraph.devices.base import read_exactly
from gpugraph.devices.cuda_runtime import TO_DEVICE, TO_HOST
from gpugraph.devices.cuda_streams import Events

if TYPE_CHECKING:
    from cupy.cuda import Event, Stream

_PAGE = 4096
_LARGE = 8 << 20  # bytes from which the threads pay


class PinnedPages:
    """Allocates and frees pinned memory, whose pages ``in_parallel(function, size)`` touches on several threads."""

    def __init__(self, runtime: ModuleType, in_parallel: Callable[[Callable[[int, int], None], int], None]):
        self._runtime = runtime
        self._in_parallel = in_parallel
        self._regions: dict[int, mmap.mmap] = {}

    def allocate(self, size: int) -> int:
        """Return the address of ``size`` bytes of pinned memory; raise CuPy's error where there is none."""
        if size >= _LARGE:
            try:
                return self._touch_and_pin(size)
            except (self._runtime.CUDARuntimeError, OSError, ValueError):
                pass  # not every system lets a process pin its own pages: the driver may still have some
        return int(self._runtime.hostAlloc(size, 0))

    def free(self, address: int) -> None:
        """Free what ``allocate`` returned."""
        region = self._regions.pop(address, None)
        try:
            if region is None:
                self._runtime.freeHost(address)
            else:
                self._runtime.hostUnregister(address)  # unmapped with the last reference to the region
        except self._runtime.CUDARuntimeError:
            return  # after a failed kernel the driver has let go of everything already

    def _touch_and_pin(self, size: int) -> int:
        region = mmap.mmap(-1, size)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # small pages do too
                region.madvise(mmap.MADV_HUGEPAGE)
        address = ctypes.addressof(ctypes.c_uint8.from_buffer(region))
        cells: NDArray[np.uint8] = np.frombuffer(region, np.uint8)

        def touch(start: int, stop: int) -> None:
            cells[start:stop:_PAGE] = 0

        self._in_parallel(touch, size)
        self._runtime.hostRegister(address, size, 0)
        self._regions[address] = region
        return address


Bytes = NDArray[np.uint8]

CHUNK = 16 << 20
"""Bytes of one of the two buffers that unstaged arrays pass through."""
FILE_CHUNK, FILE_BUFFERS = 16 << 20, 4
"""Bytes of one of the buffers that files pass through, and how many there are: while one is on the bus threads go from
one to the next of the others and do not wait for each other, for to be set going takes a third of a millisecond."""
_SLICE = 2 << 20  # bytes a thread copies at once: large beside its overhead, small beside a chunk
_KEPT_WASTE = 2  # a free block is taken for a request down to this fraction of its size


def as_bytes(array: NDArray[Any]) -> Bytes:
    """Return the bytes of a contiguous array as a flat view."""
    return array.reshape(-1).view(np.uint8)


class ParallelCopy:
    """Copies host memory with several threads; NumPy lets go of the interpreter while it copies."""

    def __init__(self, threads: int | None = None):
        self._threads = threads or min(usable_cores(), 16)
        self._pool: ThreadPoolExecutor | None = None

    def __call__(self, target: Bytes, source: Bytes) -> None:
        """Copy ``source`` over ``target``, both flat and of equal size."""
        self.in_parallel(lambda start, stop: np.copyto(target[start:stop], source[start:stop]), target.size)

    def in_parallel(self, work: Callable[[int, int], None], size: int) -> None:
        """Call ``work(start, stop)`` for pieces of ``range(size)``, each starting at a multiple of a large page."""
        for part in self.begin(work, size):
            part.result()

    def begin(self, work: Callable[[int, int], None], size: int) -> list[Future[None]]:
        """Begin the same, and return what is under way; nothing of work that is not worth another thread, and done."""
        if self._threads == 1 or size <= _SLICE:
            work(0, size)
            return []
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="gpugraph-copy")
        step = _SLICE * max(1, -(-size // (4 * self._threads * _SLICE)))
        return [self._pool.submit(work, at, min(size, at + step)) for at in range(0, size, step)]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class PinnedPool:
    """Pinned memory as NumPy arrays; blocks are kept for reuse, since pinning costs more than copying.

    A pool that nobody closed frees its blocks when it goes: pages that were unmapped while the driver still took them
    for pinned would be in its way once their addresses are used again.
    """

    def __init__(self, allocate: Callable[[int], int], free: Callable[[int], None]):
        self._allocate = allocate
        self._free = free
        self._idle: list[tuple[int, int]] = []  # (size, address)
        self._lent: dict[int, int] = {}  # address: size
        self._closed = False
        weakref.finalize(self, _free_all, self._idle, free).atexit = False

    def take(self, size: int) -> Bytes:
        """Return ``size`` bytes of pinned memory; they come back when the last view of them goes."""
        fitting = [block for block in self._idle if size <= block[0] <= _KEPT_WASTE * max(size, 4096)]
        if fitting:
            capacity, address = min(fitting)
            self._idle.remove((capacity, address))
        else:
            capacity = max(size, 1)
            try:
                address = self._allocate(capacity)
            except Exception:
                if not self._idle:
                    raise
                self.trim()
                address = self._allocate(capacity)
        self._lent[address] = capacity
        owner = (ctypes.c_uint8 * capacity).from_address(address)
        finalizer = weakref.finalize(owner, self._give_back, address)
        finalizer.atexit = False  # the driver is gone by then
        return np.frombuffer(memoryview(owner), np.uint8)[:size]

    def holds(self, array: NDArray[Any]) -> bool:
        """Return whether all of a contiguous array lies in this pool's memory."""
        start = array.ctypes.data
        end = start + array.nbytes
        return any(base <= start and end <= base + size for base, size in self._lent.items())

    def trim(self) -> None:
        """Free the blocks that nobody uses."""
        _free_all(self._idle, self._free)

    def close(self) -> None:
        """Free every block; those still lent as soon as their last view goes."""
        self._closed = True
        self.trim()

    def _give_back(self, address: int) -> None:
        size = self._lent.pop(address)
        if self._closed:
            self._free(address)
        else:
            self._idle.append((size, address))


def _free_all(idle: list[tuple[int, int]], free: Callable[[int], None]) -> None:
    while idle:
        free(idle.pop()[1])


class Transfers:
    """Copies between host and one GPU, in the order of one stream."""

    def __init__(self, runtime: ModuleType, events: Events, stream: Stream):
        self._runtime = runtime
        self._events = events
        self._stream = stream
        self._copy = ParallelCopy()
        pages = PinnedPages(runtime, self._copy.in_parallel)
        self.pool = PinnedPool(pages.allocate, pages.free)
        self._rings: dict[tuple[int, int], list[tuple[Bytes, Event]]] = {}
        self._in_flight: list[tuple[NDArray[Any], Event]] = []

    def stage(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of the array in pinned memory, or the array itself where the system pins no more."""
        array = np.ascontiguousarray(array)
        try:
            pinned = self.pool.take(array.nbytes)
        except self._runtime.CUDARuntimeError:
            return array
        self._copy(pinned, as_bytes(array))
        return pinned.view(array.dtype).reshape(array.shape)

    def pinned(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised array in pinned memory, or in ordinary memory where the system pins no more."""
        kind = np.dtype(dtype)
        try:
            block = self.pool.take(kind.itemsize * math.prod(shape if isinstance(shape, tuple) else (shape,)))
        except self._runtime.CUDARuntimeError:
            return np.empty(shape, kind)
        return block.view(kind).reshape(shape)

    def to_device(self, target: int, array: NDArray[Any]) -> None:
        """Copy a contiguous array to device memory; a pinned one is read after the call returns."""
        if array.nbytes == 0:
            return
        if self.pool.holds(array):
            self._to(target, array.ctypes.data, array.nbytes)
            while self._in_flight and self._in_flight[0][1].done:  # forget the staged arrays whose copies have ended
                self._events.give(self._in_flight.pop(0)[1])
            event = self._events.take()
            event.record(self._stream)
            self._in_flight.append((array, event))  # keeps the block from being lent again before it is read
            return
        source = as_bytes(array)
        for at, buffer, event in self._chunks(source.size):
            event.synchronize()
            part = source[at : at + CHUNK]
            self._copy(buffer[: part.size], part)
            self._to(target + at, buffer.ctypes.data, part.size)
            event.record(self._stream)

    def file_to_device(self, target: int, file: int, offset: int, size: int) -> None:
        """Copy bytes of an open file to device memory, by threads that fill buffers; errors of ``read_exactly``."""
        filling: list[tuple[int, Bytes, Event, list[Future[None]]]] = []

        def send() -> None:
            at, part, event, reads = filling[0]
            for read in reads:
                read.result()
            del filling[0]
            self._to(target + at, part.ctypes.data, part.size)
            event.record(self._stream)

        try:
            for at, buffer, event in self._chunks(size, FILE_CHUNK, FILE_BUFFERS):
                if len(filling) == FILE_BUFFERS - 1:
                    send()
                event.synchronize()
                part = buffer[: min(FILE_CHUNK, size - at)]

                def read(start: int, stop: int, part: Bytes = part, begin: int = offset + at) -> None:
                    read_exactly(file, part[start:stop], begin + start)

                filling.append((at, part, event, self._copy.begin(read, part.size)))
            while filling:
                send()
        finally:  # nobody reads into a buffer that is used again, or into a file that is closed
            for *_, reads in filling:
                wait(reads)

    def to_host(self, array: NDArray[Any], source: int) -> None:
        """Copy device memory over a contiguous array and wait for it."""
        target = as_bytes(array)
        pending: list[tuple[int, Bytes, Event]] = []
        for at, buffer, event in self._chunks(target.size):
            if len(pending) == 2:
                self._drain(target, pending)
            size = min(CHUNK, target.size - at)
            self._runtime.memcpyAsync(buffer.ctypes.data, source + at, size, TO_HOST, self._stream.ptr)
            event.record(self._stream)
            pending.append((at, buffer[:size], event))
        while pending:
            self._drain(target, pending)

    def close(self) -> None:
        """Free the buffers and end the threads; the stream must be idle."""
        self._rings.clear()
        self._in_flight.clear()
        self._copy.close()
        self.pool.close()

    def _drain(self, target: Bytes, pending: list[tuple[int, Bytes, Event]]) -> None:
        at, part, event = pending.pop(0)
        event.synchronize()
        self._copy(target[at : at + part.size], part)

    def _chunks(self, size: int, step: int = CHUNK, buffers: int = 2) -> Iterator[tuple[int, Bytes, Event]]:
        """Yield (offset, buffer, event) for each chunk of ``step`` bytes, some buffers of that size in turns.

        A buffer is pinned when its first turn comes: what is done with those before goes on meanwhile.
        """
        ring = self._rings.setdefault((step, buffers), [])
        for turn, at in enumerate(range(0, size, step)):
            if len(ring) < min(turn + 1, buffers):
                ring.append((self.pool.take(step), self._events.take()))
            yield at, *ring[turn % buffers]

    def _to(self, target: int, source: int, size: int) -> None:
        self._runtime.memcpyAsync(target, source, size, TO_DEVICE, self._stream.ptr)
