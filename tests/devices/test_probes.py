from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import GpuGraphError, OutOfMemory
from gpugraph.devices import bandwidth
from gpugraph.devices.discovery import select_device
from gpugraph.ext.machine import probes


@pytest.fixture
def device() -> Any:
    return select_device("emulated:3")[0]


def test_the_emulated_device_runs_the_probes_and_reports_no_figure(device: Any) -> None:
    found = probes.run_probes(device)
    assert found.kernel_runs
    figures = {k: v for k, v in dataclasses.asdict(found).items() if k not in ("device", "name", "kernel_runs")}
    assert set(figures.values()) == {None}
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.copy = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("size", [16, 4096, 16 * 1001])
def test_the_bandwidth_kernels_copy_and_read_all_of_any_size(device: Any, size: int) -> None:
    probes.check_bandwidth_kernels(device, size)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
def test_the_fill_kernels_write_every_element_and_no_other(device: Any, dtype: type) -> None:
    array = device.upload(np.arange(1000).astype(dtype))
    kernel = device.kernel("fill.cu", f"fill_{np.dtype(dtype).itemsize}_bytes")
    kernel(3, 32, (array, np.dtype(dtype).type(51234), np.int64(990)))
    assert device.download(array).tolist() == [51234] * 990 + list(range(990, 1000))


def test_a_wrong_result_of_a_probe_is_reported(device: Any) -> None:
    class Faulty:
        name, read = "faulty", staticmethod(lambda array: np.uint32(13))

        def __getattr__(self, name: str) -> Any:
            return getattr(device, name)

    with pytest.raises(GpuGraphError, match="faulty: probe_add_one gave 13, not 42"):
        probes.check_kernel(Faulty())  # type: ignore[arg-type]


def test_the_hosts_memory_is_copied_by_any_number_of_threads_and_never_within_a_cache(monkeypatch: Any) -> None:
    monkeypatch.setattr(bandwidth, "_BEYOND_CACHES", 1 << 10)
    assert bandwidth.host_copy_bandwidth(3, array_bytes=1 << 16) > 0
    monkeypatch.setattr(bandwidth, "available_memory", lambda: 1 << 11)
    with pytest.raises(OutOfMemory, match="too few to see past the caches"):
        bandwidth.host_copy_bandwidth(3)
