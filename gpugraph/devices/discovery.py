"""Find devices: open the one a user names."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from gpugraph.base.errors import DeviceUnavailable, InputError, unknown_name

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.devices.cpu import CpuDevice
    from gpugraph.devices.cuda import CudaDevice

KINDS = ("auto", "cuda", "cpu", "emulated")

EMULATOR = "gpugraph.ext.emulator.device"
"""The module of the device ``emulated``, whose ``EmulatedDevice`` opens it; imported when it is named."""


def select_device(text: str = "auto", *, profile: bool = False) -> tuple[Any, str | None]:
    """Open a device, which the caller closes; return it, and a line for the user where ``auto`` found no GPU.

    Args:
        text: ``auto`` (a usable GPU, else the CPU), ``cuda``, ``cuda:1``, ``cpu``, ``emulated`` or ``emulated:SEED``;
            ``/N`` after it, as in ``cuda:0/33``, makes grids as large as on a GPU of N multiprocessors, and ``cpu/N``
            gives an algorithm N threads.
        profile: wrap phases in NVTX ranges, on ``cuda``.

    Raises:
        InputError: ``text`` names no device.
        DeviceUnavailable: it cannot be used; the message says what is missing and what to install.
    """
    kind, number = parse_device(text)
    if kind == "cpu":
        return _cpu(int(text.partition("/")[2] or 0) or None), None
    if kind == "emulated":
        return _limited(importlib.import_module(EMULATOR).EmulatedDevice(seed=number), text), None
    if kind == "cuda":
        return _limited(_cuda(number, profile), text), None
    try:
        return _cuda(0, profile), None
    except DeviceUnavailable as missing:
        return _cpu(), f"no usable GPU: {missing.what}; running on the CPU"


def _limited(device: Device, text: str) -> Device:
    """Set how many multiprocessors grids are made for, where the name says it; InputError if there are fewer."""
    _, slash, asked = text.partition("/")
    if slash and int(asked) > device.multiprocessors:
        has = device.multiprocessors
        device.close()
        what = f"the device has {has} multiprocessors"
        raise InputError(what, where=f"--device {text}", remedy=f"ask for 1 to {has}")
    if slash:
        device.multiprocessors = int(asked)
    return device


def expect_device(text: str) -> bool:
    """Let the driver begin with the GPU that ``select_device`` is going to open; tell whether it is to be one."""
    kind, number = parse_device(text)
    if kind not in ("auto", "cuda"):
        return False
    with contextlib.suppress(DeviceUnavailable):  # ``select_device`` will say so
        check_installed()
        from gpugraph.devices.context import begin_context

        begin_context(number)
        return True
    return False


def parse_device(text: str) -> tuple[str, int]:
    """Return (kind, GPU index or emulated device's seed, 0 if not given).  Raises InputError on no device."""
    if "*" in text or "," in text or text.strip().lower().endswith(":all"):
        remedy = "name one; to compare devices write --algo NAME@DEVICE, to share one graph gpugraph mst --device cpu*4"
        raise InputError("several devices cannot be opened by one process", where=f"--device {text}", remedy=remedy)
    name, slash, limit = text.strip().lower().partition("/")
    kind, colon, rest = name.partition(":")
    if kind not in KINDS:
        raise unknown_name("device", text, KINDS)
    is_count = limit.isascii() and limit.isdigit() and len(limit) < 10 and int(limit) > 0
    if slash and (kind == "auto" or not is_count):
        remedy = "write a number of multiprocessors after cuda or emulated, of threads after cpu: cuda:0/33, cpu/1"
        raise InputError(f"'/{limit}' is no part of a device", where=f"--device {text}", remedy=remedy)
    if not colon:
        return kind, 0
    if kind in ("auto", "cpu"):
        raise InputError(f"device '{kind}' takes no number", where=f"--device {text}", remedy=f"write --device {kind}")
    if not (rest.isascii() and rest.isdigit()) or int(rest) >= 2**63:
        what = "the index of a GPU" if kind == "cuda" else "a seed"
        raise InputError(f"'{rest}' is not {what}", where=f"--device {text}", remedy=f"write --device {kind}:0")
    return kind, int(rest)


def check_installed() -> None:
    """Say in a moment that CuPy is not installed, without importing anything for it."""
    from gpugraph.devices.nvrtc import INSTALL

    try:
        found = importlib.util.find_spec("cupy") is not None
    except (ImportError, ValueError):
        found = True  # something odd is there: the import tells
    if not found:
        if not _has_driver():
            remedy = f"take --device cpu; with a GPU, install NVIDIA's driver, then {INSTALL}"
            raise DeviceUnavailable("no NVIDIA driver found", remedy=remedy)
        raise DeviceUnavailable("CuPy is not installed", remedy=INSTALL)


def _has_driver() -> bool:
    try:
        return bool(ctypes.CDLL("libcuda.so.1"))
    except OSError:
        return False


def _cuda(index: int, profile: bool) -> CudaDevice:
    check_installed()
    from gpugraph.devices.cuda import CudaDevice

    return CudaDevice(index, profile=profile)


def _cpu(threads: int | None = None) -> CpuDevice:
    from gpugraph.devices.cpu import CpuDevice

    return CpuDevice(threads)
