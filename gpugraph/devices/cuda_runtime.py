"""CUDA's runtime: whether CuPy, a driver and a GPU are there, its errors in words, and its memory counted."""

import importlib
import math
import warnings
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, OutOfMemory
from gpugraph.base.quantities import exactly
from gpugraph.devices.base import Array
from gpugraph.devices.nvrtc import INSTALL

TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3  # cudaMemcpyKind
_OUT_OF_MEMORY = 2  # the same number in the runtime's and in the driver's list
_STALE = "remove the cache of compiled code ($GPUGRAPH_CACHE_DIR or ~/.cache/gpugraph) and try again"
_UNAVAILABLE = {
    3: ("CUDA could not be initialised", "check that nvidia-smi works in this shell"),
    34: ("the CUDA driver library is a stub", "install the NVIDIA driver, or take the stub off LD_LIBRARY_PATH"),
    35: (
        "the NVIDIA driver is missing, or older than CuPy's CUDA",
        "install or update the driver (nvidia-smi shows it), or use 'gpugraph[cuda12]' with an older one",
    ),
    46: ("the GPU is busy or prohibited", "another process has it to itself: see nvidia-smi"),
    100: ("no NVIDIA GPU was found", "see nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"),
    101: ("there is no GPU of that index", "see them with: gpugraph devices"),
    209: ("the kernels were not compiled for this GPU", _STALE),
    802: ("the GPUs of this machine are not ready (fabric manager)", "start nvidia-fabricmanager"),
    803: ("driver and CUDA library do not match", "restart after the driver's update"),
    804: ("this driver does not support forward compatibility", "update the driver"),
    999: ("CUDA failed for an unknown reason", "check that nvidia-smi works in this shell"),
}
_MEMORY_FAULT = "run it with --device emulated, which names the line, or under compute-sanitizer"
_FAILED = {
    1: ("CUDA refused an argument", "run with --debug and report it"),
    98: ("a kernel is not in its module", _STALE),
    500: ("a kernel is not in its module", _STALE),
    700: ("a kernel read or wrote outside its arrays", _MEMORY_FAULT),
    701: ("a kernel asks for more registers or shared memory than a block may have", "choose a smaller block"),
    702: ("a kernel ran longer than this GPU's display allows", "use a GPU without a display, or a smaller graph"),
    710: ("a kernel stopped at a failed assertion", _MEMORY_FAULT),
    715: ("a kernel hit an illegal instruction", _STALE),
    716: ("a kernel made a misaligned access", _MEMORY_FAULT),
    719: ("a kernel failed while it ran", _MEMORY_FAULT),
    720: ("a cooperative launch is larger than what is resident", "ask Kernel.resident_blocks() for the grid"),
}


def translate(error: BaseException, *, device: str, doing: str) -> GpuGraphError | None:
    """Return our error for one of CuPy's, raised in e.g. ``"after boruvka_find_min"``; None if it is none of CUDA's."""
    if isinstance(error, GpuGraphError):
        return None
    status = getattr(error, "status", None)
    kind = type(error).__name__
    said = str(error).split("\n", 1)[0]
    where = f"{device} ({doing})"
    if kind == "OutOfMemoryError" or (kind.startswith("CUDA") and status == _OUT_OF_MEMORY):
        return OutOfMemory(said, where=where, remedy="use a smaller graph, or a device with more memory")
    if isinstance(error, RuntimeError) and "libcuda" in said:
        return DeviceUnavailable("the NVIDIA driver is missing", where=where, remedy=_UNAVAILABLE[35][1])
    if not kind.startswith("CUDA") or not isinstance(status, int):
        return None
    if status in _UNAVAILABLE:
        what, remedy = _UNAVAILABLE[status]
        return DeviceUnavailable(f"{what} [{said}]", where=where, remedy=remedy)
    what, remedy = _FAILED.get(status, ("CUDA failed", "run with --debug and report it"))
    return GpuGraphError(f"{what} [{said}]", where=where, remedy=remedy)


class translated:  # noqa: N801  # read as a function; a generator would cost each wait and copy a microsecond more
    """Turn CUDA's errors raised inside into ours; the arguments are those of ``translate``."""

    __slots__ = ("_device", "_doing")

    def __init__(self, device: str, doing: str):
        self._device, self._doing = device, doing

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            ours = translate(error, device=self._device, doing=self._doing)
            if ours is not None:
                raise ours from error


def does_not_fit(needed: int, free: int, total: int, device: str) -> OutOfMemory:
    """Return the error for work that needs more memory of a GPU than is free."""
    what = f"needs {exactly(needed)} of device memory, {exactly(free)} of {exactly(total)} are free"
    remedy = "use a smaller graph, free the device of other work, or use --device cpu"
    return OutOfMemory(what, where=device, remedy=remedy)


