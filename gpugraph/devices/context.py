"""A GPU's context: begun before whatever will ask for it is imported, and ended before the command's phase timer ends.

The driver takes a third of a second to make one, and a tenth to take it apart.
"""

import contextlib
import ctypes
import gc
import os
import threading

_BEGUN: dict[int, threading.Thread] = {}
_KEPT: list[object] = []
_FILES = "/proc/self/fd"


def begin_context(index: int) -> threading.Thread:
    """Let the driver make a GPU's context, which CuPy takes over, while this thread goes on; return what is under way.

    What fails here fails again, and is reported, when CuPy asks for the same context.  A process in which it was begun
    must not be forked: CUDA would be of no use to the child.
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


def end_contexts(keep: object) -> None:
    """Give back the contexts that were begun here, and then the files by which the driver holds the GPU.

    The driver would do so once the process has ended, where no timer sees it.  This process can ask nothing of CUDA
    afterwards, not even that an event be destroyed; so ``keep``, which may hold some, dies no more.
    """
    if not _BEGUN:
        return
    gc.disable()
    _KEPT.append(keep)
    for index, begun in _BEGUN.items():
        begun.join()
        with contextlib.suppress(OSError, AttributeError):  # there is no driver
            driver, device = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
            if driver.cuDeviceGet(ctypes.byref(device), index) == 0:
                driver.cuDevicePrimaryCtxReset_v2(device)
    for number in os.listdir(_FILES) if os.path.isdir(_FILES) else ():
        with contextlib.suppress(OSError):  # closed by now, as is the list of them
            if os.readlink(f"{_FILES}/{number}").startswith("/dev/nvidia"):
                os.close(int(number))
