"""Kernels may include the toolkit's headers that most files begin with, though no toolkit is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.devices.kernel_source import load_source
from gpugraph.devices.kernels import compile_kernels
from gpugraph.devices.nvrtc import compiler
from gpugraph.ext.emulator.device import EmulatedDevice
from tests.emulator.compiler import needs_compiler

FILE = str(Path(__file__).with_suffix("").parent / "toolkit_headers.cu")


@needs_compiler
def test_a_kernel_with_the_toolkits_headers_runs_on_the_emulated_device() -> None:
    device = EmulatedDevice(seed=3)
    values = np.arange(100, dtype=np.uint32)
    sums = device.full(4, 0, np.uint32)
    device.kernel(FILE, "sums_of_warps")(2, 64, (np.int32(100), device.upload(values), sums))
    expected = np.add.reduceat(values, [0, 32, 64, 96])
    assert device.download(sums).tolist() == expected.tolist()
    device.close()


def test_the_toolkits_headers_are_left_out_of_what_is_compiled() -> None:
    text = load_source(FILE).text
    assert "cuda_runtime.h" not in text
    assert "namespace cooperative_groups" in text


def test_a_kernel_with_the_toolkits_headers_compiles_by_nvrtc() -> None:
    try:
        compiler()
    except DeviceUnavailable:
        pytest.skip("NVRTC is missing")
    assert list(compile_kernels(FILE, {}, "sm_90").kernels) == ["sums_of_warps"]
