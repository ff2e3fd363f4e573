"""What NVIDIA's management library tells of a GPU: clocks, why they are held down, energy, driver.

The library is reached through the package ``nvidia-ml-py`` where that is installed, and nothing depends on it:
whoever asks gets the figures, or the reason why there are none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpugraph.errors import DeviceUnavailable

INSTALL = "pip install nvidia-ml-py"

_HELD_DOWN = {
    "SwPowerCap": "power limit",
    "HwSlowdown": "hardware slowdown",
    "SwThermalSlowdown": "temperature",
    "HwThermalSlowdown": "temperature",
    "HwPowerBrakeSlowdown": "power brake",
}
_DRIVER_FILE = Path("/proc/driver/nvidia/version")


class Nvml:
    """One GPU as the management library sees it.

    Args:
        bus_id: the GPU's address on the PCI bus, e.g. ``"0000:1B:00.0"``: the one name that CUDA and NVML share.

    Raises:
        DeviceUnavailable: the package, the library or the GPU is not there; ``what`` is the reason.
    """

    def __init__(self, bus_id: str):
        try:
            import pynvml
        except ImportError:
            raise DeviceUnavailable("nvidia-ml-py is not installed", remedy=INSTALL) from None
        self._nvml: Any = pynvml
        try:
            pynvml.nvmlInit()
            self._handle = pynvml.nvmlDeviceGetHandleByPciBusId(bus_id.encode())
        except Exception as error:  # the package's own exceptions, and whatever a broken driver raises
            raise DeviceUnavailable(f"NVML is not usable: {error}".lower(), where=bus_id) from error
        reasons = (
            getattr(pynvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
            or pynvml.nvmlDeviceGetCurrentClocksThrottleReasons
        )
        self._reasons = reasons
        self._bits = {getattr(pynvml, f"nvmlClocksThrottleReason{name}", 0): text for name, text in _HELD_DOWN.items()}

    def sm_clock_mhz(self) -> int:
        """Return the multiprocessors' clock right now, in MHz.

        Raises:
            DeviceUnavailable: the GPU does not tell.
        """
        return int(self._ask("nvmlDeviceGetClockInfo", self._nvml.NVML_CLOCK_SM))

    def held_down_by(self) -> tuple[str, ...]:
        """Return why power or temperature hold the clock down, or nothing; nothing too where it is not told."""
        try:
            mask = int(self._reasons(self._handle))
        except self._nvml.NVMLError:
            return ()
        return tuple(dict.fromkeys(text for bit, text in self._bits.items() if mask & bit))

    def energy_j(self) -> float:
        """Return the energy in joules that the GPU has taken since its driver was loaded; counted in millijoules.

        Raises:
            DeviceUnavailable: the GPU does not count it.
        """
        return float(self._ask("nvmlDeviceGetTotalEnergyConsumption")) / 1e3

    def uuid(self) -> str:
        """Return the GPU's own id, e.g. ``"GPU-8b5e0e4c-…"``.

        Raises:
            DeviceUnavailable: the GPU does not tell.
        """
        told = self._ask("nvmlDeviceGetUUID")
        return told.decode() if isinstance(told, bytes) else str(told)

    def describe(self) -> dict[str, Any]:
        """Return driver, clocks in MHz and power limit in watts, as far as the GPU tells them."""
        nvml = self._nvml
        asked: dict[str, tuple[Any, ...]] = {
            "sm_clock_max_mhz": ("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM),
            "memory_clock_max_mhz": ("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_MEM),
            "sm_clock_mhz": ("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM),
            "memory_clock_mhz": ("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM),
            "temperature_c": ("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU),
            "power_limit_w": ("nvmlDeviceGetEnforcedPowerLimit",),
        }
        figures: dict[str, Any] = {}
        for name, (function, *args) in asked.items():
            try:
                figures[name] = int(self._ask(function, *args))
            except DeviceUnavailable:
                continue
        if "power_limit_w" in figures:
            figures["power_limit_w"] /= 1e3
        return figures

    def _ask(self, function: str, *args: Any) -> Any:
        try:
            return getattr(self._nvml, function)(self._handle, *args)
        except self._nvml.NVMLError as error:
            raise DeviceUnavailable(f"this GPU does not tell it ({error})".lower(), where=function) from error


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
