from __future__ import annotations

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.devices import nvml
from gpugraph.devices.nvml import Nvml, driver_version
from tests.measure.fakes import FakeNvml, without_nvml

EVENTS = "nvmlDeviceGetCurrentClocksEventReasons"


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
        "nvmlDeviceGetCurrentClocksEventReasons",
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
    assert raised.value.remedy == "pip install nvidia-ml-py"
    monkeypatch.setattr(nvml, "_nvml", FakeNvml(silent=("nvmlInit",)).load)
    with pytest.raises(DeviceUnavailable, match=r"NVML is not usable: not supported"):
        Nvml("0000:1B:00.0")


def test_the_package_has_what_is_asked_of_it_and_says_that_there_is_no_driver(monkeypatch):
    pynvml = pytest.importorskip("pynvml")
    fake = FakeNvml()
    for constant in ("NVML_CLOCK_SM", "NVML_CLOCK_MEM", "NVML_TEMPERATURE_GPU"):
        assert getattr(pynvml, constant) == getattr(fake, constant)
    for function in FakeNvml.TOLD:
        assert callable(getattr(pynvml, function))
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: (_ for _ in ()).throw(pynvml.NVMLError_LibraryNotFound()))
    with pytest.raises(DeviceUnavailable, match=r"NVML is not usable: .*library not found"):
        Nvml("0000:1B:00.0")


def test_functions_that_a_later_package_lacks_are_refused_or_have_their_new_name(monkeypatch):
    fake = FakeNvml(reasons=[8])
    removed = ("nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetTemperature")
    lacking = SimpleNamespace(
        **{name: getattr(FakeNvml, name) for name in ("NVML_CLOCK_SM", "NVML_CLOCK_MEM", "NVML_TEMPERATURE_GPU")},
        **{name: getattr(fake, name) for name in (*FakeNvml.TOLD, EVENTS) if name not in removed},
        NVMLError=FakeNvml.NVMLError,
    )
    monkeypatch.setattr(nvml, "_nvml", lambda: lacking)
    gpu = Nvml("0000:1B:00.0")
    assert gpu.held_down_by() == ("hardware slowdown",)
    assert gpu.describe().keys() >= {"sm_clock_mhz", "power_limit_w"}
    assert "temperature_c" not in gpu.describe()


def test_another_package_of_that_name_is_none(monkeypatch):
    monkeypatch.setattr(nvml, "_nvml", lambda: SimpleNamespace())
    with pytest.raises(DeviceUnavailable, match=r"NVML is not usable: .* has no attribute 'nvmlinit'"):
        Nvml("0000:1B:00.0")


OLD_DRIVER = """
#include <string.h>
#define CALL(name, ...) int name(__VA_ARGS__)
CALL(nvmlInitWithFlags, unsigned flags) { return 0; }
CALL(nvmlDeviceGetHandleByPciBusId_v2, const char* id, void** g) { *g = (void*)1; return strcmp(id, "0:1") ? 6 : 0; }
CALL(nvmlDeviceGetClockInfo, void* device, int kind, unsigned* mhz) { *mhz = 1000 + kind; return 0; }
CALL(nvmlDeviceGetCurrentClocksThrottleReasons, void* device, unsigned long long* mask) { *mask = 4; return 0; }
CALL(nvmlDeviceGetTotalEnergyConsumption, void* device, unsigned long long* mj) { return 3; }
CALL(nvmlDeviceGetUUID, void* device, char* text, unsigned bytes) { strcpy(text, "GPU-1"); return 0; }
"""
"""The library of a driver that lacks functions, and a GPU whose energy is not counted."""


def test_an_old_driver_is_asked_by_the_package_itself_from_several_threads(tmp_path):
    pytest.importorskip("pynvml")
    (tmp_path / "old.c").write_text(OLD_DRIVER)
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    library = tmp_path / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "old.c"], check=True)
    program = """
from concurrent.futures import ThreadPoolExecutor
from gpugraph.devices.nvml import Nvml
gpus = list(ThreadPoolExecutor(4).map(Nvml, ["0:1"] * 8))
print({(g.sm_clock_mhz(), g.held_down_by(), g.uuid(), str(g.describe())) for g in gpus})
for call in (gpus[0].energy_j, lambda: Nvml("0:2")):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)
"""
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": path}
    )
    assert done.stdout.splitlines() == [
        """{(1001, ('power limit',), 'GPU-1', "{'sm_clock_mhz': 1001, 'memory_clock_mhz': 1002}")}""",
        "DeviceUnavailable nvmlDeviceGetTotalEnergyConsumption: this GPU does not tell it (not supported)",
        "DeviceUnavailable 0:2: NVML is not usable: not found",
    ], done.stderr


def test_the_driver_is_named_where_it_is_loaded(monkeypatch, tmp_path):
    told = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build\nGCC version: 12.2\n"
    (tmp_path / "version").write_text(told)
    monkeypatch.setattr(nvml, "_DRIVER_FILE", tmp_path / "version")
    assert driver_version() == "570.124.06"
    monkeypatch.setattr(nvml, "_DRIVER_FILE", tmp_path / "none")
    assert driver_version() is None
