"""As much of CuPy as the cuda device uses, on the host's memory, so that the device can be tested without a GPU.

Kernels are recorded, not run, but for the fill kernels.  Copies take effect at once.  Events are ordered as the calls
that record them: 2 ms lie between any two, or what passes meanwhile on the scripted clock ``now_ms``.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Callable, Iterator
from ctypes import c_void_p
from itertools import count, takewhile
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int, text: str = "cudaErrorFake"):
        super().__init__(f"{text}: something")
        self.status = status


class FakeArray:
    def __init__(self, shape: Any, dtype: Any, memptr: Any = None, host: Any = None):
        self.memptr = memptr
        if host is None:
            size = math.prod(shape) * np.dtype(dtype).itemsize
            buffer = (ctypes.c_uint8 * size).from_address(memptr.ptr)
            host = np.frombuffer(memoryview(buffer), np.uint8).view(dtype).reshape(shape)
        self.host = host
        self.dtype, self.shape, self.size, self.nbytes = host.dtype, host.shape, host.size, host.nbytes
        self.flags = host.flags
        self.data = SimpleNamespace(ptr=host.ctypes.data)

    def __getitem__(self, key: Any) -> FakeArray:
        return FakeArray(None, None, self.memptr, self.host[key])

    def sort(self) -> None:
        room = FakeCupy.allocator(self.nbytes)
        assert FakeStream.entered, "CuPy sorts on the current stream"
        FakeCupy.sorted_in.append(room.ptr)
        self.host.sort()


class FakeStream:
    ptr = 77
    entered: ClassVar[list[FakeStream]] = []

    def __init__(self, cupy: FakeCupy):
        self.synchronize, self.wait_event = cupy._synchronize, cupy.waits.append
        self.captured: list[str] = []

    def begin_capture(self) -> None:
        self.captured.append("begin")

    def end_capture(self) -> Any:
        """Return a graph that notes what is done with it."""
        self.captured.append("end")
        note = self.captured.append
        return SimpleNamespace(upload=lambda stream: note("upload"), launch=lambda stream: note("launch"))

    def use(self) -> None:
        pass

    def __enter__(self) -> None:
        self.entered.append(self)

    def __exit__(self, *_: object) -> None:
        self.entered.pop()


@contextlib.contextmanager
def using_allocator(allocator: Any) -> Iterator[None]:
    FakeCupy.allocator = staticmethod(allocator)
    try:
        yield
    finally:
        FakeCupy.allocator = None


class FakeFunction:
    def __init__(self, cupy: FakeCupy, name: str):
        self.cupy, self.name, self.ptr = cupy, name, len(cupy.functions)
        cupy.functions.append(name)

    def __call__(self, grid: Any, block: Any, args: Any, shared: int, stream: Any, cooperative: bool) -> None:
        if self.cupy.launch_error is not None:
            raise self.cupy.launch_error
        self.cupy.launches.append((self.name, grid, block, len(args), shared, cooperative))
        if self.name.startswith("fill_"):
            array, value, count = args
            array.host.reshape(-1)[:count].view(value.dtype)[:] = value


class FakeEvent:
    """An event: ``at`` is the number of the call that recorded it last, and when that was; None before any did."""

    done = True

    def __init__(self, cupy: FakeCupy):
        self.at: tuple[int, float] | None = None
        self._cupy = cupy

    def record(self, stream: Any) -> None:
        self._cupy.recorded += 1
        self.at = self._cupy.recorded, self._cupy.now_ms() if self._cupy.now_ms else 0.0

    def synchronize(self) -> None:
        self._cupy._synchronize(0)


class FakeCupy:
    """Stands for the module ``cupy``; put it into ``sys.modules`` under that name."""

    __version__ = "0.fake"
    allocator: Any = None
    sorted_in: ClassVar[list[int]] = []

    def __init__(self, gpus: int = 1, free_bytes: int = 1 << 30, status: int = 0):
        self.ndarray = FakeArray
        self.launches: list[tuple[Any, ...]] = []
        self.launched_with: list[tuple[bytes, ...]] = []  # by the driver's own launches: 8 bytes for each argument
        self.functions: list[str] = []
        self.context = 1
        self.launch_error: Exception | None = None
        self.sync_error: Exception | None = None
        self.modules: list[tuple[str, bool]] = []
        self.live: dict[int, Any] = {}
        self.pinned: dict[int, Any] = {}
        self.pin_limit = 1 << 40
        self.registering_refused = False
        self.free_bytes, self.gpus, self.status = free_bytes, gpus, status
        self.recorded = 0
        self.now_ms: Callable[[], float] | None = None
        self.marks: list[str] = []
        self.waits: list[Any] = []
        self.busy: list[Any] = []  # what the next queries of a stream are answered by
        runtime = SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            is_hip=False,
            getDeviceCount=self._count,
            setDevice=lambda index: setattr(self, "context", 1),
            getDeviceProperties=lambda index: {"name": b"Fake H200", "uuid": bytes(range(16))},
            deviceGetAttribute=lambda attribute, index: attribute,
            cudaDevAttrMultiProcessorCount=132,
            cudaDevAttrMaxSharedMemoryPerBlockOptin=227 << 10,
            cudaDevAttrL2CacheSize=60 << 20,
            cudaDevAttrClockRate=1980000,
            driverGetVersion=lambda: 13000,
            runtimeGetVersion=lambda: 12090,
            malloc=self._malloc,
            free=lambda pointer: self.live.pop(pointer),
            memGetInfo=lambda: (self.free_bytes, 2 << 30),
            hostAlloc=self._host_alloc,
            freeHost=lambda pointer: self.pinned.pop(pointer),
            hostRegister=self._host_register,
            hostUnregister=lambda pointer: self.pinned.pop(pointer),
            memcpyAsync=lambda to, source, size, kind, stream: ctypes.memmove(to, source, size),
            memsetAsync=lambda pointer, value, size, stream: ctypes.memset(pointer, value, size),
            streamSynchronize=self._synchronize,
            streamQuery=lambda stream: self.busy.pop(0)() if self.busy else 0,
        )
        memory = SimpleNamespace(
            UnownedMemory=lambda pointer, size, owner, index: SimpleNamespace(ptr=pointer, owner=owner),
            MemoryPointer=lambda block, offset: SimpleNamespace(ptr=block.ptr + offset, block=block),
        )
        self.cuda = SimpleNamespace(
            runtime=runtime,
            memory=memory,
            driver=SimpleNamespace(
                occupancyMaxActiveBlocksPerMultiprocessor=lambda function, block, shared: 2,
                ctxGetCurrent=lambda: self.context,
                launchKernel=lambda *what: self._launch(False, *what[:-1]),
                launchCooperativeKernel=lambda *what: self._launch(True, *what),
            ),
            Device=lambda index: SimpleNamespace(compute_capability="90"),
            Stream=lambda non_blocking: FakeStream(self),
            using_allocator=using_allocator,
            Event=lambda disable_timing=False: FakeEvent(self),
            get_elapsed_time=self._elapsed_ms,
            nvtx=SimpleNamespace(
                available=True, RangePush=self.marks.append, RangePop=lambda: self.marks.append("pop")
            ),
        )

    def RawModule(self, path: str, enable_cooperative_groups: bool) -> Any:
        self.modules.append((path, enable_cooperative_groups))

        def get_function(name: str) -> Any:
            return SimpleNamespace(
                kernel=FakeFunction(self, name), max_threads_per_block=1024, max_dynamic_shared_size_bytes=48 << 10
            )

        return SimpleNamespace(get_function=get_function, module=SimpleNamespace(path=path))

    def _elapsed_ms(self, start: FakeEvent, stop: FakeEvent) -> float:
        if start.at is None or stop.at is None:
            raise CUDARuntimeError(400, "cudaErrorInvalidResourceHandle")
        assert start.at < stop.at, "the region ends before it begins"
        return stop.at[1] - start.at[1] if self.now_ms else 2.0

    def _launch(self, cooperative: bool, function: int, *what: int) -> None:
        assert self.context, "the driver wants a context"
        if self.launch_error is not None:
            raise self.launch_error
        grid, _, _, block, _, _, shared, _, parameters = what
        pointers = takewhile(bool, (c_void_p.from_address(parameters + at).value for at in count(0, 8)))
        values = tuple(ctypes.string_at(pointer, 8) for pointer in pointers)
        self.launches.append((self.functions[function], (grid,), (block,), len(values), shared, cooperative))
        self.launched_with.append(values)

    def _count(self) -> int:
        if self.status:
            raise CUDARuntimeError(self.status)
        return self.gpus

    def _malloc(self, size: int) -> int:
        if size > self.free_bytes:
            raise CUDARuntimeError(2, "cudaErrorMemoryAllocation")
        block = (ctypes.c_uint8 * size)()
        self.live[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def _host_alloc(self, size: int, flags: int) -> int:
        if size > self.pin_limit:
            raise CUDARuntimeError(2, "cudaErrorMemoryAllocation")
        block = (ctypes.c_uint8 * size)()
        self.pinned[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def _host_register(self, pointer: int, size: int, flags: int) -> None:
        if size > self.pin_limit or self.registering_refused:
            raise CUDARuntimeError(801, "cudaErrorNotSupported")
        self.pinned[pointer] = size

    def _synchronize(self, stream: int) -> None:
        if self.sync_error is not None:
            raise self.sync_error
