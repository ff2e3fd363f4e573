"""The devices of a machine: what each is, and what is missing where one cannot be used."""

from typing import Any

from gpugraph.base.errors import DeviceUnavailable, installable_here
from gpugraph.devices.cpu import CpuDevice
from gpugraph.devices.discovery import check_installed, select_device
from gpugraph.ext.emulator import toolchain


def gpus() -> int:
    """Return how many GPUs there are.  Raises DeviceUnavailable if there is none, or CuPy is missing."""
    from gpugraph.devices.cuda_runtime import gpu_count, import_cupy

    check_installed()
    return int(gpu_count(import_cupy()))


def found_devices() -> list[dict[str, Any]]:
    """Return an object for each device: its ``--device`` name, whether it is usable, and if not why and what to do.

    Every object has ``device``, ``kind``, ``name``, ``usable`` and ``detail``; those of GPUs and the CPU have the
    fields of ``describe()`` too.
    """
    cpu = {**CpuDevice().describe(), "device": "cpu", "usable": True, "detail": None}
    return [*_gpus(), cpu, _emulated()]


def _gpus() -> list[dict[str, Any]]:
    try:
        count = gpus()
    except DeviceUnavailable as missing:
        return [_unusable("cuda", "cuda", missing)]
    found = []
    for index in range(count):
        try:
            device, _ = select_device(f"cuda:{index}")
        except DeviceUnavailable as missing:
            found.append(_unusable(f"cuda:{index}", "cuda", missing))
            continue
        free, _ = device.memory()
        fields = {**device.describe(), "free_bytes": free}
        device.close()
        found.append({**fields, "device": f"cuda:{index}", "usable": True, "detail": None})
    return found


def _unusable(device: str, kind: str, missing: DeviceUnavailable) -> dict[str, Any]:
    """Return the object of ``found_devices`` for a device that cannot be used."""
    return {"device": device, "kind": kind, "name": None, "usable": False, "detail": installable_here(str(missing))}


def _emulated() -> dict[str, Any]:
    try:
        compiler = toolchain.find_compiler()
    except DeviceUnavailable as missing:
        return _unusable("emulated", "emulated", missing)
    return {
        "device": "emulated",
        "kind": "emulated",
        "name": f"SIMT emulator, {compiler.version}",
        "usable": True,
        "detail": "chosen only by name; its times say nothing of a GPU",
    }
