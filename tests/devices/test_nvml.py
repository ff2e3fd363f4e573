from __future__ import annotations

import sys

import pytest

import gpugraph.devices.probes as module
from gpugraph.devices.probes import Nvml, driver_version
from gpugraph.errors import DeviceUnavailable
from tests.measure.fakes import FakeNvml


def test_clock_energy_and_reasons_are_read_in_our_units(monkeypatch):
    fake = FakeNvml(clocks=[1410], reasons=[4 | 32 | 1])
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    gpu = Nvml("0000:1B:00.0")
    fake.millijoules = 2500
    assert gpu.sm_clock_mhz() == 1410
    assert gpu.energy_j() == 2.5
    assert gpu.held_down_by() == ("power limit", "temperature")
    assert gpu.describe() == {
        "sm_clock_max_mhz": 2000,
        "memory_clock_max_mhz": 2000,
        "sm_clock_mhz": 1410,
        "memory_clock_mhz": 1410,
        "temperature_c": 41,
        "power_limit_w": 700.0,
    }


def test_what_a_gpu_does_not_tell_is_left_out_or_refused_with_the_reason(monkeypatch):
    silent = (
        "nvmlDeviceGetTotalEnergyConsumption",
        "nvmlDeviceGetTemperature",
        "nvmlDeviceGetCurrentClocksEventReasons",
    )
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(silent=silent))
    gpu = Nvml("0000:1B:00.0")
    assert "temperature_c" not in gpu.describe()
    assert gpu.held_down_by() == ()
    with pytest.raises(DeviceUnavailable, match="not supported"):
        gpu.energy_j()


def test_without_the_package_or_the_library_the_reason_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(DeviceUnavailable, match="nvidia-ml-py is not installed — pip install nvidia-ml-py"):
        Nvml("0000:1B:00.0")
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(silent=("nvmlInit",)))
    with pytest.raises(DeviceUnavailable, match="nvml is not usable"):
        Nvml("0000:1B:00.0")


def test_the_driver_is_named_where_it_is_loaded(monkeypatch, tmp_path):
    told = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build\nGCC version: 12.2\n"
    (tmp_path / "version").write_text(told)
    monkeypatch.setattr(module, "_DRIVER_FILE", tmp_path / "version")
    assert driver_version() == "570.124.06"
    monkeypatch.setattr(module, "_DRIVER_FILE", tmp_path / "none")
    assert driver_version() is None
