"""The ``cuda`` device: NVIDIA GPUs through CuPy, with kernels, memory and copies under our own control.

CuPy is found at run time and used for what it does well: loading cubins, launching, events.  Kernels are
compiled by ``kernels.py``, memory comes without a pool, and kernels run on one stream of our own that does not
wait for the default one.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, unknown_name
from gpugraph.devices.base import Array, Defines, Launch, Stopwatch, check_copy, covering_grid
from gpugraph.devices.context import begin_context
from gpugraph.devices.cuda_runtime import (
    ON_DEVICE,
    TO_HOST,
    DeviceMemory,
    check_index,
    import_cupy,
    translate,
    translated,
)
from gpugraph.devices.cuda_streams import CudaClock, CudaReply, CudaStopwatch, Events, Interrupts
from gpugraph.devices.kernels import CompiledModule, CudaKernel, architecture_for, compile_kernels
from gpugraph.devices.nvml import Nvml, bus_id_of
from gpugraph.devices.nvrtc import parameter_sizes
from gpugraph.devices.pinned import Transfers, as_bytes
from gpugraph.devices.prebuilt import prebuilt_kernels

_SMALL = 64 << 10  # bytes of the pinned buffer that read-backs and small downloads go through
_FILL_BLOCK = 256
_SORT_SLACK = 16  # a radix sort holds a second list, and counts of digits, well below one such part of it

_FAILED: list[Any] = []
"""What CuPy must not destroy before Python ends: after a failed kernel every call into CUDA fails, and says so."""


class CudaDevice:
    """One NVIDIA GPU, by CUDA's number, from 0; with ``profile`` every phase of ``phase_clock`` is an NVTX range.

    Raises DeviceUnavailable if CuPy, driver, GPU or compiler is missing; the message says which.
    """

    kind = "cuda"
    closed = False

    def __init__(self, index: int = 0, *, profile: bool = False):
        context = begin_context(index)
        self.cupy = import_cupy()
        context.join()
        self.index = index
        self.label = f"cuda:{index}"
        self.profile = profile
        self.last_kernel = "the start"
        check_index(self.cupy, index)
        runtime = self._runtime = self.cupy.cuda.runtime
        with translated(self.label, "opening the GPU"):
            runtime.setDevice(index)
            self.name = runtime.getDeviceProperties(index)["name"].decode()
            self.multiprocessors = self._attribute("MultiProcessorCount")
            self.shared_bytes_per_block = self._attribute("MaxSharedMemoryPerBlockOptin")
            self.capability = int(self.cupy.cuda.Device(index).compute_capability)
            self.stream = self.cupy.cuda.Stream(non_blocking=True)
            self.stream.use()  # what a plugin algorithm does with CuPy itself then runs in the same order
            self._driver_major = int(runtime.driverGetVersion()) // 1000
        self.arch = architecture_for(self.capability)
        self._stream_pointer = int(self.stream.ptr)
        self._memory = DeviceMemory(self.cupy, index, self.label)
        self.events = Events(self.cupy.cuda.Event)
        self._transfers = Transfers(runtime, self.events, self.stream)
        with translated(self.label, "pinning host memory"):
            self._small = self._transfers.pool.take(_SMALL)
        self._small_pointer = int(self._small.ctypes.data)
        with translated(self.label, "making a stream"):
            self.interrupts = Interrupts(self.cupy, self._stream_pointer, self._transfers.pool.take(4))
            self._memory.before_free = self.interrupts.forget
        self.reply = CudaReply(self, self._transfers.pool.take(8))
        self._scalars: dict[Any, NDArray[Any]] = {}
        self.other_streams: list[Any] = []  # which must be idle before memory goes
        self._modules: dict[tuple[Path, bool], tuple[Any, dict[str, tuple[int, ...] | None]]] = {}
        self._kernels: dict[tuple[Any, ...], CudaKernel] = {}

    # ------------------------------------------------------------------ arrays

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return an uninitialised CuPy array, freed when the last reference to it goes."""
        return self._memory.array(shape, dtype)

    def full(self, shape: int | tuple[int, ...], value: ArrayLike, dtype: DTypeLike) -> Array:
        array = self.empty(shape, dtype)
        self.fill(array, value)
        return array

    def fill(self, array: Array, value: ArrayLike) -> None:
        self._contiguous(array)
        if array.size == 0:
            return
        zero = type(value) is int and value == 0  # the usual case, between the launches of a call
        element = None if zero else np.full(1, value, array.dtype)
        pattern = b"\0" if element is None else element.tobytes()
        if element is None or len(set(pattern)) == 1:
            with translated(self.label, "filling an array"):
                self._runtime.memsetAsync(array.data.ptr, pattern[0], array.nbytes, self._stream_pointer)
            return
        bits = element.view(f"u{array.dtype.itemsize}")[0]
        kernel = self.kernel("fill.cu", f"fill_{array.dtype.itemsize}_bytes")
        kernel(covering_grid(self, array.size, _FILL_BLOCK), _FILL_BLOCK, (array, bits, np.int64(array.size)))

    def copy(self, target: Array, source: Array) -> None:
        check_copy(target, source)
        if target.size:
            with translated(self.label, "copying an array"):
                ends = target.data.ptr, source.data.ptr
                self._runtime.memcpyAsync(*ends, source.nbytes, ON_DEVICE, self._stream_pointer)

    def upload_file(self, file: int, offset: int, count: int, dtype: DTypeLike) -> Array:
        """Return (count,) elements of an open file, read by threads into pinned buffers; see ``Device.upload_file``."""
        made = self._memory.array(count, dtype)
        with translated(self.label, "copying to the device"):
            self._transfers.file_to_device(made.data.ptr, file, offset, made.nbytes if count else 0)
        return made

    def sort(self, words: Array) -> None:
        """Put (k,) uint64 into ascending order, in place, by CuPy's radix sort; it works in memory of this device's."""
        self._contiguous(words)
        if words.size:
            self.require(words.nbytes + words.nbytes // _SORT_SLACK + _SMALL)
            with translated(self.label, "sorting"), self._memory.for_cupy(), self.stream:
                self._runtime.setDevice(self.index)
                words.sort()

    def stage(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of the array in pinned memory, from which ``upload`` runs at the speed of the bus.

        The pinned block is reused once the last view of it has gone.
        """
        with translated(self.label, "pinning host memory"):
            self._runtime.setDevice(self.index)
            return self._transfers.stage(array)

    def upload(self, array: NDArray[Any]) -> Array:
        """Return a copy of a host array on the device.

        A staged array is copied asynchronously and must not be changed before the stream has passed the copy;
        any other passes through two pinned buffers and may be changed at once.
        """
        array = np.ascontiguousarray(array)
        made = self._memory.array(array.shape, array.dtype)
        with translated(self.label, "copying to the device"):
            self._transfers.to_device(made.data.ptr, array)
        return made

    def download(self, array: Array) -> NDArray[Any]:
        self._contiguous(array)
        made = np.empty(array.shape, array.dtype)
        if array.size == 0:
            return made
        if array.nbytes <= _SMALL:
            self._fetch((array.data.ptr, array.nbytes, 0))
            as_bytes(made)[:] = self._small[: array.nbytes]
            return made
        with translated(self.label, f"after {self.last_kernel}"):
            self.interrupts.wait()
            self._transfers.to_host(made, array.data.ptr)
        return made

    def download_counted(self, array: Array, count: Array) -> NDArray[Any]:
        if array.nbytes + count.nbytes > _SMALL:
            return self.download(array[: int(self.read(count))])
        self._contiguous(array)
        size = array.nbytes
        self._fetch((array.data.ptr, size, 0), (count.data.ptr, count.nbytes, size))
        listed = int(self._small[size : size + count.nbytes].view(count.dtype)[0])
        found: NDArray[Any] = self._small[:size].view(array.dtype)[:listed].copy()
        return found

    def read(self, array: Array, index: int = 0) -> Any:
        """Return one element, counted through all axes, as a NumPy scalar; waits for the work before it."""
        dtype = array.dtype
        if not 0 <= index < array.size:
            raise GpuGraphError(f"cannot read element {index} of an array of {array.size}", where=self.label)
        self._contiguous(array)
        scalar = self._scalars.get(dtype)
        if scalar is None:
            scalar = self._scalars[dtype] = self._small[: dtype.itemsize].view(dtype)
        self._fetch((array.data.ptr + int(index) * dtype.itemsize, dtype.itemsize, 0))
        return scalar[0]

    def _fetch(self, *parts: tuple[int, int, int]) -> None:
        """Bring (address, bytes, place in the small pinned buffer), with little Python: it runs between launches."""
        runtime, stream = self._runtime, self._stream_pointer
        try:
            for source, size, place in parts:
                runtime.memcpyAsync(self._small_pointer + place, source, size, TO_HOST, stream)
            self.interrupts.wait()
            runtime.streamSynchronize(stream)
        except Exception as error:
            ours = translate(error, device=self.label, doing=f"after {self.last_kernel}")
            if ours is None:
                raise
            raise ours from error

    # ------------------------------------------------------------------ kernels

    def kernel(self, file: str, name: str, defines: Defines | None = None, *, cooperative: bool = False) -> CudaKernel:
        key = (file, name, tuple(sorted((defines or {}).items())), cooperative)
        kernel = self._kernels.get(key)
        if kernel is None:
            compiled = prebuilt_kernels(file, defines, self.arch, self._driver_major)
            compiled = compiled or compile_kernels(file, defines, self.arch)
            if name not in compiled.kernels:
                raise unknown_name(f"kernel in {file}", name, compiled.kernels)
            raw, sizes = self._load(compiled, cooperative)
            with translated(self.label, f"loading {compiled.cubin_path.name}"):
                self._runtime.setDevice(self.index)
                function = raw.get_function(name)
            kernel = CudaKernel(self, name, function, sizes.get(name), cooperative=cooperative)
            self._kernels[key] = kernel
        return kernel

    def _load(self, compiled: CompiledModule, cooperative: bool) -> tuple[Any, dict[str, tuple[int, ...] | None]]:
        """Return CuPy's module of a cubin and its parameters' sizes; cooperative kernels have a module of their own."""
        key = (compiled.cubin_path, cooperative)
        if key not in self._modules:
            raw = self.cupy.RawModule(path=str(compiled.cubin_path), enable_cooperative_groups=cooperative)
            # CuPy keeps every module until the process ends anyway, and after a failed kernel it can only complain
            # about unloading one: so this one is never unloaded.
            with translated(self.label, f"loading {compiled.cubin_path.name}"):
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(raw.module))
            self._modules[key] = raw, parameter_sizes(compiled.cubin_path.read_bytes())
        return self._modules[key]

    def recorded(self, launches: Callable[[], None]) -> Launch:
        with translated(self.label, "recording launches"):
            self.stream.begin_capture()
            try:
                launches()
            finally:
                graph = self.stream.end_capture()
            graph.upload(self.stream)

        def launch() -> None:
            with translated(self.label, "launching a graph"):
                graph.launch(self.stream)

        return launch

    def synchronize(self) -> None:
        with translated(self.label, f"after {self.last_kernel}"):
            self.interrupts.wait()
            self._runtime.streamSynchronize(self._stream_pointer)

    # ------------------------------------------------------------------ pinned memory

    def pinned(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised array in pinned memory, or in ordinary memory where no more can be pinned."""
        with translated(self.label, "pinning host memory"):
            self._runtime.setDevice(self.index)
            return self._transfers.pinned(shape, dtype)

    # ------------------------------------------------------------------ clocks and figures

    def stopwatch(self) -> Stopwatch:
        return CudaStopwatch(self)

    def phase_clock(self) -> Clock:
        """Return a clock that times inner phases by CUDA events; with NVTX ranges where ``profile`` was asked for."""
        nvtx = self.cupy.cuda.nvtx
        return CudaClock(self, nvtx if self.profile and nvtx.available else None)

    def describe(self) -> dict[str, Any]:
        runtime = self._runtime
        return {
            "kind": self.kind,
            "name": self.name,
            "index": self.index,
            "uuid": self._uuid(),
            "compute_capability": f"{self.capability // 10}.{self.capability % 10}",
            "multiprocessors": self.multiprocessors,
            "memory_bytes": self.memory()[1],
            "l2_bytes": self._attribute("L2CacheSize"),
            "clock_khz": self._attribute("ClockRate"),
            "driver_cuda": _version_text(runtime.driverGetVersion()),
            "runtime_cuda": _version_text(runtime.runtimeGetVersion()),
            "cupy": self.cupy.__version__,
        }

    def memory(self) -> tuple[int, int]:
        return self._memory.figures()

    def require(self, needed: int) -> None:
        self._memory.require(needed)

    def reset_peak(self) -> None:
        self._memory.peak = self._memory.allocated

    def peak_bytes(self) -> int:
        return self._memory.peak

    def allocated_bytes(self) -> int:
        """Return the bytes of the arrays that are alive."""
        return self._memory.allocated

    def close(self) -> None:
        """Wait for the GPU, then free every array and buffer; nothing of this device may be used afterwards."""
        self.closed = True
        try:
            self.interrupts.stop()
            for pointer in (self._stream_pointer, *(int(other.ptr) for other in self.other_streams)):
                self._runtime.streamSynchronize(pointer)
        except Exception:  # a kernel failed: whoever waited for it got the error, and freeing goes on
            _FAILED.append((self.stream, self.events, self.other_streams))
        self._kernels.clear()
        self._modules.clear()
        self._scalars.clear()
        self._small = np.empty(0, np.uint8)
        self.interrupts.close()
        self.reply.close()
        self._memory.close()
        self._transfers.close()

    def _uuid(self) -> str | None:
        """Return the GPU's own id as nvidia-smi writes it, or None where nobody tells it."""
        uuid = bytes(self._runtime.getDeviceProperties(self.index).get("uuid", b""))[:16]
        if len(uuid) == 16:
            return f"GPU-{UUID(bytes=uuid)}"
        try:  # CuPy ends it at a byte that is 0
            return Nvml(bus_id_of(self)).uuid()
        except DeviceUnavailable:
            return None

    def _attribute(self, name: str) -> int:
        runtime = self._runtime
        return int(runtime.deviceGetAttribute(getattr(runtime, f"cudaDevAttr{name}"), self.index))

    def _contiguous(self, array: Array) -> None:
        if not array.flags.c_contiguous:
            raise GpuGraphError("the array is not contiguous", where=self.label, remedy="pass a contiguous slice")


def _version_text(number: int) -> str:
    """Return CUDA's version number as text: 13000 is 13.0."""
    return f"{number // 1000}.{number % 1000 // 10}"
