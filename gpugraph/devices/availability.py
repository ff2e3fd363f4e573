"""What of CUDA is there: CuPy, a driver, a GPU of the index asked for."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from gpugraph.devices.cuda_errors import translated
from gpugraph.devices.nvrtc import INSTALL
from gpugraph.errors import DeviceUnavailable


def import_cupy() -> Any:
    """Return the CuPy module.

    Raises:
        DeviceUnavailable: it is not installed, or cannot be imported.
    """
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
        raise DeviceUnavailable(
            f"CuPy cannot be imported: {reason}", remedy=f"have one cupy package only; {INSTALL}"
        ) from None


def gpu_count(cupy: Any) -> int:
    """Return how many GPUs there are, at least 1.

    Raises:
        DeviceUnavailable: the driver is missing or too old, or there is no GPU.
    """
    runtime = cupy.cuda.runtime
    if getattr(runtime, "is_hip", False):
        raise DeviceUnavailable("this CuPy is built for ROCm, the kernels are CUDA", remedy=INSTALL)
    with translated("cuda", "looking for GPUs"):
        count = int(runtime.getDeviceCount())
    if count == 0:
        raise DeviceUnavailable("no NVIDIA GPU was found", where="cuda", remedy="see nvidia-smi")
    return count


def check_index(cupy: Any, index: int) -> None:
    """Check that there is a GPU of that index.

    Raises:
        DeviceUnavailable: there is none.
    """
    count = gpu_count(cupy)
    if not 0 <= index < count:
        there = "the only GPU is cuda:0" if count == 1 else f"the GPUs are cuda:0 to cuda:{count - 1}"
        raise DeviceUnavailable(f"there is no GPU cuda:{index}", remedy=f"{there}; see: gpugraph devices")
