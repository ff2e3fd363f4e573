"""What NVML tells of a GPU: clocks, why they are held down, energy, driver.

The library comes with the driver, and nothing depends on it: whoever asks gets the figures, or the reason why there are
none.  It is called as it is, for what wraps it takes longer to import than many a graph to be searched.
"""

import contextlib
import ctypes
from pathlib import Path
from typing import Any

from gpugraph.base.errors import DeviceUnavailable

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
