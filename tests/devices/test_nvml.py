from __future__ import annotations

import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.devices import nvml
from gpugraph.devices.nvml import Nvml, driver_version
from tests.measure.fakes import FakeNvml, without_nvml


def test_clock_energy_and_reasons_are_read_in_our_units(monkeypatch):
    fake = FakeNvml(clocks=[1410], reasons=[4 | 32 | 1])
    monkeypatch.setattr(nvml, "_nvml", fake.load)
    gpu = Nvml("0000:1B:00.0")
    fake.millijoules = 2500
    assert gpu.sm_clock_mhz() == 1410
    assert gpu.energy_j() == 2.5
    assert gpu.held_down_by() == ("power limit", "temperature")
    assert gpu.uuid() == "GPU-0"
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
        "nvmlDeviceGetCurrentClocksThrottleReasons",
    )
    monkeypatch.setattr(nvml, "_nvml", FakeNvml(silent=silent).load)
    gpu = Nvml("0000:1B:00.0")
    assert "temperature_c" not in gpu.describe()
    assert gpu.held_down_by() == ()
    with pytest.raises(DeviceUnavailable, match="not supported"):
        gpu.energy_j()


def test_without_the_library_or_where_it_does_not_work_the_reason_is_given(monkeypatch):
    monkeypatch.setattr(nvml, "_nvml", without_nvml)
    with pytest.raises(DeviceUnavailable, match=r"nvidia-ml-py is not installed") as raised:
        Nvml("0000:1B:00.0")
    assert raised.value.remedy == "python -m pip install nvidia-ml-py"
    monkeypatch.setattr(nvml, "_nvml", FakeNvml(silent=("nvmlInit",)).load)
    with pytest.raises(DeviceUnavailable, match=r"nvml is not usable: .*not supported"):
        Nvml("0000:1B:00.0")


def test_the_package_has_what_is_asked_of_it_and_says_that_there_is_no_driver(monkeypatch):
    pynvml = pytest.importorskip("pynvml")
    fake = FakeNvml()
    for constant in ("NVML_CLOCK_SM", "NVML_CLOCK_MEM", "NVML_TEMPERATURE_GPU"):
        assert getattr(pynvml, constant) == getattr(fake, constant)
    for function in FakeNvml.TOLD:
        assert callable(getattr(pynvml, function))
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: (_ for _ in ()).throw(pynvml.NVMLError_LibraryNotFound()))
    with pytest.raises(DeviceUnavailable, match=r"nvml is not usable: .*library not found"):
        Nvml("0000:1B:00.0")


def test_the_driver_is_named_where_it_is_loaded(monkeypatch, tmp_path):
    told = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build\nGCC version: 12.2\n"
    (tmp_path / "version").write_text(told)
    monkeypatch.setattr(nvml, "_DRIVER_FILE", tmp_path / "version")
    assert driver_version() == "570.124.06"
    monkeypatch.setattr(nvml, "_DRIVER_FILE", tmp_path / "none")
    assert driver_version() is None
