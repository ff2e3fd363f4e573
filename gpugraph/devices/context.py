"""A GPU's context, begun before whatever will ask for it is imported: the driver takes a third of a second for it."""

from __future__ import annotations

import ctypes
import threading

_BEGUN: dict[int, threading.Thread] = {}


def begin_context(index: int) -> threading.Thread:
    """Let the driver make a GPU's context, which CuPy takes over, while this thread goes on; return what is under way.

    What fails here fails again, and is told, when CuPy asks for the same context.  A process in which it was begun must
    not be forked: CUDA would be of no use to the child.
    """

    def make() -> None:
        try:
            driver = ctypes.CDLL("libcuda.so.1")
            device, context = ctypes.c_int(), ctypes.c_void_p()
            if driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(device), index) == 0:
                driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        except (OSError, AttributeError):
            return

    if index not in _BEGUN:
        _BEGUN[index] = threading.Thread(target=make, name="gpugraph-context", daemon=True)
        _BEGUN[index].start()
    return _BEGUN[index]
