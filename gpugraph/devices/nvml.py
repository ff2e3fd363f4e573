"""What NVML tells of a GPU: clocks, why they are held down, energy, driver.

It is asked through ``nvidia-ml-py``, and nothing depends on it: whoever asks gets the figures, or the reason why there
are none.
"""

import contextlib
from pathlib import Path
from typing import Any

from gpugraph.base.errors import DeviceUnavailable

_HELD_DOWN = {4: "power limit", 8: "hardware slowdown", 32: "temperature", 64: "temperature", 128: "power brake"}
"""By NVML's bits."""
_DRIVER_FILE = Path("/proc/driver/nvidia/version")


def _nvml() -> Any:
    """Return the module; raise ImportError where there is none."""
    import pynvml  # 12 ms, for GPUs alone

    return pynvml


class Nvml:
    """One GPU as the management library sees it, by its PCI address, the one name that CUDA and NVML share.

    Raises DeviceUnavailable if the library or the GPU is not there; ``what`` is the reason.
    """

    def __init__(self, bus_id: str):
        try:
            self._library = _nvml()
        except ImportError as error:
            reason = "NVML is not usable: the package nvidia-ml-py is not installed"
            raise DeviceUnavailable(reason, where=bus_id, remedy="pip install nvidia-ml-py") from error
        try:
            self._library.nvmlInit()
            self._handle = self._library.nvmlDeviceGetHandleByPciBusId(bus_id)
        except Exception as error:  # no library of the driver, another GPU, or another package of that name
            raise DeviceUnavailable(f"NVML is not usable: {str(error).lower()}", where=bus_id) from error

    def sm_clock_mhz(self) -> int:
        """Return the multiprocessors' clock right now, in MHz.  Raises DeviceUnavailable if the GPU does not tell."""
        return int(self._ask("nvmlDeviceGetClockInfo", self._library.NVML_CLOCK_SM))

    def held_down_by(self) -> tuple[str, ...]:
        """Return why power or temperature hold the clock down, or nothing, also where the driver does not say."""
        mask = 0
        for name in ("Throttle", "Event"):  # drivers before 535 know the first alone, later packages may the second
            with contextlib.suppress(DeviceUnavailable):
                mask = self._ask(f"nvmlDeviceGetCurrentClocks{name}Reasons")
                break
        return tuple(dict.fromkeys(text for bit, text in _HELD_DOWN.items() if mask & bit))

    def energy_j(self) -> float:
        """Return the joules the GPU has taken since its driver was loaded.  Raises DeviceUnavailable if not counted."""
        return float(self._ask("nvmlDeviceGetTotalEnergyConsumption")) / 1e3

    def uuid(self) -> str:
        """Return the GPU's own id, e.g. ``"GPU-8b5e0e4c-…"``.  Raises DeviceUnavailable if the GPU does not tell."""
        return str(self._ask("nvmlDeviceGetUUID"))

    def describe(self) -> dict[str, Any]:
        """Return driver, clocks in MHz and power limit in watts, as far as the GPU tells them."""
        of = self._library
        asked: dict[str, tuple[str, *tuple[int, ...]]] = {
            "sm_clock_max_mhz": ("nvmlDeviceGetMaxClockInfo", of.NVML_CLOCK_SM),
            "memory_clock_max_mhz": ("nvmlDeviceGetMaxClockInfo", of.NVML_CLOCK_MEM),
            "sm_clock_mhz": ("nvmlDeviceGetClockInfo", of.NVML_CLOCK_SM),
            "memory_clock_mhz": ("nvmlDeviceGetClockInfo", of.NVML_CLOCK_MEM),
            "temperature_c": ("nvmlDeviceGetTemperature", of.NVML_TEMPERATURE_GPU),
            "power_limit_w": ("nvmlDeviceGetEnforcedPowerLimit",),
        }
        figures: dict[str, Any] = {}
        for name, (function, *args) in asked.items():
            with contextlib.suppress(DeviceUnavailable):
                figures[name] = self._ask(function, *args)
        if "power_limit_w" in figures:
            figures["power_limit_w"] /= 1e3
        return figures

    def _ask(self, function: str, *args: int) -> Any:
        """Return what a function tells of the GPU."""
        try:
            return getattr(self._library, function)(self._handle, *args)
        except (AttributeError, self._library.NVMLError) as error:  # old functions are to be taken out of the package
            raise DeviceUnavailable(f"this GPU does not tell it ({str(error).lower()})", where=function) from error


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
