"""An open device with what measuring needs of it: its management library, its copy bandwidth."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError
from gpugraph.devices.base import Device

if TYPE_CHECKING:
    from gpugraph.devices.nvml import Nvml


class OpenDevice:
    """A device as ``select_device`` opened it, the instruments that read it, and a notice."""

    def __init__(self, device: Device, notice: str | None):
        self.device = device
        self.notice = notice

    @cached_property
    def nvml(self) -> Nvml | str:
        """The management library's view of the GPU, or the reason why there is none."""
        if self.device.kind != "cuda":
            return f"the device '{self.device.kind}' has no such counter"
        from gpugraph.devices.nvml import Nvml, bus_id_of

        try:
            return Nvml(bus_id_of(self.device))
        except DeviceUnavailable as reason:
            return f"{reason.what} — {reason.remedy}" if reason.remedy else reason.what
        except Exception as error:  # of a driver that knows no PCI address
            return f"the GPU's PCI address is not known: {error}"

    @cached_property
    def copy_bytes_per_s(self) -> float | str:
        """What a plain copy reaches here, bytes read and written a second, or the reason why it is not measured."""
        if self.device.kind not in ("cuda", "cpu"):
            return f"the copy bandwidth of the device '{self.device.kind}' is not measured"
        from gpugraph.devices import bandwidth

        try:
            if self.device.kind == "cpu":
                return bandwidth.host_copy_bandwidth(self.description["threads"])
            return bandwidth.copy_bandwidth(self.device)
        except GpuGraphError as error:
            return f"the copy bandwidth could not be measured: {error}"

    @cached_property
    def description(self) -> dict[str, Any]:
        """The ``device`` object of a record."""
        return self.device.describe()

    def gpu(self) -> dict[str, object] | None:
        """Return the ``gpu`` object of a record's environment: driver, CUDA, clocks; None without a GPU."""
        if self.device.kind != "cuda":
            return None
        from gpugraph.devices.nvml import driver_version

        clocks = {"absent": self.nvml} if isinstance(self.nvml, str) else self.nvml.describe()
        return {
            "name": self.device.name,
            "driver": driver_version(),
            "driver_cuda": self.description.get("driver_cuda"),
            "runtime_cuda": self.description.get("runtime_cuda"),
            "cupy": self.description.get("cupy"),
            "nvml": clocks,
        }

    def lost(self) -> bool:
        """True where the device cannot be used any more: on a GPU a failed kernel takes the context with it."""
        if self.device.kind != "cuda":
            return False
        try:
            self.device.synchronize()
        except GpuGraphError:
            return True
        return False