def import_cupy() -> ModuleType:
    """Return the CuPy module.  Raises DeviceUnavailable if it is not installed, or cannot be imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CuPy warns of toolkit parts that we do not use
            return importlib.import_module("cupy")
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            raise DeviceUnavailable(f"CuPy cannot be imported: {error}", remedy=INSTALL) from None
        raise DeviceUnavailable("CuPy is not installed", remedy=INSTALL) from None
    except Exception as error:  # a broken installation may raise anything
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        remedy = f"have one cupy package only; {INSTALL}"
        raise DeviceUnavailable(f"CuPy cannot be imported: {reason}", remedy=remedy) from None


def gpu_count(cupy: ModuleType) -> int:
    """Return how many GPUs there are.  Raises DeviceUnavailable if there is none, or no driver that is new enough."""
    runtime = cupy.cuda.runtime
    if getattr(runtime, "is_hip", False):
        raise DeviceUnavailable("this CuPy is built for ROCm, the kernels are CUDA", remedy=INSTALL)
    with translated("cuda", "looking for GPUs"):
        count = int(runtime.getDeviceCount())
    if count == 0:
        raise DeviceUnavailable("no NVIDIA GPU was found", where="cuda", remedy="see nvidia-smi")
    return count


def check_index(cupy: ModuleType, index: int) -> None:
    """Check that there is a GPU of that index.  Raises DeviceUnavailable if there is none."""
    count = gpu_count(cupy)
    if not 0 <= index < count:
        there = "the only GPU is cuda:0" if count == 1 else f"the GPUs are cuda:0 to cuda:{count - 1}"
        raise DeviceUnavailable(f"there is no GPU cuda:{index}", remedy=f"{there}; see: gpugraph devices")


# ------------------------------------------------------------------ memory that is counted
# CuPy's pool is not used: freed bytes go back to the driver at once, so that the figures are those of the
# arrays alive and a memory checker sees every array's bounds.


class _Allocation:
    """Owns one allocation and frees it when the last array on it goes."""

    __slots__ = ("__weakref__", "memory", "pointer", "size")

    def __init__(self, memory: "DeviceMemory", pointer: int, size: int):
        self.memory = memory
        self.pointer = pointer
        self.size = size

    def free(self) -> None:
        pointer, self.pointer = self.pointer, 0
        if pointer:
            self.memory.release(pointer, self.size)

    def __del__(self) -> None:
        self.free()


class DeviceMemory:
    """Allocates arrays on one GPU and counts their bytes."""

    def __init__(self, cupy: ModuleType, index: int, device: str):
        self._cupy = cupy
        self._runtime = cupy.cuda.runtime
        self._index = index
        self._device = device
        self._live: weakref.WeakSet[_Allocation] = weakref.WeakSet()
        self.allocated = 0
        self.peak = 0
        self.before_free: Callable[[int, int], None] = lambda pointer, size: None

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return an uninitialised CuPy array, its pointer valid even without elements.  Raises OutOfMemory."""
        shape = (shape,) if isinstance(shape, int) else tuple(map(int, shape))
        size = max(1, math.prod(shape) * np.dtype(dtype).itemsize)
        return self._cupy.ndarray(shape, np.dtype(dtype), self._block(size))

    def for_cupy(self) -> Any:
        """Return a context in which CuPy's own functions take their memory from here too."""
        return self._cupy.cuda.using_allocator(lambda size: self._block(max(1, int(size))))

    def _block(self, size: int) -> Any:
        """Return CuPy's pointer to fresh memory, freed when the last reference to it goes."""
        runtime = self._runtime
        with translated(self._device, f"allocating {size:,} bytes"):
            runtime.setDevice(self._index)
            try:
                pointer = runtime.malloc(size)
            except runtime.CUDARuntimeError as error:
                if error.status != 2:
                    raise
                raise does_not_fit(size, *self.figures(), self._device) from None
        owner = _Allocation(self, pointer, size)
        self._live.add(owner)
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        memory = self._cupy.cuda.memory
        return memory.MemoryPointer(memory.UnownedMemory(pointer, size, owner, self._index), 0)

    def release(self, pointer: int, size: int) -> None:
        """Give memory back to the driver, told to ``before_free``; called by the allocations themselves."""
        self.allocated -= size
        self.before_free(pointer, size)
        try:
            self._runtime.free(pointer)
        except Exception:  # after a failed kernel, or while Python ends, the driver has freed everything already
            return

    def figures(self) -> tuple[int, int]:
        """Return (free, total) bytes of the GPU's memory."""
        with translated(self._device, "asking for its memory"):
            self._runtime.setDevice(self._index)
            free, total = self._runtime.memGetInfo()
        return int(free), int(total)

    def require(self, needed: int) -> None:
        """Raise OutOfMemory with both figures unless ``needed`` more bytes are free."""
        free, total = self.figures()
        if needed > free:
            raise does_not_fit(needed, free, total, self._device)

    def close(self) -> None:
        """Free every array that is still alive; they must not be used afterwards."""
        for allocation in list(self._live):
            allocation.free()
